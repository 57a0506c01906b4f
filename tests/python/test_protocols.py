# SPDX-License-Identifier: Apache-2.0
"""NumPy's protocols on NDArray, and its Array API namespace beside NumPy's."""
import numpy as np
import pytest

import strop as mx
import strop.numpy
from strop import array_api, autograd, nd

X = np.array([[0.25, -1.5, 2], [3, 0.5, -0.75]], "f4")


def test_ufuncs_that_are_operators_give_arrays_and_are_recorded():
    x = nd.array(X)
    x.attach_grad()
    with autograd.record():
        y = np.tanh(x) + np.multiply(2, x) - np.add(np.ones(3), x)
        z = strop.numpy.ufunc("smooth_l1", scalar=2.0)(x) + y
    assert isinstance(z, nd.NDArray)
    z.backward()
    slope = np.where(np.abs(X) < 0.25, 4 * X, np.sign(X))
    np.testing.assert_allclose(x.grad.asnumpy(), 1 / np.cosh(X) ** 2 + 1 + slope, rtol=1e-5)
    for f in (np.exp, np.square, np.negative, np.abs, np.floor):
        assert isinstance(f(x), nd.NDArray)
        np.testing.assert_allclose(f(x).asnumpy(), f(X), rtol=1e-6)
    for f in (np.add, np.subtract, np.multiply, np.divide, np.maximum, np.hypot, np.less, np.equal, np.remainder):
        for a, b in [(x, 2), (2, x), (x, X), (X, x), (x, np.float64(2)), (np.float32(2), x), (x, x)]:
            plain = [v.asnumpy() if isinstance(v, nd.NDArray) else v for v in (a, b)]
            made = f(a, b)
            assert isinstance(made, nd.NDArray) and made.dtype == np.float32
            np.testing.assert_allclose(made.asnumpy(), f(*plain).astype("f4"), rtol=1e-6)
    assert isinstance(np.ones(3) + x, nd.NDArray) and isinstance(X @ x.T, nd.NDArray)


def test_other_ufuncs_compute_on_the_memory():
    x, whole = nd.array(X), nd.array([1, 4, 9], dtype="int32")
    assert type(np.isnan(x)) is np.ndarray and type(np.add.reduce(x)) is np.ndarray and type(np.sqrt(whole)) is np.ndarray
    np.testing.assert_array_equal(np.sqrt(whole), [1, 2, 3])
    np.testing.assert_array_equal(np.add.reduce(x, axis=1), X.sum(1))
    np.testing.assert_array_equal(np.add(x, nd.array(X, dtype="f8")), X + X.astype("f8"))  # NumPy promotes
    target = nd.zeros((2, 3))
    assert np.exp(x, out=target) is target and np.allclose(target.asnumpy(), np.exp(X))
    assert np.logaddexp(x, x, out=target) is target and np.allclose(target.asnumpy(), np.logaddexp(X, X))
    assert np.add.at(target, (slice(None), [0, 0]), nd.ones((2, 2))) is None and np.allclose(target.asnumpy()[:, 0], np.logaddexp(X, X)[:, 0] + 2)
    own = np.zeros((2, 3), "f4")
    assert np.add(x, 1, out=own) is own and np.array_equal(own, X + 1)
    own += x
    assert np.array_equal(own, X + 1 + X)
    np.testing.assert_array_equal(np.add(x, 1, where=X > 0, out=np.zeros_like(X)), np.where(X > 0, X + 1, 0))
    f = strop.numpy.ufunc("broadcast_add")
    np.testing.assert_allclose(f.reduce(x, axis=0), X.sum(0), rtol=1e-6)
    with pytest.raises(mx.Error, match="activation: input 'data' is int32"):
        strop.numpy.ufunc("activation", act_type="relu")(whole)


def test_functions_of_numpy():
    x = nd.array(X)
    for made, want in [(np.concatenate([x, x], axis=1), np.concatenate([X, X], axis=1)), (np.stack([x, x]), np.stack([X, X])), (np.dot(x, x.T), X @ X.T),
                       (np.where(x, x, x * 2), np.where(X, X, X * 2))]:
        assert isinstance(made, nd.NDArray)
        np.testing.assert_allclose(made.asnumpy(), want, rtol=1e-6)
    for made, want in [(np.concatenate([x, X]), np.concatenate([X, X])), (np.median(x), np.median(X)), (np.linalg.norm(x), np.linalg.norm(X)),
                       (np.where(X > 0, x, 0), np.where(X > 0, X, 0)), (np.concatenate([x, x], axis=None), np.concatenate([X, X], axis=None))]:
        np.testing.assert_allclose(np.asarray(made), want, rtol=1e-6)


