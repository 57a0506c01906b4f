# SPDX-License-Identifier: Apache-2.0
"""Operators written in Python, of arrays and of symbols: CustomOp says what is computed, CustomOpProp what it looks like."""
import atexit
import collections

from . import _strop, autograd, nd, sym
from ._failures import run_written as _run
from .base import STORAGES, _hook, counted, storage_number
from .context import Context
from .ndarray import NDArray
from .symbol.symbol import Symbol, _name_and_attributes

_registry = {}
atexit.register(_registry.clear)  # a class refers to all variables of its program, which would never be given back


class CustomOp:
    """Derive and write both functions; what they raise reaches whoever called."""

    def forward(self, is_train, req, in_data, out_data, aux):
        """Computes out_data, by assign(), from in_data."""
        raise NotImplementedError

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        """Computes in_grad, by assign()."""
        raise NotImplementedError

    def assign(self, dst, req, src):
        """Writes an array as the request says: write, inplace, add or null."""
        if req in ("write", "inplace"):
            dst[:] = src
        elif req == "add":
            dst[:] = dst + src
        elif req != "null":
            raise _strop.ValueError(f"CustomOp: no request {req!r}, expected null, write, inplace or add")


class CustomOpProp:
    """Derive, and say what differs: one input called data, one output of its shape and type, no states."""

    def __init__(self, need_top_grad=True):
        self.need_top_grad_ = need_top_grad

    def list_arguments(self):
        """Names of the inputs."""
        return ["data"]

    def list_outputs(self):
        """Names of the outputs."""
        return ["output"]

    def list_auxiliary_states(self):
        """Names of the states, which come behind the inputs."""
        return []

    def infer_shape(self, in_shape):
        """(shapes of inputs, of outputs, of states) from those of the inputs."""
        return in_shape, [in_shape[0]] * len(self.list_outputs()), []

    def infer_type(self, in_type):
        """(types of inputs, of outputs, of states) from those of the inputs, None for those that are not known."""
        return [in_type[0] if one is None else one for one in in_type], [in_type[0]] * len(self.list_outputs()), [in_type[0]] * len(self.list_auxiliary_states())

    def infer_storage_type(self, in_stype):
        """(storages of inputs, of outputs, of states) from those of the inputs: default, row_sparse or csr."""
        return in_stype, ["default"] * len(self.list_outputs()), ["default"] * len(self.list_auxiliary_states())

    def infer_storage_type_backward(self, ograd_stype, in_stype, out_stype, igrad_stype, aux_stype):
        """The same five lists, of which the fourth says the storages of the inputs' gradients."""
        return ograd_stype, in_stype, out_stype, ["default"] * len(in_stype), aux_stype

    def declare_backward_dependency(self, out_grad, in_data, out_data):
        """Which of these numbers backward() looks at: of the gradients of the outputs, of the inputs, of the outputs. In a
        graph it is given None in place of the others."""
        return [*(out_grad if self.need_top_grad_ else []), *in_data, *out_data]

    def create_operator(self, ctx, in_shapes, in_dtypes):
        """The CustomOp for inputs and states of these shapes and types: once for each call of nd.Custom, for each node of
        an executor, and for each body of a loop that it binds, which are one for results and one for gradients."""
        raise NotImplementedError


def register(reg_name):
    """Makes a CustomOpProp known: nd.Custom(x, op_type=reg_name), sym.Custom(x, op_type=reg_name)."""

    def take(prop_cls):
        if not (isinstance(prop_cls, type) and issubclass(prop_cls, CustomOpProp)):
            raise _strop.TypeError(f"operator.register: {prop_cls!r} is no class derived from CustomOpProp")
        _registry[reg_name] = prop_cls
        return prop_cls

    return take


def get_all_registered_operators():
    """The names of all operators of the library and of those that were registered here."""
    return sorted({names[0] for names in _strop.list_operators()} | set(_registry))


OperatorArguments = collections.namedtuple("OperatorArguments", ["narg", "names", "types"])


