# SPDX-License-Identifier: Apache-2.0
"""Iterators over data, in batches."""
from collections import namedtuple

import numpy as np

from . import _strop, nd
from .ndarray import NDArray
from .ndarray.sparse import BaseSparseNDArray, CSRNDArray

__all__ = ["CSVIter", "DataBatch", "DataDesc", "DataIter", "LibSVMIter", "NDArrayIter", "ResizeIter"]


class DataDesc(namedtuple("DataDesc", ["name", "shape"])):
    """The name and shape of an array of a batch, with its type and the letters of its axes."""

    def __new__(cls, name, shape, dtype=np.float32, layout="NCHW"):
        made = super().__new__(cls, name, tuple(shape))
        made.dtype, made.layout = dtype, layout
        return made

    def __repr__(self):
        return f"DataDesc[{self.name},{self.shape},{self.dtype},{self.layout}]"

    @staticmethod
    def get_batch_axis(layout):
        """Which axis goes over the batch: that of the N."""
        return 0 if layout is None else layout.find("N")

    @staticmethod
    def get_list(shapes, types):
        """Descriptions of [(name, shape)] and, where there are any, [(name, type)]."""
        known = dict(types or ())
        return [DataDesc(name, shape, known[name]) if name in known else DataDesc(name, shape) for name, shape in shapes]


class DataBatch:
    """Arrays of data and of labels; the last `pad` rows only fill it."""

    def __init__(self, data, label=None, pad=None, index=None, bucket_key=None, provide_data=None, provide_label=None):
        for what, arrays in (("data", data), ("label", label)):
            if arrays is not None and not isinstance(arrays, (list, tuple)):
                raise _strop.TypeError(f"DataBatch: {what} is of type {type(arrays).__name__}, expected a list of NDArrays")
        self.data, self.label, self.pad, self.index = data, label, pad, index
        self.bucket_key, self.provide_data, self.provide_label = bucket_key, provide_data, provide_label

    def __str__(self):
        return f"DataBatch: data shapes: {[a.shape for a in self.data]} label shapes: {[a.shape for a in self.label or []] or None}"


class DataIter:
    """What all iterators share: derive, and write iter_next(), getdata() and getlabel()."""

    def __init__(self, batch_size=0):
        self.batch_size = batch_size

    def __iter__(self):
        return self

    def reset(self):
        """Begins anew."""

    def next(self):
        """The next batch; StopIteration behind the last one."""
        if not self.iter_next():
            raise StopIteration
        return DataBatch(data=self.getdata(), label=self.getlabel(), pad=self.getpad(), index=self.getindex())

    def __next__(self):
        return self.next()

    def iter_next(self):
        """Goes to the next batch; False where there is none."""
        raise NotImplementedError

    def getdata(self):
        """The arrays of data of this batch."""
        raise NotImplementedError

    def getlabel(self):
        """The arrays of labels of this batch."""
        raise NotImplementedError

    def getindex(self):
        """The numbers of the rows of this batch, where they are known."""
        return None

    def getpad(self):
        """How many of the last rows only fill it."""
        return 0


class ResizeIter(DataIter):
    """So many batches of another iterator, which begins anew where it ends."""

    def __init__(self, data_iter, size, reset_internal=True):
        super().__init__(data_iter.batch_size)
        self.data_iter, self.size, self.reset_internal = data_iter, size, reset_internal
        self.provide_data, self.provide_label = data_iter.provide_data, data_iter.provide_label
        self.cur, self.current_batch = 0, None

    def reset(self):
        self.cur = 0
        if self.reset_internal:
            self.data_iter.reset()

    def iter_next(self):
        if self.cur == self.size:
            return False
        try:
            self.current_batch = self.data_iter.next()
        except StopIteration:
            self.data_iter.reset()
            self.current_batch = self.data_iter.next()
        self.cur += 1
        return True

    def getdata(self):
        return self.current_batch.data

    def getlabel(self):
        return self.current_batch.label

    def getindex(self):
        return self.current_batch.index

    def getpad(self):
        return self.current_batch.pad


