# SPDX-License-Identifier: Apache-2.0
"""Gradients of what is computed while it is recorded."""
from . import _strop
from ._failures import run_written
from ._strop import NDArray, Symbol, is_recording, is_training, set_recording, set_training
from .base import GRAD_REQUESTS, TRUTH, also, arrays_in, counted

__all__ = ["Function", "NDArray", "Symbol", "backward", "get_symbol", "grad", "is_recording", "is_training", "mark_variables",
           "pause", "predict_mode", "record", "set_recording", "set_training", "train_mode"]


class _Mode(_strop.Scope):
    """Sets how this thread's calls run, and puts back what was before."""

    __slots__ = ()

    def __call__(self, function):
        """As a decorator."""

        def run(*args, **kwargs):
            with self:
                return function(*args, **kwargs)

        return run


def record(train_mode=True):  # pylint: disable=redefined-outer-name
    """While it is open calls are recorded for backward, in training mode unless said."""
    return _Mode(True, train_mode)


def pause(train_mode=False):  # pylint: disable=redefined-outer-name
    """While it is open nothing is recorded."""
    return _Mode(False, train_mode)


def train_mode():
    """Operators behave as in training, recorded or not."""
    return _Mode(None, True)


def predict_mode():
    """Operators behave as in prediction, recorded or not."""
    return _Mode(None, False)


def _listed(value):
    return list(value) if isinstance(value, (list, tuple)) else [value]


def mark_variables(variables, gradients, grad_reqs="write"):
    """Asks for the gradients of the variables, in these arrays."""
    variables, gradients = (arrays_in(_listed(arrays), "mark_variables", what) for arrays, what in ((variables, "a variable"), (gradients, "a gradient")))
    requests = [grad_reqs] * len(variables) if isinstance(grad_reqs, str) else list(grad_reqs)
    if not len(variables) == len(gradients) == len(requests):
        raise _strop.ValueError(f"mark_variables: {len(variables)} variables, {counted(len(gradients), 'gradient')} and {len(requests)} requests")
    for variable, gradient, request in zip(variables, gradients, requests):
        _strop.mark_variable(variable, gradient, request_number(request))


def request_number(request):
    """What the core calls a gradient request."""
    if request not in GRAD_REQUESTS:
        raise also(_strop.ValueError, KeyError)(f"strop: no gradient request {request!r}, expected null, write or add")
    return GRAD_REQUESTS[request]


def _heads(heads, function):
    """What is differentiated, after a wait that Ctrl-C ends; those of the core do not look at it."""
    listed = arrays_in(_listed(heads), function, "a head")
    for head in listed:
        head.wait_to_read()
    return listed


def _head_gradients(heads, head_grads, what):
    if head_grads is None:
        return []
    gradients = _listed(head_grads)
    if len(gradients) != len(heads):
        raise also(_strop.ValueError, AssertionError)(f"{what}: {len(heads)} heads and {counted(len(gradients), 'head gradient')}")
    arrays_in([gradient for gradient in gradients if gradient is not None], what, "a head gradient")
    return gradients


def backward(heads, head_grads=None, retain_graph=False, train_mode=True):  # pylint: disable=redefined-outer-name, unused-argument
    """Gradients of the heads for every array with attach_grad() that they were computed from. Calls are differentiated
    in the mode in which they were made."""
    heads = _heads(heads, "backward")
    _strop.backward(heads, _head_gradients(heads, head_grads, "backward"), retain_graph)


def grad(heads, variables, head_grads=None, retain_graph=None, create_graph=False, train_mode=True):  # pylint: disable=redefined-outer-name, unused-argument
    """The gradients of the heads' sum for the variables, as a list of new arrays, of one variable too. With create_graph they
    can be differentiated again."""
    heads, wanted = _heads(heads, "grad"), arrays_in(_listed(variables), "grad", "a variable")
    if not wanted:
        raise also(_strop.ValueError, AssertionError)("grad: no variables")
    gradients = _head_gradients(heads, head_grads, "grad") or [None] * len(heads)
    keep = create_graph if retain_graph is None else retain_graph
    total = None
    for i, (head, gradient) in enumerate(zip(heads, gradients)):
        more = keep or i + 1 < len(heads)
        found = _strop.grad(head, wanted, [] if gradient is None else [gradient], create_graph, more)
        with record(is_training()) if create_graph else pause(is_training()):
            total = found if total is None else [a + b for a, b in zip(total, found)]
    if create_graph:  # a gradient that does not depend on its variable has a gradient of zero
        from . import nd

        with record(is_training()):
            total = [found if _strop.is_tracked(found) else found + nd.zeros_like(variable) for found, variable in zip(total, wanted)]
    return total


class Function:
    """A step whose forward and backward are written on arrays: derive, write both, call an object with arrays."""

    _used = False
    _several = False
    _inputs = 0
    _facts = ()
    _saved = ()
    _versions = ()

    def save_for_backward(self, *arrays):
        """Keeps arrays for backward, as saved_tensors."""
        self._saved = tuple(a.detach() for a in arrays)  # with their history they would keep themselves alive
        self._versions = [_strop.version(a) for a in arrays]

    @property
    def saved_tensors(self):
        """The arrays that save_for_backward was given; an Error where one was overwritten since."""
        at = self._overwritten()
        if at is not None:
            raise _strop.Error(f"{type(self).__name__}.backward: array {at} that save_for_backward keeps (shape {self._saved[at].shape}) was overwritten since")
        return self._saved

    def _overwritten(self):
        return next((at for at, a in enumerate(self._saved) if _strop.version(a) != self._versions[at]), None)

    def forward(self, *inputs):
        """The results, from the inputs."""
        raise NotImplementedError

    def backward(self, *output_grads):
        """The gradients of the inputs, from those of the results."""
        raise NotImplementedError

    def _forward(self, inputs):
        made = run_written(self.forward, *inputs)
        self._several = isinstance(made, (list, tuple))
        made = self._arrays(made, "forward")
        self._facts = [0 if one is None else one._facts & TRUTH for one in made]
        return made

    def _backward(self, gradients):
        found = self._arrays(run_written(self.backward, *gradients), "backward")
        if len(found) != self._inputs:
            raise _strop.ValueError(f"{type(self).__name__}.backward: {counted(len(found), 'gradient')} for {counted(self._inputs, 'input')}")
        return found

    def _arrays(self, made, what):
        made = _listed(made)
        for one in made:
            if one is not None and not isinstance(one, _strop.NDArray):
                raise _strop.TypeError(f"{type(self).__name__}.{what}: a result is of type {type(one).__name__}, expected an NDArray")
        return made

    def __call__(self, *inputs):
        if self._used:
            raise _strop.Error("Function: an object is called once; make another for another call")
        self._used = True
        self._inputs = len(inputs)
        made = _strop.apply_function(self, arrays_in(list(inputs), type(self).__name__, "an input"))
        for one, facts in zip(made, self._facts):  # they are other objects: masks are masks here as well
            if one is not None:
                one._facts |= facts
        return made if self._several else made[0]


def get_symbol(x):
    """What the array was computed from while recording, as a symbol; its variables, var0, var1, ..., are the arrays that
    nothing was recorded of. A ValueError where backward has freed a part of the history."""
    return _strop._history(*arrays_in([x], "get_symbol", "an object"))
