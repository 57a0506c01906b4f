# SPDX-License-Identifier: Apache-2.0
"""CSRNDArray and RowSparseNDArray, the functions that make them, and the operators with a sparse form."""
import numpy as np

from .. import _strop
from .._strop import NDArray
from ..base import NotSupportedForSparseNDArray, _dtype_name, also, extents_of, mx_real_t, storage_number, type_of
from ..context import cpu, current_context
from . import ndarray as _dense

__all__ = ["BaseSparseNDArray", "CSRNDArray", "RowSparseNDArray", "add", "array", "csr_matrix", "divide", "empty", "from_scipy",
           "multiply", "row_sparse_array", "subtract", "zeros"]


class BaseSparseNDArray(NDArray):
    """What both sparse kinds of array have in common."""

    __slots__ = ()

    def astype(self, dtype, copy=True):
        """The stored values in another type."""
        if not copy and np.dtype(dtype) == self.dtype:
            return self
        return self._with(self.data.astype(dtype))

    def check_format(self, full_check=True):
        """Raises where the structure is wrong: indptr, the order and range of indices."""
        _strop.check_format(self, full_check)

    @property
    def _indices_type(self):
        return self.indices.dtype

    @property
    def _num_aux(self):
        """How many arrays say where the values stand: 1 of row_sparse, 2 of csr."""
        return len(self._aux_types)

    @property
    def _aux_types(self):
        return [a.dtype for a in self._aux()]

    def _aux_type(self, i):
        return self._aux()[i].dtype

    def _aux_data(self, i):
        return self._aux()[i]

    def _data(self):
        return self.data

    def reshape(self, *shape, **kwargs):
        raise NotSupportedForSparseNDArray("reshape")

    def _at(self, idx):
        raise NotSupportedForSparseNDArray("_at")

    def _slice(self, start, stop):
        raise NotSupportedForSparseNDArray("_slice")

    def _take(self, made):
        made.copyto(self)
        return self

    def __iadd__(self, other):
        return self._take(self + other)

    def __isub__(self, other):
        return self._take(self - other)

    def __imul__(self, other):
        return self._take(self * other)

    def __itruediv__(self, other):
        return self._take(self / other)

    def __imod__(self, other):
        return self._take(self % other)

    def __ipow__(self, other):
        return self._take(self**other)

    @classmethod
    def _write(cls, a, key, value):
        if key != slice(None) and key is not Ellipsis:
            raise also(_strop.IndexError, TypeError, ValueError)(f"index: of a {a.stype} array only all elements can be written, x[:] = y")
        if isinstance(value, NDArray):
            value.copyto(a)
            return
        if isinstance(value, (int, float, np.generic)):
            value = np.full(a.shape, value)
        _dense.operators().cast_storage(_dense.array(value, a.context, a.dtype), stype=a.stype, out=a)


def _part_property(number, doc):
    return property(lambda self: _strop.part(self, number), doc=doc)


