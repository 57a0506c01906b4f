# SPDX-License-Identifier: Apache-2.0
"""Optimizers, rates, initializers and metrics against their formulas in NumPy."""
import json
import math
import pickle
import warnings

import numpy as np
import pytest

import strop as mx
from strop import init, lr_scheduler, metric, nd, optimizer

OPTIMIZERS = sorted(set(optimizer.Optimizer.opt_registry) - {"test"})


def steps(made, weight, gradients, dtype="float32"):
    update = optimizer.get_updater(made)
    w = nd.array(weight, dtype=dtype)
    for g in gradients:
        update(0, nd.array(g, dtype=dtype), w)
    return w.asnumpy()


def reference(name, w, gradients, lr, wd, **p):
    """Every step in double."""
    w = w.astype("f8")
    a, b = np.zeros_like(w), np.zeros_like(w)
    for t, g in enumerate(gradients, 1):
        g = g.astype("f8")
        if name == "sgd":
            a = p["momentum"] * a - lr * (g + wd * w)
            w = w + a
        elif name == "adam":
            g = g + wd * w
            a, b = 0.9 * a + 0.1 * g, 0.999 * b + 0.001 * g * g
            w = w - lr * math.sqrt(1 - 0.999**t) / (1 - 0.9**t) * a / (np.sqrt(b) + 1e-8)
        elif name == "adagrad":
            a = a + g * g
            w = w - lr * (g / np.sqrt(a + 1e-7) + wd * w)
        elif name == "adadelta":
            a = 0.9 * a + 0.1 * g * g
            d = np.sqrt(b + 1e-5) / np.sqrt(a + 1e-5) * g
            b = 0.9 * b + 0.1 * d * d
            w = w - d - wd * w
        elif name == "adamax":
            g = g + wd * w
            a, b = 0.9 * a + 0.1 * g, np.maximum(0.999 * b, np.abs(g))
            w = w - lr / (1 - 0.9**t) * a / b
        elif name == "rmsprop":
            g = g + wd * w
            a = 0.9 * a + 0.1 * g * g
            w = w - lr * g / np.sqrt(a + 1e-8)
        elif name == "signum":
            a = p["momentum"] * a - (1 - p["momentum"]) * (g + wd * w)
            w = w + lr * np.sign(a)
        elif name == "lamb":
            a, b = 0.9 * a + 0.1 * g, 0.999 * b + 0.001 * g * g
            u = a / (1 - 0.9**t) / (np.sqrt(b / (1 - 0.999**t)) + 1e-6) + wd * w
            w = w - lr * min(np.linalg.norm(w), p["upper_bound"]) / np.linalg.norm(u) * u
        elif name == "lars":
            length = np.linalg.norm(w)
            rate = lr * p["eta"] * length / (np.linalg.norm(g) + wd * length)
            a = p["momentum"] * a - rate * (g + wd * w)
            w = w + a
        elif name == "lbsgd" and t % 2 == 0:  # of two batches, at twice the rate: there is no warm-up
            a = p["momentum"] * a - 2 * lr * ((g + gradients[t - 2]) / 2 + wd * w)
            w = w + a
    return w


@pytest.mark.parametrize("wd", [0.0, 0.1])
@pytest.mark.parametrize("name, more", [("sgd", {"momentum": 0.0}), ("sgd", {"momentum": 0.9}), ("adam", {}), ("adagrad", {}), ("adadelta", {}), ("adamax", {}),
                                        ("rmsprop", {}), ("signum", {"momentum": 0.9}), ("lamb", {"upper_bound": 1.5}), ("lars", {"momentum": 0.9, "eta": 0.5}),
                                        ("lbsgd", {"momentum": 0.5, "batch_scale": 2, "warmup_epochs": 0})])
def test_against_the_formula(name, more, wd, rng):
    w, gradients = rng.normal(size=(2, 3)).astype("f4"), rng.normal(size=(5, 2, 3)).astype("f4")
    made = optimizer.create(name, learning_rate=0.05, wd=wd, **more)
    np.testing.assert_allclose(steps(made, w, gradients), reference(name, w, gradients, 0.05, wd, **more), rtol=2e-4, atol=1e-5)


