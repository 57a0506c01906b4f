# SPDX-License-Identifier: Apache-2.0
"""CachedOp: a symbol as a function of arrays."""
import json

from .. import _strop
from .._strop import NDArray

__all__ = ["CachedOp"]


class CachedOp:
    """A symbol that is called with arrays, one for each of list_inputs(), again and again. Its calls are recorded as those of
    its operators are; `flags`, which says how the original plans the memory, has no effect."""

    def __init__(self, sym, flags=(), thread_safe=False):  # pylint: disable=unused-argument
        from . import _OPERATORS

        graph = json.loads(sym.tojson())
        by_name = {operator.description["name"]: operator for operator in set(_OPERATORS.values())} if graph["nodes"] else {}
        self._steps, self._heads = [], [(head[0], head[1]) for head in graph["heads"]]
        for node in graph["nodes"]:
            given = {key: text for key, text in node.get("attrs", {}).items() if not key.startswith("__")}
            operator = None if node["op"] == "null" else by_name[node["op"]]
            self._steps.append((operator, [(source[0], source[1]) for source in node["inputs"]], given))
        self._names = [node["name"] for node in graph["nodes"] if node["op"] == "null"]

    def __call__(self, *args, out=None, **kwargs):
        if len(args) != len(self._names) or any(not isinstance(a, NDArray) for a in args):
            raise _strop.TypeError(f"CachedOp: expected arrays for {', '.join(self._names)}, got {len(args)} arguments")
        left, values = iter(args), []
        for operator, sources, given in self._steps:
            if operator is None:
                values.append([next(left)])
                continue
            made = operator(*[values[node][k] for node, k in sources], **given)
            values.append(made if isinstance(made, list) else [made])
        results = [values[node][k] for node, k in self._heads]
        if out is not None:
            targets = list(out) if isinstance(out, (list, tuple)) else [out]
            for result, target in zip(results, targets):
                result.copyto(target)
            return out
        return results[0] if len(results) == 1 else results
