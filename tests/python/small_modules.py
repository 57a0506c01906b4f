# SPDX-License-Identifier: Apache-2.0
"""Networks, batches and modules that the tests of modules share."""
import numpy as np

import strop as mx
from strop import nd, sym


def waves(shape, k):
    """Numbers that every program makes alike."""
    return np.sin(np.arange(np.prod(shape)) * 0.37 + k).astype("f4").reshape(shape)


def linear(hidden=3):
    return sym.SoftmaxOutput(sym.FullyConnected(sym.Variable("data"), num_hidden=hidden, name="fc"), name="softmax")


def batches(rows=14, batch_size=4, **more):
    return mx.io.NDArrayIter(waves((rows, 5), 1), (np.arange(rows) * 5 % 3).astype("f4"), batch_size=batch_size, **more)


def a_batch(rows=4):
    return mx.io.DataBatch([nd.array(waves((rows, 5), 1))], [nd.array(np.arange(rows) % 3)])


FIRST = {"fc_weight": waves((3, 5), 2), "fc_bias": waves((3,), 3)}


def first():
    return {name: nd.array(a) for name, a in FIRST.items()}


def bound(net=None, rows=4, **more):
    module = mx.mod.Module(net or linear())
    module.bind([("data", (rows, 5))], [("softmax_label", (rows,))], **more)
    module.init_params(arg_params=first(), aux_params={}, allow_missing=True)
    return module


def softmax(x):
    powers = np.exp(x - x.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def named(arrays):
    return {name: a.asnumpy() for name, a in arrays.items()}


def network_of(length):
    emb = sym.Embedding(sym.Variable("data"), input_dim=10, output_dim=4, name="emb")
    return sym.SoftmaxOutput(sym.FullyConnected(sym.mean(emb, axis=1), num_hidden=3, name="fc"), name="softmax"), ("data",), ("softmax_label",)


def bucket(length, k=0, rows=2):
    return mx.io.DataBatch([nd.array((np.arange(rows * length).reshape(rows, length) * 3 + k) % 10)], [nd.array((np.arange(rows) + k) % 3)], bucket_key=length,
                           provide_data=[("data", (rows, length))], provide_label=[("softmax_label", (rows,))])
