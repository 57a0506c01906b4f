# SPDX-License-Identifier: Apache-2.0
"""Gradients of what is recorded."""
import gc
import traceback
import weakref

import numpy as np
import pytest

import strop as mx
from strop import autograd, nd


def test_gradient():
    x = nd.array([1.0, 2, 3])
    assert x.grad is None
    x.attach_grad()
    assert x.grad.asnumpy().tolist() == [0, 0, 0]
    with autograd.record():
        y = (x * x * 2).sum()
    y.backward()
    assert x.grad.asnumpy().tolist() == [4, 8, 12]
    assert x.grad is not None and x.detach().grad is None


def test_requests():
    x = nd.array([1.0, 2])
    for request, want in (("write", [2, 4]), ("add", [4, 8])):
        x.attach_grad(request)
        for _ in range(2):
            with autograd.record():
                y = x * x
            y.backward()
        assert x.grad.asnumpy().tolist() == want
    x.attach_grad("null")
    assert x.grad is None
    with pytest.raises(ValueError):
        x.attach_grad("sometimes")


def test_scopes():
    assert not autograd.is_recording() and not autograd.is_training()
    with autograd.record():
        assert autograd.is_recording() and autograd.is_training()
        with autograd.pause():
            assert not autograd.is_recording() and not autograd.is_training()
        with autograd.predict_mode():
            assert autograd.is_recording() and not autograd.is_training()
        assert autograd.is_recording() and autograd.is_training()
    with autograd.record(train_mode=False):
        assert autograd.is_recording() and not autograd.is_training()
    with autograd.train_mode():
        assert not autograd.is_recording() and autograd.is_training()
        assert (nd.Dropout(nd.ones((1000,)), p=0.5).asnumpy() == 0).any()
    assert (nd.Dropout(nd.ones((1000,)), p=0.5).asnumpy() == 1).all()
    assert autograd.set_recording(True) is False and autograd.set_recording(False) is True
    assert not autograd.is_recording()

    @autograd.record()
    def recorded():
        return autograd.is_recording()

    assert recorded() and not autograd.is_recording()


def test_heads():
    x = nd.array([1.0, 2])
    x.attach_grad()
    with autograd.record():
        y, z = x * 2, x * 3
    autograd.backward([y, z], [nd.array([1.0, 10]), None])
    assert x.grad.asnumpy().tolist() == [5, 23]
    with autograd.record():
        y = x * 2
    y.backward(nd.array([3.0, 4]), retain_graph=True)
    y.backward()
    assert x.grad.asnumpy().tolist() == [2, 2]
    with pytest.raises(mx.Error):
        y.backward()  # the history is gone
    with pytest.raises(ValueError):
        autograd.backward([y], [nd.ones((2,)), nd.ones((2,))])


def test_grad_and_higher_orders():
    x = nd.array([1.0, 2, 3])
    x.attach_grad()
    with autograd.record():
        y = x * x * x
        first = autograd.grad(y, x, create_graph=True, retain_graph=True)[0]
        assert isinstance(first, nd.NDArray)
        second = first.sum()
    assert first.asnumpy().tolist() == [3, 12, 27]
    second.backward()
    assert x.grad.asnumpy().tolist() == [6, 12, 18]
    with autograd.record():
        y, z = x * 2, x * x
    found = autograd.grad([y, z], [x], head_grads=[nd.ones((3,)), nd.ones((3,))])
    assert isinstance(found, list) and found[0].asnumpy().tolist() == [4, 6, 8]
    with pytest.raises(ValueError):
        autograd.grad(y, [])


def test_higher_orders_of_parts_and_of_several_heads():
    x = nd.array([1.0, 2, 3])
    x.attach_grad()
    with autograd.record():
        y = (x[1:] ** 3).sum()
        first = autograd.grad(y, x, create_graph=True)[0]
        first.sum().backward()
    assert x.grad.asnumpy().tolist() == [0, 12, 18]
    with autograd.record():
        heads = [x * x, x * x * x]
    first = autograd.grad(heads, x, create_graph=True)[0]
    with autograd.record():
        first = first * 1
    first.backward()
    assert x.grad.asnumpy().tolist() == [8, 14, 20]


def test_a_copy_to_the_same_context_has_a_history():
    x = nd.array([1.0, 2])
    x.attach_grad()
    with autograd.record():
        y = x.copyto(mx.cpu()) * x
    y.backward()
    assert x.grad.asnumpy().tolist() == [2, 4]


@pytest.mark.parametrize("elements", (2, 1 << 20))
@pytest.mark.parametrize("copy", (lambda x: x.copyto(mx.cpu(1)), lambda x: x.as_in_context(mx.cpu(1)), lambda x: x.copyto(nd.zeros(x.shape, mx.cpu(1)))))
def test_a_copy_to_another_context_has_a_history(copy, elements):
    x = nd.full((elements,), 3)
    x.attach_grad()
    with autograd.record():
        y = copy(x)
        z = y * y
    z.backward()
    assert y.context == mx.cpu(1) and x.grad.context == mx.cpu(0)
    assert x.grad.asnumpy().tolist() == [6] * elements