ONE = ("abs acos acosh asin asinh atan atanh ceil cos cosh exp expm1 floor isfinite isinf isnan log log10 log1p log2 logical_not negative positive reciprocal round sign sin sinh "
       "sqrt square tan tanh trunc").split()
TWO = "add divide equal greater greater_equal hypot less less_equal logical_and logical_or logical_xor maximum minimum multiply not_equal pow subtract".split()
REDUCED = "sum prod mean max min var std all any argmax argmin".split()


OLDER = {"pow": "power", **{f"a{name}": f"arc{name}" for name in ("cos", "cosh", "sin", "sinh", "tan", "tanh")}}  # before NumPy 2


def numpys(name):
    return getattr(np, OLDER.get(name, name))


def alike(made, want):
    assert isinstance(made, nd.NDArray) and made.shape == np.shape(want)
    assert (np.dtype(made.dtype).kind == "b") == (np.asarray(want).dtype.kind == "b")
    np.testing.assert_allclose(made.asnumpy(), want, rtol=2e-6, atol=1e-6)


def test_array_api_beside_numpys():
    x = nd.array(X)
    xp = x.__array_namespace__()
    assert xp is array_api and xp is x.__array_namespace__(api_version="2023.12")
    with pytest.raises(mx.Error, match="api_version is '1999'"):
        x.__array_namespace__(api_version="1999")
    with np.errstate(all="ignore"):
        special = np.array([0.5, -0.5, 1.5, 2.5, np.nan, np.inf, 0, 1], "f4")
        for name in ONE:
            alike(getattr(xp, name)(nd.array(special)), numpys(name)(special))
            alike(getattr(xp, name)(xp.asarray(0.25)), numpys(name)(np.float32(0.25)))
        for name in TWO:
            f, g = getattr(xp, name), numpys(name)
            alike(f(x, nd.array(np.abs(X[1]))), g(X, np.abs(X[1])))
            alike(f(nd.array(np.abs(X)), 2), g(np.abs(X), 2))
            alike(f(xp.asarray(2.0), xp.asarray(3.0)), g(np.float32(2), np.float32(3)))
    for name in REDUCED:
        f, g = getattr(xp, name), numpys(name)
        for axis in (None, 0, -1) + ((0, 1),) * (not name.startswith("arg")):
            for keepdims in (False, True):
                alike(f(x, axis=axis, keepdims=keepdims), g(X, axis=axis, keepdims=keepdims))
    ties = np.array([1, 3, 3, 0, 0], "f4")
    assert int(xp.argmax(nd.array(ties))) == 1 and int(xp.argmin(nd.array(ties))) == 3
    mixed = xp.add(nd.array([1, 2], dtype="int32"), nd.array([0.5, 1], dtype="f8"))
    assert mixed.dtype == xp.float64 and xp.sum(nd.array([200, 100], dtype="uint8")).dtype == xp.int64 and int(xp.sum(nd.array([200, 100], dtype="uint8"))) == 300
    for made, want in [(xp.reshape(x, (3, -1)), X.reshape(3, -1)), (xp.concat([x, x], axis=1), np.concatenate([X, X], 1)), (xp.concat([x, x], axis=None), np.concatenate([X, X], None)),
                       (xp.stack([x, x], axis=1), np.stack([X, X], 1)), (xp.unstack(x, axis=1)[2], X[:, 2]), (xp.expand_dims(x, axis=-1), X[..., None]),
                       (xp.squeeze(xp.expand_dims(x, axis=1), 1), X), (xp.permute_dims(x, (1, 0)), X.T), (xp.matrix_transpose(x), X.T), (xp.flip(x, axis=1), X[:, ::-1]), (xp.flip(x), X[::-1, ::-1]),
                       (xp.repeat(x, 2, axis=1), np.repeat(X, 2, 1)), (xp.tile(x, (2, 2)), np.tile(X, (2, 2))), (xp.matmul(x, xp.matrix_transpose(x)), X @ X.T), (xp.matmul(x[0], x[0]), X[0] @ X[0]),
                       (xp.where(xp.greater(x, 0), x, 0), np.where(X > 0, X, 0)), (xp.sort(x, axis=0, descending=True), -np.sort(-X, 0)), (xp.argsort(x), np.argsort(X)),
                       (xp.cumulative_sum(x, axis=1), np.cumsum(X, 1)), (xp.tril(x), np.tril(X)), (xp.triu(x, k=1), np.triu(X, 1)), (xp.arange(2, 8, 3), np.arange(2, 8, 3)), (xp.linspace(0, 1, 5), np.linspace(0, 1, 5)),
                       (xp.eye(2, 3, k=1), np.eye(2, 3, 1)), (xp.full((2,), 3), np.full(2, 3)), (xp.zeros(()), np.zeros(())), (xp.ones_like(x), np.ones_like(X)), (xp.broadcast_to(x, (4, 2, 3)), np.broadcast_to(X, (4, 2, 3))),
                       (xp.moveaxis(x, 0, 1), X.T), (xp.astype(x, xp.int32), X.astype("i4")), (xp.asarray([[1, 2]]), np.array([[1, 2]])), (xp.var(x, correction=1), X.var(ddof=1)),
                       (xp.clip(x, -1, 1), np.clip(X, -1, 1)), (xp.clip(x, max=x * 0), np.minimum(X, 0)), (xp.vecdot(x, x), (X * X).sum(1)), (xp.take(x, nd.array([2, 0], dtype="int64"), axis=1), X[:, [2, 0]]),
                       (xp.count_nonzero(x, axis=0), np.count_nonzero(X, axis=0))]:
        alike(made, want)
    info = xp.__array_namespace_info__()
    assert info.default_dtypes()["integral"] == xp.asarray([1]).dtype and info.default_device() == x.device and set(info.dtypes(kind="real floating")) == {"float16", "float32", "float64"}
    assert xp.isdtype(x.dtype, "real floating") and not xp.isdtype(x.dtype, ("integral", "bool")) and xp.isdtype(x.dtype, xp.float32)
    assert xp.result_type(x, 2) == xp.float32 and xp.broadcast_shapes((3, 1), (4,)) == (3, 4) and not [name for name in xp.LEFT_OUT if hasattr(xp, name)]
    for call, sentence in [(lambda: xp.exp(xp.asarray([1])), "exp: the array is int64, expected a floating type"), (lambda: xp.matmul(xp.zeros((2, 2, 2)), x), "matmul: shapes"),
                           (lambda: xp.asarray([1.0], copy=False), "copy is False"), (lambda: xp.cumulative_sum(x), "cumulative_sum: axis is None")]:
        with pytest.raises(mx.Error, match=sentence):
            call()


