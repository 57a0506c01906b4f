# SPDX-License-Identifier: Apache-2.0
"""What modules are given wrongly: it is said in one sentence, and neither parameters nor files are lost."""
import pickle

import numpy as np
import pytest
from small_modules import FIRST, a_batch, batches, bound, bucket, first, linear, named, network_of, softmax, waves

import strop as mx
from strop import nd, sym


@pytest.mark.parametrize("call, said", [
    (lambda m: m.data_shapes, r"Module.data_shapes: bind\(\) comes first"),
    (lambda m: m.init_params(), r"Module.init_params: bind\(\) comes first"),
    (lambda m: m.forward(a_batch()), r"Module.forward: bind\(\) and init_params\(\) come first"),
    (lambda m: m.update(), r"Module.update: bind\(\) and init_params\(\) and init_optimizer\(\) come first"),
    (lambda m: m.save_optimizer_states("x"), r"init_optimizer\(\) come first"),
    (lambda m: m.fit(batches()), "fit: num_epoch is not given"),
    (lambda m: m.bind([("data", (4, 5))], for_training=False, inputs_need_grad=True), "inputs_need_grad asks for gradients"),
    (lambda m: m.bind([("x", (4, 5))]), r"the data are called \['x'\], and data_names is \['data'\]"),
    (lambda m: mx.mod.Module(linear(), context=[mx.cpu(0), mx.cpu(1)]), r"the context is \[cpu\(0\), cpu\(1\)\], expected a single cpu"),
    (lambda m: mx.mod.Module(linear(), context=mx.gpu(0)), r"the context is \[gpu\(0\)\], expected a single cpu"),
    (lambda m: mx.mod.Module(linear(), context="cpu"), r"the context is \['cpu' of type str\], expected a single cpu"),
    (lambda m: mx.mod.Module("net-symbol.json"), "the symbol is of type str, expected a Symbol"),
    (lambda m: m.bind(("data", (4, 5))), r"data_shapes is \('data', \(4, 5\)\), expected a list of \(name, shape\)"),
    (lambda m: m.bind([("data", (4, 5))], {"softmax_label": (4,)}), r"label_shapes is {'softmax_label': \(4,\)}, expected a list"),
    (lambda m: mx.mod.Module(linear(), data_names=["x"]), "data_names has 'x', and the symbol has no argument of that name"),
    (lambda m: mx.mod.Module(linear(), fixed_param_names=["x"]), "fixed_param_names has 'x'"),
    (lambda m: bound().init_params(arg_params={}, force_init=True), "'fc_bias' is not presented"),
    (lambda m: bound().set_params({"fc_weight": nd.zeros((2, 2))}, {}, allow_missing=True), r"'fc_weight' is given with shape \(2, 2\), expected \(3, 5\)"),
    (lambda m: bound().set_params({"q": nd.zeros((2, 2))}, {}, allow_missing=True), "no parameter 'q'"),
    (lambda m: bound().init_params("nope", force_init=True), "initializer: none is called 'nope'; there are"),
    (lambda m: bound().init_params(3, force_init=True), "the initializer is 3, expected an Initializer or the name of one"),
    (lambda m: m.fit(batches(), num_epoch=1, initializer=mx.init.Xavier), "the initializer is the class Xavier, expected an Initializer"),
    (lambda m: m.fit(batches(), num_epoch=1, initializer=None), "init_params: arg_params are not given, and there is no initializer"),
    (lambda m: bound().set_params(FIRST, {}), "init_params: 'fc_bias' is given as ndarray, expected an NDArray"),
    (lambda m: m.fit(FIRST["fc_weight"], num_epoch=1), "fit: train_data is of type ndarray, expected a DataIter"),
    (lambda m: bound().score(FIRST["fc_weight"], "acc"), "score: eval_data is of type ndarray, expected a DataIter"),
    (lambda m: bound().predict([[1.0] * 5]), "predict: eval_data is of type list, expected a DataIter"),
    (lambda m: bound().predict(np.ones((0, 5), "f4")), r"Module.reshape: data has shape \(0, 5\), expected no extent of 0"),
    (lambda m: bound().get_input_grads(), "was not told inputs_need_grad=True"),
    (lambda m: bound(for_training=False).backward(), "was told for_training=False"),
    (lambda m: bound().forward([a_batch()]), "a list of batches is given"),
    (lambda m: bound().forward(mx.io.DataBatch([], [])), "the batch has 0 arrays of data, expected 1"),
    (lambda m: bound().init_optimizer(optimizer=3), "the optimizer is of type int"),
    (lambda m: bound().set_states(), "expected one of states and value"),
    (lambda m: mx.mod.BucketingModule(lambda key: None), "default_bucket_key is not given"),
])
def test_what_comes_too_early_or_does_not_fit_is_refused(call, said):
    with pytest.raises(mx.Error, match=said) as raised:
        call(mx.mod.Module(linear()))
    assert "\n" not in str(raised.value)


