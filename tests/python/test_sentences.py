# SPDX-License-Identifier: Apache-2.0
"""What errors and warnings say to those who write Python: files that are not there, arguments that a net has not, no names of C++."""
import builtins
import os
import pickle
import re
import warnings

import pytest

import strop as mx
from strop import autograd, nd, sym

OPENED = {
    "nd.load": nd.load, "strop.load": mx.load, "load_library": lambda path: mx.load_library(path + ".so"), "sym.load": sym.load, "load_params": lambda path: mx.model.load_params(path, 1),
    "load_checkpoint": lambda path: mx.model.load_checkpoint(path, 1), "MXRecordIO": lambda path: mx.recordio.MXRecordIO(path, "r"), "init.Load": mx.init.Load,
    "MXIndexedRecordIO": lambda path: mx.recordio.MXIndexedRecordIO(path + ".idx", path, "r"), "CSVIter": lambda path: mx.io.CSVIter(path, (3,)),
    "LibSVMIter": lambda path: mx.io.LibSVMIter(path, (3,)).next(), "MNISTIter": lambda path: mx.io.MNISTIter(path, path), "gz": lambda path: mx.io.CSVIter(path + ".gz", (3,)),
    "load_rnn_checkpoint": lambda path: mx.rnn.load_rnn_checkpoint([], path, 1)}
WRITTEN = {"nd.save": lambda path: nd.save(path, nd.ones((2,))), "nd.save .params": lambda path: nd.save(path + ".params", nd.ones((2,))), "sym.save": sym.var("x").save,
           "save_checkpoint": lambda path: mx.model.save_checkpoint(path, 1, sym.var("x"), {}, {}), "MXRecordIO": lambda path: mx.recordio.MXRecordIO(path, "w")}


@pytest.mark.parametrize("name", OPENED)
def test_a_missing_file_is_a_file_not_found_error(name, tmp_path):
    path = str(tmp_path / "not there")
    with pytest.raises(FileNotFoundError) as raised:
        OPENED[name](path)
    error = raised.value
    assert isinstance(error, mx.Error) and error.errno == 2 and error.strerror and path in str(error) and path in error.filename and "\n" not in str(error)
    assert not str(error).startswith("[Errno") and "Errno" not in str(error)
    again = pickle.loads(pickle.dumps(error))
    assert type(again).__mro__[1:3] == type(error).__mro__[1:3] and str(again) == str(error)


@pytest.mark.parametrize("name", WRITTEN)
def test_a_missing_folder_is_one_as_well(name, tmp_path):
    with pytest.raises(FileNotFoundError) as raised:
        WRITTEN[name](str(tmp_path / "no folder" / "file"))
    assert isinstance(raised.value, mx.Error) and raised.value.errno == 2


@pytest.mark.parametrize("name", ["nd.load", "sym.load", "MXRecordIO"])
def test_folders_are_no_files(name, tmp_path):
    with pytest.raises(IsADirectoryError) as raised:
        OPENED[name](str(tmp_path))
    assert isinstance(raised.value, mx.Error)
    with pytest.raises(IsADirectoryError):
        nd.save(str(tmp_path), nd.ones((2,)))
    assert [entry.name for entry in tmp_path.parent.iterdir() if "params" in entry.name] == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_files_that_may_not_be_read(tmp_path):
    path = tmp_path / "closed"
    path.write_bytes(b"")
    path.chmod(0)
    with pytest.raises(PermissionError):
        nd.load(path)


def test_a_sound_file_with_bad_content_is_a_value_error(tmp_path):
    path = tmp_path / "a.params"
    path.write_bytes(b"no arrays")
    with pytest.raises(ValueError) as raised:
        nd.load(path)
    assert not isinstance(raised.value, OSError)


