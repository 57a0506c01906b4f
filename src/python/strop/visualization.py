# SPDX-License-Identifier: Apache-2.0
"""Tables of the nodes of symbols."""
import json
import math

from . import _strop
from ._strop import Symbol

__all__ = ["print_summary"]


def print_summary(symbol, shape=None, line_length=120, positions=(0.44, 0.64, 0.74, 1.0)):
    """Prints the operators of a symbol with the shapes of their outputs, how many parameters they have and what they are
    computed from. `shape` has the shapes of arguments by name; shapes follow from them."""
    if not isinstance(symbol, Symbol):
        raise _strop.TypeError(f"print_summary: expected a Symbol, got {type(symbol).__name__}")
    graph = json.loads(symbol.tojson())
    extents = {}
    if shape is not None:
        inner = symbol.get_internals()
        extents = dict(zip(inner.list_outputs(), inner.infer_shape_partial(**shape)[1]))
    stops = [int(line_length * p) for p in positions]

    def show(*fields):
        line = ""
        for field, stop in zip(fields, stops):
            line = (line + str(field))[:stop].ljust(stop)
        print(line.rstrip())

    print("_" * line_length)
    show("Layer (type)", "Output Shape", "Param #", "Previous Layer")
    print("=" * line_length)
    total, nodes, heads = 0, graph["nodes"], {head[0] for head in graph["heads"]}
    given = set(shape or ())
    for i, node in enumerate(nodes):
        if node["op"] == "null" and i not in heads and node["name"] not in given:
            continue
        sources = [nodes[source[0]] for source in node["inputs"]]
        own = [s["name"] for s in sources if s["op"] == "null" and s["name"] not in given and s["name"].startswith(node["name"] + "_")]
        count = sum(math.prod(extents[name]) for name in own if extents.get(name))
        total += count
        output = extents.get(node["name"] + "_output", extents.get(node["name"] + "_output0", extents.get(node["name"], "")))
        before = [s["name"] for s in sources if s["name"] not in own]
        show(f"{node['name']}({node['op']})", "x".join(map(str, output[1:])) if output else "", count, before[0] if before else "")
        for other in before[1:]:
            show("", "", "", other)
        print("_" * line_length)
    print(f"Total params: {total}")
    print("_" * line_length)
