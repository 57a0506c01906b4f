# SPDX-License-Identifier: Apache-2.0
"""Operators that draw: moments and what their numbers can be; densities; samples of graphs; numbers of 8 bits."""
import math

import numpy as np

from . import EXACT, FLOATS, TYPES, case, given, of, places, property_of
from .elements import gammaln

COUNT = 20000


def moments(mean, variance, can_be):
    """Mean and variance are those of the distribution, five deviations of the mean at most away and a tenth; every number can
    be one of it."""
    def holds(made, _):
        for numbers, m, v in zip(made[0].astype("f8").reshape(-1, COUNT), np.atleast_1d(mean), np.atleast_1d(variance)):
            assert abs(numbers.mean() - m) < 5 * math.sqrt(v / COUNT) + 2e-3 * abs(m) and abs(numbers.var() - v) < 0.1 * v
            assert can_be(numbers)
    return holds


def between(low, high):
    return lambda x: (x >= low).all() and (x <= high).all()


def counts(x):
    return (x >= 0).all() and (x == np.floor(x)).all()


ABOVE = between(0, np.inf)
# Of each: the numbers of its parameters, a mean, a variance, what can be.
DRAWN = {
    "uniform": ({"low": -1, "high": 2}, 0.5, 0.75, between(-1, 2)), "normal": ({"loc": 1, "scale": 2}, 1, 4, between(-10, 12)), "exponential": ({"lam": 4}, 0.25, 0.0625, ABOVE),
    "gamma": ({"alpha": 3, "beta": 0.5}, 1.5, 0.75, ABOVE), "poisson": ({"lam": 6}, 6, 6, counts), "negative_binomial": ({"k": 4, "p": 0.5}, 4, 8, counts),
    "generalized_negative_binomial": ({"mu": 4, "alpha": 0.25}, 4, 8, counts),
}
for name, (params, mean, variance, can_be) in DRAWN.items():
    for dtype in FLOATS:
        property_of(f"_random_{name}", moments(mean, variance, can_be), shape=(COUNT,), dtype=dtype, **params)
    property_of(f"_random_{name}_like", moments(mean, variance, can_be), of(COUNT), **params)
    # Of each element of arrays: of the first one the same, of the second one with another first parameter.
    first, *rest = [given([value, value], dtype="float32") for value in params.values()]
    for dtype in FLOATS:
        property_of(f"_sample_{name}", moments([mean, mean], [variance, variance], can_be), first, *rest, types=("float32",), shape=(COUNT,), dtype=dtype)
property_of("_sample_poisson", moments([1, 50], [1, 50], counts), given([1, 50]), types=EXACT, shape=(COUNT,))
for dtype in ("int32", "int64"):
    property_of("_random_randint", moments(3.5, 35 / 12, lambda x: set(x) == {1, 2, 3, 4, 5, 6}), types=TYPES, low=1, high=7, shape=(COUNT,), dtype=dtype)


def as_probable(made, arrays):
    at, logarithms = made
    for k, p in enumerate(arrays[0]):
        np.testing.assert_allclose(np.bincount(at[k], minlength=3) / COUNT, p, atol=0.02)
        np.testing.assert_allclose(logarithms[k], np.log(p)[at[k]], rtol=5e-3)


property_of("_sample_multinomial", as_probable, given([[0.25, 0.5, 0.25], [0.125, 0.125, 0.75]]), shape=(COUNT,), get_prob=True)


def in_another_order(made, arrays):
    assert sorted(made[0].tolist()) == sorted(arrays[0].tolist()) and (made[0] != arrays[0]).any()


property_of("_shuffle", in_another_order, given(np.arange(100)), types=TYPES)


def different_and_falling(made, _):
    numbers, tries = made
    assert all(len(set(row)) == 4 for row in numbers.tolist()) and (numbers >= 0).all() and (numbers < 100).all() and (tries >= 4).all()
    for k in range(3):
        below = math.log((k + 1.5) / (k + 0.5)) / math.log(100) if k else math.log(1.5) / math.log(100)
        assert abs((numbers[:, 0] == k).mean() - below) < 0.02


property_of("_sample_unique_zipfian", different_and_falling, types=("float32",), range_max=100, shape=(5000, 4))

# --- densities ------------------------------------------------------------------------------------------------------
DENSITIES = {  # logarithms; parameters have the first extents of the sample
    "uniform": (lambda x, a, b: -np.log(b - a) + 0 * x, 2), "normal": (lambda x, m, s: -((x - m) / s)**2 / 2 - np.log(s * np.sqrt(2 * np.pi)), 2),
    "gamma": (lambda x, a, b: a * np.log(b) + (a - 1) * np.log(x) - b * x - gammaln(a), 2), "exponential": (lambda x, l: np.log(l) - l * x, 1),
    "poisson": (lambda x, l: x * np.log(l) - l - gammaln(x + 1), 1),
    "negative_binomial": (lambda x, k, p: gammaln(x + k) - gammaln(k) - gammaln(x + 1) + k * np.log(p) + x * np.log(1 - p), 2),
    "generalized_negative_binomial": (lambda x, m, a: gammaln(x + 1 / a) - gammaln(1 / a) - gammaln(x + 1) - np.log(m * a + 1) / a + x * np.log(m * a / (m * a + 1)), 2),
}
for name, (logarithm, count) in DENSITIES.items():
    sample = of(2, 3) if name in ("uniform", "normal", "gamma", "exponential") else places(5, 2, 3)
    second = of(2, low=0.2, high=0.8) if name == "negative_binomial" else of(2, low=2.1, high=2.9)
    for is_log in (False, True):
        case(f"_random_pdf_{name}", lambda x, *p, f=logarithm, log=is_log: (lambda y: y if log else np.exp(y))(f(x, *(one[:, None] for one in p))), sample, of(2, low=1.2, high=1.9),
             *[second] * (count - 1), types=EXACT, is_log=is_log)
