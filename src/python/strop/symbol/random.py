# SPDX-License-Identifier: Apache-2.0
"""Nodes of random numbers."""
from .. import _drawn
from .._strop import Symbol
from ..base import _Null
from . import _internal, contrib
from .symbol import _read

__all__ = ["exponential", "multinomial", "normal", "randint", "randn", "shuffle", "uniform"]


def _draw_numbers(operator, parameters, shape, dtype, **more):
    more.pop("ctx", None)  # a node is where its executor is
    return operator(**parameters, shape=shape if shape is _Null or shape is None else _read(shape), dtype=dtype, **more)


def _draw_of_symbols(operator, symbols, shape, dtype, **more):
    more.pop("ctx", None)
    return operator(*symbols, shape=shape, dtype=dtype, **more)


def make_draw(name, of_numbers, of_arrays):
    """The function of operators that draw, which the registry calls by this name."""
    return _drawn.function(name, of_numbers, of_arrays, Symbol, _draw_numbers, _draw_of_symbols)


def _draw(name, parameters, shape, dtype, more):
    if _drawn.alike(name, parameters, Symbol):
        return _draw_of_symbols(getattr(_internal, "_sample_" + name), parameters.values(), shape, dtype, **more)
    return _draw_numbers(getattr(_internal, "_random_" + name), parameters, shape, dtype, **more)


def uniform(low=0, high=1, shape=_Null, dtype=_Null, **kwargs):
    """Uniform numbers from low to below high; where these are symbols, so many of each of their elements."""
    return _draw("uniform", {"low": low, "high": high}, shape, dtype, kwargs)


def normal(loc=0, scale=1, shape=_Null, dtype=_Null, **kwargs):
    """Normal numbers around loc with deviation scale; where these are symbols, so many of each of their elements."""
    return _draw("normal", {"loc": loc, "scale": scale}, shape, dtype, kwargs)


def randn(*shape, **kwargs):
    """Normal numbers in the extents that are given."""
    if isinstance(kwargs.get("data"), Symbol):
        del kwargs["data"]  # a node without inputs passes it over in MXNet, whose programs give it
    return normal(kwargs.pop("loc", 0), kwargs.pop("scale", 1), shape or _Null, kwargs.pop("dtype", _Null), **kwargs)


def exponential(scale=1, shape=_Null, dtype=_Null, **kwargs):
    """Exponential numbers of mean scale; where that is a symbol, so many of each of its elements."""
    return _draw("exponential", {"lam": 1.0 / scale}, shape, dtype, kwargs)


def randint(low, high, shape=_Null, dtype=_Null, **kwargs):
    """Whole numbers from low to below high."""
    return _draw_numbers(_internal._random_randint, {"low": low, "high": high}, shape, dtype, **kwargs)


def multinomial(data, shape=_Null, get_prob=True, dtype="int32", **kwargs):
    """Positions that are drawn with the probabilities of each row of data: so many as `shape` says, one alone without it; with
    `get_prob` also the logarithms of their probabilities."""
    return _draw_of_symbols(_internal._sample_multinomial, [data], shape, dtype, get_prob=get_prob, **kwargs)


def shuffle(data, **kwargs):
    """The entries along the first axis in random order."""
    return _internal._shuffle(data, **kwargs)


def _rand_zipfian(true_classes, num_sampled, range_max):
    """[num_sampled classes below range_max, of which small ones are frequent, expected counts of the true classes, of those drawn]."""
    from .. import symbol

    return _drawn.zipfian(symbol, true_classes, num_sampled, range_max)


contrib.rand_zipfian = _rand_zipfian
