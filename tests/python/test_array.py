# SPDX-License-Identifier: Apache-2.0
"""Arrays: making them, looking at them, arithmetic and methods, with NumPy as the reference."""
import copy
import operator
import pickle
import struct

import numpy as np
import pytest

import strop as mx

DTYPES = ["float16", "float32", "float64", "uint8", "int8", "int32", "int64"]


def same(a, b, **kwargs):
    np.testing.assert_allclose(a.asnumpy() if isinstance(a, mx.nd.NDArray) else a, b, **{"rtol": 1e-5, "atol": 1e-6, **kwargs})


def test_array_is_float32_unless_said():
    assert mx.nd.array([1, 2]).dtype is np.float32
    assert mx.nd.array(np.array([1.5])).dtype is np.float32
    assert mx.nd.array(mx.nd.array([1], dtype="int8")).dtype is np.int8


@pytest.mark.parametrize("dtype", DTYPES + ["bool"])
def test_elements_come_back_as_they_were(dtype):
    source = np.array([[0, 1, 2], [3, 4, 5]]).astype(dtype)
    made = mx.nd.array(source, dtype=dtype)
    assert made.dtype is np.dtype(dtype).type and made.shape == (2, 3) and made.size == 6 and made.ndim == 2
    back = made.asnumpy()
    assert back.dtype == source.dtype and (back == source).all()
    back[0, 0] = 1
    assert made.asnumpy()[0, 0] == source[0, 0]  # a copy


def test_strided_and_empty_sources():
    source = np.arange(24, dtype="f4").reshape(2, 3, 4)
    same(mx.nd.array(source[:, ::-1, ::2]), source[:, ::-1, ::2])
    same(mx.nd.array(source.T), source.T)
    assert mx.nd.array(np.zeros((0, 3))).shape == (0, 3)
    assert mx.nd.array(5).shape == ()


def test_creation():
    assert mx.nd.zeros(3).shape == (3,)
    same(mx.nd.ones((2, 1), dtype="float64"), np.ones((2, 1)))
    same(mx.nd.full((2, 2), 7), np.full((2, 2), 7))
    same(mx.nd.arange(1, 7, 2), [1, 3, 5])
    same(mx.nd.arange(3, repeat=2), [0, 0, 1, 1, 2, 2])
    same(mx.nd.linspace(0, 1, 5), np.linspace(0, 1, 5))
    same(mx.nd.eye(2, 3, 1), np.eye(2, 3, 1))
    assert mx.nd.empty((2, 3), dtype="int64").dtype is np.int64
    out = mx.nd.zeros((2,))
    assert mx.nd.full((2,), 3, out=out) is out
    same(out, [3, 3])


@pytest.mark.parametrize("op", [operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.mod])
def test_arithmetic(op, rng):
    a, b = rng.uniform(1, 3, (2, 3)).astype("f4"), rng.uniform(1, 3, (3,)).astype("f4")
    x, y = mx.nd.array(a), mx.nd.array(b)
    same(op(x, y), op(a, b))
    same(op(x, 2), op(a, np.float32(2)))
    same(op(2.5, x), op(np.float32(2.5), a))
    same(op(np.float32(2), x), op(np.float32(2), a))
    same(op(x, b), op(a, b))  # an array of NumPy
    assert isinstance(op(b, y), mx.nd.NDArray)
    same(op(b, y), op(b, b))


@pytest.mark.parametrize("op", [operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge])
def test_comparisons_give_the_type_of_their_inputs(op):
    a, b = np.array([1, 2, 3], "f4"), np.array([3, 2, 1], "f4")
    x, y = mx.nd.array(a), mx.nd.array(b)
    for made, expected in ((op(x, y), op(a, b)), (op(x, 2), op(a, 2)), (op(2, x), op(2, a))):
        assert made.dtype is np.float32
        same(made, expected)


def test_comparison_with_what_is_no_number():
    x = mx.nd.ones((2,))
    assert (x == None) is False and (x != None) is True  # noqa: E711
    assert (x == "text") is False
    with pytest.raises(TypeError):
        x + None
    with pytest.raises(TypeError):
        x < "text"


def test_in_place_keeps_the_object():
    x = mx.nd.array([1.0, 2.0])
    y = x
    x += 1
    x *= mx.nd.array([2.0, 3.0])
    x -= 1
    x /= 2
    assert y is x
    same(x, [1.5, 4])


