# SPDX-License-Identifier: Apache-2.0
"""Symbol: what the core leaves to Python, and the functions that make variables and groups."""
import json
import warnings

import numpy as np

from .. import _strop, attribute
from .. import name as _name
from .._strop import Symbol
from ..autograd import request_number
from ..base import NotImplementedForSymbol, STORAGES, _hook, also, counted, extends, extents_of, path_of, storage_number, text_in, type_of
from ..context import current_context
from ..util import is_np_shape

__all__ = ["Group", "Symbol", "Variable", "arange", "equal", "eye", "full", "greater", "greater_equal", "histogram", "hypot", "lesser",
           "lesser_equal", "linspace", "load", "load_json", "logical_and", "logical_or", "logical_xor", "maximum",
           "minimum", "not_equal", "ones", "pow", "power", "split_v2", "var", "zeros"]

# The methods behind signs, and the functions that they are.
_SIGNS = {"add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "mod": "modulo", "pow": "power"}
_COMPARISONS = {"eq": "equal", "ne": "not_equal", "gt": "greater", "ge": "greater_equal", "lt": "lesser", "le": "lesser_equal"}


def _find(operator):
    from . import _internal, op

    return getattr(op if hasattr(op, operator) else _internal, operator)


@_hook("symbol")
def _name_and_attributes(called, given, attributes):
    """What the scopes that are open make of a new node's name and attributes."""
    if given is not None and not isinstance(given, str):
        raise _strop.TypeError(f"{called}: name is of type {type(given).__name__}, expected a string")
    if attributes is not None and not isinstance(attributes, dict):
        raise _strop.TypeError(f"{called}: attr is of type {type(attributes).__name__}, expected a dictionary")
    return _name.current().get(given, called.lower()), attribute.current().get(attributes)


def _number(value):
    """A number of Python, whose text is that of the parameter: 2 or 2.0."""
    value = value.item() if isinstance(value, np.generic) else value
    return value if type(value) is int else float(value)


def _binary(both, scalar, reversed_scalar):
    def forward(self, other):
        if isinstance(other, Symbol):
            return _find(both)(self, other)
        if isinstance(other, (int, float, np.generic)):
            return _find(scalar)(self, scalar=_number(other))
        return NotImplemented

    def backward(self, other):
        if isinstance(other, (int, float, np.generic)):
            return _find(reversed_scalar)(self, scalar=_number(other))
        return NotImplemented

    return forward, backward


for _method, _function in _SIGNS.items():
    _forward, _backward = _binary(*_strop._arithmetic[_function])
    setattr(Symbol, f"__{_method}__", _forward)
    setattr(Symbol, f"__r{_method}__", _backward)
Symbol.__rpow__ = _binary("_Power", "_PowerScalar", "_rpower_scalar")[1]  # as MXNet: its function has the other name
for _method, _function in _COMPARISONS.items():
    setattr(Symbol, f"__{_method}__", _binary(*_strop._arithmetic[_function])[0])


_core_json, _save = Symbol.tojson, Symbol.save


def _to_json(symbol):
    """The symbol as text. A loop whose body leaves a state out has none: of that MXNet raises an AssertionError,
    though where the loop is made."""
    try:
        return _core_json(symbol)
    except _strop.ValueError as error:
        if "is not used in the body" not in str(error):
            raise
        raise also(_strop.ValueError, AssertionError)(str(error)) from None


@extends(Symbol)
class _Members:
    __array_priority__ = 1000.0

    def __hash__(self):
        return id(self) >> 4

    def __repr__(self):
        if self.name is None:
            return f"<Symbol group [{', '.join(self[i].name for i in range(len(self)))}]>"
        return f"<Symbol {self.name}>"

    def __bool__(self):
        raise NotImplementedForSymbol("bool()")

    def __len__(self):
        return self._size

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __getitem__(self, index):
        """One output by its position or its name, or several as a group."""
        if isinstance(index, str):
            names = self.list_outputs()
            if index not in names and f"{index}_output" in names:
                index = f"{index}_output"
            return self._named(index)
        if isinstance(index, slice):
            return Group([self[i] for i in range(*index.indices(len(self)))])
        if not -len(self) <= index < len(self):
            raise _strop.IndexError(f"symbol: no output {index}; it has {len(self)}")
        return self._at(index % len(self))

    def __neg__(self):
        return _find("_MulScalar")(self, scalar=-1.0)

    def __abs__(self):
        return _find("abs")(self)

    def __copy__(self):
        return self.__deepcopy__(None)

    def __deepcopy__(self, memo):
        return self._copy()

    def __call__(self, *args, **kwargs):
        """The same expression with other expressions in place of its variables, in their order or by name."""
        name = kwargs.pop("name", None) or ""
        if args and kwargs:
            raise _strop.TypeError("symbol: replacements are given in order or by name, not both")
        for one in (*args, *kwargs.values()):
            if not isinstance(one, Symbol):
                raise _strop.TypeError(f"symbol: a replacement is of type {type(one).__name__}, expected a Symbol")
        if args:
            kwargs = dict(zip(self.list_arguments(), args))
        return self._replace(list(kwargs.items()), name)

    def __reduce__(self):
        return load_json, (_to_json(self),)

    def tojson(self, remove_amp_cast=True):
        """The symbol as text, in the layout of MXNet's version 1.7; without the casts that mixed precision has put
        in (amp_cast, amp_multicast), unless said."""
        return _to_json(_without_casts(self) if remove_amp_cast else self)

    def save(self, fname, remove_amp_cast=True):
        """tojson() in a file."""
        _save(_without_casts(self) if remove_amp_cast else self, path_of(fname, "save"))

    @property
    def num_outputs(self):
        """How many outputs it has."""
        return self._size

    def get_children(self):
        """The inputs of its node as a group; None for a variable."""
        made = self._children()
        return made if len(made) else None

    def list_inputs(self):
        """Names of all variables: arguments and auxiliary states."""
        variables = set(self.list_arguments() + self.list_auxiliary_states())
        return [name for name in self.get_internals().list_outputs() if name in variables]

    def attr(self, key):
        """A parameter or an attribute of the node as text, its name as ``name``; None where it has none of that name."""
        return self._attr(key) or (self.name if key == "name" else None)

    def list_attr(self, recursive=False):
        """Parameters and attributes of the node."""
        if recursive:
            raise also(_strop.ValueError, DeprecationWarning)("list_attr: of one node alone; attr_dict() is of all")
        return self._list_attr()

    def _set_attr(self, **attributes):
        """Sets attributes of the node, for all that share it."""
        for key, value in attributes.items():
            if not isinstance(value, str):
                raise _strop.ValueError(f"_set_attr: {key} is of type {type(value).__name__}, expected a string")
            self._set_one(key, value)

    def infer_shape(self, *args, **kwargs):
        """(shapes of arguments, of outputs, of auxiliary states) from those of some arguments; three times None, and a
        warning with the names of the arguments, where something stays unknown."""
        found = self._shapes(args, kwargs)
        if all(_complete(shape) for shapes in found for shape in shapes):
            return _written(found)
        unknown = [name for name, shape in zip(self.list_arguments(), found[0]) if not _complete(shape)]
        if unknown:
            warnings.warn(f"infer_shape: the shapes of {', '.join(unknown)} do not follow from those that are given", stacklevel=2)
        return None, None, None

    def infer_shape_partial(self, *args, **kwargs):
        """The same, where shapes may stay unknown: () or extents of 0."""
        return _written(self._shapes(args, kwargs))

    def _shapes(self, args, kwargs):
        return self._infer_shape([(name, _read(shape)) for name, shape in self._known(args, kwargs) if _says_something(shape)], True)

    def _known(self, args, kwargs):
        if args and kwargs:
            raise also(_strop.ValueError, TypeError)("infer: what is known is given in order or by name, not both")
        names = self.list_arguments()
        if args:
            return [(name, value) for name, value in zip(names, args) if value is not None]
        arguments = set(names)
        known = arguments.union(self.list_auxiliary_states())
        for name in kwargs:
            if name not in known:
                raise _strop.ValueError(f"infer: no argument {name!r}; there are {', '.join(names)}")
        return [(name, value) for name, value in kwargs.items() if value is not None and name in arguments]

    def infer_type(self, *args, **kwargs):
        """(types of arguments, of outputs, of auxiliary states) from those of some arguments, float32 where nothing says
        otherwise; three times None where nothing is said of any."""
        known = _types(self._known(args, kwargs))
        found = self._infer_type(known)
        if not known and found[0] and self._takes_any_type():
            return None, None, None
        return found

    def infer_type_partial(self, *args, **kwargs):
        """The same, None for what does not follow."""
        return self._infer_type_partial(_types(self._known(args, kwargs)))

    def _takes_any_type(self):
        """Whether the symbol says nothing of the types of its arguments."""
        if any("__dtype__" in said for said in self.attr_dict().values()):
            return False
        names = self.list_arguments()
        try:
            return all(set(Symbol._infer_type(self, [(name, dtype) for name in names])[0]) == {dtype} for dtype in (np.float32, np.float64))
        except _strop.Error:
            return False

    def infer_storage_type(self, **kwargs):
        """(storage types of arguments, of outputs, of auxiliary states) from those of some arguments."""
        known = [(name, storage_number(value)) for name, value in self._known((), kwargs)]
        return tuple([STORAGES[number] for number in numbers] for numbers in self._infer_storage(known))

    def bind(self, ctx=None, args=None, args_grad=None, grad_req="write", aux_states=None, group2ctx=None, shared_exec=None,
             side_by_side=False):
        """An Executor on these arrays. ``group2ctx``: the devices of the nodes that have these names as their
        ``ctx_group``. ``shared_exec``: an executor that never runs at the same time, in whose memory this one computes.
        ``side_by_side``: branches never wait for each other's memory, which is then nearly as much as all values take."""
        names = self.list_arguments()
        if len(set(names)) < len(names) and not isinstance(args, dict):
            return self._distinct().bind(ctx, args, args_grad, grad_req, aux_states, group2ctx, shared_exec, side_by_side)
        states = self.list_auxiliary_states()
        given = _named(names, args, "args", states)
        grads = _named(names, args_grad, "args_grad", states)
        aux = _named(states, aux_states, "aux_states", names)
        passed = {name for one in (args, args_grad) if isinstance(one, dict) for name in one}  # others as None
        requests, unknown = _requests("bind", names, grad_req, passed.union(states))
        if unknown:
            raise _strop.ValueError(f"bind: grad_req: {_no_arguments(unknown, names)}")
        bound = ctx or current_context(), requests, list((group2ctx or {}).items()), bool(side_by_side)
        made = self._bind(bound[0], given, [(n, a) for n, a in grads if a is not None], bound[1], aux, bound[2], shared_exec, bound[3])
        made._bound = bound
        return made

    def _distinct(self):
        """The same symbol where variables of one name get names of their own."""
        graph, seen = json.loads(self.tojson()), {}
        for node in graph["nodes"]:
            if node["op"] == "null":
                count = seen[node["name"]] = seen.get(node["name"], -1) + 1
                node["name"] += f"_{count}" if count else ""
        return load_json(json.dumps(graph))

    def simple_bind(self, ctx=None, grad_req="write", type_dict=None, stype_dict=None, group2ctx=None, shared_arg_names=None,
                    shared_exec=None, shared_buffer=None, side_by_side=False, **kwargs):
        """An Executor on new arrays, whose shapes follow from those given. ``group2ctx``, ``shared_exec`` and
        ``side_by_side`` as in bind(); of the arguments in ``shared_arg_names`` the arrays and gradients are those of
        ``shared_exec``, and so are the states then. ``shared_buffer``, a hint of MXNet's, changes nothing."""
        names = self.list_arguments()
        arguments = set(names)
        shapes = [(name, extents_of(shape)) for name, shape in kwargs.items() if name in arguments]
        states = self.list_auxiliary_states()
        requests, unknown = _requests("simple_bind", names, grad_req, states)
        strange = list(dict.fromkeys([*(name for name in kwargs if name not in arguments and name not in states), *unknown]))
        types = _types((type_dict or {}).items())
        storages = [(name, storage_number(stype)) for name, stype in (stype_dict or {}).items() if stype is not None]
        if shared_arg_names and shared_exec is None:
            raise _strop.ValueError("simple_bind: shared_arg_names says what is shared with shared_exec, which is not given")
        bound = ctx or current_context(), requests, list((group2ctx or {}).items()), bool(side_by_side)
        try:
            made = self._simple_bind(bound[0], shapes, bound[1], types, storages, bound[2], shared_exec, list(shared_arg_names or ()), bound[3])
        except _strop.ValueError as error:
            if not strange:
                raise
            raise _strop.ValueError(f"simple_bind: {_no_arguments(strange, names)}; {error}") from None
        if strange:  # which MXNet passes over: labels, where a net predicts
            warnings.warn(f"simple_bind: {_no_arguments(strange, names)}", stacklevel=2)
        made._bound = bound
        return made

    def eval(self, ctx=None, **kwargs):
        """The outputs for these arrays."""
        return self.bind(ctx, kwargs).forward()

    def grad(self, wrt):
        raise _strop.Error("grad: bind the symbol and call backward")

    def debug_str(self):
        """The nodes as text: what each is, what it reads (version 1: a variable that is written) and what was given."""
        graph = json.loads(self.tojson())
        nodes, states = graph["nodes"], set(self.list_auxiliary_states())
        lines = ["Symbol Outputs:", *(f"\toutput[{k}]={nodes[n]['name']}({i})" for k, (n, i, *_) in enumerate(graph["heads"]))]
        if len(nodes) == 1 and nodes[0]["op"] == "null":
            lines = []
        for node in nodes:
            if node["op"] == "null":
                lines.append(f"Variable:{node['name']}")
                continue
            lines += ["-" * 20, f"Op:{node['op']}, Name={node['name']}", "Inputs:"]
            for k, (n, i, *_) in enumerate(node["inputs"]):
                of = nodes[n]
                version = f" version={int(of['name'] in states)}" if of["op"] == "null" else ""
                lines.append(f"\targ[{k}]={of['name']}({i}){version}")
            if node.get("attrs"):
                lines += ["Attrs:", *(f"\t{key}={text}" for key, text in sorted(node["attrs"].items()))]
        return "\n".join(lines) + "\n"

    def _gen_atomic_symbol(self):
        """Its operator with its parameters and attributes, on variables of its own."""
        node = json.loads(self.tojson(remove_amp_cast=False))["nodes"][-1]
        if node["op"] == "null":
            raise _strop.Error("_gen_atomic_symbol: a variable has no operator")
        said = node.get("attrs", {})
        own = {key: text for key, text in said.items() if key.startswith("__")}
        return _find(node["op"])(attr=own or None, **{key: text for key, text in said.items() if key not in own})

    def _compose(self, *args, **kwargs):
        """Refused: symbols that others hold do not change."""
        raise _strop.Error("_compose: a symbol does not change; call it, net(data=other), for a new one")

    def astype(self, dtype):
        """The elements in another type."""
        return _find("Cast")(self, dtype=dtype)

    def reshape(self, *shape, **kwargs):
        """The elements in another shape."""
        if shape:
            kwargs["shape"] = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        return _find("Reshape")(self, **kwargs)

    def split_v2(self, *args, **kwargs):
        return split_v2(self, *args, **kwargs)

    def as_nd_ndarray(self):
        return self


def _without_casts(symbol):
    """The symbol with the inputs of amp_cast and amp_multicast in place of their outputs."""
    text = _to_json(symbol)
    if '"amp_' not in text:
        return symbol
    graph = json.loads(text)
    heads = {head[0] for head in graph["heads"]}  # whose casts stay
    stands_for, kept = {}, []  # outputs of the old nodes as [node, output, version] of the new ones
    for number, node in enumerate(graph["nodes"]):
        inputs = [[*stands_for.get((source[0], source[1]), source)[:2], *source[2:]] for source in node["inputs"]]
        if node["op"] in ("amp_cast", "amp_multicast") and number not in heads:
            stands_for.update({(number, k): source for k, source in enumerate(inputs)})
            continue
        stands_for.update({(number, k): [len(kept), k, 0] for k in range(_outputs_of(graph, number))})
        kept.append({**node, "inputs": inputs})
    arguments = [number for number, node in enumerate(kept) if node["op"] == "null"]
    return load_json(json.dumps({"nodes": kept, "arg_nodes": arguments, "heads": [stands_for[head[0], head[1]] for head in graph["heads"]], "attrs": graph.get("attrs", {})}))


def _outputs_of(graph, number):
    """How many outputs of a node others may refer to."""
    rows = graph["node_row_ptr"]
    return rows[number + 1] - rows[number]


def _of_arrays(name):
    def refuse(self, *args, **kwargs):
        raise NotImplementedForSymbol(name)

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = "Of arrays alone."
    return refuse


for _operator in ("as_in_context", "asnumpy", "asscalar", "backward", "copy", "detach", "wait_to_read"):
    setattr(Symbol, _operator, _of_arrays(_operator))


def _complete(shape):
    return shape is not None and -1 not in shape


def _says_something(shape):
    return is_np_shape() or shape != ()


def _read(shape):
    """A shape as the core has it, where -1 is an extent that is not known; only where np_shape() is open it is written so."""
    shape = extents_of(shape)
    return shape if is_np_shape() else tuple(extent or -1 for extent in shape)


def _types(said):
    """The types that are said, by name."""
    return [(name, type_of(dtype, name)) for name, dtype in said if dtype is not None]


def _written(found):
    """Shapes of the core as they are written."""
    if is_np_shape():
        return found
    return tuple([() if shape is None else tuple(max(extent, 0) for extent in shape) for shape in shapes] for shapes in found)


def _no_arguments(strange, names):
    """That a net has none of those names."""
    return f"no argument {', '.join(repr(name) for name in strange)}; there {'is' if len(names) == 1 else 'are'} {', '.join(names) or 'none'}"


def _named(names, given, what, others=()):
    if given is None:
        return []
    if isinstance(given, dict):
        known = {*names, *others}
        strange = [name for name, a in given.items() if a is not None and name not in known]
        if strange:
            raise _strop.ValueError(f"bind: {what}: {_no_arguments(strange, names)}")
        made = [(name, given[name]) for name in names if name in given]
    elif not isinstance(given, (list, tuple)):
        raise _strop.TypeError(f"bind: {what} is of type {type(given).__name__}, expected a list of arrays or a dictionary of them by name")
    elif len(given) != len(names):
        raise _strop.ValueError(f"bind: {what} has {counted(len(given), 'array')}, expected one for each of {', '.join(names)}")
    else:
        made = list(zip(names, given))
    for name, a in made:
        if not isinstance(a, _strop.NDArray) and not (a is None and what == "args_grad"):
            raise _strop.TypeError(f"bind: {what} has for {name!r} an object of type {type(a).__name__}, expected an NDArray")
    return made


def _requests(function, names, grad_req, states):
    """([(name, request)], names that the symbol has not)."""
    if isinstance(grad_req, str):
        grad_req = [grad_req] * len(names)
    if not isinstance(grad_req, dict):
        if len(grad_req) != len(names):
            raise _strop.ValueError(f"{function}: grad_req has {counted(len(grad_req), 'request')}, expected one for each of {', '.join(names)}")
        grad_req = dict(zip(names, grad_req))
    known = set(names)
    found = [(name, request_number(request)) for name, request in grad_req.items()]
    return [one for one in found if one[0] in known], [name for name, _ in found if name not in known and name not in states]


def var(name, attr=None, shape=None, lr_mult=None, wd_mult=None, dtype=None, init=None, stype=None, profiler_scope=None, **kwargs):
    """A variable: an argument of every graph that uses it."""
    if not isinstance(name, str):
        raise _strop.TypeError(f"var: the name is of type {type(name).__name__}, expected a string")
    text_in(name, "var: the name")
    for key, value in (attr or {}).items():
        if not isinstance(value, str):
            raise _strop.ValueError(f"var: attribute {key!r} is of type {type(value).__name__}, expected a string")
    said = dict(attribute.current().get(attr))
    options = {key: value for key, value in said.items() if key not in _OPTIONS}
    for key, value in (("lr_mult", lr_mult), ("wd_mult", wd_mult)):
        if value is not None:
            options[f"__{key}__"] = str(value)
    if init is not None:
        options["__init__"] = init if isinstance(init, str) else init.dumps()
    for key, value in kwargs.items():
        if not (key.startswith("__") and key.endswith("__")):
            raise _strop.ValueError(f"var: no option {key!r}; attributes are written __{key}__")
        options[key] = str(value)
    if shape is not None and _says_something(shape):
        options["shape"] = _read(shape)
    if dtype is not None:
        options["dtype"] = dtype
    if stype is not None:
        options["storage"] = storage_number(stype)
    made = _strop._var(name, options)
    made._set_attr(**{key: said[key] for key in _OPTIONS if key in said})
    return made


_OPTIONS = ("shape", "dtype", "storage")  # what the core takes beside attributes, which may have these names as well
Variable = var


def Group(symbols):
    """The outputs of several symbols as one."""
    symbols = list(symbols)
    if not symbols or any(not isinstance(s, Symbol) for s in symbols):
        raise _strop.TypeError("Group: expected a list of symbols")
    return _strop._group(symbols)


def load(fname):
    """The symbol of a file."""
    return _strop._symbol_load(path_of(fname, "load"))


def load_json(json_str):
    """The symbol that a text describes."""
    if not isinstance(json_str, str):
        raise _strop.TypeError("load_json: expected a string")
    return _strop._symbol_from_json(json_str)


def _two(name, both, scalar, reversed_scalar, plain):
    def call(left, right):
        if isinstance(left, Symbol) and isinstance(right, Symbol):
            return _find(both)(left, right)
        if isinstance(left, Symbol):
            return _find(scalar)(left, scalar=_number(right))
        if isinstance(right, Symbol):
            return _find(reversed_scalar)(right, scalar=_number(left))
        return plain(left, right)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"{name} of symbols, or of a symbol and a number."
    return call


_PLAIN = {"equal": np.equal, "not_equal": np.not_equal, "greater": np.greater, "greater_equal": np.greater_equal, "lesser": np.less,
          "lesser_equal": np.less_equal, "maximum": max, "minimum": min, "hypot": np.hypot, "logical_and": np.logical_and,
          "logical_or": np.logical_or, "logical_xor": np.logical_xor}
for _function, _plain in _PLAIN.items():
    globals()[_function] = _two(_function, *_strop._arithmetic[_function], _plain)
_power = _two("power", *_strop._arithmetic["power"], lambda a, b: a**b)


def power(base, exp):
    """base to the power exp, of symbols, or of a symbol and a number."""
    return _power(base, exp)


pow = power  # noqa: A001


def zeros(shape, dtype=None, **kwargs):
    """A node of zeros."""
    return _find("_zeros")(shape=_read(shape), dtype=dtype or np.float32, **kwargs)


def ones(shape, dtype=None, **kwargs):
    """A node of ones."""
    return _find("_ones")(shape=_read(shape), dtype=dtype or np.float32, **kwargs)


def full(shape, val, dtype=None, **kwargs):
    """A node of one value."""
    return _find("_full")(shape=_read(shape), value=float(val), dtype=dtype or np.float32, **kwargs)


def histogram(a, bins=10, range=None, **kwargs):  # noqa: A002
    """A node of two outputs, how many elements lie in each bin and the bins' edges: between the edges that a symbol gives, or
    in so many bins of one width between the two ends of ``range``."""
    if isinstance(bins, Symbol):
        return _find("_histogram")(a, bins, **kwargs)
    if not isinstance(bins, (int, np.integer)):
        raise _strop.ValueError(f"histogram: bins is of type {type(bins).__name__}, expected a number or a Symbol")
    if range is None:
        raise _strop.ValueError("histogram: range is None; a node does not know the least and the greatest element")
    return _find("_histogram")(a, bin_cnt=int(bins), range=range, **kwargs)


def arange(start, stop=None, step=1.0, repeat=1, infer_range=False, name=None, dtype=None):
    """A node of start, start + step, ... before stop."""
    return _find("_arange")(start=start, stop=stop, step=step, repeat=repeat, infer_range=infer_range, name=name, dtype=dtype or np.float32)


def linspace(start, stop, num, endpoint=True, name=None, dtype=None):
    """A node of num numbers from start to stop."""
    return _find("_linspace")(start=start, stop=stop, num=num, endpoint=endpoint, name=name, dtype=dtype or np.float32)


def eye(N, M=0, k=0, dtype=None, **kwargs):
    """A node with ones on diagonal k."""
    return _find("_eye")(N=N, M=M, k=k, dtype=dtype or np.float32, **kwargs)


def split_v2(ary, indices_or_sections, axis=0, squeeze_axis=False):
    """Parts along an axis: so many, or those that begin at the indices."""
    if isinstance(indices_or_sections, int):
        return _find("_split_v2")(ary, indices=[], axis=axis, squeeze_axis=squeeze_axis, sections=indices_or_sections)
    return _find("_split_v2")(ary, indices=(0, *indices_or_sections), axis=axis, squeeze_axis=squeeze_axis)
