# SPDX-License-Identifier: Apache-2.0
"""NDArray: what the core leaves to Python, and the functions that make arrays."""
import errno
import math
import os
import struct

import numpy as np

from .. import _strop
from .._strop import NDArray
from ..autograd import request_number
from ..base import (_DTYPES, GRAD_REQUESTS, STORAGES, _dtype_name, _hook, also, arrays_in, bfloat16, extends, extents_of, file_error, mx_real_t, path_of,
                    storage_number, text_in, type_of)
from ..context import Context, current_context, of_device
from . import indexing, masks

__all__ = ["NDArray", "arange", "array", "concatenate", "empty", "eye", "fill_element_0index", "from_dlpack", "from_numpy", "full", "histogram", "linspace",
           "load", "load_frombuffer", "moveaxis", "ones", "onehot_encode", "save", "split_v2", "to_dlpack_for_read",
           "to_dlpack_for_write", "waitall", "zeros"]

py_slice = slice  # Python's own, by the name that tells it from the operator in MXNet


def operators():
    """The module of all operators by their own names."""
    from . import op

    return op


# The numbers of files under the names that programs of MXNet use.
_DTYPE_MX_TO_NP = {-1: None, **_DTYPES}
_DTYPE_NP_TO_MX = {None: -1, **{dtype if isinstance(dtype, type) else str(dtype): number for number, dtype in _DTYPES.items()}}
_STORAGE_TYPE_STR_TO_ID = {"undefined": -1, **{name: number for number, name in enumerate(STORAGES)}}
_STORAGE_TYPE_ID_TO_STR = {number: name for name, number in _STORAGE_TYPE_STR_TO_ID.items()}
_GRAD_REQ_MAP = dict(GRAD_REQUESTS)


def copied(a):
    """A copy, after a wait that Ctrl-C ends: the core's own has no end but the array's."""
    a.wait_to_read()
    return _strop.copy(a)


