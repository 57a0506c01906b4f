# SPDX-License-Identifier: Apache-2.0
"""CachedOp: a symbol as a function of arrays."""
import json

import numpy as np

from .. import _strop, autograd
from .._strop import NDArray
from ..base import NUMBER, TRUTH, counted
from ..context import current_context

__all__ = ["CachedOp"]


class _Run(autograd.Function):
    """One call of a symbol by an executor of its own: of those with loops and branches, which are no operators of arrays."""

    def __init__(self, symbol, names, is_state, wanted):
        self._symbol, self._is_state, self._wanted = symbol, is_state, wanted
        self._names = [name for name, written in zip(names, is_state) if not written]

    def forward(self, *arrays):
        from . import ndarray

        args, states, gradients = [], [], []
        for a, is_state, wanted in zip(arrays, self._is_state, self._wanted):
            (states if is_state else args).append(a)
            if not is_state:
                gradients.append(ndarray.zeros(a.shape, a.context, a.dtype) if wanted else None)
        requests = ["null" if gradient is None else "write" for gradient in gradients]
        self._executor = self._symbol.bind(arrays[0].context if arrays else current_context(), args, gradients, requests, states)
        made = self._executor.forward(is_train=autograd.is_training())
        self.save_for_backward(*args)  # which the executor reads again
        return made

    def backward(self, *heads):
        at = self._overwritten()
        if at is not None:  # the executor would read what is there now
            raise _strop.Error(f"CachedOp: the array of {self._names[at]} was overwritten after the call, before backward")
        run = self._executor
        run.backward([y.zeros_like() if head is None else head for y, head in zip(run.outputs, heads)])
        found = iter(run.grad_arrays)
        found = [None if is_state else next(found) for is_state in self._is_state]
        return [None if a is None else a.copy() for a in found]  # the next backward writes these again


class CachedOp:
    """A symbol that is called with arrays, one for each of list_inputs(), again and again. Its calls are recorded as those of
    its operators are, a symbol with loops or branches as one step; `flags`, which says how MXNet plans the memory, has
    no effect."""

    def __init__(self, sym, flags=(), thread_safe=False):  # pylint: disable=unused-argument
        from . import _OPERATORS, op

        graph = json.loads(sym.tojson())
        by_name = {operator.description["name"]: operator for operator in set(_OPERATORS.values())} if graph["nodes"] else {}
        by_name["Custom"] = op.Custom
        self._steps, self._heads = [], [(head[0], head[1]) for head in graph["heads"]]
        for node in graph["nodes"]:
            given = {key: text for key, text in node.get("attrs", {}).items() if not key.startswith("__")}
            operator = None if node["op"] == "null" else by_name.get(node["op"])
            self._steps.append((operator, [(source[0], source[1]) for source in node["inputs"]], given))
        self._names = [node["name"] for node in graph["nodes"] if node["op"] == "null"]
        self._symbol, states = sym, set(sym.list_auxiliary_states())
        self._is_state = [name in states for name in self._names]
        self._is_run = any(node["op"] != "null" and node["op"] not in by_name for node in graph["nodes"])

    def __call__(self, *args, out=None, **kwargs):
        if len(args) != len(self._names) or any(not isinstance(a, NDArray) for a in args):
            raise _strop.TypeError(f"CachedOp: expected arrays for {', '.join(self._names)}, got {counted(len(args), 'argument')}")
        results = self._run(args) if self._is_run else self._walk(args)
        if out is not None:
            targets = list(out) if isinstance(out, (list, tuple)) else [out]
            for result, target in zip(results, targets):
                result.copyto(target)
                target._facts = target._facts & NUMBER | result._facts & TRUTH
            return out
        return results[0] if len(results) == 1 else results

    def _run(self, args):
        recorded = autograd.is_recording()
        wanted = [recorded and _strop.is_tracked(a) and _is_real(a) for a in args]
        return _Run(self._symbol, self._names, self._is_state, wanted)(*args)

    def _walk(self, args):
        left, values = iter(args), []
        for operator, sources, given in self._steps:
            if operator is None:
                values.append([next(left)])
                continue
            made = operator(*[values[node][k] for node, k in sources], **given)
            values.append(made if isinstance(made, list) else [made])
        return [values[node][k] for node, k in self._heads]


def _is_real(a):
    return np.dtype(a.dtype).kind not in "iub"
