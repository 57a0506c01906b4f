# SPDX-License-Identifier: Apache-2.0
"""SciPy in the cases of bench/sparse.cpp. Its transposed products are dense."""
import matrices
from clock import report

for name in matrices.NAMES:
    a = matrices.load(name)
    for width in matrices.widths(a):
        b = matrices.dense(a.shape[1], width)
        report(f"{name} csr * dense, width {width}", lambda: a @ b)
        if width <= 128 and a.shape[1] * width <= 2e7:  # beyond, its dense result takes seconds to make
            g = matrices.dense(a.shape[0], width)
            report(f"{name} csr' * dense to rows, width {width}", lambda: a.T @ g)
    report(f"{name} csr * 2", lambda: a * 2)
