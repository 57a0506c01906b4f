# SPDX-License-Identifier: Apache-2.0
"""What programs give by mistake: an Error of one sentence, which is of Python's kind as well."""
import numpy as np
import pytest

import strop as mx
from strop import autograd, nd, sym

sp = nd.sparse
DOUBLE = sym.Variable("a") * 2


def bound():
    return DOUBLE.bind(mx.cpu(), {"a": nd.ones((2,))}, {"a": nd.zeros((2,))})


def recorded():
    x = nd.ones((1,))
    x.attach_grad()
    with autograd.record():
        return x, x * 2


class Prop(mx.operator.CustomOpProp):
    """Infers no lists."""

    def infer_shape(self, in_shape):
        return 3


mx.operator.register("of_no_lists")(Prop)


@pytest.mark.parametrize(
    "call, kind, said",
    [
        (lambda: nd.zeros(2.5), TypeError, "the shape is 2.5"),
        (lambda: nd.zeros((2.5, 1)), ValueError, r"the shape is \(2.5, 1\)"),
        (lambda: nd.empty(None), TypeError, "the shape is None"),
        (lambda: nd.ones("12"), ValueError, "the shape is '12'"),
        (lambda: nd.zeros((2,), dtype="foo"), TypeError, "full: dtype is 'foo', expected one of float32"),
        (lambda: nd.array([1], dtype={}), TypeError, "array: dtype is"),
        (lambda: nd.arange(3, dtype="foo"), TypeError, "arange: dtype is 'foo'"),
        (lambda: nd.from_numpy([1, 2]), TypeError, "from_numpy: expected an array of NumPy, got list"),
        (lambda: nd.histogram(nd.ones((3,)), bins=-1), ValueError, "histogram: bins is -1"),
        (lambda: nd.maximum("a", nd.ones((1,))), ValueError, "'scalar' is 'a'"),
        (lambda: nd.to_dlpack_for_read(3), TypeError, "to_dlpack_for_read: an object of type int"),
        (lambda: mx.cpu("a"), ValueError, "Context: the number of the device is 'a'"),
        (lambda: sp.csr_matrix(([1], [0], [0, 1]), shape="x"), ValueError, "the shape is 'x'"),
        (lambda: sp.csr_matrix(([1], ([0], [0])), shape="x"), ValueError, "the shape is 'x'"),
        (lambda: sp.csr_matrix(([1], [0], [0, 1]), shape=(1, 2), dtype="foo"), TypeError, "sparse: dtype is 'foo'"),
        (lambda: sp.csr_matrix((["a"], [0], [0, 1]), shape=(1, 2)), TypeError, "array: the source is no array of numbers"),
        (lambda: sp.csr_matrix(([1], ["a"], [0, 1]), shape=(1, 2)), ValueError, "not whole numbers"),
        (lambda: sp.row_sparse_array(([[1, 2]], ["a"]), shape=(2, 2)), ValueError, "not whole numbers"),
        (lambda: sp.row_sparse_array(([[1, 2]], [0]), shape="x"), ValueError, "the shape is 'x'"),
        (lambda: autograd.backward(3), TypeError, "backward: a head of type int"),
        (lambda: autograd.backward([nd.ones((1,))], [3]), TypeError, "backward: a head gradient of type int"),
        (lambda: nd.ones((1,)).backward("a"), TypeError, "backward: a head gradient of type str"),
        (lambda: autograd.grad(3, [nd.ones((1,))]), TypeError, "grad: a head of type int"),
        (lambda: autograd.grad(recorded()[1], [3]), TypeError, "grad: a variable of type int"),
        (lambda: autograd.mark_variables(3, 4), TypeError, "mark_variables: a variable of type int"),
        (lambda: autograd.get_symbol(3), TypeError, "get_symbol: an object of type int"),
        (lambda: autograd.Function()(3), TypeError, "Function: an input of type int"),
        (lambda: DOUBLE.infer_type(a="foo"), TypeError, "a: dtype is 'foo'"),
        (lambda: DOUBLE.infer_shape(a="x"), ValueError, "the shape is 'x'"),
        (lambda: DOUBLE.simple_bind(mx.cpu(), a="x"), ValueError, "the shape is 'x'"),
        (lambda: DOUBLE.simple_bind(mx.cpu(), a=(2,), type_dict={"a": "foo"}), TypeError, "a: dtype is 'foo'"),
        (lambda: DOUBLE.bind(mx.cpu(), 3), TypeError, "bind: args is of type int"),
        (lambda: DOUBLE.bind(mx.cpu(), {"a": np.ones(3)}), TypeError, "bind: args has for 'a' an object of type ndarray"),
        (lambda: DOUBLE.bind(mx.cpu(), {"a": nd.ones((2,))}, 3), TypeError, "bind: args_grad is of type int"),
        (lambda: bound().backward(3), TypeError, "backward: a head gradient of type int"),
        (lambda: bound().copy_params_from({"a": 3}), TypeError, "copy_params_from: 'a' is of type int"),
        (lambda: autograd.set_recording("a"), TypeError, "set_recording: is_recording is '?a'?, expected True or False"),
        (lambda: autograd.set_training(None), TypeError, "set_training: train_mode is None, expected True or False"),
        (lambda: mx.engine.set_asynchronous("a", "b"), TypeError, "set_asynchronous: on is 'a' and elements 'b'"),
        (lambda: nd.Custom(nd.ones((2,)), op_type="of_no_lists"), TypeError, "of_no_lists: infer_shape gives 3"),
    ],
)
def test_mistakes_are_errors_of_one_sentence(call, kind, said):
    with pytest.raises(kind, match=said) as raised:
        call()
    assert isinstance(raised.value, mx.Error) and "\n" not in str(raised.value)


def test_backward_of_an_executor_without_gradients_does_nothing():
    run = DOUBLE.bind(mx.cpu(), {"a": nd.ones((2,))})
    run.backward()
    run.forward(is_train=True)
    run.backward()
    assert run.grad_arrays == [None]


def test_arguments_have_the_names_of_mxnet():
    assert nd.power(base=nd.array([2]), exp=3).asscalar() == sym.pow(base=sym.Variable("a"), exp=3).eval(a=nd.array([2]))[0].asscalar() == 8
    assert nd.from_dlpack(dlpack=np.ones(2, "f4")).shape == (2,) and nd.ones((2,)).astype(None).dtype is np.float32
    assert mx.metric.PCC(has_global_stats=True).name == "pcc"