def _sources(given, default_name, may_be_empty):
    """[(name, array)] of an array, a list or a dictionary of them."""
    if given is None:
        given = []
    if isinstance(given, (np.ndarray, NDArray)):
        given = [given]
    if isinstance(given, (list, tuple)):
        if not given and not may_be_empty:
            raise _strop.ValueError("NDArrayIter: there is no data")
        given = {default_name if len(given) == 1 else f"_{i}_{default_name}": a for i, a in enumerate(given)}
    if not isinstance(given, dict):
        raise _strop.TypeError(f"NDArrayIter: {default_name} is of type {type(given).__name__}, expected an array, a list or a dictionary of them")
    return [(name, a if isinstance(a, NDArray) else nd.array(np.asarray(a))) for name, a in given.items()]


class NDArrayIter(DataIter):
    """Batches of the rows of arrays. What does not fill the last batch is filled up from the beginning ("pad"), left out
    ("discard") or kept for the next epoch ("roll_over")."""

    def __init__(self, data, label=None, batch_size=1, shuffle=False, last_batch_handle="pad", data_name="data", label_name="softmax_label"):
        super().__init__(batch_size)
        if last_batch_handle not in ("pad", "discard", "roll_over"):
            raise _strop.ValueError(f"NDArrayIter: last_batch_handle is {last_batch_handle!r}, expected pad, discard or roll_over")
        self.data, self.label = _sources(data, data_name, False), _sources(label, label_name, True)
        both = self.data + self.label
        self.num_data = both[0][1].shape[0]
        for name, a in both:
            if a.shape[0] != self.num_data:
                raise _strop.ValueError(f"NDArrayIter: {name} has {a.shape[0]} rows, {both[0][0]} {self.num_data}")
        if any(isinstance(a, BaseSparseNDArray) for _, a in both) and last_batch_handle != "discard":
            raise NotImplementedError("NDArrayIter: sparse arrays need last_batch_handle='discard'")
        if batch_size < 1 or batch_size > self.num_data:
            raise _strop.ValueError(f"NDArrayIter: batch_size is {batch_size}, expected 1 to {self.num_data}")
        self.shuffle, self.last_batch_handle, self.num_source = shuffle, last_batch_handle, len(self.data)
        self.idx = np.arange(self.num_data)
        self._left = np.arange(0)  # rows that the epoch before kept for this one
        self._begin()

    def _begin(self):
        if self.shuffle:
            np.random.shuffle(self.idx)
        self._order = np.concatenate([self._left, self.idx])
        self.cursor = -self.batch_size

    @property
    def provide_data(self):
        """Descriptions of the data of a batch."""
        return [DataDesc(name, (self.batch_size, *a.shape[1:]), a.dtype) for name, a in self.data]

    @property
    def provide_label(self):
        """Descriptions of its labels."""
        return [DataDesc(name, (self.batch_size, *a.shape[1:]), a.dtype) for name, a in self.label]

    def hard_reset(self):
        """Begins anew, also with what was kept from the epoch before."""
        self._left = np.arange(0)
        self._begin()

    def reset(self):
        rest = len(self._order) % self.batch_size
        over = self.cursor + self.batch_size > len(self._order) - self.batch_size
        self._left = self._order[-rest:].copy() if self.last_batch_handle == "roll_over" and rest and over else np.arange(0)
        self._begin()

    def iter_next(self):
        self.cursor += self.batch_size
        if self.last_batch_handle == "pad":
            return self.cursor < len(self._order)
        return self.cursor + self.batch_size <= len(self._order)

    def _rows(self):
        if not 0 <= self.cursor < len(self._order):
            raise _strop.Error("NDArrayIter: there is no current batch; call iter_next() first")
        rows = self._order[self.cursor:self.cursor + self.batch_size]
        return np.concatenate([rows, self._order[:self.batch_size - len(rows)]])

    def _batch(self, sources):
        rows = self._rows()
        if (np.diff(rows) == 1).all():
            return [a[int(rows[0]):int(rows[-1]) + 1] for _, a in sources]
        made = []
        for _, a in sources:
            if isinstance(a, CSRNDArray):
                made.append(nd.take(a, nd.array(rows, dtype=np.int64), axis=0))
            else:
                made.append(a.tostype("default")[rows].tostype(a.stype))
        return made

    def getdata(self):
        return self._batch(self.data)

    def getlabel(self):
        return self._batch(self.label)

    def getindex(self):
        return self._rows()

    def getpad(self):
        return max(0, self.cursor + self.batch_size - len(self._order)) if self.last_batch_handle == "pad" else 0


