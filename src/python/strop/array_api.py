# SPDX-License-Identifier: Apache-2.0
"""The Array API standard's functions on NDArrays, as far as their rules allow: what array.__array_namespace__() returns.

Results of comparisons and tests here are of bool, and single numbers have no dimensions, as the standard wants; operators and keys of
arrays keep this package's own rules: x > 0 has the type of x, x[0] of a vector has shape (1,), and nothing is promoted by +.
matmul is of one or two dimensions. LEFT_OUT has the standard's names that are not here.
"""
import math
import sys
from builtins import all as _all
from builtins import max as _most

import numpy as np

from . import _strop, ndarray as nd
from ._strop import NDArray
from .base import NUMBER, _dtype_name
from .context import current_context

__array_api_version__ = "2024.12"
LEFT_OUT = tuple("""
    complex64 complex128 conj imag real int16 uint16 uint32 uint64 atan2 bitwise_and bitwise_invert bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor
    copysign floor_divide logaddexp nextafter remainder signbit cumulative_prod diff isin meshgrid nonzero roll searchsorted take_along_axis tensordot
    unique_all unique_counts unique_inverse unique_values fft linalg""".split())

e, inf, nan, newaxis, pi = math.e, math.inf, math.nan, None, math.pi
bool, int8, uint8, int32, int64, float16, float32, float64 = (  # pylint: disable=redefined-builtin
    np.bool_, np.int8, np.uint8, np.int32, np.int64, np.float16, np.float32, np.float64)
_KINDS = {"bool": (bool,), "signed integer": (int8, int32, int64), "unsigned integer": (uint8,), "integral": (int8, int32, int64, uint8),
          "real floating": (float16, float32, float64), "complex floating": (), "numeric": (int8, int32, int64, uint8, float16, float32, float64)}
_DEFAULTS = {"real floating": float32, "complex floating": None, "integral": int64, "indexing": int64}


def namespace(api_version=None):
    """This module; refuses versions of the standard that it does not follow."""
    if api_version not in (None, "2021.12", "2022.12", "2023.12", "2024.12"):
        raise _strop.ValueError(f"__array_namespace__: api_version is {api_version!r}, expected 2021.12 to 2024.12")
    return sys.modules[__name__]


# --- arrays and types ---------------------------------------------------------------------------------------------------


def _shaped(x, shape):
    return x if x.shape == shape and not x._facts & NUMBER else _strop.reshape(x, shape)


def asarray(obj, /, *, dtype=None, device=None, copy=None):
    """An NDArray of an array, a number or nested lists; floats are float32 and integers int64 unless said."""
    if isinstance(obj, NDArray):
        made = obj if dtype is None else obj.astype(_dtype_name(dtype), copy=False)
        made = made.copy() if copy and made is obj else made
        return made if device is None else made.as_in_context(device)
    if copy is False:
        raise _strop.ValueError(f"asarray: the elements of {type(obj).__name__} are copied, and copy is False")
    source = np.asarray(obj)
    if dtype is None and not isinstance(obj, (np.ndarray, np.generic)):
        dtype = {"f": float32, "i": int64}.get(source.dtype.kind)
    made = nd.array(source, device, dtype or source.dtype)
    return _shaped(made, source.shape)


def astype(x, dtype, /, *, copy=True, device=None):
    return asarray(x.astype(_dtype_name(dtype), copy=copy), device=device)


def can_cast(from_, to, /):
    return np.can_cast(from_.dtype if isinstance(from_, NDArray) else from_, to)


def isdtype(dtype, kind):
    kinds = kind if isinstance(kind, tuple) else (kind,)
    return np.dtype(dtype).type in [one for k in kinds for one in (_KINDS[k] if isinstance(k, str) else (k,))]


def result_type(*arrays_and_dtypes):
    """The type that arrays, types and numbers of Python are promoted to."""
    made = np.result_type(*(np.dtype(a.dtype) if isinstance(a, NDArray) else a for a in arrays_and_dtypes)).type
    if made not in _KINDS["numeric"] + (bool,):
        raise _strop.TypeError(f"result_type: {np.dtype(made).name} is no type of arrays here")
    return made


finfo, iinfo = np.finfo, np.iinfo
from_dlpack = nd.from_dlpack


def _filled(value):
    def make(shape, *, dtype=None, device=None):
        return full(shape, value, dtype=float32 if dtype is None else dtype, device=device)

    return make


def full(shape, fill_value, *, dtype=None, device=None):
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    dtype = dtype or (bool if isinstance(fill_value, (np.bool_, type(True))) else int64 if isinstance(fill_value, int) else float32)
    return _shaped(nd.full(shape or (1,), fill_value, device, dtype), shape)