@pytest.mark.parametrize("name", ["nd", "sym", "csv", "libsvm", "records", "library", "trace"])
def test_names_of_files_that_are_no_text(name, tmp_path):
    """Bytes that are no UTF-8 are names of files as well."""
    path = os.fsdecode(os.fsencode(tmp_path) + b"/\xff\xfe")
    missing = {"nd": nd.load, "sym": sym.load, "csv": lambda p: mx.io.CSVIter(p, (3,)), "libsvm": lambda p: mx.io.LibSVMIter(p, (3,)).next(), "library": mx.load_library,
               "records": lambda p: mx.recordio.MXRecordIO(p, "r")}
    if name in missing:
        with pytest.raises(FileNotFoundError) as raised:
            missing[name](path)
        assert isinstance(raised.value, mx.Error)
        str(raised.value).encode("utf-8", "backslashreplace")
    if name == "nd":
        nd.save(path, {"a": nd.ones((2,))})
        assert nd.load(path)["a"].shape == (2,)
    if name == "sym":
        sym.var("x").save(path)
        assert sym.load(path).name == "x"
    if name in ("csv", "libsvm"):
        with open(path, "w", encoding="ascii") as file:
            file.write({"csv": "1,2,3\n", "libsvm": "1 0:1 2:3\n"}[name])
        batch = (mx.io.CSVIter(path, (3,)) if name == "csv" else mx.io.LibSVMIter(path, (3,))).next()
        assert batch.data[0].asnumpy().tolist() == [[1, 2, 3] if name == "csv" else [1, 0, 3]]
    if name == "trace":
        with mx.engine.trace(path):
            nd.ones((2,)).wait_to_read()
        assert os.path.exists(path)


@pytest.mark.parametrize("call", [lambda: nd.load("half \ud800"), lambda: nd.save("half \ud800", nd.ones((1,))), lambda: sym.load("zero\0byte"), lambda: nd.load("zero\0byte"), lambda: sym.var("\ud800"),
                                  lambda: nd.save("f", {"\ud800": nd.ones((1,))}), lambda: nd.relu(nd.ones((1,)), **{"\ud800": 1}), lambda: nd.Activation(nd.ones((1,)), act_type="\ud800")])
def test_half_a_character_is_no_text(call):
    with pytest.raises(ValueError, match="half of a character|zero byte") as raised:
        call()
    assert isinstance(raised.value, mx.Error) and not isinstance(raised.value, UnicodeError)
    str(raised.value).encode()


NET = sym.FullyConnected(sym.var("x"), num_hidden=3, name="fc")
ARRAYS = {"x": nd.ones((2, 4)), "fc_weight": nd.ones((3, 4)), "fc_bias": nd.ones((3,))}
THERE = "no argument 'data'; there are x, fc_weight, fc_bias"


@pytest.mark.parametrize("call, said", [
    (lambda: NET.simple_bind(mx.cpu(), data=(2, 4)), f"simple_bind: {THERE}; infer_shape: from what is given these shapes do not follow"),
    (lambda: NET.bind(mx.cpu(), {**ARRAYS, "data": nd.ones((2,))}), f"bind: args: {THERE}"),
    (lambda: NET.bind(mx.cpu(), ARRAYS, {"data": nd.ones((2,))}), f"bind: args_grad: {THERE}"),
    (lambda: NET.bind(mx.cpu(), ARRAYS, aux_states={"data": nd.ones((2,))}), "bind: aux_states: no argument 'data'; there are none"),
    (lambda: NET.eval(mx.cpu(), **ARRAYS, data=nd.ones((2,))), f"bind: args: {THERE}"),
    (lambda: NET.bind(mx.cpu(), {"x": nd.ones((2, 4))}), "bind: no array for fc_weight, fc_bias"),
    (lambda: NET.bind(mx.cpu(), ARRAYS, grad_req={"data": "write"}), f"bind: grad_req: {THERE}"),
    (lambda: NET.bind(mx.cpu(), ARRAYS, grad_req=["write"]), "bind: grad_req has 1 request, expected one for each of x, fc_weight, fc_bias"),
    (lambda: NET.simple_bind(mx.cpu(), x=(2, 3), grad_req=["write"] * 4), "simple_bind: grad_req has 4 requests, expected one for each of x, fc_weight, fc_bias"),
    (lambda: sym.relu(sym.var("x")).simple_bind(mx.cpu(), data=(2,)), "no argument 'data'; there is x; ")])
def test_arguments_that_a_net_has_not(call, said):
    with pytest.raises(ValueError, match=re.escape(said)) as raised:
        call()
    assert isinstance(raised.value, mx.Error)


