# SPDX-License-Identifier: Apache-2.0
"""Random numbers whose parameters are arrays or symbols: of each element so many numbers; and numbers of Zipf's law."""
import math


def spread(parameter, shape):
    """The parameter with the extents of a shape behind its own, over which it is repeated."""
    extents = () if shape is None else (shape,) if isinstance(shape, int) else tuple(int(n) for n in shape)
    if not extents:
        return parameter
    return parameter.reshape(shape=(-2,) + (1,) * len(extents)).tile(reps=extents)


def uniform(functions, low, high, shape):
    """From low to below high, of arrays or symbols of one shape."""
    low, high = spread(low, shape), spread(high, shape)
    return functions.BlockGrad(low + (high - low) * functions.random.uniform_like(low, low=0, high=1))


def normal(functions, loc, scale, shape):
    """Around loc with deviation scale."""
    loc, scale = spread(loc, shape), spread(scale, shape)
    return functions.BlockGrad(loc + scale * functions.random.normal_like(loc, loc=0, scale=1))


def exponential(functions, scale, shape):
    """Of mean scale."""
    scale = spread(scale, shape)
    return functions.BlockGrad(scale * functions.random.exponential_like(scale, lam=1))


def zipfian(functions, true_classes, num_sampled, range_max, **where):
    """num_sampled classes below range_max, class k with probability log((k + 2) / (k + 1)) / log(range_max + 1); how often the true
    classes, and those drawn, are expected among so many."""
    whole = math.log(range_max + 1)
    drawn = functions.random.uniform(0, whole, shape=(num_sampled,), dtype="float64", **where)
    sampled = (functions.exp(drawn) - 1).astype("int64") % range_max

    def expected(classes):
        classes = classes.astype("float64")
        return functions.log((classes + 2) / (classes + 1)) / whole * num_sampled

    return sampled, expected(true_classes), expected(sampled)
