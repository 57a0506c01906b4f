# SPDX-License-Identifier: Apache-2.0
"""What scripts of MXNet import and expect by its names."""
import copy
import subprocess
import sys
import types
import warnings

import numpy as np
import pytest

import strop as mx
from strop import autograd, nd, sym


def test_imports():
    space = {}
    exec("import strop.ndarray as nd\nfrom strop.ndarray import zeros_like, NDArray\nfrom strop.ndarray.sparse import CSRNDArray\nimport strop.optimizer as opt\n"
         "from strop.symbol.symbol import Symbol\nfrom strop.test_utils import *\nfrom strop.autograd import *\nfrom strop.base import MXNetError, py_str, data_dir, _as_list\n"
         "from strop import gluon\nfrom strop.contrib.autograd import train_section\nimport strop.contrib.symbol\nfrom strop.contrib.ndarray import box_iou\nfrom strop.util import getenv", space)
    assert space["mx"] is mx and space["np"] is np
    for name in ("NDArray", "record", "grad", "same", "rand_ndarray", "assert_almost_equal", "discard_stderr", "check_numeric_gradient", "verify_generator", "os", "sys"):
        assert name in space
    assert mx.contrib.nd is nd.contrib and mx.contrib.sym is sym.contrib
    for gone in ("monitor", "np", "profiler"):
        with pytest.raises(AttributeError, match="left out"):
            getattr(mx, gone)
    from strop.gluon import block, nn  # a file that begins so has tests without them
    from strop.test_utils import use_np
    from strop.util import _NumpyArrayScope

    with pytest.raises(AttributeError, match="left out"):
        nn.Dense(3)

    @use_np
    def of_the_namespace(x):
        return x

    assert mx.use_np is mx.util.use_np is use_np and of_the_namespace.__name__ == "of_the_namespace"
    for left_out in (block, of_the_namespace, use_np(type("Block", (), {})), mx.np_array().__enter__):
        with pytest.raises(NotImplementedError, match="left out"):
            left_out()
    with mx.np_array(False):
        assert not mx.is_np_array()
    assert _NumpyArrayScope(True)._is_np_array
    with pytest.raises(NotImplementedError, match="left out"):
        isinstance(3, block)
    with pytest.raises(NotImplementedError, match="left out"):
        class Net(nn):
            pass
    assert not hasattr(copy.copy(block), "__len__")


def test_the_history_as_a_symbol():
    x, z = nd.array([2.0]), nd.array([3.0])
    x.attach_grad()
    z.attach_grad()
    with autograd.record():
        y = x * x + 2 * x - 1
        both = y * z + nd.split(nd.concat(x, z, dim=0), num_outputs=2, axis=0)[1] * nd.array([10.0])
    net = autograd.get_symbol(y)
    assert len(net.list_arguments()) == 1 and net.eval(**{net.list_arguments()[0]: x})[0].asscalar() == 7
    net = autograd.get_symbol(both)
    assert len(net.list_arguments()) == 3 and autograd.get_symbol(x).list_arguments() == ["var0"]
    with pytest.raises(ValueError):
        autograd.get_symbol(nd.ones((1,)))
    both.backward(retain_graph=True)
    assert len(autograd.get_symbol(both).list_arguments()) == 3
    both.backward()
    with pytest.raises(mx.Error, match="was freed by backward"):
        autograd.get_symbol(both)
    with autograd.record():
        y = x * x
        for _ in range(20000):  # step by step, not by recursion
            y = y + 1
    assert len(autograd.get_symbol(y).list_arguments()) == 1


def test_views_of_one_array_are_variables_of_their_own():
    a, w = nd.array(np.arange(6).reshape(2, 3)), nd.ones((2, 3))
    w.attach_grad()
    with autograd.record():
        y = nd.dot(w * a, a.reshape((3, 2)))
        twice = w * a * a
    net = autograd.get_symbol(y)
    assert net.list_arguments() == ["var0", "var1", "var2"]
    assert net.eval(var0=w, var1=a, var2=a.reshape((3, 2)))[0].asnumpy().tolist() == y.asnumpy().tolist()
    assert len(autograd.get_symbol(twice).list_arguments()) == 2
    s, v = nd.sparse.csr_matrix((nd.array([1, 2]), [0, 1], [0, 1, 2]), shape=(2, 2)), nd.ones((2, 2))
    v.attach_grad()
    with autograd.record():
        y = nd.dot(s, v) + nd.dot(s, v) + nd.dot(nd.sparse.csr_matrix((s.data, [1, 0], [0, 1, 2]), shape=(2, 2)), v)
    assert len(autograd.get_symbol(y).list_arguments()) == 3


