# SPDX-License-Identifier: Apache-2.0
"""x[key] and x[key] = value with all that NumPy takes as a key.

Integers, slices, None and an ellipsis become views where the elements lie together, else the operator `slice`; arrays of
integers and masks (bools, and what came from a comparison) become `take`. All of it is recorded. Other arrays of floating types
are positions, as in MXNet.
"""
import numpy as np

from .. import _strop
from .._strop import NDArray
from ..base import also
from . import masks


def on_device_of(like, made):
    """An array where another one is."""
    return made if made._device == like._device else _strop.to_device(made, like.context)


def _operators():
    from . import op

    return op


def _index_array(part):
    """A part of a key as an array of integers or bools; None where it is neither."""
    if isinstance(part, NDArray):
        if masks.is_mask(part):
            return masks.bools_of(part)
        part = part.asnumpy()
        return part if part.dtype == bool or part.dtype.kind in "iu" else part.astype(np.int64)  # float indices are MXNet's
    if isinstance(part, (list, tuple, range, np.ndarray)):
        part = np.asarray(part)
        if part.size == 0:
            part = part.astype(np.int64)
        if part.dtype == bool or part.dtype.kind in "iu":
            return part
        raise _strop.IndexError(f"index: an array of {part.dtype}, expected integers or bools")
    if isinstance(part, (bool, np.bool_)):
        return np.asarray(part)
    return None


def _is_basic(part):
    return part is None or part is Ellipsis or isinstance(part, slice) or (isinstance(part, (int, np.integer)) and not isinstance(part, bool))


def _parts(a, key):
    """The key as a list with one entry for each axis (an integer, a slice or an array) and None for new ones."""
    parts = list(key) if isinstance(key, tuple) else [key]
    if a.ndim == 0:
        parts = [p for p in parts if not (isinstance(p, slice) and p == slice(None))]  # x[:] is all of it here as well
    for i, part in enumerate(parts):
        if not _is_basic(part):
            found = _index_array(part)
            if found is None:
                try:
                    parts[i] = part.__index__()
                    continue
                except (AttributeError, TypeError):
                    raise also(_strop.IndexError, ValueError)(f"index: {type(part).__name__} is no index; integers, slices, None, ... and arrays are") from None
            parts[i] = found
    used = sum(0 if p is None or p is Ellipsis else p.ndim if isinstance(p, np.ndarray) and p.dtype == bool else 1 for p in parts)
    dots = [i for i, p in enumerate(parts) if p is Ellipsis]
    if len(dots) > 1:
        raise _strop.IndexError("index: more than one ellipsis")
    if used > a.ndim:
        raise _strop.IndexError(f"index: {used} {'index' if used == 1 else 'indices'} for an array of shape {a.shape}")
    rest = [slice(None)] * (a.ndim - used)
    at = dots[0] if dots else len(parts)
    parts[at:at + len(dots)] = rest
    return parts


def _check(i, extent, axis):
    if not -extent <= i < extent:
        raise _strop.IndexError(f"index: {i} is outside axis {axis}, which has extent {extent}")
    return i % extent


def _bounds(part, extent, axis):
    """(begin, step, count) of an integer or a slice."""
    if isinstance(part, slice):
        begin, end, step = part.indices(extent)
        return begin, step, len(range(begin, end, step))
    return _check(int(part), extent, axis), 1, 1


def _slice_params(bounds):
    """begin, end and step of the operator slice; the end of a slice that runs down to the first element is None."""
    begin = tuple(b for b, _, _ in bounds)
    end = tuple(None if b + s * n < 0 else b + s * n for b, s, n in bounds)
    return begin, end, tuple(s for _, s, _ in bounds)


def _basic_shape(parts, bounds):
    shape, axis = [], 0
    for part in parts:
        if part is None:
            shape.append(1)
            continue
        if isinstance(part, slice):
            shape.append(bounds[axis][2])
        axis += 1
    return tuple(shape)


def _none_of(a, shape):
    """No elements of an array, in a shape that has none. A call of an operator makes them: a backward pass comes from them to the
    array, whose gradient is 0, and of a mask they are a mask."""
    nowhere = on_device_of(a, _strop.copy_of_buffer(np.empty(shape, dtype=np.int64)))
    return _operators().take(_strop.reshape(a, (-1,)), nowhere, axis=0)


