# SPDX-License-Identifier: Apache-2.0
"""MXNet in the cases of bench/python.py: pushed and waited for in groups, so that what counts is the rate."""
import mxnet as mx
import numpy as np

from statements import answer

x, y, out = (mx.nd.full((1,), value) for value in (1, 2, 0))
v, w = mx.nd.full((1,), 1), mx.nd.full((1,), 2)
for one in (v, w):
    one.attach_grad()


def recorded():
    with mx.autograd.record():
        return mx.nd.elemwise_mul(v, w)


def backward():
    with mx.autograd.record():
        z = mx.nd.sum(mx.nd.tanh(mx.nd.elemwise_mul(v, w)))
    z.backward()


table = mx.nd.ones((4, 4))
SPACE = {"x": x, "y": y, "out": out, "table": table, "source": np.ones(1000, "f4"), "large_source": np.ones(1 << 24, "f4"), "large": mx.nd.ones((1 << 24,)),
         "mx": mx, "absolute": mx.nd.abs, "multiply": mx.nd.elemwise_mul, "clip": mx.nd.clip, "total": mx.nd.sum, "recorded": recorded, "backward": backward}
answer("mxnet", "mxnet", SPACE, {
    "one input": "absolute(x)",
    "one input by name": "absolute(data=x)",
    "two inputs": "multiply(x, y)",
    "into an array": "absolute(x, out=out)",
    "x + 2": "x + 2",
    "with parameters": "clip(x, 0, 1)",
    "with parameters by name": "clip(x, a_min=0, a_max=1)",
    "sum over an axis": "total(x, axis=0)",
    "recorded": "recorded()",
    "backward of three operators": "backward()",
    "array from NumPy, 1000 elements": "mx.nd.array(source)",
    "DLPack from NumPy, 64 MiB": "mx.nd.from_numpy(large_source)",
    "table[1]": "table[1]",
    "table[1, 2]": "table[1, 2]",
    "table[:, 1:3]": "table[:, 1:3]",
    "table[1] = 0": "table[1] = 0",
}, group=20, end="mx.nd.waitall()")