def get_operator_arguments(op_name):
    """The inputs and parameters of an operator: how many, their names, and their types as MXNet writes them."""
    own = {name: names[0] for names in reversed(_strop.list_operators()) for name in reversed(names)}
    if op_name not in own:
        raise _strop.ValueError(f"get_operator_arguments: there is no operator {op_name!r}")
    about = _strop.Operator(own[op_name], op_name, False).description
    arguments = [(one["name"], "NDArray-or-Symbol[]" if one["variadic"] else "NDArray-or-Symbol") for one in about["inputs"] if not one["hidden"]]
    for one in about["params"]:
        kind = "boolean" if one["kind"] == "boolean" else "{" + ", ".join(map(repr, sorted(one["words"]))) + "}" if one["words"] else one["type"]
        default = {"True": "1", "False": "0"}.get(one["default"], one["default"]) if one["kind"] == "boolean" else repr(one["default"]) if one["words"] else one["default"]
        arguments.append((one["name"], f"{kind}, required" if one["required"] else f"{kind}, optional, default={default}"))
    return OperatorArguments(len(arguments), [name for name, _ in arguments], [kind for _, kind in arguments])


class _Described:
    """An operator as its CustomOpProp describes it. Nodes of graphs ask it in lists: first of the inputs and states, then of
    the outputs; storages are numbers."""

    def __init__(self, op_type, params):
        if op_type not in _registry:
            raise _strop.ValueError(f"Custom: no operator is registered as {op_type!r}; there are {', '.join(sorted(_registry)) or 'none'}")
        self.name = op_type
        self._prop = _run(_registry[op_type], **params)
        self.arguments, self.outputs, self.states = (
            list(_run(names)) for names in (self._prop.list_arguments, self._prop.list_outputs, self._prop.list_auxiliary_states))
        ends = [len(self.outputs), len(self.outputs) + len(self.arguments), 2 * len(self.outputs) + len(self.arguments)]
        self.dependencies = [int(i) for i in _run(self._prop.declare_backward_dependency, *(list(range(*ends_of)) for ends_of in zip([0, *ends], ends)))]

    def _ask(self, method, given, sure=True):
        """What a method says of inputs, of outputs and of states, which may be left out. None where it fails, but is not
        told enough for that to be its fault."""
        try:
            found = _run(getattr(self._prop, method), list(given))
        except Exception:  # pylint: disable=broad-except
            if sure:
                raise
            return None
        if not isinstance(found, (list, tuple)) or not all(isinstance(one, (list, tuple)) for one in found):
            raise _strop.TypeError(f"{self.name}: {method} gives {found!r}, expected lists of inputs, outputs and states")
        found = [list(one) for one in found]
        found += [[]] * (3 - len(found))
        if len(found) != 3 or len(found[0]) != len(self.arguments) or len(found[1]) != len(self.outputs):
            raise _strop.ValueError(f"{self.name}: {method} gives lists of {', '.join(str(len(one)) for one in found)}, expected {len(self.arguments)} "
                                    f"for {', '.join(self.arguments) or 'no inputs'} and {len(self.outputs)} for {', '.join(self.outputs)}")
        found[2] += [None] * (len(self.states) - len(found[2]))
        return found

    def _in_order(self, found):
        return None if found is None else [*found[0], *found[2], *found[1]]

    def infer_shape(self, shapes, sure):
        return self._in_order(self._ask("infer_shape", shapes, sure))

    def infer_type(self, types, sure):
        return self._in_order(self._ask("infer_type", types, sure))

    def infer_storage(self, numbers):
        """The storages of the outputs."""
        return [storage_number(stype) for stype in self._ask("infer_storage_type", [STORAGES[number] for number in numbers])[1]]

    def infer_gradient_storage(self, *numbers):
        """The storages of the inputs' gradients, from those of the outputs' gradients, inputs, outputs and states."""
        heads, data, made, states = ([STORAGES[number] for number in some] for some in numbers)
        found = list(_run(self._prop.infer_storage_type_backward, heads, data, made, ["default"] * len(data), states)[3])
        if len(found) != len(data):
            raise _strop.ValueError(f"{self.name}: infer_storage_type_backward gives {len(found)} storages of gradients, expected {len(data)}")
        return [storage_number(stype) for stype in found]

    def create(self, ctx, arrays):
        """The CustomOp for these inputs and states."""
        kind, number = str(ctx).rstrip(")").split("(")
        return _run(self._prop.create_operator, Context(kind, int(number)), [list(a.shape) for a in arrays], [a.dtype for a in arrays])

    @staticmethod
    def forward(op, is_train, req, data, made, states):
        with (data or made)[0].context:
            _run(op.forward, is_train=is_train, req=req, in_data=data, out_data=made, aux=states)

    @staticmethod
    def backward(op, req, heads, data, made, found, states):  # pylint: disable=too-many-arguments
        with found[0].context:
            _run(op.backward, req=req, out_grad=heads, in_data=data, out_data=made, in_grad=found, aux=states)


