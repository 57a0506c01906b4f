# SPDX-License-Identifier: Apache-2.0
"""Operators that move, choose, order and add up elements, and those that make arrays from parameters."""
import numpy as np

from . import EXACT, FLOATS, TYPES, case, given, of, places

CUBE = of(2, 3, 4)
SMALL = given([[1, 2, 1], [2, 1, 1]])  # of which products fit into every type
CELLS = of(2, 8, 2, 4)


# --- shapes ---------------------------------------------------------------------------------------------------------
case("Reshape", lambda x: x.reshape(4, 6), CUBE, shape=(4, -1))
case("Reshape", lambda x: x.reshape(2, 12), CUBE, shape=(0, -3))
case("reshape_like", lambda a, b: a.reshape(b.shape), CUBE, of(6, 4))
case("Flatten", lambda x: x.reshape(2, 12), CUBE)
case("expand_dims", lambda x: x[:, None], CUBE, axis=1)
case("squeeze", lambda x: x[0, :, 0], of(1, 3, 1))
case("shape_array", lambda x: np.array([2, 3, 4]), CUBE)
case("size_array", lambda x: np.array([24]), CUBE)
case("transpose", lambda x: x.T, CUBE)
case("transpose", lambda x: x.transpose(1, 2, 0), CUBE, axes=(1, 2, 0))
case("SwapAxis", lambda x: x.swapaxes(0, 2), CUBE, dim1=0, dim2=2)
case("slice", lambda x: x[1:, 2:0:-1], CUBE, begin=(1, 2), end=(2, 0), step=(1, -1))
case("slice_axis", lambda x: x[:, :, 1:3], CUBE, axis=2, begin=1, end=3)
case("slice_like", lambda a, b: a[:1, :2], of(2, 3), of(1, 2))


def assigned(a, key, value):
    made = a.copy()
    made[key] = value
    return made


case("_slice_assign", lambda a, b: assigned(a, np.s_[:, 1:3], b), of(2, 4), of(2, 2), begin=(None, 1), end=(None, 3))
case("_slice_assign_scalar", lambda a: assigned(a, np.s_[:, 1:3], 7), of(2, 4), begin=(None, 1), end=(None, 3), scalar=7)
case("reverse", lambda x: x[:, ::-1], CUBE, axis=1)
case("tile", lambda x: np.tile(x, (2, 1, 3)), CUBE, reps=(2, 1, 3))
case("repeat", lambda x: np.repeat(x, 2, 1), CUBE, repeats=2, axis=1)
case("stack", lambda a, b: np.stack([a, b], 1), CUBE, CUBE, axis=1)
case("Concat", lambda a, b: np.concatenate([a, b], 1), of(2, 3), of(2, 1), dim=1)
case("SliceChannel", lambda x: np.split(x, 3, 1), CUBE, num_outputs=3, axis=1)
case("_split_v2", lambda x: np.split(x, [1, 3], 2), CUBE, indices=(0, 1, 3), axis=2)
case("broadcast_to", lambda x: np.broadcast_to(x, (2, 3)), of(2, 1), shape=(2, 3))
case("broadcast_like", lambda a, b: np.broadcast_to(a, b.shape), of(2, 1), of(2, 3))
case("broadcast_axis", lambda x: np.broadcast_to(x, (2, 3)), of(2, 1), axis=1, size=3)
for mode in ("constant", "edge", "reflect"):
    case("Pad", lambda x, m=mode: np.pad(x, ((0, 0), (0, 0), (1, 0), (1, 2)), m), of(1, 2, 3, 4), mode=mode, pad_width=(0, 0, 0, 0, 1, 0, 1, 2))
case("depth_to_space", lambda x: x.reshape(2, 2, 2, 2, 2, 4).transpose(0, 3, 4, 1, 5, 2).reshape(2, 2, 4, 8), CELLS, block_size=2)
case("space_to_depth", lambda x: x.reshape(2, 8, 1, 2, 2, 2).transpose(0, 3, 5, 1, 2, 4).reshape(2, 32, 1, 2), CELLS, block_size=2)
case("diag", lambda x: np.diag(x, 1), of(3, 4), k=1)
case("diag", lambda x: np.diag(x, -1), of(3), k=-1)
case("Crop", lambda x: x[:, :, 1:3, 2:4], of(1, 2, 3, 4), num_args=1, offset=(1, 2), h_w=(2, 2))