def test_shapes_of_labels_that_a_net_has_not_are_passed_over_with_a_warning():
    with pytest.warns(UserWarning, match="simple_bind: no argument 'softmax_label'; there are x, fc_weight, fc_bias") as caught:
        run = NET.simple_bind(mx.cpu(), x=(2, 4), softmax_label=(2,))
    assert run.forward()[0].shape == (2, 3) and caught[0].filename == __file__
    with pytest.warns(UserWarning, match="simple_bind: no argument 'fc_wieght'; there are x, fc_weight, fc_bias"):
        assert NET.simple_bind(mx.cpu(), x=(2, 4), grad_req={"fc_wieght": "write"}).grad_dict["fc_weight"] is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sym.BatchNorm(sym.var("x"), name="bn").simple_bind(mx.cpu(), x=(2, 4), bn_moving_mean=(4,))  # a state


def overwritten():
    x = nd.ones((2,))
    x.attach_grad()
    with autograd.record():
        nd.relu(x, out=x)


def read_by_a_gradient():
    x = nd.ones((2,))
    x.attach_grad()
    with autograd.record():
        y = x * 2
        nd.square(y, out=y)


def fallback_that_is_an_error():
    before = mx.set_fallback("error")
    try:
        nd.cos(nd.ones((2, 2)).tostype("csr"))
    finally:
        mx.set_fallback(before)


@pytest.mark.parametrize("call, said", [
    (overwritten, "do it in autograd.pause()"), (read_by_a_gradient, "or do it in autograd.pause()"), (lambda: nd.ones((2,), ctx=mx.gpu(0)), "this program has no GPU: it is built without CUDA"),
    (lambda: nd.ones((2,)).as_in_context(mx.gpu(0)), "this program has no GPU: it is built without CUDA"), (fallback_that_is_an_error, "fallbacks are errors here (set_fallback)"),
    (lambda: sym.load_json('{"nodes": [{"op": "no_such", "name": "a", "inputs": []}], "arg_nodes": [], "heads": [[0, 0, 0]]}'), "no_such"),
    (lambda: nd.relu(nd.ones((1,)), nd.ones((1,))), "relu: takes 1 input and 0 parameters, got 2 arguments"),
    (lambda: NET.bind(mx.cpu(), [nd.ones((2, 4))]), "args has 1 array, expected"),
    (lambda: nd.array(1).reshape((1, 1))[0, 0, 0], "index: 3 indices for an array of shape"),
    (lambda: nd.transpose(nd.ones((2,)), axes=(1, 0)), "transpose"), (lambda: nd.slice_axis(nd.ones((2,)), axis=3, begin=0, end=1), "an array of 1 dimension"), (lambda: nd.clip(nd.ones((1,)), 1, 2, 3), "clip: takes 1 input and 2 parameters, got 4 arguments")])
def test_sentences_have_no_names_of_cpp(call, said):
    with pytest.raises(mx.Error) as raised:
        call()
    text = str(raised.value)
    assert said in text and not re.search(r"::|\.cu\b|\.hpp|#include|<strop|to\(strop|\b1 (inputs|parameters|arguments|arrays|dimensions|elements|rows)\b", text)


def test_a_fallback_is_a_warning_as_well(capfd):
    mx.clear_fallbacks()
    x = nd.array([[0, 1], [2, 0]]).tostype("csr")
    with pytest.warns(mx.FallbackWarning) as caught:
        line = nd.sparse.quadratic(x, a=1, b=2, c=3) is not None
    assert line and len(caught) == 1 and caught[0].filename == __file__
    text = str(caught[0].message)
    assert "quadratic(a=1, b=2, c=3): dense fallback for (csr) -> (dense): " in text and "on cpu(0)" in text and "STROP_STORAGE_FALLBACK_LOG_VERBOSE=0 silences this" in text
    assert text in capfd.readouterr().err  # the line is there too
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nd.sparse.quadratic(x, a=1, b=2, c=3)  # said once
        nd.sparse.quadratic(x, a=1, b=2)  # none
        with pytest.raises(mx.FallbackWarning):
            nd.sparse.quadratic(x, a=5, c=1)
    mx.clear_fallbacks()
    run = sym.cos(sym.var("x")).bind(mx.cpu(), {"x": x})
    with pytest.warns(mx.FallbackWarning, match="cos"):
        run.forward()
    mx.clear_fallbacks()
    before = mx.set_fallback("silent")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nd.cos(x)
    mx.set_fallback(before)


def test_errors_of_files_have_their_names():
    for name in ("FileNotFoundError", "IsADirectoryError", "NotADirectoryError", "PermissionError", "OSError"):
        kind = getattr(mx.error, name)
        assert issubclass(kind, (mx.Error, getattr(builtins, name))) and kind.__name__ == name and kind.__module__ == "strop.error"
