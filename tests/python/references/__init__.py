# SPDX-License-Identifier: Apache-2.0
"""NumPy's word on every operator: CASES, each a call and what it has to give, for test_numpy.py to run in every type that
the operator serves. The formulas are written here anew, for arrays of float64 of which each element is one of the type."""
import collections

import numpy as np

FLOATS = ("float16", "float32", "float64")
TYPES = (*FLOATS, "uint8", "int8", "int32", "int64")
EXACT = ("float32", "float64")  # for sums and conditions that halves decide otherwise
TOLERANCE = {"float16": 5e-3, "float32": 2e-5, "float64": 1e-9}

Input = collections.namedtuple("Input", "shape low high dtype stype")
Case = collections.namedtuple("Case", "name check inputs params types train")
CASES = []


def of(*shape, low=0.2, high=1.8, dtype=None, stype=None):
    """Numbers between low and high; whole ones from 1 to 4 in types of integers where low and high leave no choice."""
    return Input(shape, low, high, dtype, stype)


def places(n, *shape, dtype=None):
    """Whole numbers from 0 to n - 1."""
    return Input(shape, 0, n, dtype or "places", None)


def given(elements, dtype=None, stype=None):
    """These very elements."""
    return Input(np.asarray(elements, "f8"), None, None, dtype, stype)


def make(one, dtype, rng):
    """The elements of an input in float64, and its type."""
    kept = dtype if one.dtype in (None, "places") else one.dtype
    if one.low is None:
        made = one.shape
    elif one.dtype == "places":
        made = rng.integers(one.low, one.high, one.shape)
    elif kept in FLOATS:
        made = rng.uniform(one.low, one.high, one.shape)
    else:
        low, high = (one.low, one.high) if one.high - one.low >= 3 else (1, 5)
        made = rng.integers(max(low, 0) if kept == "uint8" else low, high, one.shape)
    made = np.asarray(made).astype(kept)
    if one.stype is not None and one.low is not None:  # two thirds are not stored
        rows, columns = np.indices(made.reshape(len(made), -1).shape)
        made = np.where(((rows + columns) % 3 == 0 if one.stype == "csr" else rows % 3 == 1).reshape(made.shape), made, 0).astype(kept)
    return made


def close(made, want, dtype):
    """Whether a result is what the formula says: to rounding, of integers what is left of it when it is truncated."""
    want = np.asarray(want, "f8")
    assert made.shape == want.shape, f"{dtype}: shape {made.shape}, expected {want.shape}"
    if made.dtype.kind == "f":
        loose = max(TOLERANCE[made.dtype.name], TOLERANCE.get(dtype, 0))
        np.testing.assert_allclose(made.astype("f8"), want, rtol=loose, atol=loose, err_msg=dtype)
    else:
        either = (made == np.trunc(want - 1e-6)) | (made == np.trunc(want + 1e-6))
        assert either.all(), f"{dtype}: {made[~either]}, expected {want[~either]}"


def case(name, formula, *inputs, types=TYPES, train=False, **params):
    """A call, and a formula of its inputs: of the result, or a list of those of all results, behind which stand the inputs
    that the operator writes."""
    def check(made, arrays, dtype):
        want = formula(*arrays)
        want = want if isinstance(want, (list, tuple)) else [want]
        assert len(made) == len(want), f"{len(made)} results, expected {len(want)}"
        for one, other in zip(made, want):
            close(one, other, dtype)

    CASES.append(Case(name, check, inputs, params, types, train))


def property_of(name, holds, *inputs, types=FLOATS, train=False, **params):
    """A call, and holds(results, inputs), which asserts what is true of them."""
    CASES.append(Case(name, lambda made, arrays, dtype: holds(made, arrays), inputs, params, types, train))


from . import draws, elements, layers, linear, networks, tensors, updates, vision  # noqa: E402,F401  pylint: disable=wrong-import-position
