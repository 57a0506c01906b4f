# SPDX-License-Identifier: Apache-2.0
"""MXNet's older names for autograd, and its operators of contrib."""
import sys

from ..ndarray import contrib as nd
from ..ndarray import contrib as ndarray
from ..symbol import contrib as sym
from ..symbol import contrib as symbol
from . import autograd

sys.modules[f"{__name__}.ndarray"] = ndarray  # `import mxnet.contrib.ndarray` names files there
sys.modules[f"{__name__}.symbol"] = symbol

__all__ = ["autograd", "nd", "ndarray", "sym", "symbol"]
