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
    made = tu.create_sparse_array_zd((9, 2), "row_sparse", density=0.0, rsp_indices=[8, 1])
    assert made.indices.asnumpy().tolist() == [1, 8]
    assert tu.create_sparse_array_zd((9, 2), "row_sparse", density=1.0).indices.size == 0


def test_comparisons():
    a = np.ones((2, 3), "f4")
    tu.assert_almost_equal(a, nd.array(a * (1 + 1e-5)))
    with pytest.raises(AssertionError, match=r"differ at 1 of 6 places. Location of maximum error: \(1, 2\)"):
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


def test_tolerances_by_type():
    half, single, whole = np.dtype("float16"), np.dtype("float32"), np.dtype("int32")
    a, b = nd.ones((2,)), nd.ones((2,), dtype="float16")
    assert tu.get_tols(a, b, None, None) == (1e-2, 1e-1) and tu.get_tols(a, a, 0.5, {single: 3}) == (0.5, 3) and tu.get_tols(2.0, a, None, None) == (1e-4, 1e-3)
    assert tu.get_tols(a, b, {half: 0.25}, {single: 0.125}) == (0.25, 0.125) and tu.get_tols(a.astype(whole), a.astype(whole), {single: 1}, None) == (0, 0)
    assert tu.get_tolerance(b, {single: 1}, {half: 2}) == 2 and tu.get_tolerance(b, 0, {half: 2}) == 0
    tu.assert_almost_equal(a, a + 0.4, rtol={single: 0.5}, atol=0)
    with pytest.raises(AssertionError):
        tu.assert_almost_equal(a, a + 0.4, rtol={half: 0.5}, atol=0)
    with pytest.raises(AssertionError):
        tu.assert_almost_equal(nd.array([100000], dtype=whole), nd.array([100001], dtype=whole))  # integers are equal or not
    tu.check_symbolic_forward(sym.square(sym.var("x")), [a], [np.array([1.2, 1])], rtol={single: 0.5}, atol={single: 0})
    assert tu.is_aarch64_run() is False or os.uname().machine == "aarch64"


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


def test_random_arrays_of_a_kind():
    matrix = tu.new_sym_matrix_with_real_eigvals_nd((2, 5, 5))
    assert (abs(matrix - matrix.transpose(0, 2, 1)) < 1e-12).all() and np.isreal(np.linalg.eigvals(tu.new_matrix_with_real_eigvals_2d(6))).all()
    q = tu.new_orthonormal_matrix_2d(4)
    np.testing.assert_allclose(q @ q.T, np.eye(4), atol=1e-12)
    csr, _ = tu.rand_sparse_ndarray((32, 1000), "csr", density=0.1, distribution="powerlaw")
    counts = np.diff(csr.indptr.asnumpy())
    assert counts.sum() == 3200 and counts[:6].tolist() == [2, 4, 8, 16, 32, 64]
    with pytest.raises(ValueError):
        tu.rand_sparse_ndarray((5, 5), "csr", density=0.1, distribution="powerlaw")
    parts = csr.asscipy()
    tu.shuffle_csr_column_indices(parts)
    assert parts.indptr.tolist() == csr.indptr.asnumpy().tolist()
    assert tu.assign_each(np.ones((2, 2)), lambda x: 3).tolist() == [[3, 3]] * 2 and tu.assign_each(np.ones(2), None).tolist() == [1, 1]
    assert tu.assign_each2(np.ones(2), np.full(2, 4.0), lambda a, b: a - b).tolist() == [-3, -3]
    assert tu.create_2d_tensor(2, 3).asnumpy().tolist() == [[0] * 3, [1] * 3] and tu.create_vector(3).dtype is np.int64


