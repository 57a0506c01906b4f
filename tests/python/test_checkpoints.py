# SPDX-License-Identifier: Apache-2.0
"""Checkpoints: what save_checkpoint writes and load_checkpoint reads, and a pair of files of MXNet 1.9.1."""
import base64
import json
import logging
import pathlib
import pickle

import numpy as np
import pytest

import strop as mx
from strop import nd, sym

# prefix-symbol.json and prefix-0001.params as MXNet 1.9.1 writes them: FullyConnected, BatchNorm and SoftmaxOutput.
SYMBOL = r"""
{
  "nodes": [
    {
      "op": "null", 
      "name": "data", 
      "inputs": []
    }, 
    {
      "op": "null", 
      "name": "fc_weight", 
      "attrs": {"num_hidden": "2"}, 
      "inputs": []
    }, 
    {
      "op": "null", 
      "name": "fc_bias", 
      "attrs": {"num_hidden": "2"}, 
      "inputs": []
    }, 
    {
      "op": "FullyConnected", 
      "name": "fc", 
      "attrs": {"num_hidden": "2"}, 
      "inputs": [[0, 0, 0], [1, 0, 0], [2, 0, 0]]
    }, 
    {
      "op": "null", 
      "name": "bn_gamma", 
      "attrs": {"fix_gamma": "False"}, 
      "inputs": []
    }, 
    {
      "op": "null", 
      "name": "bn_beta", 
      "attrs": {"fix_gamma": "False"}, 
      "inputs": []
    }, 
    {
      "op": "null", 
      "name": "bn_moving_mean", 
      "attrs": {
        "__init__": "[\"zero\", {}]", 
        "fix_gamma": "False"
      }, 
      "inputs": []
    }, 
    {
      "op": "null", 
      "name": "bn_moving_var", 
      "attrs": {
        "__init__": "[\"one\", {}]", 
        "fix_gamma": "False"
      }, 
      "inputs": []
    }, 
    {
      "op": "BatchNorm", 
      "name": "bn", 
      "attrs": {"fix_gamma": "False"}, 
      "inputs": [[3, 0, 0], [4, 0, 0], [5, 0, 0], [6, 0, 1], [7, 0, 1]]
    }, 
    {
      "op": "null", 
      "name": "softmax_label", 
      "inputs": []
    }, 
    {
      "op": "SoftmaxOutput", 
      "name": "softmax", 
      "inputs": [[8, 0, 0], [9, 0, 0]]
    }
  ], 
  "arg_nodes": [0, 1, 2, 4, 5, 6, 7, 9], 
  "node_row_ptr": [0, 1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 13], 
  "heads": [[10, 0, 0]], 
  "attrs": {"mxnet_version": ["int", 10901]}
}
"""
PARAMS = base64.b64decode(
    "EgEAAAAAAAAAAAAAAAAAAAYAAAAAAAAAyfqT+QAAAAACAAAAAgAAAAAAAAADAAAAAAAAAAEAAAAAAAAAAAAAAAAAgD8AAABAAABAQAAAgL8AAAA/AAAAQMn6"
    "k/kAAAAAAQAAAAIAAAAAAAAAAQAAAAAAAAAAAAAAAAAAPwAAgL/J+pP5AAAAAAEAAAACAAAAAAAAAAEAAAAAAAAAAAAAAAAAgD8AAABAyfqT+QAAAAABAAAA"
    "AgAAAAAAAAABAAAAAAAAAAAAAAAAAAAAAACAP8n6k/kAAAAAAQAAAAIAAAAAAAAAAQAAAAAAAAAAAAAAAACAPwAAAEDJ+pP5AAAAAAEAAAACAAAAAAAAAAEA"
    "AAAAAAAAAAAAAAAAgEAAABBBBgAAAAAAAAANAAAAAAAAAGFyZzpmY193ZWlnaHQLAAAAAAAAAGFyZzpmY19iaWFzDAAAAAAAAABhcmc6Ym5fZ2FtbWELAAAA"
    "AAAAAGFyZzpibl9iZXRhEgAAAAAAAABhdXg6Ym5fbW92aW5nX21lYW4RAAAAAAAAAGF1eDpibl9tb3ZpbmdfdmFy"
)


@pytest.fixture
def prefix(tmp_path):
    return str(tmp_path / "net")


def network():
    net = sym.BatchNorm(sym.FullyConnected(sym.var("data"), num_hidden=2, name="fc"), fix_gamma=False, name="bn")
    return sym.SoftmaxOutput(net, name="softmax")


def predict(net, args, states):
    data = nd.array([[1, 2, 3], [0, 1, -1]])
    run = net.bind(mx.cpu(), {"data": data, "softmax_label": nd.zeros((2,)), **args}, aux_states=states)
    return run.forward(is_train=False)[0].asnumpy()


def test_files_of_mxnet(prefix):
    pathlib.Path(f"{prefix}-symbol.json").write_text(SYMBOL.strip())
    pathlib.Path(f"{prefix}-0001.params").write_bytes(PARAMS)
    net, args, states = mx.model.load_checkpoint(prefix, 1)
    assert net.list_arguments() == network().list_arguments() and net.list_auxiliary_states() == ["bn_moving_mean", "bn_moving_var"]
    assert args["fc_weight"].asnumpy().tolist() == [[1, 2, 3], [-1, 0.5, 2]] and states["bn_moving_var"].asnumpy().tolist() == [4, 9]
    np.testing.assert_allclose(predict(net, args, states), [[0.977006, 0.022994], [0.777287, 0.222713]], rtol=1e-4)
    mx.model.save_checkpoint(prefix, 2, network(), args, states)
    assert pathlib.Path(f"{prefix}-0002.params").read_bytes() == PARAMS  # the same bytes again


