# SPDX-License-Identifier: Apache-2.0
"""Errors of strop that are Python's own kinds as well."""
import builtins

from ._strop import (Error, FileNotFoundError, IndexError, IsADirectoryError, MemoryError, NotADirectoryError, OSError,  # noqa: A004
                     PermissionError, TypeError, ValueError)
from .base import register_error

MXNetError = Error
register = register_error
for _name in ("ValueError", "TypeError", "AttributeError", "IndexError", "NotImplementedError"):
    register_error(_name, getattr(builtins, _name))
del _name, builtins


@register_error
class InternalError(Error):
    """Something that strop got wrong."""
