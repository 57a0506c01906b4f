# SPDX-License-Identifier: Apache-2.0
"""Helpers for tests of operators and symbols: random shapes and arrays of every storage, matrices of a kind."""
import numpy as np

from . import _strop, nd

__all__ = ["assign_each", "assign_each2", "create_2d_tensor", "create_sparse_array", "create_sparse_array_zd", "create_vector",
           "default_dtype", "get_identity_mat", "get_identity_mat_batch", "new_matrix_with_real_eigvals_2d",
           "new_matrix_with_real_eigvals_nd", "new_orthonormal_matrix_2d", "new_sym_matrix_with_real_eigvals_2d",
           "new_sym_matrix_with_real_eigvals_nd", "rand_coord_2d", "rand_ndarray", "rand_shape_2d", "rand_shape_3d",
           "rand_shape_nd", "rand_sparse_ndarray", "random_arrays", "random_sample", "random_uniform_arrays",
           "shuffle_csr_column_indices"]


def default_dtype():
    """The type that tests use."""
    return np.float32


def rand_shape_nd(num_dim, dim=10, allow_zero_size=False):
    """`num_dim` extents from 1 (0) to `dim`."""
    return tuple(int(n) for n in np.random.randint(0 if allow_zero_size else 1, dim + 1, size=num_dim))


def rand_shape_2d(dim0=10, dim1=10, allow_zero_size=False):
    """Two extents up to those given."""
    low = 0 if allow_zero_size else 1
    return tuple(int(np.random.randint(low, dim + 1)) for dim in (dim0, dim1))


def rand_shape_3d(dim0=10, dim1=10, dim2=10, allow_zero_size=False):
    """Three extents up to those given."""
    low = 0 if allow_zero_size else 1
    return tuple(int(np.random.randint(low, dim + 1)) for dim in (dim0, dim1, dim2))


def rand_coord_2d(x_low, x_high, y_low, y_high):
    """A position in a rectangle."""
    return int(np.random.randint(x_low, x_high)), int(np.random.randint(y_low, y_high))


def random_arrays(*shapes):
    """Normal numbers of NumPy in each of the shapes; one array for one shape."""
    arrays = [np.array(np.random.randn(), dtype=default_dtype()) if not shape else np.random.randn(*shape).astype(default_dtype()) for shape in shapes]
    return arrays[0] if len(arrays) == 1 else arrays


def random_uniform_arrays(*shapes, low=0.0, high=1.0, dtype=None):
    """Uniform numbers of NumPy in each of the shapes."""
    return [np.random.uniform(low, high, shape).astype(dtype or default_dtype()) for shape in shapes]


def random_sample(population, k):
    """`k` of the population, in random order."""
    return [population[i] for i in np.random.permutation(len(population))[:k]]


def rand_sparse_ndarray(shape, stype, density=None, dtype=None, distribution=None, data_init=None, rsp_indices=None,
                        modifier_func=None, shuffle_csr_indices=False, ctx=None):
    """A random array of a sparse storage and its parts: (array, (data, indices)) or (array, (indptr, indices, data)).
    `density` says which part of the rows (row_sparse) or of the elements (csr) is stored."""
    density = np.random.rand() if density is None else density
    dtype = default_dtype() if dtype is None else dtype
    if distribution not in (None, "uniform", "powerlaw"):
        raise _strop.ValueError(f"rand_sparse_ndarray: distribution is {distribution!r}, expected uniform or powerlaw")
    if stype == "row_sparse":
        rows = np.argwhere(np.random.uniform(0, 1, shape[0]) < density).reshape(-1) if rsp_indices is None else np.asarray(rsp_indices)
        values = np.random.uniform(-1, 1, (len(rows), *shape[1:])).astype(dtype)
        values = _filled(values, data_init, modifier_func)
        made = nd.sparse.row_sparse_array((values, rows), shape=shape, dtype=dtype, ctx=ctx)
        return made, (values, rows)
    if stype == "csr":
        if len(shape) != 2:
            raise _strop.ValueError(f"rand_sparse_ndarray: a csr array has two axes, the shape is {shape}")
        stored = _powerlaw(shape, density) if distribution == "powerlaw" else np.random.uniform(0, 1, shape) < density
        values = _filled(np.random.uniform(-1, 1, int(stored.sum())).astype(dtype), data_init, modifier_func)
        indices = np.argwhere(stored)[:, 1]
        indptr = np.concatenate([[0], np.cumsum(stored.sum(1))])
        made = nd.sparse.csr_matrix((values, indices, indptr), shape=shape, dtype=dtype, ctx=ctx)
        return made, (made.indptr, made.indices, made.data)
    raise _strop.ValueError(f"rand_sparse_ndarray: no sparse storage {stype!r}, expected csr or row_sparse")