class LibSVMIter(DataIter):
    """Batches of CSR rows of LibSVM text, read ahead: data of shape (batch_size, features), labels dense, or CSR where they
    have a file of their own."""

    def __init__(self, data_libsvm, data_shape, label_libsvm="NULL", label_shape=(1,), num_parts=1, part_index=0, batch_size=1,
                 round_batch=True, prefetch_buffer=4, dtype=np.float32, data_name="data", label_name="softmax_label", **kwargs):
        super().__init__(batch_size)
        self._shapes = _extents(data_shape), _extents(label_shape)
        self._names, self._dtype = (data_name, label_name), dtype
        known = {"num_parts": num_parts, "part_index": part_index}
        for name in kwargs:
            if name not in ("shuffle", "silent", "seed", "preprocess_threads", "verbose", "ctx"):
                raise _strop.TypeError(f"LibSVMIter: no argument {name!r}; there are data_libsvm, data_shape, label_libsvm, label_shape, {', '.join(known)}, "
                                       "batch_size, round_batch, prefetch_buffer and dtype")
        self._rows = _strop.LibSVMIter(str(data_libsvm), self._shapes[0], str(label_libsvm), self._shapes[1], num_parts, part_index, batch_size,
                                       bool(round_batch), prefetch_buffer, dtype)
        self._own_labels = label_libsvm not in ("", "NULL")

    @property
    def provide_data(self):
        """The description of the data of a batch."""
        return [DataDesc(self._names[0], (self.batch_size, *self._shapes[0]), self._dtype)]

    @property
    def provide_label(self):
        """The description of its labels."""
        extents = self._shapes[1] if self._own_labels or self._shapes[1] != (1,) else ()
        return [DataDesc(self._names[1], (self.batch_size, *extents), self._dtype)]

    def reset(self):
        self._rows.reset()

    def iter_next(self):
        return self._rows.next()

    def getdata(self):
        return self._rows.data

    def getlabel(self):
        return self._rows.label

    def getindex(self):
        return np.asarray(self._rows.index)

    def getpad(self):
        return self._rows.pad

    def next(self):
        if not self.iter_next():
            raise StopIteration
        return DataBatch([self.getdata()], [self.getlabel()], self.getpad(), self.getindex())


def _extents(shape):
    return (int(shape),) if isinstance(shape, (int, np.integer)) else tuple(int(n) for n in shape)


class CSVIter(DataIter):
    """Batches of the lines of a file of numbers between commas, each reshaped."""

    def __init__(self, data_csv, data_shape, label_csv=None, label_shape=(1,), batch_size=1, round_batch=True, dtype=np.float32,
                 data_name="data", label_name="label", **_):
        super().__init__(batch_size)
        self._dtype, self._names = dtype, (data_name, label_name)
        self._data = self._read(data_csv, _extents(data_shape))
        self._label = self._read(label_csv, _extents(label_shape)) if label_csv else np.zeros((len(self._data), *_extents(label_shape)), dtype)
        if len(self._label) != len(self._data):
            raise _strop.ValueError(f"CSVIter: {len(self._data)} lines of data and {len(self._label)} of labels")
        self._round, self._at = round_batch, -batch_size

    def _read(self, path, shape):
        try:
            return np.loadtxt(path, dtype=self._dtype, delimiter=",", ndmin=2).reshape(-1, *shape)
        except (OSError, ValueError) as error:
            raise _strop.ValueError(f"CSVIter: {path}: {error}") from error

    @property
    def provide_data(self):
        """The description of the data of a batch."""
        return [DataDesc(self._names[0], (self.batch_size, *self._data.shape[1:]), self._dtype)]

    @property
    def provide_label(self):
        """The description of its labels."""
        return [DataDesc(self._names[1], (self.batch_size, *self._label.shape[1:]), self._dtype)]

    def reset(self):
        self._at = -self.batch_size

    def iter_next(self):
        self._at += self.batch_size
        return self._at < len(self._data)

    def _rows(self, source):
        rows = np.arange(self._at, self._at + self.batch_size)
        made = source[rows % len(source)]
        if not self._round:
            made[rows >= len(source)] = 0
        return nd.array(made, dtype=self._dtype)

    def getdata(self):
        return self._rows(self._data)

    def getlabel(self):
        return self._rows(self._label)

    def getpad(self):
        return max(0, self._at + self.batch_size - len(self._data))

    def next(self):
        if not self.iter_next():
            raise StopIteration
        return DataBatch([self.getdata()], [self.getlabel()], self.getpad())
