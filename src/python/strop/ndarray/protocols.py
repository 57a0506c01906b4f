# SPDX-License-Identifier: Apache-2.0
"""What NumPy and the Array API standard ask of arrays: who serves a call of NumPy's on an NDArray, and its namespace."""
import operator

import numpy as np

from .. import _strop
from .._strop import NDArray
from ..base import NUMBER, TRUTH, bfloat16, extends

# NumPy's ufuncs that operators of Python stand for: these serve them, of arrays, and of arrays and numbers.
_SIGNS = {np.add: operator.add, np.subtract: operator.sub, np.multiply: operator.mul, np.true_divide: operator.truediv, np.floor_divide: operator.floordiv,
          np.remainder: operator.mod, np.power: operator.pow, np.matmul: operator.matmul, np.equal: operator.eq, np.not_equal: operator.ne,
          np.less: operator.lt, np.less_equal: operator.le, np.greater: operator.gt, np.greater_equal: operator.ge, np.negative: operator.neg,
          np.absolute: operator.abs}
_BITS = {np.bitwise_and: operator.and_, np.bitwise_or: operator.or_, np.bitwise_xor: operator.xor, np.invert: operator.invert}
_OF_FLOATS = (np.true_divide, np.power, np.remainder, np.floor_divide)  # of integers NumPy's results are others
# Those that functions of nd stand for, of arrays of floating types; rint and sign are others: halves, NaN.
_FUNCTIONS = {getattr(np, name): name for name in (
    "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh", "cbrt", "ceil", "cos", "cosh", "degrees", "exp", "expm1", "floor", "hypot", "log", "log10",
    "log1p", "log2", "maximum", "minimum", "radians", "reciprocal", "sin", "sinh", "sqrt", "square", "tan", "tanh", "trunc")}
_OF_TWO = {"hypot": "broadcast_hypot", "maximum": "broadcast_maximum", "minimum": "broadcast_minimum"}


def _number(value):
    """A number of NumPy as one of Python; anything else as it is."""
    return value.item() if isinstance(value, np.generic) or isinstance(value, np.ndarray) and value.ndim == 0 else value


def _promotes(value, dtype):
    """Whether NumPy gives the result of an array of this type and the operand another type than its kind."""
    if isinstance(value, (list, tuple)):
        value = np.asarray(value)
    value = _number(value)
    if isinstance(value, (float, complex)):
        return isinstance(value, complex) or np.dtype(dtype).kind != "f"
    return isinstance(value, np.ndarray) and not np.can_cast(value.dtype, dtype, "same_kind")


def _operand(value, like):
    """What an operator takes for an operand: arrays of NumPy become those of the type of the array that they meet."""
    if isinstance(value, NDArray):
        return value
    number = _number(value)
    if number is not value:
        return number
    return _strop.to_device(_strop.copy_of_buffer(np.asarray(value, dtype=like.dtype, order="C")), like.context)


def _array(value, like):
    """The same, a number as an array without dimensions."""
    value = _operand(value, like)
    return value if isinstance(value, NDArray) else _strop.reshape(_strop.full((1,), value, like.dtype, like.context), ())


def _on_memory(value):
    """An array over the same memory where that is possible, else a copy."""
    return np.asarray(value) if isinstance(value, NDArray) else value


def _served(ufunc, inputs):
    """What computes the ufunc on these operands as an operator, a function; None where NumPy does."""
    like = next((value for value in inputs if isinstance(value, NDArray)), None)
    if like is None:  # only `out` is one
        return None
    if any(isinstance(value, NDArray) and value.dtype is not like.dtype for value in inputs):
        return None  # which NumPy promotes
    if like.dtype is bfloat16:
        if any(isinstance(value, np.ndarray) and value.ndim > 0 for value in inputs):
            return None
    elif any(_promotes(value, like.dtype) for value in inputs):
        return None
    made = _strop.ufunc_of(ufunc)
    if made is not None:
        name, parameters = made
        return lambda *values: _strop.Operator(name, name, False)(*(_array(value, like) for value in values), **parameters)
    if ufunc in _BITS and any(value.dtype is not np.bool_ and not value._facts & TRUTH for value in inputs if isinstance(value, NDArray)):
        return None  # whole numbers have no such operator
    if ufunc in _BITS:  # whose methods take NumPy's bools
        return lambda a, b=None: _BITS[ufunc](a) if b is None else _BITS[ufunc](a, b) if isinstance(a, NDArray) else _BITS[ufunc](b, a)
    if ufunc in _OF_FLOATS and like.dtype is not bfloat16 and np.dtype(like.dtype).kind != "f":
        return None  # NumPy gives fractions
    if ufunc is np.matmul and any(getattr(value, "ndim", 0) not in (1, 2) for value in inputs):
        return None  # the operator contracts other axes
    if ufunc in _SIGNS:
        return lambda *values: _SIGNS[ufunc](*(_operand(value, like) for value in values))
    if ufunc not in _FUNCTIONS or like.dtype not in (np.float16, np.float32, np.float64, bfloat16):
        return None
    from . import op

    name = _FUNCTIONS[ufunc]
    return lambda *values: getattr(op, _OF_TWO.get(name, name))(*(_array(value, like) for value in values))


