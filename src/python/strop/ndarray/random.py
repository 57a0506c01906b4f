# SPDX-License-Identifier: Apache-2.0
"""Arrays of random numbers."""
import numpy as np

from .. import _drawn, _strop
from .._strop import NDArray
from ..base import _Null, also
from ..context import current_context
from . import _internal, contrib

__all__ = ["exponential", "normal", "randint", "randn", "shuffle", "uniform"]


def _draw(name, params, shape, dtype, ctx, out, more):
    return _draw_numbers(getattr(_internal, "_random_" + name), params, shape, dtype, ctx, out, **more)


def _of_arrays(draw, name, values, shape, dtype, out):
    from .. import ndarray

    if any(not isinstance(value, NDArray) for value in values):
        raise also(_strop.ValueError, AssertionError)(f"random.{name}: the parameters have to be numbers or NDArrays, not both")
    made = draw(ndarray, *values, None if shape is _Null else shape)
    made = made if dtype is _Null or dtype is None else made.astype(dtype, copy=False)
    return made if out is None else made.copyto(out)


def _draw_numbers(operator, parameters, shape, dtype, ctx=None, out=None, **more):
    if out is not None:
        return operator(**parameters, **more, out=out)
    shape = (1,) if shape is _Null or shape is None else shape
    return _drawn.on(ctx or current_context(), operator, shape, dtype, **parameters, **more)


def _draw_of_arrays(operator, arrays, shape, dtype, ctx=None, out=None, **more):  # pylint: disable=unused-argument
    return operator(*arrays, shape=shape, dtype=dtype, out=out, **more)


def make_draw(name, of_numbers, of_arrays):
    """The function of operators that draw, which the registry calls by this name. Where none takes arrays, that of numbers is
    called for each of their elements."""
    from . import sample

    draw_of = _draw_of_arrays if of_arrays is not None else sample.each_of(name, of_numbers)
    return _drawn.function(name, of_numbers, of_arrays, NDArray, _draw_numbers, draw_of)


def uniform(low=0, high=1, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs):
    """Uniform numbers from low to below high; where these are arrays, so many of each of their elements."""
    if isinstance(low, NDArray) or isinstance(high, NDArray):
        return _of_arrays(_drawn.uniform, "uniform", (low, high), shape, dtype, out)
    return _draw("uniform", {"low": low, "high": high}, shape, dtype, ctx, out, kwargs)


def normal(loc=0, scale=1, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs):
    """Normal numbers around loc with deviation scale; where these are arrays, so many of each of their elements."""
    if isinstance(loc, NDArray) or isinstance(scale, NDArray):
        return _of_arrays(_drawn.normal, "normal", (loc, scale), shape, dtype, out)
    return _draw("normal", {"loc": loc, "scale": scale}, shape, dtype, ctx, out, kwargs)


def randn(*shape, **kwargs):
    """Normal numbers in the extents that are given."""
    return normal(kwargs.pop("loc", 0), kwargs.pop("scale", 1), shape or _Null, **kwargs)


def exponential(scale=1, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs):
    """Exponential numbers of mean scale; where that is an array, so many of each of its elements."""
    if isinstance(scale, NDArray):
        return _of_arrays(_drawn.exponential, "exponential", (scale,), shape, dtype, out)
    return _draw("exponential", {"lam": 1.0 / scale}, shape, dtype, ctx, out, kwargs)


def randint(low, high, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs):
    """Whole numbers from low to below high."""
    dtype = np.int32 if out is None and (dtype is _Null or dtype is None) else dtype
    return _draw("randint", {"low": low, "high": high}, shape, dtype, ctx, out, kwargs)


def shuffle(data, out=None, **kwargs):
    """The entries along the first axis in random order."""
    return _internal._shuffle(data) if out is None else _internal._shuffle(data, out=out)


def _rand_zipfian(true_classes, num_sampled, range_max, ctx=None):
    """[num_sampled classes below range_max, of which small ones are frequent, expected counts of the true classes, of those drawn]."""
    from .. import ndarray

    return _drawn.zipfian(ndarray, true_classes, num_sampled, range_max, ctx=ctx or true_classes.context)


contrib.rand_zipfian = _rand_zipfian
