# SPDX-License-Identifier: Apache-2.0
"""Executor: a symbol with its arrays, which runs forward and backward."""
import numpy as np

from . import _strop
from ._strop import Executor, NDArray
from .base import _as_list, arrays_in, extends, extents_of
from .context import current_context

__all__ = ["Executor"]


class _Name(str):
    """A node's name, which programs of MXNet decode: there it is bytes."""

    __slots__ = ()

    def decode(self, *_):
        """The name itself."""
        return str(self)


def _within(own, made):
    """The first elements of an array in the shape of one that is no larger; that one where they cannot be shared."""
    if own is None or made is None or _strop.same(own, made) or own._storage != 0 or made.size > own.size or made.size == 0:
        return made
    return _strop.reshape(_strop.slice(_strop.reshape(own, (-1,)), 0, made.size), made.shape)


@extends(Executor)
class _Members:
    @property
    def arg_dict(self):
        """The arrays of the arguments, by name."""
        return dict(zip(self._arg_names, self.arg_arrays))

    @property
    def grad_dict(self):
        """Their gradients, by name; None where none is computed."""
        return dict(zip(self._arg_names, self.grad_arrays))

    @property
    def aux_dict(self):
        """The arrays of the auxiliary states, by name."""
        return dict(zip(self._aux_names, self.aux_arrays))

    @property
    def output_dict(self):
        """The results of forward(), by name."""
        return dict(zip(self._symbol.list_outputs(), self.outputs))

    def forward(self, is_train=False, **inputs):
        """Computes the outputs; arrays that are given by name are copied into the arguments before."""
        named, own = [], self.arg_dict if inputs else {}
        for name, value in inputs.items():
            if name not in own:
                raise _strop.TypeError(f"forward: no argument {name!r}; there are {', '.join(self._arg_names)}")
            if not isinstance(value, NDArray):
                from .ndarray import array

                value = array(np.asarray(value), dtype=own[name].dtype)
            value.wait_to_read()  # Ctrl-C ends this wait, not that of the copy
            named.append((name, value.as_in_context(own[name].context)))
        self._forward(bool(is_train), named, self._apart())
        return self.outputs

    def backward(self, out_grads=None, is_train=True):
        """Gradients of the arguments that asked for one; head gradients are 1 where none are given. Those behind the last
        output are not looked at."""
        if out_grads is None:
            heads = []
        elif isinstance(out_grads, NDArray):
            heads = [out_grads]
        elif isinstance(out_grads, dict):
            heads = [out_grads[name] for name in self._symbol.list_outputs()]
        else:
            heads = _as_list(out_grads)
            arrays_in([head for head in heads if head is not None], "backward", "a head gradient")
        outputs = list(self.outputs)
        for output in outputs:
            output.wait_to_read()
        heads = [head.as_in_context(output.context) if isinstance(head, NDArray) else head for head, output in zip(heads, outputs)]
        for ran in (False, True):
            try:
                return self._backward(heads, self._apart())
            except _strop.ValueError as error:
                if "no argument asked for its gradient" in str(error):
                    return None
                if ran or "forward has not run" not in str(error):
                    raise
            self._forward(True, [], self._apart())
        return None

    def _apart(self):
        """Whether a run takes long and calls nothing of Python: on a thread of its own it does not keep Ctrl-C from being heard."""
        if self.__dict__.get("_monitor") is not None:
            return False
        known = self.__dict__.get("_long")
        if known is None:
            known = self.__dict__["_long"] = self._takes_long
        return known

    @property
    def _ctx(self):
        """Where the arrays are."""
        arrays = self.arg_arrays + self.aux_arrays
        return arrays[0].context if arrays else current_context()

    def debug_str(self):
        """The nodes as text, and the memory of everything between the arguments and the outputs."""
        return f"{self._symbol.debug_str()}\nTotal {self._planned_bytes >> 20} MB allocated\n"

    def copy_params_from(self, arg_params, aux_params=None, allow_extra_params=False):
        """Copies arrays into the arguments and states of their names: all of them, or none where one does not fit."""
        for given, own, what in ((arg_params, self._arg_names, "argument"), (aux_params or {}, self._aux_names, "auxiliary state")):
            known = set(own)
            for name, a in given.items():
                if name not in known and not allow_extra_params:
                    raise _strop.ValueError(f"copy_params_from: no {what} {name!r}")
                if not isinstance(a, NDArray):
                    raise _strop.TypeError(f"copy_params_from: {name!r} is of type {type(a).__name__}, expected an NDArray")
        self._copy_params(list(arg_params.items()), list((aux_params or {}).items()), True)

    def reshape(self, partial_shaping=False, allow_up_sizing=False, **kwargs):
        """An executor of the same symbol for arguments of these shapes. Arrays whose shapes stay are shared, those that
        become smaller lie in the first elements of the larger ones, and the memory in between is shared as well: the two
        run one after the other. ``partial_shaping``: shapes of arguments that are not named may change with them.
        ``allow_up_sizing``: arrays may become larger, and are new ones then; an Error else."""
        shapes = [(name, extents_of(shape)) for name, shape in kwargs.items()]
        if partial_shaping:
            named = {name for name, _ in shapes}
            found = self._symbol.infer_shape_partial(**{name: shape for name, shape in shapes})[0]
            shapes += [(name, shape) for name, shape in zip(self._arg_names, found) if name not in named and shape and all(shape)]
        made = self._reshape(shapes)
        own = (self.arg_arrays, self.grad_arrays, self.aux_arrays)
        new = (made.arg_arrays, made.grad_arrays, made.aux_arrays)
        for name, before, after in zip(self._arg_names + self._aux_names, own[0] + own[2], new[0] + new[2]):
            if after.size > before.size and not allow_up_sizing:
                raise _strop.Error(f"reshape: {name} of shape {before.shape} would become {after.shape}; say allow_up_sizing=True, or bind the "
                                   "larger executor first and reshape it to the smaller shapes")
        if any(b is not None and not _strop.same(a, b) for before, after in zip(own, new) for a, b in zip(before, after)):
            ctx, requests, groups, side_by_side = self._bound
            args, grads, aux = ([_within(a, b) for a, b in zip(before, after)] for before, after in zip(own, new))
            given = [(name, a) for name, a in zip(self._arg_names, grads) if a is not None]
            made = self._symbol._bind(ctx, list(zip(self._arg_names, args)), given, requests, list(zip(self._aux_names, aux)), groups, self, side_by_side)
        made._bound = self._bound
        return made

    def set_monitor_callback(self, callback, monitor_all=False):
        """Has forward and backward call ``callback(name, array)`` for what each node computes, ``fc1_output``; with
        ``monitor_all`` for its inputs before as well: a variable under its own name, then each input as ``fc1_data``.
        The arrays are copies. The nodes then run one by one as the symbol has them, not fused. None ends it. What runs
        next is forward."""
        if callback is not None and not callable(callback):
            raise _strop.TypeError(f"set_monitor_callback: the callback is of type {type(callback).__name__}, expected a function")
        call = None if callback is None else lambda name, a: callback(_Name(name), a)
        self._set_monitor(call, bool(monitor_all))
        self._monitor = call  # what keeps it
