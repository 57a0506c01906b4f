# SPDX-License-Identifier: Apache-2.0
"""PyTorch in the cases of bench/sparse.cpp: its CSR products, or embedding_bag where that is faster."""
import matrices
import numpy
import torch
from clock import best, report

torch.set_grad_enabled(False)
for name in matrices.NAMES:
    a = matrices.load(name)
    indices, starts = torch.from_numpy(a.indices).long(), torch.from_numpy(a.indptr[:-1]).long()
    values = torch.from_numpy(a.data)
    csr = torch.sparse_csr_tensor(torch.from_numpy(a.indptr), torch.from_numpy(a.indices), values, size=a.shape)
    for width in matrices.widths(a):
        b = torch.from_numpy(matrices.dense(a.shape[1], width))
        ways = [lambda: csr @ b, lambda: torch.nn.functional.embedding_bag(
            indices, b, starts, mode="sum", per_sample_weights=values)]
        print(f"{name} csr * dense, width {width}\t{min(map(best, ways)):.2f}", flush=True)

rows, width, count = 1_000_000, 64, 65536
table, head = torch.rand(rows, width), torch.rand(count, width)
ids = torch.from_numpy(numpy.random.default_rng(1).integers(0, rows, count))
report("embedding, forward", lambda: torch.nn.functional.embedding(ids, table))
report("embedding, gradient of the rows",
       lambda: torch.sparse_coo_tensor(ids[None], head, (rows, width), check_invariants=False).coalesce())
weight = torch.nn.Parameter(table)
weight.grad = torch.sparse_coo_tensor(ids[None], head, (rows, width)).coalesce()
for name, optimizer in (("adam, lazy", torch.optim.SparseAdam([weight], lr=1e-4)),
                        ("sgd, lazy", torch.optim.SGD([weight], lr=1e-4))):
    report(name, optimizer.step)