# Functions of NumPy that are an operator of arrays of one type; what they take besides leads to NumPy's own.
def _concatenate(arrays, axis=0):
    from . import op

    return op.Concat(*arrays, dim=axis)


def _stack(arrays, axis=0):
    from . import op

    return op.stack(*arrays, axis=axis)


def _where(condition, x, y):
    from . import op

    return op.where(condition, x, y)


def _dot(a, b):
    from . import op

    return op.dot(a, b)


_OPERATORS = {np.concatenate: _concatenate, np.stack: _stack, np.where: _where, np.dot: _dot}


def _all_arrays(args):
    """Whether the arguments are arrays, or one list of them, of one type and shape of rank one at least."""
    listed = args[0] if len(args) == 1 and isinstance(args[0], (list, tuple)) else args
    kind = getattr(listed[0], "dtype", None) if listed else None
    return all(isinstance(a, NDArray) and a.dtype is kind and a.ndim > 0 and not a._facts & NUMBER for a in listed) and len(listed) > 0


def _agrees(function, args):
    """Whether the operator means what NumPy does: where picks rows by a condition of one axis, dot contracts other axes."""
    if function is np.where:
        return len({a.shape for a in args}) == 1
    return function is not np.dot or all(a.ndim <= 2 for a in args)


@extends(NDArray)
class _Protocols:
    __module__ = NDArray.__module__  # the class stays where it was

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **keywords):
        """A ufunc that is an operator here, of NumPy or of strop.numpy, gives an NDArray, recorded as a call of the operator; all
        others compute on the memory, and give arrays of NumPy unless `out` names an NDArray."""
        out = out or ()
        if method == "__call__" and not keywords and all(isinstance(o, NDArray) for o in out):
            function = _served(ufunc, inputs)
            if function is not None:
                made = function(*inputs)
                if not out or made is NotImplemented:
                    return tuple(made) if isinstance(made, list) else made
                for target, result in zip(out, made if isinstance(made, list) else [made]):
                    target[:] = result
                return out[0] if len(out) == 1 else out
        plain = [_on_memory(value) for value in inputs]
        if method == "at" and isinstance(inputs[0], NDArray):  # a write, which the array has to hear of
            plain[0] = inputs[0].asnumpy()
            ufunc.at(*plain, **keywords)
            inputs[0][:] = plain[0]
            return None
        masked = "where" in keywords  # what it leaves out stays as it is
        wanted = tuple((o.asnumpy() if masked else None) if isinstance(o, NDArray) else o for o in out)
        if any(o is not None for o in wanted):
            keywords["out"] = wanted
        if isinstance(keywords.get("where"), NDArray):
            keywords["where"] = keywords["where"].asnumpy() != 0
        made = getattr(ufunc, method)(*plain, **keywords)
        if not any(isinstance(o, NDArray) for o in out):
            return made
        made = list(made) if isinstance(made, tuple) else [made]
        for k, target in enumerate(out):
            if isinstance(target, NDArray):
                target[:] = made[k]
                made[k] = target
        return made[0] if len(made) == 1 else tuple(made)

    def __array_function__(self, function, types, args, keywords):
        """concatenate, stack, where and dot of arrays of one type are operators; all others are NumPy's own, which asks the array for
        a method of that name, or computes on its memory."""
        known = _OPERATORS.get(function)
        if known is not None and set(keywords) <= {"axis"} and keywords.get("axis", 0) is not None:
            if _all_arrays(args) and _agrees(function, args) and (function in (np.concatenate, np.stack) or not keywords and len(args) == (3 if function is np.where else 2)):
                return known(*args, **keywords)
        own = getattr(function, "_implementation", None)
        return NotImplemented if own is None else own(*args, **keywords)

    def __array_namespace__(self, *, api_version=None):
        """The Array API standard's functions for this array: strop.array_api."""
        from .. import array_api

        return array_api.namespace(api_version)
