# SPDX-License-Identifier: Apache-2.0
"""Symbols, their names and attributes, inference, and executors."""
import copy
import gc
import json
import pathlib
import pickle
import weakref

import numpy as np
import pytest

import strop as mx
from strop import nd, sym


def network():
    data = sym.Variable("data")
    hidden = sym.FullyConnected(data, num_hidden=4, name="fc1")
    return sym.FullyConnected(sym.Activation(hidden, act_type="tanh", name="act"), name="fc2", num_hidden=2)


def test_names_and_lists():
    net = network()
    assert net.name == "fc2" and repr(net) == "<Symbol fc2>"
    assert net.list_arguments() == ["data", "fc1_weight", "fc1_bias", "fc2_weight", "fc2_bias"] == net.list_inputs()
    assert net.list_outputs() == ["fc2_output"] and net.list_auxiliary_states() == []
    internals = net.get_internals()
    assert internals["fc1_output"].name == "fc1" and internals["fc1"].name == "fc1" and len(internals) == 8
    assert [s.name for s in net.get_children()] == ["act", "fc2_weight", "fc2_bias"]
    assert sym.var("x").get_children() is None
    norm = sym.BatchNorm(sym.var("x"), name="bn")
    assert norm.list_arguments() == ["x", "bn_gamma", "bn_beta"]
    assert norm.list_auxiliary_states() == ["bn_moving_mean", "bn_moving_var"]
    with pytest.raises(mx.Error):
        net["nothing"]
    with pytest.raises(IndexError):
        net[1]


def test_groups():
    a, b = sym.var("a"), sym.var("b")
    both = sym.Group([a + b, a * b])
    assert len(both) == both.num_outputs == 2 and both.name is None and both[1].list_arguments() == ["a", "b"]
    assert [s.list_outputs()[0] for s in both] == both.list_outputs()
    assert len(both[0:1]) == 1
    parts = sym.split(a, num_outputs=3, name="s")
    assert parts.list_outputs() == ["s_output0", "s_output1", "s_output2"] and parts[2].name == "s"
    with pytest.raises(TypeError):
        sym.Group([a, 3])


def test_arithmetic():
    a, b = sym.var("a"), sym.var("b")
    x, y = np.array([1.0, 2, 3], "f4"), np.array([3.0, 2, 2], "f4")
    cases = [(a + b, x + y), (a - b, x - y), (a * b, x * y), (a / b, x / y), (a**b, x**y), (a % b, x % y), (a + 1, x + 1), (1 - a, 1 - x), (2 / a, 2 / x),
             (2**a, 2**x), (7 % a, 7 % x), (-a, -x), (abs(-a), x), (a == b, x == y), (a > b, x > y), (a <= 2, x <= 2), (sym.maximum(a, b), np.maximum(x, y)),
             (sym.minimum(2, a), np.minimum(2, x)), (sym.pow(a, 2), x**2), (a.exp(), np.exp(x)), (a.sum(axis=0), [x.sum()]), (a.reshape((3, 1)), x[:, None])]
    for symbol, want in cases:
        given = {name: nd.array(value) for name, value in (("a", x), ("b", y)) if name in symbol.list_arguments()}
        np.testing.assert_allclose(symbol.eval(**given)[0].asnumpy(), want, rtol=1e-5)
    with pytest.raises(TypeError):
        bool(a == b)
    with pytest.raises(TypeError):
        a + "text"


def test_automatic_names():
    with mx.name.NameManager():
        assert sym.relu(sym.var("x")).name == "relu0" and sym.relu(sym.var("x")).name == "relu1"
        assert sym.FullyConnected(sym.var("x"), num_hidden=1).list_arguments()[1] == "fullyconnected0_weight"
        with mx.name.Prefix("stage_"):
            assert sym.relu(sym.var("x")).name == "stage_relu0" and sym.relu(sym.var("x"), name="mine").name == "stage_mine"
        assert sym.relu(sym.var("x")).name == "relu2"
        x = sym.var("x")
        assert [(x + x).name, (x + 1).name, (1 - x).name, (-x).name, sym.maximum(x, 2).name] == ["_plus0", "_plusscalar0", "_rminusscalar0", "_mulscalar0", "_maximumscalar0"]
    with pytest.raises(TypeError):
        sym.relu(sym.var("x"), name=3)


