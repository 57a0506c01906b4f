# SPDX-License-Identifier: Apache-2.0
"""Iterators over data, in batches."""
import gzip
import os
import struct
import zlib
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from .. import _strop, nd
from ..base import _dtype_name, also, counted, extents_of, file_error, integer_types, path_of
from ..ndarray import NDArray
from ..ndarray.sparse import BaseSparseNDArray, CSRNDArray

__all__ = ["CSVIter", "DataBatch", "DataDesc", "DataIter", "LibSVMIter", "MNISTIter", "NDArrayIter", "PrefetchingIter", "ResizeIter"]


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
                raise also(_strop.TypeError, AssertionError)(f"DataBatch: {what} is of type {type(arrays).__name__}, expected a list of NDArrays")
        self.data, self.label, self.pad, self.index = data, label, pad, index
        self.bucket_key, self.provide_data, self.provide_label = bucket_key, provide_data, provide_label
        self.qid = None  # of LibSVM lines: the groups that they belong to

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


class _BatchesOfOthers(DataIter):
    """Batches that other iterators make: iter_next() puts the next one into current_batch."""

    current_batch = None

    def next(self):
        if not self.iter_next():
            raise StopIteration
        return self.current_batch

    def getdata(self):
        return self.current_batch.data

    def getlabel(self):
        return self.current_batch.label

    def getindex(self):
        return self.current_batch.index

    def getpad(self):
        return self.current_batch.pad


class ResizeIter(_BatchesOfOthers):
    """So many batches of another iterator, which begins anew where it ends."""

    def __init__(self, data_iter, size, reset_internal=True):
        super().__init__(data_iter.batch_size)
        self.data_iter, self.size, self.reset_internal = data_iter, size, reset_internal
        self.provide_data, self.provide_label = data_iter.provide_data, data_iter.provide_label
        self.cur = 0

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


def _next_of(batches):
    """The next batch of an iterator, None behind the last one. Those of MXNet may have next() alone."""
    try:
        return batches.next() if hasattr(batches, "next") else next(batches)
    except StopIteration:
        return None


class PrefetchingIter(_BatchesOfOthers):
    """The batches of one iterator or several side by side, whose next ones are made on other threads meanwhile. Lists of
    dictionaries, one for each iterator, give data and labels other names."""

    def __init__(self, iters, rename_data=None, rename_label=None):
        self.iters = list(iters) if isinstance(iters, (list, tuple)) else [iters]
        if not self.iters:
            raise _strop.ValueError("PrefetchingIter: there is no iterator")
        self.rename_data, self.rename_label = rename_data, rename_label
        super().__init__(self.provide_data[0].shape[0])
        self._threads = ThreadPoolExecutor(len(self.iters))
        self._begin()

    def _begin(self):
        self._ahead = [self._threads.submit(_next_of, one) for one in self.iters]

    def _described(self, what, renamed):
        told = [[one if isinstance(one, DataDesc) else DataDesc(*one) for one in getattr(each, what)] for each in self.iters]
        if renamed is None:
            return [one for each in told for one in each]
        return [DataDesc(names.get(one.name, one.name), one.shape, one.dtype, one.layout) for names, each in zip(renamed, told) for one in each]

    @property
    def provide_data(self):
        """Descriptions of the data of a batch."""
        return self._described("provide_data", self.rename_data)

    @property
    def provide_label(self):
        """Descriptions of its labels."""
        return self._described("provide_label", self.rename_label)

    def reset(self):
        for one in self._ahead:
            one.exception()  # waits; what failed is told to whoever asks for a batch
        for one in self.iters:
            one.reset()
        self._begin()

    def iter_next(self):
        batches = [one.result() for one in self._ahead]
        if None in batches:
            if any(batch is not None for batch in batches):
                raise _strop.ValueError("PrefetchingIter: one iterator has ended and another one has not")
            return False
        if len({batch.pad for batch in batches}) > 1:
            raise _strop.ValueError(f"PrefetchingIter: batches with {', '.join(str(batch.pad) for batch in batches)} rows that only fill them")
        self.current_batch = DataBatch([a for batch in batches for a in batch.data], [a for batch in batches for a in batch.label or []], batches[0].pad,
                                       batches[0].index, provide_data=self.provide_data, provide_label=self.provide_label)
        groups = (getattr(batch, "qid", None) for batch in batches)
        self.current_batch.qid = next((qid for qid in groups if qid is not None), None)
        self._begin()
        return True