def _powerlaw(shape, density):
    """Which elements are stored where each row has twice as many as the one before, as far as there are any: first one
    of each row, then more from the top."""
    rows, columns = shape
    left = int(rows * columns * density)
    if left < rows:
        raise _strop.ValueError(f"rand_sparse_ndarray: a density of {density} stores {left} elements, expected one for each of {rows} rows")
    counts = np.ones(rows, np.int64)
    left -= rows
    for row in range(rows):
        wanted = min(columns, 2 ** min(row + 1, 62)) - 1
        counts[row] += min(wanted, left)
        left -= min(wanted, left)
    stored = np.arange(columns)[None, :] < counts[:, None]
    for row in range(rows - 1, -1, -1):  # what is left fills the last rows
        more = min(left, columns - int(counts[row]))
        stored[row, counts[row]:counts[row] + more] = True
        left -= more
    return stored


def _filled(values, data_init, modifier_func):
    if data_init is not None:
        values[...] = data_init
    if modifier_func is not None:
        values = np.vectorize(modifier_func, otypes=[values.dtype])(values) if values.size else values
    return values


def rand_ndarray(shape, stype="default", density=None, dtype=None, modifier_func=None, shuffle_csr_indices=False, distribution=None, ctx=None):
    """A random array of any storage; dense ones have elements from -1 to 1."""
    if stype == "default":
        values = np.random.uniform(-1, 1, shape).astype(default_dtype() if dtype is None else dtype)
        return nd.array(_filled(values, None, modifier_func), dtype=values.dtype, ctx=ctx)
    return rand_sparse_ndarray(shape, stype, density=density, dtype=dtype, modifier_func=modifier_func, distribution=distribution, ctx=ctx)[0]


def create_sparse_array(shape, stype, data_init=None, rsp_indices=None, dtype=None, modifier_func=None, density=0.5, shuffle_csr_indices=False):
    """A random array of a sparse storage, its values as said; rows in any order."""
    rsp_indices = rsp_indices if rsp_indices is None else np.sort(np.asarray(rsp_indices, np.int64))
    return rand_sparse_ndarray(shape, stype, density=density, dtype=dtype, data_init=data_init, rsp_indices=rsp_indices, modifier_func=modifier_func)[0]


def create_sparse_array_zd(shape, stype, density, data_init=None, rsp_indices=None, dtype=None, modifier_func=None, shuffle_csr_indices=False):
    """The same, where row_sparse stores the rows that rsp_indices says, none where it says nothing."""
    if stype == "row_sparse":
        density = 0.0
    return create_sparse_array(shape, stype, data_init, rsp_indices, dtype, modifier_func, density)


def shuffle_csr_column_indices(csr):
    """Permutes the columns of each row of a csr matrix of SciPy, where its values stay."""
    for begin, end in zip(csr.indptr, csr.indptr[1:]):
        np.random.shuffle(csr.indices[begin:end])


# --- arrays that are made of something ----------------------------------------------------------------------------------
def assign_each(the_input, function):
    """function of each element, where there is a function."""
    return np.array(the_input) if function is None else np.vectorize(function, otypes=[the_input.dtype])(the_input)


def assign_each2(input1, input2, function):
    """function of each pair of elements, where there is a function."""
    return np.array(input1) if function is None else np.vectorize(function, otypes=[input1.dtype])(input1, input2)


def create_vector(size, dtype=np.int64):
    """0, 1, ... as many as asked for."""
    return nd.arange(0, size, dtype=dtype)


def create_2d_tensor(rows, columns, dtype=np.int64):
    """A matrix whose rows are their numbers."""
    return nd.array(np.arange(rows).reshape(rows, 1), dtype=dtype).broadcast_to((rows, columns))


def get_identity_mat(size):
    """The identity matrix."""
    return np.eye(size, dtype=default_dtype())


def get_identity_mat_batch(size):
    """Two identity matrices."""
    return np.stack([get_identity_mat(size)] * 2)


def new_orthonormal_matrix_2d(n):
    """A random orthonormal matrix."""
    return np.linalg.qr(np.random.normal(size=(n, n)))[0]


def new_matrix_with_real_eigvals_2d(n):
    """A random matrix that has n real eigenvalues, which are not close to each other."""
    basis = new_orthonormal_matrix_2d(n) @ np.diag(np.random.uniform(1, 2, n)) @ new_orthonormal_matrix_2d(n)
    return basis @ np.diag(_apart(n)) @ np.linalg.inv(basis)


def new_sym_matrix_with_real_eigvals_2d(n):
    """The same, symmetric."""
    basis = new_orthonormal_matrix_2d(n)
    return basis @ np.diag(_apart(n)) @ basis.T


def _apart(n):
    return np.random.permutation(np.arange(n) * 2.0 - n) + np.random.uniform(-0.5, 0.5, n)


def _batch(shape, make):
    if len(shape) < 2 or shape[-1] != shape[-2]:
        raise _strop.ValueError(f"test_utils: the shape is {tuple(shape)}, expected one of square matrices")
    count = int(np.prod(shape[:-2], dtype=np.int64))
    return np.stack([make(shape[-1]) for _ in range(count)]).reshape(shape) if count else np.zeros(shape)


def new_matrix_with_real_eigvals_nd(shape):
    """Matrices with real eigenvalues, in a shape whose last two extents are theirs."""
    return _batch(shape, new_matrix_with_real_eigvals_2d)


def new_sym_matrix_with_real_eigvals_nd(shape):
    """Symmetric matrices, in a shape whose last two extents are theirs."""
    return _batch(shape, new_sym_matrix_with_real_eigvals_2d)