def test_attributes():
    with mx.AttrScope(ctx_group="stage1"):
        x = sym.var("x", attr={"mood": "good"}, lr_mult=2)
        with mx.AttrScope(__more__="yes"):
            y = sym.FullyConnected(x, num_hidden=3, name="fc")
    assert x.attr("ctx_group") == "stage1" and x.attr("mood") == "good" and x.attr("__lr_mult__") == "2" and x.attr("nothing") is None
    assert y.attr("ctx_group") == "stage1" and y.attr("__more__") == "yes" and y.attr("num_hidden") == "3"
    attributes = y.attr_dict()
    assert attributes["fc"] == {"num_hidden": "3", "__ctx_group__": "stage1", "ctx_group": "stage1", "__more__": "yes"} == y.list_attr()
    assert attributes["fc_weight"]["__ctx_group__"] == "stage1"
    assert sym.relu(sym.var("z")).attr("ctx_group") is None
    z = sym.Convolution(sym.var("d"), kernel=(1, 1), num_filter=1, name="conv", lr_mult=0.5, __mine__="x", attr={"mood": "so so"})
    assert z.attr("lr_mult") == z.attr("__lr_mult__") == "0.5" and z.attr("__mine__") == "x" and z.attr("mood") == "so so"
    assert z.attr_dict()["conv_bias"]["__lr_mult__"] == "0.5" and z.list_attr()["lr_mult"] == "0.5"
    with pytest.raises(TypeError, match="lr_mult"):
        nd.relu(nd.ones((1,)), lr_mult=1)
    assert nd.relu(nd.ones((1,)), __mine__=1).asscalar() == 1
    with pytest.raises(ValueError):
        mx.AttrScope(a=1)
    with pytest.raises(ValueError):
        sym.var("x", wrong=1)


def test_parameters_are_listed_as_they_were_given():
    """The texts are those of MXNet 1.9.1; what was not given is not listed."""
    x = sym.var("x")
    assert sym.FullyConnected(x, num_hidden=3).attr("no_bias") is None and sym.FullyConnected(x, num_hidden=3, no_bias=False).attr("no_bias") == "False"
    for made, texts in ((sym.sum(x, axis=None), {"axis": "None"}), (sym.sum(x, axis=(0, 1), keepdims=1), {"axis": "(0, 1)", "keepdims": "1"}),
                        (sym.reshape(x, shape=[0, -1]), {"shape": "[0, -1]"}), (x.reshape((0, -1)), {"shape": "(0, -1)"}), (abs(x), {}),
                        (x * 2.0, {"scalar": "2.0"}), (x * 2, {"scalar": "2"}), (x * np.float32(2), {"scalar": "2.0"}), (-x, {"scalar": "-1.0"}),
                        (sym.clip(x, 0, 1), {"a_min": "0", "a_max": "1"}), (sym.Cast(x, dtype=np.float16), {"dtype": "float16"}),
                        (sym.zeros((2, 3)), {"shape": "(2, 3)", "dtype": "float32"}), (sym.concat(x, x), {"num_args": "2"}),
                        (sym.split_v2(x, 2), {"sections": "2", "squeeze_axis": "False", "axis": "0", "indices": "[]"}),
                        (sym.slice(x, begin=(0, None), end=(1, 2)), {"begin": "(0, None)", "end": "(1, 2)"})):
        assert made.list_attr() == texts


def test_inputs_made_by_themselves_say_what_their_operator_says():
    net = sym.LeakyReLU(sym.BatchNorm(sym.var("x"), eps=0.01, name="bn"), act_type="prelu", name="pr")
    assert net.attr_dict() == {
        "bn": {"eps": "0.01"}, "bn_gamma": {"eps": "0.01"}, "bn_beta": {"eps": "0.01"}, "pr": {"act_type": "prelu"},
        "bn_moving_mean": {"__init__": '["zero", {}]', "eps": "0.01"}, "bn_moving_var": {"__init__": '["one", {}]', "eps": "0.01"},
        "pr_gamma": {"__init__": '["Constant", {"value": 0.25}]', "act_type": "prelu"}}
    slope = nd.zeros((1,))
    mx.init.Xavier()(mx.init.InitDesc("pr_gamma", net.attr_dict()["pr_gamma"]), slope)
    assert slope.asscalar() == 0.25


def test_variables_of_a_program_begin_as_their_operator_says():
    """As in MXNet, where they do not say themselves how, and as variables that an old file has."""
    slope, mean, spread, own = sym.var("slope"), sym.var("mean"), sym.var("spread"), sym.var("own", init=mx.init.One())
    net = sym.BatchNorm(sym.LeakyReLU(sym.var("x"), slope, act_type="prelu"), sym.var("g"), sym.var("b"), mean, spread, name="bn")
    assert slope.attr("__init__") == '["Constant", {"value": 0.25}]' and mean.attr("__init__") == '["zero", {}]' and spread.attr("__init__") == '["one", {}]'
    assert "g" not in net.attr_dict() and sym.load_json(net.tojson()).attr_dict()["slope"] == {"__init__": '["Constant", {"value": 0.25}]'}
    assert sym.LeakyReLU(sym.var("x"), gamma=own, act_type="prelu").attr_dict()["own"]["__init__"] == '["one", {}]'
    synchronous = sym.contrib.SyncBatchNorm(sym.var("x"), sym.var("g"), sym.var("b"), sym.var("m"), sym.var("v"), key="k").attr_dict()
    assert synchronous["m"] == {"__init__": '["zero", {}]'} and synchronous["v"] == {"__init__": '["one", {}]'}
    arrays = {name: nd.zeros((2,)) for name in ("slope", "spread")}
    for name, a in arrays.items():
        mx.init.Xavier()(mx.init.InitDesc(name, net.attr_dict()[name]), a)
    assert arrays["slope"].asnumpy().tolist() == [0.25, 0.25] and arrays["spread"].asnumpy().tolist() == [1, 1]
    nodes = [{"op": "null", "param": {}, "name": name, "inputs": [], "backward_source_id": -1} for name in ("x", "p_gamma")]
    nodes.append({"op": "LeakyReLU", "param": {"act_type": "prelu"}, "name": "p", "inputs": [[0, 0], [1, 0]], "backward_source_id": -1})
    old = {"nodes": nodes, "arg_nodes": [0, 1], "heads": [[2, 0]]}
    assert sym.load_json(json.dumps(old)).attr_dict()["p_gamma"] == {"__init__": '["Constant", {"value": 0.25}]'}
    assert "p_gamma" not in sym.load_json(json.dumps({**old, "attrs": {"mxnet_version": ["int", 10700]}})).attr_dict()