@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_every_optimizer_comes_closer(name, dtype, rng):
    target = rng.normal(size=(4, 2))
    start = target + 1.0
    mx.random.seed(2)  # for sgld, which adds noise
    made = optimizer.create(name, learning_rate={"sgld": 0.05, "lars": 2.0}.get(name, 0.02), multi_precision=True)
    update = optimizer.get_updater(made)
    w = nd.array(start, dtype=dtype)
    for _ in range(60):
        update(3, (w - nd.array(target, dtype=dtype)) * 2, w)
    assert np.abs(w.asnumpy() - target).mean() < 0.98 and w.dtype is np.dtype(dtype).type
    other = optimizer.get_updater(optimizer.create(name))
    other.set_states(update.get_states())
    assert list(other.states) == [3]
    assert isinstance(pickle.loads(update.get_states(dump_optimizer=True))[1], type(made))


def test_rates_that_follow_from_lengths_and_batches():
    w, g = nd.ones((2, 2)), nd.ones((2, 2))
    for name, factor in (("fc_weight", 0.5), ("fc_bias", 1.0)):
        made = optimizer.create("lars", learning_rate=0.1, eta=0.5, param_idx2name={0: name})
        weight, state = nd.ones((2, 2)), nd.ones((2, 2))
        made.update(0, weight, g, state)  # as SGD with that rate; momentum is 0 at first
        np.testing.assert_allclose(weight.asnumpy(), np.full((2, 2), 1 - 0.1 * factor), rtol=1e-6)
    made = optimizer.LARS(momentum=0.5, learning_rate=0.1, eta=1.0)
    weight, state = nd.ones((2, 2)), nd.zeros((2, 2))
    made.update(0, weight, g, state)
    made.lr = 0.2  # with the rate the momentum grows
    made.update(0, weight, g, state)
    rate = 0.2 * 0.9  # of a weight of 0.9 and a gradient of 1
    np.testing.assert_allclose(state.asnumpy(), np.full((2, 2), -0.1 * 0.5 * 2 - rate), rtol=1e-5)
    half = nd.ones((2, 2), dtype="float16")
    made = optimizer.LARS(momentum=0.5, learning_rate=0.1, eta=1.0, multi_precision=True)
    made.update_multi_precision(0, half, g.astype("float16"), made.create_state_multi_precision(0, half))
    np.testing.assert_allclose(half.asnumpy(), np.full((2, 2), 0.9), rtol=1e-3)
    made = optimizer.create("lbsgd", batch_scale=4, updates_per_epoch=10, warmup_epochs=1)
    assert [made._grown(batches) for batches in (0, 5, 10)] == [1.0, 2.5, 4.0]
    assert optimizer.create("lbsgd", warmup_strategy="lars")._balanced(w, g * 2, 0.0) == 0.5
    with pytest.raises(ValueError):
        optimizer.create("lbsgd", warmup_strategy="cubic")
    with pytest.raises(AssertionError):
        optimizer.create("groupadagrad").create_state(0, nd.ones((3,)))
    half = nd.ones((2,), dtype="float16")
    master, own = optimizer.create("lbsgd", multi_precision=True, momentum=0.5).create_state_multi_precision(0, half)
    assert (master.asnumpy().tolist(), own.asnumpy().tolist()) == ([1, 1], [0, 0])
    assert [optimizer.get_updater(optimizer.create(n)).aggregate_updates for n in ("sgd", "adam")] == [True, False]
    rows = nd.ones((3, 2))
    made = optimizer.contrib.GroupAdaGrad(learning_rate=1.0)
    update = optimizer.get_updater(made)
    update(0, nd.array([[3.0, 4], [0, 0], [1, 1]]), rows)
    np.testing.assert_allclose(rows.asnumpy(), [[1 - 3 / math.sqrt(12.5), 1 - 4 / math.sqrt(12.5)], [1, 1], [0, 0]], atol=1e-4)


class Falling(mx.lr_scheduler.LRScheduler):
    def __call__(self, num_update):
        return 0.5 / (1 + num_update)