def _read_basic(a, parts):
    bounds = [_bounds(p, extent, axis) for axis, (p, extent) in enumerate(zip((p for p in parts if p is not None), a.shape))]
    shape = _basic_shape(parts, bounds)
    if 0 in [n for _, _, n in bounds]:
        return _none_of(a, shape)
    # The first axis that is neither taken whole nor at one place decides: what follows it has to be whole.
    out, axis = a, 0
    while axis < len(bounds) and bounds[axis][2] == 1 and bounds[axis][1] > 0 and out.ndim > 0:
        begin = bounds[axis][0]
        out = _strop.reshape(_strop.slice(out, begin, begin + 1), out.shape[1:] or (1,))
        axis += 1
        if out.shape == (1,) and axis == len(bounds):
            break
    rest = bounds[axis:]
    whole = [b == 0 and s == 1 and n == extent for (b, s, n), extent in zip(rest, a.shape[axis:])]
    if rest and not all(whole):
        if rest[0][1] == 1 and all(whole[1:]):
            out = _strop.slice(out, rest[0][0], rest[0][0] + rest[0][2])
        else:
            begin, end, step = _slice_params(rest)
            out = _operators().slice(out, begin=begin, end=end, step=step)
    number = shape == () and a.ndim > 0
    if number:
        shape = (1,)  # as MXNet, which has no arrays without dimensions
    out = out if out.shape == shape else _strop.reshape(out, shape) if shape else out
    if number:
        out._facts |= masks.NUMBER
    return out


def _positions(a, key):
    """Where the elements that a key names lie, counted in row-major order. The key is asked for the position along each axis,
    of arrays that repeat the numbers of one axis without storing them: no memory is taken but for what is read."""
    shape, where, weight = a.shape, np.int64(0), 1
    if len(key) == 1 and isinstance(key[0], np.ndarray) and key[0].dtype == bool and key[0].shape == shape:
        return np.flatnonzero(key[0])
    try:
        for axis in range(len(shape) - 1, -1, -1):
            own = np.arange(shape[axis], dtype=np.int64).reshape((-1,) + (1,) * (len(shape) - 1 - axis))
            where = where + np.broadcast_to(own, shape)[key] * weight
            weight *= shape[axis]
    except IndexError as error:
        raise _strop.IndexError(f"index: {error}") from None
    return where


def _along_one_axis(parts):
    """The axis that an array of integers is the key of, where slices are that of all others; None else. NumPy lays the result
    out by axes then, and `take` finds it."""
    arrays = [axis for axis, part in enumerate(part for part in parts if part is not None) if isinstance(part, np.ndarray)]
    if len(arrays) != 1 or any(not (part is None or isinstance(part, (slice, np.ndarray))) for part in parts):
        return None
    return None if next(part for part in parts if isinstance(part, np.ndarray)).dtype == bool else arrays[0]


def _take_along(a, parts, axis):
    """a[parts] by `take` along that axis, after what the slices take of the others."""
    key, extent = next(part for part in parts if isinstance(part, np.ndarray)), a.shape[axis]
    if key.size:
        low, high = int(key.min()), int(key.max())
        if low < -extent or high >= extent:
            raise _strop.IndexError(f"index: {low if low < -extent else high} is outside axis {axis}, which has extent {extent}")
    rest = [slice(None) if isinstance(part, np.ndarray) else part for part in parts]
    at = next(i for i, part in enumerate(parts) if isinstance(part, np.ndarray))
    cut = a if all(part == slice(None) for part in rest) else _read_basic(a, rest)
    # (np.ascontiguousarray would make one axis of none.)
    where = _strop.copy_of_buffer(np.asarray(np.where(key < 0, key + extent, key), dtype=np.int64, order="C"))
    return _operators().take(cut, on_device_of(a, where), axis=at)


def read(a, key):
    """a[key]."""
    if a._storage != 0:
        return type(a)._read(a, key)
    if a.ndim == 0 and key == ():
        return a
    if isinstance(key, tuple) and not key:
        return a
    parts = _parts(a, key)
    if all(_is_basic(p) for p in parts):
        return _read_basic(a, parts)
    axis = _along_one_axis(parts) if a.size else None
    if axis is not None:
        return _take_along(a, parts, axis)
    where = _positions(a, tuple(parts))
    if where.size == 0:
        return _none_of(a, where.shape)
    where = on_device_of(a, _strop.copy_of_buffer(np.ascontiguousarray(where)))
    return _operators().take(_strop.reshape(a, (-1,)), where, axis=0)


