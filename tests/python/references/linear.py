# SPDX-License-Identifier: Apache-2.0
"""Products of matrices, and what is solved by them."""
import numpy as np

from . import EXACT, FLOATS, case, given, of, property_of

A, B = of(2, 3, 3), of(2, 3, 3)
SPREAD = given(np.stack([np.array([[4, 1, 0.5], [1, 3, 0.25], [0.5, 0.25, 2]]), np.array([[2, 0.5, 1], [0.5, 5, 1], [1, 1, 3]])]))  # symmetric, and positive


def turned(x):
    return np.swapaxes(x, -1, -2)


case("dot", lambda a, b: a @ b, of(3, 4), of(4, 2))
case("dot", lambda a, b: a.T @ b.T, of(4, 3), of(2, 4), transpose_a=True, transpose_b=True)
case("dot", lambda a, b: a @ b, of(5, 4, stype="csr"), of(4, 2), types=FLOATS)
case("dot", lambda a, b: a.T @ b, of(5, 4, stype="csr"), of(5, 2), types=FLOATS, transpose_a=True)
case("batch_dot", lambda a, b: a @ turned(b), of(2, 3, 4), of(2, 5, 4), transpose_b=True)
case("khatri_rao", lambda a, b: np.einsum("ik,jk->ijk", a, b).reshape(-1, 3), of(2, 3), of(4, 3))
case("_linalg_gemm2", lambda a, b: 2 * turned(a) @ b, A, B, types=FLOATS, transpose_a=True, alpha=2)
case("_linalg_gemm", lambda a, b, c: 2 * a @ turned(b) + 3 * c, A, B, of(2, 3, 3), types=FLOATS, transpose_b=True, alpha=2, beta=3)
case("_linalg_syrk", lambda a: 2 * a @ turned(a), of(2, 3, 4), types=FLOATS, alpha=2)
case("_linalg_trmm", lambda a, b: 2 * np.tril(a) @ b, A, B, types=FLOATS, alpha=2)
case("_linalg_trmm", lambda a, b: b @ turned(np.triu(a)), A, B, types=FLOATS, rightside=True, lower=False, transpose=True)
STEEP = given(np.eye(3) * 2 + np.arange(9).reshape(3, 3) / 16)
case("_linalg_trsm", lambda a, b: np.linalg.solve(np.tril(a), 2 * b), STEEP, of(3, 2), types=FLOATS, alpha=2)
case("_linalg_potrf", np.linalg.cholesky, SPREAD, types=FLOATS)
case("_linalg_potri", lambda a: np.linalg.inv(np.tril(a) @ turned(np.tril(a))), SPREAD, types=EXACT)
case("_linalg_inverse", np.linalg.inv, SPREAD, types=EXACT)
case("_linalg_det", np.linalg.det, SPREAD, types=FLOATS)
case("_linalg_slogdet", lambda a: list(np.linalg.slogdet(a)), SPREAD, types=FLOATS)
case("_linalg_extractdiag", lambda a: np.diagonal(a, 1, 1, 2), A, types=FLOATS, offset=1)
case("_linalg_makediag", lambda a: np.stack([np.diag(one, -1) for one in a]), of(2, 3), types=FLOATS, offset=-1)
case("_linalg_extracttrian", lambda a: a[:, np.tril_indices(3)[0], np.tril_indices(3)[1]], A, types=FLOATS)
case("_linalg_maketrian", lambda a: np.array([[a[0], 0, 0], [a[1], a[2], 0], [a[3], a[4], a[5]]]), of(6), types=FLOATS)
case("_linalg_sumlogdiag", lambda a: np.log(np.diagonal(a, 0, 1, 2)).sum(-1), A, types=FLOATS)


def is_lq(made, arrays):
    q, low = (one.astype("f8") for one in made)
    np.testing.assert_allclose(low @ q, arrays[0], atol=5e-3)
    np.testing.assert_allclose(q @ turned(q), np.broadcast_to(np.eye(2), (2, 2, 2)), atol=5e-3)
    assert (np.triu(low, 1) == 0).all()


def has_eigenvalues(made, arrays):
    vectors, values = (one.astype("f8") for one in made)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(arrays[0]), atol=5e-3)
    np.testing.assert_allclose(turned(vectors) @ (values[..., None] * vectors), arrays[0], atol=2e-2)


property_of("_linalg_gelqf", is_lq, of(2, 2, 4))
property_of("_linalg_syevd", has_eigenvalues, SPREAD)


# --- heads of attention: (length, batch, heads x parts x width) ------------------------------------------------------
def heads(x, parts, which):
    """(batch x heads, length, width) of one part."""
    length, batch, _ = x.shape
    return x.reshape(length, batch, 2, parts, -1)[:, :, :, which].transpose(1, 2, 0, 3).reshape(batch * 2, length, -1)


def joined(x, batch):
    """(length, batch, heads x width) of matrices for each head."""
    return x.reshape(batch, 2, x.shape[1], -1).transpose(2, 0, 1, 3).reshape(x.shape[1], batch, -1)


SELF, QUERIES, OTHER = of(3, 2, 2 * 3 * 4), of(3, 2, 2 * 4), of(5, 2, 2 * 2 * 4)
case("_contrib_interleaved_matmul_selfatt_qk", lambda x: heads(x, 3, 0) @ turned(heads(x, 3, 1)) / 2, SELF, types=FLOATS, heads=2)
case("_contrib_interleaved_matmul_selfatt_valatt", lambda x, a: joined(a @ heads(x, 3, 2), 2), SELF, of(4, 3, 3), types=FLOATS, heads=2)
case("_contrib_interleaved_matmul_encdec_qk", lambda q, x: heads(q, 1, 0) @ turned(heads(x, 2, 0)) / 2, QUERIES, OTHER, types=FLOATS, heads=2)
case("_contrib_interleaved_matmul_encdec_valatt", lambda x, a: joined(a @ heads(x, 2, 1), 2), OTHER, of(4, 3, 5), types=FLOATS, heads=2)