# After four updates of three weights with weight decay, clipping, scaling and a scheduler, in MXNet 1.9.1.
ORIGINAL = [
    ("sgd", {}, [0.7464, -2.1094, 0.6596, 0.4458, -1.2125, 1.6837, -0.8939]),
    ("sgd", {"momentum": 0.9}, [0.3332, -2.3339, 0.9251, 0.7695, -1.5766, 1.172, -1.1348]),
    ("lars", {"eta": 0.4, "eps": 0.001}, [0.8613, -1.9973, 0.5573, 0.4458, -1.2125, 1.7287, -0.8215]),
    ("lars", {"momentum": 0.9, "eta": 0.4}, [0.7468, -1.9857, 0.6058, 0.6315, -1.3987, 1.5013, -0.8833]),
    ("lars", {"momentum": 0.9, "eta": 0.4, "momentum_correction": False}, [0.6487, -2.0258, 0.661, 0.7695, -1.5766, 1.3195, -0.9565]),
    ("lamb", {}, [-0.157, -2.4115, 1.363, 0.9045, -1.3363, 0.9558, -1.4042]),
    ("lamb", {"bias_correction": False, "lower_bound": 1.5, "upper_bound": 1.75}, [0.2768, -2.5181, 1.174, 1.0582, -1.4357, 1.1592, -1.4934]),
    ("lbsgd", {"momentum": 0.5, "batch_scale": 2, "warmup_epochs": 1, "updates_per_epoch": 8}, [0.7716, -2.1356, 0.6308, 0.3734, -1.2372, 1.7851, -0.8386]),
]


@pytest.mark.parametrize("dtype, tolerance", [("float32", 1e-4), ("float16", 1.5e-3)])
@pytest.mark.parametrize("name, more, wanted", ORIGINAL)
def test_several_weights_as_in_mxnet(name, more, wanted, dtype, tolerance):
    made = optimizer.create(name, param_idx2name={0: "a_weight", 1: "a_bias", 2: "b_weight"}, rescale_grad=0.5, wd=0.1, clip_gradient=0.8,
                            lr_scheduler=Falling(), multi_precision=dtype == "float16", **more)
    update = optimizer.get_updater(made)
    weights = [nd.array(w, dtype=dtype) for w in ([1.0, -2, 0.5], [0.25, -1], [[2.0], [-0.75]])]
    for s in (1.0, -0.5, 2.0, 0.25):
        update([0, 1, 2], [nd.array(g, dtype=dtype) for g in ([s, 2 * s, -s], [-s, 3 * s], [[s], [s]])], weights)
    np.testing.assert_allclose(np.concatenate([w.asnumpy().ravel() for w in weights]), wanted, atol=tolerance)


def test_weights_are_handed_over_together(monkeypatch):
    """So many as MXNET_OPTIMIZER_AGGREGATION_SIZE says, of one type; LARS says one momentum for them."""
    monkeypatch.setenv("MXNET_OPTIMIZER_AGGREGATION_SIZE", "2")
    seen = []

    class Watched(optimizer.SGD):
        def update_multi_precision(self, index, weight, grad, state):
            seen.append(index)
            super().update_multi_precision(index, weight, grad, state)

    update = optimizer.get_updater(Watched(learning_rate=1.0))
    weights = [nd.ones((2,), dtype=dtype) for dtype in ("float32", "float64", "float32", "float32")]
    update([0, 1, 2, 3], [w * 0.5 for w in weights], weights)
    assert seen == [(0, 2), (3,), (1,)] and all(w.asnumpy().tolist() == [0.5, 0.5] for w in weights)
    assert optimizer.LAMB().aggregate_num == 2 and optimizer.LARS().aggregate_num == 2 and optimizer.Adam().aggregate_num == 0


def test_lars_of_a_sparse_gradient():
    dense, sparse = nd.array([[1.0, 2], [3, 4]]), nd.array([[1.0, 2], [3, 4]])
    grad = nd.array([[0.0, 0], [3, 4]])
    for weight, g in ((dense, grad), (sparse, grad.tostype("row_sparse"))):
        made = optimizer.LARS(learning_rate=1.0, eta=0.1, lazy_update=False)
        made.update(0, weight, g, None)
    np.testing.assert_allclose(dense.asnumpy(), sparse.asnumpy(), rtol=1e-6)


