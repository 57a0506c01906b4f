# SPDX-License-Identifier: Apache-2.0
"""What programs of NumPy write out of habit: its functions on our arrays, numbers in lists, arrays as parameters."""
import array as plain

import numpy as np
import pytest

import strop as mx
from strop import nd

V, M = np.array([3, 1, 2], "f4"), np.arange(6, dtype="f4").reshape(2, 3)

CALLS = [
    "np.mean(v)", "np.mean(m, axis=0)", "np.mean(m, axis=0, keepdims=True)", "np.mean(m, axis=(0, 1))", "np.mean(v, dtype='f8')", "np.sum(v)", "np.sum(m, axis=-1)", "np.sum(v, dtype='f8')",
    "np.prod(v)", "np.max(m, axis=1)", "np.min(m)", "np.amax(v)", "np.std(v)", "np.var(m, axis=0)", "np.argmax(v)", "np.argmin(m, axis=1)", "np.argsort(v)", "np.sort(v)", "np.cumsum(v)",
    "np.isin(v, [1, 2])", "np.isin([1, 2, 7], v)", "np.isin(v, v[1])", "np.unique(v)", "np.any(v)", "np.all(m)", "np.any(m > 2, axis=0)", "np.all(m > 2, axis=1)", "np.median(v)", "np.ptp(v)",
    "np.clip(v, 1, 2)", "np.round(v)", "np.around(v, 1)", "np.reshape(m, (3, 2))", "np.transpose(m)", "np.squeeze(v)", "np.ravel(m)", "np.repeat(v, 2)", "np.take(v, [0, 1])", "np.tile(v, 2)",
    "np.concatenate([v, v])", "np.stack([v, v])", "np.vstack([v, v])", "np.where(v > 1, v, 0)", "np.dot(v, v)", "np.matmul(m, m.T)", "np.outer(v, v)", "np.linalg.norm(v)", "np.exp(v)",
    "np.maximum(v, 2)", "np.add(v, 1)", "np.float32(2) * v", "np.ones(3, 'f4') + v", "np.average(v)", "np.percentile(v, 50)", "np.nansum(v)", "np.count_nonzero(v)", "np.flip(v)",
    "np.zeros_like(m)", "np.expand_dims(v, 0)", "np.swapaxes(m, 0, 1)", "np.diff(v)", "np.trace(m)", "np.histogram(v)[0]", "np.nonzero(v)[0]", "np.isnan(v)", "np.array_equal(v, v)",
    "np.array([v[0], v[2]])", "np.array([m[0, 1], m[1, 2]])", "np.array([[v[0], v[1]], [v[2], v[0]]])", "np.array(list(v))", "np.array([x for x in v])", "np.array([m[i, -1] for i in range(2)])",
    "np.array([v.sum(), m.sum(), v.mean() * 2, -m.max()])", "np.array([v[0] + 1, v[1] * v[2], abs(-v[0])])", "np.array([m.sum(axis=0), m.max(axis=0)])", "np.array([v.min(), 1.5, m[0, 0]])",
    "np.mean([v[0], v[1]])", "np.stack([v[0], v[1]])", "np.asarray(v[1])", "np.asarray(v[1:2])", "np.array([v[0:1], v[1:2]])", "np.array([v.sum(keepdims=True), v.sum(keepdims=True)])",
    "np.array([m.sum(axis=0)[1], v[np.int64(1)]])", "np.zeros(3)[int(v[2])]", "np.array([v[0] - np.array(1), v[1] + np.float32(2)])", "np.float64(v[0])", "np.full(2, v[0])"]


@pytest.mark.parametrize("call", CALLS)
def test_functions_of_numpy_take_our_arrays(call):
    """And give what they give for NumPy's, in the same shape, one number but that it may be of ours."""
    made = eval(call, {"np": np, "v": nd.array(V), "m": nd.array(M)})  # pylint: disable=eval-used
    want = eval(call, {"np": np, "v": V, "m": M})  # pylint: disable=eval-used
    made = np.asarray(made)
    assert made.shape == np.shape(want)
    np.testing.assert_allclose(made.astype("f8"), np.asarray(want).astype("f8"), rtol=1e-6)


@pytest.mark.parametrize("call", ["np.mean(w)", "np.mean(w, axis=0)", "w.mean()", "w.mean(axis=1, keepdims=True)", "np.mean(w, dtype='f4')", "np.mean(w > 2)", "np.mean(b)", "b.mean(axis=0)", "np.sum(b)", "b.sum(axis=1)",
                                  "np.prod(b)", "np.std(w)", "np.average(w)"])
