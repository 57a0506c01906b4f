# SPDX-License-Identifier: Apache-2.0
"""Operators that are not of this package: of shared libraries and of modules that are one, and what to build them with."""
import os
import re
import sys

from . import _register, _strop, error
from . import ndarray as nd
from . import symbol as sym
from .base import path_of


def load_library(path):
    """The names of the operators of a shared library (C++: strop/library/export.hpp), which are found from then on here, in
    every module of operators and in symbol files. A file that is no such library, speaks another version or has an operator
    whose name is taken is one sentence, and brings nothing."""
    names = _strop.load_library(path_of(path, "load_library"))
    _refresh()
    return names


def load(path, verbose=True):
    """load_library by MXNet's name; says what there is unless `verbose` is False."""
    names = load_library(path)
    if verbose:
        print(f"{os.fspath(path)}: {', '.join(names)}")


def is_library(path):
    """Whether a file is a shared library by its name or its first bytes."""
    path = path_of(path, "load")
    if re.search(rb"\.so(\.\d+)*$", path):
        return True
    try:
        with open(path, "rb") as file:
            return file.read(4) == b"\x7fELF"
    except OSError:
        return False


def get_include():
    """The folder of the C++ headers: what `-I` names where operators are compiled (`python -m strop --include`)."""
    here = os.path.dirname(os.path.realpath(__file__))
    for folder in ("include", "../../../include"):  # of the package; of the sources that it is worked on in
        folder = os.path.normpath(os.path.join(here, folder))
        if os.path.isfile(os.path.join(folder, "strop", "python.hpp")):
            return folder
    raise error.ValueError(f"get_include: {here} has no headers beside it; install the package with pip")


def _refresh():
    """Every module of operators has those that the registry has got since."""
    _register.refresh(nd._OPERATORS, sym._OPERATORS)
    _register.add_public(vars(sys.modules[__package__]), nd)
    if pytorch := sys.modules.get(f"{__package__}.torch"):
        pytorch.refresh()


def _fill_module(module, names):
    """Makes the operators of a library functions of the module that it is. The core calls this on import."""
    _refresh()
    public, lines = [], []
    for own in names:
        about = _strop.Operator(own, own, False).description
        for name in dict.fromkeys((about["name"], about["snake"], *about["aliases"])):
            setattr(module, name, _strop.Operator(own, name, False))
            public.append(name)
        lines.append(f"{about['snake']}: {about['doc'].splitlines()[0]}" if about["doc"] else about["snake"])
    module.__all__ = public
    module.__doc__ = "Operators for arrays and symbols of strop.\n\n" + "\n".join(lines)