def test_unary():
    x = mx.nd.array([-1.5, 2])
    same(-x, [1.5, -2])
    same(abs(x), [1.5, 2])


def test_one_element():
    z = mx.nd.array([3])
    assert float(z) == 3.0 and int(z) == 3 and bool(z) and z.asscalar() == 3 and z.item() == 3.0
    assert [10, 20, 30, 40][mx.nd.array([2], dtype="int32")] == 30
    assert not mx.nd.array([0]) and not mx.nd.zeros((0,))
    x = mx.nd.ones((2, 2))
    for convert in (float, int, bool, lambda a: a.asscalar(), mx.nd.NDArray.item):
        with pytest.raises(ValueError):
            convert(x)
    with pytest.raises(TypeError):
        [1, 2][mx.nd.array([0])]


def test_length_and_iteration():
    x = mx.nd.array([[1, 2], [3, 4], [5, 6]])
    assert len(x) == 3
    assert [row.asnumpy().tolist() for row in x] == [[1, 2], [3, 4], [5, 6]]
    with pytest.raises(TypeError):
        len(mx.nd.array(1))
    with pytest.raises(TypeError):
        iter(mx.nd.array(1))


def test_text():
    assert repr(mx.nd.array([[1, 2]])) == "\n[[1. 2.]]\n<NDArray 1x2 @cpu(0)>"
    assert str(mx.nd.array([1], dtype="int32")) == "\n[1]\n<NDArray 1 @cpu(0)>"


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
def test_pickle_and_copies(dtype):
    x = mx.nd.array([[1, 2], [3, 4]], dtype=dtype)
    for made in (pickle.loads(pickle.dumps(x)), copy.copy(x), copy.deepcopy(x), x.copy()):
        assert made is not x and made.dtype is x.dtype
        same(made, x.asnumpy())
        made[:] = 0
    same(x, [[1, 2], [3, 4]])


def test_copyto_and_context():
    x = mx.nd.array([1.5, 2])
    y = mx.nd.zeros((2,), dtype="int32")
    assert x.copyto(y) is y
    assert y.asnumpy().tolist() == [1, 2]
    assert x.as_in_context(mx.cpu()) is x
    assert x.copyto(mx.cpu()) is not x
    assert x.context == mx.cpu(0) and x.ctx == mx.cpu()
    assert mx.nd.zeros((2,), ctx=mx.cpu(1)).context == mx.cpu(1)
    for kind in ("cpu_pinned", "cpu_shared"):
        there = mx.Context(kind, 1)
        assert mx.nd.zeros((2,), ctx=there).context == there == mx.cpu(1) and there.device_type == kind
        assert there != mx.Context(kind, 0) and there != mx.gpu(1) and {there: 7}[mx.cpu(1)] == 7
    with mx.cpu(1):
        assert mx.current_context() == mx.cpu(1)
        assert mx.nd.ones((1,)).context == mx.cpu(1)
    assert mx.current_context() == mx.cpu(0)
    with pytest.raises(ValueError):
        x.copyto(mx.nd.zeros((3,)))
    with pytest.raises(mx.Error):
        mx.nd.zeros((2,), ctx=mx.gpu(99))


def test_types():
    x = mx.nd.array([1.7, -2.7])
    assert x.astype("int32").asnumpy().tolist() == [1, -2]
    assert x.astype(np.float64).dtype is np.float64
    assert x.astype("float32", copy=False) is x
    with pytest.raises(TypeError):
        mx.nd.zeros((1,), dtype="complex64")
    with pytest.raises(TypeError):
        mx.nd.array("abc")


def test_reshape_codes():
    b = mx.nd.arange(24).reshape((2, 3, 4))
    assert b.reshape(-1).shape == (24,)
    assert b.reshape(4, 6).shape == (4, 6)
    assert b.reshape((0, -1)).shape == (2, 12)
    assert b.reshape((-3, 0)).shape == (6, 4)
    assert b.reshape((-2,)).shape == (2, 3, 4)
    assert b.reshape((0, -4, 1, 3, 0)).shape == (2, 1, 3, 4)
    assert b.reshape((-1, 0), reverse=True).shape == (6, 4)
    with pytest.raises(ValueError):
        b.reshape((5, 5))
    view = b.reshape((24,))
    view[0] = 100
    assert b[0, 0, 0].asscalar() == 100  # a view


