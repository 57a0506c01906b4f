# SPDX-License-Identifier: Apache-2.0
"""MXNet's plans of the symbols that bench/graph_plan.cpp has saved, in bytes, as its executor reports them."""
import os
import pathlib
import re

import mxnet as mx

for path in sorted(pathlib.Path(os.environ["STROP_BENCH_DATA"]).glob("graph_plan *.json")):
    net = mx.sym.load(str(path))
    for how, request in (("inference", "null"), ("training", "write")):
        requests = {name: "null" if name in ("data", "softmax_label") else request for name in net.list_arguments()}
        plan = net.simple_bind(mx.cpu(), grad_req=requests).debug_str()
        mebibytes = int(re.search(r"Total (\d+) MB allocated", plan)[1])  # rounded down, and so in its favour
        print(f"{path.stem.removeprefix('graph_plan ')}, {how}\t{mebibytes << 20}", flush=True)
