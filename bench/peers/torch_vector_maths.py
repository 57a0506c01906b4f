# SPDX-License-Identifier: Apache-2.0
"""PyTorch in the cases of bench/vector_maths.cpp, in inference mode, into an array that is there."""
import torch

from clock import report

N = 1 << 17
RANGES = {
    "exp": (-20, 20), "exp2": (-20, 20), "expm1": (-5, 5), "log": (0.01, 100), "log1p": (-0.9, 20), "log2": (0.01, 100),
    "log10": (0.01, 100), "tanh": (-5, 5), "sigmoid": (-10, 10), "sin": (-10, 10), "cos": (-10, 10), "tan": (-10, 10),
    "erf": (-3, 3), "sqrt": (0.01, 100), "rsqrt": (0.01, 100), "sinh": (-5, 5), "cosh": (-5, 5), "asin": (-1, 1),
    "acos": (-1, 1), "atan": (-5, 5), "asinh": (-5, 5), "acosh": (1, 50), "atanh": (-0.99, 0.99),
    "erfinv": (-0.99, 0.99), "lgamma": (0.1, 20), "digamma": (0.1, 20), "floor": (-100, 100), "round": (-100, 100),
    "pow": (0.01, 10), "fmod": (0.01, 10), "atan2": (-10, 10), "hypot": (-10, 10),
}
torch.set_grad_enabled(False)
with torch.inference_mode():
    for name, dtype in (("float", torch.float32), ("double", torch.float64)):
        out = torch.empty(N, dtype=dtype)
        for f, (low, high) in RANGES.items():
            x = low + (high - low) * (torch.arange(N, dtype=torch.int64) * 2654435761 % N).to(dtype) / N
            call = getattr(torch, f)
            arguments = (x, x * 0.5 - 1) if f in ("pow", "fmod", "atan2", "hypot") else (x,)
            # PyTorch rounds halves to even, as rint does
            report(f"{name} {'rint' if f == 'round' else f}", lambda: call(*arguments, out=out))
