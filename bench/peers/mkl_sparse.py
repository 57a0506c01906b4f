# SPDX-License-Identifier: Apache-2.0
"""Intel's MKL in the cases of bench/sparse.cpp, by sparse_dot_mkl."""
import glob
import os
import sys

import matrices
import numpy
from clock import report

os.environ.setdefault("MKL_RT", max(glob.glob(f"{sys.prefix}/lib/libmkl_rt.so*"), default=""))
from sparse_dot_mkl import dot_product_mkl  # noqa: E402

for case, a, width in matrices.times_dense():
    b, out = matrices.dense(a.shape[1], width), numpy.zeros((a.shape[0], width), numpy.float32)
    if width == 1:
        b, out = b[:, 0].copy(), out[:, 0].copy()
    report(case, lambda: dot_product_mkl(a, b, out=out, out_scalar=0))
for case, a, width in matrices.transposed():
    g = matrices.dense(a.shape[0], width)
    g = g[:, 0].copy() if width == 1 else g
    report(case, lambda: dot_product_mkl(a.T, g))
for name, a in matrices.matrices(matrices.SQUARES):
    report(f"{name} csr * csr", lambda: dot_product_mkl(a, a))  # its columns are in any order, which is faster
