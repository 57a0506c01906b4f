# SPDX-License-Identifier: Apache-2.0
"""The helpers for tests find what is wrong, and pass what is right."""
import os

import numpy as np
import pytest

import strop as mx
from strop import nd, sym
from strop import test_utils as tu


def test_random_arrays():
    for stype in ("default", "csr", "row_sparse"):
        made = tu.rand_ndarray((20, 30), stype, density=0.3)
        assert made.stype == stype and made.shape == (20, 30) and abs(made.asnumpy()).max() <= 1
    assert tu.rand_ndarray((10, 10), "csr", density=0).nnz == 0
    assert 0.1 < (tu.rand_ndarray((100, 100), "csr", density=0.2).asnumpy() != 0).mean() < 0.3
    made, (values, rows) = tu.rand_sparse_ndarray((10, 4), "row_sparse", density=0.5)
    np.testing.assert_array_equal(made.asnumpy()[rows], values)
    assert all(1 <= n <= 5 for n in tu.rand_shape_nd(20, 5)) and len(tu.rand_shape_2d()) == 2 and len(tu.rand_shape_3d()) == 3
    assert [a.shape for a in tu.random_arrays((2,), (3, 4))] == [(2,), (3, 4)]


def test_comparisons():
    a = np.ones((2, 3), "f4")
    tu.assert_almost_equal(a, nd.array(a * (1 + 1e-5)))
    with pytest.raises(AssertionError, match=r"differ at 1 of 6 places; the worst is \(1, 2\)"):
        b = a.copy()
        b[1, 2] = 2
        tu.assert_almost_equal(a, b)
    with pytest.raises(AssertionError, match="shape"):
        tu.assert_almost_equal(a, np.ones((4, 5)))
    with pytest.raises(AssertionError):
        tu.assert_almost_equal(np.array([np.nan]), np.array([np.nan]))
    tu.assert_almost_equal(np.array([np.nan]), np.array([np.nan]), equal_nan=True)
    assert tu.almost_equal(a, a) and not tu.almost_equal(a, a + 1) and tu.same(a, a) and not tu.same(a, a + 1)
    x = nd.ones((2, 3))
    assert tu.same_array(x, x.reshape((2, 3))) and not tu.same_array(x, x.copy())
    tu.assert_exception(lambda: x.reshape((5,)), ValueError)
    with pytest.raises(AssertionError):
        tu.assert_exception(lambda: x, ValueError)
    np.testing.assert_array_equal(tu.np_reduce(a, (0, 1), True, np.sum), [[6]])
    assert tu.collapse_sum_like(np.ones((2, 3, 4)), (3, 1)).tolist() == [[8], [8], [8]]


def test_symbols_against_arrays(rng):
    x, y = rng.normal(size=(2, 3)).astype("f4"), rng.normal(size=(2, 3)).astype("f4")
    product = sym.var("x") * sym.var("y")
    tu.check_symbolic_forward(product, [x, y], [x * y])
    tu.check_symbolic_backward(product, {"x": x, "y": y}, [np.ones((2, 3))], {"x": y, "y": x})
    tu.check_symbolic_backward(product, [x, y], [np.ones((2, 3))], [y, x], grad_req="add")
    tu.check_numeric_gradient(product, [x, y], rtol=1e-2, atol=1e-3)
    np.testing.assert_allclose(tu.simple_forward(product, x=x, y=y), x * y)
    with pytest.raises(AssertionError):
        tu.check_symbolic_forward(product, [x, y], [x + y])
    with pytest.raises(AssertionError):
        tu.check_symbolic_backward(product, [x, y], [np.ones((2, 3))], [x, y])
    with pytest.raises(ValueError):
        tu.check_symbolic_forward(product, {"x": x}, [x])


def test_a_wrong_gradient_is_found(rng):
    x = rng.normal(size=(2, 3)).astype("f4")
    with pytest.raises(AssertionError, match="gradient of x"):
        variable = sym.var("x")
        tu.check_numeric_gradient(sym.BlockGrad(variable) * variable, [x], rtol=1e-2, atol=1e-3)


@pytest.mark.parametrize("name", ["tanh", "sigmoid", "exp", "square", "softmax", "log_softmax"])
def test_gradients_of_operators(name, rng):
    tu.check_numeric_gradient(getattr(sym, name)(sym.var("x")), [rng.uniform(0.5, 1, (3, 4))], dtype=np.float64, rtol=1e-4, atol=1e-6)


def test_consistency():
    net = sym.FullyConnected(sym.var("data"), num_hidden=3, name="fc")
    tu.check_consistency(net, [{"ctx": mx.cpu(), "data": (2, 4), "type_dict": {"data": dtype}} for dtype in (np.float32, np.float64)])


def test_environment_and_attempts():
    with tu.environment("STROP_NO_SUCH_THING", "1"):
        assert os.environ["STROP_NO_SUCH_THING"] == "1"
    assert "STROP_NO_SUCH_THING" not in os.environ
    count = []

    @tu.retry(3)
    def test():
        count.append(1)
        assert len(count) == 3

    test()
    assert len(count) == 3

    @tu.with_seed(5)
    def draw():
        return np.random.rand(), nd.random.uniform().asscalar()

    assert draw() == draw()