def _value_array(a, value, shape):
    """The value as an array of that shape, with the type and the device of the array that it goes to."""
    if isinstance(value, NDArray):
        if value._storage != 0:
            value = value.tostype("default")
        if value.dtype != a.dtype:
            value = value.astype(a.dtype)
    else:
        value = _strop.copy_of_buffer(np.ascontiguousarray(np.asarray(value, dtype=a.dtype)))
    value = on_device_of(a, value)
    if value.shape == shape:
        return value
    if value.size == int(np.prod(shape, dtype=np.int64)):
        squeezed = tuple(n for n in value.shape if n != 1)
        if squeezed == tuple(n for n in shape if n != 1):
            return _strop.reshape(value, shape)
    extra = value.ndim - len(shape)
    if extra > 0 and all(n == 1 for n in value.shape[:extra]):
        value = _strop.reshape(value, value.shape[extra:])
    if value.ndim > len(shape) or any(v not in (1, n) for v, n in zip(value.shape[::-1], shape[::-1])):
        raise _strop.ValueError(f"index: a value of shape {value.shape} does not fit into elements of shape {shape}")
    value = _strop.reshape(value, (1,) * (len(shape) - value.ndim) + value.shape) if value.ndim < len(shape) else value
    return value if value.shape == shape else _operators().broadcast_to(value, shape=shape)


def _put(operator, made, **params):
    """Writes an array by an operator; a copy of it where it lies in the memory that is written, as in x[1] += 2."""
    try:
        operator(made, **params)
    except _strop.ValueError:
        operator(made.copy(), **params)


def _is_number(value):
    return isinstance(value, (int, float, np.generic)) or (isinstance(value, np.ndarray) and value.ndim == 0)


def _write_basic(a, parts, value):
    bounds = [_bounds(p, extent, axis) for axis, (p, extent) in enumerate(zip((p for p in parts if p is not None), a.shape))]
    shape = _basic_shape(parts, bounds)
    if 0 in [n for _, _, n in bounds]:
        _value_array(a, value, shape)
        return
    number = value if _is_number(value) else None
    number = number.item() if isinstance(number, (np.generic, np.ndarray)) else number
    whole = all(b == 0 and s == 1 and n == extent for (b, s, n), extent in zip(bounds, a.shape))
    if whole:
        if number is not None:
            _operators()._full(shape=a.shape, value=number, dtype=a.dtype, out=a)
        else:
            if isinstance(value, NDArray) and _strop.same(a, value):
                return
            made = _value_array(a, value, shape)
            _put(_operators()._copyto, _strop.reshape(made, a.shape) if made.shape != a.shape else made, out=a)
        return
    begin, end, step = _slice_params(bounds)
    if number is not None:
        _operators()._slice_assign_scalar(a, scalar=number, begin=begin, end=end, step=step, out=a)
        return
    made = _value_array(a, value, shape)
    counts = tuple(n for _, _, n in bounds)
    _put(lambda rhs, **params: _operators()._slice_assign(a, rhs, **params), made if made.shape == counts else _strop.reshape(made, counts),
         begin=begin, end=end, step=step, out=a)


def write(a, key, value):
    """a[key] = value."""
    if a._storage != 0:
        type(a)._write(a, key, value)
        return
    if not (_is_number(value) or isinstance(value, (NDArray, np.ndarray, list, tuple, range))):
        raise _strop.TypeError(f"index: cannot assign {type(value).__name__}, expected an array or a number")
    if isinstance(key, tuple) and not key:
        key = Ellipsis
    parts = _parts(a, key)
    if all(_is_basic(p) for p in parts):
        _write_basic(a, parts, value)
        return
    where = _positions(a, tuple(parts))
    if where.size == 0:
        return
    made = _value_array(a, value, where.shape)
    flat = _strop.reshape(a, (-1,))
    indices = on_device_of(a, _strop.copy_of_buffer(np.ascontiguousarray(where.reshape(1, -1))))
    _put(lambda rhs, **params: _operators()._scatter_set_nd(flat, rhs, indices, **params), _strop.reshape(made, (-1,)), shape=flat.shape, out=flat)