def _sources(given, default_name, may_be_empty):
    """[(name, array)] of an array, a list or a dictionary of them."""
    if given is None:
        given = []
    if not isinstance(given, (list, tuple, dict)) and hasattr(given, "shape"):  # NumPy's, ours, a data set of a file
        given = [given]
    if isinstance(given, (list, tuple)):
        if not given and not may_be_empty:
            raise _strop.ValueError("NDArrayIter: there is no data")
        given = {default_name if len(given) == 1 else f"_{i}_{default_name}": a for i, a in enumerate(given)}
    elif isinstance(given, dict):
        given = dict(sorted(given.items()))
    if not isinstance(given, dict):
        raise _strop.TypeError(f"NDArrayIter: {default_name} is of type {type(given).__name__}, expected an array, a list or a dictionary of them")
    return [(name, a if isinstance(a, NDArray) else _converted(name, a)) for name, a in given.items()]


def _converted(name, source):
    """An array of float32, as in MXNet; of integers beyond 2**24, of which float32 holds some alone, they are kept."""
    if hasattr(source, "tocsr"):
        return nd.array(source)
    found = np.asarray(source)
    if found.dtype.kind in "iu" and found.size and (int(found.max()) > 1 << 24 or int(found.min()) < -(1 << 24)):
        if int(found.max()) > np.iinfo(np.int64).max:
            raise _strop.ValueError(f"NDArrayIter: {name} has {int(found.max())}, which is beyond int64; give it as an array of float32 or float64, which round it")
        return nd.array(found, dtype=np.int32 if found.dtype == np.int32 else np.int64)
    return nd.array(found)


class NDArrayIter(DataIter):
    """Batches of the rows of arrays. NDArrays keep their types, whatever is in them; others become float32, as in MXNet,
    but for an array with integers beyond 2**24, which float32 would round: it becomes one of int64, or int32 where it is. What does not fill the last batch is filled up from the beginning ("pad"), left out
    ("discard") or kept for the next epoch ("roll_over"). ``layout`` is what provide_data and provide_label say."""

    def __init__(self, data, label=None, batch_size=1, shuffle=False, last_batch_handle="pad", data_name="data", label_name="softmax_label", layout="NCHW"):
        super().__init__(batch_size)
        self.layout = layout
        if last_batch_handle not in ("pad", "discard", "roll_over"):
            raise _strop.ValueError(f"NDArrayIter: last_batch_handle is {last_batch_handle!r}, expected pad, discard or roll_over")
        self.data, self.label = _sources(data, data_name, False), _sources(label, label_name, True)
        both = self.data + self.label
        for name, a in both:
            if not a.shape:
                raise also(_strop.ValueError, IndexError)(f"NDArrayIter: {name} has shape (), expected rows; a list is one of arrays")
        if not isinstance(batch_size, integer_types):
            raise _strop.TypeError(f"NDArrayIter: batch_size is of type {type(batch_size).__name__}, expected a whole number")
        self.num_data = both[0][1].shape[0]
        for name, a in both:
            if a.shape[0] != self.num_data:
                raise _strop.ValueError(f"NDArrayIter: {name} has {counted(a.shape[0], 'row')}, {both[0][0]} {self.num_data}")
        if any(isinstance(a, BaseSparseNDArray) for _, a in both) and last_batch_handle != "discard":
            raise NotImplementedError("NDArrayIter: sparse arrays need last_batch_handle='discard'")
        if batch_size < 1 or self.num_data < 1:
            raise _strop.ValueError(f"NDArrayIter: batch_size is {batch_size} of {counted(self.num_data, 'row')}, expected at least 1 of 1")
        self.shuffle, self.last_batch_handle = shuffle, last_batch_handle
        self.data_list, self.num_source = [a for _, a in both], len(both)
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
        return [DataDesc(name, (self.batch_size, *a.shape[1:]), a.dtype, self.layout) for name, a in self.data]

    @property
    def provide_label(self):
        """Descriptions of its labels."""
        return [DataDesc(name, (self.batch_size, *a.shape[1:]), a.dtype, self.layout) for name, a in self.label]

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
        return self._order[np.arange(self.cursor, self.cursor + self.batch_size) % len(self._order)]

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
        if self.last_batch_handle == "roll_over":  # as MXNet has it: rows of the epoch before, with which a batch begins
            return len(self._left) if self.cursor == 0 else 0
        return max(0, self.cursor + self.batch_size - len(self._order)) if self.last_batch_handle == "pad" else 0


