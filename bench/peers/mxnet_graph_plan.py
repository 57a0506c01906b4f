# SPDX-License-Identifier: Apache-2.0
"""MXNet's plans of the symbols that bench/graph_plan.cpp has saved, in bytes, of which its executor tells whole MiB."""
import os
import pathlib
import re

import mxnet as mx

for path in sorted(pathlib.Path(os.environ["STROP_BENCH_DATA"]).glob("graph_plan *.json")):
    net = mx.sym.load(str(path))
    for how, request in (("inference", "null"), ("training", "write")):
        requests = {name: "null" if name in ("data", "softmax_label") else request for name in net.list_arguments()}
        plan = net.simple_bind(mx.cpu(), grad_req=requests).debug_str()
        mebibytes = int(re.search(r"Total (\d+) MB allocated", plan)[1])
        print(f"{path.stem.removeprefix('graph_plan ')}, {how}\t{mebibytes << 20}", flush=True)
# It tells no finer figure: the log of MXNET_MEM_PLAN_VERBOSE_LOGGING has sizes of values, and not what shares memory.
print("# mxnet: whole MiB, rounded down, as its executor tells them: 55 may be 55.9")