def test_fresh_gradients():
    x, y = nd.ones((2,)), nd.ones((2,))
    for a in (x, y):
        a.attach_grad()
        assert a._fresh_grad is False
    with autograd.record():
        z = (x + 2).detach() + y
    z.backward()
    assert y._fresh_grad and not x._fresh_grad and not z._fresh_grad
    y._fresh_grad = False
    assert not y._fresh_grad
    for _ in range(2):
        with autograd.record():
            z = y * 3
        z.backward()
        assert y._fresh_grad and y.grad.asnumpy().tolist() == [3, 3]
        y._fresh_grad = True


def test_gradients_of_gradients_that_do_not_depend_on_the_variable():
    x = nd.array([0.5, -2])
    x.attach_grad()
    with autograd.record():
        slope = autograd.grad(nd.relu(x), x, create_graph=True)[0]
    slope.backward()
    assert slope.asnumpy().tolist() == [1, 0] and x.grad.asnumpy().tolist() == [0, 0]


def test_older_names_of_autograd():
    from strop.contrib import autograd as older

    (gradient,), value = older.grad_and_loss(lambda a, b: a * b, 0)(nd.array([2.0]), nd.array([5.0]))
    assert gradient.asscalar() == 5 and value.asscalar() == 10
    assert older.grad(lambda a: a * a)(nd.array([3.0]))[0].asscalar() == 6
    with older.train_section():
        assert autograd.is_recording() and autograd.is_training()
        with older.test_section():
            assert not autograd.is_recording() and not autograd.is_training()


def test_a_symbol_as_a_function():
    call = nd.CachedOp(sym.FullyConnected(num_hidden=2, name="fc") * 2)
    x, w, b = nd.ones((1, 3)), nd.ones((2, 3)), nd.ones((2,))
    w.attach_grad()
    with autograd.record():
        y = call(x, w, b)
    y.backward()
    assert y.asnumpy().tolist() == [[8, 8]] and w.grad.asnumpy().tolist() == [[2] * 3] * 2
    out = nd.zeros((1, 2))
    call(x, w, b * 2, out=out)
    assert out.asnumpy().tolist() == [[10, 10]]
    with pytest.raises(TypeError):
        call(x, w)


@pytest.mark.parametrize("kind", ["foreach", "while_loop", "cond"])
def test_a_symbol_with_loops_and_branches_as_a_function(kind):
    def build(of, x, s, w):
        if kind == "foreach":
            outs, last = of.contrib.foreach(lambda d, state: (d * w + state[0], [state[0] * 2]), x, [s])
            return outs, last[0]
        if kind == "while_loop":
            (outs,), (last,) = of.contrib.while_loop(lambda state: of.sum(state) < 50, lambda state: ([state * w], [state * 2]), [s], max_iterations=6)
            return outs, last
        return of.contrib.cond(of.sum(s) > 0, lambda: [s * w, x + 1], lambda: [s, x * 2])

    net = sym.Group(build(sym, sym.var("x"), sym.var("s"), sym.var("w")))
    call, names = nd.CachedOp(net), net.list_inputs()
    named = {"x": nd.array([[1, 2], [3, -4], [0.5, 1]]), "s": nd.array([1, 2]), "w": nd.array([0.5, 3])}
    results = []
    for run in (lambda: build(nd, *named.values()), lambda: call(*[named[name] for name in names])):
        for name in names:
            named[name].attach_grad()
        with autograd.record():
            outs, last = run()
            loss = (outs * outs).sum() + (last * 3).sum()
        loss.backward(retain_graph=True)
        first = [named[name].grad.asnumpy() for name in names]
        loss.backward(retain_graph=True)
        assert all((a == named[name].grad.asnumpy()).all() for a, name in zip(first, names))
        results.append([outs.asnumpy(), last.asnumpy(), *first])
    for a, b in zip(*results):
        np.testing.assert_allclose(a, b, rtol=1e-6)
    kept = call(*[named[name] for name in names])
    call(*[named[name] * 2 for name in names])  # has arrays of its own
    for a, b in zip(results[1], kept):
        np.testing.assert_allclose(a, b.asnumpy(), rtol=1e-6)
    named["s"].detach()[:] = 1
    with pytest.raises(mx.Error, match="CachedOp: the array of s was overwritten after the call"):
        loss.backward()


