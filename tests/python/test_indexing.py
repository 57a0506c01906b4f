# SPDX-License-Identifier: Apache-2.0
"""x[key] and x[key] = value, as NumPy does; one element alone has shape (1,), as in MXNet."""
import pickle
import tracemalloc

import numpy as np
import pytest

import strop as mx

SOURCE = np.arange(24, dtype="f4").reshape(2, 3, 4)
S = slice
BASIC = [0, -1, (0, 1), (0, 1, 2), S(0, 1), S(None, None, -1), (S(None), 1), (S(None), S(1, 3)), (S(None), S(1, 3), S(None, None, 2)),
         (1, S(None), 2), (Ellipsis, 1), (0, Ellipsis), None, (S(None), None), (1, None, 2), (S(1, None), S(None, None, -1)), Ellipsis,
         (S(None), S(3, 0, -1)), (S(0, 0),), (S(None), S(2, 1)), (1, S(1, 3)), (1, 2, S(1, 3)), (S(-1, None), S(-2, None)),
         (S(None), S(None), S(10, None, -3)), (np.int64(1), S(None))]
ADVANCED = [[0, 1], ([0, 1], [1, 2]), (S(None), [0, 2]), (S(None), [0, 1], 1), (0, [0, 2]), (S(None), S(None), [1, 3]),
            ([0, 1], [0, 1], [0, 1]), np.array([[0, 1], [1, 0]]), np.array([True, False]), (S(None), np.array([True, False, True])),
            SOURCE > 5, ([[0], [1]], [0, 2]), ([-1, 0],), (Ellipsis, [0, -1]), (None, [0, 1]), np.array(1), (S(None), np.array(-1))]


def expected(key):
    found = SOURCE[key]
    return found.reshape(1) if np.ndim(found) == 0 else found


@pytest.mark.parametrize("key", BASIC + ADVANCED, ids=str)
def test_read(key):
    made = mx.nd.array(SOURCE)[key]
    assert made.shape == expected(key).shape
    np.testing.assert_array_equal(made.asnumpy(), expected(key))


@pytest.mark.parametrize("key", BASIC + ADVANCED, ids=str)
def test_write_a_number_and_an_array(key, rng):
    for value in (7, -1.5, rng.uniform(size=SOURCE[key].shape).astype("f4")):
        want = SOURCE.copy()
        want[key] = value
        x = mx.nd.array(SOURCE)
        x[key] = value
        np.testing.assert_array_equal(x.asnumpy(), want)
        if np.ndim(value):
            x = mx.nd.array(SOURCE)
            x[key] = mx.nd.array(value)
            np.testing.assert_array_equal(x.asnumpy(), want)


def test_write_what_broadcasts():
    x, want = mx.nd.zeros((2, 3)), np.zeros((2, 3))
    x[:] = mx.nd.array([1, 2, 3])
    want[:] = [1, 2, 3]
    np.testing.assert_array_equal(x.asnumpy(), want)
    x[:, 1:] = np.array([[5], [6]])
    want[:, 1:] = [[5], [6]]
    np.testing.assert_array_equal(x.asnumpy(), want)
    x[1] = [7, 8, 9]
    want[1] = [7, 8, 9]
    np.testing.assert_array_equal(x.asnumpy(), want)


def test_arrays_of_ours_are_keys():
    x = mx.nd.array(SOURCE)
    np.testing.assert_array_equal(x[mx.nd.array([1, 0])].asnumpy(), SOURCE[[1, 0]])
    np.testing.assert_array_equal(x[:, mx.nd.array([2, 0], dtype="int32")].asnumpy(), SOURCE[:, [2, 0]])


def test_views_share_memory():
    x = mx.nd.zeros((3, 4))
    x[1][:] = 1
    x[2:][:] = 2
    x[0, 1:3][:] = 3
    np.testing.assert_array_equal(x.asnumpy(), [[0, 3, 3, 0], [1, 1, 1, 1], [2, 2, 2, 2]])


@pytest.mark.parametrize("dtype", ["float64", "int8", "uint8", "int32", "int64", "float16"])
def test_every_type(dtype):
    source = np.arange(12).reshape(3, 4).astype(dtype)
    x = mx.nd.array(source, dtype=dtype)
    np.testing.assert_array_equal(x[1:, ::2].asnumpy(), source[1:, ::2])
    x[1, 1:3] = 100
    source[1, 1:3] = 100
    x[[0, 2], [0, 0]] = mx.nd.array([5, 6])
    source[[0, 2], [0, 0]] = [5, 6]
    np.testing.assert_array_equal(x.asnumpy(), source)


def test_large_integers_stay_exact():
    x = mx.nd.zeros((3,), dtype="int64")
    x[1] = 2**60 + 1
    x[2:] = 2**60 + 3
    assert x.asnumpy().tolist() == [0, 2**60 + 1, 2**60 + 3]


@pytest.mark.parametrize("key", [2, -3, (0, 3), (0, 0, 0, 0), ([2],), (0, [0, 5]), "a", 1.5, (Ellipsis, Ellipsis), np.array([0.5])], ids=str)
def test_what_is_no_index(key):
    with pytest.raises(IndexError):
        mx.nd.array(SOURCE)[key]


def test_errors_that_are_of_several_kinds_can_be_pickled():
    with pytest.raises(IndexError) as raised:
        mx.nd.array(SOURCE)[1.5]
    again = pickle.loads(pickle.dumps(raised.value))
    assert str(again) == str(raised.value)
    assert [kind.__name__ for kind in type(again).__mro__] == [kind.__name__ for kind in type(raised.value).__mro__]


