# SPDX-License-Identifier: Apache-2.0
"""The cases of bench/sparse.cpp, which writes their matrices: for each, its name, its matrix and a width."""
import os
import pathlib

import numpy

NAMES = ("uniform", "power law", "package index", "wide")
SQUARES = ("uniform", "power law")
DECADES = (10000, 100000, 1000000, 10000000)
WIDTHS = (1, 2, 8, 16, 32, 128, 512)


def parts(name):
    """Values, columns, where rows begin, and the shape."""
    file = numpy.load(pathlib.Path(os.environ["STROP_BENCH_DATA"]) / f"{name}.npz")
    return file["data"], file["indices"], file["indptr"], tuple(int(n) for n in file["shape"])


def load(name):
    """As SciPy's."""
    import scipy.sparse
    data, indices, indptr, shape = parts(name)
    return scipy.sparse.csr_matrix((data, indices, indptr), shape=shape)


def matrices(names=NAMES, load=load):
    """(name, matrix) of those that are there and that load() does not refuse: not every machine has a package index."""
    folder = pathlib.Path(os.environ["STROP_BENCH_DATA"])
    for name in names:
        if (folder / f"{name}.npz").exists() and (matrix := load(name)) is not None:
            yield name, matrix


def of_width(matrix, what, widths=WIDTHS, most=2e8):
    """(case, width) of a matrix (name, array) for widths at which a dense array of its columns is not too large."""
    name, a = matrix
    return [(f"{name} {what}, width {w}", w) for w in widths if a.shape[1] * w <= most]


def times_dense(load=load):
    """(case, matrix, width) of csr * dense."""
    for matrix in matrices(load=load):
        for case, width in of_width(matrix, "csr * dense"):
            yield case, matrix[1], width
    for cols in DECADES:
        for _, a in matrices([f"of {cols}"], load):
            yield f"200k values: csr * dense, width 8, columns {cols}", a, 8


def transposed(load=load, to_dense=True):
    """(case, matrix, width) of csr' * dense. A dense result of more than 20 million elements takes seconds to make."""
    most = 2e7 if to_dense else 2e9
    for matrix in matrices(load=load):
        for case, width in of_width(matrix, "csr' * dense to rows", WIDTHS[:-1], most):
            yield case, matrix[1], width
        if to_dense:
            for case, width in of_width(matrix, "csr' * dense to dense", (1, 16, 128), most):
                yield case, matrix[1], width
    for cols in DECADES:
        for _, a in matrices([f"of {cols}"], load):
            if a.shape[1] * 8 <= most:
                yield f"200k values: csr' * dense to rows, width 8, columns {cols}", a, 8


def pairs(load=load):
    """(name, matrix, another one of its shape) of those that are added and multiplied element by element."""
    for name, a in matrices(SQUARES, load):
        for _, b in matrices([f"{name} other"], load):
            yield name, a, b


def by_dense_element(load=load):
    """(case, matrix) of products with a dense matrix, element by element."""
    for _, a in matrices(["of 4096"], load):
        yield "4096 csr * dense by element", a


def dense(rows, cols):
    if rows * cols > 2e7:
        return numpy.ones((rows, cols), numpy.float32)
    return numpy.random.default_rng(1).random((rows, cols), dtype=numpy.float32)