def test_generators(rng):
    buckets, probabilities = tu.gen_buckets_probs_with_ppf(lambda p: p * 2, 4)
    assert buckets == [(0, 0.5), (0.5, 1), (1, 1.5), (1.5, 2)] and probabilities == [0.25] * 4
    tu.verify_generator(lambda n: rng.uniform(0, 2, n), buckets, probabilities, nsamples=20000)
    with pytest.raises(AssertionError):
        tu.verify_generator(lambda n: rng.uniform(0, 2, n) ** 1.1, buckets, probabilities, nsamples=20000)
    with pytest.raises(AssertionError):  # outside
        tu.verify_generator(lambda n: rng.uniform(0, 3, n), buckets, probabilities, nsamples=20000)
    p, counted, expected = tu.chi_square_check(lambda n: np.repeat(np.arange(4), [30, 14, 34, 22]), [0, 1, 2, 3], [0.25] * 4, nsamples=100)
    assert counted == [30, 14, 34, 22] and expected == [25] * 4 and abs(p - 0.02398) < 1e-4  # the statistic is 9.44, of 3 degrees
    p = tu.chi_square_check(lambda n: np.repeat(np.arange(3), [20, 20, 35]), [0, 1, 2], [1 / 3] * 3, nsamples=75)[0]
    assert abs(p - np.exp(-6 / 2)) < 1e-9  # of 2 degrees: e^(-x/2)
    assert tu.mean_check(lambda n: rng.normal(3, 2, n), 3, 2, 10000) and not tu.mean_check(lambda n: rng.normal(3.2, 2, n), 3, 2, 10000)
    assert tu.var_check(lambda n: rng.normal(3, 2, n), 2, 10000) and not tu.var_check(lambda n: rng.normal(3, 2.2, n), 2, 10000)


def test_tolerances_of_tests(rng):
    with pytest.raises(AssertionError):
        tu.assert_almost_equal_with_err(np.array([1.0, 2, 3, 4]), np.array([1.0, 2, 3, 5]))
    tu.assert_almost_equal_with_err(np.array([1.0, 2, 3, 4]), np.array([1.0, 2, 3, 5]), etol=0.3)
    net = mx.sym.relu(mx.sym.var("x"))
    tu.check_consistency(net, [{"ctx": mx.cpu(), "x": (3, 4), "type_dict": {"x": t}} for t in ("float64", "float16")], tol={np.dtype("float16"): 0.01})
    with pytest.raises(AssertionError):
        tu.check_consistency(mx.sym.exp(mx.sym.var("x")), [{"ctx": mx.cpu(), "x": (30, 4), "type_dict": {"x": t}} for t in ("float64", "float16")], tol=1e-12)
    tu.check_numeric_gradient(mx.sym.repeat(mx.sym.var("x"), repeats=2), [np.arange(6).reshape(2, 3)])  # whole numbers become float32
    for dtype in (np.float32, np.float64):
        tu.check_numeric_gradient(sym.square(sym.var("x")), [np.array([0.5, 1.5], dtype)], dtype="asnumpy")
    assert tu.check_speed(net, {"x": np.ones((2, 3))}, N=2) > 0
    name = "STROP_TEST_VARIABLE"
    with tu.EnvManager(name, "1"):
        assert tu.getenv(name) == "1" and tu.set_env_var(name, "2") == "1"
    assert tu.getenv(name) is None


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


def test_tolerances_of_two_arrays():
    half, single, number = nd.ones((2,), dtype="float16"), nd.ones((2,)), np.ones(2, "int32")
    assert tu.get_tols(half, single, None, None) == (1e-2, 1e-1) and tu.get_tols(number, 3, None, None) == (0, 0)
    by_type = {np.dtype(np.float16): 0.5}
    assert tu.get_tols(half, 1.0, by_type, 0) == (0.5, 0) and tu.get_tolerance(single, by_type, tu.default_rtols()) == 1e-4
    tu.assert_almost_equal(half * 1.25, half, rtol=by_type)
    with pytest.raises(AssertionError):
        tu.assert_almost_equal(single * 1.25, single, rtol=by_type)
    assert not tu.almost_equal(single.asnumpy() * 1.0001, single.asnumpy())  # the tolerance of float64, whatever their type
    assert tu.default_numeric_eps()[np.dtype(np.float32)] == 1 / 512
    said = tu.locationError(np.array([1.0, 2]), np.array([1.0, 3]), (1,), ("x", "y"), True)
    assert said == "Location of maximum error: (1,), x=2.00000000, y=3.00000000"


def test_optimizers_are_compared():
    make = mx.optimizer.create
    for more in ({}, {"momentum": 0.9}):
        tu.compare_optimizer(make("sgd", **more), make("sgd", **more), [(3, 4), (2,)], "float32", ntensors=2)
        tu.compare_optimizer(make("nag", **more), make("nag", **more), (3, 4), "float64")
    tu.compare_optimizer(make("sgd", lazy_update=False), make("sgd", lazy_update=False), (5, 4), "float32", "row_sparse", "row_sparse")
    with pytest.raises(AssertionError):
        tu.compare_optimizer(make("sgd", learning_rate=0.1), make("sgd", learning_rate=0.2), (3, 4), "float32")
    with pytest.raises(ValueError, match="a list of shapes"):
        tu.compare_optimizer(make("sgd"), make("sgd"), (3, 4), "float32", ntensors=2)