def test_names_are_taken_one_by_one_as_well():
    module = mx.mod.Module(linear(), data_names="data", label_names="softmax_label", fixed_param_names="fc_bias")
    module.fit(batches(), num_epoch=1, initializer="one", eval_metric="acc")
    assert module.data_names == ["data"] and module.label_names == ["softmax_label"]
    found = named(module.get_params()[0])  # names that end in bias begin with zeros, and this one stays
    assert (found["fc_bias"] == 0).all() and (found["fc_weight"] != 1).any() and abs(found["fc_weight"] - 1).max() < 0.1


def test_a_step_that_comes_too_early_is_the_error_of_mxnet():
    with pytest.raises(AssertionError):
        mx.mod.Module(linear()).get_params()
    with pytest.raises(RuntimeError):
        bound().set_params({}, {})
    used = batches()
    list(used)
    with pytest.raises(mx.Error, match=r"fit: train_data has no batch; where it was used before, reset\(\) it"):
        mx.mod.Module(linear()).fit(used, num_epoch=1)


@pytest.mark.parametrize("call", [
    lambda m: m.predict(np.ones((4, 3), "f4")),
    lambda m: m.predict(mx.io.NDArrayIter(np.ones((4, 6), "f4"), None, 2)),
    lambda m: m.forward(mx.io.DataBatch([nd.ones((4, 3))], [nd.zeros((4,))]), is_train=True),
    lambda m: m.reshape([("data", (2, 7))], [("softmax_label", (2,))]),
    lambda m: m.bind([("data", (4, 3))], [("softmax_label", (4,))], force_rebind=True),
])
def test_other_columns_replace_no_parameter(call):
    module = bound()
    before, run, shapes = named(module.get_params()[0]), module._exec, (module.data_shapes, module.label_shapes)
    with pytest.raises(mx.Error, match=r"'fc_weight' .*shape \(3, [367]\), expected|'fc_weight' has shape \(3, 5\), expected \(3, 3\)") as raised:
        call(module)
    assert "\n" not in str(raised.value) and module._exec is run and (module.data_shapes, module.label_shapes) == shapes
    for name, a in named(module.get_params()[0]).items():
        np.testing.assert_array_equal(a, before[name])
    np.testing.assert_allclose(module.predict(waves((4, 5), 1)).asnumpy(), softmax(waves((4, 5), 1) @ FIRST["fc_weight"].T + FIRST["fc_bias"]), rtol=1e-5)


class Counts(mx.operator.CustomOp):
    """Passes on what comes, and has a number of each column as state."""

    def forward(self, is_train, req, in_data, out_data, aux):
        self.assign(out_data[0], req[0], in_data[0])


@mx.operator.register("counts_columns")
class CountsProp(mx.operator.CustomOpProp):
    def list_auxiliary_states(self):
        return ["seen"]

    def infer_shape(self, in_shape):
        return in_shape, in_shape, [[in_shape[0][1]]]

    def create_operator(self, *_):
        return Counts()


@pytest.mark.parametrize("net, said", [
    (sym.BatchNorm(sym.Variable("data"), name="bn"), r"parameter 'bn_gamma' shape \(6,\), expected \(5,\), which it has"),
    (sym.Custom(sym.Variable("data"), op_type="counts_columns", name="op"), r"auxiliary state 'op_seen' shape \(6,\), expected \(5,\), which it has"),
])
def test_other_columns_replace_no_auxiliary_state(net, said):
    module = mx.mod.Module(net, label_names=None)
    module.bind([("data", (4, 5))], for_training=False)
    module.init_params(aux_params={name: nd.ones((5,)) for name in net.list_auxiliary_states()}, allow_missing=True)
    with pytest.raises(mx.Error, match=r"Module.reshape: data of shape \(4, 6\) would give " + said):
        module.predict(nd.ones((4, 6)))
    assert module.predict(nd.ones((2, 5))).shape == (2, 5) and all((a.asnumpy() == 1).all() for a in module.get_params()[1].values())


