# SPDX-License-Identifier: Apache-2.0
"""Operators written in Python, of arrays and as nodes of graphs."""
import gc
import json
import pickle
import subprocess
import sys
import weakref

import numpy as np
import pytest

import strop as mx
from strop import autograd, nd, sym
from strop.test_utils import check_numeric_gradient, check_symbolic_backward, check_symbolic_forward


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
        assert ctx == mx.cpu() and in_shapes[0] and in_dtypes == [np.float32] * 2  # of the input and the state
        return Scale(self.factor)


def test_forward_backward_and_states():
    x, calls = nd.array([1.0, 2]), nd.zeros((1,))
    x.attach_grad()
    with autograd.record():
        y = nd.Custom(x, calls, op_type="scale_by", factor=3) * 2
    y.backward()
    assert y.asnumpy().tolist() == [6, 12] and x.grad.asnumpy().tolist() == [6, 6] and calls.asscalar() == 1
    assert nd.Custom(data=x, calls=calls, op_type="scale_by").asnumpy().tolist() == [2, 4] and calls.asscalar() == 101
    y = nd.zeros((2,))
    assert nd.Custom(x, calls, op_type="scale_by", out=y) is y and y.asnumpy().tolist() == [2, 4]
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


class Affine(mx.operator.CustomOp):
    """y = x w + b, which keeps what it was told."""

    seen = []

    def forward(self, is_train, req, in_data, out_data, aux):
        Affine.seen.append(("forward", bool(is_train), list(req)))
        assert mx.context.current_context() == in_data[0].context
        self.assign(out_data[0], req[0], in_data[0] * in_data[1] + in_data[2])
        self.kept = in_data[0].copy()
        if is_train:
            aux[0][:] = aux[0] + 1

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        Affine.seen.append(("backward", list(req), out_data[0]))
        self.assign(in_grad[0], req[0], out_grad[0] * in_data[1])
        self.assign(in_grad[1], req[1], out_grad[0] * self.kept)
        self.assign(in_grad[2], req[2], out_grad[0])


@mx.operator.register("affine")
class AffineProp(mx.operator.CustomOpProp):
    made = []

    def __init__(self, note="none"):
        super().__init__()
        self.note = note

    def list_arguments(self):
        return ["data", "weight", "bias"]

    def list_auxiliary_states(self):
        return ["steps"]

    def infer_shape(self, in_shape):
        return [in_shape[0]] * 3, [in_shape[0]], [(1,)]

    def declare_backward_dependency(self, out_grad, in_data, out_data):
        assert (out_grad, in_data, out_data) == ([0], [1, 2, 3], [4])
        return out_grad + in_data

    def create_operator(self, ctx, in_shapes, in_dtypes):
        AffineProp.made.append((self.note, ctx, in_shapes, in_dtypes))
        return Affine()


def test_a_node_and_what_follows_for_its_inputs():
    net = sym.Custom(sym.var("x"), op_type="affine", note=7, name="a")
    assert net.list_arguments() == ["x", "a_weight", "a_bias"] and net.list_auxiliary_states() == ["a_steps"]
    assert net.list_outputs() == ["a_output"] and net.attr("op_type") == "affine" and net.attr("note") == "7"
    assert net.infer_shape(x=(2, 3)) == ([(2, 3)] * 3, [(2, 3)], [(1,)])
    assert net.infer_shape() == (None, None, None)
    assert net.infer_type(x=np.float64) == ([np.float64] * 3, [np.float64], [np.float64])
    with mx.name.Prefix("p_"):
        other = sym.Custom(weight=sym.var("w"), data=sym.var("x"), op_type="affine")
    assert other.list_arguments() == ["x", "w", other.name + "_bias"] and other.name.startswith("p_custom")
    with mx.AttrScope(ctx_group="here"):
        marked = sym.Custom(sym.var("x"), op_type="affine", name="b", attr={"__mark__": "1"})
    assert marked.attr("ctx_group") == "here" and marked.attr_dict()["b_bias"]["__mark__"] == "1"
    for kind, call in ((ValueError, lambda: sym.Custom(net)), (ValueError, lambda: sym.Custom(net, op_type="nobody")),
                       (TypeError, lambda: sym.Custom(net, data=net, op_type="affine")), (TypeError, lambda: sym.Custom(*[net] * 5, op_type="affine")),
                       (TypeError, lambda: sym.Custom(net, colour="red", op_type="affine")), (TypeError, lambda: sym.Custom(nd.ones((1,)), op_type="affine")),
                       (ValueError, lambda: sym.Custom(*[net * 2] * 4, op_type="affine"))):
        with pytest.raises(kind):
            call()