def test_a_symbol_is_written_as_mxnet_writes_it():
    folder = pathlib.Path(__file__).parent.parent / "ops" / "symbols"
    source, here = (folder / "make.py").read_text(), {"mx": mx, "np": np}
    start = source.index("def stated():")
    exec(source[start : source.index("def classifier():")], here)  # pylint: disable=exec-used
    with mx.name.NameManager():
        text = here["stated"]().tojson()
    assert text == (folder / "stated.json").read_text().replace('["int", 10901]', '["int", 10700]')


def test_composition():
    inner = sym.FullyConnected(sym.var("data"), num_hidden=2, name="fc")
    outer = inner(data=sym.relu(sym.var("x"), name="r"))
    assert outer.list_arguments() == ["x", "fc_weight", "fc_bias"] and inner.list_arguments()[0] == "data"
    assert inner(sym.var("y")).list_arguments()[0] == "y"
    named = inner(data=sym.var("y"), name="composed")
    assert named.name == "composed" and named.list_outputs() == ["composed_output"] and inner.name == "fc"
    assert sym.Group([named, inner]).list_arguments() == ["y", "fc_weight", "fc_bias", "data"]  # the weights are shared
    with pytest.raises(TypeError):
        inner(data=nd.ones((1,)))
    with pytest.raises(TypeError):
        sym.relu(nd.ones((1,)))
    with pytest.raises(TypeError):
        sym.broadcast_add(sym.var("a"), nd.ones((1,)))
    assert mx.relu(sym.var("x")).list_arguments() == ["x"]  # at the top level: of both


def test_inference():
    net = network()
    arguments, outputs, states = net.infer_shape(data=(5, 3))
    assert arguments == [(5, 3), (4, 3), (4,), (2, 4), (2,)] and outputs == [(5, 2)] and states == []
    assert net.infer_shape((5, 3))[1] == [(5, 2)]
    assert net.infer_shape() == (None, None, None)
    assert net.infer_shape_partial()[0][1] == ()
    assert sym.var("x", shape=(2, 3)).infer_shape()[0] == [(2, 3)]
    with pytest.raises(mx.Error):
        net.infer_shape(data=(5, 3), fc1_weight=(7, 7))
    declared = sym.elemwise_add(sym.var("a", shape=(2, 3), dtype="float16"), sym.var("b"))
    assert declared.infer_shape(a=(5, 6))[0] == [(5, 6)] * 2 and declared.infer_type(a="float64")[1] == [np.float64]  # what is given counts
    run = declared.simple_bind(mx.cpu(), type_dict={"a": "float32"}, a=(5, 6))
    assert run.arg_dict["b"].shape == (5, 6) and run.arg_dict["a"].dtype == np.float32
    assert run.reshape(allow_up_sizing=True, a=(9, 3), b=(9, 3)).forward()[0].shape == (9, 3)
    assert declared.bind(mx.cpu(), [nd.ones((4,)), nd.ones((4,))]).forward()[0].asnumpy().tolist() == [2] * 4
    parts = sym.split(sym.var("a", shape=(0, 6)), num_outputs=6, axis=1, squeeze_axis=True)
    assert (parts[1] + sym.var("b", shape=(5,))).infer_shape()[0] == [(5, 6), (5,)]  # from any of the parts
    types = net.infer_type(data="float64")
    assert types[0] == [np.float64] * 5 and types[1] == [np.float64]
    storages = sym.dot(sym.var("a"), sym.var("b")).infer_storage_type(a="csr")
    assert storages[0] == ["csr", "default"] and storages[1] == ["default"]


def test_text_and_files(tmp_path):
    net = network()
    assert json.loads(net.tojson())["nodes"][0]["name"] == "data"
    path = str(tmp_path / "net.json")
    net.save(path)
    for back in (sym.load(path), sym.load_json(net.tojson()), pickle.loads(pickle.dumps(net)), copy.deepcopy(net)):
        assert back.tojson() == net.tojson()
    with pytest.raises(mx.Error):
        sym.load_json("{}")
    with pytest.raises(mx.Error):
        sym.load(str(tmp_path / "none.json"))