empty, zeros, ones = _filled(0), _filled(0), _filled(1)


def full_like(x, /, fill_value, *, dtype=None, device=None):
    return full(x.shape, fill_value, dtype=dtype or x.dtype, device=device or x.context)


def empty_like(x, /, *, dtype=None, device=None):
    return full_like(x, 0, dtype=dtype, device=device)


zeros_like = empty_like


def ones_like(x, /, *, dtype=None, device=None):
    return full_like(x, 1, dtype=dtype, device=device)


def arange(start, /, stop=None, step=1, *, dtype=None, device=None):
    whole = _all(isinstance(n, int) for n in (start, stop or 0, step))
    return nd.array(np.arange(start, stop, step) if stop is not None else np.arange(0, start, step), device, dtype or (int64 if whole else float32))


def linspace(start, stop, /, num, *, dtype=None, device=None, endpoint=True):
    return nd.linspace(start, stop, num, endpoint, device, dtype or float32)


def eye(n_rows, n_cols=None, /, *, k=0, dtype=None, device=None):
    if n_cols == 0:  # which the operator takes for n_rows
        return nd.zeros((n_rows, 0), device, dtype or float32)
    return nd.eye(n_rows, n_cols or n_rows, k, device, dtype or float32)


def tril(x, /, *, k=0):
    return nd.where(_band(x, k, np.tri), x, nd.zeros_like(x))


def triu(x, /, *, k=0):
    return nd.where(_band(x, k - 1, lambda *a: 1 - np.tri(*a)), x, nd.zeros_like(x))


def _band(x, k, make):
    return nd.broadcast_to(nd.array(make(*x.shape[-2:], k), x.context, x.dtype).reshape((1,) * (x.ndim - 2) + x.shape[-2:]), shape=x.shape)


# --- element by element -------------------------------------------------------------------------------------------------


def _both(a, b):
    """Two operands as arrays of one type."""
    like = a if isinstance(a, NDArray) else b
    dtype = result_type(a, b)
    return [one.astype(dtype, copy=False) if isinstance(one, NDArray) else full((), one, dtype=dtype, device=like.context) for one in (a, b)]


def _of_one(name, floats=False):
    def call(x, /):
        if floats and not isdtype(x.dtype, "real floating"):
            raise _strop.TypeError(f"{name}: the array is {_dtype_name(x.dtype)}, expected a floating type")
        return _shaped(getattr(nd, name)(x), x.shape)

    call.__name__ = name
    return call


def _of_two(name, truth=False):
    def call(x1, x2, /):
        a, b = _both(x1, x2)
        made = getattr(nd, name)(a, b)
        return _shaped(made.astype("bool") if truth else made, np.broadcast_shapes(a.shape, b.shape))

    call.__name__ = name
    return call


_add = globals().__setitem__
for _ours, _theirs in {"arccos": "acos", "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh", "arctan": "atan", "arctanh": "atanh"}.items():
    _add(_theirs, _of_one(_ours, True))
for _ours in ("cos", "cosh", "exp", "expm1", "log", "log1p", "log2", "log10", "reciprocal", "sin", "sinh", "sqrt", "tan", "tanh"):
    _add(_ours, _of_one(_ours, True))
for _ours in ("abs", "ceil", "floor", "negative", "square", "trunc"):
    _add(_ours, _of_one(_ours))
for _ours, _theirs in {"add": "add", "sub": "subtract", "mul": "multiply", "power": "pow", "maximum": "maximum", "minimum": "minimum"}.items():
    _add(_theirs, _of_two(f"broadcast_{_ours}"))
for _ours, _theirs in {"equal": "equal", "not_equal": "not_equal", "lesser": "less", "lesser_equal": "less_equal", "greater": "greater", "greater_equal": "greater_equal",
                       "logical_and": "logical_and", "logical_or": "logical_or", "logical_xor": "logical_xor"}.items():
    _add(_theirs, _of_two(f"broadcast_{_ours}", True))


def divide(x1, x2, /):
    a, b = _both(x1, x2)
    if not isdtype(a.dtype, "real floating"):
        raise _strop.TypeError(f"divide: the arrays are {_dtype_name(a.dtype)}, expected a floating type")
    return _shaped(nd.broadcast_div(a, b), np.broadcast_shapes(a.shape, b.shape))


def hypot(x1, x2, /):
    a, b = _both(x1, x2)
    return _shaped(nd.broadcast_hypot(a, b), np.broadcast_shapes(a.shape, b.shape))


