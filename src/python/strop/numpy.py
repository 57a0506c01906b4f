# SPDX-License-Identifier: Apache-2.0
"""Operators as ufuncs of NumPy: strop.numpy.ufunc("smooth_l1", scalar=2.0)."""
import copyreg

import numpy as np

from . import _strop

__all__ = ["ufunc"]


def ufunc(name, /, **parameters):
    """The operator `name`, a map, as a numpy.ufunc; its parameters are bound.

    It has what ufuncs have: `out`, `where`, `dtype`, `casting`, broadcasting, `at`, `outer`, and of two inputs and one result `reduce`,
    `accumulate` and `reduceat`. Its types are those of the operator in NumPy's order, so that integers which the operator does not take
    become floats; bfloat16 is not among them. A result that is NaN or infinite though no operand is follows numpy.errstate.
    An operator that is no map, writes its inputs or has none is refused, as is a parameter that it does not have or that is out of range.
    """
    return _strop.make_ufunc(name, parameters)


def _again(name, parameters):
    return ufunc(name, **parameters)


_numpys_own = copyreg.dispatch_table.get(np.ufunc)


def _reduce(one):
    """What pickle writes: the operator and its parameters of those that were made here, NumPy's own word of others."""
    made = _strop.ufunc_of(one)
    if made is not None:
        return _again, made
    return _numpys_own(one) if _numpys_own is not None else one.__name__


copyreg.pickle(np.ufunc, _reduce)