def test_adamw_with_a_number():
    w, g, mean, var = nd.array([1.0, -2, 3]), nd.array([0.5, 0.25, -1]), nd.zeros((3,)), nd.zeros((3,))
    assert nd.contrib.adamw_update(w, g, mean, var, 0.5, lr=0.1, eta=0.5, wd=0.1, out=w) is w
    np.testing.assert_allclose(w.asnumpy(), [0.79188526, -2.0581145, 3.0081148], rtol=1e-5)
    half = w.astype("float16")
    nd.contrib.mp_adamw_update(half, g.astype("float16"), mean, var, w, nd.array([0.5]), lr=0.1, eta=0.5, out=half)
    np.testing.assert_allclose(half.asnumpy(), w.asnumpy(), rtol=1e-3)
    before = w.asnumpy()
    np.testing.assert_array_equal(nd.contrib.adamw_update(w, g, mean, var, float("nan"), 0.1, 0.5).asnumpy(), before)  # nothing is updated then


def test_adamw_of_several_weights():
    def arrays(dtype="float32"):
        return [[nd.array(np.linspace(low, 2, n), dtype=dtype) for n in (3, 4)] for low in (-1, 0.5, 0, 1)]

    rates = {"lrs": [0.1, 0.2], "wds": [0.1, 0], "etas": [0.5, 1]}
    w, g, mean, var = arrays()
    assert nd.contrib.multi_adamw_update(w, g, mean, var, 0.5, out=w, beta1=0.8, **rates) is w
    half, small, means, variances = arrays("float16")
    means, variances, full = *arrays()[2:], arrays()[0]
    nd.contrib.multi_mp_adamw_update(half, small, means, variances, full, nd.array([0.5]), out=half, beta1=0.8, **rates)
    for i, one in enumerate(zip(*arrays())):
        expected = nd.contrib.adamw_update(*one, 0.5, lr=rates["lrs"][i], wd=rates["wds"][i], eta=rates["etas"][i], beta1=0.8).asnumpy()
        np.testing.assert_array_equal(w[i].asnumpy(), expected)
        np.testing.assert_allclose(full[i].asnumpy(), expected, rtol=1e-3)
        np.testing.assert_allclose(half[i].asnumpy(), expected, rtol=1e-3, atol=1e-3)
    before = w[0].asnumpy()
    with pytest.raises(ValueError, match="there are 2 weights, and a list is shorter"):
        nd.contrib.multi_adamw_update(w, g, mean, var, 0.5, [0.1], [0, 0], [1, 1], out=w)
    np.testing.assert_array_equal(w[0].asnumpy(), before)


def test_clipping_and_scaling():
    made = optimizer.create("sgd", learning_rate=1.0, rescale_grad=0.5, clip_gradient=1.0)
    np.testing.assert_allclose(steps(made, np.zeros(3, "f4"), [np.array([1, 4, -8.0], "f4")]), [-0.5, -1, 1])


def test_multi_precision_keeps_what_halves_lose():
    gradients = [np.full(4, 1e-4, "f4")] * 100
    exact = steps(optimizer.create("sgd", learning_rate=1.0, multi_precision=True), np.ones(4), gradients, "float16")
    lost = steps(optimizer.create("sgd", learning_rate=1.0), np.ones(4), gradients, "float16")
    np.testing.assert_allclose(exact, 0.99, rtol=1e-3)
    np.testing.assert_array_equal(lost, 1)


@pytest.mark.parametrize("name", ["set_lr_mult", "set_wd_mult"])
def test_factors_of_names_that_no_index_has_are_said(name):
    for names in (None, {0: "fc_weight"}):
        made = optimizer.create("sgd", param_idx2name=names)
        with pytest.warns(UserWarning, match=f"{name}: no index has the name 'fc_bias', .*param_idx2name") as caught:
            getattr(made, name)({"fc_bias": 3, 0: 2})
        assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        getattr(optimizer.create("sgd", param_idx2name={0: "fc_bias"}), name)({"fc_bias": 3, 0: 2, 7: 1})


def test_factors_that_a_symbol_says_and_no_weight_has_are_said_once():
    net = mx.sym.FullyConnected(mx.sym.var("x"), mx.sym.var("w_weight", lr_mult=4), num_hidden=1, name="fc")
    weight, grad = nd.ones((1,)), nd.ones((1,))
    made = optimizer.create("sgd", sym=net)
    with pytest.warns(UserWarning, match="SGD: what the symbol says of 'w_weight' as lr_mult or wd_mult reaches no weight .* as number 0; say param_idx2name") as caught:
        made.update(0, weight, grad, None)
    assert len(caught) == 1 and caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made.update(0, weight, grad, None)
        made.update(1, weight, grad, None)
        for names, index in (({0: "w_weight", 1: "fc_bias"}, 0), ({0: "w_weight"}, 7), (None, "w_weight")):  # it is reached
            other = optimizer.create("sgd", sym=net, param_idx2name=names)
            other.update(index, weight, grad, None)
            assert other._get_lr(index) == (0.01 if index == 7 else 0.04)
        optimizer.create("sgd", sym=mx.sym.FullyConnected(mx.sym.var("x"), num_hidden=1)).update(0, weight, grad, None)  # says nothing


