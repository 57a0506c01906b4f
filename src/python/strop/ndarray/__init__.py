# SPDX-License-Identifier: Apache-2.0
"""Arrays: every operator as a function of them, and what makes, reads and writes them."""
import sys

from .. import _register
from .._strop import NDArray

_OPERATORS = _register.make_operators(symbolic=False)
_register.fill_modules(__name__, _OPERATORS, ("op", "_internal", "linalg", "contrib", "image"))
from . import _internal, contrib, image, linalg, op  # noqa: E402  pylint: disable=wrong-import-position
from .ndarray import *  # noqa: E402,F403  pylint: disable=wrong-import-position
from .arithmetic import *  # noqa: E402,F403  pylint: disable=wrong-import-position
from . import control, indexing, processes, protocols, random, sparse, updates, utils  # noqa: E402  pylint: disable=wrong-import-position
from .cached_op import CachedOp  # noqa: E402  pylint: disable=wrong-import-position
from .sparse import CSRNDArray, RowSparseNDArray  # noqa: E402  pylint: disable=wrong-import-position

_register.add_functions(sys.modules[__name__], _OPERATORS, "")
_register.add_functions(sparse, _OPERATORS, "sparse")
_register.add_functions(random, _OPERATORS, "random")
_register.add_draws(random, _OPERATORS)
_register.add_methods(NDArray, _OPERATORS)
for _module in (control, processes, updates):
    for _name in _module.__all__:
        setattr(contrib, _name, getattr(_module, _name))
sparse.make_loss = op.make_loss
_internal._backward_gather_nd = control.gather_nd_gradient
del sys, _module, _name