def test_executors():
    Affine.seen.clear()
    AffineProp.made.clear()
    net = sym.Custom(sym.var("x"), op_type="affine", note="n", name="a") * 2
    run = net.simple_bind(mx.cpu(), grad_req={"x": "write", "a_weight": "add", "a_bias": "null"}, x=(2,))
    run.arg_dict["a_weight"][:], run.arg_dict["a_bias"][:] = [3, 4], 1
    assert run.forward(x=nd.array([1, 2]))[0].asnumpy().tolist() == [8, 18] and run.aux_dict["a_steps"].asscalar() == 0
    for _ in range(2):
        assert run.forward(is_train=True, x=nd.array([1, 2]))[0].asnumpy().tolist() == [8, 18]
        run.backward(nd.array([1, 10]))
    assert run.aux_dict["a_steps"].asscalar() == 2  # once for each pass in training
    assert run.grad_dict["x"].asnumpy().tolist() == [6, 80] and run.grad_dict["a_weight"].asnumpy().tolist() == [4, 80] and run.grad_dict["a_bias"] is None
    assert AffineProp.made == [("n", mx.cpu(), [[2], [2], [2], [1]], [np.float32] * 4)]  # once for the node
    train = [("forward", True, ["write"]), ("backward", ["write", "add", "null"], None)]  # backward does not read outputs
    assert Affine.seen == [("forward", False, ["write"]), *train, *train]