def sign(x, /):  # NaN stays, which the operator makes 0
    return _shaped(nd.where(nd.broadcast_equal(x, x), nd.sign(x), x), x.shape)


def clip(x, /, min=None, max=None):  # pylint: disable=redefined-builtin
    made = x if min is None else maximum(x, min)  # noqa: F821  pylint: disable=undefined-variable
    made = made if max is None else minimum(made, max)  # noqa: F821  pylint: disable=undefined-variable
    return made.copy() if made is x else made.astype(x.dtype, copy=False)


def positive(x, /):
    return x.copy()


def round(x, /):  # to even where it is half, as the standard's  # pylint: disable=redefined-builtin
    whole = x if isdtype(x.dtype, "integral") else nd.floor(x)
    if whole is x:
        return x.copy()
    rest = x - whole
    odd = whole - 2 * nd.floor(whole / 2)
    up = nd.broadcast_logical_or(rest > 0.5, nd.broadcast_logical_and(rest == 0.5, odd != 0))
    return _shaped(nd.where(nd.broadcast_equal(rest, rest), whole + up, x), x.shape)


def logical_not(x, /):
    return _shaped(nd.logical_not(x).astype("bool"), x.shape)


def isnan(x, /):
    return not_equal(x, x)  # noqa: F821  pylint: disable=undefined-variable


def isinf(x, /):
    return equal(nd.abs(x), inf)  # noqa: F821  pylint: disable=undefined-variable


def isfinite(x, /):
    return less(nd.abs(x), inf) if isdtype(x.dtype, "real floating") else ones_like(x, dtype=bool)  # noqa: F821  pylint: disable=undefined-variable


def where(condition, x1, x2, /):
    a, b = _both(x1, x2)
    shape = np.broadcast_shapes(condition.shape, a.shape, b.shape)
    return _shaped(nd.where(*(broadcast_to(one, shape) for one in (condition.astype(a.dtype), a, b))), shape)


# --- shapes -------------------------------------------------------------------------------------------------------------


def reshape(x, /, shape, *, copy=None):
    made = _strop.reshape(x.copy() if copy else x, np.empty(x.shape, "V0").reshape(shape).shape)
    return made


broadcast_shapes = np.broadcast_shapes


def broadcast_to(x, /, shape):
    return x if x.shape == tuple(shape) else x.broadcast_to(tuple(shape))


def broadcast_arrays(*arrays):
    shape = np.broadcast_shapes(*(a.shape for a in arrays))
    return [broadcast_to(a, shape) for a in arrays]


def concat(arrays, /, *, axis=0):
    dtype = result_type(*arrays)
    arrays = [a.astype(dtype, copy=False) for a in arrays]
    return nd.concat(*([a.reshape((-1,)) for a in arrays] if axis is None else arrays), dim=axis or 0)


def stack(arrays, /, *, axis=0):
    return concat([expand_dims(a, axis=axis) for a in arrays], axis=axis)


def unstack(x, /, *, axis=0):
    return tuple(_shaped(nd.slice_axis(x, axis=axis, begin=i, end=i + 1), tuple(np.delete(x.shape, axis))) for i in range(x.shape[axis]))


def expand_dims(x, /, *, axis=0):
    return _strop.reshape(x, np.expand_dims(np.empty(x.shape, "V0"), axis).shape)


def squeeze(x, /, axis):
    return _strop.reshape(x, np.squeeze(np.empty(x.shape, "V0"), axis).shape)


def permute_dims(x, /, axes):
    return nd.transpose(x, axes=axes) if x.ndim > 1 else x


def matrix_transpose(x, /):
    return nd.swapaxes(x, -2 + x.ndim, -1 + x.ndim)


def moveaxis(x, source, destination, /):
    return nd.moveaxis(x, source, destination)