class CSRNDArray(BaseSparseNDArray):
    """A matrix that stores some values of each row: data, their columns in indices, where rows begin in indptr."""

    __slots__ = ()

    data = _part_property(0, "The stored values.")
    indices = _part_property(1, "The column of each stored value.")
    indptr = _part_property(2, "Where each row begins among the stored values.")

    @property
    def nnz(self):
        """How many values are stored."""
        return self.data.size

    def asscipy(self, copy=True):
        """The matrix as scipy.sparse.csr_matrix: a copy, or over the same memory, where SciPy takes the positions as they
        are (it makes int32 of int64 where that is enough)."""
        import scipy.sparse

        parts = [part.asnumpy() if copy else np.asarray(part) for part in (self.data, self.indices, self.indptr)]
        return scipy.sparse.csr_matrix(tuple(parts), shape=self.shape, dtype=self.dtype)

    def _aux(self):
        return [self.indptr, self.indices]

    def _with(self, data):
        return _strop.csr_matrix(data, self.indices, self.indptr, self.shape)

    @classmethod
    def _read(cls, a, key):
        if isinstance(key, (int, np.integer)):
            extent = a.shape[0]
            if not -extent <= key < extent:
                raise _strop.IndexError(f"index: {key} is outside axis 0, which has extent {extent}")
            return _strop.slice(a, int(key) % extent, int(key) % extent + 1)
        if isinstance(key, slice):
            begin, end, step = key.indices(a.shape[0])
            if step == 1:
                return _strop.slice(a, begin, max(begin, end))
        if key is Ellipsis:
            return a
        if isinstance(key, tuple) and len(key) == 2 and all(isinstance(k, (int, np.integer, slice)) for k in key):
            for axis, (k, extent) in enumerate(zip(key, a.shape)):
                if not isinstance(k, slice) and not -extent <= k < extent:
                    raise _strop.IndexError(f"index: {k} is outside axis {axis}, which has extent {extent}")
            bounds = [k if isinstance(k, slice) else slice(int(k) % extent, int(k) % extent + 1) for k, extent in zip(key, a.shape)]
            limits = [b.indices(extent) for b, extent in zip(bounds, a.shape)]
            if all(step == 1 for _, _, step in limits):
                made = _dense.operators().slice(a, begin=tuple(b for b, _, _ in limits), end=tuple(max(b, e) for b, e, _ in limits))
                return made.tostype("default")[tuple(slice(None) if isinstance(k, slice) else 0 for k in key)] if any(not isinstance(k, slice) for k in key) else made
        raise also(_strop.IndexError, ValueError)("index: of a csr array rows are read, by an integer or a slice without a step, and blocks by two")

    def __reduce__(self):
        return _rebuild_csr, (self.data.asnumpy(), self.indices.asnumpy(), self.indptr.asnumpy(), self.shape)


class RowSparseNDArray(BaseSparseNDArray):
    """An array that stores some of its rows: data, their numbers in indices."""

    __slots__ = ()

    data = _part_property(0, "The stored rows.")
    indices = _part_property(1, "The number of each stored row.")

    def retain(self, indices):
        """The rows that are listed; the others are zero."""
        from . import sparse

        return sparse.retain(self, indices)

    def _aux(self):
        return [self.indices]

    def _with(self, data):
        return _strop.row_sparse_array(data, self.indices, self.shape)

    @classmethod
    def _read(cls, a, key):
        if key is Ellipsis or key == slice(None):
            return a
        raise _strop.IndexError("index: a row_sparse array is read as a whole, x[:]; say tostype('default') first")

    def __reduce__(self):
        return _rebuild_rows, (self.data.asnumpy(), self.indices.asnumpy(), self.shape)


_strop._set_class(1, RowSparseNDArray)
_strop._set_class(2, CSRNDArray)


def _rebuild_csr(data, indices, indptr, shape):
    return _strop.csr_matrix(_array_of(data, data.dtype), *_positions(indices, indptr), shape)


def _rebuild_rows(data, indices, shape):
    return _strop.row_sparse_array(_array_of(data, data.dtype), *_positions(indices), shape)


def _array_of(value, dtype):
    if isinstance(value, NDArray):
        return value if _dtype_name(value.dtype) == _dtype_name(dtype) else value.astype(dtype)
    return _dense.array(value, cpu(), dtype)


def _positions(*given):
    """Whole numbers as arrays: int32 and int64 as arrays give them; lists and the like are int64, beside int32 alone that as well."""
    typed = [isinstance(a, (NDArray, np.ndarray)) and a.dtype in (np.int32, np.int64) for a in given]
    widths = {np.dtype(a.dtype) for a, kept in zip(given, typed) if kept}
    other, made = np.int32 if widths == {np.dtype(np.int32)} else np.int64, []
    for a, kept in zip(given, typed):
        numbers = a if kept else a.asnumpy() if isinstance(a, NDArray) else np.asarray(a)
        if not kept and (numbers.dtype.kind not in "biuf" or (numbers.astype(other) != numbers).any()):
            raise _strop.ValueError(f"sparse: positions are given that are not whole numbers of {np.dtype(other).name}")
        whole = numbers if kept else numbers.astype(other)
        made.append(_array_of(whole, whole.dtype))
    return made


