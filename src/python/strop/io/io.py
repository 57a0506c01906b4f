# SPDX-License-Identifier: Apache-2.0
"""Iterators over data, in batches."""
import ast
import inspect
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from .. import _strop, nd
from ..base import also, counted, extents_of, integer_types, path_of
from ..ndarray import NDArray
from ..ndarray.sparse import BaseSparseNDArray, CSRNDArray

__all__ = ["CSVIter", "DataBatch", "DataDesc", "DataIter", "ImageFolderIter", "ImageRecordIter", "LibSVMIter", "MNISTIter", "NDArrayIter", "PrefetchingIter", "ResizeIter"]


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


# What MXNet's programs pass to any iterator, and what says nothing here.
_PASSED_OVER = ("ctx", "data_layout", "device_id", "preprocess_threads", "seed", "shuffle", "silent", "verbose")


class _OfRegistry(DataIter):
    """Batches that C++ makes, read ahead."""

    def _open(self, given):
        names = {"data": given.pop("data_name"), "label": given.pop("label_name")}
        super().__init__(given["batch_size"])
        self._batches = _strop.Batches(self._named, given)
        # Rows that filled the last batch are passed over in the next epoch of text, and a reset more begins with the first row, as MXNet's.
        self._beginning = self._batches.position() if self._named in ("CSVIter", "LibSVMIter") and given["round_batch"] else None
        self._asked = self._passed = False  # a batch was asked for since the last reset; that reset may have passed over rows
        self._provided = [[DataDesc(names[what] if name == usual else name, shape, dtype) for name, shape, dtype in told]
                          for what, usual, told in (("data", "data", self._batches.provide_data()), ("label", "softmax_label", self._batches.provide_label()))]

    @property
    def provide_data(self):
        """Descriptions of the data of a batch."""
        return self._provided[0]

    @property
    def provide_label(self):
        """Descriptions of its labels."""
        return self._provided[1]

    def reset(self):
        """Begins the next epoch; in the middle of one it begins anew."""
        if self._passed and not self._asked:
            self._batches.resume(self._beginning)
        else:
            self._batches.reset()
        self._asked, self._passed = False, self._asked and self._beginning is not None

    def _ask(self, call):
        self._asked = True
        try:
            return call()
        except _strop.Error as error:
            if self._named == "MNISTIter" and str(error).endswith("and the rest is discarded"):  # an epoch without batches, as in MXNet
                return None
            raise

    def iter_next(self):
        return bool(self._ask(self._batches.next))

    def getdata(self):
        return self._batches.batch()[0][0]

    def getlabel(self):
        return self._batches.batch()[1][0]

    def getpad(self):
        return self._batches.batch()[2]

    def getindex(self):
        return np.asarray(self._batches.batch()[3])

    def getqid(self):
        """The groups of the lines of this batch; None where no line of it names one."""
        return self._batches.batch()[4]

    def next(self):
        """The next batch. Of several threads that ask, each gets others."""
        batch = self._ask(self._batches.take)
        if batch is None:
            raise StopIteration
        data, label, pad, index, qid = batch
        batch = DataBatch(data, label, pad, np.asarray(index))
        batch.qid = qid
        return batch

    def position(self):
        """Where the iterator is, behind the current batch, as a text for resume()."""
        return self._batches.position()

    def resume(self, position):
        """Goes on where position() was asked for, of an iterator with the same parameters, in another process as well."""
        self._asked = self._passed = False
        self._batches.resume(position)


# Parameters that stand behind the names of the arrays, for programs that give arguments by their place.
_BEHIND = {"CSVIter": ("prefetch_buffer", "num_parts", "part_index"), "LibSVMIter": ("one_based",), "MNISTIter": ("dtype", "silent", "prefetch_buffer")}


def _value(param):
    """The default of a parameter as Python writes it."""
    if param["kind"] in ("integer", "real", "boolean", "shape"):
        return ast.literal_eval(param["default"])
    return param["default"]


def _of_registry(described):
    """The class of an iterator of the registry, with a signature and a document from there."""
    name = described["name"]
    params = [inspect.Parameter(one["name"], inspect.Parameter.POSITIONAL_OR_KEYWORD, default=inspect.Parameter.empty if one["required"] else _value(one))
              for one in described["params"]]
    # Batches have one row where nothing is said: the registry has 0, which stands for "to be said".
    params = [one.replace(default=1) if one.name == "batch_size" and one.default == 0 else one for one in params]
    params += [inspect.Parameter(f"{what}_name", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=usual) for what, usual in (("data", "data"), ("label", "softmax_label"))]
    behind = _BEHIND.get(name, ())
    params = [one for one in params if one.name not in behind] + [one for late in behind for one in params if one.name == late]
    known = [one.name for one in params]
    own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    signature = inspect.Signature([own, *params, inspect.Parameter("kwargs", inspect.Parameter.VAR_KEYWORD)])

    def __init__(self, *args, **kwargs):
        for key in kwargs:
            if key not in known and key not in _PASSED_OVER:
                raise _strop.TypeError(f"{name}: no argument {key!r}; there are {', '.join(known)}")
        try:
            bound = signature.bind(self, *args, **kwargs)
        except TypeError as error:
            raise _strop.TypeError(f"{name}: {error}") from None
        bound.apply_defaults()
        given = {key: value for key, value in bound.arguments.items() if key in known}
        for key in ("dtype", *_TEXTS[name]):  # as MXNet's programs say that there is none
            if key in given and given[key] in (None, "None"):
                del given[key]
        for one in described["params"]:
            if one["name"] in given and one["kind"] == "shape":
                given[one["name"]] = extents_of(given[one["name"]])
            elif one["name"] in given and one["kind"] == "string" and not isinstance(given[one["name"]], bytes):  # all of them are paths
                given[one["name"]] = path_of(given[one["name"]], f"{name}: {one['name']}")
        self._open(given)

    __init__.__signature__ = signature
    document = f"{described['doc']}.\n\n" + "\n".join(f"{one['name']} : {one['type']}{', required' if one['required'] else ''}\n    {one['doc'][:1].upper()}{one['doc'][1:]}." for one in described["params"])
    return type(name, (_OfRegistry,), {"_named": name, "__init__": __init__, "__doc__": document, "__module__": __name__})


_DESCRIBED = {one["name"]: one for one in _strop.iterators()}
_TEXTS = {name: [param["name"] for param in one["params"] if param["kind"] == "string" and not param["required"]] for name, one in _DESCRIBED.items()}
CSVIter, LibSVMIter, MNISTIter = (_of_registry(_DESCRIBED[name]) for name in ("CSVIter", "LibSVMIter", "MNISTIter"))
ImageRecordIter, ImageFolderIter = (_of_registry(_DESCRIBED[name]) for name in ("ImageRecordIter", "ImageFolderIter"))