def flip(x, /, *, axis=None):
    axes = range(x.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
    return nd.reverse(x, axis=tuple(a % x.ndim for a in axes)) if x.ndim and tuple(axes) else x


def repeat(x, repeats, /, *, axis=None):
    return nd.repeat(x, repeats=repeats, axis=axis)


def tile(x, repetitions, /):
    return nd.tile(x, reps=repetitions)


def matmul(x1, x2, /):
    a, b = _both(x1, x2)
    if _most(a.ndim, b.ndim) > 2 or 0 in (a.ndim, b.ndim):
        raise _strop.ValueError(f"matmul: shapes {a.shape} and {b.shape}, expected one or two dimensions")
    return _shaped(nd.dot(a, b), a.shape[:-1] + (b.shape[1:] if b.ndim == 2 else ()))


def vecdot(x1, x2, /, *, axis=-1):
    a, b = broadcast_arrays(*_both(x1, x2))
    return sum(a * b, axis=axis, dtype=a.dtype)


def take(x, indices, /, *, axis=None):
    if axis is None and x.ndim != 1:
        raise _strop.ValueError("take: axis is None, expected one for an array of several dimensions")
    return nd.take(x, indices, axis=axis or 0, mode="raise")


# --- reductions, sorting ------------------------------------------------------------------------------------------------


def _left(x, axis, keepdims):
    """The shape of a reduction's result."""
    axes = {a % x.ndim for a in (range(x.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis)} if x.ndim else set()
    return tuple(1 if k in axes else n for k, n in enumerate(x.shape) if keepdims or k not in axes)


def _reduction(name):
    def call(x, /, *, axis=None, keepdims=False, **more):
        dtype = more.pop("dtype", None) or (int64 if name in ("sum", "prod") and not isdtype(x.dtype, "real floating") else x.dtype)
        if more or name == "mean" and not isdtype(x.dtype, "real floating"):
            raise _strop.TypeError(f"{name}: no argument {next(iter(more))!r}" if more else f"{name}: the array is {_dtype_name(x.dtype)}, expected a floating type")
        x = x.astype(dtype, copy=False)
        if x.ndim == 0 or axis == ():
            return x.copy()
        return _shaped(getattr(nd, name)(x, keepdims=keepdims, **({} if axis is None else {"axis": axis})), _left(x, axis, keepdims))

    call.__name__ = name
    return call


sum, prod, mean, max, min = (_reduction(name) for name in ("sum", "prod", "mean", "max", "min"))  # pylint: disable=redefined-builtin


def var(x, /, *, axis=None, correction=0.0, keepdims=False):
    apart = x - broadcast_to(mean(x, axis=axis, keepdims=True), x.shape)
    count = x.size / _most(1, math.prod(_left(x, axis, True)))
    return _shaped(sum(nd.square(apart), axis=axis, keepdims=keepdims) / (count - correction), _left(x, axis, keepdims))


def std(x, /, *, axis=None, correction=0.0, keepdims=False):
    return sqrt(var(x, axis=axis, correction=correction, keepdims=keepdims))  # noqa: F821  pylint: disable=undefined-variable


def all(x, /, *, axis=None, keepdims=False):  # pylint: disable=redefined-builtin
    return (sum((x == 0).astype("int64"), axis=axis, keepdims=keepdims) == 0).astype("bool")


def any(x, /, *, axis=None, keepdims=False):  # pylint: disable=redefined-builtin
    return (count_nonzero(x, axis=axis, keepdims=keepdims) != 0).astype("bool")


def count_nonzero(x, /, *, axis=None, keepdims=False):
    return sum((x != 0).astype("int64"), axis=axis, keepdims=keepdims)


def cumulative_sum(x, /, *, axis=None):
    if axis is None and x.ndim != 1:
        raise _strop.ValueError("cumulative_sum: axis is None, expected one for an array of several dimensions")
    return nd.cumsum(x if isdtype(x.dtype, "real floating") else x.astype(int64, copy=False), axis=(axis or 0) % x.ndim)


def sort(x, /, *, axis=-1, descending=False, stable=True):
    return nd.sort(x, axis=axis, is_ascend=not descending)


def argsort(x, /, *, axis=-1, descending=False, stable=True):
    return nd.argsort(x, axis=axis, is_ascend=not descending, dtype="int64")


def _position(least):
    def call(x, /, *, axis=None, keepdims=False):
        flat = x.reshape((-1,)) if axis is None else x
        made = nd.topk(flat, k=1, axis=0 if axis is None else axis, ret_typ="indices", is_ascend=least, dtype="int64")
        return _shaped(made, _left(x, axis, keepdims))

    return call


argmax, argmin = _position(False), _position(True)


# --- what there is ------------------------------------------------------------------------------------------------------


class _Info:
    """__array_namespace_info__(): devices, types, and what depends on data."""

    def capabilities(self):
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": None}

    def default_device(self):
        return current_context()

    def devices(self):
        from .context import cpu, gpu, num_gpus

        return [cpu()] + [gpu(k) for k in range(num_gpus())]

    def default_dtypes(self, *, device=None):
        return dict(_DEFAULTS)

    def dtypes(self, *, device=None, kind=None):
        kinds = ("bool", "numeric") if kind is None else kind if isinstance(kind, tuple) else (kind,)
        return {np.dtype(one).name: one for k in kinds for one in _KINDS[k]}


def __array_namespace_info__():
    return _Info()
