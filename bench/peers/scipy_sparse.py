# SPDX-License-Identifier: Apache-2.0
"""SciPy in the cases of bench/sparse.cpp. Its transposed products are dense."""
import matrices
from clock import report

for case, a, width in matrices.times_dense():
    b = matrices.dense(a.shape[1], width)
    report(case, lambda: a @ b)
for case, a, width in matrices.transposed():
    g = matrices.dense(a.shape[0], width)
    report(case, lambda: a.T @ g)
for name, a in matrices.matrices():
    report(f"{name} csr * 2", lambda: a * 2)
for name, a in matrices.matrices(matrices.SQUARES):
    report(f"{name} csr * csr", lambda: a @ a)
for name, a, b in matrices.pairs():
    report(f"{name} csr + csr", lambda: a + b)
    report(f"{name} csr * csr by element", lambda: a.multiply(b))
for case, a in matrices.by_dense_element():
    d = matrices.dense(*a.shape)
    report(case, lambda: a.multiply(d))