@pytest.mark.parametrize("kind", ["i4", "i8", "u1", "i1"])
def test_means_of_whole_numbers_are_numpys(call, kind):
    whole = np.array([[1, 2, 4], [7, 11, 100]], kind)
    made = np.asarray(eval(call, {"np": np, "w": nd.array(whole, dtype=kind), "b": nd.array(whole > 2, dtype="bool")}))  # pylint: disable=eval-used
    want = np.asarray(eval(call, {"np": np, "w": whole, "b": whole > 2}))  # pylint: disable=eval-used
    assert made.dtype == want.dtype and made.shape == want.shape
    np.testing.assert_allclose(made, want)


def test_numbers_keep_the_shape_of_mxnet():
    v = nd.array(V)
    for one in (v[0], v.sum(), v[0] + 1, next(iter(v))):
        assert one.shape == (1,) and one.asnumpy().shape == (1,) and np.asarray(one).shape == ()
    assert np.asarray(v[0:1]).shape == np.asarray(v[0].reshape((1,))).shape == np.asarray(nd.array([1])).shape == (1,)
    assert memoryview(v[0]).shape == () and v[0].__array_interface__["shape"] == () and np.array(v[0], dtype="f8") == 3
    assert nd.array([v[0], v[1]]).shape == (2,) and nd.array([v.sum(), 2]).asnumpy().tolist() == [6, 2]
    view = np.asarray(v[1])
    view[...] = 9
    assert v.asnumpy().tolist() == [3, 9, 2]  # the memory is shared


def test_numbers_go_into_lists_that_are_drawn():
    figure = pytest.importorskip("matplotlib.figure")
    v = nd.array(V)
    bars = figure.Figure().subplots().bar([v[1], v[2], v[0]], [v[0], v[1], v[2]])
    assert [bar.get_height() for bar in bars] == [3, 1, 2]


def test_one_number_has_a_format():
    v = nd.array(V)
    assert f"{v[0]:.2f} {v.mean():g} {v.sum():>8.1f}" == "3.00 2      6.0" and f"{v[0]}" == str(v[0]) and f"{nd.array([2], dtype='int32')[0]:03d}" == "002"
    with pytest.raises(TypeError):
        f"{v:.2f}"  # pylint: disable=pointless-statement


@pytest.mark.parametrize("call, said", [(lambda v: v.sum(where=True), "sum: no argument 'where'"), (lambda v: v.mean(dtype="no"), "dtype is 'no'"), (lambda v: v.exp(dtype="f8"), "exp: no argument 'dtype'"),
                                        (lambda v: v.astype("int32").norm(), "norm: input 'data' is int32, expected one of float16")])
def test_what_is_not_taken_is_said(call, said):
    with pytest.raises((TypeError, ValueError), match=said):
        call(nd.array(V))


@pytest.mark.parametrize("ends", [np.array([2, 3]), np.array([2, 3], "u1"), plain.array("l", [2, 3]), [np.int64(2), np.int8(3)], (np.array(2), np.array([2, 3])[1]), nd.array([2, 3], dtype="int64"), range(2, 4)],
                         ids=lambda one: type(one).__name__)
def test_arrays_are_lists_of_whole_numbers(ends):
    assert nd.broadcast_to(nd.ones((1, 1)), shape=ends).shape == nd.zeros(ends).shape == nd.ones((6,)).reshape(ends).shape == (2, 3)
    assert nd.slice(nd.ones((4, 4)), begin=(0, 0), end=ends).shape == (2, 3)
    assert mx.sym.broadcast_to(mx.sym.ones((1, 1)), shape=ends).infer_shape()[1] == [(2, 3)]


def test_single_numbers_of_any_kind_are_parameters():
    x = nd.array(V)
    for two in (np.float32(2), np.array(2.0), x[2], x.mean(), np.int64(2), nd.array([2], dtype="int32")[0]):
        assert nd.clip(x, 1, two).asnumpy().tolist() == [2, 1, 2], two
    for axis in (np.int32(1), np.array(1), nd.array([1], dtype="int32")[0]):
        assert nd.sum(nd.array(M), axis=axis).asnumpy().tolist() == [3, 12]
    with pytest.raises((TypeError, ValueError), match=r"clip: parameter 'a_max' is '\(2,\)'"):
        nd.clip(x, 1, np.array([2.0]))


def test_arrays_are_written_as_tuples():
    """Where a text is what is taken: in symbols, as attributes."""
    sizes = np.array([0.5, 0.25])
    made = mx.sym.contrib.MultiBoxPrior(mx.sym.var("x"), sizes=sizes)
    assert made.attr("sizes") == "(0.5, 0.25)" and mx.sym.load_json(made.tojson()).attr("sizes") == "(0.5, 0.25)"
    assert mx.sym.relu(mx.sym.var("x"), lr_mult=np.array([1, 2])).attr("lr_mult") == "(1, 2)"
    assert nd.contrib.MultiBoxPrior(nd.zeros((1, 1, 1, 2)), sizes=nd.array(sizes)).shape == (1, 4, 4)