class LibSVMIter(DataIter):
    """Batches of CSR rows of LibSVM text, read ahead: data of shape (batch_size, features), labels dense, or CSR where they
    have a file of their own. The first column's index is 0, or 1 where the file is `one_based`. A batch's qid has the groups
    of its lines, int64, -1 where a line names none; None where no line of it does."""

    def __init__(self, data_libsvm, data_shape, label_libsvm="NULL", label_shape=(1,), num_parts=1, part_index=0, batch_size=1,
                 round_batch=True, prefetch_buffer=4, dtype=np.float32, data_name="data", label_name="softmax_label", one_based=False,
                 **kwargs):
        super().__init__(batch_size)
        self._shapes = extents_of(data_shape), extents_of(label_shape)
        self._names, self._dtype = (data_name, label_name), dtype
        known = {"num_parts": num_parts, "part_index": part_index}
        for name in kwargs:
            if name not in ("shuffle", "silent", "seed", "preprocess_threads", "verbose", "ctx"):
                raise _strop.TypeError(f"LibSVMIter: no argument {name!r}; there are data_libsvm, data_shape, label_libsvm, label_shape, {', '.join(known)}, "
                                       "batch_size, round_batch, prefetch_buffer, dtype and one_based")
        paths = [path_of(path, "LibSVMIter") for path in (data_libsvm, label_libsvm)]
        self._rows = _strop.LibSVMIter(paths[0], self._shapes[0], paths[1], self._shapes[1], num_parts, part_index, batch_size,
                                       bool(round_batch), prefetch_buffer, dtype, bool(one_based))
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
        return self._rows.batch()[0]

    def getlabel(self):
        return self._rows.batch()[1]

    def getpad(self):
        return self._rows.batch()[2]

    def getindex(self):
        return np.asarray(self._rows.batch()[3])

    def getqid(self):
        """The groups of the lines of this batch; None where no line of it names one."""
        return self._rows.batch()[4]

    def next(self):
        """The next batch. Of several threads that ask, each gets others."""
        batch = self._rows.take()
        if batch is None:
            raise StopIteration
        data, label, pad, index, qid = batch
        batch = DataBatch([data], [label], pad, np.asarray(index))
        batch.qid = qid
        return batch


class CSVIter(DataIter):
    """Batches of the lines of a file of numbers between commas, each reshaped. Labels of one number are vectors. The last batch
    is filled with the first lines, behind which the next epoch begins, or with zeros where round_batch is not set."""

    def __init__(self, data_csv, data_shape, label_csv=None, label_shape=(1,), batch_size=1, round_batch=True, dtype=np.float32,
                 data_name="data", label_name="softmax_label", **_):
        super().__init__(batch_size)
        self._dtype, self._names = np.dtype(dtype).type, (data_name, label_name)
        of_label = () if extents_of(label_shape) == (1,) else extents_of(label_shape)
        self._data = self._read(data_csv, extents_of(data_shape))
        self._label = self._read(label_csv, of_label) if label_csv else np.zeros((len(self._data), *of_label), dtype)
        if len(self._label) != len(self._data):
            raise _strop.ValueError(f"CSVIter: {counted(len(self._data), 'line')} of data and {len(self._label)} of labels")
        self._round, self._at = round_batch, -batch_size

    def _read(self, path, shape):
        path = os.fsdecode(path_of(path, "CSVIter"))
        try:
            os.stat(path)  # NumPy has no sentence of the system's for a file that is not there; opened it is once, as a pipe can be
            lines = np.loadtxt(path, dtype=self._dtype, delimiter=",", ndmin=2, encoding="utf-8-sig")  # with or without a byte order mark
            return lines.reshape(len(lines), *shape)  # each by itself: one of another length is refused
        except OSError as error:
            raise file_error(f"CSVIter: {path}: {error.strerror or error}", error) from error
        except ValueError as error:
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
        """Begins an epoch: behind the lines that filled the last batch of the one before, where that was given."""
        rest = self._at + self.batch_size - len(self._data)  # behind the last line, of the batch that was given last
        self._at = (rest if self._round and rest > 0 else 0) - self.batch_size

    def iter_next(self):
        if self._at + self.batch_size >= len(self._data):
            return False
        self._at += self.batch_size
        return True

    def _lines(self):
        return np.arange(self._at, self._at + self.batch_size)

    def _rows(self, source):
        made = source[self._lines() % len(source)]
        if not self._round:
            made[self._lines() >= len(source)] = 0
        return nd.array(made, dtype=self._dtype)

    def getdata(self):
        return self._rows(self._data)

    def getlabel(self):
        return self._rows(self._label)

    def getpad(self):
        return max(0, self._at + self.batch_size - len(self._data))

    def getindex(self):
        return self._lines() % len(self._data)

    def next(self):
        if not self.iter_next():
            raise StopIteration
        return DataBatch([self.getdata()], [self.getlabel()], self.getpad(), self.getindex())


