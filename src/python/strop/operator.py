# SPDX-License-Identifier: Apache-2.0
"""Operators written in Python, of arrays: CustomOp says what is computed, CustomOpProp what it looks like."""
import collections
import traceback

from . import _strop, autograd, nd
from .ndarray import NDArray

_registry = {}


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
        """(types of inputs, of outputs, of states) from those of the inputs."""
        return in_type, [in_type[0]] * len(self.list_outputs()), [in_type[0]] * len(self.list_auxiliary_states())

    def infer_storage_type(self, in_stype):
        """(storages of inputs, of outputs, of states) from those of the inputs: default, row_sparse or csr."""
        return in_stype, ["default"] * len(self.list_outputs()), ["default"] * len(self.list_auxiliary_states())

    def infer_storage_type_backward(self, ograd_stype, in_stype, out_stype, igrad_stype, aux_stype):
        """The same five lists, of which the fourth says the storages of the inputs' gradients."""
        return ograd_stype, in_stype, out_stype, ["default"] * len(in_stype), aux_stype

    def create_operator(self, ctx, in_shapes, in_dtypes):
        """The CustomOp for inputs of these shapes and types."""
        raise NotImplementedError


def register(reg_name):
    """Makes a CustomOpProp known: nd.Custom(x, op_type=reg_name)."""

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
    """The inputs and parameters of an operator: how many, their names, and their types as the original writes them."""
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


_failures = {}  # by the kind of failure: that kind as a kind of Error


def _run(step, **arguments):
    """Runs what somebody wrote. What it raises is an Error as well as what it is, with the traceback as its cause."""
    try:
        step(**arguments)
    except _strop.Error:
        raise
    except Exception as error:  # pylint: disable=broad-except
        kind = type(error)
        if kind not in _failures:
            _failures[kind] = type(kind.__name__, (_strop.Error, kind), {"__module__": kind.__module__})
        made = _failures[kind].__new__(_failures[kind])
        made.args = error.args or ("".join(traceback.format_exception(error)),)
        raise made.with_traceback(error.__traceback__) from error


class _Call(autograd.Function):
    """One call of a CustomOp as a step that is recorded."""

    def __init__(self, op, prop, outputs, states):
        self._op, self._prop, self._outputs, self._states = op, prop, outputs, states

    def forward(self, *inputs):
        made = [nd.zeros(shape, inputs[0].context if inputs else None, dtype, stype=stype) for shape, dtype, stype in self._outputs]
        data = [a.detach() for a in inputs]
        _run(self._op.forward, is_train=autograd.is_training(), req=["write"] * len(made), in_data=data, out_data=made, aux=self._states)
        self._data, self._made = data, [a.detach() for a in made]
        return made

    def backward(self, *gradients):
        lists = [[a.stype for a in arrays] for arrays in (gradients, self._data, self._made, self._data, self._states)]
        stypes = self._prop.infer_storage_type_backward(*lists)[3] if any(s != "default" for s in lists[1]) else lists[1]
        found = [nd.zeros(a.shape, a.context, a.dtype, stype=stype) for a, stype in zip(self._data, stypes)]
        _run(self._op.backward, req=["write"] * len(found), out_grad=list(gradients), in_data=self._data, out_data=self._made, in_grad=found, aux=self._states)
        return found


def Custom(*inputs, op_type=None, name=None, **kwargs):
    """Runs the operator that was registered as op_type. Other keywords are inputs, by their names, or parameters, which the
    CustomOpProp is made with as text."""
    if op_type not in _registry:
        raise _strop.ValueError(f"Custom: no operator is registered as {op_type!r}; there are {', '.join(sorted(_registry)) or 'none'}")
    prop = _registry[op_type](**{key: value if isinstance(value, str) else str(value) for key, value in kwargs.items() if not isinstance(value, NDArray)})
    names = list(prop.list_arguments()) + list(prop.list_auxiliary_states())
    given = dict(zip(names, inputs))
    for key, value in kwargs.items():
        if isinstance(value, NDArray):
            if key not in names or key in given:
                raise _strop.TypeError(f"{op_type}: no input {key!r} is left; it has {', '.join(names)}")
            given[key] = value
    if len(inputs) > len(names) or len(given) != len(names):
        raise _strop.TypeError(f"{op_type}: expected {', '.join(names)}, got {len(inputs)} arrays and {', '.join(k for k in given if k in kwargs) or 'no names'}")
    for key, value in given.items():
        if not isinstance(value, NDArray):
            raise _strop.TypeError(f"{op_type}: input {key!r} is of type {type(value).__name__}, expected an NDArray")
    count = len(prop.list_arguments())
    data, states = [given[n] for n in names[:count]], [given[n] for n in names[count:]]
    shapes, types = prop.infer_shape([list(a.shape) for a in data]), prop.infer_type([a.dtype for a in data])
    for key, a, shape in zip(names, data, shapes[0]):
        if tuple(shape) != a.shape:
            raise _strop.ValueError(f"{op_type}: input {key!r} has shape {a.shape}, expected {tuple(shape)}")
    stypes = prop.infer_storage_type([a.stype for a in data])[1] if any(a.stype != "default" for a in data) else ["default"] * len(shapes[1])
    made = [(tuple(shape), dtype, stype) for shape, dtype, stype in zip(shapes[1], types[1], stypes)]
    if len(made) != len(prop.list_outputs()):
        raise _strop.ValueError(f"{op_type}: infer_shape and infer_type speak of {len(made)} outputs, list_outputs of {len(prop.list_outputs())}")
    op = prop.create_operator(str(data[0].context) if data else "cpu(0)", [a.shape for a in data], [a.dtype for a in data])
    results = _Call(op, prop, made, states)(*data)
    return results[0] if len(results) == 1 else results


nd.Custom = nd.op.Custom = Custom