def test_factors_by_name():
    made = optimizer.create("sgd", param_idx2name={0: "fc_weight", 1: "fc_bias", 2: "bn_gamma", 3: "bn_beta"}, wd=0.1, learning_rate=0.5)
    assert [made._get_wd(i) for i in range(4)] == [0.1, 0, 0.1, 0]
    made.set_lr_mult({0: 2, "fc_bias": 3})
    assert [made._get_lr(i) for i in range(3)] == [1.0, 1.5, 0.5]
    x = mx.sym.FullyConnected(mx.sym.var("x"), mx.sym.var("w_weight", lr_mult=4), num_hidden=1, name="fc")
    assert optimizer.create("sgd", sym=x, learning_rate=1.0, param_idx2name={0: "w_weight"})._get_lr(0) == 4
    made.set_learning_rate(2.0)
    assert made.learning_rate == 2.0
    with pytest.raises(mx.Error):
        optimizer.create("sgd", lr_scheduler=lr_scheduler.FactorScheduler(2)).set_learning_rate(1)
    with pytest.raises(ValueError):
        optimizer.create("nothing")


def test_sparse_updates_touch_what_the_gradient_stores():
    w = nd.ones((4, 2)).tostype("row_sparse")
    g = nd.sparse.row_sparse_array(([[1, 1]], [2]), shape=(4, 2))
    made = optimizer.create("sgd", learning_rate=0.5, wd=0.1)
    made.update(0, w, g, made.create_state(0, w))
    np.testing.assert_allclose(w.asnumpy()[:, 0], [1, 1, 0.45, 1])


def test_rates():
    S = lr_scheduler
    assert [S.FactorScheduler(3, 0.5, base_lr=1.0)(i) for i in (1, 4)] == [1, 0.5]
    assert S.FactorScheduler(1, 0.1, stop_factor_lr=0.01, base_lr=1.0)(100) == 0.01
    multi = S.MultiFactorScheduler([2, 5], 0.1, base_lr=1.0)
    np.testing.assert_allclose([multi(i) for i in (1, 2, 3, 5, 6, 9)], [1, 1, 0.1, 0.1, 0.01, 0.01])
    poly = S.PolyScheduler(8, 1.0, 2, 0.1)
    np.testing.assert_allclose([poly(i) for i in (0, 4, 8, 20)], [1, 0.1 + 0.9 / 4, 0.1, 0.1])
    cosine = S.CosineScheduler(8, 1.0, warmup_steps=2, warmup_begin_lr=0.2)
    np.testing.assert_allclose([cosine(i) for i in (0, 1, 2, 5, 8)], [0.2, 0.6, 1, 0.5, 0], atol=1e-9)
    made = optimizer.create("sgd", learning_rate=1.0, lr_scheduler=S.FactorScheduler(1, 0.5))
    np.testing.assert_allclose(steps(made, np.zeros(1, "f4"), [np.ones(1)] * 3), [-(1 + 0.5 + 0.25)])
    for wrong in (lambda: S.FactorScheduler(0), lambda: S.FactorScheduler(1, 2), lambda: S.MultiFactorScheduler([3, 2]), lambda: S.PolyScheduler(0), lambda: S.LRScheduler(warmup_mode="x")):
        with pytest.raises(ValueError):
            wrong()


def begun(initializer, name, shape):
    made = nd.full(shape, 7)
    initializer(init.InitDesc(name), made)
    return made.asnumpy()


