# SPDX-License-Identifier: Apache-2.0
"""Where the package's library and headers are."""
from . import __version__, _strop
from .library import get_include

__all__ = ["__version__", "find_include_path", "find_lib_path"]


def find_lib_path():
    """The file of the extension, in a list."""
    return [_strop.__file__]


def find_include_path():
    """The folder of the headers."""
    return get_include()
