#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a call from Python costs: calls of operators on one element, recorded ones, gradients, arrays that are made of
others and looked at by others, indices, and the import. With --lines for run.py."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "peers"))
import numpy as np  # noqa: E402
from statements import answer, loading, time_of  # noqa: E402

import strop as mx  # noqa: E402
from strop import autograd, nd  # noqa: E402

x, y, out = (nd.full((1,), value) for value in (1, 2, 0))
v, w = nd.full((1,), 1), nd.full((1,), 2)
for one in (v, w):
    one.attach_grad()
table, source, large = nd.ones((4, 4)), np.ones(1000, "f4"), nd.ones((1 << 24,))
large_source = np.ones(1 << 24, "f4")
large.wait_to_read()
SPACE = {"x": x, "y": y, "out": out, "v": v, "w": w, "table": table, "source": source, "large": large, "large_source": large_source, "np": np, "nd": nd,
         "record": autograd.record, "absolute": nd.abs, "multiply": nd.elemwise_mul, "clip": nd.clip, "total": nd.sum, "tanh": nd.tanh}
RECORDED = "with record(): multiply(v, w)"
BACKWARD = "with record(): z = total(tanh(multiply(v, w)))\nz.backward()"
# {case: (statement, bound in nanoseconds, 0 where none is stated)}
CASES = {
    "one input": ("absolute(x)", 400),
    "one input by name": ("absolute(data=x)", 400),
    "two inputs": ("multiply(x, y)", 400),
    "into an array": ("absolute(x, out=out)", 400),
    "x + 2": ("x + 2", 400),
    "with parameters": ("clip(x, 0, 1)", 600),
    "with parameters by name": ("clip(x, a_min=0, a_max=1)", 600),
    "sum over an axis": ("total(x, axis=0)", 600),
    "recorded": (RECORDED, 800),
    "backward of three operators": (BACKWARD, 0),
    "array from NumPy, 1000 elements": ("nd.array(source)", 0),
    "NumPy looks at 64 MiB": ("np.asarray(large)", 1000),
    "DLPack to NumPy, 64 MiB": ("np.from_dlpack(large)", 1000),
    "DLPack from NumPy, 64 MiB": ("nd.from_dlpack(large_source)", 1000),
    "table[1]": ("table[1]", 0),
    "table[1, 2]": ("table[1, 2]", 0),
    "table[:, 1:3]": ("table[:, 1:3]", 0),
    "table[1] = 0": ("table[1] = 0", 0),
}
IMPORT_BOUND, RESIDENT_BOUND = 0.15e9, 60


def main():
    if sys.argv[1:] == ["--lines"]:
        answer("strop", "strop", SPACE, {case: text for case, (text, _) in CASES.items()})
        return
    for case, (text, bound) in CASES.items():
        best, median = time_of(text, SPACE)
        print(f"{case:34} {best:9.1f} ns  (median {median:.1f}{f', bound {bound}' if bound else ''})", flush=True)
    (best, median), megabytes = loading("strop")
    print(f"{'import, with that of NumPy':34} {best / 1e6:9.1f} ms  (median {median / 1e6:.1f}, bound {IMPORT_BOUND / 1e6:.0f})")
    print(f"{'resident after it':34} {megabytes:9.1f} MB  (bound {RESIDENT_BOUND})")


if __name__ == "__main__":
    main()