def test_a_loop_with_states_that_are_written_as_a_function():
    x, gamma, beta, mean, var = (sym.var(name) for name in ("x", "gamma", "beta", "mean", "var"))
    outs, _ = sym.contrib.foreach(lambda d, state: (d + state[0], [state[0]]), sym.BatchNorm(x, gamma, beta, mean, var, momentum=0.5, fix_gamma=False)[0], [beta])
    named = {"x": nd.array([[1, 2], [3, 6]]), "gamma": nd.ones((2,)), "beta": nd.zeros((2,)), "mean": nd.zeros((2,)), "var": nd.ones((2,))}
    call = nd.CachedOp(outs)
    arrays = [named[name] for name in outs.list_inputs()]
    named["x"].attach_grad()
    call(*arrays)
    assert named["mean"].asnumpy().tolist() == [0, 0]
    with autograd.record():
        y = call(*arrays)
    y.backward()
    assert named["mean"].asnumpy().tolist() == [1, 2] and abs(y.asnumpy().sum()) < 1e-5


def test_current_scopes_of_each_thread():
    import threading

    seen = []
    thread = threading.Thread(target=lambda: (mx.test_utils.set_default_context(mx.gpu(3)), seen.append(mx.Context.default_ctx)))
    thread.start()
    thread.join()
    assert seen == [mx.gpu(3)] and mx.Context.default_ctx == mx.cpu()
    with mx.cpu(2):
        assert mx.Context.default_ctx == mx.cpu(2)
    before = mx.AttrScope.current, mx.name.NameManager.current
    mx.AttrScope.current = mx.AttrScope(mood="good")
    mx.name.NameManager.current = mx.name.NameManager()
    try:
        assert sym.relu(sym.var("x")).attr("mood") == "good" and "relu" in mx.name.NameManager.current._counter
    finally:
        mx.AttrScope.current, mx.name.NameManager.current = before


def test_how_unknown_extents_are_written():
    product = sym.dot(sym.var("x"), sym.var("y"))
    assert product.infer_shape_partial(x=(0, 3, 4), y=(4, 5))[1] == [(0, 3, 5)] and product.infer_shape_partial()[1] == [()]
    with mx.np_shape():
        assert product.infer_shape_partial(x=(-1, 3, 4), y=(4, 5))[1] == [(-1, 3, 5)] and product.infer_shape_partial()[1] == [None]
        assert '"is_np_shape"' in sym.var("x", shape=(3, 0)).tojson() and sym.var("x", shape=(-1, 0)).infer_shape_partial()[1] == [(-1, 0)]
    assert not mx.is_np_shape() and '"is_np_shape"' not in sym.var("x", shape=(3, 0)).tojson()

    @mx.use_np_shape
    def inside():
        return mx.is_np_shape()

    assert inside() and inside.__name__ == "inside"


def test_random_numbers_of_parameters_in_arrays():
    low, high = nd.array([0.0, 10]), nd.array([1.0, 20])
    drawn = nd.random.uniform(low, high, shape=(50, 40)).asnumpy()
    assert drawn.shape == (2, 50, 40) and 0 <= drawn[0].min() <= drawn[0].max() <= 1 and 10 <= drawn[1].min() <= drawn[1].max() <= 20
    assert nd.random.normal(low, high).shape == (2,)
    assert abs(nd.random.exponential(high, shape=4000).asnumpy().mean(axis=1) - [1, 20]).max() < 2
    node = sym.random.normal(sym.var("loc"), sym.var("scale"), shape=(2000,))
    found = node.eval(loc=nd.array([[0.0, 50]]), scale=nd.array([[1.0, 2]]))[0].asnumpy()
    assert found.shape == (1, 2, 2000) and abs(found.mean(axis=2) - [[0, 50]]).max() < 0.5
    with pytest.raises(ValueError):
        nd.random.uniform(low, 3)