def _idx(path, mark):
    """The elements of a file of bytes, as MNIST is, which may be compressed."""
    try:
        with open(path, "rb") as file:
            text = file.read()
        text = gzip.decompress(text) if text[:2] == b"\x1f\x8b" else text
        axes = mark & 255
        found, *shape = struct.unpack(f">{axes + 1}I", text[:4 * (axes + 1)])
    except (gzip.BadGzipFile, EOFError, struct.error, zlib.error) as error:
        raise _strop.ValueError(f"MNISTIter: {path}: {error}") from error
    except OSError as error:
        raise file_error(f"MNISTIter: {path}: {error.strerror or error}", error) from error
    if found != mark or len(text) - 4 * (axes + 1) != np.prod(shape, dtype=np.int64):
        raise _strop.ValueError(f"MNISTIter: {path} begins with {found} and has {counted(len(text), 'byte')}, expected {mark} and {axes} extents of so many elements")
    return np.frombuffer(text, np.uint8, offset=4 * (axes + 1)).reshape(shape)


class MNISTIter(DataIter):
    """Batches of images from 0 to 1, of shape (batch_size, 1, rows, columns), or (batch_size, pixels) where they are flat, and
    of their labels, from two files, all in float32; of `num_parts` parts that with the number `part_index`. They are shuffled
    once; what does not fill a batch is left out."""

    def __init__(self, image, label, batch_size=128, shuffle=True, flat=False, seed=0, num_parts=1, part_index=0, data_name="data",
                 label_name="softmax_label", dtype=None, **_):
        super().__init__(batch_size)
        if not 0 <= part_index < num_parts:
            raise _strop.ValueError(f"MNISTIter: part_index is {part_index} of num_parts {num_parts}, expected from 0 to below num_parts")
        if dtype not in (None, "None") and _dtype_name(dtype) != "float32":
            raise _strop.ValueError(f"MNISTIter: dtype is {_dtype_name(dtype)}, expected float32")
        images, labels = _idx(image, 0x803), _idx(label, 0x801)
        if len(images) != len(labels):
            raise _strop.ValueError(f"MNISTIter: {counted(len(images), 'image')} and {counted(len(labels), 'label')}")
        part = slice(len(images) * part_index // num_parts, len(images) * (part_index + 1) // num_parts)
        order = np.arange(len(images))[part]
        if shuffle:
            np.random.RandomState(seed).shuffle(order)
        self._shape = (images[0].size,) if flat else (1, *images.shape[1:])
        self._images, self._labels, self._names = images[order], labels[order], (data_name, label_name)
        self.reset()

    @property
    def provide_data(self):
        """The description of the data of a batch."""
        return [DataDesc(self._names[0], (self.batch_size, *self._shape))]

    @property
    def provide_label(self):
        """The description of its labels."""
        return [DataDesc(self._names[1], (self.batch_size,))]

    def reset(self):
        self._at = -self.batch_size

    def iter_next(self):
        self._at += self.batch_size
        return self._at + self.batch_size <= len(self._labels)

    def getdata(self):
        return nd.array(self._images[self._at:self._at + self.batch_size].reshape(-1, *self._shape) / np.float32(256))

    def getlabel(self):
        return nd.array(self._labels[self._at:self._at + self.batch_size])

    def getindex(self):
        return np.arange(self._at, self._at + self.batch_size)

    def next(self):
        if not self.iter_next():
            raise StopIteration
        return DataBatch([self.getdata()], [self.getlabel()], self.getpad(), self.getindex())