def test_bind(rng):
    x, w = rng.normal(size=(3, 4)).astype("f4"), rng.normal(size=(2, 4)).astype("f4")
    net = sym.FullyConnected(sym.var("x"), sym.var("w"), num_hidden=2, no_bias=True)
    arrays = [nd.array(x), nd.array(w)]
    grads = [nd.zeros((3, 4)), nd.zeros((2, 4))]
    run = net.bind(mx.cpu(), arrays, grads)
    np.testing.assert_allclose(run.forward(is_train=True)[0].asnumpy(), x @ w.T, rtol=1e-5)
    head = rng.normal(size=(3, 2)).astype("f4")
    run.backward(nd.array(head))
    np.testing.assert_allclose(grads[0].asnumpy(), head @ w, rtol=1e-5)
    np.testing.assert_allclose(run.grad_dict["w"].asnumpy(), head.T @ x, rtol=1e-5)
    run.backward([nd.array(2 * head), nd.ones((7,))])  # there is one output
    np.testing.assert_allclose(grads[0].asnumpy(), 2 * head @ w, rtol=1e-5)
    np.testing.assert_allclose(run.forward(x=x * 2)[0].asnumpy(), 2 * x @ w.T, rtol=1e-5)
    assert run.arg_dict["w"].shape == (2, 4) and run.outputs[0].shape == (3, 2) and list(run.output_dict) == net.list_outputs()
    with pytest.raises(mx.Error):
        net.bind(mx.cpu(), {"x": nd.array(x)})
    with pytest.raises(ValueError):
        net.bind(mx.cpu(), [nd.array(x)])
    for value in (x, nd.array(x)):
        with pytest.raises(TypeError):
            run.forward(nothing=value)


def test_gradient_requests():
    net = sym.var("a") * sym.var("b")
    a, b = nd.array([2.0]), nd.array([3.0])
    grads = {"a": nd.ones((1,)), "b": nd.ones((1,))}
    run = net.bind(mx.cpu(), {"a": a, "b": b}, grads, {"a": "add", "b": "write"})
    for _ in range(2):
        run.forward(is_train=True)
        run.backward(nd.ones((1,)))
    assert grads["a"].asscalar() == 7 and grads["b"].asscalar() == 2
    run = net.bind(mx.cpu(), {"a": a, "b": b}, {"b": grads["b"]}, ["null", "write"])
    run.forward(is_train=True)
    run.backward([nd.ones((1,))])
    assert run.grad_dict["a"] is None and grads["b"].asscalar() == 2
    with pytest.raises(ValueError):
        net.bind(mx.cpu(), {"a": a, "b": b}, grads, "sometimes")


@pytest.mark.parametrize("own, other", [("float32", "float64"), ("float32", "float16"), ("float64", "float32"), ("float16", "float32"), ("float32", "bfloat16")])
def test_gradients_go_into_buffers_of_other_floating_types(own, other):
    """What is computed in the argument's type is cast, or added in that of the buffer."""
    x = nd.array([[1, 2], [3, 4]], dtype=own)
    net = sym.square(sym.var("x")) * 3
    for request, before, want in (("write", 5, 6), ("add", 1, 7)):
        grad = nd.full((2, 2), before, dtype=other)
        run = net.bind(mx.cpu(), {"x": x}, {"x": grad}, request)
        run.forward(is_train=True)
        run.backward(nd.ones((2, 2), dtype=own))
        assert grad.dtype is run.grad_dict["x"].dtype is nd.zeros((1,), dtype=other).dtype
        np.testing.assert_array_equal(grad.astype("float64").asnumpy(), [[want, want + 6], [want + 12, want + 18]])
        run.forward(is_train=True)
        run.backward(nd.ones((2, 2), dtype=own))
        assert grad.astype("float64").asnumpy()[0, 0] == (want if request == "write" else want + 6)
    shared = nd.zeros((2, 2), dtype=other)  # of two arguments
    run = (sym.var("a") * sym.var("b")).bind(mx.cpu(), {"a": x, "b": x * 2}, {"a": shared, "b": shared}, "add")
    run.forward(is_train=True)
    run.backward(nd.ones((2, 2), dtype=own))
    np.testing.assert_array_equal(shared.astype("float64").asnumpy(), [[3, 6], [9, 12]])
    for wrong in ("int32", "int64"):
        with pytest.raises(ValueError, match=f"bind: the gradient of 'x' is {wrong}"):
            net.bind(mx.cpu(), {"x": x}, {"x": nd.zeros((2, 2), dtype=wrong)})
    if "bfloat16" not in (own, other):
        rows = nd.sparse.zeros("row_sparse", (4, 2), dtype=other)
        net = sym.Embedding(sym.var("i"), sym.var("w"), input_dim=4, output_dim=2, sparse_grad=True)
        run = net.bind(mx.cpu(), {"i": nd.array([1, 1, 3]), "w": nd.ones((4, 2), dtype=own)}, {"w": rows}, {"i": "null", "w": "write"})
        run.forward(is_train=True)
        run.backward(nd.ones((3, 2), dtype=own))
        assert rows.dtype is nd.zeros((1,), dtype=other).dtype and rows.asnumpy().tolist() == [[0, 0], [2, 2], [0, 0], [1, 1]]