def test_mark_variables():
    x, g = nd.array([1.0, 2]), nd.zeros((2,))
    autograd.mark_variables(x, g)
    with autograd.record():
        y = x * x
    y.backward()
    assert g.asnumpy().tolist() == [2, 4] and x.grad.asnumpy().tolist() == [2, 4]
    with pytest.raises(ValueError):
        autograd.mark_variables(x, nd.zeros((3,)))


class Sigmoid(autograd.Function):
    def forward(self, x):
        y = 1 / (1 + nd.exp(-x))
        self.save_for_backward(y)
        return y

    def backward(self, dy):
        (y,) = self.saved_tensors
        return dy * y * (1 - y)


def test_function():
    x = nd.array([0.0, 1])
    x.attach_grad()
    with autograd.record():
        y = Sigmoid()(x * 2)
    y.backward()
    s = 1 / (1 + np.exp(-np.array([0.0, 2])))
    np.testing.assert_allclose(y.asnumpy(), s, rtol=1e-6)
    np.testing.assert_allclose(x.grad.asnumpy(), 2 * s * (1 - s), rtol=1e-5)


def test_function_whose_saved_array_is_overwritten():
    x = nd.array([0.0, 1])
    x.attach_grad()
    with autograd.record():
        y = Sigmoid()(x)
    y[:] = 7
    with pytest.raises(mx.Error, match=r"Sigmoid.backward: array 0 that save_for_backward keeps \(shape \(2,\)\) was overwritten since"):
        y.backward()


def test_function_of_several():
    class Both(autograd.Function):
        def forward(self, a, b):
            return a + b, a * b

        def backward(self, ds, dp):
            return ds + dp * 3, ds

    a, b = nd.array([2.0]), nd.array([3.0])
    a.attach_grad()
    b.attach_grad()
    with autograd.record():
        s, p = Both()(a, b)
    autograd.backward([s, p])
    assert a.grad.asscalar() == 4 and b.grad.asscalar() == 1


def test_failures_in_a_function_are_its_own():
    class Wrong(autograd.Function):
        def forward(self, x):
            return x * 2

        def backward(self, dy):
            raise KeyError("mine")

    x = nd.ones((1,))
    x.attach_grad()
    with autograd.record():
        y = Wrong()(x)
    with pytest.raises(KeyError, match="mine") as found:
        y.backward()
    assert isinstance(found.value, mx.MXNetError)
    assert 'raise KeyError("mine")' in "".join(traceback.format_exception(found.value))
    f = Wrong()
    f(x)
    with pytest.raises(mx.Error):
        f(x)


def test_a_history_goes_with_its_arrays():
    function = Sigmoid()
    gone = weakref.ref(function)
    x = nd.ones((2,))
    x.attach_grad()
    with autograd.record():
        y = function(x)
    y.backward()
    del y, function
    gc.collect()
    assert gone() is None


def test_what_has_no_history():
    with pytest.raises(mx.Error):
        nd.ones((1,)).backward()


def test_training_a_line(rng):
    data = rng.normal(size=(64, 3)).astype("f4")
    target = data @ np.array([[1.0], [-2], [3]], "f4") + 0.5
    x, t = nd.array(data), nd.array(target)
    w, b = nd.zeros((1, 3)), nd.zeros((1,))
    for p in (w, b):
        p.attach_grad()
    for _ in range(200):
        with autograd.record():
            loss = nd.square(nd.FullyConnected(x, w, b, num_hidden=1) - t).mean()
        loss.backward()
        for p in (w, b):
            nd.sgd_update(p, p.grad, lr=0.1, out=p)
    np.testing.assert_allclose(w.asnumpy(), [[1, -2, 3]], atol=1e-2)
    np.testing.assert_allclose(b.asnumpy(), [0.5], atol=1e-2)


@pytest.mark.parametrize("made", [lambda d: d, lambda d: (d, d, d), lambda d: (d, 3)])
def test_a_function_gives_a_gradient_for_each_input(made):
    class Sum(autograd.Function):
        def forward(self, x, y):
            return x + y

        def backward(self, d):
            return made(d)

    x = nd.ones((2,))
    x.attach_grad()
    with autograd.record():
        y = Sum()(x, x)
    with pytest.raises(mx.Error):
        y.backward()


def test_memory_that_is_lent_to_be_written_counts_as_written():
    for lend, counts in ((nd.to_dlpack_for_write, True), (nd.to_dlpack_for_read, False)):
        x = nd.array([1.0, 2])
        x.attach_grad()
        with autograd.record():
            y = (x * x).sum()
        lend(x)
        if counts:
            with pytest.raises(ValueError, match="was overwritten after it was recorded"):
                y.backward()
        else:
            y.backward()
            assert x.grad.asnumpy().tolist() == [2, 4]