class _Call(autograd.Function):
    """One call of a CustomOp as a step that is recorded."""

    def __init__(self, op, described, outputs, states):
        self._op, self._described, self._outputs, self._states = op, described, outputs, states

    def forward(self, *inputs):
        made = [nd.zeros(shape, inputs[0].context if inputs else None, dtype, stype=stype) for shape, dtype, stype in self._outputs]
        data = [a.detach() for a in inputs]
        self._described.forward(self._op, autograd.is_training(), ["write"] * len(made), data, made, self._states)
        self._data, self._made = data, [a.detach() for a in made]
        return made

    def backward(self, *gradients):
        numbers = [[a._storage for a in arrays] for arrays in (gradients, self._data, self._made, self._states)]
        stypes = [STORAGES[number] for number in self._described.infer_gradient_storage(*numbers)]
        found = [nd.zeros(a.shape, a.context, a.dtype, stype=stype) for a, stype in zip(self._data, stypes)]
        if found:
            self._described.backward(self._op, ["write"] * len(found), list(gradients), self._data, self._made, found, self._states)
        return found


def _taken(described, inputs, named, kind):
    """{name: input} of what is given in order and by name."""
    op_type, names = described.name, described.arguments + described.states
    given = dict(zip(names, inputs))
    for key, value in named.items():
        if key not in names or key in given:
            raise _strop.TypeError(f"{op_type}: no input {key!r} is left; it has {', '.join(names)}")
        given[key] = value
    if len(inputs) > len(names):
        raise _strop.TypeError(f"{op_type}: {counted(len(inputs), 'input')} given, it has {', '.join(names) or 'none'}")
    for key, value in given.items():
        if not isinstance(value, kind):
            raise _strop.TypeError(f"{op_type}: input {key!r} is of type {type(value).__name__}, expected {'an NDArray' if kind is NDArray else 'a Symbol'}")
    return given


def _divided(kwargs, kind):
    """Keywords that are inputs, and those that are parameters, as text."""
    return ({key: value for key, value in kwargs.items() if isinstance(value, kind)},
            {key: value if isinstance(value, str) else str(value) for key, value in kwargs.items() if not isinstance(value, kind)})


def Custom(*inputs, op_type=None, name=None, **kwargs):
    """Runs the operator that was registered as op_type. `out` is written. Other keywords are inputs, by their names, or parameters, which the
    CustomOpProp is made with as text."""
    out = kwargs.pop("out", None)
    named, params = _divided(kwargs, NDArray)
    described = _Described(op_type, params)
    given = _taken(described, inputs, named, NDArray)
    names = described.arguments + described.states
    if len(given) != len(names):
        raise _strop.TypeError(f"{op_type}: no array for {', '.join(key for key in names if key not in given)}; it takes {', '.join(names)}")
    arrays = [given[key] for key in names]
    data, states = arrays[:len(described.arguments)], arrays[len(described.arguments):]
    shapes, types = described._ask("infer_shape", [list(a.shape) for a in data]), described._ask("infer_type", [a.dtype for a in data])
    for key, a, shape in zip(names, data, shapes[0]):
        if tuple(shape) != a.shape:
            raise _strop.ValueError(f"{op_type}: input {key!r} has shape {a.shape}, expected {tuple(shape)}")
    stypes = [STORAGES[number] for number in described.infer_storage([a._storage for a in data])]
    made = [(tuple(shape), dtype, stype) for shape, dtype, stype in zip(shapes[1], types[1], stypes)]
    op = described.create(arrays[0].context if arrays else Context("cpu"), arrays)
    results = _Call(op, described, made, states)(*data)
    if out is None:
        return results[0] if len(results) == 1 else results
    for result, target in zip(results, out if isinstance(out, (list, tuple)) else [out]):
        result.copyto(target)
    return out


_MARKS = ("ctx_group", "lr_mult", "wd_mult", "force_mirroring", "mirror_stage")


