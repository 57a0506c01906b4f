#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What an operator costs inside NumPy: softsign, x / (1 + |x|), as a ufunc beside NumPy's own and beside the expression. Inside
PyTorch and JAX, which are installed for it: bench/peers/torch_hosts.py, with --peers."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "peers"))
import numpy as np  # noqa: E402
from statements import time_of  # noqa: E402

import strop.numpy  # noqa: E402

softsign, add = strop.numpy.ufunc("softsign"), strop.numpy.ufunc("broadcast_add")
one, many = np.ones(1, "f4"), np.linspace(-3, 3, 1_000_000, dtype="f4")
assert np.allclose(softsign(many), many / (1 + np.abs(many)))
SPACE = {"np": np, "softsign": softsign, "add": add, "one": one, "many": many}
# {case: (ours, the other's, the most that our time may be of it)}
CASES = {
    "one element; np.exp": ("softsign(one)", "np.exp(one)", 1.5),
    "a million; the NumPy expression": ("softsign(many)", "many / (1 + np.abs(many))", 1 / 1.5),
    "a million, reduced; np.add.reduce": ("add.reduce(many)", "np.add.reduce(many)", 0),
}


def main():
    print(f"{'NumPy, microseconds':42} {'strop':>10} {'other':>10} {'ratio':>7} {'bound':>7}")
    for case, (ours, theirs, most) in CASES.items():
        a, b = (time_of(text, SPACE)[0] / 1e3 for text in (ours, theirs))
        print(f"{case:42} {a:10.2f} {b:10.2f} {a / b:7.2f} {f'{most:7.2f}' if most else ''}", flush=True)


if __name__ == "__main__":
    main()