# --- positions ------------------------------------------------------------------------------------------------------
case("take", lambda a, i: a[i.astype(int)], of(4, 3), places(4, 2, 2))
case("take", lambda a, i: a[:, i.astype(int) % 3], of(2, 3, 4), places(7, 5), axis=1, mode="wrap")
case("batch_take", lambda a, i: a[np.arange(4), i.astype(int)], of(4, 3), places(3, 4))
case("pick", lambda a, i: a[np.arange(4), i.astype(int)], of(4, 3), places(3, 4))
case("gather_nd", lambda a, i: a[tuple(i.astype(int))], of(3, 4, 2), places(3, 2, 5))


def scattered(values, at, extents, into=None):
    made = np.zeros(extents) if into is None else into.copy()
    made[tuple(at.astype(int))] = values
    return made


AT = given([[0, 2, 1], [1, 0, 1]])
case("scatter_nd", lambda v, at: scattered(v, at, (3, 2)), of(3), AT, shape=(3, 2))
case("_scatter_set_nd", lambda a, v, at: scattered(v, at, a.shape, a), of(3, 2), of(3), AT, shape=(3, 2))
case("Embedding", lambda i, w: w[i.astype(int)], places(4, 2, 3), of(4, 5), input_dim=4, output_dim=5)
case("_contrib_SparseEmbedding", lambda i, w: w[i.astype(int)], places(4, 2, 3), of(4, 5), input_dim=4, output_dim=5)
case("one_hot", lambda i: np.where(i[..., None] == np.arange(3), 5, 1), places(4, 2, 3), depth=3, on_value=5, off_value=1)
case("_ravel_multi_index", lambda at: np.ravel_multi_index(tuple(at.astype(int)), (3, 4)), places(3, 2, 5), shape=(3, 4))
case("_unravel_index", lambda at: np.array(np.unravel_index(at.astype(int), (3, 4))), places(12, 5), shape=(3, 4))
case("_contrib_index_array", lambda x: np.moveaxis(np.indices(x.shape), 0, -1), CUBE)
case("_contrib_index_copy", lambda a, at, rows: scattered(rows, at[None], a.shape, a), of(4, 3), given([2, 0]), of(2, 3))
case("_contrib_boolean_mask", lambda x, taken: x[taken != 0], of(4, 3), given([1, 0, 2, 0]))
CHAIN = given([2, 3, 1])


def along(x, lengths, formula):
    """Each sequence, which stands in a column, by itself."""
    made = x.copy()
    for k, length in enumerate(lengths.astype(int)):
        made[:, k] = formula(x[:, k], length)
    return made


case("SequenceMask", lambda x, n: along(x, n, lambda one, k: np.where(np.arange(3)[:, None] < k, one, 7)), of(3, 3, 2), CHAIN, use_sequence_length=True, value=7)
case("SequenceReverse", lambda x, n: along(x, n, lambda one, k: np.concatenate([one[:k][::-1], one[k:]])), of(3, 3, 2), CHAIN, use_sequence_length=True)
case("SequenceLast", lambda x, n: np.stack([x[k - 1, i] for i, k in enumerate(n.astype(int))]), of(3, 3, 2), CHAIN, use_sequence_length=True)


# --- sums and order -------------------------------------------------------------------------------------------------
for name, formula in (("sum", np.sum), ("mean", np.mean), ("max", np.max), ("min", np.min), ("nansum", np.nansum)):
    case(name, lambda x, f=formula: f(x, axis=(0, 2)), CUBE, axis=(0, 2))
    case(name, lambda x, f=formula: f(x).reshape(1), CUBE)
for name in ("prod", "nanprod"):
    case(name, lambda x: np.prod(x, 1), SMALL, axis=1)
