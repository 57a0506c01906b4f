# SPDX-License-Identifier: Apache-2.0
"""Comparisons of arrays within tolerances that follow from their types, beside those of test_utils."""
import numbers

import numpy as np

from .ndarray import NDArray

__all__ = ["almost_equal", "almost_equal_ignore_nan", "assert_allclose", "assert_almost_equal", "assert_almost_equal_ignore_nan",
           "assert_almost_equal_with_err", "checkShapes", "default_atols", "default_numeric_eps", "default_rtols", "effective_dtype", "get_atol",
           "get_etol", "get_rtol", "get_tolerance", "get_tols", "locationError", "same", "same_array"]

_RTOL = {np.dtype(np.float16): 1e-2, np.dtype(np.float32): 1e-4, np.dtype(np.float64): 1e-5,
         **dict.fromkeys(map(np.dtype, ("bool", "int8", "uint8", "int32", "uint32", "int64", "uint64")), 0)}
_ATOL = {**_RTOL, np.dtype(np.float16): 1e-1, np.dtype(np.float32): 1e-3, np.dtype(np.float64): 1e-20}


def get_rtol(rtol=None, dtype=np.dtype(np.float64)):
    """The tolerance relative to values: as given, or that of the type."""
    return _RTOL.get(np.dtype(dtype), 0) if rtol is None else rtol


def get_atol(atol=None, dtype=np.dtype(np.float64)):
    """The tolerance beside the relative one: as given, or that of the type."""
    return _ATOL.get(np.dtype(dtype), 0) if atol is None else atol


def get_etol(etol=None):
    """The part of the elements that may be off: as given, or none."""
    return 0 if etol is None else etol


def default_rtols():
    """Tolerances relative to values, by type."""
    return dict(_RTOL)


def default_atols():
    """Tolerances beside the relative ones, by type."""
    return dict(_ATOL)


def default_numeric_eps():
    """How far apart the points of finite differences are, by type: powers of two."""
    return {np.dtype(np.float16): 1.0 / 2**6, np.dtype(np.float32): 1.0 / 2**9, np.dtype(np.float64): 1.0 / 2**14}


def effective_dtype(dat):
    """The type that an array's precision is that of: its own, on the CPU."""
    return np.dtype(dat.dtype)


def get_tolerance(dat, tol, default_tol):
    """The tolerance of an array: as given, as given for its type, or that of its type."""
    if isinstance(tol, numbers.Number):
        return tol
    dtype = effective_dtype(dat)
    return tol[dtype] if tol and dtype in tol else default_tol.get(dtype, 0)  # of bfloat16 there is none


def get_tols(x, y, rtol, atol):
    """(rtol, atol): as given, perhaps by type, or those of the less precise of two arrays."""
    x, y = (np.asarray(a) if isinstance(a, numbers.Number) else a for a in (x, y))
    return (max(get_tolerance(x, rtol, _RTOL), get_tolerance(y, rtol, _RTOL)), max(get_tolerance(x, atol, _ATOL), get_tolerance(y, atol, _ATOL)))


# --- comparisons ------------------------------------------------------------------------------------------------------
def _numpy(a):
    return a.asnumpy() if isinstance(a, NDArray) else np.asarray(a)


def same(a, b):
    """Whether all elements are equal."""
    return np.array_equal(_numpy(a), _numpy(b))


def same_array(array1, array2):
    """Whether two arrays share their memory."""
    return array1._pointer == array2._pointer and array1.shape == array2.shape


def almost_equal(a, b, rtol=None, atol=None, equal_nan=False, use_broadcast=True):
    """Whether |a - b| is at most atol + rtol |b| everywhere; where they are not given they are those of float64."""
    a, b = _numpy(a), _numpy(b)
    if not use_broadcast:
        checkShapes(a, b)
    return np.allclose(a, b, rtol=get_rtol(rtol), atol=get_atol(atol), equal_nan=equal_nan)


def assert_almost_equal(a, b, rtol=None, atol=None, names=("a", "b"), equal_nan=False, use_broadcast=True, mismatches=(10, 10)):
    """Raises AssertionError where |a - b| exceeds atol + rtol |b|, with the worst place."""
    a, b = _numpy(a), _numpy(b)
    rtol, atol = get_tols(a, b, rtol, atol)
    if a.shape != b.shape and (not use_broadcast or not _broadcasts(a, b)):
        raise AssertionError(f"{names[0]} has shape {a.shape}, {names[1]} {b.shape}")
    if np.allclose(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan):
        return
    x, y = np.broadcast_arrays(a.astype(np.float64), b.astype(np.float64))
    with np.errstate(all="ignore"):
        excess = np.abs(x - y) / (atol + rtol * np.abs(y))
    excess = np.where(np.isnan(excess), np.where(np.isnan(x) & np.isnan(y) & equal_nan, 0, np.inf), excess)
    excess = np.where(x == y, 0, excess)
    worst = np.unravel_index(np.argmax(excess), excess.shape)
    raise AssertionError(f"{names[0]} and {names[1]} differ at {int((excess > 1).sum())} of {excess.size} places. {locationError(x, y, worst, names, True)}, "
                         f"{excess[worst]:g} times the tolerance (rtol {rtol}, atol {atol})")


def locationError(a, b, index, names, maxError=False):  # pylint: disable=invalid-name
    """The sentence that says where two arrays differ, and what stands there."""
    where = tuple(int(i) for i in index)
    return f"Location of {'maximum ' if maxError else ''}error: {where}, {names[0]}={a[index]:.8f}, {names[1]}={b[index]:.8f}"


def assert_almost_equal_with_err(a, b, rtol=None, atol=None, etol=None, names=("a", "b"), equal_nan=False, mismatches=(10, 10)):
    """assert_almost_equal where a part of the elements, etol, may be further off."""
    x, y = _numpy(a), _numpy(b)
    tolerances = get_tols(x, y, rtol, atol)
    if x.shape == y.shape and x.size and np.mean(~np.isclose(x, y, *tolerances, equal_nan=equal_nan)) <= get_etol(etol):
        return
    assert_almost_equal(a, b, rtol, atol, names, equal_nan)


def checkShapes(a, b):  # pylint: disable=invalid-name
    """Raises where two arrays differ in shape."""
    if a.shape != b.shape:
        raise AssertionError(f"shapes differ: {a.shape} and {b.shape}")


def _broadcasts(a, b):
    try:
        np.broadcast_shapes(a.shape, b.shape)
        return True
    except ValueError:
        return False


def assert_allclose(a, b, rtol=1e-07, atol=0, equal_nan=True):
    """assert_almost_equal with NumPy's tolerances."""
    assert_almost_equal(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan)


def almost_equal_ignore_nan(a, b, rtol=None, atol=None):
    """almost_equal where neither is NaN."""
    a, b = np.copy(_numpy(a)), np.copy(_numpy(b))
    nans = np.isnan(a) | np.isnan(b)
    a[nans] = b[nans] = 0
    return almost_equal(a, b, rtol, atol)


def assert_almost_equal_ignore_nan(a, b, rtol=None, atol=None, names=("a", "b")):
    """assert_almost_equal where neither is NaN."""
    a, b = np.copy(_numpy(a)), np.copy(_numpy(b))
    nans = np.isnan(a) | np.isnan(b)
    a[nans] = b[nans] = 0
    assert_almost_equal(a, b, rtol, atol, names)
