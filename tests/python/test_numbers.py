# SPDX-License-Identifier: Apache-2.0
"""Lists of real numbers as parameters, from what Python programs give for them."""
import inspect

import numpy as np
import pytest

import strop as mx

ONE = [0.5, (0.5,), [0.5], "0.5", "(0.5,)", "[0.5]", np.float32(0.5), np.array([0.5]), (np.float64(0.5),)]
TWO = [(0.5, 0.25), [0.5, 0.25], "(0.5, 0.25)", "[0.5,0.25]", np.array([0.5, 0.25], "float32"), (np.float32(0.5), 0.25)]


@pytest.mark.parametrize("sizes", ONE + TWO, ids=repr)
def test_lists_are_taken(sizes):
    x = mx.nd.zeros((1, 1, 1, 2))
    boxes = mx.nd.contrib.MultiBoxPrior(x, sizes=sizes).asnumpy()
    count = 1 if any(sizes is one for one in ONE) else 2
    assert boxes.shape == (1, 2 * count, 4)
    np.testing.assert_array_equal(boxes[0, 0], [0.125, 0.25, 0.375, 0.75])


@pytest.mark.parametrize("sizes", ["a", (1, None), ((1, 2),), (0.5, "b"), {}], ids=repr)
def test_what_is_no_list_is_refused(sizes):
    with pytest.raises((TypeError, ValueError), match="parameter 'sizes' is .*, expected numbers as"):
        mx.nd.contrib.MultiBoxPrior(mx.nd.zeros((1, 1, 1, 2)), sizes=sizes)


def test_defaults_are_tuples():
    parameters = inspect.signature(mx.nd.contrib.MultiBoxTarget).parameters
    assert parameters["variances"].default == (0.1, 0.1, 0.2, 0.2)
    assert parameters["variances"].annotation == "tuple"


def test_symbols_keep_them():
    boxes = mx.sym.contrib.MultiBoxPrior(mx.sym.var("data"), sizes=(0.1, 0.25), ratios=[1, 2], name="boxes")
    assert boxes.attr("sizes") == "(0.1, 0.25)"
    again = mx.sym.load_json(boxes.tojson())
    for symbol in (boxes, again):
        assert symbol.infer_shape(data=(1, 2, 3, 4))[1] == [(1, 36, 4)]