def test_labels_that_are_not_named_follow_the_batch():
    module = mx.mod.Module(linear(), label_names=None)  # as programs of MXNet that predict have it
    module.bind([("data", (4, 5))], for_training=False)
    module.set_params(first(), {}, allow_missing=True)
    for rows in (1, 9):
        np.testing.assert_allclose(module.predict(waves((rows, 5), 1)).asnumpy(), softmax(waves((rows, 5), 1) @ FIRST["fc_weight"].T + FIRST["fc_bias"]), rtol=1e-5)


def test_labels_of_another_name_are_not_trained_on():
    for net in (mx.mod.Module(linear()), mx.mod.BucketingModule(lambda key: (linear(), ("data",), ("softmax_label",)), default_bucket_key=1)):
        with pytest.raises(KeyError, match=r"labels called \['lab'\] are given, and label_names= has \['softmax_label'\]") as raised:
            net.fit(batches(label_name="lab"), num_epoch=1)
        assert isinstance(raised.value, mx.Error) and not net.binded
    module = bound()
    with pytest.warns(UserWarning, match=r"labels called \['lab'\] are given"):  # one of two, which none asks for
        module.reshape([("data", (2, 5))], [("softmax_label", (2,)), ("lab", (2,))])
    with pytest.warns(UserWarning, match=r"labels called \['lab'\] are given"):  # who predicts needs none
        module.bind([("data", (4, 5))], [("lab", (4,))], for_training=False, force_rebind=True)


def keyed(batch):
    batch.bucket_key = 5
    return batch


@pytest.mark.parametrize("make", [lambda: mx.mod.Module(linear()),
                                  lambda: mx.mod.BucketingModule(lambda _: (linear(), ("data",), ("softmax_label",)), default_bucket_key=5)])
def test_a_second_fit_says_that_the_optimizer_stays(make, caplog):
    module, data = make(), mx.io.ResizeIter(batches(), 2)
    take, data.next = data.next, lambda: keyed(take())
    module.fit(data, num_epoch=1)
    assert caplog.messages == []
    module.fit(data, num_epoch=1, optimizer="adam", optimizer_params={"learning_rate": 9.0})
    assert [line.rstrip(".") for line in caplog.messages] == ["Already bound, ignoring bind()", "optimizer already initialized, ignoring"]
    assert type(getattr(module, "_main", module)._optimizer) is mx.optimizer.SGD


def with_states(store=None):
    module = bound()
    module.init_optimizer(kvstore=store, optimizer="sgd", optimizer_params={"momentum": 0.9})
    module.forward_backward(a_batch())
    module.update()
    return module


def test_a_failing_save_leaves_the_states_file_as_it_was(tmp_path, monkeypatch):
    module, path = with_states(), tmp_path / "net.states"
    module.save_optimizer_states(path)
    path.chmod(0o640)
    before = path.read_bytes()

    def failing(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(module._updater, "get_states", failing)
        with pytest.raises(OSError, match="No space left"):
            module.save_optimizer_states(path)
    with monkeypatch.context() as patch:
        patch.setattr("os.replace", failing)
        with pytest.raises(mx.Error, match="save_optimizer_states: No space left on device: .*net.states"):
            module.save_optimizer_states(path)
    assert path.read_bytes() == before and [one.name for one in tmp_path.iterdir()] == ["net.states"]
    module.update()
    link = tmp_path / "link"
    link.symlink_to(path)
    module.save_optimizer_states(link)
    assert link.is_symlink() and path.read_bytes() != before and path.stat().st_mode & 0o777 == 0o640
    module.save_optimizer_states("/dev/null")
    with pytest.raises(FileNotFoundError, match="save_optimizer_states: No such file or directory: .*none/net.states"):
        module.save_optimizer_states(tmp_path / "none" / "net.states")


@pytest.mark.parametrize("store", [None, "object"])
def test_a_states_file_that_is_none_is_refused_and_changes_nothing(tmp_path, store):
    module, path = with_states(store and mx.kv.create()), tmp_path / "net.states"
    module.save_optimizer_states(str(path))
    whole = path.read_bytes()
    updater = module._kvstore._updater if store else module._updater
    before = updater.states
    for damaged in (b"", whole[:-20], b"params", whole[:1] + b"x" + whole[2:], pickle.dumps([1]), pickle.dumps(({}, "sgd"))):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"load_optimizer_states: '.*net.states': set_states: expected what get_states\(\) gave, came") as raised:
            module.load_optimizer_states(str(path))
        assert "\n" not in str(raised.value) and isinstance(raised.value, mx.Error) and updater.states is before
    path.write_bytes(whole)
    module.load_optimizer_states(str(path))
    with pytest.raises(FileNotFoundError, match="No such file or directory") as raised:
        module.load_optimizer_states(str(tmp_path / "none"))
    assert isinstance(raised.value, mx.Error) and "none" in str(raised.value)


