# SPDX-License-Identifier: Apache-2.0
"""Tables and pictures of the nodes of symbols."""
import collections
import json
import math
import warnings

from . import _strop
from ._strop import Symbol

__all__ = ["plot_network", "print_summary"]

# Parameters that tell nodes of a picture apart, and the colours of families of operators.
_SHOWN = ("act_type", "kernel", "stride", "num_filter", "num_hidden", "pool_type", "p", "axis", "shape", "scalar")
_COLOURS = {"Convolution": "#fb8072", "FullyConnected": "#fb8072", "Activation": "#ffffb3", "LeakyReLU": "#ffffb3", "BatchNorm": "#bebada", "Pooling": "#80b1d3",
            "Concat": "#fdb462", "Flatten": "#fdb462", "Reshape": "#fdb462", "SoftmaxOutput": "#fccde5", "softmax": "#b3de69"}


def _shapes_of(symbol, shape):
    """{output: its shape} of every node, as far as it follows."""
    if shape is None:
        return {}
    inner = symbol.get_internals()
    return dict(zip(inner.list_outputs(), inner.infer_shape_partial(**shape)[1]))


def _output(extents, name):
    return extents.get(name + "_output", extents.get(name + "_output0", extents.get(name, "")))


def plot_network(symbol, title="plot", save_format="pdf", shape=None, dtype=None, node_attrs=None, hide_weights=True):
    """A graphviz.Digraph of the operators of a symbol, from which render() makes a file; it takes the package `graphviz`. `shape` has
    the shapes of arguments by name, with which edges are marked; `node_attrs` are attributes of all nodes. Variables whose names
    are those of their operators with _weight or the like behind are drawn only without `hide_weights`."""
    try:
        import graphviz
    except ImportError as error:
        raise ImportError(f"plot_network needs the package graphviz: {error}") from error
    if not isinstance(symbol, Symbol):
        raise _strop.TypeError(f"plot_network: expected a Symbol, got {type(symbol).__name__}")
    nodes, extents = json.loads(symbol.tojson())["nodes"], _shapes_of(symbol, shape)
    times = collections.Counter(node["name"] for node in nodes)
    repeated = [name for name, count in times.items() if count > 1]
    if repeated:
        warnings.warn(f"There are multiple variables with the same name in your graph: {', '.join(repeated)}", RuntimeWarning, stacklevel=2)
    picture = graphviz.Digraph(name=title, format=save_format)
    hidden = set()
    if hide_weights:
        for node in nodes:
            hidden.update(at for at, *_ in node["inputs"] if nodes[at]["op"] == "null" and nodes[at]["name"].startswith(node["name"] + "_"))
    called = [node["name"] if times[node["name"]] == 1 else f"{node['name']} {i}" for i, node in enumerate(nodes)]
    for i, node in enumerate(nodes):
        if i in hidden:
            continue
        variable, values = node["op"] == "null", node.get("attrs", {})
        label = node["name"] if variable else "\n".join([node["op"], *(f"{key} = {values[key]}" for key in _SHOWN if key in values)])
        look = {"shape": "oval" if variable else "box", "style": "filled", "fillcolor": "#8dd3c7" if variable else _COLOURS.get(node["op"], "#fccde5"), **(node_attrs or {})}
        picture.node(name=called[i], label=label, **look)
        for at, *_ in node["inputs"]:
            if at not in hidden:
                reached = _output(extents, nodes[at]["name"])
                mark = {"label": "x".join(map(str, reached[1:]))} if reached else {}
                picture.edge(tail_name=called[i], head_name=called[at], dir="back", arrowtail="open", **mark)
    return picture


def print_summary(symbol, shape=None, line_length=120, positions=(0.44, 0.64, 0.74, 1.0)):
    """Prints the operators of a symbol with the shapes of their outputs, how many parameters they have and what they are
    computed from. `shape` has the shapes of arguments by name; shapes follow from them."""
    if not isinstance(symbol, Symbol):
        raise _strop.TypeError(f"print_summary: expected a Symbol, got {type(symbol).__name__}")
    graph = json.loads(symbol.tojson())
    extents = _shapes_of(symbol, shape)
    stops = [int(line_length * p) for p in positions]

    def show(*fields):
        line = ""
        for field, stop in zip(fields, stops):
            line = (line + str(field))[:stop].ljust(stop)
        print(line)

    print("_" * line_length)
    show("Layer (type)", "Output Shape", "Param #", "Previous Layer")
    print("=" * line_length)
    total, nodes, heads = 0, graph["nodes"], {head[0] for head in graph["heads"]}
    given = set(shape or (nodes[0]["name"],))
    # Neither moving averages nor labels are parameters.
    apart = {*symbol.list_auxiliary_states(), *(n["name"] for n in nodes if n["name"].endswith("_label"))}
    for i, node in enumerate(nodes):
        if node["op"] == "null" and i not in heads and node["name"] not in given:
            continue
        sources = [nodes[source[0]] for source in node["inputs"]]
        own = [s["name"] for s in sources if s["op"] == "null" and s["name"] not in given and s["name"].startswith(node["name"] + "_")]
        count = sum(math.prod(extents[name]) for name in own if extents.get(name) and name not in apart)
        total += count
        output = _output(extents, node["name"])
        before = [s["name"] for s in sources if s["name"] not in own]
        show(f"{node['name']}({node['op']})", "x".join(map(str, output[1:])) if output else "", count, before[0] if before else "")
        for other in before[1:]:
            show("", "", "", other)
        print(("=" if i + 1 == len(nodes) else "_") * line_length)
    print(f"Total params: {total}")
    print("_" * line_length)
