# SPDX-License-Identifier: Apache-2.0
"""PyTorch in the dense cases of bench/products.cpp."""
import torch

from clock import report

CASES = [
    ("16x16x16", 16, 16, 16), ("64x64x64", 64, 64, 64), ("128x128x128", 128, 128, 128), ("256x256x256", 256, 256, 256),
    ("512x512x512", 512, 512, 512), ("1024x1024x1024", 1024, 1024, 1024), ("64x1024x1024", 64, 1024, 1024),
    ("4096x64x576, im2col", 4096, 64, 576), ("128x256x784 B', layer 1", 128, 256, 784),
    ("256x784x128 A', its dW", 256, 784, 128), ("128x10x256 B', layer 2", 128, 10, 256),
    ("10x256x128 A', its dW", 10, 256, 128), ("128x256x10, its dx", 128, 256, 10),
    ("1x256x784 B', batch 1", 1, 256, 784), ("256x784x1 A', its dW", 256, 784, 1),
    ("1024x1x1024, gemv", 1024, 1, 1024), ("1x1024x1024, vector by matrix", 1, 1024, 1024),
    ("4096x1x4096, gemv", 4096, 1, 4096),
]
with torch.inference_mode():
    for name, m, n, k in CASES:
        kind = name.split(",")[0]
        a = torch.rand(k, m).T if "A'" in kind else torch.rand(m, k)
        b = torch.rand(n, k).T if "B'" in kind else torch.rand(k, n)
        out = torch.empty(m, n)
        report(name, lambda: torch.mm(a, b, out=out))