def _dtype_of(value, dtype):
    """The type of the values: as asked for, as an array says, else float32."""
    if dtype is not None:
        return type_of(dtype, "sparse")
    return value.dtype if isinstance(value, (NDArray, np.ndarray)) or hasattr(value, "tocsr") else mx_real_t


def _is_scipy(value):
    return hasattr(value, "tocsr") and hasattr(value, "nnz")


def csr_matrix(arg1, shape=None, ctx=None, dtype=None):
    """A CSR matrix: from (data, indices, indptr), from (data, (row, column)), a shape, a dense or sparse matrix."""
    ctx, shape = ctx or current_context(), None if shape is None else extents_of(shape)
    if _is_scipy(arg1):
        made = arg1.tocsr()
        if not made.has_canonical_format:
            made = made.copy()
            made.sum_duplicates()
        return _strop.to_device(_rebuild_csr(np.asarray(made.data, dtype=_dtype_of(arg1, dtype)), made.indices, made.indptr, made.shape), ctx)
    if isinstance(arg1, tuple):
        if len(arg1) == 2 and isinstance(arg1[1], tuple) and len(arg1[1]) == 2:
            data, (row, column) = arg1
            data = data if isinstance(data, NDArray) else np.asarray(data, dtype=dtype)  # SciPy's rule here: integers stay integers
            row, column = _positions(row, column)
            if shape is None:
                if row.size == 0:
                    raise _strop.ValueError("csr_matrix: no element is listed, so that the shape does not follow; give it")
                shape = (int(row.asnumpy().max()) + 1, int(column.asnumpy().max()) + 1)
            return _strop.to_device(_strop.csr_from_coordinates(_array_of(data, _dtype_of(data, dtype)), row, column, shape), ctx)
        if len(arg1) == 2:
            return _nothing("csr", arg1, shape, ctx, dtype)
        if len(arg1) != 3:
            raise _strop.ValueError(f"csr_matrix: a tuple of {len(arg1)}, expected (data, indices, indptr), (data, (row, column)) or a shape")
        data, indices, indptr = arg1
        indices, indptr = _positions(indices, indptr)
        if shape is None:
            if indices.size == 0:
                raise _strop.ValueError("csr_matrix: no column is listed, so that how many there are does not follow; give the shape")
            shape = (indptr.size - 1, int(indices.asnumpy().max()) + 1)
        made = _strop.csr_matrix(_array_of(data, _dtype_of(data, dtype)), indices, indptr, shape)
        try:
            made.check_format()
        except _strop.ValueError as error:
            if "does not ascend" not in str(error):
                raise
            made = _sorted(made)
            made.check_format()
        return _strop.to_device(made, ctx)
    return _from_any(arg1, "csr", shape, ctx, dtype)


def from_scipy(matrix):
    """A CSR matrix over the memory of SciPy's, which can then be written here alone, as with from_numpy. A ValueError where a
    row has columns twice or out of order: csr_matrix() makes a copy that has not."""
    made = matrix.tocsr()
    if not made.has_canonical_format:
        raise _strop.ValueError("from_scipy: the columns of a row do not ascend; say sum_duplicates() first, or csr_matrix(matrix), which copies")
    if len(made.data) != len(made.indices) or made.indices.dtype not in (np.int32, np.int64) or made.indptr.dtype != made.indices.dtype:
        raise _strop.ValueError("from_scipy: data and indices have other lengths, or positions are of another type than int32 or int64")
    shared = _strop.csr_over(*(_dense.from_numpy(part) for part in (made.data, made.indices, made.indptr)), made.shape)
    shared.check_format()
    return shared


