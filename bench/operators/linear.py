# SPDX-License-Identifier: Apache-2.0
"""Products of matrices, and what is solved by them."""
from .table import definite, family, lower, of, symmetric

products = family("products")
for size, (n, k, m) in {"small": (128, 64, 64), "large": (1024, 1024, 1024), "table by vector, large": (100000, 40, 1)}.items():
    products("dot", of(n, k), of(k, m), what=size, torch="torch.mm(a, b)", grads=(0, 1))
    products("dot", of(n, k), of(m, k), what=f"by transposed, {size}", torch="torch.mm(a, b.t())", grads=(0, 1), transpose_b=True)
    products("dot", of(n, k), of(n, m), what=f"transposed, {size}", torch="torch.mm(a.t(), b)", grads=(0, 1), transpose_a=True)
products("dot", of(512, 512, dtype="f16"), of(512, 512, dtype="f16"), what="f16, large", torch="torch.mm(a, b)", grads=(0, 1))
products("dot", of(512, 512, dtype="f64"), of(512, 512, dtype="f64"), what="f64, large", torch="torch.mm(a, b)", grads=(0, 1))
for size, n in (("small", 1000), ("large", 1 << 22)):
    products("dot", of(n), of(n), what=f"of vectors, {size}", torch="torch.dot(a, b)", grads=(0, 1))
for size, (batch, t, width) in {"small": (16, 32, 32), "large": (192, 128, 64)}.items():
    products("batch_dot", of(batch, t, width), of(batch, width, t), what=size, torch="torch.bmm(a, b)", grads=(0, 1))
    products("batch_dot", of(batch, t, width), of(batch, t, width), what=f"by transposed, {size}", torch="torch.bmm(a, b.mT)", grads=(0, 1), transpose_b=True)
for size, (rows, columns) in {"small": (20, 30), "large": (300, 100)}.items():
    products("khatri_rao", of(rows, columns), of(rows, columns), what=size, torch=f"torch.einsum('ik,jk->ijk', a, b).reshape(-1, {columns})")

attention = family("attention")
for size, (t, batch, heads, width) in {"small": (32, 4, 4, 32), "large": (128, 16, 12, 64)}.items():
    packed, other = f"a.reshape({t}, {batch}, {heads}, 3, {width})", f"b.reshape({t}, {batch}, {heads}, 2, {width})"

    def each(x, part):
        return f"{x}[:, :, :, {part}].permute(1, 2, 0, 3).reshape({batch * heads}, {t}, {width})"

    def joined(x):
        return f"({x}).reshape({batch}, {heads}, {t}, {width}).permute(2, 0, 1, 3).reshape({t}, {batch}, {heads * width})"

    queries = f"a.reshape({t}, {batch}, {heads}, {width}).permute(1, 2, 0, 3).reshape({batch * heads}, {t}, {width})"
    values = f"a.reshape({t}, {batch}, {heads}, 2, {width})"
    one, two, weights = of(t, batch, heads * 3 * width), of(t, batch, heads * 2 * width), of(batch * heads, t, t)
    attention("_contrib_interleaved_matmul_selfatt_qk", one, what=size, torch=f"torch.bmm({each(packed, 0)} / {width} ** 0.5, {each(packed, 1)}.mT)", grads=(0,), heads=heads)
    attention("_contrib_interleaved_matmul_selfatt_valatt", one, weights, what=size, torch=joined(f"torch.bmm(b, {each(packed, 2)})"), grads=(0, 1), heads=heads)
    attention("_contrib_interleaved_matmul_encdec_qk", of(t, batch, heads * width), two, what=size, torch=f"torch.bmm({queries} / {width} ** 0.5, {each(other, 0)}.mT)", grads=(0, 1), heads=heads)
    attention("_contrib_interleaved_matmul_encdec_valatt", two, weights, what=size, torch=joined(f"torch.bmm(b, {each(values, 1)})"), grads=(0, 1), heads=heads)

algebra = family("linear algebra")
for size, (batch, n) in {"1000 of 8, small": (1000, 8), "100 of 32, small": (100, 32), "1 of 128, small": (1, 128), "1 of 512, large": (1, 512)}.items():
    m, spread = of(batch, n, n), definite(batch, n, n)
    algebra("_linalg_gemm", m, m, of(batch, n, n), what=size, torch="torch.baddbmm(c, a, b)", grads=(0, 1, 2))
    algebra("_linalg_gemm2", m, m, what=size, torch="torch.matmul(a, b)", grads=(0, 1))
    algebra("_linalg_syrk", m, what=size, torch="torch.matmul(a, a.mT)", grads=(0,))
    algebra("_linalg_trmm", lower(batch, n, n), m, what=size, torch="torch.matmul(torch.tril(a), b)", grads=(0, 1))
    algebra("_linalg_trsm", lower(batch, n, n), m, what=size, torch="torch.linalg.solve_triangular(a, b, upper=False)", grads=(0, 1))
    algebra("_linalg_potrf", spread, what=size, torch="torch.linalg.cholesky(a)", grads=(0,))
    algebra("_linalg_potri", lower(batch, n, n), what=size, torch="torch.cholesky_inverse(a)")
    algebra("_linalg_inverse", spread, what=size, torch="torch.linalg.inv(a)", grads=(0,))
    algebra("_linalg_det", spread, what=size, torch="torch.linalg.det(a)", grads=(0,))
    algebra("_linalg_slogdet", spread, what=size, torch="torch.linalg.slogdet(a)")
    algebra("_linalg_extractdiag", m, what=size, torch="torch.diagonal(a, 0, 1, 2).contiguous()", grads=(0,))
    algebra("_linalg_makediag", of(batch, n), what=size, torch="torch.diag_embed(a)", grads=(0,))
    algebra("_linalg_extracttrian", m, what=size, torch="a[:, i, j]", ready={"i": f"torch.tril_indices({n}, {n})[0]", "j": f"torch.tril_indices({n}, {n})[1]"}, grads=(0,))
    algebra("_linalg_maketrian", of(batch, n * (n + 1) // 2), what=size, torch=f"torch.zeros({batch}, {n}, {n}).index_put((all, i, j), a)", grads=(0,),
            ready={"all": f"torch.arange({batch})[:, None]", "i": f"torch.tril_indices({n}, {n})[0][None]", "j": f"torch.tril_indices({n}, {n})[1][None]"})
    algebra("_linalg_sumlogdiag", spread, what=size, torch="torch.diagonal(a, 0, 1, 2).log().sum(-1)", grads=(0,))
    algebra("_linalg_gelqf", m, what=size, torch="torch.linalg.qr(a.mT)", compared=False)
    algebra("_linalg_syevd", symmetric(batch, n, n), what=size, torch="torch.linalg.eigh(a)", compared=False)