def _custom_symbol(*inputs, op_type=None, name=None, attr=None, **kwargs):
    """A node of the operator that was registered as op_type. Other keywords are inputs, by their names, or parameters, which the
    CustomOpProp is made with as text. Inputs and states that are not given become variables, name_input. Files say
    op_type and the parameters; who loads one has registered the operator before."""
    named, params = _divided(kwargs, Symbol)
    for key in params:
        if key in _MARKS or (key.startswith("__") and key.endswith("__")):
            raise _strop.TypeError(f"Custom: parameter {key!r} of {op_type} has the name of an attribute of nodes, which a file would give back as one; call it otherwise, "
                                   "or give attributes as attr=")
    described = _Described(op_type, params)
    given = _taken(described, inputs, named, Symbol)
    called, attributes = _name_and_attributes("Custom", name, attr)
    return _strop._custom_node(described, [("op_type", op_type), *params.items()],
                               [given.get(key) for key in described.arguments + described.states], called, attributes)


@_hook("custom")
def _of_file(attributes):
    """The operator of a node that a file has, from its attributes."""
    return _Described(attributes.pop("op_type", None), attributes)


class PythonOp:
    """What NumpyOp and NDArrayOp share, which are of older programs: derive one of them. An instance is an operator of symbols,
    with one input called data and one output of its shape where it says nothing else. CustomOp does all of it."""

    def __init__(self, need_top_grad=True):
        self.need_top_grad_ = need_top_grad

    def __call__(self, *args, **kwargs):
        return self.get_symbol(*args, **kwargs)

    def get_symbol(self, *args, **kwargs):
        """A node of this operator: of inputs in order or by their names."""
        kind = f"_{type(self).__name__}{len(_registry)}"
        _registry[kind] = lambda: _OfInstance(self)
        return _custom_symbol(*args, op_type=kind, **kwargs)

    def forward(self, in_data, out_data):
        """Computes out_data, in place."""
        out_data[0][:] = in_data[0]

    def backward(self, out_grad, in_data, out_data, in_grad):
        """Computes in_grad, in place."""
        in_grad[0][:] = 1.0

    def infer_shape(self, in_shape):
        """(shapes of inputs, of outputs) from those of the inputs."""
        return in_shape, [in_shape[0]]

    def list_outputs(self):
        """Names of the outputs."""
        return ["output"]

    def list_arguments(self):
        """Names of the inputs."""
        return ["data"]

    def need_top_grad(self):
        """Whether backward() looks at the gradients of the outputs, which a loss does not have."""
        return self.need_top_grad_

    def declare_backward_dependency(self, out_grad, in_data, out_data):
        """Which of these numbers backward() looks at; it is given no others."""
        return [*(out_grad if self.need_top_grad() else []), *in_data, *out_data]

    def _given(self, a):
        """An array as forward() and backward() read it."""
        return a


class NDArrayOp(PythonOp):
    """Computes on arrays."""


class NumpyOp(PythonOp):
    """Computes on arrays of NumPy."""

    def _given(self, a):
        return a.asnumpy()


class _OfInstance(CustomOpProp):
    """A PythonOp as a CustomOpProp."""

    def __init__(self, op):
        super().__init__(op.need_top_grad())
        self._op = op
        self.list_arguments, self.list_outputs = op.list_arguments, op.list_outputs
        self.declare_backward_dependency = op.declare_backward_dependency

    def infer_shape(self, in_shape):
        return (*self._op.infer_shape(in_shape), [])

    def create_operator(self, ctx, in_shapes, in_dtypes):
        return _Computing(self._op)


class _Computing(CustomOp):
    """The functions of a PythonOp as those of a CustomOp."""

    def __init__(self, op):
        self._op = op

    def _run(self, step, given, req, wanted, name):
        made = [self._op._given(nd.zeros_like(a)) for a in wanted]
        step(**{key: [self._op._given(a) for a in arrays if a is not None] for key, arrays in given.items()}, **{name: made})
        for target, request, one in zip(wanted, req, made):
            self.assign(target, request, one)

    def forward(self, is_train, req, in_data, out_data, aux):
        self._run(self._op.forward, {"in_data": in_data}, req, out_data, "out_data")

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self._run(self._op.backward, {"out_grad": out_grad, "in_data": in_data, "out_data": out_data}, req, in_grad, "in_grad")


_custom_symbol.__name__ = _custom_symbol.__qualname__ = "Custom"
sym.Custom = sym.op.Custom = _custom_symbol
nd.Custom = nd.op.Custom = Custom
