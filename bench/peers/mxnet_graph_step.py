# SPDX-License-Identifier: Apache-2.0
"""MXNet's executor in the cases of bench/graph_step.cpp: it loads the symbols that we have saved."""
import os
import pathlib

import mxnet as mx
import numpy as np

from clock import report

np.random.seed(1)


def numbers(name, shape, stype):
    if stype == "csr":
        rows, cols = shape
        stored = 30
        apart = cols // stored
        k = np.arange(rows * stored)
        return mx.nd.sparse.csr_matrix((np.ones(rows * stored, "float32"), k % stored * apart + k * 7919 % apart,
                                        np.arange(rows + 1) * stored), shape=shape)
    if name == "data_fields" or name.startswith("label"):
        below = 100_000 if name == "data_fields" else 2 if len(shape) == 2 else 10
        return mx.nd.array((np.arange(np.prod(shape)) * 7919 % below).reshape(shape))
    return mx.nd.array(np.random.uniform(-0.05, 0.05, shape))


for path in sorted(pathlib.Path(os.environ["STROP_BENCH_DATA"]).glob("graph_step *.json")):
    net = mx.sym.load(str(path))
    names = net.list_arguments()
    requests = {name: "null" if name.startswith(("data", "label")) else "write" for name in names}
    run = net.simple_bind(mx.cpu(), grad_req=requests)
    for name, array in run.arg_dict.items():
        array[:] = numbers(name, array.shape, array.stype)
    head = mx.nd.ones(run.outputs[0].shape)

    def step():
        run.forward(is_train=True)
        run.backward(head)
        mx.nd.waitall()

    report(path.stem.removeprefix("graph_step "), step, budget=0.3, round_time=2e-4)