def test_initializers():
    assert [begun(init.Constant(5), name, (2,))[0] for name in ("a_weight", "a_bias", "a_gamma", "a_beta", "a_moving_mean", "a_moving_var")] == [5, 0, 1, 0, 0, 1]
    x = begun(init.Xavier(), "w_weight", (200, 100))
    assert abs(x).max() <= math.sqrt(3 / 150) and abs(x.std() - math.sqrt(1 / 150)) < 0.005
    assert abs(begun(init.MSRAPrelu(factor_type="in", slope=0), "w_weight", (200, 100)).std() - math.sqrt(2 / 100)) < 0.01
    assert abs(begun(init.Normal(2), "w_weight", (100, 100)).std() - 2) < 0.1 and abs(begun(init.Uniform(3), "w_weight", (1000,))).max() <= 3
    o = begun(init.Orthogonal(2), "w_weight", (3, 5))
    np.testing.assert_allclose(o @ o.T, 4 * np.eye(3), atol=1e-5)
    np.testing.assert_allclose(begun(init.Bilinear(), "w_weight", (1, 1, 4, 4))[0, 0, 1], np.array([0.25, 0.75, 0.75, 0.25]) * 0.75)
    described = init.InitDesc("x_bias", {"__init__": init.LSTMBias(2.0).dumps()})
    made = nd.zeros((8,))
    init.Xavier()(described, made)
    assert made.asnumpy().tolist() == [0, 0, 2, 2, 0, 0, 0, 0]
    assert init.create("zeros").dumps() == '["zero", {}]' and init.create('["constant", {"value": 3}]').value == 3
    mixed = init.Mixed([".*bias", ".*"], [init.One(), init.Zero()])
    assert begun(mixed, "a_bias", (1,))[0] == 0 and begun(mixed, "b_weight", (1,))[0] == 0
    assert begun(init.Load({"arg:w": nd.ones((2,))}), "w", (2,)).tolist() == [1, 1]
    for wrong in (lambda: begun(init.One(), "other", (1,)), lambda: begun(init.Xavier(), "a_weight", (1,)), lambda: init.create("none"), lambda: begun(init.Load({}), "w", (1,))):
        with pytest.raises(ValueError):
            wrong()


def test_initializers_of_mere_names_and_derived_ones():
    class Sevens(init.Zero):
        def _init_bias(self, _, arr):
            arr[:] = 7

    assert begun(Sevens(), "a_bias", (1,)) == 7 and begun(init.LSTMBias(), "a_bias", (4,)).tolist() == [0] * 4
    made = {name: nd.zeros(shape) for name, shape in (("upsampling_weight", (1, 1, 2, 2)), ("stn_loc_bias", (6,)))}
    for name, a in made.items():
        init.One()(name, a)
    assert made["upsampling_weight"].asnumpy().ravel().tolist() == [1, 0, 0, 0]
    assert made["stn_loc_bias"].asnumpy().tolist() == [1, 0, 0, 0, 1, 0]


def test_metrics(rng):
    scores, labels = rng.dirichlet([1, 1, 1], 8), rng.integers(0, 3, 8)
    given = scores[np.arange(8), labels]
    two, binary = rng.dirichlet([1, 1], 20), rng.integers(0, 2, 20)
    tp, fp, fn = ((two.argmax(1) == 1) & (binary == 1)).sum(), ((two.argmax(1) == 1) & (binary == 0)).sum(), ((two.argmax(1) == 0) & (binary == 1)).sum()
    x, y = rng.normal(size=10), rng.normal(size=10)
    cases = [("acc", {}, labels, scores, (scores.argmax(1) == labels).mean()), ("top_k_accuracy", {"top_k": 2}, labels, scores, (np.argsort(scores)[:, 1:] == labels[:, None]).any(1).mean()),
             ("ce", {}, labels, scores, -np.log(given).mean()), ("perplexity", {}, labels, scores, np.exp(-np.log(given).mean())), ("mae", {}, x, y, abs(x - y).mean()),
             ("mse", {}, x, y, ((x - y) ** 2).mean()), ("rmse", {}, x, y, np.sqrt(((x - y) ** 2).mean())), ("pearsonr", {}, x, y, np.corrcoef(x, y)[0, 1]),
             ("f1", {}, binary, two, 2 * tp / (2 * tp + fp + fn)), ("mcc", {"average": "micro"}, binary, two, np.corrcoef(binary, two.argmax(1))[0, 1]), ("loss", {}, x, y, y.mean())]
    for name, more, label, pred, want in cases:
        made = metric.create(name, **more)
        assert math.isnan(made.get()[1])
        made.update([nd.array(label)], [nd.array(pred)])
        np.testing.assert_allclose(made.get()[1], want, rtol=1e-4, err_msg=name)
        made.reset_local()
        assert math.isnan(made.get()[1]) and not math.isnan(made.get_global()[1])
    both = metric.create(["acc", "ce"])
    both.update([nd.array(labels)], [nd.array(scores)])
    assert [name for name, _ in both.get_name_value()] == ["accuracy", "cross-entropy"]
    own = metric.create(lambda label, pred: (float(label.sum()), 2))
    own.update([nd.ones((4,))], [nd.ones((4,))])
    assert own.get()[1] == 2
    for wrong in (lambda: metric.create("none"), lambda: metric.create("top_k_accuracy"), lambda: both.update([nd.ones((1,))], [])):
        with pytest.raises(ValueError):
            wrong()


