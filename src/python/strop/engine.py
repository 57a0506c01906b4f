# SPDX-License-Identifier: Apache-2.0
"""Which calls are handed to the engine, and the original's bulks."""
import contextlib

from ._strop import set_asynchronous  # noqa: F401
from ._strop import wait_all as waitall  # noqa: F401

_size = 15


def set_bulk_size(size):
    """The original's size of a bulk; it has no effect here, where small calls run at once. What it was before."""
    global _size  # pylint: disable=global-statement
    before, _size = _size, size
    return before


@contextlib.contextmanager
def bulk(size):
    """The original's scope of a bulk; it has no effect here, where small calls run at once."""
    before = set_bulk_size(size)
    try:
        yield
    finally:
        set_bulk_size(before)