def test_methods_are_the_operators(rng):
    a = rng.uniform(0.1, 0.9, (2, 3)).astype("f4")
    x = mx.nd.array(a)
    for name in ("exp", "log", "sqrt", "square", "sin", "cos", "tanh", "floor", "ceil", "sign", "log1p", "expm1", "arcsin"):
        same(getattr(x, name)(), getattr(np, name)(a), rtol=2e-5)
    same(x.sum(axis=0), a.sum(0))
    same(x.mean(axis=1, keepdims=True), a.mean(1, keepdims=True))
    same(x.max(), [a.max()])
    same(x.argmax(axis=1), a.argmax(1))
    same(x.transpose(), a.T)
    same(x.T, a.T)
    same(x.clip(0.3, 0.6), a.clip(0.3, 0.6))
    same(x.expand_dims(0), a[None])
    same(x.flatten(), a)
    same(x.tile((2, 1)), np.tile(a, (2, 1)))
    same(x.repeat(2, axis=1), a.repeat(2, axis=1))
    same(x.swapaxes(0, 1), a.T)
    same(x.flip(axis=1), a[:, ::-1])
    same(x.slice_axis(axis=1, begin=1, end=3), a[:, 1:3])
    same(x.broadcast_to((4, 2, 3)), np.broadcast_to(a, (4, 2, 3)))
    same(x.norm(), [np.linalg.norm(a)])
    parts = x.split(num_outputs=3, axis=1)
    assert isinstance(parts, list) and len(parts) == 3 and parts[1].shape == (2, 1)
    same(x.split_v2((1,), axis=1)[1], a[:, 1:])
    assert not hasattr(x, "sgd_update") and not hasattr(x, "zeros")


def test_functions_of_both_sides():
    x = mx.nd.array([1.0, 2, 3])
    same(mx.nd.maximum(x, 2), [2, 2, 3])
    same(mx.nd.minimum(2, x), [1, 2, 2])
    same(mx.nd.power(2, x), [2, 4, 8])
    same(mx.nd.subtract(1, x), [0, -1, -2])
    same(mx.nd.logical_xor(x, 0), [1, 1, 1])
    assert mx.nd.maximum(2, 3) == 3
    same(mx.nd.concatenate([x, x]), [1, 2, 3, 1, 2, 3])
    same(mx.nd.moveaxis(mx.nd.zeros((2, 3, 4)), 0, 2), np.zeros((3, 4, 2)))


def test_files(tmp_path):
    a, b = mx.nd.array([1.0, 2]), mx.nd.array([[3]], dtype="int64")
    for name in ("x.params", "x.npz"):
        path = str(tmp_path / name)
        mx.nd.save(path, {"a": a, "b": b})
        back = mx.nd.load(path)
        assert list(back) == ["a", "b"] and back["b"].dtype is np.int64
        same(back["a"], [1, 2])
    path = str(tmp_path / "list")  # any name
    mx.nd.save(path, [a, b])
    assert [file.name for file in tmp_path.iterdir()].count("list") == 1 and len(list(tmp_path.iterdir())) == 3
    assert [x.shape for x in mx.nd.load(path)] == [(2,), (1, 1)]
    with open(path, "rb") as file:
        assert len(mx.nd.load_frombuffer(file.read())) == 2
    with pytest.raises(mx.Error):
        mx.nd.load(str(tmp_path / "missing.params"))
    with pytest.raises(TypeError):
        mx.nd.save(path, 3)
    path = str(tmp_path / "several.npy")  # what a .npy file cannot hold is written as any other file is
    for what in ([a, b], {"a": a}, []):
        mx.nd.save(path, what)
        found = mx.nd.load(path)
        assert type(found) is type(what) and len(found) == len(what)
    mx.nd.save(path, [a])
    assert np.load(path).tolist() == a.asnumpy().tolist()


def test_arrays_are_not_made_by_their_class():
    with pytest.raises(TypeError):
        mx.nd.NDArray()
    assert len({mx.nd.ones((1,)), mx.nd.ones((1,))}) == 2  # hashable, by identity


