# SPDX-License-Identifier: Apache-2.0
"""PyTorch in the cases of bench/python.py."""
import os

import numpy as np
import torch

from statements import answer

torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
x, y, out = (torch.full((1,), value, dtype=torch.float32) for value in (1, 2, 0))
v, w = (torch.full((1,), value, dtype=torch.float32, requires_grad=True) for value in (1, 2))
SPACE = {"x": x, "y": y, "out": out, "v": v, "w": w, "table": torch.ones(4, 4), "source": np.ones(1000, "f4"), "large": torch.ones(1 << 24),
         "large_source": np.ones(1 << 24, "f4"), "np": np, "torch": torch, "absolute": torch.abs, "multiply": torch.mul, "clip": torch.clamp, "total": torch.sum}
answer("torch", "torch", SPACE, {
    "one input": "absolute(x)",
    "one input by name": "absolute(input=x)",
    "two inputs": "multiply(x, y)",
    "into an array": "absolute(x, out=out)",
    "x + 2": "x + 2",
    "with parameters": "clip(x, 0, 1)",
    "with parameters by name": "clip(x, min=0, max=1)",
    "sum over an axis": "total(x, dim=0)",
    "recorded": "multiply(v, w)",
    "backward of three operators": "v.grad = w.grad = None\ntotal(torch.tanh(multiply(v, w))).backward()",
    "array from NumPy, 1000 elements": "torch.tensor(source)",
    "NumPy looks at 64 MiB": "large.numpy()",
    "DLPack to NumPy, 64 MiB": "np.from_dlpack(large)",
    "DLPack from NumPy, 64 MiB": "torch.from_dlpack(large_source)",
    "table[1]": "table[1]",
    "table[1, 2]": "table[1, 2]",
    "table[:, 1:3]": "table[:, 1:3]",
    "table[1] = 0": "table[1] = 0",
})
