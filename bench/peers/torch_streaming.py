# SPDX-License-Identifier: Apache-2.0
"""PyTorch in the cases of bench/streaming.cpp, in inference mode."""
import torch

from clock import SIZES, report

torch.set_grad_enabled(False)
with torch.inference_mode():
    for unit, n in SIZES.items():
        x, y = torch.empty(n).uniform_(-3, 3), torch.empty(n).uniform_(-3, 3)
        positive, out = torch.empty(n).uniform_(0.01, 10), torch.empty(n)
        for name, f in {"add": torch.add, "mul": torch.mul}.items():
            report(f"{name} {unit} into", lambda f=f: f(x, y, out=out))
            report(f"{name} {unit} new", lambda f=f: f(x, y))
        report(f"relu {unit} into", lambda: torch.clamp_min(x, 0, out=out))
        report(f"relu {unit} new", lambda: torch.relu(x))
        for name in ("exp", "log", "tanh", "sigmoid", "erf", "sin", "sqrt"):
            f, data = getattr(torch, name), positive if name in ("log", "sqrt") else x
            report(f"{name} {unit} into", lambda f=f, data=data: f(data, out=out))
            report(f"{name} {unit} new", lambda f=f, data=data: f(data))
        cols = {"64 KiB": 128, "4 MiB": 1024, "64 MiB": 4096}[unit]
        m = x.reshape(-1, cols)
        for name, whole, along in (("sum", torch.sum, torch.sum), ("mean", torch.mean, torch.mean),
                                   ("max", torch.max, torch.amax)):
            report(f"{name} {unit} new", lambda f=whole: f(m))
            report(f"{name}, along rows {unit} new", lambda f=along: f(m, 1))
            report(f"{name}, along columns {unit} new", lambda f=along: f(m, 0))
        report(f"argmax, along rows {unit} new", lambda: torch.argmax(m, 1))
