# SPDX-License-Identifier: Apache-2.0
"""Errors, element types and the marker of a parameter that is not given: what every other module stands on."""
import functools
import os

import numpy as np

from . import _strop

Error = _strop.Error
MXNetError = Error


@functools.cache
def also(kind, *others):
    """An error of ours that is of other kinds as well: of those that the original raises in its place."""
    members = {"__module__": kind.__module__, "__str__": BaseException.__str__,
               "__reduce__": lambda self: (_error_again, (kind, others, self.args))}
    return type(kind.__name__, (kind, *others), members)


def _error_again(kind, others, args):
    """An error that was pickled: the class is made where it is raised, and has no name to be found by."""
    return also(kind, *others)(*args)


class NotImplementedForSymbol(_strop.TypeError):
    """A function of arrays was asked of a symbol."""

    def __init__(self, function, alias=None, *args):
        name = function if isinstance(function, str) else function.__name__
        super().__init__(f"{name}: a symbol has no value; bind it first")


class NotSupportedForSparseNDArray(_strop.TypeError):
    """A function of dense arrays was asked of a sparse one."""

    def __init__(self, function, alias=None, *args):
        name = function if isinstance(function, str) else function.__name__
        super().__init__(f"{name}: takes a dense array; say tostype('default') first")


class _NullType:
    """The default of a parameter that has one of its own: not given."""

    def __repr__(self):
        return "_Null"

    def __bool__(self):
        return False


_Null = _NullType()
bfloat16 = np.dtype([("bfloat16", np.uint16)])  # NumPy has no such type: two opaque bytes

# By the numbers that files use.
_DTYPES = {0: np.float32, 1: np.float64, 2: np.float16, 3: np.uint8, 4: np.int32, 5: np.int8, 6: np.int64, 7: np.bool_, 12: bfloat16}
STORAGES = ("default", "row_sparse", "csr")
GRAD_REQUESTS = {"null": 0, "write": 1, "add": 3}

def py_str(text):
    """Bytes of the core as text."""
    return text.decode("utf-8") if isinstance(text, bytes) else text


def data_dir():
    """Where files for training are kept: MXNET_HOME, else .mxnet in the home folder."""
    return os.environ.get("MXNET_HOME") or os.path.join(os.path.expanduser("~"), ".mxnet")


def _as_list(value):
    """A list of what a list or tuple holds, or of the value alone."""
    return list(value) if isinstance(value, (list, tuple)) else [value]


mx_real_t = np.float32
string_types = (str,)
integer_types = (int, np.integer)
numeric_types = (float, int, np.generic)

for _number, _dtype in _DTYPES.items():
    _strop._set_dtype(_number, _dtype)
_strop._set_null(_Null)


def _dtype_name(dtype):
    """The name of whatever names an element type."""
    if isinstance(dtype, str) and dtype == "bfloat16" or dtype is bfloat16:
        return "bfloat16"
    try:
        dtype = np.dtype(dtype)
    except TypeError:
        return str(dtype)
    return "bfloat16" if dtype == bfloat16 else dtype.name


def storage_number(stype):
    """The number of a storage type by its name, as the core counts them."""
    if stype in STORAGES:
        return STORAGES.index(stype)
    raise _strop.ValueError(f"strop: no storage type {stype!r}; there are default, row_sparse and csr")


# The functions that the core calls, by their number.
_HOOKS = ("getitem", "setitem", "repr", "convert", "empty", "dtype_name", "symbol", "signature", "document", "custom")


def _hook(name):
    """Gives the core a function that is written in Python."""

    def take(function):
        _strop._set_hook(_HOOKS.index(name), function)
        return function

    return take


_hook("empty")(np.empty)
_hook("dtype_name")(_dtype_name)


def extends(cls):
    """Moves what a class body defines into a class of the core."""

    def take(body):
        for name, value in vars(body).items():
            if name not in ("__dict__", "__weakref__", "__module__", "__doc__", "__qualname__", "__slots__"):
                setattr(cls, name, value)
        cls.__module__ = body.__module__
        return cls

    return take
