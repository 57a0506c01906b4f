# SPDX-License-Identifier: Apache-2.0
"""Memory that is shared with others: who may look at it, who gives it back."""
import gc
import os
import sys
import weakref

import numpy as np
import pytest

import strop as mx


def test_numpy_looks_without_a_copy():
    x = mx.nd.array([[1, 2], [3, 4]])
    view = np.asarray(x)
    assert view.dtype == np.float32 and view.ctypes.data == x._pointer
    view[0, 0] = 9
    assert x[0, 0].asscalar() == 9
    assert np.array(x, dtype="f8").dtype == np.float64
    assert x.__array_interface__["data"][0] == x._pointer
    assert memoryview(x).shape == (2, 2) and memoryview(x).format == "f"
    assert np.sin(x).dtype == np.float32


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "uint8", "int8", "int32", "int64", "bool"])
def test_every_type_has_its_buffer(dtype):
    x = mx.nd.ones((2, 3), dtype=dtype)
    assert np.asarray(x).dtype == np.dtype(dtype) and np.asarray(x).ctypes.data == x._pointer


def test_the_memory_lives_as_long_as_somebody_looks():
    x = mx.nd.array(np.arange(1000))
    view = np.asarray(x)
    del x
    gc.collect()
    mx.nd.ones((1000,))
    assert (view == np.arange(1000)).all()


def test_sparse_arrays_have_no_buffer():
    x = mx.nd.sparse.csr_matrix(np.eye(2))
    with pytest.raises(BufferError):
        memoryview(x)
    np.testing.assert_array_equal(np.asarray(x.asnumpy()), np.eye(2))


def test_from_numpy_shares():
    source = np.arange(6, dtype="f4").reshape(2, 3)
    x = mx.nd.from_numpy(source)
    assert x._pointer == source.ctypes.data and x.shape == (2, 3)
    assert not source.flags.writeable
    before = sys.getrefcount(source)
    del x
    gc.collect()
    assert sys.getrefcount(source) == before - 1
    first, second = mx.nd.from_numpy(source), mx.nd.from_numpy(source[1:])  # what was shared before is shared again
    first[1, 1] = 9
    assert second.asnumpy().tolist() == [[3, 9, 5]] and source[1, 1] == 9
    assert mx.nd.from_numpy(np.ones(3), zero_copy=False).dtype is np.float64
    with pytest.raises(ValueError, match="zero_copy"):
        mx.nd.from_numpy(np.frombuffer(b"1234", np.uint8))
    with pytest.raises(ValueError):
        mx.nd.from_numpy(np.ones((2, 3)).T)


def test_memory_that_is_not_aligned_is_not_shared():
    odd = np.zeros(17, np.uint8)[1:].view(np.float32)
    odd[:] = [1, 2, 3, 4]
    assert not odd.flags.aligned
    with pytest.raises(ValueError, match="multiple of 4"):
        mx.nd.from_numpy(odd)
    assert odd.flags.writeable
    with pytest.raises(ValueError, match="from_dlpack: the elements are not aligned to their size"):
        mx.nd.from_dlpack(odd)
    for copied in (mx.nd.from_numpy(odd, zero_copy=False), mx.nd.array(odd)):
        assert copied._pointer % 4 == 0 and copied.asnumpy().tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("shape, both", [((2, 3), False), ((1, 3), True), ((3, 1), True), ((6,), True), ((), True), ((0, 2, 3), True)])
def test_the_order_of_a_buffer(shape, both):
    import ctypes

    class Buffer(ctypes.Structure):
        _fields_ = [("buf", ctypes.c_void_p), ("obj", ctypes.py_object), ("len", ctypes.c_ssize_t), ("itemsize", ctypes.c_ssize_t), ("readonly", ctypes.c_int),
                    ("ndim", ctypes.c_int), ("format", ctypes.c_char_p), ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p), ("suboffsets", ctypes.c_void_p),
                    ("internal", ctypes.c_void_p)]

    strides, c_order, fortran_order, any_order = 0x18, 0x20, 0x40, 0x80
    x = mx.nd.ones(shape)
    for asked, there in ((strides, True), (strides | c_order, True), (strides | any_order, True), (strides | fortran_order, both)):
        view = Buffer()
        try:
            ctypes.pythonapi.PyObject_GetBuffer(ctypes.py_object(x), ctypes.byref(view), asked)
        except BufferError as error:
            assert not there and "row-major" in str(error)
            continue
        assert there and (ctypes.pythonapi.PyBuffer_IsContiguous(ctypes.byref(view), ctypes.c_char(b"F")) == 1) == both
        ctypes.pythonapi.PyBuffer_Release(ctypes.byref(view))