def test_gradients_of_several_types_and_places():
    x, w, b, steps = sym.var("x"), sym.var("w"), sym.var("b"), sym.var("steps")
    net = sym.Custom(sym.sin(x), w, b, steps, op_type="affine", name="a")
    state, arrays = [nd.zeros((1,))], [np.array([[0.5, -1.0]]), np.array([[2.0, 3.0]]), np.array([[1.0, 1.0]])]
    check_numeric_gradient(net, arrays, state)
    check_symbolic_forward(net, arrays, [np.sin(arrays[0]) * arrays[1] + 1], aux_states=state)
    head = np.array([[1.0, 2.0]])
    check_symbolic_backward(net, arrays, [head], [head * arrays[1] * np.cos(arrays[0]), head * np.sin(arrays[0]), head],
                            aux_states=[nd.zeros((1,), dtype=np.float64)], dtype=np.float64)
    # twice in one graph, and in a graph that is put into another: each node has a CustomOp of its own
    both = net + net(x=sym.var("z"), steps=sym.var("others"))
    run = both.simple_bind(mx.cpu(), x=(1, 2), z=(1, 2))
    run.forward(is_train=True, x=arrays[0], z=arrays[0] * 3, w=arrays[1], b=arrays[2])
    run.backward(nd.ones((1, 2)))
    np.testing.assert_allclose(run.grad_dict["w"].asnumpy(), np.sin(arrays[0]) + np.sin(arrays[0] * 3), rtol=1e-5)
    # of more elements than calls are handed to the engine from, on another context
    large = np.linspace(0, 1, 1 << 19, dtype=np.float32)
    run = net.simple_bind(mx.cpu(1), x=large.shape)
    run.forward(is_train=True, x=large, w=large, b=large)
    run.backward(nd.ones(large.shape, mx.cpu(1)))
    np.testing.assert_allclose(run.outputs[0].asnumpy(), np.sin(large) * large + large, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(run.grad_dict["x"].asnumpy(), np.cos(large) * large, rtol=1e-5, atol=1e-6)


def test_in_files_and_copies():
    net = sym.Custom(sym.var("x"), op_type="affine", note="a word", name="a")
    text = json.loads(net.tojson())
    node = text["nodes"][-1]
    assert (node["op"], node["name"], node["attrs"], node["inputs"]) == ("Custom", "a", {"note": "a word", "op_type": "affine"}, [[0, 0, 0], [1, 0, 0], [2, 0, 0], [3, 0, 1]])
    x = nd.array([1.0, 2.0])
    for other in (sym.load_json(net.tojson()), pickle.loads(pickle.dumps(net))):
        assert other.tojson() == net.tojson()
        AffineProp.made.clear()
        assert other.bind(mx.cpu(), [x, x, x], aux_states=[nd.zeros((1,))]).forward()[0].asnumpy().tolist() == [2, 6]
        assert AffineProp.made[0][0] == "a word"
    assert nd.CachedOp(net)(x, x, x, nd.zeros((1,))).asnumpy().tolist() == [2, 6]
    with pytest.raises(ValueError, match="nobody"):
        sym.load_json(net.tojson().replace('"affine"', '"nobody"'))
    with pytest.raises(ValueError, match="takes 4 inputs"):
        node["inputs"].pop()
        sym.load_json(json.dumps(text))


@mx.operator.register("any_parameters")
class AnyProp(mx.operator.CustomOpProp):
    def __init__(self, **params):
        super().__init__()
        AnyProp.given = params


@pytest.mark.parametrize("name", ["lr_mult", "wd_mult", "ctx_group", "force_mirroring", "mirror_stage", "__mark__"])
def test_parameters_with_names_of_attributes_are_refused(name):
    net = sym.Custom(sym.var("x"), op_type="any_parameters", **{"my_" + name: 3})
    AnyProp.given = None
    sym.load_json(net.tojson())
    assert AnyProp.given == {"my_" + name: "3"}
    with pytest.raises(TypeError, match=f"parameter '{name}' of any_parameters has the name of an attribute"):
        sym.Custom(sym.var("x"), op_type="any_parameters", **{name: 3})


class Loss(mx.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        self.assign(out_data[0], req[0], in_data[0].softmax())

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        assert out_grad == [None]
        self.assign(in_grad[0], req[0], out_data[0] - in_data[1].one_hot(in_data[0].shape[1]))


@mx.operator.register("loss")
class LossProp(mx.operator.CustomOpProp):
    def __init__(self):
        super().__init__(need_top_grad=False)

    def list_arguments(self):
        return ["data", "label"]

    def infer_shape(self, in_shape):
        return [in_shape[0], [in_shape[0][0]]], [in_shape[0]]

    def infer_type(self, in_type):
        return [in_type[0], np.int32], [in_type[0]]

    def create_operator(self, ctx, in_shapes, in_dtypes):
        return Loss()


def test_a_loss_needs_no_head_gradient():
    net = sym.Custom(sym.FullyConnected(sym.var("x"), num_hidden=3, name="fc"), op_type="loss", name="softmax")
    assert net.infer_shape(x=(2, 4))[0] == [(2, 4), (3, 4), (3,), (2,)] and net.infer_type()[0][-1] is np.int32
    run = net.simple_bind(mx.cpu(), x=(2, 4))
    run.forward(is_train=True, x=np.ones((2, 4)), softmax_label=[0, 2])
    run.backward()
    np.testing.assert_allclose(run.grad_dict["fc_bias"].asnumpy(), [2 / 3 - 1, 2 / 3, 2 / 3 - 1], rtol=1e-5)


class Square(mx.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        x = in_data[0]
        made = x * x if x.stype == "default" else nd.sparse.csr_matrix((x.data * x.data, x.indices, x.indptr), shape=x.shape)
        self.assign(out_data[0], req[0], made)

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        x = in_data[0]
        made = 2 * x if x.stype == "default" else nd.sparse.csr_matrix((2 * x.data, x.indices, x.indptr), shape=x.shape)
        assert in_grad[0].stype == x.stype == out_data[0].stype
        self.assign(in_grad[0], req[0], made)


@mx.operator.register("square")
class SquareProp(mx.operator.CustomOpProp):
    def infer_storage_type(self, in_stype):
        return in_stype, in_stype, []

    def infer_storage_type_backward(self, ograd_stype, in_stype, out_stype, igrad_stype, aux_stype):
        return ograd_stype, in_stype, out_stype, in_stype, []

    def create_operator(self, ctx, in_shapes, in_dtypes):
        return Square()


def test_storages():
    net = sym.Custom(sym.var("x", stype="csr"), op_type="square", name="s")
    assert net.infer_storage_type() == (["csr"], ["csr"], [])
    dense = np.array([[0, 2, 0], [3, 0, -1]], np.float32)
    run = net.simple_bind(mx.cpu(), x=dense.shape, stype_dict={"x": "csr"})
    out = run.forward(is_train=True, x=nd.array(dense).tostype("csr"))[0]
    run.backward(nd.ones(dense.shape))
    assert out.stype == run.grad_dict["x"].stype == "csr"
    assert (out.asnumpy() == dense**2).all() and (run.grad_dict["x"].asnumpy() == 2 * dense).all()
    x = nd.array(dense).tostype("csr")
    x.attach_grad()
    with autograd.record():
        y = nd.Custom(x, op_type="square")
    y.backward()
    assert y.stype == x.grad.stype == "csr" and (x.grad.asnumpy() == 2 * dense).all()


def test_a_shape_that_infer_shape_refuses():
    net = sym.Custom(sym.var("x"), op_type="affine", name="a")
    with pytest.raises(ValueError, match="weight"):
        net.simple_bind(mx.cpu(), x=(2,), a_weight=(3,))


def test_inside_of_loops():
    steps = sym.var("steps")

    def body(x, total):
        made = sym.Custom(x, sym.var("w"), sym.var("b"), steps, op_type="affine", name="a") + total
        return made, made

    out, _ = sym.contrib.foreach(body, sym.var("x"), sym.var("start"))
    run = out.simple_bind(mx.cpu(), x=(3, 2), start=(2,), w=(2,), b=(2,))
    run.forward(is_train=True, x=np.arange(6).reshape(3, 2), w=[2, 3], b=[1, 0])
    assert run.outputs[0].asnumpy().tolist() == [[1, 3], [6, 12], [15, 27]] and run.aux_dict["steps"].asscalar() == 3
    Affine.seen.clear()
    run.backward(nd.ones((3, 2)))
    assert run.grad_dict["x"].asnumpy().tolist() == [[6, 9], [4, 6], [2, 3]] and run.grad_dict["b"].asnumpy().tolist() == [6, 6]
    # The gradient runs each step's forward once more; what that writes into states is not kept.
    assert [one[0] for one in Affine.seen if one[0] == "forward"] == ["forward"] * 3 and run.aux_dict["steps"].asscalar() == 3


def test_what_nodes_keep_goes_with_them():
    class Kept(mx.operator.CustomOpProp):
        def create_operator(self, ctx, in_shapes, in_dtypes):
            op = Square()
            made.append(weakref.ref(op))
            return op

    made = []
    mx.operator.register("kept")(Kept)
    run = sym.Custom(sym.var("x"), op_type="kept").simple_bind(mx.cpu(), x=(2,))
    run.forward()
    assert made[0]() is not None
    del run
    gc.collect()
    assert made[0]() is None


def test_a_program_ends_with_nothing_left():
    program = """
import strop as mx
class Op(mx.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        self.assign(out_data[0], req[0], in_data[0])
        self.seen = run  # which keeps this object
        if is_train:
            raise Failure("here")
class Failure(LookupError):
    def said(self):
        return net
@mx.operator.register("mine")
class Prop(mx.operator.CustomOpProp):
    def create_operator(self, ctx, in_shapes, in_dtypes):
        return Op()
@mx.optimizer.register
class Mine(mx.optimizer.Optimizer):
    def update(self, index, weight, grad, state):
        net
@mx.metric.register
class Far(mx.metric.EvalMetric):
    def update(self, labels, preds):
        net
@mx.init.register
class Some(mx.init.Initializer):
    def _init_weight(self, name, arr):
        net
net = mx.sym.Custom(mx.sym.Custom(mx.sym.var("x"), op_type="mine"), op_type="mine")
run = net.simple_bind(mx.cpu(), x=(3,))
run.forward()
try:
    run.forward(is_train=True)
    print("nothing was raised")
except Failure:
    pass
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


class Softmax(mx.operator.NumpyOp):
    def __init__(self):
        super().__init__(need_top_grad=False)

    def list_arguments(self):
        return ["data", "label"]

    def infer_shape(self, in_shape):
        return [in_shape[0], in_shape[0][:1]], [in_shape[0]]

    def forward(self, in_data, out_data):
        out_data[0][:] = np.exp(in_data[0])
        out_data[0][:] /= out_data[0].sum(axis=1, keepdims=True)

    def backward(self, out_grad, in_data, out_data, in_grad):
        assert not out_grad
        in_grad[0][:] = out_data[0]
        in_grad[0][np.arange(len(in_data[1])), in_data[1].astype(int)] -= 1


class Thrice(mx.operator.NDArrayOp):
    def forward(self, in_data, out_data):
        out_data[0][:] = in_data[0] * 3

    def backward(self, out_grad, in_data, out_data, in_grad):
        assert not in_data and not out_data
        in_grad[0][:] = out_grad[0] * 3

    def declare_backward_dependency(self, out_grad, in_data, out_data):
        return out_grad


@pytest.mark.parametrize("request_, base", [("write", 0), ("add", 1)])
def test_operators_of_older_programs(request_, base):
    net = Softmax()(data=Thrice().get_symbol(sym.var("x")), name="softmax")
    assert net.list_arguments() == ["x", "softmax_label"] and net.infer_shape(x=(2, 3))[0] == [(2, 3), (2,)]
    x, gradient = nd.array([[0, 1, 0], [0, 0, 1]]), nd.ones((2, 3))
    run = net.bind(mx.cpu(), {"x": x, "softmax_label": nd.array([1, 0])}, {"x": gradient}, request_)
    wanted = np.exp(3 * x.asnumpy())
    wanted /= wanted.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(run.forward(is_train=True)[0].asnumpy(), wanted, rtol=1e-5)
    run.backward()
    wanted[[0, 1], [1, 0]] -= 1
    np.testing.assert_allclose(gradient.asnumpy(), 3 * wanted + base, rtol=1e-4)
    echo = mx.operator.NumpyOp()(sym.var("x"))  # what MXNet does where nothing is said
    run = echo.bind(mx.cpu(), [x], [gradient])
    assert run.forward(is_train=True)[0].asnumpy().tolist() == x.asnumpy().tolist()
    run.backward(x)
    assert gradient.asnumpy().tolist() == np.ones((2, 3)).tolist()
