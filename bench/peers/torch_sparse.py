# SPDX-License-Identifier: Apache-2.0
"""PyTorch in the cases of bench/sparse.cpp: of several ways the fastest, which for CSR products may be embedding_bag."""
import warnings

import matrices
import numpy
import torch
from clock import best, report

warnings.filterwarnings("ignore")
torch.set_grad_enabled(False)


def load(name):
    data, indices, indptr, shape = map(lambda x: torch.from_numpy(x) if isinstance(x, numpy.ndarray) else x, matrices.parts(name))
    return torch.sparse_csr_tensor(indptr, indices, data, size=shape)


def fastest(case, ways):
    """Of the ways that this release has."""
    times = []
    for way in ways:
        try:
            times.append(best(way))
        except (RuntimeError, NotImplementedError):
            pass
    if times:
        print(f"{case}\t{min(times):.2f}", flush=True)


for case, a, width in matrices.times_dense(load):
    b = torch.from_numpy(matrices.dense(a.shape[1], width))
    indices, starts = a.col_indices().long(), a.crow_indices()[:-1].long()
    fastest(case, [lambda: a @ b, lambda: torch.nn.functional.embedding_bag(
        indices, b, starts, mode="sum", per_sample_weights=a.values())])
for case, a, width in matrices.transposed(load):
    if "to dense" in case and width <= 16:  # it converts the matrix first, which takes a hundred times as long as the rest
        g = torch.from_numpy(matrices.dense(a.shape[0], width))
        fastest(case, [lambda: a.t() @ g])
for name, a in matrices.matrices(load=load):
    fastest(f"{name} csr * 2", [lambda: a * 2])
    for case, width in matrices.of_width((name, a), "sddmm", (8, 32, 128)):
        lhs, rhs = torch.from_numpy(matrices.dense(a.shape[0], width)), torch.from_numpy(matrices.dense(a.shape[1], width))
        fastest(case, [lambda: torch.sparse.sampled_addmm(a, lhs, rhs.t(), beta=0)])
for name, a in matrices.matrices(matrices.SQUARES, load):
    fastest(f"{name} csr * csr", [lambda: a @ a])
for name, a, b in matrices.pairs(load):
    fastest(f"{name} csr + csr", [lambda: a + b])
    fastest(f"{name} csr * csr by element", [lambda: a * b])
for case, a in matrices.by_dense_element(load):
    d = torch.from_numpy(matrices.dense(*a.shape))
    fastest(case, [lambda: a * d])

rows, width, count = 1_000_000, 64, 65536
table, head = torch.rand(rows, width), torch.rand(count, width)
ids = torch.from_numpy(numpy.random.default_rng(1).integers(0, rows, count))
out = torch.empty(count, width)
fastest("embedding, forward", [lambda: torch.nn.functional.embedding(ids, table),
                               lambda: torch.index_select(table, 0, ids, out=out)])
report("embedding, gradient of the rows",
       lambda: torch.sparse_coo_tensor(ids[None], head, (rows, width), check_invariants=False).coalesce())
weight = torch.nn.Parameter(table)


def forward_and_backward():
    weight.grad = None
    with torch.enable_grad():
        torch.nn.functional.embedding(ids, weight, sparse=True).backward(head)
    weight.grad = weight.grad.coalesce()


report("embedding, forward and backward", forward_and_backward)
weight.grad = torch.sparse_coo_tensor(ids[None], head, (rows, width)).coalesce()
for name, optimizer in (("sgd, lazy", torch.optim.SGD([weight], lr=1e-4)),
                        ("adam, lazy", torch.optim.SparseAdam([weight], lr=1e-4)),
                        ("adagrad, lazy", torch.optim.Adagrad([weight], lr=1e-4))):
    report(name, optimizer.step)