def test_what_mxnet_lets_pass():
    a, b = sym.var("data"), sym.var("data")  # two variables of one name, by position
    grads = [nd.zeros((2,)), nd.zeros((2,))]
    run = (sym.maximum(a, b) * 3).bind(mx.cpu(), [nd.array([1.0, 5]), nd.array([2.0, 4])], grads)
    run.backward(nd.ones((2,)))  # without forward before
    assert [g.asnumpy().tolist() for g in grads] == [[0, 3], [3, 0]] and run.outputs[0].asnumpy().tolist() == [6, 15]
    run = sym.relu(sym.var("x")).bind(mx.cpu(), {"x": nd.ones((2,)), "other": None}, None, {"x": "null", "other": "write"})
    run.forward(is_train=True)
    run.backward(nd.ones((2,)))  # nothing asks for a gradient
    assert run._ctx == mx.cpu() and "MB allocated" in run.debug_str()


def test_training(rng):
    x = rng.normal(size=(64, 2)).astype("f4")
    label = (x[:, 0] * x[:, 1] > 0).astype("f4")
    net = sym.SoftmaxOutput(sym.FullyConnected(sym.Activation(sym.FullyConnected(sym.var("data"), num_hidden=16, name="fc1"), act_type="tanh"), num_hidden=2, name="fc2"), name="softmax")
    run = net.simple_bind(mx.cpu(), data=x.shape, softmax_label=label.shape, grad_req={n: "null" if n in ("data", "softmax_label") else "write" for n in net.list_arguments()})
    for name, array in run.arg_dict.items():
        if name.endswith("weight"):
            array[:] = rng.normal(size=array.shape) * 0.5
    run.copy_params_from({"data": nd.array(x), "softmax_label": nd.array(label)})
    for _ in range(300):
        run.forward(is_train=True)
        run.backward()
        for name, array in run.arg_dict.items():
            if run.grad_dict[name] is not None:
                nd.sgd_update(array, run.grad_dict[name], lr=0.5, rescale_grad=1 / 64, out=array)
    assert (run.forward()[0].asnumpy().argmax(1) == label).mean() > 0.9
    with pytest.raises(ValueError):
        run.copy_params_from({"other": nd.ones((1,))})


def test_states_are_written():
    net = sym.BatchNorm(sym.var("x"), fix_gamma=False, momentum=0.5, name="bn")
    run = net.simple_bind(mx.cpu(), x=(4, 3))
    run.arg_dict["x"][:] = np.arange(12).reshape(4, 3)
    run.arg_dict["bn_gamma"][:] = 1
    run.aux_dict["bn_moving_var"][:] = 1
    run.forward(is_train=True)
    np.testing.assert_allclose(run.outputs[0].asnumpy().mean(0), 0, atol=1e-5)
    run.forward(is_train=False)
    assert (run.aux_dict["bn_moving_mean"].asnumpy() != 0).any()


def small_net():
    hidden = sym.Activation(sym.FullyConnected(sym.var("data"), num_hidden=4, name="fc"), act_type="tanh", name="act")
    return sym.sum(hidden, axis=1, name="total")


def filled(run, rng):
    run.copy_params_from({name: nd.array(rng.normal(size=array.shape)) for name, array in run.arg_dict.items()})
    return run


