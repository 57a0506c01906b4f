# SPDX-License-Identifier: Apache-2.0
"""CSR and row-sparse arrays."""
import copy
import pickle

import numpy as np
import pytest

import strop as mx

sp = mx.nd.sparse
DENSE = np.array([[1, 0, 2], [0, 0, 0], [0, 3, 0]], "f4")


def test_from_parts():
    a = sp.csr_matrix(([1, 2, 3], [0, 2, 1], [0, 2, 2, 3]), shape=(3, 3))
    assert isinstance(a, sp.CSRNDArray) and isinstance(a, sp.BaseSparseNDArray) and isinstance(a, mx.nd.NDArray)
    assert a.stype == "csr" and a.shape == (3, 3) and a.dtype is np.float32 and a.nnz == 3
    np.testing.assert_array_equal(a.asnumpy(), DENSE)
    assert a.indices.dtype is np.int64 and a.indptr.asnumpy().tolist() == [0, 2, 2, 3]
    assert sp.csr_matrix(([1, 2], ([1, 0], [0, 1])), shape=(2, 2)).asnumpy().tolist() == [[0, 2], [1, 0]]
    assert sp.csr_matrix(([], [], [0, 0]), shape=(1, 2)).asnumpy().tolist() == [[0, 0]] and sp.csr_matrix(([], ([], [])), shape=(1, 2)).nnz == 0
    for nothing in (([], [], [0, 0]), ([], ([], []))):
        with pytest.raises(ValueError, match="does not follow"):
            sp.csr_matrix(nothing)
    r = sp.row_sparse_array(([[1, 2]], [1]), shape=(3, 2))
    assert isinstance(r, sp.RowSparseNDArray) and r.stype == "row_sparse"
    assert r.asnumpy().tolist() == [[0, 0], [1, 2], [0, 0]] and r.indices.asnumpy().tolist() == [1]
    assert r.retain(mx.nd.array([0, 1], dtype="int64")).asnumpy().tolist() == r.asnumpy().tolist()


def test_widths_of_positions():
    narrow = [np.array(a, "i4") for a in ([0, 2, 1], [0, 2, 2, 3])]
    for given, width in ((narrow, np.int32), ([a.astype("i8") for a in narrow], np.int64), ([narrow[0], [0, 2, 2, 3]], np.int32),
                         ([[0.0, 2, 1], narrow[1].tolist()], np.int64), ([mx.nd.array(a, dtype="int32") for a in narrow], np.int32)):
        a = sp.csr_matrix(([1, 2, 3], *given), shape=(3, 3))
        for b in (a, a * 2, pickle.loads(pickle.dumps(a)), a.copy(), a[0:2]):
            assert b.indices.dtype is width and b.indptr.dtype is width
        np.testing.assert_array_equal(a.asnumpy(), DENSE)
    rows = sp.row_sparse_array(([[1, 2]], np.array([1], "i4")), shape=(3, 2))
    assert rows.indices.dtype is np.int32 and (rows * 2).indices.dtype is np.int32
    for wrong in ([0.5, 2, 1], [0, 2**31, 1]):
        with pytest.raises(ValueError, match="whole numbers"):
            sp.csr_matrix(([1, 2, 3], wrong, narrow[1]), shape=(3, 2**32))


def test_from_anything():
    x = mx.nd.array(DENSE)
    for made in (x.tostype("csr"), sp.csr_matrix(DENSE), sp.csr_matrix(x), mx.nd.cast_storage(x, stype="csr"), sp.array(x.tostype("csr")), mx.nd.array(x.tostype("csr"))):
        assert made.stype == "csr"
        np.testing.assert_array_equal(made.asnumpy(), DENSE)
        np.testing.assert_array_equal(made.tostype("default").asnumpy(), DENSE)
    assert x.tostype("row_sparse").indices.asnumpy().tolist() == [0, 2]
    assert sp.zeros("csr", (2, 3)).nnz == 0 and mx.nd.zeros((2, 3), stype="row_sparse").stype == "row_sparse"
    assert sp.csr_matrix((2, 3)).shape == (2, 3)


def test_scipy_both_ways():
    scipy = pytest.importorskip("scipy.sparse")
    source = scipy.csr_matrix(DENSE)
    for made in (sp.csr_matrix(source), mx.nd.array(source), sp.array(source.tocoo())):
        assert made.stype == "csr"
        np.testing.assert_array_equal(made.asnumpy(), DENSE)
    back = sp.csr_matrix(source).asscipy()
    assert (back != source).nnz == 0 and back.dtype == source.dtype
    batches = list(mx.io.NDArrayIter({"data": source}, None, len(DENSE), last_batch_handle="discard"))
    assert batches[0].data[0].stype == "csr" and (batches[0].data[0].asnumpy() == DENSE).all()


