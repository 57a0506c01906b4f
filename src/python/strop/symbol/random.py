# SPDX-License-Identifier: Apache-2.0
"""Nodes of random numbers."""
from .. import _drawn, _strop
from .._strop import Symbol
from ..base import _Null, also
from . import _internal, contrib

__all__ = ["exponential", "normal", "randint", "randn", "shuffle", "uniform"]


def _draw(name, parameters, shape, dtype, more):
    return _draw_numbers(getattr(_internal, "_random_" + name), parameters, shape, dtype, **more)


def _of_symbols(draw, name, values, shape, dtype):
    from .. import symbol

    if any(not isinstance(value, Symbol) for value in values):
        raise also(_strop.ValueError, AssertionError)(f"random.{name}: the parameters have to be numbers or Symbols, not both")
    made = draw(symbol, *values, None if shape is _Null else shape)
    return made if dtype in (_Null, None) else made.astype(dtype)


def _draw_numbers(operator, parameters, shape, dtype, **more):
    more.pop("ctx", None)  # a node is where its executor is
    return operator(**parameters, shape=(1,) if shape is _Null or shape is None else shape, dtype=dtype, **more)


def _draw_of_symbols(operator, symbols, shape, dtype, **more):
    more.pop("ctx", None)
    return operator(*symbols, shape=shape, dtype=dtype, **more)


def make_draw(name, of_numbers, of_arrays):
    """The function of operators that draw, which the registry calls by this name."""
    return _drawn.function(name, of_numbers, of_arrays, Symbol, _draw_numbers, _draw_of_symbols if of_arrays is not None else None)


def uniform(low=0, high=1, shape=_Null, dtype=_Null, **kwargs):
    """Uniform numbers from low to below high; where these are symbols, so many of each of their elements."""
    if isinstance(low, Symbol) or isinstance(high, Symbol):
        return _of_symbols(_drawn.uniform, "uniform", (low, high), shape, dtype)
    return _draw("uniform", {"low": low, "high": high}, shape, dtype, kwargs)


def normal(loc=0, scale=1, shape=_Null, dtype=_Null, **kwargs):
    """Normal numbers around loc with deviation scale."""
    if isinstance(loc, Symbol) or isinstance(scale, Symbol):
        return _of_symbols(_drawn.normal, "normal", (loc, scale), shape, dtype)
    return _draw("normal", {"loc": loc, "scale": scale}, shape, dtype, kwargs)


def randn(*shape, **kwargs):
    """Normal numbers in the extents that are given."""
    return normal(kwargs.pop("loc", 0), kwargs.pop("scale", 1), shape or _Null, kwargs.pop("dtype", _Null), **kwargs)


def exponential(scale=1, shape=_Null, dtype=_Null, **kwargs):
    """Exponential numbers of mean scale."""
    if isinstance(scale, Symbol):
        return _of_symbols(_drawn.exponential, "exponential", (scale,), shape, dtype)
    return _draw("exponential", {"lam": 1.0 / scale}, shape, dtype, kwargs)


def randint(low, high, shape=_Null, dtype=_Null, **kwargs):
    """Whole numbers from low to below high."""
    return _draw("randint", {"low": low, "high": high}, shape, dtype, kwargs)


def shuffle(data, **kwargs):
    """The entries along the first axis in random order."""
    return _internal._shuffle(data, **kwargs)


def _rand_zipfian(true_classes, num_sampled, range_max):
    """[num_sampled classes below range_max, of which small ones are frequent, expected counts of the true classes, of those drawn]."""
    from .. import symbol

    return _drawn.zipfian(symbol, true_classes, num_sampled, range_max)


contrib.rand_zipfian = _rand_zipfian