def test_what_of_the_standard_is_not_here_is_named():
    standard = pytest.importorskip("array_api_strict", reason="array_api_strict has the standard's names")
    names = {name for name in standard.__all__ if "flags" not in name.lower() and name not in ("Device", "__version__")}
    assert names - set(dir(array_api)) == set(array_api.LEFT_OUT)


def test_where_an_operator_means_something_else_numpy_computes():
    f, i, u = nd.array([1, 2, 3]), nd.array([1, 2, 3], dtype="int32"), nd.array([1, 2, 3], dtype="uint8")
    a, b, c = f.asnumpy(), i.asnumpy(), u.asnumpy()
    square = np.arange(9, dtype=np.float32).reshape(3, 3)
    cube = np.arange(27, dtype=np.float32).reshape(3, 3, 3)
    for made, wanted in [(np.add([0.5, 1.5, 2.5], i), np.add([0.5, 1.5, 2.5], b)), (np.multiply(i, 0.5), b * 0.5), (np.true_divide(i, 2), b / 2),
                         (np.power(i, -1.0), b ** -1.0), (np.add(u, [300, 300, 1]), np.add(c, [300, 300, 1])), (np.array([1 + 2j] * 3) * f, np.array([1 + 2j] * 3) * a),
                         (np.bitwise_and(i, 3), b & 3), (np.invert(i), ~b),
                         (np.where(nd.array([1, 0, 0]), nd.array(square), nd.array(-square)), np.where([1, 0, 0], square, -square)),
                         (np.dot(nd.array(square), nd.array(cube)), np.dot(square, cube)), (np.matmul(nd.array(cube), nd.array(cube)), cube @ cube)]:
        np.testing.assert_array_equal(np.asarray(made), wanted)
    to = nd.full((3,), 7)
    assert np.add(f, f, where=np.array([True, False, True]), out=to) is to
    np.testing.assert_array_equal(to.asnumpy(), [2, 7, 6])
    np.add(a, a, out=to)
    np.testing.assert_array_equal(to.asnumpy(), a + a)
