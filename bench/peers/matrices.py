# SPDX-License-Identifier: Apache-2.0
"""The matrices of bench/sparse.cpp, which writes them, as SciPy's."""
import os
import pathlib

import numpy
import scipy.sparse

NAMES = ("uniform", "power law", "wide")
WIDTHS = (1, 2, 8, 16, 32, 128, 512)


def load(name):
    parts = numpy.load(pathlib.Path(os.environ["STROP_BENCH_DATA"]) / f"{name}.npz")
    return scipy.sparse.csr_matrix((parts["data"], parts["indices"], parts["indptr"]), shape=tuple(parts["shape"]))


def widths(matrix):
    return [w for w in WIDTHS if matrix.shape[1] * w <= 2e8]


def dense(rows, cols):
    return numpy.random.default_rng(1).random((rows, cols), dtype=numpy.float32)