def test_what_does_not_fit():
    x = mx.nd.zeros((2, 3))
    with pytest.raises(ValueError):
        x[:] = mx.nd.zeros((4,))
    with pytest.raises(ValueError):
        x[0] = [1, 2]
    with pytest.raises(TypeError):
        x[0] = "text"
    with pytest.raises(TypeError):
        del x[0]


def test_gradients_of_what_is_read():
    x = mx.nd.array(SOURCE)
    x.attach_grad()
    with mx.autograd.record():
        y = (x[1, :, 1:3] * 2).sum() + x[[0, 1], [1, 2]].sum() * 3 + x[0].sum()
    y.backward()
    want = np.zeros_like(SOURCE)
    want[1, :, 1:3] += 2
    np.add.at(want, ([0, 1], [1, 2]), 3)
    want[0] += 1
    np.testing.assert_array_equal(x.grad.asnumpy(), want)


def test_what_is_written_may_come_from_the_array_itself():
    want, x = np.arange(12, dtype=np.float32).reshape(3, 4), mx.nd.arange(12).reshape((3, 4))
    for a in (want, x):
        a[1] += 2
        a[:2] *= a[:2]
        a[1:] = a[:2] if a is x else a[:2].copy()
        a[:] = a
        a[[0, 1]] = a[1:3] if a is x else a[1:3].copy()
    np.testing.assert_array_equal(x.asnumpy(), want)


MIXED = [([0, 1], None, [1, 2]), (None, [0, 1], S(None), [1, 2]), (S(None), None, [2, 0, 0]), ([[0, 1]], None), (0, S(None), [1, 3]), (S(None, None, -1), [[0, 2], [1, 1]], S(1, None, 2)),
         (SOURCE[0] > 5)[None].repeat(2, 0), (S(None), SOURCE[0] > 5), (SOURCE[:, :, 0] > 3, S(1, 3)), (SOURCE[:, :, 0] > 3, 1), (1, SOURCE[0, :, 0] > 3, None), (S(None), [], 1),
         ([-1, 0], S(-2, None), [3, -4]), (Ellipsis, [[1], [2]], [0, 3]), (np.zeros((2, 0), "i8"),), (S(None), S(2, 2), [0, 1])]


@pytest.mark.parametrize("key", MIXED, ids=str)
def test_arrays_among_slices(key, rng):
    want = SOURCE[key]
    x = mx.nd.array(SOURCE)
    x.attach_grad()
    with mx.autograd.record():
        made = x[key]
        loss = (made * made).sum()
    np.testing.assert_array_equal(made.asnumpy(), want)
    loss.backward()
    grad = np.zeros_like(SOURCE)
    np.add.at(grad, key, 2 * want)
    np.testing.assert_array_equal(x.grad.asnumpy(), grad)
    value, expect, x = rng.uniform(size=want.shape).astype("f4"), SOURCE.copy(), mx.nd.array(SOURCE)
    expect[key] = value
    x[key] = value
    np.testing.assert_array_equal(x.asnumpy(), expect)


@pytest.mark.parametrize("key", [([0], [0, 1], [0, 1, 2]), (S(None), np.array([True, False])), (S(None), [0, 3]), (S(None), S(None), [-5]), np.array([[True, False]])], ids=str)
def test_arrays_that_do_not_fit(key):
    for act in (lambda x: x[key], lambda x: x.__setitem__(key, 1)):
        with pytest.raises(IndexError):
            act(mx.nd.array(SOURCE))


@pytest.mark.parametrize("key", [([0, 5], [1, 2]), (S(None, None, 500), [1, 2]), (7, [0, 3]), (S(2, 4), [[1], [2]], None)], ids=str)
def test_what_is_read_takes_memory_for_itself_alone(key):
    x = mx.nd.zeros((2000, 3000))
    tracemalloc.start()
    try:
        x[key] = 3
        assert (x[key].asnumpy() == 3).all() and tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()


def test_what_lies_together():
    for key, want in (((slice(None), slice(1, 2)), False), ((slice(1, 3), slice(None)), True), ((0, slice(1, 3)), True), ((slice(0, 1), slice(None, None, 2)), False),
                      ((slice(None, None, -1), slice(None)), False), ((slice(1, 2), slice(None, None, 20)), True)):
        x = mx.nd.zeros((4, 5))
        assert mx.nd.NDArray._basic_indexing_slice_is_contiguous(key, (4, 5)) == want == np.empty((4, 5))[key].flags.c_contiguous
        if want:  # then it is a view
            x[key][:] = 1
            assert (x[key].asnumpy() == 1).all() and x.asnumpy().sum() == x[key].size


NOTHING = {"slice": S(2, 2), "both slices": (S(0, 0), S(3, 3)), "behind a position": (0, S(4, 4)), "a new axis": (None, S(0, 0)), "steps": (S(0, 0), S(None, None, 2)), "list": [],
           "list behind a slice": (S(0, 0), [1]), "mask": np.zeros(SOURCE.shape, "?"), "mask of rows": np.zeros(SOURCE.shape[0], "?")}


@pytest.mark.parametrize("dtype", ["float32", "int32", "bool"])
@pytest.mark.parametrize("key", NOTHING.values(), ids=NOTHING)
def test_what_takes_nothing_has_gradient_0(key, dtype):
    source = SOURCE.astype(dtype)
    x = mx.nd.array(source, dtype=dtype)
    assert (x[key].shape, x[key].dtype) == (source[key].shape, source[key].dtype)
    assert (x == 1)[key]._facts & 1  # a mask without elements is one
    if dtype == "float32":
        x.attach_grad()
        x.grad[:] = 7
        with mx.autograd.record():
            loss = x[key].sum() * 3
        loss.backward()
        assert loss.asscalar() == 0 and (x.grad.asnumpy() == 0).all()
