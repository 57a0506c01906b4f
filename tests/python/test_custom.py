# SPDX-License-Identifier: Apache-2.0
"""Operators written in Python."""
import numpy as np
import pytest

import strop as mx
from strop import autograd, nd


class Scale(mx.operator.CustomOp):
    def __init__(self, factor):
        self.factor = factor

    def forward(self, is_train, req, in_data, out_data, aux):
        if self.factor == 13:
            raise KeyError("unlucky")
        self.assign(out_data[0], req[0], in_data[0] * self.factor)
        aux[0][:] = aux[0] + (1 if is_train else 100)

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        np.testing.assert_allclose(out_data[0].asnumpy(), in_data[0].asnumpy() * self.factor)
        self.assign(in_grad[0], req[0], out_grad[0] * self.factor)


@mx.operator.register("scale_by")
class ScaleProp(mx.operator.CustomOpProp):
    def __init__(self, factor="2"):
        super().__init__()
        self.factor = float(factor)

    def list_auxiliary_states(self):
        return ["calls"]

    def create_operator(self, ctx, in_shapes, in_dtypes):
        assert ctx == "cpu(0)" and len(in_shapes) == len(in_dtypes) == 1
        return Scale(self.factor)


def test_forward_backward_and_states():
    x, calls = nd.array([1.0, 2]), nd.zeros((1,))
    x.attach_grad()
    with autograd.record():
        y = nd.Custom(x, calls, op_type="scale_by", factor=3) * 2
    y.backward()
    assert y.asnumpy().tolist() == [6, 12] and x.grad.asnumpy().tolist() == [6, 6] and calls.asscalar() == 1
    assert nd.Custom(data=x, calls=calls, op_type="scale_by").asnumpy().tolist() == [2, 4] and calls.asscalar() == 101
    assert "scale_by" in mx.operator.get_all_registered_operators()


def test_several_outputs_of_another_shape():
    class Parts(mx.operator.CustomOp):
        def forward(self, is_train, req, in_data, out_data, aux):
            self.assign(out_data[0], req[0], in_data[0].sum())
            self.assign(out_data[1], req[1], in_data[0].max())

        def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
            self.assign(in_grad[0], req[0], nd.ones(in_data[0].shape) * out_grad[0])
            self.assign(in_grad[0], "add", nd.ones(in_data[0].shape))
            self.assign(in_grad[0], "null", nd.zeros(in_data[0].shape))

    @mx.operator.register("parts")
    class PartsProp(mx.operator.CustomOpProp):  # pylint: disable=unused-variable
        def list_outputs(self):
            return ["sum", "max"]

        def infer_shape(self, in_shape):
            return in_shape, [(1,), (1,)], []

        def create_operator(self, ctx, in_shapes, in_dtypes):
            return Parts()

    x = nd.array([1.0, 5, 2])
    x.attach_grad()
    with autograd.record():
        total, top = nd.Custom(x, op_type="parts")
        loss = total * 3
    loss.backward()
    assert total.asscalar() == 8 and top.asscalar() == 5 and x.grad.asnumpy().tolist() == [4, 4, 4]


def test_failures():
    x, calls = nd.ones((2,)), nd.zeros((1,))
    with pytest.raises(mx.MXNetError, match="unlucky"):  # it is both
        nd.Custom(x, calls, op_type="scale_by", factor=13)
    with pytest.raises(KeyError, match="unlucky"):
        nd.Custom(x, calls, op_type="scale_by", factor=13)
    for kind, call in ((ValueError, lambda: nd.Custom(x, op_type="none")), (TypeError, lambda: nd.Custom(x, op_type="scale_by")),
                       (TypeError, lambda: nd.Custom(x, calls, x, op_type="scale_by")), (TypeError, lambda: nd.Custom(3, calls, op_type="scale_by")),
                       (TypeError, lambda: mx.operator.register("x")(int)), (ValueError, lambda: Scale(1).assign(x, "later", x))):
        with pytest.raises(kind):
            call()
