# SPDX-License-Identifier: Apache-2.0
"""NumPy in the cases of bench/python.py."""
import numpy as np

from statements import answer

x, y, out = (np.full(1, value, "f4") for value in (1, 2, 0))
SPACE = {"x": x, "y": y, "out": out, "table": np.ones((4, 4), "f4"), "source": np.ones(1000, "f4"), "large": np.ones(1 << 24, "f4"), "np": np,
         "absolute": np.abs, "multiply": np.multiply, "clip": np.clip, "total": np.sum}
answer("numpy", "numpy", SPACE, {
    "one input": "absolute(x)",
    "two inputs": "multiply(x, y)",
    "into an array": "absolute(x, out=out)",
    "x + 2": "x + 2",
    "with parameters": "clip(x, 0, 1)",
    "with parameters by name": "clip(x, a_min=0, a_max=1)",
    "sum over an axis": "total(x, axis=0)",
    "array from NumPy, 1000 elements": "np.array(source)",
    "NumPy looks at 64 MiB": "np.asarray(large)",
    "DLPack to NumPy, 64 MiB": "np.from_dlpack(large)",
    "table[1]": "table[1]",
    "table[1, 2]": "table[1, 2]",
    "table[:, 1:3]": "table[:, 1:3]",
    "table[1] = 0": "table[1] = 0",
})