def test_a_checkpoint_is_read_again(prefix, caplog):
    args, states = {"w": nd.array([[1, 2]]), "rows": nd.array([[0, 0], [1, 2]]).tostype("row_sparse")}, {"mean": nd.array([3], dtype="float64")}
    with caplog.at_level(logging.INFO):
        mx.model.save_checkpoint(prefix, 12, network(), args, states)
    assert f"{prefix}-0012.params" in caplog.text
    net, found, found_states = mx.model.load_checkpoint(prefix, 12)
    assert net.tojson() == network().tojson() and found["rows"].stype == "row_sparse"
    assert found["w"].asnumpy().tolist() == [[1, 2]] and found_states["mean"].dtype == np.float64
    again = mx.model.load_params(prefix, 12)
    assert [sorted(one) for one in again] == [["rows", "w"], ["mean"]]
    mx.model.save_checkpoint(prefix + "2", 12345, None, args, None)  # no symbol, no states
    assert not pathlib.Path(f"{prefix}2-symbol.json").exists() and mx.model.load_params(prefix + "2", 12345)[1] == {}


def test_what_is_no_checkpoint(prefix, caplog):
    with pytest.raises(mx.Error):
        mx.model.load_params(prefix, 1)
    nd.save(f"{prefix}-0001.params", {"w": nd.ones((1,))})
    with pytest.raises(ValueError, match="'w', expected arg:name or aux:name"):
        mx.model.load_params(prefix, 1)
    nd.save(f"{prefix}-0001.params", [nd.ones((1,))])
    with pytest.raises(ValueError, match="have no names"):
        mx.model.load_params(prefix, 1)
    nd.save(f"{prefix}-0001.params", {"opt:w": nd.ones((1,)), "arg:w": nd.ones((1,))})
    assert [list(one) for one in mx.model.load_params(prefix, 1)] == [["w"], []]
    nd.save(f"{prefix}-0001.params", {})
    assert mx.model.load_params(prefix, 1) == ({}, {}) and "is empty" in caplog.text


def test_casts_of_mixed_precision_are_not_written(prefix):
    x, y = sym.var("x"), sym.var("y")
    layer = sym.FullyConnected(sym.amp_cast(x, dtype="float16"), num_hidden=2, name="fc")
    one, other = sym.amp_multicast(layer, y, num_outputs=2)
    net = sym.Group([one * 2, other * 2, sym.BatchNorm(layer, name="bn")[0] + 1])
    plain = sym.Group([sym.FullyConnected(x, num_hidden=2, name="fc"), y])
    operators = [node["op"] for node in json.loads(net.tojson())["nodes"]]
    assert not any(name.startswith("amp_") for name in operators) and operators.count("FullyConnected") == 1
    assert "amp_multicast" in net.tojson(remove_amp_cast=False)
    net.save(f"{prefix}.json")
    assert json.loads(pathlib.Path(f"{prefix}.json").read_text()) == json.loads(net.tojson())
    net.save(f"{prefix}.json", remove_amp_cast=False)
    assert pathlib.Path(f"{prefix}.json").read_text() == net.tojson(remove_amp_cast=False)
    read = sym.load_json(net.tojson())
    assert read.list_arguments() == net.list_arguments() and read.list_auxiliary_states() == net.list_auxiliary_states()
    assert plain.tojson() == plain.tojson(remove_amp_cast=False)
    assert "amp_cast" in pickle.loads(pickle.dumps(net)).tojson(remove_amp_cast=False)


def test_a_smaller_executor_lies_in_the_larger_one():
    run = sym.FullyConnected(sym.var("x"), num_hidden=4, name="fc").simple_bind(mx.cpu(), x=(5, 4))
    run.arg_dict["x"][:] = 1
    run.arg_dict["fc_weight"][:] = 1
    small = run.reshape(x=(3, 4))
    assert (small.forward()[0].asnumpy() == 4).all()
    small.arg_dict["x"][:] = 2
    assert run.arg_dict["x"].asnumpy()[:, 0].tolist() == [2, 2, 2, 1, 1]
    small.forward(is_train=True)
    small.backward(nd.ones((3, 4)))
    assert (run.grad_dict["x"].asnumpy()[:3] == 4).all() and (run.grad_dict["fc_bias"].asnumpy() == 3).all()
    with pytest.raises(mx.MXNetError, match="allow_up_sizing"):
        run.reshape(x=(6, 4))
    large = run.reshape(allow_up_sizing=True, x=(6, 4))
    assert large.arg_dict["x"].shape == (6, 4) and (large.forward()[0].asnumpy()[:1] == 0).all()
    with pytest.raises(mx.MXNetError):
        run.reshape(x=(5, 3))
    assert run.reshape(partial_shaping=True, x=(5, 3)).arg_dict["fc_weight"].shape == (4, 3)
    assert small.reshape(x=(2, 4)).forward()[0].shape == (2, 4)  # of one that was reshaped itself