def test_scipy_shares():
    """Each part lies where it lay; what is shared is written in one place alone."""
    scipy = pytest.importorskip("scipy.sparse")
    source = scipy.csr_matrix(DENSE)
    parts = [part.ctypes.data for part in (source.data, source.indices, source.indptr)]
    made = sp.from_scipy(source)
    assert [part._pointer for part in (made.data, made.indices, made.indptr)] == parts
    back = made.asscipy(copy=False)
    assert [part.ctypes.data for part in (back.data, back.indices, back.indptr)] == parts
    with pytest.raises(ValueError):
        source.data[0] = 7
    made.data[:] = made.data * 2
    np.testing.assert_array_equal(back.toarray(), 2 * DENSE)
    assert made.asscipy().data.ctypes.data != parts[0]
    twice = scipy.csr_matrix((np.ones(2, "f4"), [1, 1], [0, 2]), shape=(1, 3))
    with pytest.raises(ValueError, match="from_scipy: the columns of a row do not ascend"):
        sp.from_scipy(twice)
    assert twice.data.flags["WRITEABLE"]


def test_what_serves_sparse_arrays_is_in_sparse():
    """By the names that MXNet gives there and by its own; the other operators are not."""
    x = mx.nd.array(DENSE).tostype("csr")
    made = sp.quadratic(x, a=1, b=2)
    assert made.stype == "csr"
    np.testing.assert_array_equal(made.asnumpy(), DENSE * DENSE + 2 * DENSE)
    assert mx.sym.sparse.quadratic(mx.sym.var("x"), a=1, b=2).bind(mx.cpu(), {"x": x}).forward()[0].stype == "csr"
    for own, contrib, there in ((mx.nd, mx.nd.contrib, sp), (mx.sym, mx.sym.contrib, mx.sym.sparse)):
        for module in (own, contrib):
            for name, operator in vars(module).items():
                if type(operator) is mx._strop.Operator and not name.startswith("_") and operator.serves_sparse:
                    assert hasattr(there, name), name
        for name in ("retain", "sddmm", "Embedding", "getnnz", "edge_id", "Activation", "LeakyReLU"):
            assert hasattr(there, name) == (hasattr(own, name) and getattr(own, name).serves_sparse or hasattr(contrib, name) and getattr(contrib, name).serves_sparse or name == "retain"), name
        assert not hasattr(there, "Convolution") and not hasattr(there, "topk")
    assert sp.quadratic.__module__ == "strop.ndarray.sparse" and sp.add is not mx.nd.add


def test_rows():
    a = sp.csr_matrix(DENSE)
    assert a[0].stype == "csr" and a[0].asnumpy().tolist() == [[1, 0, 2]]
    assert a[-1].asnumpy().tolist() == [[0, 3, 0]]
    assert a[1:].asnumpy().tolist() == DENSE[1:].tolist()
    with pytest.raises(IndexError):
        a[3]
    with pytest.raises(IndexError):
        sp.row_sparse_array(DENSE)[0]


def test_arithmetic_keeps_the_storage():
    a = sp.csr_matrix(DENSE)
    assert (a + a).stype == "csr" and (a * 2).stype == "csr" and (-a).stype == "csr" and abs(a).stype == "csr"
    np.testing.assert_array_equal((a + a).asnumpy(), DENSE * 2)
    np.testing.assert_array_equal(sp.add(a, a).asnumpy(), DENSE * 2)
    r = mx.nd.array(DENSE).tostype("row_sparse")
    assert (r - r).stype == "row_sparse" and sp.relu(r).stype == "row_sparse"
    np.testing.assert_allclose(sp.dot(a, mx.nd.array(DENSE)).asnumpy(), DENSE @ DENSE)
    own = a
    a += a
    assert a is own and a.stype == "csr"
    np.testing.assert_array_equal(a.asnumpy(), DENSE * 2)


def test_write_all():
    a = sp.zeros("row_sparse", (3, 3))
    a[:] = mx.nd.array(DENSE).tostype("row_sparse")
    np.testing.assert_array_equal(a.asnumpy(), DENSE)
    a[:] = DENSE * 2
    np.testing.assert_array_equal(a.asnumpy(), DENSE * 2)
    with pytest.raises(IndexError):
        a[0] = 1


def test_copies():
    for a in (sp.csr_matrix(DENSE), sp.row_sparse_array(DENSE)):
        for made in (copy.deepcopy(a), pickle.loads(pickle.dumps(a)), a.copy(), a.astype("float64")):
            assert type(made) is type(a)
            np.testing.assert_array_equal(made.asnumpy(), DENSE)
    assert repr(sp.csr_matrix(DENSE)) == "\n<CSRNDArray 3x3 @cpu(0)>"


def test_unsorted_columns():
    made = sp.csr_matrix(([1, 2, 3, 4], [2, 0, 1, 0], [0, 2, 2, 4]), shape=(3, 3))
    made.check_format()
    assert made.asnumpy().tolist() == [[2, 0, 1], [0, 0, 0], [4, 3, 0]] and made.indices.asnumpy().tolist() == [0, 2, 0, 1]
    with pytest.raises(ValueError):
        sp.csr_matrix(([1, 2], [1, 1], [0, 2]), shape=(1, 3))


