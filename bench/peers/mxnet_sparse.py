# SPDX-License-Identifier: Apache-2.0
"""MXNet in the cases of bench/sparse.cpp; every call is waited for. It refuses matrices of 2^31 elements or more, stored or
not."""
import matrices
import mxnet as mx
import numpy
from clock import report
from mxnet import autograd

nd = mx.nd


def load(name):
    data, indices, indptr, shape = matrices.parts(name)
    if shape[0] * shape[1] >= 2**31 - 1:
        return None
    return nd.sparse.csr_matrix((data, indices, indptr), shape=shape)


def waited(f):
    def run():
        f().wait_to_read()
    return run


for case, a, width in matrices.times_dense(load):
    b = nd.array(matrices.dense(a.shape[1], width))
    report(case, waited(lambda: nd.sparse.dot(a, b)))
for case, a, width in matrices.transposed(load):
    if width > (1 if "to dense" in case else 16):  # seconds each
        continue
    g, kind = nd.array(matrices.dense(a.shape[0], width)), "default" if "to dense" in case else "row_sparse"
    report(case, waited(lambda: nd.sparse.dot(a, g, transpose_a=True, forward_stype=kind)))
for name, a in matrices.matrices(load=load):
    report(f"{name} csr * 2", waited(lambda: a * 2))

rows, width, count = 1_000_000, 64, 65536
weight, head = nd.random.uniform(shape=(rows, width)), nd.random.uniform(shape=(count, width))
numbers = numpy.random.default_rng(1).integers(0, rows, count)
ids = nd.array(numbers, dtype="int64")
out = nd.empty((count, width))
report("embedding, forward", waited(lambda: nd.Embedding(ids, weight, input_dim=rows, output_dim=width, out=out)))
weight.attach_grad(stype="row_sparse")


def forward_and_backward():
    with autograd.record():
        y = nd.Embedding(ids, weight, input_dim=rows, output_dim=width, sparse_grad=True)
    y.backward(head)
    weight.grad.wait_to_read()


report("embedding, forward and backward", forward_and_backward)
kept = numpy.unique(numbers)
grad = nd.sparse.row_sparse_array((numpy.ones((kept.size, width), numpy.float32), kept), shape=(rows, width))
mean, variance = nd.zeros((rows, width)), nd.zeros((rows, width))
report("sgd, lazy", waited(lambda: nd.sparse.sgd_update(weight, grad, lr=1e-4, out=weight)))
report("adam, lazy", waited(lambda: nd.sparse.adam_update(weight, grad, mean, variance, lr=1e-4, out=weight)))
report("adagrad, lazy", waited(lambda: nd.sparse.adagrad_update(weight, grad, variance, lr=1e-4, out=weight)))