def test_dlpack_both_ways():
    x = mx.nd.array([[1, 2], [3, 4]])
    assert x.__dlpack_device__() == (1, 0)
    view = np.from_dlpack(x)
    assert view.ctypes.data == x._pointer
    source = np.arange(4.0)
    y = mx.nd.from_dlpack(source)
    assert y._pointer == source.ctypes.data and y.dtype is np.float64
    z = mx.nd.from_dlpack(mx.nd.to_dlpack_for_write(x))
    z[0] = 7
    assert x[0, 0].asscalar() == 7
    capsule = mx.nd.to_dlpack_for_read(x)
    mx.nd.from_dlpack(capsule)
    with pytest.raises(ValueError):
        mx.nd.from_dlpack(capsule)  # taken


@pytest.mark.parametrize("cut", [lambda a: a.T, lambda a: a[:, 1:], lambda a: a[::2], lambda a: a[::-1], lambda a: np.broadcast_to(a[0], (3, 4)).view(), lambda a: a[:, 0]])
def test_what_cannot_be_shared_is_refused(cut):
    """A copy would look like shared memory until somebody writes."""
    source = np.arange(12, dtype="f4").reshape(3, 4)
    part = cut(source)
    part.flags.writeable or part.setflags(write=False)
    before = sys.getrefcount(source)
    with pytest.raises((ValueError, BufferError, TypeError), match="not row-major without gaps|readonly|read only"):
        mx.nd.from_dlpack(part)
    gc.collect()
    assert sys.getrefcount(source) == before  # nothing holds it
    np.testing.assert_array_equal(mx.nd.array(part).asnumpy(), part)


def test_what_lies_together_is_shared():
    source = np.arange(24, dtype="f4").reshape(2, 3, 4)
    for part in (source[1], source[:, None], source[1:, 1:2, 1:3], source[0, 1:], source[:0], source[0, 0, 0:1].reshape(1, 1)):
        made = mx.nd.from_dlpack(part)
        assert made.shape == part.shape and (part.size == 0 or made._pointer == part.ctypes.data)
        made[:] = -1
        assert (part == -1).all()


def test_dlpack_gives_back():
    source = np.arange(4.0)
    before = sys.getrefcount(source)
    y = mx.nd.from_dlpack(source)
    capsule = source.__dlpack__()
    assert sys.getrefcount(source) > before
    del y, capsule
    gc.collect()
    assert sys.getrefcount(source) == before


def test_torch():
    torch = pytest.importorskip("torch")
    x = mx.nd.array([[1, 2], [3, 4]])
    t = torch.from_dlpack(x)
    assert t.data_ptr() == x._pointer
    assert mx.nd.from_dlpack(t)._pointer == t.data_ptr()


def test_arrays_go_when_nobody_holds_them():
    x = mx.nd.ones((2,))
    gone = weakref.ref(x)
    y = x + 1
    del x
    gc.collect()
    assert gone() is None and y.shape == (2,)


def _resident():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is read from /proc")
def test_results_give_their_memory_back():
    """Arrays are no objects that Python's collector lists: one lost in each round would be 512 MB in all."""
    x = mx.nd.ones((128, 1024))
    x.attach_grad()
    y = mx.sym.sum(mx.sym.square(mx.sym.Variable("x"))).bind(mx.cpu(), {"x": x})

    def rounds(n):
        for _ in range(n):
            z = mx.nd.relu(x, out=None) * 2
            z[0], z[:, 1], z.T, z.asnumpy(), mx.nd.from_dlpack(z), mx.nd.array(z.asnumpy())  # noqa: B018
            with mx.autograd.record():
                loss = (x * x).sum()
            loss.backward()
            y.forward()
            with pytest.raises(mx.Error):
                mx.nd.elemwise_add(z, z[0])
        mx.nd.waitall()

    rounds(100)
    before = _resident()
    rounds(1000)
    assert _resident() - before < 100e6


def test_calls_leak_nothing():
    x = mx.nd.ones((2, 2))
    relu = mx.nd.relu
    for args in ((x,), (x, x)):
        counts = []
        for _ in range(3):
            for _ in range(200):
                try:
                    relu(*args)
                    mx.nd.sum(x, axis=(0, 1), keepdims=True)
                    mx.nd.clip(x, a_min=0, a_max="2")
                    x[0], x[:, 1], x.shape, x.dtype, x + 1, x == x
                except mx.Error:
                    pass
            gc.collect()
            counts.append((sys.getrefcount(x), sys.getrefcount(relu), sys.getrefcount(np.float32), len(gc.get_objects())))
        assert counts[1][:3] == counts[2][:3]
        assert abs(counts[2][3] - counts[1][3]) < 20
