# SPDX-License-Identifier: Apache-2.0
"""Arrays of random numbers."""
from .. import _drawn, _strop
from .._strop import NDArray
from ..base import _Null, also
from ..context import current_context
from . import _internal, contrib

__all__ = ["exponential", "multinomial", "normal", "randint", "randn", "shuffle", "uniform"]


def _draw_numbers(operator, parameters, shape, dtype, ctx=None, out=None, **more):
    if out is not None:
        return operator(**parameters, shape=shape, dtype=dtype, **more, out=out)
    shape = (1,) if shape is _Null or shape is None or shape == () else shape
    return operator(**parameters, shape=shape, dtype=dtype, ctx=ctx or current_context(), **more)


def _draw_of_arrays(operator, arrays, shape, dtype, ctx=None, out=None, **more):  # pylint: disable=unused-argument
    return operator(*arrays, shape=shape, dtype=dtype, **({} if out is None else {"out": out}), **more)


def make_draw(name, of_numbers, of_arrays):
    """The function of operators that draw, which the registry calls by this name."""
    return _drawn.function(name, of_numbers, of_arrays, NDArray, _draw_numbers, _draw_of_arrays)


def _draw(name, parameters, shape, dtype, ctx, out, more):
    if _drawn.alike(name, parameters, NDArray):
        return _draw_of_arrays(getattr(_internal, "_sample_" + name), parameters.values(), shape, dtype, ctx, out, **more)
    return _draw_numbers(getattr(_internal, "_random_" + name), parameters, shape, dtype, ctx, out, **more)


def uniform(low=0, high=1, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs):
    """Uniform numbers from low to below high; where these are arrays, so many of each of their elements."""
    return _draw("uniform", {"low": low, "high": high}, shape, dtype, ctx, out, kwargs)


def normal(loc=0, scale=1, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs):
    """Normal numbers around loc with deviation scale; where these are arrays, so many of each of their elements."""
    return _draw("normal", {"loc": loc, "scale": scale}, shape, dtype, ctx, out, kwargs)


def randn(*shape, **kwargs):
    """Normal numbers in the extents that are given."""
    return normal(kwargs.pop("loc", 0), kwargs.pop("scale", 1), shape or _Null, **kwargs)


def exponential(scale=1, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs):
    """Exponential numbers of mean scale; where that is an array, so many of each of its elements."""
    return _draw("exponential", {"lam": 1.0 / scale}, shape, dtype, ctx, out, kwargs)


def randint(low, high, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs):
    """Whole numbers from low to below high."""
    return _draw_numbers(_internal._random_randint, {"low": low, "high": high}, shape, dtype, ctx, out, **kwargs)


def multinomial(data, shape=_Null, get_prob=False, out=None, dtype="int32", **kwargs):
    """Positions that are drawn with the probabilities of each row of data: so many as `shape` says, one alone without it. With
    `get_prob` [positions, logarithms of their probabilities], of which the latter are recorded."""
    if not isinstance(data, NDArray):
        raise also(_strop.TypeError, AssertionError)(f"random.multinomial: data is of type {type(data).__name__}, expected an NDArray")
    return _draw_of_arrays(_internal._sample_multinomial, [data], shape, dtype, out=out, get_prob=get_prob, **kwargs)


def shuffle(data, out=None, **kwargs):
    """The entries along the first axis in random order."""
    return _internal._shuffle(data) if out is None else _internal._shuffle(data, out=out)


def _rand_zipfian(true_classes, num_sampled, range_max, ctx=None):
    """[num_sampled classes below range_max, of which small ones are frequent, expected counts of the true classes, of those drawn]."""
    from .. import ndarray

    return _drawn.zipfian(ndarray, true_classes, num_sampled, range_max, ctx=ctx or true_classes.context)


contrib.rand_zipfian = _rand_zipfian
