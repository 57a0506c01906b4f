# SPDX-License-Identifier: Apache-2.0
"""Which calls are handed to the engine, and MXNet's bulks."""
import contextlib
import operator

from . import _strop
from ._strop import _Trace
from ._strop import wait_all as waitall  # noqa: F401
from .base import path_of

_size = 15


def set_asynchronous(on, elements=_strop.large_call):
    """Whether calls on arrays of so many elements or more are handed to the engine and return at once, in this process."""
    try:
        _strop.set_asynchronous(bool(operator.index(on)), operator.index(elements))
    except TypeError:
        said = f"on is {on!r} and elements {elements!r}, expected True or False and a whole number"
        raise _strop.TypeError(f"set_asynchronous: {said}") from None


def set_bulk_size(size):
    """MXNet's size of a bulk; it has no effect here, where small calls run at once. What it was before."""
    global _size  # pylint: disable=global-statement
    before, _size = _size, size
    return before


@contextlib.contextmanager
def bulk(size):
    """MXNet's scope of a bulk; it has no effect here, where small calls run at once."""
    before = set_bulk_size(size)
    try:
        yield
    finally:
        set_bulk_size(before)


@contextlib.contextmanager
def trace(path):
    """``with engine.trace("trace.json"):`` writes what is done inside, every operation with its thread, times and order, to a
    file that Perfetto, chrome://tracing and ``strop trace`` read. One trace at a time; what is pending at the end is waited for."""
    taken = _Trace(path_of(path, "trace"))
    try:
        yield
        waitall()
    finally:
        taken.finish()
