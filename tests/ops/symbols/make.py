# SPDX-License-Identifier: Apache-2.0
"""Writes the symbol files of tests/ops/symbols with MXNet: run with mxnet==1.9.1 and numpy==1.23.5."""
import json
import pathlib
import sys

import mxnet as mx
import numpy as np

HERE = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent


def network():
    """Variables that describe themselves, a written state, hidden outputs, several outputs, attributes, three heads."""
    data = mx.sym.var("data", shape=(0, 4), dtype="float64", lr_mult=2)
    normed = mx.sym.BatchNorm(data, name="bn")
    with mx.AttrScope(ctx_group="g1"):
        fc = mx.sym.FullyConnected(normed, num_hidden=3, name="fc", attr={"lr_mult": "3"})
    dropped = mx.sym.Dropout(fc, p=0.25, name="do")
    parts = mx.sym.split(mx.sym.Concat(dropped, fc, name="cc"), num_outputs=2, name="sp")
    total = mx.sym.sum(parts[1], axis=(0, 1), keepdims=True, name="sm")
    clipped = mx.sym.clip(mx.sym.transpose(parts[0], axes=(1, 0), name="tr"), a_min=-1.5, a_max=2, name="cl")
    return mx.sym.Group([total, clipped, normed])


def many():
    """More than ten inputs, heads and arguments, each of which is then a line; a sum that counts its inputs."""
    names = [mx.sym.var(f"x{i}") for i in range(12)]
    added = mx.sym.add_n(*names, name="sum")
    return mx.sym.Group([added * i for i in range(2, 13)])


def stated():
    """Parameters that are said though they are defaults, texts of several spellings, and inputs that are made by
    themselves: they say what their operators say, and what they begin with."""
    x = mx.sym.Convolution(mx.sym.var("data"), kernel=[3, 3], num_filter=4, stride=(1, 1), no_bias=False, name="conv", attr={"lr_mult": "2"})
    x = mx.sym.BatchNorm(x, name="bn", eps=1e-3, momentum=0.90, fix_gamma=True)
    x = mx.sym.Pooling(x, kernel=(2, 2), pool_type="avg", global_pool=False, name="pool")
    x = mx.sym.Dropout(mx.sym.Flatten(x, name="flat"), p=0.5, name="drop")
    x = mx.sym.FullyConnected(x, num_hidden=3, no_bias=0, name="fc")
    a = mx.sym.sum(x * 1 + 1.0, axis=None, keepdims=False, name="total")
    b = mx.sym.Cast(mx.sym.reshape(x, shape=(0, -1), reverse=False, name="shaped"), dtype=np.float64, name="cast")
    return mx.sym.Group([a, b, mx.sym.slice_axis(x, axis=0, begin=0, end=None, name="part"), 2.5 - x, x > 1])


def classifier():
    """Layers, a written state, shapes moved about: with values and with what comes out, in classifier.npz."""
    x = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=8, name="fc1")
    x = mx.sym.BatchNorm(x, name="bn", fix_gamma=False, eps=0.01)
    x = mx.sym.LeakyReLU(x, act_type="elu", slope=0.3, name="lr")
    y = mx.sym.Concat(x, mx.sym.tanh(x), dim=1)
    y = mx.sym.transpose(mx.sym.reshape(y, shape=(0, 4, -1)), axes=(0, 2, 1))
    first, second = mx.sym.split(y, num_outputs=2, axis=1)
    y = mx.sym.broadcast_add(first, mx.sym.mean(second, axis=(1, 2), keepdims=True))
    y = mx.sym.clip(y * 2.5 - 1, a_min=-1, a_max=3)
    return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(y, num_hidden=3, name="fc2", no_bias=True), name="softmax")


net = classifier()
shapes, _, states = net.infer_shape(data=(5, 6))
names = net.list_arguments() + net.list_auxiliary_states()
random = np.random.RandomState(0)
values = {name: random.rand(*shape).astype("f") for name, shape in zip(names, shapes + states)}
arrays = {name: mx.nd.array(value) for name, value in values.items()}
run = net.bind(mx.cpu(), {name: arrays[name] for name in net.list_arguments()},
               aux_states={name: arrays[name] for name in net.list_auxiliary_states()})
(HERE / "classifier.json").write_text(net.tojson())
np.savez(HERE / "classifier.npz", **values, **{"softmax_output": run.forward()[0].asnumpy()})
(HERE / "network.json").write_text(network().tojson())
(HERE / "many.json").write_text(many().tojson())
with mx.name.NameManager():
    (HERE / "stated.json").write_text(stated().tojson())
# What 0.8 wrote: no version, "param" beside "attr", links of two numbers, no auxiliary inputs, plain keys, axis=-1 for all.
old = [
    {"op": "null", "param": {}, "name": "data", "inputs": [], "backward_source_id": -1, "attr": {"lr_mult": "0.5"}},
    {"op": "null", "param": {}, "name": "fc1_weight", "inputs": [], "backward_source_id": -1, "attr": {"wd_mult": "0.1"}},
    {"op": "null", "param": {}, "name": "fc1_bias", "inputs": [], "backward_source_id": -1},
    {"op": "FullyConnected", "param": {"no_bias": "False", "num_hidden": "10"}, "name": "fc1",
     "inputs": [[0, 0], [1, 0], [2, 0]], "backward_source_id": -1,
     "attr": {"ctx_group": "stage1", "weight_lr_mult": "1.2", "lr_mult": "0.01"}},
    {"op": "null", "param": {}, "name": "bn_gamma", "inputs": [], "backward_source_id": -1},
    {"op": "null", "param": {}, "name": "bn_beta", "inputs": [], "backward_source_id": -1},
    {"op": "BatchNorm", "param": {"eps": "0.01", "momentum": "0.8", "fix_gamma": "False"}, "name": "bn",
     "inputs": [[3, 0], [4, 0], [5, 0]], "backward_source_id": -1},
    {"op": "argmax", "param": {"axis": "-1", "keepdims": "False"}, "name": "am", "inputs": [[6, 0]],
     "backward_source_id": -1},
]
text = json.dumps({"nodes": old, "arg_nodes": [0, 1, 2, 4, 5], "heads": [[7, 0]]}, indent=2)
(HERE / "old.json").write_text(text)
(HERE / "old_upgraded.json").write_text(mx.sym.load_json(text).tojson())