def test_a_run_is_not_resumed_without_its_states(tmp_path):
    prefix = str(tmp_path / "net")
    with_states().save_checkpoint(prefix, 1, save_optimizer_states=True)
    path = tmp_path / "net-0001.states"
    whole = path.read_bytes()
    path.write_bytes(b"")
    module = mx.mod.Module.load(prefix, 1, load_optimizer_states=True)
    for _ in range(2):  # the second call does not take the optimizer of the first
        with pytest.raises(mx.Error, match="net-0001.states': set_states: expected"):
            module.fit(batches(), num_epoch=1, optimizer_params={"momentum": 0.9})
    path.write_bytes(whole)
    module.fit(batches(), num_epoch=1, optimizer_params={"momentum": 0.9})


@pytest.mark.parametrize("store", [None, "object"])
def test_states_of_another_optimizer_are_refused(tmp_path, store):
    path = str(tmp_path / "net.states")
    with_states().save_optimizer_states(path)
    module = bound()
    module.init_optimizer(kvstore=store and mx.kv.create(), optimizer="adam")
    module.load_optimizer_states(path)
    before = named(module.get_params()[0])
    for _ in range(2):
        module.forward_backward(a_batch())
        with pytest.raises(mx.Error, match="Adam: the state of weight .* is an array or None, expected a tuple of 2; it is another optimizer's"):
            module.update()
    for name, a in named(module.get_params()[0]).items():
        np.testing.assert_array_equal(a, before[name])
    plain = bound()  # without momentum an optimizer of the same kind goes on
    plain.init_optimizer(kvstore=store and mx.kv.create(), optimizer="sgd")
    plain.load_optimizer_states(path)
    plain.forward_backward(a_batch())
    plain.update()


@pytest.mark.parametrize("saved, read", [(None, "object"), ("object", None), (None, None), ("object", "object")])
def test_states_go_on_with_a_store_or_without(tmp_path, saved, read):
    whole = with_states(saved and mx.kv.create())
    whole.save_optimizer_states(str(tmp_path / "net.states"))
    again = bound()
    again.set_params(*whole.get_params())
    again.init_optimizer(kvstore=read and mx.kv.create(), optimizer="sgd", optimizer_params={"momentum": 0.9})
    again.load_optimizer_states(str(tmp_path / "net.states"))
    for module in (whole, again):
        module.forward_backward(a_batch())
        module.update()
    for name, a in named(again.get_params()[0]).items():
        np.testing.assert_allclose(a, whole.get_params()[0][name].asnumpy(), rtol=1e-6)


@pytest.mark.parametrize("network, said", [
    (lambda length: (linear(), ("data",), ("softmax_label",)), r"Module.bind: data of shape \(2, 3\) would give parameter 'fc_weight' shape \(3, 3\), expected \(3, 6\)"),
    (lambda length: network_of(length) if length == 6 else network_of(length)[:2], r"sym_gen gives 2 things for bucket 3, expected \(symbol"),
    (lambda length: network_of(length) if length == 6 else network_of(length)[0], "sym_gen gives something of type Symbol for bucket 3"),
])
def test_buckets_that_cannot_share_parameters_are_refused(network, said):
    module = mx.mod.BucketingModule(network, default_bucket_key=6)
    module.bind([("data", (2, 6))], [("softmax_label", (2,))])
    module.init_params()
    before = named(module.get_params()[0])
    for _ in range(2):
        with pytest.raises(mx.Error, match=said):
            module.forward(bucket(3))
    module.forward(bucket(6))
    for name, a in named(module.get_params()[0]).items():
        np.testing.assert_array_equal(a, before[name])


def test_a_checkpoint_without_a_parameter_is_warned_of(tmp_path):
    prefix = str(tmp_path / "net")
    mx.model.save_checkpoint(prefix, 1, linear(), {"fc_weight": first()["fc_weight"]}, {})
    module = mx.mod.Module.load(prefix, 1, label_names=None)  # nor is a label missed
    with pytest.warns(UserWarning, match="Module.bind: the checkpoint has no 'fc_bias', which begins with zeros"):
        module.bind([("data", (4, 5))], for_training=False)
    np.testing.assert_allclose(module.predict(waves((4, 5), 1)).asnumpy(), softmax(waves((4, 5), 1) @ FIRST["fc_weight"].T), rtol=1e-5)