def test_whole_numbers_in_steps_are_numpys():
    for dtype in (np.int32, np.int64, np.uint8):
        for start, stop, step in ((0, 10, 1), (50, -50, -2), (1.3, 20.6, 1.3)):
            want = (int(start) + np.arange(np.ceil((stop - start) / step)).astype(np.int64) * int(step)).astype(dtype)
            assert nd.arange(start, stop, step, repeat=2, dtype=dtype).asnumpy().tolist() == np.repeat(want, 2).tolist()


def test_a_table_of_a_network(capsys):
    net = sym.FullyConnected(sym.Activation(sym.FullyConnected(sym.var("data"), num_hidden=5, name="fc1"), act_type="relu"), num_hidden=2, name="fc2")
    mx.viz.print_summary(net, {"data": (1, 3)})
    shown = capsys.readouterr().out
    assert "fc1(FullyConnected)" in shown and "Total params: 32" in shown
    lines = shown.splitlines()
    assert {len(line) for line in lines if "Total" not in line} == {120} and lines[-3] == lines[2] == "=" * 120
    mx.viz.print_summary(net)
    assert "Total params: 0" in capsys.readouterr().out
    mx.viz.print_summary(sym.SoftmaxOutput(sym.BatchNorm(sym.var("data"), name="bn"), name="sm"), {"data": (5, 3)})
    assert "Total params: 6" in capsys.readouterr().out  # neither labels nor moving means


def test_where_the_library_is():
    assert mx.libinfo.find_lib_path()[0].endswith(".so") and mx.libinfo.find_include_path() == mx.get_include()


def test_a_daemon_thread_inside_a_call_at_the_end():
    program = ("import threading, time, strop as mx\na = mx.nd.ones((900, 900))\n"
               "def work():\n    while True:\n        mx.nd.dot(a, a).asnumpy()\n"
               "threads = [threading.Thread(target=work, daemon=True) for _ in range(3)]\n[t.start() for t in threads]\ntime.sleep(0.2)")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def test_gradients_of_integers():
    for dtype in ("int32", "int64", "float16"):
        x, index = nd.arange(0, 12, dtype=dtype).reshape((3, 4)), nd.array([[1, 1, 2], [3, 3, 0]], dtype="int32")
        x.attach_grad()
        with autograd.record():
            y = nd.gather_nd(x, index)
        y.backward(y)
        expected = np.zeros((3, 4))
        expected[1, 3], expected[2, 0] = 14, 8
        assert x.grad.dtype == np.dtype(dtype) and (x.grad.asnumpy() == expected).all()
        assert (nd._internal._backward_gather_nd(y, index, shape=(3, 4)).asnumpy() == expected).all()
        with autograd.record():
            y = x[[0, 0]] * 3 + nd.topk(x, k=2, ret_typ="value").sum()
        y.backward()
        assert x.grad.asnumpy().tolist() == [[6, 6, 14, 14], [0, 0, 8, 8], [0, 0, 8, 8]]


def test_sparse_gradients_by_the_order_of_arguments():
    x = np.array([[0, 2.0], [0, 0]], "float32")
    for stypes in (["csr"], {"x": "csr"}, None):
        made = mx.test_utils.check_symbolic_backward(sym.square(sym.var("x")), [nd.array(x).tostype("csr")], [np.ones((2, 2), "float32")], [2 * x], grad_stypes=stypes)
        assert made["x"].stype == ("csr" if stypes else "default")


def test_a_layer_says_nothing_of_weights_before_its_data_is_known():
    layers = [sym.FullyConnected(sym.var(name), name=name, num_hidden=8) for name in ("a", "b")]
    shapes = dict(zip((layers[0] + layers[1]).list_arguments(), (layers[0] + layers[1]).infer_shape_partial(a=(2, 3))[0]))
    assert shapes["a_weight"] == (8, 3) and shapes["b_weight"] == () and shapes["b_bias"] == ()
    with pytest.raises(mx.Error, match="one axis or more"):
        nd.broadcast_like(nd.ones((1, 2)), nd.ones((3, 2)), lhs_axes=(), rhs_axes=())


