# SPDX-License-Identifier: Apache-2.0
"""Random numbers for each element of arrays, where the registry has no operator that draws them: by the operators of numbers,
once for each element. Nothing of it is recorded, but for the probabilities of multinomial()."""
import numpy as np

from .. import _drawn, _strop
from ..base import _Null, also
from . import _internal, op
from .ndarray import array

_EVERYWHERE = ("shape", "dtype", "ctx")


def _extents(shape):
    return () if shape is _Null or shape is None else (int(shape),) if isinstance(shape, (int, np.integer)) else tuple(int(n) for n in shape)


def _given(made, out):
    return made if out is None else made.copyto(out)


def each_of(name, operator):
    """A function (operator of arrays, arrays, shape, dtype, ...) that calls an operator of numbers for each element: arrays of
    one shape give that shape, and `shape` behind it."""
    names = [one["name"] for one in operator.description["params"] if one["name"] not in _EVERYWHERE]

    def draw(_, arrays, shape, dtype, ctx=None, out=None, **more):  # pylint: disable=unused-argument
        if len({a.shape for a in arrays}) > 1:
            raise _strop.ValueError(f"random.{name}: parameters of shapes {', '.join(str(a.shape) for a in arrays)}, expected one shape")
        extents = _extents(shape)
        numbers = zip(*(a.asnumpy().ravel().tolist() for a in arrays))
        where = arrays[0].context
        drawn = [_drawn.on(where, operator, extents or (1,), dtype, **dict(zip(names, each)), **more).reshape((-1,)) for each in numbers]
        made = op.Concat(*drawn, dim=0) if drawn else array([], where)
        return _given(made.reshape((*arrays[0].shape, *extents)), out)

    return draw


def multinomial(data, shape=_Null, get_prob=False, out=None, dtype="int32", **kwargs):  # pylint: disable=unused-argument
    """Positions that are drawn with the probabilities of each row of data: so many as `shape` says, one alone without it. With
    `get_prob` [positions, logarithms of their probabilities], of which the latter are recorded."""
    if not isinstance(data, _strop.NDArray):
        raise also(_strop.TypeError, AssertionError)(f"random.multinomial: data is of type {type(data).__name__}, expected an NDArray")
    if data.ndim not in (1, 2) or data.size == 0:
        raise _strop.ValueError(f"random.multinomial: data has shape {data.shape}, expected (K,) or (N, K)")
    extents, rows, count = _extents(shape), data.asnumpy().reshape(-1, data.shape[-1]).astype(np.float64), 1
    for extent in extents:
        count *= extent
    if not (rows >= 0).all() or not np.isfinite(rows.sum(axis=1)).all() or (rows.sum(axis=1) == 0).any():
        raise _strop.ValueError("random.multinomial: a row of data has no probabilities; expected numbers from 0, of which one is above it")
    ends = np.cumsum(rows, axis=1)
    ends /= ends[:, -1:]  # the last one is 1, above every number that is drawn
    drawn = _drawn.on(data.context, _internal._random_uniform, (len(rows), count), "float64", low=0, high=1).asnumpy()
    places = np.stack([np.searchsorted(end, numbers, side="right") for end, numbers in zip(ends, drawn)])
    whole = (*data.shape[:-1], *extents) or (1,)
    made = _given(array(places.reshape(whole), data.context, dtype), out)
    if not get_prob:
        return made
    at = array((places + np.arange(len(rows))[:, None] * data.shape[-1]).reshape(whole), data.context, "int64")
    return [made, op.log(op.take(data.reshape((-1,)), at))]


def _sample(name, of, *names):
    order = (*names, "shape", "dtype", "out")

    def call(*args, **named):
        given = dict(zip(order, args))
        if len(args) > len(order) or given.keys() & named.keys() or not set(names) <= given.keys() | named.keys() <= {*order, "name", "ctx"}:
            raise _strop.TypeError(f"sample_{name}: takes {', '.join(names)}, shape and dtype")
        given.update(named)
        return of(*(given[key] for key in names), **{key: given[key] for key in order[len(names):] if key in given})

    call.__name__ = call.__qualname__ = f"sample_{name}"
    call.__doc__ = f"random.{of.__name__} for each element of {', '.join(names)}: so many numbers as `shape` says."
    return call


def fill(space, random):
    """Adds multinomial() to `random` and sample_...() to a namespace, but for names that the registry has given."""
    if not hasattr(random, "multinomial"):
        random.multinomial = multinomial
    space.setdefault("sample_multinomial", random.multinomial)

    def exponential(lam, **more):
        return random.exponential(1 / lam, **more)

    for name, of, names in (("uniform", random.uniform, ("low", "high")), ("normal", random.normal, ("mu", "sigma")), ("exponential", exponential, ("lam",)),
                            *((name, getattr(random, name, None), names) for name, names in _COUNTED)):
        if of is not None:
            space.setdefault(f"sample_{name}", _sample(name, of, *names))


_COUNTED = (("gamma", ("alpha", "beta")), ("poisson", ("lam",)), ("negative_binomial", ("k", "p")), ("generalized_negative_binomial", ("mu", "alpha")))