def test_a_monitor_sees_every_node(rng):
    run = filled(small_net().simple_bind(mx.cpu(), data=(3, 2)), rng)
    expected = run.forward(is_train=True)[0].asnumpy()
    seen = {}
    run.set_monitor_callback(seen.__setitem__)
    np.testing.assert_array_equal(run.forward(is_train=True)[0].asnumpy(), expected)
    assert list(seen) == ["fc_output", "act_output", "total_output"]
    np.testing.assert_allclose(seen["act_output"].asnumpy(), np.tanh(seen["fc_output"].asnumpy()), rtol=1e-5)
    run.backward(nd.ones((3,)))
    np.testing.assert_array_equal(seen["fc_backward_weight"].asnumpy(), run.grad_dict["fc_weight"].asnumpy())
    names = []
    run.set_monitor_callback(lambda name, array: names.append(name), monitor_all=True)
    run.forward()
    assert names == ["data", "fc_data", "fc_weight", "fc_weight", "fc_bias", "fc_bias", "fc_output", "act_data", "act_output", "total_data", "total_output"]
    run.set_monitor_callback(lambda name, array: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        run.forward()
    run.set_monitor_callback(None)
    np.testing.assert_array_equal(run.forward(is_train=True)[0].asnumpy(), expected)
    with pytest.raises(TypeError):
        run.set_monitor_callback("print")
    # An executor whose monitor holds it goes all the same.
    run.set_monitor_callback(lambda name, array, run=run: None)
    gone = weakref.ref(run._monitor)
    del run
    gc.collect()
    assert gone() is None


def test_executors_share_memory(rng):
    net = small_net()
    run = filled(net.simple_bind(mx.cpu(), data=(6, 2)), rng)
    names = ["fc_weight", "fc_bias"]
    other = net.simple_bind(mx.cpu(), data=(3, 2), shared_exec=run, shared_arg_names=names)
    third = run.reshape(data=(2, 2))
    for small in (other, third):
        small.arg_dict["data"][:] = run.arg_dict["data"][: small.arg_dict["data"].shape[0]]
        whole = run.forward(is_train=True)[0].asnumpy()
        part = small.forward(is_train=True)[0].asnumpy()
        np.testing.assert_allclose(part, whole[: len(part)], rtol=1e-5)
        run.backward(nd.ones((6,)))
        full = run.grad_dict["data"].asnumpy()
        small.backward(nd.ones((len(part),)))
        np.testing.assert_allclose(small.grad_dict["data"].asnumpy(), full[: len(part)], rtol=1e-5)
        np.testing.assert_array_equal(run.grad_dict["fc_bias"].asnumpy(), small.grad_dict["fc_bias"].asnumpy())
    with pytest.raises(mx.Error):
        run.reshape(fc_weight=(5, 2))
    assert run.reshape(partial_shaping=True, allow_up_sizing=True, data=(2, 3)).arg_dict["fc_weight"].shape == (4, 3)
    with pytest.raises(TypeError):
        net.simple_bind(mx.cpu(), data=(3, 2), shared_exec=1)
    with pytest.raises(ValueError):
        net.simple_bind(mx.cpu(), data=(3, 2), shared_arg_names=names)


def test_groups_have_devices(rng):
    with mx.AttrScope(ctx_group="first"):
        hidden = sym.FullyConnected(sym.var("data"), num_hidden=4, name="fc")
    with mx.AttrScope(ctx_group="second"):
        net = sym.Activation(hidden, act_type="tanh", name="act")
    groups = {"first": mx.cpu(1), "second": mx.cpu(2)}
    run = filled(net.simple_bind(mx.cpu(), data=(3, 2), group2ctx=groups), rng)
    assert run.arg_dict["fc_weight"].context == mx.cpu(1) and run.outputs[0].context == mx.cpu(2)
    out = run.forward(is_train=True)[0].asnumpy()
    np.testing.assert_allclose(out, np.tanh(run.arg_dict["data"].asnumpy() @ run.arg_dict["fc_weight"].asnumpy().T + run.arg_dict["fc_bias"].asnumpy()), rtol=1e-4)
    run.backward(nd.ones((3, 4), ctx=mx.cpu(2)))
    np.testing.assert_allclose(run.grad_dict["fc_bias"].asnumpy(), (1 - out**2).sum(0), rtol=1e-3)
    given = {name: array.copyto(mx.cpu()) for name, array in run.arg_dict.items()}
    np.testing.assert_array_equal(net.bind(mx.cpu(), given, group2ctx=groups).forward()[0].asnumpy(), out)


def test_branches_lie_side_by_side(rng):
    data = sym.var("data")
    branches = [data, data]
    for layer in range(4):
        branches = [sym.FullyConnected(b, num_hidden=8, name=f"fc{layer}{k}") for k, b in enumerate(branches)]
    net = branches[0] * branches[1]
    run = filled(net.simple_bind(mx.cpu(), data=(4, 8)), rng)
    apart = net.bind(mx.cpu(), run.arg_dict, side_by_side=True)
    np.testing.assert_array_equal(apart.forward()[0].asnumpy(), run.forward()[0].asnumpy())
    bytes_of = lambda **how: net.simple_bind(mx.cpu(), grad_req="null", data=(4, 8), **how)._planned_bytes
    assert bytes_of(side_by_side=True) > bytes_of()
    assert apart.reshape(data=(2, 8)).forward()[0].shape == (2, 8)


def test_attributes_are_called_as_one_likes():
    with mx.AttrScope(storage="disk"):
        a = mx.sym.var("a", attr={"dtype": "words"}, shape=(2,))
    assert (a.attr("dtype"), a.attr("storage")) == ("words", "disk") and (a + 1).infer_shape()[1] == [(2,)]


def test_a_symbol_is_no_array():
    for what in (bool, mx.sym.Symbol.asnumpy, mx.sym.Symbol.wait_to_read):
        with pytest.raises(mx.base.NotImplementedForSymbol):
            what(mx.sym.var("a"))
    with pytest.raises(ValueError):
        mx.sym.relu(mx.sym.var("a")).infer_shape(nothing=(2,))


def _same_on_arrays(build, **values):
    """A function of nd or sym modules, on arrays with the tape and as a bound symbol: results and gradients."""
    arrays = {name: mx.nd.array(value) for name, value in values.items()}
    for a in arrays.values():
        a.attach_grad()
    with mx.autograd.record():
        expected = build(mx.nd, arrays)
    mx.autograd.backward(expected, [mx.nd.ones(a.shape) for a in expected])
    net = mx.sym.Group(build(mx.sym, {name: mx.sym.var(name) for name in values}))
    for one in (net, mx.sym.load_json(net.tojson())):
        grads = {name: mx.nd.zeros(a.shape) for name, a in arrays.items()}
        run = one.bind(mx.cpu(), {name: mx.nd.array(value) for name, value in values.items()}, grads)
        for found, wanted in zip(run.forward(is_train=True), expected):
            np.testing.assert_allclose(found.asnumpy(), wanted.asnumpy(), rtol=1e-5)
        run.backward([mx.nd.ones(a.shape) for a in expected])
        for name, a in arrays.items():
            np.testing.assert_allclose(grads[name].asnumpy(), a.grad.asnumpy(), rtol=1e-5)
    return net


def test_foreach_with_nested_lists_and_a_weight_from_outside():
    def build(nd, v):
        w = v["w"] * 2

        def body(x, states):
            first, (second,) = states
            out = x[0] * w + first
            return [out, [x[1]]], [out, [second + out]]

        (outs, [passed]), (last, [total]) = nd.contrib.foreach(body, [v["a"], v["b"]], [v["s"], [v["t"]]])
        return [outs, passed, last, total]

    net = _same_on_arrays(build, a=[[1, 2], [3, -4], [0.5, 1]], b=[[1, 2], [3, 4], [5, 6]], s=[1, 2], t=[0, 1], w=[0.5, -1])
    assert net.list_outputs()[0].startswith("_foreach") and net.list_outputs()[0].endswith("_output0")
    assert sorted(net.list_arguments()) == ["a", "b", "s", "t", "w"]


def test_while_loop_and_cond():
    def build(nd, v):
        outs, (i, total) = nd.contrib.while_loop(
            lambda i, s: nd.sum(i) <= 3, lambda i, s: ([i * v["w"], s], [i + 1, s + i]), (v["i"], v["s"]), max_iterations=6)
        picked = nd.contrib.cond(nd.sum(v["s"]) < 2, lambda: [total * v["w"]], lambda: [total])
        return [*outs, i, total, picked[0]]

    _same_on_arrays(build, i=[1.0], s=[0.5], w=[2.0])
    _same_on_arrays(build, i=[1.0], s=[2.5], w=[2.0])


def test_what_is_left_to_be_known():
    x, y = sym.var("x"), sym.var("y")
    assert sym.FullyConnected(sym.Cast(x, dtype="float32"), num_hidden=3).infer_type_partial() == ([None, *[np.float32] * 2], [np.float32], [])
    assert (x + y).infer_type_partial() == ([None, None], [None], []) and (x + y).infer_type_partial(x="float16")[1] == [np.float16]
    net = sym.FullyConnected(x, None, y, num_hidden=3, name="f")  # None is an input that becomes a variable
    assert net.list_arguments() == ["x", "f_weight", "y"] and sym.where(x, None, y, name="w").list_arguments() == ["x", "w_x", "y"]
    with pytest.raises(TypeError, match="NoneType"):
        nd.FullyConnected(nd.ones((1, 2)), None, nd.ones((3,)), num_hidden=3)


def test_casts_at_heads_stay_in_files():
    net = sym.amp_cast(sym.exp(sym.amp_cast(sym.var("x"), dtype="float16"), name="e"), dtype="float32", name="c")
    loaded = sym.load_json(net.tojson())
    assert loaded.list_outputs() == ["c_output"] and loaded.get_internals().list_outputs() == ["x", "e_output", "c_output"]


def test_loops_in_loops_and_what_they_refuse():
    def build(nd, v):
        def row(x, s):
            return nd.contrib.foreach(lambda e, t: (e * t, t + e * v["w"]), x, s)

        outs, last = nd.contrib.foreach(row, v["x"], v["s"])
        return [outs, last]

    _same_on_arrays(build, x=[[1, 2, 3], [4, 5, 6]], s=[1.0], w=[0.25])
    x = mx.sym.var("x")
    with pytest.raises(mx.MXNetError, match="the body returns 0 states, expected 1"):
        mx.sym.contrib.foreach(lambda e, s: (e, []), x, x)
    with pytest.raises(AssertionError):  # a state that the body leaves out
        mx.sym.contrib.foreach(lambda e, s: (e, [x]), x, [mx.sym.var("s")])[0].tojson()
    with pytest.raises(ValueError, match="max_iterations has to be given"):
        mx.sym.contrib.while_loop(lambda s: s, lambda s: (s, s), x)
    with pytest.raises(mx.MXNetError, match="one branch has 1 output and the other 2"):
        mx.sym.contrib.cond(x, lambda: [x], lambda: [x, x])


@pytest.mark.parametrize("dtype", ["int32", "int64", "int8", "uint8"])
def test_gradients_of_integers(dtype):
    a, b = sym.var("a"), sym.var("b")
    x, y = np.array([1, 2, 3], dtype), np.array([2, 4, 5], dtype)
    for net, of_a, of_b in ((a + b, [3, 3, 3], [3, 3, 3]), (a * b, 3 * y, 3 * x), (sym.square(a), 6 * x, None), (sym.sum(a), [3, 3, 3], None), (sym.max(a), [0, 0, 3], None),
                            (sym.prod(a), [18, 9, 6], None), (sym.tile(a, reps=(2,)), [6, 6, 6], None), (sym.concat(a, b, dim=0), [3, 3, 3], [3, 3, 3]),
                            (sym.slice(a, begin=1, end=3), [0, 3, 3], None), (sym.where(a > 1, a, b), [0, 3, 3], [3, 0, 0]), (a * b + a, 3 * y + 3, 3 * x),
                            (sym.cast(a, dtype="float32") * 1.7, [5, 5, 5], None), (sym.broadcast_mul(sym.reshape(a, shape=(3, 1)), b), [33, 33, 33], [18, 18, 18])):
        names = net.list_arguments()
        for request in ("write", "add"):
            run = net.simple_bind(mx.cpu(), grad_req=request, type_dict=dict.fromkeys(names, dtype), **dict.fromkeys(names, (3,)))
            out = run.forward(is_train=True, **{name: nd.array(x if name == "a" else y, dtype=dtype) for name in names})[0]
            for _ in range(2):
                run.backward(nd.full(out.shape, 3, dtype=out.dtype))
            for name, expected in (("a", of_a), ("b", of_b)):
                if name in names:
                    found, times = run.grad_dict[name], 2 if request == "add" else 1
                    assert found.dtype is np.dtype(dtype).type and found.asnumpy().tolist() == [int(v) * times for v in expected], (net.name, name)
    given = nd.zeros((3,), dtype=dtype)  # arrays of one's own
    run = (a * b).bind(mx.cpu(), [nd.array(x, dtype=dtype), nd.array(y, dtype=dtype)], {"b": given})
    run.forward(is_train=True)
    run.backward(nd.array([1, 10, 2], dtype=dtype))
    assert given.asnumpy().tolist() == [1, 20, 6]


def test_gradients_beside_integers():
    net = sym.Embedding(sym.var("i"), sym.var("w"), input_dim=3, output_dim=2)
    run = net.simple_bind(mx.cpu(), i=(2,), type_dict={"i": "int32"})
    run.forward(is_train=True, i=[0, 2])
    run.backward(nd.ones((2, 2)))
    assert run.grad_dict["i"].asnumpy().tolist() == [0, 0] and run.grad_dict["w"].asnumpy().tolist() == [[1, 1], [0, 0], [1, 1]]
    net = sym.BlockGrad(sym.one_hot(sym.var("i"), depth=3)) * sym.var("w")
    run = net.simple_bind(mx.cpu(), i=(2,), w=(2, 3), type_dict={"i": "int64"})
    run.forward(is_train=True, i=[0, 2], w=np.ones((2, 3)))
    run.backward(nd.ones((2, 3)))
    assert run.grad_dict["w"].asnumpy().tolist() == [[1, 0, 0], [0, 0, 1]]


def test_unknown_shapes_are_named():
    with pytest.warns(UserWarning, match="infer_shape: the shapes of x do not follow"):
        assert (sym.var("x") + 1).infer_shape() == (None, None, None)


def test_copies_are_deep():
    x = sym.var("x")
    y = sym.relu(x, name="y")
    z = copy.copy(y)
    z._set_attr(mood="good")
    assert y.attr("mood") is None and z.attr("mood") == "good"


def test_a_node_alone():
    net = sym.FullyConnected(sym.relu(sym.var("x")), num_hidden=3, no_bias=True, attr={"__mood__": "good"})
    alone = net._gen_atomic_symbol()
    assert alone.attr("num_hidden") == "3" and alone.attr("__mood__") == "good" and len(alone.list_arguments()) == 2 and len(alone.get_internals()) == 3
    assert len(sym.split(sym.var("x"), num_outputs=3)._gen_atomic_symbol()) == 3
    with pytest.raises(mx.Error, match="has no operator"):
        sym.var("x")._gen_atomic_symbol()


def test_head_gradients_of_other_devices():
    with mx.AttrScope(ctx_group="second"):
        net = sym.var("x") * 3
    run = net.simple_bind(mx.cpu(0), group2ctx={"second": mx.cpu(1)}, x=(2,))
    run.forward(is_train=True, x=nd.ones((2,)))
    run.backward(nd.array([1, 2], mx.cpu(0)))
    assert run.grad_dict["x"].context == mx.cpu(1) and run.grad_dict["x"].asnumpy().tolist() == [3, 6]