def test_what_a_build_has():
    features = mx.runtime.Features()
    assert features is mx.runtime.Features() and "CUDA" in features and len(features) >= 30
    assert [f.enabled for f in mx.runtime.feature_list()] == [features.is_enabled(name.lower()) for name in features] and "✖ TENSORRT" in str(features)
    with pytest.raises(RuntimeError, match="there is no 'SOMETHING'"):
        features.is_enabled("something")


def test_arguments_of_operators():
    about = mx.operator.get_operator_arguments("Activation")
    assert isinstance(about, mx.operator.OperatorArguments) and about.narg == 2 and about.names == ["data", "act_type"]
    assert about.types == ["NDArray-or-Symbol", "{'relu', 'sigmoid', 'softrelu', 'softsign', 'tanh'}, required"]
    assert mx.operator.get_operator_arguments("fully_connected").types[3:] == ["int, required", "boolean, optional, default=0", "boolean, optional, default=1"]
    assert mx.operator.get_operator_arguments("concat").types[0] == "NDArray-or-Symbol[]"
    with pytest.raises(mx.Error):
        mx.operator.get_operator_arguments("nothing")


def test_a_picture(monkeypatch):
    class Digraph:
        def __init__(self, name, format):  # noqa: A002
            self.name, self.format, self.nodes, self.edges = name, format, {}, []

        def node(self, name, label, **look):
            self.nodes[name] = (label, look)

        def edge(self, tail_name, head_name, **look):
            self.edges.append((tail_name, head_name, look.get("label")))

    net = sym.Activation(sym.FullyConnected(sym.var("data"), num_hidden=3, name="fc"), act_type="relu", name="act")
    monkeypatch.setitem(sys.modules, "graphviz", None)
    with pytest.raises(ImportError, match="graphviz"):
        mx.viz.plot_network(net)
    monkeypatch.setitem(sys.modules, "graphviz", types.SimpleNamespace(Digraph=Digraph))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shown = mx.viz.plot_network(net, title="net", shape={"data": (2, 5)}, node_attrs={"fixedsize": "false"})
    assert (shown.name, shown.format, list(shown.nodes)) == ("net", "pdf", ["data", "fc", "act"])
    assert shown.nodes["fc"][0] == "FullyConnected\nnum_hidden = 3" and shown.nodes["act"][1]["fixedsize"] == "false"
    assert shown.edges == [("fc", "data", "5"), ("act", "fc", "3")]
    assert list(mx.viz.plot_network(net, hide_weights=False).nodes) == ["data", "fc_weight", "fc_bias", "fc", "act"]
    with pytest.warns(RuntimeWarning, match="There are multiple variables with the same name in your graph: x"):
        assert len(mx.viz.plot_network(sym.var("x") + sym.var("x")).nodes) == 3
    with pytest.raises(mx.Error):
        mx.viz.plot_network(3)


def test_classes_of_zipfs_law():
    count, top = 4000, 20
    law = np.log((np.arange(top) + 2) / (np.arange(top) + 1)) / np.log(top + 1) * count
    true = nd.array([0, 7, 19], dtype="int32")
    sampled, of_true, of_sampled = nd.contrib.rand_zipfian(true, count, top)
    assert sampled.shape == (count,) and sampled.dtype == np.int64
    np.testing.assert_allclose(of_true.asnumpy(), law[[0, 7, 19]])
    np.testing.assert_allclose(of_sampled.asnumpy(), law[sampled.asnumpy()])
    np.testing.assert_allclose(np.bincount(sampled.asnumpy(), minlength=top), law, atol=5 * np.sqrt(count) / 2)
    made = sym.Group(list(sym.contrib.rand_zipfian(sym.var("true"), count, top))).bind(mx.cpu(), {"true": true}).forward()
    np.testing.assert_allclose(made[2].asnumpy(), law[made[0].asnumpy()])
