# SPDX-License-Identifier: Apache-2.0
"""MXNet in the cases of bench/streaming.cpp; every call is waited for."""
import mxnet as mx

from clock import SIZES, report

nd = mx.nd


def waited(f, *inputs, **how):
    def run():
        f(*inputs, **how).wait_to_read()
    return run


for unit, n in SIZES.items():
    x, y = nd.random.uniform(-3, 3, n), nd.random.uniform(-3, 3, n)
    positive, out = nd.random.uniform(0.01, 10, n), nd.empty(n)
    for name, f, inputs in (("add", nd.elemwise_add, (x, y)), ("mul", nd.elemwise_mul, (x, y)), ("relu", nd.relu, (x,)),
                            ("quadratic", nd.contrib.quadratic, (x,)), ("smooth_l1", nd.smooth_l1, (x,)),
                            ("exp", nd.exp, (x,)), ("log", nd.log, (positive,)), ("tanh", nd.tanh, (x,)),
                            ("sigmoid", nd.sigmoid, (x,)), ("erf", nd.erf, (x,)), ("sin", nd.sin, (x,)),
                            ("sqrt", nd.sqrt, (positive,))):
        how = {"quadratic": {"a": 1.5, "b": 2, "c": -0.5}, "smooth_l1": {"scalar": 1.5}}.get(name, {})
        report(f"{name} {unit} into", waited(f, *inputs, out=out, **how))
        report(f"{name} {unit} new", waited(f, *inputs, **how))
    m = x.reshape((-1, {"64 KiB": 128, "4 MiB": 1024, "64 MiB": 4096}[unit]))
    for name in ("sum", "mean", "max"):
        f = getattr(nd, name)
        report(f"{name} {unit} new", waited(f, m))
        report(f"{name}, along rows {unit} new", waited(f, m, axis=1))
        report(f"{name}, along columns {unit} new", waited(f, m, axis=0))
    report(f"argmax, along rows {unit} new", waited(nd.argmax, m, axis=1))
