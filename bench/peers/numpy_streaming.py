# SPDX-License-Identifier: Apache-2.0
"""NumPy in the cases of bench/streaming.cpp."""
import numpy

from clock import SIZES, report

random = numpy.random.default_rng(1)
for unit, n in SIZES.items():
    x, y = (random.uniform(-3, 3, n).astype("f4") for _ in range(2))
    positive, out = random.uniform(0.01, 10, n).astype("f4"), numpy.empty(n, "f4")
    zero = numpy.float32(0)
    for name, f in {"add": numpy.add, "mul": numpy.multiply}.items():
        report(f"{name} {unit} into", lambda f=f: f(x, y, out=out))
        report(f"{name} {unit} new", lambda f=f: f(x, y))
    report(f"relu {unit} into", lambda: numpy.maximum(x, zero, out=out))
    report(f"relu {unit} new", lambda: numpy.maximum(x, zero))
    for name in ("exp", "log", "tanh", "sin", "sqrt"):
        f, data = getattr(numpy, name), positive if name in ("log", "sqrt") else x
        report(f"{name} {unit} into", lambda f=f, data=data: f(data, out=out))
        report(f"{name} {unit} new", lambda f=f, data=data: f(data))
    m = x.reshape(-1, {"64 KiB": 128, "4 MiB": 1024, "64 MiB": 4096}[unit])
    for name in ("sum", "mean", "max"):
        f = getattr(numpy, name)
        report(f"{name} {unit} new", lambda f=f: f(m))
        report(f"{name}, along rows {unit} new", lambda f=f: f(m, axis=1))
        report(f"{name}, along columns {unit} new", lambda f=f: f(m, axis=0))
    report(f"argmax, along rows {unit} new", lambda: numpy.argmax(m, axis=1))
