# SPDX-License-Identifier: Apache-2.0
"""Symbols: every operator as a function that makes a node of a graph."""
import sys

from .. import _register

_OPERATORS = _register.make_operators(symbolic=True)
_register.fill_modules(__name__, _OPERATORS, ("op", "_internal", "linalg", "contrib", "image", "sparse"))
from . import _internal, contrib, image, linalg, op, sparse  # noqa: E402  pylint: disable=wrong-import-position
from .symbol import *  # noqa: E402,F403  pylint: disable=wrong-import-position
from . import control, random  # noqa: E402  pylint: disable=wrong-import-position

_register.add_functions(sys.modules[__name__], _OPERATORS, "")
_register.add_functions(random, _OPERATORS, "random")
_register.add_draws(random, _OPERATORS)
_register.add_methods(Symbol, _OPERATORS)  # noqa: F405
for _name in control.__all__:
    setattr(contrib, _name, getattr(control, _name))
sparse.make_loss = op.make_loss
del sys, _name