def _sorted(a):
    """A csr matrix with the columns of each row in order."""
    columns, begins = a.indices.asnumpy(), a.indptr.asnumpy()
    if (np.diff(begins) < 0).any() or begins[-1] != len(columns):
        return a
    order = np.lexsort((columns, np.repeat(np.arange(len(begins) - 1), np.diff(begins))))
    return _rebuild_csr(a.data.asnumpy()[order], columns[order], begins, a.shape)


def row_sparse_array(arg1, shape=None, ctx=None, dtype=None):
    """A row-sparse array: from (data, indices), a shape, a dense or sparse array."""
    ctx, shape = ctx or current_context(), None if shape is None else extents_of(shape)
    if isinstance(arg1, tuple):
        if len(arg1) == 2 and not all(isinstance(extent, (int, np.integer)) for extent in arg1):
            data, (indices,) = _array_of(arg1[0], _dtype_of(arg1[0], dtype)), _positions(arg1[1])
            if shape is None:
                shape = (int(indices.asnumpy().max()) + 1 if indices.size else 0, *data.shape[1:])
            made = _strop.row_sparse_array(data, indices, shape)
            made.check_format()
            return _strop.to_device(made, ctx)
        return _nothing("row_sparse", arg1, shape, ctx, dtype)
    return _from_any(arg1, "row_sparse", shape, ctx, dtype)


def _nothing(stype, extents, shape, ctx, dtype):
    if shape is not None and tuple(shape) != tuple(extents):
        raise _strop.ValueError(f"{stype}: the source says the shape {tuple(extents)}, {tuple(shape)} was asked for")
    return zeros(stype, extents, ctx, dtype)


def _from_any(source, stype, shape, ctx, dtype):
    if isinstance(source, NDArray):
        made = source.tostype(stype)
        made = made if dtype is None or made.dtype == np.dtype(dtype) else made.astype(dtype)
    else:
        made = _dense.array(source, ctx, _dtype_of(source, dtype)).tostype(stype)
    if shape is not None and tuple(shape) != made.shape:
        raise _strop.ValueError(f"{stype}: the source has shape {made.shape}, {tuple(shape)} was asked for")
    return _strop.to_device(made, ctx)


def array(source_array, ctx=None, dtype=None):
    """A copy of a sparse array of ours or of SciPy."""
    if isinstance(source_array, NDArray):
        if source_array.stype == "default":
            raise also(_strop.ValueError, AssertionError)("sparse.array: the source is dense; say tostype")
        made = source_array if dtype is None else source_array.astype(dtype)
        return _strop.to_device(_dense.copied(made), ctx or current_context())
    if _is_scipy(source_array):
        return csr_matrix(source_array, ctx=ctx, dtype=dtype)
    raise _strop.ValueError(f"sparse.array: {type(source_array).__name__} is no sparse array; say array(), csr_matrix() or row_sparse_array()")


def zeros(stype, shape, ctx=None, dtype=None, **kwargs):
    """An array that stores nothing."""
    if stype == "default":
        return _dense.zeros(shape, ctx, dtype, **kwargs)
    storage_number(stype)
    return _dense.empty(shape, ctx, dtype, stype)


def empty(stype, shape, ctx=None, dtype=None):
    """An array that stores nothing."""
    return zeros(stype, shape, ctx, dtype)


def add(lhs, rhs):
    """lhs + rhs; sparse where both are and have one shape."""
    return lhs + rhs


def subtract(lhs, rhs):
    """lhs - rhs; sparse where both are and have one shape."""
    return lhs - rhs


def multiply(lhs, rhs):
    """lhs * rhs."""
    return lhs * rhs


def divide(lhs, rhs):
    """lhs / rhs."""
    return lhs / rhs
