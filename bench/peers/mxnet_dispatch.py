# SPDX-License-Identifier: Apache-2.0
"""MXNet in the cases of bench/dispatch.cpp, called from Python as it is: pushed and waited for in groups, so that what
counts is the rate."""
import mxnet as mx

from clock import best

GROUP = 50
x, y, out = (mx.nd.full((1,), v) for v in (1, 2, 0))
v, w = mx.nd.full((1,), 1), mx.nd.full((1,), 2)
v.attach_grad()
w.attach_grad()


def recorded():
    with mx.autograd.record():
        return v * w


def backward():
    with mx.autograd.record():
        z = mx.nd.sum(v * w)
    z.backward()


def group(work):
    def run():
        for _ in range(GROUP):
            work()
        mx.nd.waitall()
    return run


def rate(case, work):
    print(f"{case}\t{best(group(work), round_time=1e-3) / GROUP:.2f}", flush=True)


rate("one input", lambda: x + 2)
rate("two inputs", lambda: mx.nd.elemwise_mul(x, y))
rate("into an array", lambda: mx.nd.elemwise_mul(x, y, out=out))
rate("by name with a parameter", lambda: mx.nd.smooth_l1(x, scalar=2))
rate("recorded", recorded)
rate("multiply + sum + backward", backward)
