# SPDX-License-Identifier: Apache-2.0
"""Numbers of Python beside arrays of integers: whole ones keep their digits, what a type cannot hold is its nearest number."""
import numpy as np
import pytest

import strop as mx
from strop import nd

BIG = 2**53 + 1  # which no double is


def test_whole_numbers_beside_int64_arrays_keep_their_digits():
    x = nd.array([BIG - 1, BIG, BIG + 1], dtype="int64")
    for got, wanted in (
        (x == BIG, [0, 1, 0]),
        (x != np.int64(BIG), [1, 0, 1]),
        (x < BIG, [1, 0, 0]),
        (BIG >= x, [1, 1, 0]),
        (x - BIG, [-1, 0, 1]),
        (BIG - x, [1, 0, -1]),
        (x + BIG, [2 * BIG - 1, 2 * BIG, 2 * BIG + 1]),
        (nd.array([1, -3], dtype="int64") * BIG, [BIG, -3 * BIG]),
        (x % BIG, [BIG - 1, 0, 1]),
        (nd.maximum(x, BIG), [BIG, BIG, BIG + 1]),
        (nd.minimum(BIG, x), [BIG - 1, BIG, BIG]),
        (nd.clip(x, BIG, BIG), [BIG, BIG, BIG]),
        (x.clip(0, BIG), [BIG - 1, BIG, BIG]),
        (nd.full((2,), BIG, dtype="int64"), [BIG, BIG]),
        (nd.full((1,), np.int64(BIG), dtype="int64"), [BIG]),
        (nd.one_hot(nd.array([1]), depth=2, on_value=BIG, off_value=-BIG, dtype="int64"), [-BIG, BIG]),
    ):
        np.testing.assert_array_equal(got.asnumpy().ravel(), wanted)
    x[1:] = BIG + 4
    x[0] = np.int64(-BIG)
    np.testing.assert_array_equal(x.asnumpy(), [-BIG, BIG + 4, BIG + 4])
    x[:] = BIG
    np.testing.assert_array_equal(x.asnumpy(), [BIG] * 3)
    x -= BIG
    np.testing.assert_array_equal(x.asnumpy(), [0, 0, 0])


def test_whole_numbers_in_symbol_files_keep_their_digits():
    net = mx.sym.var("x") - BIG
    assert f'"scalar": "{BIG}"' in net.tojson()  # as MXNet 1.9.1 writes it
    assert '"scalar": "2.5"' in (mx.sym.var("x") - 2.5).tojson()
    run = mx.sym.load_json(net.tojson()).bind(mx.cpu(), {"x": nd.array([BIG + 1], dtype="int64")})
    np.testing.assert_array_equal(run.forward()[0].asnumpy(), [1])


def test_numbers_outside_a_type_become_its_nearest():
    small, ints = nd.array([1, 200], dtype="uint8"), nd.array([-5, 5], dtype="int32")
    for got, wanted in (
        (nd.maximum(small, 300), [255, 255]),
        (nd.minimum(small, -1), [0, 0]),
        (nd.maximum(ints, float("inf")), [2**31 - 1] * 2),
        (nd.clip(ints, 2147483692, 3e9), [2**31 - 1] * 2),
        (nd.full((1,), 300, dtype="int8"), [127]),
        (nd.full((1,), -300.0, dtype="int8"), [-128]),
        (nd.full((1,), 2**70, dtype="int64"), [2**63 - 1]),
        (small + 300, [45, 244]),  # sums wrap
        (small < 300, [1, 1]),
        (small == 456, [0, 0]),
        (nd.array([2**63 - 1], dtype="int64") == 2**70, [0]),
    ):
        np.testing.assert_array_equal(got.asnumpy(), wanted)
    small[:1] = 300
    np.testing.assert_array_equal(small.asnumpy(), [255, 200])


def test_positions_that_a_type_does_not_hold_are_refused():
    with pytest.raises(mx.base.MXNetError, match="float16 does not hold the 4098 positions of a row"):
        nd.argmax(nd.zeros((2, 4098), dtype="float16"), axis=1).asnumpy()
    assert nd.argmax(nd.zeros((2, 2049), dtype="float16"), axis=1).dtype == np.float16
