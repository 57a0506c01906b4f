# SPDX-License-Identifier: Apache-2.0
"""Modules: training against NumPy and against figures of MXNet 1.9.1, the order of their steps, buckets, checkpoints, callbacks."""
import logging
import pickle
import re

import numpy as np
import pytest
from small_modules import FIRST, a_batch, batches, bound, bucket, first, linear, network_of, softmax, waves

import strop as mx
from strop import nd, sym


def trained_by_numpy(data, epochs, rate, momentum, decay):
    """Weights, biases and the accuracy of each epoch, of softmax regression by SGD."""
    w, b = (FIRST[name].astype("f8") for name in ("fc_weight", "fc_bias"))
    mw, mb, accuracies = 0, 0, []
    for _ in range(epochs):
        data.reset()
        hits = []
        for batch in data:
            x, y = batch.data[0].asnumpy(), batch.label[0].asnumpy().astype(int)
            p = softmax(x @ w.T + b)
            hits += list(p.argmax(axis=1) == y)
            d = (p - np.eye(3)[y]) / len(x)
            mw, mb = momentum * mw - rate * (d.T @ x + decay * w), momentum * mb - rate * d.sum(axis=0)
            w, b = w + mw, b + mb
        accuracies.append(np.mean(hits))
    data.reset()
    return w, b, accuracies


