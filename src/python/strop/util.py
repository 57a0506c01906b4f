# SPDX-License-Identifier: Apache-2.0
"""Helpers by the names of MXNet's module: the environment, and how unknown extents are written."""
import functools
import os
import threading

from . import _strop
from .base import LeftOut

_shape = threading.local()


def getenv(name):
    """A variable of the environment, or None."""
    return os.environ.get(name)


def setenv(name, value):
    """Sets a variable of the environment; None takes it away."""
    if value is None:
        os.environ.pop(name, None)
    else:
        os.environ[name] = str(value)


def makedirs(d):
    """Makes a folder and those above it, where they are not there."""
    os.makedirs(os.path.expanduser(d), exist_ok=True)


def get_gpu_count():
    """How many GPUs arrays can be on."""
    from .context import num_gpus

    return num_gpus()


def get_gpu_memory(gpu_dev_id):
    """(free, total) bytes of a GPU."""
    from .context import gpu_memory_info

    return gpu_memory_info(gpu_dev_id)


def is_np_shape():
    """Whether an extent that is not known is written -1, and a shape that is not, None; else 0 and ()."""
    return getattr(_shape, "on", False)


def set_np_shape(active):
    """Switches that on or off; what it was before."""
    before, _shape.on = is_np_shape(), bool(active)
    return before


class _NumpyShapeScope:
    def __init__(self, active):
        self._active, self._before = active, []

    def __enter__(self):
        self._before.append(set_np_shape(self._active))

    def __exit__(self, *failure):
        set_np_shape(self._before.pop())


def np_shape(active=True):
    """``with np_shape():`` has symbols infer shapes with -1 and None for what is not known. Arrays of no elements and
    without dimensions are ordinary in either mode."""
    return _NumpyShapeScope(active)


np_compat = np_shape


def use_np_shape(func):
    """A decorator: the function, or the methods of the class, run within np_shape()."""
    if isinstance(func, type):
        for name, value in list(vars(func).items()):
            if callable(value) and not name.startswith("__"):
                setattr(func, name, use_np_shape(value))
        return func
    if not callable(func):
        raise _strop.TypeError(f"use_np_shape: {func!r} is no function and no class")

    @functools.wraps(func)
    def run(*args, **kwargs):
        with np_shape():
            return func(*args, **kwargs)

    return run


_LEFT_OUT = "MXNet's numpy namespace is left out"


class _NumpyArrayScope:
    """What np_array opens. One that is on can be made and looked at, but not entered."""

    _current = threading.local()

    def __init__(self, is_np_array):
        self._is_np_array = bool(is_np_array)

    def __enter__(self):
        if self._is_np_array:
            LeftOut("util.np_array", _LEFT_OUT)()
        return self

    def __exit__(self, *failure):
        pass


def np_array(active=True):
    """``with np_array(False):`` has arrays be NDArray, which they always are; MXNet's numpy namespace is left out."""
    return _NumpyArrayScope(active)


def use_np(func):
    """MXNet's decorator of what works on its numpy namespace: the function, or the class, can be defined here, so that
    files with such functions among others run; calling it says what is left out."""

    @functools.wraps(func, updated=())
    def refuse(*_, **__):
        LeftOut(f"util.use_np: {func.__name__}", _LEFT_OUT)()

    return refuse


def is_np_array():
    """Whether arrays are those of MXNet's numpy namespace, which there is none of: False."""
    return False