def test_a_metric_as_text():
    pairs = [nd.array([0, 1, 1]), nd.array([1, 0])], [nd.array([[0.9, 0.1], [0.1, 0.9], [0.8, 0.2]]), nd.array([[0.3, 0.7], [0.4, 0.6]])]
    macro, micro = metric.F1(), metric.F1(average="micro")  # tp, fp, fn = 2, 1, 1
    for made in (macro, micro):
        made.update(*pairs)
        assert made.get()[1] == pytest.approx(2 / 3)
    assert (macro.num_inst, micro.num_inst) == (1, 5)
    micro.reset_local()
    micro.update([nd.array([1])], [nd.array([[0.0, 1.0]])])
    assert micro.get()[1] == 1 and micro.get_global()[1] == pytest.approx(0.75)
    for made in (metric.create("acc", axis=0), metric.create("f1", average="micro"), metric.create("perplexity", -1), metric.create("top_k_accuracy", 3),
                 metric.create("nll_loss"), metric.create(["acc", "mse"])):
        again = metric.create(json.dumps(made.get_config()))
        assert type(again) is type(made) and again.get_config() == made.get_config()


def test_a_metric_is_registered_as_a_class():
    @mx.metric.register
    @mx.metric.alias("fives")
    class Five(mx.metric.EvalMetric):
        def update(self, labels, preds):
            self._add(5.0, 1)

    for name in ("five", "fives"):
        made = mx.metric.create(name, "five")
        made.update([], [])
        assert made.get() == ("five", 5.0) and made.get_config()["metric"] == "Five"
    assert isinstance(made, Five)

    class Counts(mx.metric.EvalMetric):
        def update(self, labels, preds):
            self.num_inst, self.sum_metric = self.num_inst + 1, self.sum_metric + 3

    made = Counts("counts", has_global_stats=False)
    made.update([], [])
    assert made.get_global() == ("counts", 3.0) == made.get() and mx.metric.create([made]).get() == (["counts"], [3.0])
    for name in ("ce", "perplexity"):
        with pytest.raises(AssertionError):
            mx.metric.create(name, None if name == "perplexity" else 0).update([nd.zeros((2,))], [nd.ones((3, 2))])


def test_sgd_of_several_weights_and_a_fixed_rate():
    made = mx.optimizer.SGD(learning_rate=1.0)
    weights = [mx.nd.ones((2,)), mx.nd.zeros((3,))]
    made.update([0, 1], weights, [mx.nd.ones((2,)), mx.nd.ones((3,))], [None, None])
    assert [w.asnumpy().tolist() for w in weights] == [[0, 0], [-1, -1, -1]]
    with pytest.raises(UserWarning):
        mx.optimizer.SGD(lr_scheduler=mx.lr_scheduler.FactorScheduler(step=1)).set_learning_rate(1)


def test_metrics_over_batches_and_by_names(rng):
    label, pred = rng.normal(size=(4, 9)), rng.normal(size=(4, 9))
    whole = metric.PearsonCorrelation(average="micro")
    for part in (slice(0, 1), slice(1, 4)):
        whole.update([nd.array(label[part])], [nd.array(pred[part])])
    assert whole.get()[1] == pytest.approx(np.corrcoef(label.ravel(), pred.ravel())[0, 1], rel=1e-5)
    both = metric.CompositeEvalMetric([metric.Loss(output_names=["a"], label_names=[]), metric.Loss(output_names=["b"], label_names=[])])
    both.update_dict({}, {"a": nd.array([2.0]), "b": nd.array([5.0])})
    assert both.get()[1] == [2, 5]