case("_random_pdf_dirichlet", lambda x, a: np.exp(gammaln(a.sum(-1)) - gammaln(a).sum(-1) + ((a - 1) * np.log(x)).sum(-1)).reshape(1), of(3, low=0.2, high=0.8), of(3, low=1.2, high=2.9), types=EXACT)


# --- graphs ---------------------------------------------------------------------------------------------------------
GRAPHS = {"types": ("float32", "int64")}
WHOLE = np.array([[0, 1, 2, 0, 0], [0, 0, 3, 4, 0], [5, 0, 0, 0, 6], [0, 0, 0, 0, 7], [8, 0, 0, 0, 0]], "f8")


def neighbours(seeds, at_most):
    """What one step leads to where every edge is taken: vertices and how many, edges, steps."""
    found = sorted({*seeds, *(int(v) for s in seeds for v in np.flatnonzero(WHOLE[s]))})
    edges = np.zeros((at_most, 5))
    for row, vertex in enumerate(found):
        edges[row] = WHOLE[vertex] if vertex in seeds else 0
    gone = [-1] * (at_most - len(found))
    return found + gone + [len(found)], edges, [0 if v in seeds else 1 for v in found] + gone


def sampled(made, arrays):
    """Of two edges one: the vertices are the seed and what its edge leads to."""
    vertices, edges, steps = made
    assert vertices[-1] == 2 and vertices[2] == -1 and sorted(steps[:2]) == [0, 1] and 0 in vertices[:2]
    (row,), (column,) = np.nonzero(edges)
    assert vertices[row] == 0 and edges[row, column] == WHOLE[0, column] and column in vertices[:2]


CSR = given(WHOLE, stype="csr")
property_of("_contrib_dgl_csr_neighbor_uniform_sample", sampled, CSR, given([0], dtype="int64"), num_args=2, num_hops=1, num_neighbor=1, max_num_vertices=4, **GRAPHS)
case("_contrib_dgl_csr_neighbor_uniform_sample", lambda g, seeds: neighbours([0, 3], 5), CSR, given([0, 3], dtype="int64"), num_args=2, num_hops=1, num_neighbor=5, max_num_vertices=5, **GRAPHS)


def never_the_second(made, arrays):
    assert made[0].tolist() == [0, 2, -1, -1, 2] and made[2].tolist() == [0.5, 1, 0, 0] and made[3].tolist() == [0, 1, -1, -1]


property_of("_contrib_dgl_csr_neighbor_non_uniform_sample", never_the_second, CSR, given([0.5, 0, 1, 1, 1], dtype="float32"), given([0], dtype="int64"), num_args=3, num_hops=1, num_neighbor=1,
            max_num_vertices=4, **GRAPHS)


def part(graph, vertices):
    """[which edge each one is, the edges] between some vertices."""
    edges = graph[np.ix_(vertices, vertices)]
    number = np.zeros_like(edges)
    number[edges != 0] = np.arange(np.count_nonzero(edges))
    return [number, edges]


case("_contrib_dgl_subgraph", lambda g, v: part(g, v.astype(int)), CSR, given([0, 1, 2], dtype="int64"), num_args=2, return_mapping=True, **GRAPHS)
case("_contrib_dgl_graph_compact", lambda g, v: part(g, [0, 1, 2]), given(np.where(np.arange(5) < 3, WHOLE, 0) * (np.arange(5) < 3)[:, None], stype="csr"),
     given([0, 1, 2, -1, -1, 3], dtype="int64"), num_args=2, return_mapping=True, graph_sizes=(3,), **GRAPHS)


# --- numbers of 8 bits ----------------------------------------------------------------------------------------------
NUMBERS, LOW, HIGH = of(3, 5, low=-0.9, high=0.9), given([-1], dtype="float32"), given([0.5], dtype="float32")


def rounded(x, low, high):
    return np.clip(np.rint(x), low, high)


QUANTIZED = {"types": ("float32",)}
case("_contrib_quantize", lambda x, a, b: [rounded(x * 127, -128, 127), [-1], [1]], NUMBERS, LOW, HIGH, out_type="int8", **QUANTIZED)
case("_contrib_quantize", lambda x, a, b: [rounded(x * 255, 0, 255), [-1], [0.5]], NUMBERS, LOW, HIGH, out_type="uint8", **QUANTIZED)
case("_contrib_quantize_v2", lambda x: [rounded(x * 127.5, -128, 127), [-1], [1]], NUMBERS, out_type="int8", min_calib_range=-1, max_calib_range=0.5, **QUANTIZED)
case("_contrib_dequantize", lambda x, a, b: x / 127.5, given([-127, 0, 51], dtype="int8"), LOW, HIGH)
case("_contrib_requantize", lambda x, a, b: [rounded(x / 2.0**31 / 0.25 * 127, -128, 127), [-0.25], [0.25]], given([-2.0**30, 0, 2.0**27, 2.0**28 + 3], dtype="int32"), LOW, HIGH,
     min_calib_range=-0.25, max_calib_range=0.125)