def test_wrong_structure():
    with pytest.raises(ValueError):
        sp.csr_matrix(([7, 8, 9], [0, 2, 1], [0, 5, 2, 3]), shape=(3, 4))
    with pytest.raises(mx.Error):
        sp.csr_matrix(([1, 2], [0, 7], [0, 1, 2]), shape=(2, 2))
    with pytest.raises(ValueError):
        sp.csr_matrix((1, 2, 3, 4))
    with pytest.raises(ValueError):
        mx.nd.zeros((2, 2), stype="coo")


def test_fallback_is_counted_and_may_be_refused():
    mx.clear_fallbacks()
    a = sp.csr_matrix(DENSE)
    before = mx.set_fallback("silent")
    try:
        assert mx.nd.relu(a).stype == "csr" and mx.fallbacks() == []
        assert mx.nd.exp(a).stype == "default"
        mx.nd.sort(a)
        assert [one[0] for one in mx.fallbacks()] == ["exp", "sort"]
        mx.set_fallback("error")
        with pytest.raises(mx.Error):
            mx.nd.sort(a)
    finally:
        mx.set_fallback(before)
        mx.clear_fallbacks()
    with pytest.raises(ValueError):
        mx.set_fallback("never")


def test_gradient_of_a_sparse_product():
    a = sp.csr_matrix(DENSE)
    w = mx.nd.ones((3, 2))
    w.attach_grad(stype="row_sparse")
    with mx.autograd.record():
        y = mx.nd.dot(a, w).sum()
    y.backward()
    assert w.grad.stype == "row_sparse"
    np.testing.assert_allclose(w.grad.asnumpy(), DENSE.T @ np.ones((3, 2)))


def test_random_numbers_into_rows():
    mx.clear_fallbacks()
    rows, whole = sp.zeros("row_sparse", (3, 2)), mx.nd.zeros((3, 2))
    for draw, more in ((mx.nd.random.uniform, {"low": -1, "high": 2}), (mx.nd.random.normal, {"loc": 1, "scale": 2})):
        for out in (rows, whole):
            mx.random.seed(5)
            draw(**more, out=out)
        assert rows.stype == "row_sparse" and rows.indices.asnumpy().tolist() == [0, 1, 2]
        np.testing.assert_array_equal(rows.asnumpy(), whole.asnumpy())
    assert mx.fallbacks() == []


@pytest.mark.parametrize("name, more", [("sgd", {}), ("sgd", {"momentum": 0.9}), ("adam", {})])
@pytest.mark.parametrize("lazy", [True, False])
def test_mixed_precision_of_row_sparse_gradients(name, more, lazy):
    mx.clear_fallbacks()
    start = np.linspace(-1, 1, 12).reshape(4, 3)
    gradient = mx.nd.array([[0, 0, 0], [1, -2, 3], [0, 0, 0], [0.5, 0.25, 0]], dtype="float16").tostype("row_sparse")
    found = {}
    for dtype in ("float16", "float32"):
        made = mx.optimizer.create(name, learning_rate=0.1, wd=0.01, lazy_update=lazy, multi_precision=True, **more)
        update = mx.optimizer.get_updater(made)
        w = mx.nd.array(start.astype("float16"), dtype=dtype)
        for _ in range(3):
            update(0, gradient.astype(dtype), w)
        found[dtype] = w.asnumpy()
    np.testing.assert_array_equal(found["float16"], found["float32"].astype("float16"))
    touched = np.abs(found["float16"] - start.astype("float16")).sum(axis=1) > 0
    assert touched.tolist() == ([False, True, False, True] if lazy else [True] * 4)
    assert mx.fallbacks() == []


def test_integers_of_a_block_are_looked_at():
    a = mx.nd.array([[0, 1], [2, 0], [0, 3]]).tostype("csr")
    assert a[2, -1].asscalar() == 3 and a[np.int64(1), 0].asscalar() == 2
    with pytest.raises(IndexError, match="index: 7 is outside axis 0, which has extent 3"):
        a[7, 0]
    with pytest.raises(IndexError, match="index: -3 is outside axis 1, which has extent 2"):
        a[0, -3]


def test_structure_is_looked_at_before_operators_see_it():
    ones = mx.nd.ones((3, 1))
    a = sp.csr_matrix(([1, 2], [0, 2], [0, 1, 2]), shape=(2, 3))
    assert mx.nd.dot(a, ones).asnumpy().tolist() == [[1], [2]]
    a.indices[1] = 5  # in place: what was found out before holds no more
    for refused in (lambda: mx.nd.dot(a, ones), lambda: mx.nd.square(a), lambda: a.tostype("default")):
        with pytest.raises(ValueError, match="5 "):
            refused()
    with pytest.raises(ValueError, match=r"^dot: input 'lhs': indices\[1\] = 5 is outside 0 to 2, the columns of a row"):
        mx.nd.dot(a, ones)
    a.indices[1] = 1
    assert mx.nd.dot(a, ones).asnumpy().tolist() == [[1], [2]]
    b = sp.csr_matrix(([1, 2], [0, 2], [0, 1, 2]), shape=(2, 3))
    held = memoryview(b.indices)  # which may write at any time
    mx.nd.dot(b, ones)
    held[1] = 7
    with pytest.raises(ValueError, match=r"indices\[1\] = 7"):
        mx.nd.dot(b, ones)