@extends(NDArray)
class _Members:
    __array_priority__ = 1000.0

    @property
    def context(self):
        """Where the array is."""
        return of_device(self._device)

    ctx = context
    device = context

    @property
    def stype(self):
        """The storage type: default, row_sparse or csr."""
        return STORAGES[self._storage]

    @property
    def T(self):
        """The array with its axes in reverse order."""
        return self if self.ndim < 2 else self.transpose()

    @property
    def handle(self):
        """The object itself, which is what stands for a handle here."""
        return self

    @property
    def writable(self):
        return True

    @property
    def itemsize(self):
        return np.dtype(self.dtype).itemsize

    @property
    def __array_interface__(self):
        if self._storage != 0 or self.dtype is bfloat16:
            raise AttributeError("__array_interface__ is of dense arrays of NumPy's types")
        return {"version": 3, "shape": () if self._facts & masks.NUMBER else self.shape, "typestr": np.dtype(self.dtype).str, "data": (self._pointer, False), "strides": None}

    def __array__(self, dtype=None, copy=None):
        made = self.asnumpy().reshape(()) if self._facts & masks.NUMBER else self.asnumpy()
        return made if dtype is None else made.astype(dtype, copy=False)

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        if copy:
            return _strop.to_capsule(_strop.copy(self), max_version is not None and max_version[0] >= 1)
        return _strop.to_capsule(self, max_version is not None and max_version[0] >= 1)

    def __dlpack_device__(self):
        return self._device

    @property
    def _fresh_grad(self):
        """Whether backward has written the gradient since this was set to False."""
        return _strop.is_fresh(self)

    @_fresh_grad.setter
    def _fresh_grad(self, fresh):
        _strop.set_fresh(self, bool(fresh))

    @staticmethod
    def _basic_indexing_slice_is_contiguous(slc_key, shape):
        """Whether what a key of slices and positions takes of that shape lies together; programs of MXNet ask this."""
        steps = [math.prod(shape[axis + 1:]) for axis in range(len(shape))]
        return np.lib.stride_tricks.as_strided(np.empty(1, "int8"), shape, steps)[slc_key].flags.c_contiguous

    def _slice(self, start, stop):
        return self[start:stop]

    def _at(self, idx):
        return self[idx]

    def _sync_copyfrom(self, source_array):
        """Overwrites the elements with those of an array of NumPy of that shape."""
        source = np.asarray(source_array, dtype=self.dtype)
        if source.shape != self.shape:
            raise _strop.ValueError(f"_sync_copyfrom: the source has shape {source.shape}, the array {self.shape}")
        self[:] = source

    def asscalar(self):
        """The only element as a number of Python."""
        if self.size != 1:
            raise _strop.ValueError(f"asscalar: an array of shape {self.shape}, expected one element")
        return self.asnumpy().reshape(-1)[0]

    def item(self):
        """The only element as a number of Python."""
        return self.asscalar().item()

    def tolist(self):
        """Nested lists of numbers."""
        return self.asnumpy().tolist()

    def astype(self, dtype, copy=True):
        """The elements in another type; the array itself where it has that type and no copy is asked for."""
        name = _dtype_name(type_of(dtype, "astype"))
        return self if not copy and name == _dtype_name(self.dtype) else operators().Cast(self, dtype=name)

    def copy(self):
        """A new array with the same elements."""
        return operators()._copy(self) if self._storage == 0 else copied(self)

    def __copy__(self):
        return self.copy()

    def __deepcopy__(self, memo):
        return copied(self)

    def copyto(self, other):
        """Writes the elements to another array, or copies them to a context; what they were written to."""
        if isinstance(other, Context):
            if other != self.context:
                return _strop.to_device(self, other)
            return self.copy() if self._storage == 0 else copied(self)
        if not isinstance(other, NDArray):
            raise _strop.TypeError(f"copyto: expected an NDArray or a Context, got {type(other).__name__}")
        if _strop.same(self, other):
            return other
        if other.shape != self.shape:
            raise _strop.ValueError(f"copyto: the array has shape {self.shape}, the one that is written {other.shape}")
        if self._device != other._device:
            return _strop.to_device(self, other.context).copyto(other)
        if self.stype != other.stype:
            return operators().cast_storage(self, stype=other.stype, out=other)
        if self.dtype != other.dtype:
            return operators().Cast(self, dtype=other.dtype, out=other)
        return operators()._copyto(self, out=other)

    def as_in_context(self, context):
        """The array on a context: itself where it is there."""
        return self if self.context == context else self.copyto(context)

    as_in_ctx = as_in_context
    to_device = as_in_context

    def as_nd_ndarray(self):
        return self

    def tostype(self, stype):
        """The array in another storage type: default, row_sparse or csr."""
        if stype != "default":
            self.wait_to_read()  # the elements say what is stored; this wait Ctrl-C ends
        return operators().cast_storage(self, stype=stype)

    def reshape(self, *shape, **kwargs):
        """A view in another shape, with MXNet's codes: 0 keeps an extent, -1 infers one, -2 copies the rest,
        -3 merges two, -4 splits one."""
        reverse = kwargs.pop("reverse", False)
        if not shape:
            shape = kwargs.pop("shape", ())
        elif len(shape) == 1 and not isinstance(shape[0], (int, np.integer)):
            shape = shape[0]
        if kwargs:
            raise _strop.TypeError(f"reshape: no argument {next(iter(kwargs))!r}, expected shape or reverse")
        shape = extents_of(shape)
        if reverse:
            return operators().Reshape(self, shape=shape, reverse=True)
        if shape == () and self.size == 1:
            return _strop.reshape(self, shape)
        return _strop.reshape(self, shape) if shape else operators().Reshape(self, shape=shape)

    def flatten(self, inplace=False):
        """Two axes: the first, and all others in one; with `inplace` a view."""
        return self.reshape((0, -1)) if inplace else operators().Flatten(self)

    def expand_dims(self, axis, inplace=False):
        """An axis more, of one element, before `axis`; with `inplace` a view."""
        if not inplace:
            return operators().expand_dims(self, axis=axis)
        at = axis + self.ndim + 1 if axis < 0 else axis
        if not 0 <= at <= self.ndim:
            raise also(_strop.ValueError, AssertionError)(f"expand_dims: axis is {axis}, expected {-self.ndim - 1} to {self.ndim}")
        return self.reshape(self.shape[:at] + (1,) + self.shape[at:])

    def squeeze(self, axis=None, inplace=False):
        """Without axes of one element, all or those of `axis`; with `inplace` a view."""
        if not inplace:
            return operators().squeeze(self, axis=axis)
        wanted = range(self.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
        gone = {a + self.ndim if a < 0 else a for a in wanted if axis is not None or self.shape[a] == 1}
        for a in gone:
            if not 0 <= a < self.ndim or self.shape[a] != 1:
                raise also(_strop.ValueError, AssertionError)(f"squeeze: axis {a} of an array of shape {self.shape} does not have one element")
        kept = tuple(n for a, n in enumerate(self.shape) if a not in gone)
        return self.reshape(kept or (1,))

    def attach_grad(self, grad_req="write", stype=None):
        """Asks for the gradient with respect to this array."""
        _strop.attach_grad(self, request_number(grad_req), -1 if stype is None else storage_number(stype))

    def detach(self):
        """The same elements without history."""
        return _strop.detach(self)

    def backward(self, out_grad=None, retain_graph=False, train_mode=True):
        """Gradients of everything that the array was computed from."""
        self.wait_to_read()
        _strop.backward([self], [] if out_grad is None else arrays_in([out_grad], "backward", "a head gradient"), retain_graph)

    def transpose(self, *axes, **kwargs):
        """The array with its axes in another order, in reverse order where none is given."""
        if len(axes) > 1 or (axes and isinstance(axes[0], (int, np.integer))):
            axes = (axes,)
        return operators().transpose(self, *axes, **kwargs)

    def broadcast_to(self, shape):
        """The elements repeated to a shape, which may have more axes in front."""
        shape = extents_of(shape)
        own = self if self.ndim >= len(shape) else _strop.reshape(self, (1,) * (len(shape) - self.ndim) + self.shape)
        return operators().broadcast_to(own, shape=shape)

    def split_v2(self, indices_or_sections, axis=0, squeeze_axis=False):
        """Parts along an axis: so many, or those that begin at the indices."""
        return split_v2(self, indices_or_sections, axis, squeeze_axis)

    def slice_assign(self, rhs, begin, end, step=()):
        """A copy in which the elements of a slice are those of rhs."""
        return operators()._slice_assign(self, rhs, begin=begin, end=end, step=step)

    def slice_assign_scalar(self, value, begin, end, step=()):
        """A copy in which the elements of a slice are a number."""
        return operators()._slice_assign_scalar(self, scalar=value, begin=begin, end=end, step=step)

    def __reduce__(self):
        is_bfloat16 = self.dtype is bfloat16  # which NumPy has not; float32 has all its numbers
        return _rebuild, ((self.astype("float32") if is_bfloat16 else self).asnumpy(), is_bfloat16, str(self.context), self._facts)

    def __setstate__(self, state):
        """Overwrites the elements with those of MXNet's state: {"handle": an array's bytes, as in a file}."""
        made = load_frombuffer(struct.pack("<3Q", 0x112, 0, 1) + bytes(state["handle"]) + bytes(8))[0]  # no names
        if made.shape != self.shape or made.dtype != self.dtype:
            raise _strop.ValueError(f"__setstate__: shape {made.shape} or the type is not that of an array {self.shape}")
        self[:] = made

    def to_dlpack_for_read(self):
        return to_dlpack_for_read(self)

    def to_dlpack_for_write(self):
        return to_dlpack_for_write(self)

    def __floordiv__(self, other):
        return operators().floor(self / other)

    def __rfloordiv__(self, other):
        return operators().floor(other / self)

    def __format__(self, spec):
        """As NumPy's: of one number by the rules of numbers, else the text of the array."""
        if not spec:
            return str(self)
        if self.size != 1:
            raise _strop.TypeError(f"format: {spec!r} is for one number, the array has shape {self.shape}")
        return format(self.item(), spec)

    def __round__(self, digits=0):
        return operators().round(self) if digits == 0 else operators().round(self * 10**digits) / 10**digits


def _rebuild(elements, is_bfloat16, ctx, facts=0):
    made = _strop.to_device(array(elements, dtype="bfloat16" if is_bfloat16 else elements.dtype), ctx)
    made._facts = facts
    return made


@_hook("repr")
def _repr(a):
    extents = "x".join(str(extent) for extent in a.shape)
    if a._storage != 0:
        return f"\n<{type(a).__name__} {extents} @{a.context}>"
    return f"\n{a.asnumpy()}\n<{type(a).__name__} {extents} @{a.context}>"


@_hook("convert")
def _convert(value, like):
    """An object of NumPy as an array of the type of one that it meets."""
    return indexing.on_device_of(like, _strop.copy_of_buffer(np.asarray(value, dtype=like.dtype)))


_hook("getitem")(indexing.read)
_hook("setitem")(indexing.write)


def array(source_array, ctx=None, dtype=None):
    """An array with a copy of the elements of an array, a list or whatever NumPy reads; float32 unless said, or what an
    NDArray, a SciPy matrix has."""
    ctx = ctx or current_context()
    if isinstance(source_array, NDArray) and source_array._storage == 0:
        made = source_array if dtype is None else source_array.astype(dtype)
        return _strop.to_device(copied(made), ctx)
    if isinstance(source_array, NDArray) or (hasattr(source_array, "tocsr") and hasattr(source_array, "nnz")):
        from . import sparse

        return sparse.array(source_array, ctx, dtype)
    if dtype is not None and _dtype_name(dtype) == "bfloat16":
        return array(source_array, ctx, "float32").astype("bfloat16")
    dtype = type_of(dtype, "array")
    try:
        source = np.asarray(source_array, dtype=dtype)
    except (TypeError, ValueError) as error:
        raise _strop.TypeError(f"array: the source is no array of numbers: {error}") from None
    made = _strop.copy_of_buffer(source)
    return made if ctx.device_typeid == 1 and ctx.device_id == 0 else _strop.to_device(made, ctx)


def empty(shape, ctx=None, dtype=None, stype=None):
    """An array whose elements are not set."""
    return _strop.empty(extents_of(shape), type_of(dtype, "empty"), ctx or current_context(), 0 if stype is None else storage_number(stype))


def full(shape, val, ctx=None, dtype=mx_real_t, out=None):
    """An array of one value."""
    if out is not None:
        out[:] = val
        return out
    if isinstance(val, (str, bytes)):
        raise also(_strop.TypeError, ValueError)(f"full: the value is {val!r}, expected a number")
    return _strop.full(extents_of(shape), val if isinstance(val, (int, np.integer)) else float(val), type_of(dtype, "full"), ctx or current_context())


def zeros(shape, ctx=None, dtype=None, stype=None, **kwargs):
    """An array of zeros; of another storage type it stores nothing."""
    if stype not in (None, "default"):
        return empty(shape, ctx, dtype, stype)
    return full(shape, 0, ctx, dtype, kwargs.get("out"))


def ones(shape, ctx=None, dtype=None, **kwargs):
    """An array of ones."""
    return full(shape, 1, ctx, dtype, kwargs.get("out"))


def arange(start, stop=None, step=1.0, repeat=1, infer_range=False, ctx=None, dtype=mx_real_t):
    """start, start + step, ... before stop, each `repeat` times; from 0 to start where stop is None."""
    dtype = type_of(dtype, "arange")
    if stop is not None and np.dtype(dtype).kind in "iu":  # in whole numbers from the first on, which wrap, as NumPy's
        count = max(0, math.ceil((stop - start) / step))
        made = _strop.copy_of_buffer(np.repeat((int(start) + np.arange(count) * int(step)).astype(dtype), repeat))
    else:
        made = operators()._arange(start=start, stop=stop, step=step, repeat=repeat, infer_range=infer_range, dtype=dtype)
    return _strop.to_device(made, ctx or current_context())


def linspace(start, stop, num, endpoint=True, ctx=None, dtype=mx_real_t):
    """num numbers from start to stop."""
    made = operators()._linspace(start=start, stop=stop, num=num, endpoint=endpoint, dtype=type_of(dtype, "linspace"))
    return _strop.to_device(made, ctx or current_context())


def eye(N, M=0, k=0, ctx=None, dtype=None, **kwargs):
    """N rows and M columns (N where M is 0) with ones on diagonal k."""
    made = operators()._eye(N=N, M=M or 0, k=k, dtype=type_of(dtype, "eye"), **kwargs)
    return _strop.to_device(made, ctx or current_context())


def concatenate(arrays, axis=0, always_copy=True):
    """The arrays one behind the other along an axis."""
    if len(arrays) == 1 and not always_copy:
        return arrays[0]
    return operators().Concat(*arrays, dim=axis)


def moveaxis(tensor, source, destination):
    """The array with some axes at other places."""
    order = list(range(tensor.ndim))
    sources = [source] if isinstance(source, int) else list(source)
    targets = [destination] if isinstance(destination, int) else list(destination)
    for axes in (sources, targets):
        for i, axis in enumerate(axes):
            if not -tensor.ndim <= axis < tensor.ndim:
                raise _strop.ValueError(f"moveaxis: there is no axis {axis} in shape {tensor.shape}")
            axes[i] = axis % tensor.ndim
    if len(sources) != len(targets) or len(set(sources)) != len(sources) or len(set(targets)) != len(targets):
        raise _strop.ValueError("moveaxis: source and destination have to be as many axes, each once")
    order = [axis for axis in order if axis not in sources]
    for target, axis in sorted(zip(targets, sources)):
        order.insert(target, axis)
    return operators().transpose(tensor, axes=tuple(order))


def split_v2(ary, indices_or_sections, axis=0, squeeze_axis=False):
    """Parts along an axis: so many, or those that begin at the indices."""
    if isinstance(indices_or_sections, (int, np.integer)):
        return operators()._split_v2(ary, indices=(), axis=axis, squeeze_axis=squeeze_axis, sections=int(indices_or_sections))
    return operators()._split_v2(ary, indices=(0, *indices_or_sections), axis=axis, squeeze_axis=squeeze_axis)


def histogram(a, bins=10, range=None):  # noqa: A002
    """[how many elements lie in each bin (int64), the bins' edges]: between edges that are given in ascending order, or in
    so many bins of one width between the two ends of ``range``, the least and the greatest element where it is None. The
    last bin has its upper edge in it; what lies outside is not counted."""
    if isinstance(bins, NDArray):
        return operators()._histogram(a, bins)
    if not isinstance(bins, (int, np.integer)):
        raise _strop.ValueError(f"histogram: bins is of type {type(bins).__name__}, expected a number or an NDArray")
    if bins < 1:
        raise _strop.ValueError(f"histogram: bins is {bins}, expected 1 or more")
    if range is None:  # as MXNet, by NumPy
        counts, edges = np.histogram(a.asnumpy(), int(bins))
        return [array(counts, a.context, "int64"), array(edges, a.context, a.dtype)]
    return operators()._histogram(a, bin_cnt=int(bins), range=range)


def fill_element_0index(lhs, mhs, rhs):
    """A copy of the matrix lhs with the elements of mhs, one in each row, in the columns that rhs says."""
    if lhs.ndim != 2 or mhs.shape != lhs.shape[:1] or rhs.shape != mhs.shape:
        raise _strop.ValueError(f"fill_element_0index: shapes {lhs.shape}, {mhs.shape} and {rhs.shape}, expected (N, M), (N,) and (N,)")
    made = lhs.copy()
    made[arange(lhs.shape[0], ctx=lhs.context, dtype="int64"), rhs] = mhs
    return made


def onehot_encode(indices, out):
    """Writes rows with a one where the indices say."""
    return operators().one_hot(indices, depth=out.shape[1], dtype=out.dtype, out=out)


def from_numpy(ndarray, zero_copy=True):
    """An array over the memory of a NumPy array, or a copy of it."""
    if not isinstance(ndarray, np.ndarray):
        raise _strop.TypeError(f"from_numpy: expected an array of NumPy, got {type(ndarray).__name__}")
    if not zero_copy:
        return array(ndarray, dtype=ndarray.dtype)
    if not ndarray.flags["C_CONTIGUOUS"]:
        raise _strop.ValueError("from_numpy: only a row-major array without gaps can be shared; copy it, or say zero_copy=False")
    owner = ndarray
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    if not (ndarray.flags["WRITEABLE"] or owner.base is None):  # memory of NumPy's own can be written, whatever the array says
        raise _strop.ValueError("from_numpy: the array lies in memory of another object that cannot be written; say zero_copy=False")
    made = _strop.share_buffer(ndarray)
    ndarray.flags["WRITEABLE"] = False  # as MXNet does: the elements are ours to write
    return made


def from_dlpack(dlpack):
    """An array over the memory of an object with __dlpack__, or of a capsule."""
    if hasattr(dlpack, "__dlpack__"):
        try:
            dlpack = dlpack.__dlpack__(max_version=(1, 0))
        except TypeError:
            dlpack = dlpack.__dlpack__()
    return _strop.from_capsule(dlpack)


def to_dlpack_for_read(data):
    """A capsule with the array's memory, for others to read."""
    return _strop.to_capsule(*arrays_in([data], "to_dlpack_for_read", "an object"), False)


def to_dlpack_for_write(data):
    """A capsule with the array's memory, for others to write, which counts as a write: what was recorded of the array before has no
    gradient any more."""
    return _strop.to_capsule(*arrays_in([data], "to_dlpack_for_write", "an object"), False, writes=True)


def waitall():
    """Waits until everything that was asked for is done; raises what failed and nobody has seen."""
    _strop.wait_all()


def save(fname, data):
    """Writes an array, a list or a dictionary of arrays to a file: .npz as NumPy does, and .npy where it is one array without a
    name; else as .params, under any name: load() looks at what is in a file."""
    if isinstance(data, NDArray):
        named = [("", data)]
    elif isinstance(data, dict):
        named = [(str(name), a) for name, a in data.items()]
    elif isinstance(data, (list, tuple)):
        named = [("", a) for a in data]
    else:
        raise also(_strop.TypeError, ValueError)(f"save: expected an NDArray, a list or a dictionary of them, got {type(data).__name__}")
    for _, a in named:
        if not isinstance(a, NDArray):
            raise also(_strop.TypeError, ValueError)(f"save: expected NDArrays, got {type(a).__name__}")
    for _, a in named:
        a.wait_to_read()
    path = path_of(fname, "save")
    for name, _ in named:
        text_in(name, "save: the name of an array")
    if path.endswith((b".params", b".npz")) or (path.endswith(b".npy") and len(named) == 1 and not named[0][0]):
        _strop.save(path, named)
        return
    if os.path.isdir(path):
        raise _strop.IsADirectoryError(f'strop: save("{os.fsdecode(path)}"): {os.strerror(errno.EISDIR)}')
    made = b"%s.%d.params" % (path, os.getpid())
    _strop.save(made, named)
    try:
        os.replace(made, path)
    except OSError as error:
        os.unlink(made)
        raise file_error(f'strop: save("{os.fsdecode(path)}"): {error.strerror}', error) from None


def load(fname):
    """The arrays of a file: a dictionary where they have names, else a list."""
    named = _strop.load(path_of(fname, "load"))
    return dict(named) if any(name for name, _ in named) else [a for _, a in named]


def load_frombuffer(buf):
    """The arrays of a file's bytes."""
    if not isinstance(buf, (bytes, bytearray, memoryview)):
        raise _strop.TypeError(f"load_frombuffer: the buffer is of type {type(buf).__name__}, expected bytes")
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "arrays.params")
        with open(path, "wb") as file:
            file.write(buf)
        return load(path)
