# SPDX-License-Identifier: Apache-2.0
"""Arrays of random numbers."""
from .. import _strop
from .._strop import NDArray
from ..base import _Null
from ..context import current_context
from . import _internal

__all__ = ["exponential", "normal", "randint", "randn", "shuffle", "uniform"]


def _draw(name, params, shape, dtype, ctx, out, more):
    operator = getattr(_internal, "_random_" + name)
    arrays = [key for key, value in params.items() if isinstance(value, NDArray)]
    if arrays:
        raise _strop.TypeError(f"random.{name}: {arrays[0]} is an array, expected a number; draw with fixed parameters, then scale")
    if out is not None:
        return operator(**params, **more, out=out)
    shape = (1,) if shape is _Null or shape is None else shape
    return _strop.to_device(operator(**params, shape=shape, dtype=dtype, **more), ctx or current_context())


def uniform(low=0, high=1, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs):
    """Uniform numbers from low to below high."""
    return _draw("uniform", {"low": low, "high": high}, shape, dtype, ctx, out, kwargs)


def normal(loc=0, scale=1, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs):
    """Normal numbers around loc with deviation scale."""
    return _draw("normal", {"loc": loc, "scale": scale}, shape, dtype, ctx, out, kwargs)


def randn(*shape, **kwargs):
    """Normal numbers in the extents that are given."""
    return normal(kwargs.pop("loc", 0), kwargs.pop("scale", 1), shape or _Null, **kwargs)


def exponential(scale=1, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs):
    """Exponential numbers of mean scale."""
    if isinstance(scale, NDArray):
        raise _strop.TypeError("random.exponential: scale is an array, expected a number; draw with fixed parameters, then scale")
    return _draw("exponential", {"lam": 1.0 / scale}, shape, dtype, ctx, out, kwargs)


def randint(low, high, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs):
    """Whole numbers from low to below high."""
    return _draw("randint", {"low": low, "high": high}, shape, dtype, ctx, out, kwargs)


def shuffle(data, out=None, **kwargs):
    """The entries along the first axis in random order."""
    return _internal._shuffle(data) if out is None else _internal._shuffle(data, out=out)