@pytest.mark.parametrize("store, on_store", [(None, "1"), ("local", "1"), ("object", "1"), ("object", "0"), ("device", "1")])
def test_fit_is_what_numpy_computes(store, on_store, monkeypatch):
    monkeypatch.setenv("MXNET_UPDATE_ON_KVSTORE", on_store)
    data, said = batches(), []
    module = mx.mod.Module(linear())
    module.fit(data, num_epoch=4, kvstore=mx.kv.create("local") if store == "object" else store, optimizer="sgd", arg_params=first(),
               optimizer_params={"learning_rate": 0.5, "momentum": 0.9, "wd": 0.1}, batch_end_callback=lambda p: said.append((p.epoch, p.nbatch, p.eval_metric.get()[1])))
    w, b, accuracies = trained_by_numpy(data, 4, 0.5, 0.9, 0.1)
    found, states = module.get_params()
    np.testing.assert_allclose(found["fc_weight"].asnumpy(), w, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(found["fc_bias"].asnumpy(), b, rtol=1e-4, atol=1e-5)
    assert states == {} and [one[:2] for one in said] == [(e, n) for e in range(4) for n in range(4)]
    np.testing.assert_allclose([value for _, n, value in said if n == 3], accuracies)


def small_network():
    h = sym.Convolution(sym.Variable("data"), kernel=(3, 3), num_filter=4, no_bias=True, name="conv")
    h = sym.Pooling(sym.Activation(sym.BatchNorm(h, fix_gamma=False, name="bn"), act_type="tanh"), pool_type="max", kernel=(2, 2), stride=(2, 2))
    return sym.SoftmaxOutput(sym.FullyConnected(sym.Flatten(h), num_hidden=3, name="fc"), name="softmax")


# The cross entropy after the first batch, the first epoch and the third, that of a score, sums of weights, a moving variance
# and an output, of the same program with MXNet 1.9.1.
OF_MXNET = {
    "sgd": [1.09833, 1.124093, 1.122731, 1.084522, -0.616128, 8.969761, 0.33549, 0.354464],
    "adam": [1.09833, 1.155057, 1.096588, 1.078186, -1.062073, 9.276348, 0.333473, 0.350438],
    "rmsprop": [1.09833, 1.231856, 1.083548, 1.082533, -0.624845, 9.341032, 0.396263, 0.317688],
}
PARAMETERS = {"sgd": lambda: {"learning_rate": 0.1, "momentum": 0.9, "wd": 0.01}, "adam": lambda: {"learning_rate": 0.02},
              "rmsprop": lambda: {"learning_rate": 0.01, "lr_scheduler": mx.lr_scheduler.FactorScheduler(3, 0.5)}}


@pytest.mark.parametrize("store", ["local", "object"])
@pytest.mark.parametrize("name", OF_MXNET)
def test_fit_is_what_mxnet_computes(name, store):
    net, data, seen = small_network(), mx.io.NDArrayIter(waves((14, 1, 8, 8), 1), (np.arange(14) * 5 % 3).astype("f4"), batch_size=4), []
    shapes = dict(zip(net.list_arguments(), net.infer_shape(data=(4, 1, 8, 8))[0]))
    begin = {n: nd.array(waves(s, k) * 0.4) for k, (n, s) in enumerate(sorted(shapes.items())) if n not in ("data", "softmax_label")}
    module = mx.mod.Module(net)
    module.fit(data, eval_metric="ce", num_epoch=3, kvstore=mx.kv.create() if store == "object" else store, optimizer=name, optimizer_params=PARAMETERS[name](),
               arg_params=begin, aux_params={"bn_moving_mean": nd.zeros((4,)), "bn_moving_var": nd.ones((4,))},
               batch_end_callback=lambda p: seen.append(p.eval_metric.get()[1]))
    args, states = (({n: a.asnumpy() for n, a in one.items()}) for one in module.get_params())
    found = [seen[0], seen[3], seen[-1], module.score(data, "ce")[0][1], args["fc_weight"].sum(), abs(args["conv_weight"]).sum(), states["bn_moving_var"][1],
             module.predict(data).asnumpy()[13, 2]]
    np.testing.assert_allclose(found, OF_MXNET[name], rtol=1e-5, atol=1e-5)


def test_score_and_predict():
    module, data = bound(), batches(rows=10)
    x, y = data.data[0][1].asnumpy(), data.label[0][1].asnumpy()
    wanted = softmax(x @ FIRST["fc_weight"].T + FIRST["fc_bias"])
    np.testing.assert_allclose(module.predict(data).asnumpy(), wanted, rtol=1e-5)
    np.testing.assert_allclose(module.predict(data, num_batch=2).asnumpy(), wanted[:8], rtol=1e-5)
    np.testing.assert_allclose(module.predict(x).asnumpy(), wanted, rtol=1e-5)  # one batch of another size
    np.testing.assert_allclose(module.predict(nd.array(x[:1])).asnumpy(), wanted[:1], rtol=1e-5)
    assert [[out.shape for out in outs] for outs in module.predict(data, merge_batches=False)] == [[(4, 3)], [(4, 3)], [(2, 3)]]
    assert [out.shape for out in module.predict(data, always_output_list=True)] == [(10, 3)]
    assert [(outs[0].shape, n, batch.pad) for outs, n, batch in module.iter_predict(data)] == [((4, 3), 0, 0), ((4, 3), 1, 0), ((2, 3), 2, 2)]
    ends, filled = [], np.arange(12) % 10  # as in MXNet, what fills the last batch counts
    hits = (wanted.argmax(axis=1) == y)[filled]
    loss = -np.log(wanted[np.arange(10), y.astype(int)])[filled]
    score = dict(module.score(data, ["acc", "ce"], score_end_callback=lambda p: ends.append((p.epoch, p.nbatch)), epoch=7))
    np.testing.assert_allclose([score["accuracy"], score["cross-entropy"]], [hits.mean(), loss.mean()], rtol=1e-5)
    np.testing.assert_allclose(module.score(data, "acc", num_batch=1)[0][1], hits[:4].mean())
    assert ends == [(7, 3)]


def test_shapes_of_batches_change_and_parameters_stay():
    module = bound(inputs_need_grad=True)
    module.init_optimizer(optimizer_params={"learning_rate": 0.5})
    for rows in (4, 2, 7, 4):
        before = {name: a.asnumpy() for name, a in module.get_params()[0].items()}
        batch = a_batch(rows)
        module.forward(batch)
        module.backward()
        x, y = batch.data[0].asnumpy(), batch.label[0].asnumpy().astype(int)
        out = softmax(x @ before["fc_weight"].T + before["fc_bias"])
        d = out - np.eye(3)[y]
        np.testing.assert_allclose(module.get_outputs()[0].asnumpy(), out, rtol=1e-5)
        np.testing.assert_allclose(module.get_input_grads()[0].asnumpy(), d @ before["fc_weight"], rtol=1e-4, atol=1e-6)
        module.update()
        np.testing.assert_allclose(module.get_params()[0]["fc_bias"].asnumpy(), before["fc_bias"] - 0.5 * d.sum(axis=0) / 4, rtol=1e-4, atol=1e-6)
        assert module.data_shapes[0].shape == (rows, 5) and module.label_shapes[0].shape == (rows,) and module.output_shapes == [("softmax_output", (rows, 3))]
    module.reshape([("data", (6, 5))], [("softmax_label", (6,))])
    assert module.data_shapes[0].shape == (6, 5)
    module.forward(mx.io.DataBatch([nd.ones((3, 5))]), is_train=False)  # without labels
    assert module.get_outputs(merge_multi_context=False)[0][0].shape == (3, 3)
    module.bind([("data", (2, 5))], for_training=False, force_rebind=True)  # keeps the parameters
    np.testing.assert_array_equal(module.get_params()[0]["fc_bias"].asnumpy() == before["fc_bias"], [False] * 3)
    assert module.predict(nd.ones((2, 5))).shape == (2, 3)


def test_gradients_are_asked_for_one_by_one():
    module = mx.mod.Module(linear(), fixed_param_names=["fc_bias"])
    module.bind([("data", (4, 5))], [("softmax_label", (4,))], grad_req="add")
    module.init_params(mx.init.One())
    module.init_optimizer(optimizer_params={"learning_rate": 1.0})
    fixed = module.get_params()[0]["fc_bias"].asnumpy()
    for _ in range(2):
        module.forward_backward(a_batch())
    twice = module._exec.grad_dict["fc_weight"].asnumpy()
    module.update()
    np.testing.assert_allclose(module.get_params()[0]["fc_weight"].asnumpy(), 1 - twice / 4, rtol=1e-5)
    np.testing.assert_array_equal(module.get_params()[0]["fc_bias"].asnumpy(), fixed)
    assert module._exec.grad_dict["fc_bias"] is None
    once = bound()
    once.set_params(*module.get_params())
    once.set_params({"fc_weight": nd.ones((3, 5))}, {}, allow_missing=True)
    once.forward_backward(a_batch())
    np.testing.assert_allclose(twice, 2 * once._exec.grad_dict["fc_weight"].asnumpy(), rtol=1e-4, atol=1e-6)


def test_states_are_set_and_not_trained():
    net = sym.SoftmaxOutput(sym.FullyConnected(sym.Variable("data") + sym.Variable("state", shape=(4, 5)), num_hidden=3, name="fc"), name="softmax")
    module = mx.mod.Module(net, state_names=["state"])
    module.bind([("data", (4, 5))], [("softmax_label", (4,))])
    module.init_params(arg_params=first(), aux_params={})
    module.set_states(value=2)
    module.forward(a_batch(), is_train=False)
    wanted = softmax((waves((4, 5), 1) + 2) @ FIRST["fc_weight"].T + FIRST["fc_bias"])
    np.testing.assert_allclose(module.get_outputs()[0].asnumpy(), wanted, rtol=1e-5)
    module.set_states(states=[nd.ones((4, 5))])
    assert (module.get_states()[0].asnumpy() == 1).all() and set(module.get_params()[0]) == {"fc_weight", "fc_bias"}


@pytest.mark.parametrize("store", [None, "object"])
def test_a_run_that_is_resumed_is_one_that_was_not_disturbed(tmp_path, store, caplog):
    caplog.set_level(logging.INFO)
    prefix, how = str(tmp_path / "net"), {"optimizer": "adam", "optimizer_params": {"learning_rate": 0.1}}

    def a_store():
        return mx.kv.create() if store else None

    whole = mx.mod.Module(linear())
    whole.fit(batches(), num_epoch=4, arg_params=first(), kvstore=a_store(), **how)
    half = mx.mod.Module(linear())
    half.fit(batches(), num_epoch=2, arg_params=first(), kvstore=a_store(), epoch_end_callback=mx.callback.module_checkpoint(half, prefix, 2, save_optimizer_states=True), **how)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["net-0002.params", "net-0002.states", "net-symbol.json"]
    assert f'Saved checkpoint to "{prefix}-0002.params"' in caplog.messages and f'Saved optimizer state to "{prefix}-0002.states"' in caplog.messages
    again = mx.mod.Module.load(prefix, 2, load_optimizer_states=True)
    again.fit(batches(), begin_epoch=2, num_epoch=4, kvstore=a_store(), **{**how, "optimizer": counted_adam(again, 8)})
    for name, a in whole.get_params()[0].items():
        np.testing.assert_allclose(again.get_params()[0][name].asnumpy(), a.asnumpy(), rtol=1e-6, atol=1e-7)
    again.save_params(str(tmp_path / "params"))
    other = mx.mod.Module(linear())
    other.bind(batches().provide_data, batches().provide_label)
    other.init_params()
    other.load_params(str(tmp_path / "params"))
    np.testing.assert_array_equal(other.get_params()[0]["fc_weight"].asnumpy(), again.get_params()[0]["fc_weight"].asnumpy())


def counted_adam(module, updates):
    """Adam that has made so many updates: its states do not count them, here as in MXNet."""
    return mx.optimizer.Adam(learning_rate=0.1, rescale_grad=1 / 4, begin_num_update=updates, param_idx2name=dict(enumerate(module._param_names)))


def test_buckets_share_parameters_and_optimizer(tmp_path):
    begin = {"emb_weight": waves((10, 4), 1), "fc_weight": waves((3, 4), 2), "fc_bias": waves((3,), 3)}
    buckets, plain = mx.mod.BucketingModule(network_of, default_bucket_key=6), mx.mod.Module(*network_of(6))  # a module takes any length as well
    for module in (buckets, plain):
        module.bind([("data", (2, 6))], [("softmax_label", (2,))])
        module.init_params(arg_params={name: nd.array(a) for name, a in begin.items()}, aux_params={})
    for module in (buckets, plain):
        module.init_optimizer(optimizer="sgd", optimizer_params={"learning_rate": 0.5, "momentum": 0.9})
    for k, length in enumerate((6, 3, 4, 3, 6, 4)):
        for module in (buckets, plain):
            module.prepare(bucket(length, k))
            module.forward(bucket(length, k), is_train=True)
            module.backward()
            module.update()
        np.testing.assert_allclose(buckets.get_outputs()[0].asnumpy(), plain.get_outputs()[0].asnumpy(), rtol=1e-5)
        assert buckets.data_shapes[0].shape == (2, length) and buckets.symbol is buckets._now.symbol
    for name, a in plain.get_params()[0].items():
        np.testing.assert_allclose(buckets.get_params()[0][name].asnumpy(), a.asnumpy(), rtol=1e-5, atol=1e-6)
    prefix = str(tmp_path / "b")
    buckets.save_checkpoint(prefix, 3)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b-0003.params", "b-3-symbol.json", "b-4-symbol.json", "b-6-symbol.json", "b.buckets"]
    assert nd.load(f"{prefix}.buckets")[0].asnumpy().tolist() == [6, 3, 4]
    for given in (network_of, None):
        again = mx.mod.BucketingModule.load(prefix, 3, sym_gen=given, default_bucket_key=6)
        again.bind([("data", (2, 6))], [("softmax_label", (2,))], for_training=False)
        for module in (again, buckets):
            module.forward(bucket(3), is_train=False)
        np.testing.assert_array_equal(again.get_outputs()[0].asnumpy(), buckets.get_outputs()[0].asnumpy())
    with pytest.raises(mx.Error, match="bucket 9 is new, and its batch has no provide_data"):
        again.switch_bucket(9, None)
    with pytest.raises(KeyError, match="no symbol of bucket 9; there are 6, 3, 4"):
        again.switch_bucket(9, [("data", (2, 9))])


def test_recurrent_networks_train_by_buckets():
    """Sentences whose next word follows from the last one: the perplexity falls to nearly 1."""
    mx.random.seed(3)
    np.random.seed(3)
    sentences = [[(begin + step) % 7 + 1 for step in range(length)] for length in (4, 6) for begin in range(7) for _ in range(4)]
    data = mx.rnn.BucketSentenceIter(sentences, batch_size=7, buckets=[4, 6], invalid_label=0)
    cell = mx.rnn.LSTMCell(16, prefix="lstm_")

    def net(length):
        words = sym.Embedding(sym.Variable("data"), input_dim=8, output_dim=8, name="embed")
        cell.reset()
        outputs, _ = cell.unroll(length, inputs=words, merge_outputs=True)
        scores = sym.FullyConnected(sym.reshape(outputs, shape=(-1, 16)), num_hidden=8, name="pred")
        return sym.SoftmaxOutput(scores, sym.reshape(sym.Variable("softmax_label"), shape=(-1,)), use_ignore=True, ignore_label=0, name="softmax"), ("data",), ("softmax_label",)

    module = mx.mod.BucketingModule(net, default_bucket_key=data.default_bucket_key)
    seen = []
    module.fit(data, eval_metric=mx.metric.Perplexity(0), num_epoch=12, optimizer="adam", optimizer_params={"learning_rate": 0.05}, initializer=mx.init.Xavier(),
               batch_end_callback=lambda p: seen.append(p.eval_metric.get()[1]))
    assert seen[0] > 6 and module.score(data, mx.metric.Perplexity(0))[0][1] < 1.3


def test_rows_of_sparse_parameters_come_from_the_store():
    x, w = sym.Variable("data", stype="csr"), sym.Variable("w_weight", stype="row_sparse", shape=(20, 2))
    net = sym.SoftmaxOutput(sym.broadcast_add(sym.sparse.dot(x, w), sym.Variable("bias", shape=(2,))), name="softmax")
    rng = np.random.default_rng(1)
    dense = (rng.random((32, 20)) * (rng.random((32, 20)) > 0.8)).astype("f4")
    found = {}
    for store in (None, mx.kv.create()):
        data = mx.io.NDArrayIter(nd.sparse.csr_matrix(dense), (np.arange(32) % 2).astype("f4"), batch_size=8, last_batch_handle="discard")
        module = mx.mod.Module(net)
        module.bind(data.provide_data, data.provide_label)
        module.init_params(arg_params={"w_weight": nd.array(waves((20, 2), 1)).tostype("row_sparse"), "bias": nd.zeros((2,))}, aux_params={})
        module.init_optimizer(kvstore=store, optimizer_params={"learning_rate": 0.5, "momentum": 0.9})
        module.fit(data, num_epoch=3, sparse_row_id_fn=(lambda batch: {"w_weight": batch.data[0].indices}) if store else None)
        found[store is None] = {name: a for name, a in module.get_params()[0].items()}
        assert found[store is None]["w_weight"].stype == "row_sparse"
    for name, a in found[True].items():
        np.testing.assert_allclose(found[False][name].asnumpy(), a.asnumpy(), rtol=1e-5, atol=1e-6)
    assert abs(found[True]["w_weight"].asnumpy() - waves((20, 2), 1)).max() > 0.01


def test_fit_and_callbacks_log_the_lines_of_mxnet(tmp_path, caplog):
    caplog.set_level(logging.INFO)
    prefix = str(tmp_path / "net")
    module, data = mx.mod.Module(linear()), batches(rows=12)
    module.fit(data, eval_data=data, num_epoch=2, epoch_end_callback=mx.callback.do_checkpoint(prefix, 2), batch_end_callback=[mx.callback.Speedometer(4, 2), mx.callback.log_train_metric(2)],
               eval_end_callback=mx.callback.LogValidationMetricsCallback(), optimizer_params={"learning_rate": 0.0})
    said = [re.sub(r"\d+\.\d+", "N", line) for line in caplog.messages]
    epoch = [["Iter[{0}] Batch[0] Train-accuracy=N"], ["Epoch[{0}] Batch [0-2]\tSpeed: N samples/sec\taccuracy=N", "Iter[{0}] Batch[2] Train-accuracy=nan"],
             ["Epoch[{0}] Train-accuracy=N", "Epoch[{0}] Time cost=N"]]
    both = ["Epoch[{0}] Validation-accuracy=N"] * 2
    wanted = [[line.format(k) for part in (*epoch, *([[f'Saved checkpoint to "{prefix}-0002.params"']] if k else []), both) for line in part] for k in (0, 1)]
    assert said == wanted[0] + wanted[1]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["net-0002.params", "net-symbol.json"]
    train = [float(line.rsplit("=")[1]) for line in caplog.messages if "Train-accuracy" in line and line.startswith("Epoch")]
    assert train == [pytest.approx(module.score(data, "acc")[0][1], abs=1e-6)] * 2  # of all batches, whatever the Speedometer forgot


def test_callbacks(caplog):
    caplog.set_level(logging.INFO)
    metric = mx.metric.create("acc")
    metric.update([nd.array([0])], [nd.array([[0.5, 0.4]])])
    bar, speed, shown = mx.callback.ProgressBar(4, 10), mx.callback.Speedometer(10, 2, auto_reset=False), mx.callback.log_train_metric(1, auto_reset=True)
    bar(mx.model.BatchEndParam(0, 2, None, None))
    for k in (0, 1, 2, 4, 1, 2):  # the last two are of another epoch
        speed(mx.model.BatchEndParam(1, k, None if k == 4 else metric, None))
    for _ in range(2):
        shown(mx.model.BatchEndParam(1, 3, metric, None))
    assert [re.sub(r"Speed: [\d.]+|Speed: inf", "Speed: N", line) for line in caplog.messages] == [
        "[=====-----] 50%\r", "Epoch[1] Batch [0-2]\tSpeed: N samples/sec\taccuracy=1.000000", "Iter[1] Batch [4]\tSpeed: N samples/sec",
        "Epoch[1] Batch [0-2]\tSpeed: N samples/sec\taccuracy=1.000000", "Iter[1] Batch[3] Train-accuracy=1.000000", "Iter[1] Batch[3] Train-accuracy=nan"]


def test_monitors_see_nodes():
    class Monitor:
        """What fit() asks of one."""

        def __init__(self):
            self.seen, self.steps = [], []

        def install(self, executor):
            executor.set_monitor_callback(lambda name, a: self.seen.append((name, a.shape)))

        def tic(self):
            self.steps.append("tic")

        def toc_print(self):
            self.steps.append("toc")

    monitor = Monitor()
    mx.mod.Module(linear()).fit(batches(rows=8), num_epoch=1, monitor=monitor)
    assert monitor.steps == ["tic", "toc"] * 2 and ("fc_output", (4, 3)) in monitor.seen


def test_an_optimizer_of_the_program_is_taken_as_it_is():
    module = bound()
    with pytest.warns(UserWarning, match=r"rescale_grad of the optimizer is 1.0, not 1 over the 4 rows of a batch"):
        module.init_optimizer(optimizer=mx.optimizer.SGD(learning_rate=0.5, wd=0.5))
    before = {name: a.asnumpy() for name, a in module.get_params()[0].items()}
    module.forward_backward(a_batch())
    grads = {name: a.asnumpy() for name, a in module._exec.grad_dict.items() if a is not None}
    module.update()
    for name, a in module.get_params()[0].items():
        np.testing.assert_allclose(a.asnumpy(), before[name] - 0.5 * (grads[name] + 0.5 * before[name]), rtol=1e-4, atol=1e-6)
    with pytest.warns(UserWarning, match="the parameters are initialised already"):
        module.init_params()
    assert pickle.loads(module._updater.get_states()) == {0: None, 1: None}