NOT_ALL = given([[1, np.nan, 3], [2, 0.5, np.nan]])
case("nansum", lambda x: np.nansum(x, 1), NOT_ALL, types=FLOATS, axis=1)
case("nanprod", lambda x: np.nanprod(x, 1), NOT_ALL, types=FLOATS, axis=1)
case("norm", lambda x: np.sqrt(np.sum(x * x, 1)), CUBE, axis=1)
case("norm", lambda x: np.sum(np.abs(x), 1), of(2, 3, low=-1, high=1), axis=1, ord=1)
case("_square_sum", lambda x: np.sum(x * x, 1), of(4, 3), axis=1)
case("_square_sum", lambda x: np.sum(x * x, 1), of(6, 3, stype="row_sparse"), axis=1)
case("moments", lambda x: [x.mean((0, 2)), x.var((0, 2))], CUBE, types=FLOATS, axes=(0, 2))
case("_np_cumsum", lambda x: np.cumsum(x, 1), CUBE, axis=1)
ORDERED = given([[3, 1, 2, 5], [0, 7, 4, 6]])
case("argmax", lambda x: np.argmax(x, 1), ORDERED, axis=1)
case("argmin", lambda x: np.argmin(x, 1), ORDERED, axis=1)
case("argmax_channel", lambda x: np.argmax(x, 1), ORDERED)
case("sort", lambda x: np.sort(x, 0), ORDERED, axis=0)
case("argsort", lambda x: np.argsort(x, 1), ORDERED, axis=1)
case("topk", lambda x: [-np.sort(-x, 1)[:, :2], np.argsort(-x, 1)[:, :2]], ORDERED, k=2, ret_typ="both")
case("topk", lambda x: np.argsort(np.argsort(-x, 1), 1) < 3, ORDERED, k=3, ret_typ="mask")
case("_histogram", lambda x: list(np.histogram(x, 4, (0, 8))), ORDERED, bin_cnt=4, range=(0, 8))
case("_histogram", lambda x, edges: [np.histogram(x, edges)[0], edges], ORDERED, given([0, 2, 3, 7]))
case("all_finite", lambda x: np.array([1]), CUBE)
case("all_finite", lambda x: np.array([0]), given([1, np.inf]), types=FLOATS)
case("multi_all_finite", lambda a, b: np.array([0]), CUBE, given([1, np.nan]), types=FLOATS, num_arrays=2)
case("multi_sum_sq", lambda a, b: np.array([np.sum(a * a), np.sum(b * b)]), of(2, 3), of(4), num_arrays=2)


# --- made of parameters ---------------------------------------------------------------------------------------------
for kind in TYPES:
    case("_zeros", lambda: np.zeros((2, 3)), shape=(2, 3), dtype=kind)
    case("_ones", lambda: np.ones((2, 3)), shape=(2, 3), dtype=kind)
    case("_full", lambda: np.full((2, 3), 7), shape=(2, 3), dtype=kind, value=7)
    case("_arange", lambda: np.repeat(np.arange(1, 9, 2), 3), start=1, stop=9, step=2, repeat=3, dtype=kind)
    case("_eye", lambda: np.eye(3, 4, 1), N=3, M=4, k=1, dtype=kind)
    case("_linspace", lambda: np.linspace(0, 8, 5), start=0, stop=8, num=5, dtype=kind)
case("_zeros_without_dtype", lambda: np.zeros((2, 3)), types=EXACT, shape=(2, 3))
case("_contrib_arange_like", lambda x: np.arange(1, 25).reshape(2, 3, 4), CUBE, start=1)
case("_contrib_arange_like", lambda x: np.arange(0, 9, 3), CUBE, step=3, axis=1)


# --- what is stored -------------------------------------------------------------------------------------------------
MATRIX, ROWS = of(5, 4, stype="csr"), of(6, 3, stype="row_sparse")
for storage in ("default", "csr", "row_sparse"):
    case("cast_storage", lambda x: x, of(4, 3), stype=storage)
    case("cast_storage", lambda x: x, MATRIX, stype=storage)
case("_sparse_retain", lambda x, keep: np.where(np.isin(np.arange(6), keep)[:, None], x, 0), ROWS, given([4, 1, 2]))
case("_contrib_getnnz", lambda x: np.array([np.count_nonzero(x)]), MATRIX)
case("_contrib_getnnz", lambda x: np.count_nonzero(x, 1), MATRIX, axis=1)
case("_contrib_edge_id", lambda x, u, v: np.array([value or -1 for value in x[u.astype(int), v.astype(int)]]), MATRIX, given([0, 0, 1, 4]), given([0, 1, 2, 3]), types=[one for one in TYPES if one != "uint8"])
case("_contrib_dgl_adjacency", lambda x: x != 0, MATRIX)


def exponentials(x):
    """e to what is stored, over their sum in each row."""
    made = np.where(x != 0, np.exp(x), 0)
    return made / np.where(made.any(1, keepdims=True), made.sum(1, keepdims=True), 1)


for storage in (None, "csr"):
    case("stored_softmax", exponentials, of(5, 6, stype=storage), types=FLOATS)
    case("stored_log_softmax", lambda x: np.where(x != 0, np.log(np.where(x != 0, exponentials(x), 1)), 0), of(5, 6, stype=storage), types=FLOATS)
    case("sddmm", lambda p, a, b: np.where(p != 0, a @ b.T, 0), of(5, 6, stype=storage), of(5, 3), of(6, 3), types=FLOATS)