def test_writing_on_another_context():
    there = mx.cpu(1)
    x = mx.nd.zeros((3, 2), there)
    x[:] = np.arange(6).reshape(3, 2)
    x[0], x[1, 1], x[:, 0] = [3, 4], 7, mx.nd.array([8, 9, 10])
    x[[2]] = np.ones((1, 2))
    x[mx.nd.array([1], there)] = mx.nd.array([[5, 6]])
    assert x.context == there and x.asnumpy().tolist() == [[8, 4], [5, 6], [1, 1]]
    assert x[[2, 0]].asnumpy().tolist() == [[1, 1], [8, 4]] and x[mx.nd.array([1])].context == there
    assert (x + np.ones((3, 2))).context == there
    mx.nd.ones((3, 2), dtype="float64").copyto(x)
    assert x.asnumpy().sum() == 6
    for stype in ("row_sparse", "csr"):
        sparse = mx.nd.zeros((3, 2), there, stype=stype)
        sparse[:] = np.eye(3, 2)
        assert sparse.context == there and sparse.asnumpy().tolist() == np.eye(3, 2).tolist()
        mx.nd.ones((3, 2)).copyto(sparse)
        assert sparse.asnumpy().sum() == 6


def test_state_of_mxnet():
    x = mx.nd.zeros((1,))
    bytes_of_gpu = struct.pack("<IiIqiiif", 0xF993FAC9, 0, 1, 1, 2, 0, 0, 7.0)  # magic, storage, shape, gpu(0), float32
    x.__setstate__({"handle": bytearray(bytes_of_gpu)})
    assert x.asscalar() == 7
    with pytest.raises(ValueError):
        mx.nd.zeros((2,)).__setstate__({"handle": bytes_of_gpu})


def test_bfloat16_from_lists_and_through_pickles():
    x = mx.nd.array([1, 2.5], dtype="bfloat16")
    assert x.astype("float32").asnumpy().tolist() == [1, 2.5] and x.astype("bfloat16", copy=False) is x
    y = pickle.loads(pickle.dumps(x))
    assert y.dtype is x.dtype and y.astype("float32").asnumpy().tolist() == [1, 2.5]


def test_rows_by_a_mask():
    x = mx.nd.array([[1, 2], [3, 4], [5, 6]])
    x.attach_grad()
    with mx.autograd.record():
        y = mx.nd.contrib.boolean_mask(x, mx.nd.array([1, 0, -0.5]))
    y.backward()
    assert y.asnumpy().tolist() == [[1, 2], [5, 6]] and x.grad.asnumpy().tolist() == [[1, 1], [0, 0], [1, 1]]
    assert mx.nd.contrib.boolean_mask(x, mx.nd.zeros((3,))).shape == (0, 2)
    for index, axis in ((mx.nd.ones((2,)), 0), (mx.nd.ones((3, 1)), 0), (mx.nd.ones((3,)), 1)):
        with pytest.raises(ValueError, match="boolean_mask"):
            mx.nd.contrib.boolean_mask(x, index, axis)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
def test_histograms(dtype, rng):
    values = (rng.random(100) * 10).astype(dtype)
    x = mx.nd.array(values, dtype=dtype)
    for bins, span in ((7, None), (4, (1, 9)), ([0, 1, 4, 5, 11], None)):
        counts, edges = mx.nd.histogram(x, mx.nd.array(bins, dtype=dtype) if isinstance(bins, list) else bins, span)
        wanted, at = np.histogram(values, bins, span)
        assert counts.asnumpy().tolist() == wanted.tolist() and counts.dtype is np.int64 and edges.dtype == x.dtype
        np.testing.assert_allclose(edges.asnumpy(), at.astype(dtype), rtol=1e-6)
        if span or isinstance(bins, list):
            given = {"bins": mx.sym.var("b")} if isinstance(bins, list) else {"bins": bins, "range": span}
            net = mx.sym.histogram(mx.sym.var("x"), **given)
            arrays = {"x": x, **({"b": mx.nd.array(bins, dtype=dtype)} if isinstance(bins, list) else {})}
            assert net.bind(mx.cpu(), arrays).forward()[0].asnumpy().tolist() == wanted.tolist()
    with pytest.raises(ValueError, match="range"):
        mx.sym.histogram(mx.sym.var("x"), 3)
