# SPDX-License-Identifier: Apache-2.0
"""strop: operators are plain structs; every registered one is a function here, of arrays and of symbols.

`import strop as mx` runs programs of MXNet's mx.nd, mx.sym, mx.autograd and mx.mod.
"""
try:
    import numpy as _numpy  # noqa: F401
except ImportError as _error:
    raise ImportError(f"strop needs NumPy: {_error}") from _error
try:
    from . import _strop
except ImportError as _error:
    raise ImportError(f"strop: the extension of the package cannot be loaded: {_error}") from _error

from . import base, error, registry
from .base import Error, FallbackWarning, MXNetError
from .context import Context, cpu, cpu_pinned, current_context, gpu, num_gpus
from . import attribute, autograd, context, engine, name
from .attribute import AttrScope
from . import ndarray
from . import ndarray as nd
from .ndarray import linalg, sparse
from . import random
from . import random as rnd
from . import symbol
from . import symbol as sym
from .symbol import Symbol
from . import executor
from .executor import Executor
from . import rnn  # before operators get their names here: one of them, of nd and sym, is called so as well
from . import _register, contrib, library, util
from .library import get_include, load_library
from .util import is_np_array, is_np_shape, np_array, np_compat, np_shape, set_np_shape, use_np, use_np_shape

__version__ = "0.1.0"


def load(fname):
    """The arrays of a file, as nd.load gives them; of a shared library the names of its operators, which are found from
    then on (load_library)."""
    return load_library(fname) if library.is_library(fname) else nd.load(fname)


def info():
    """What was built, and what it takes of the machine: version, number of operators, instruction sets of their kernels
    and of the runtime's loops, threads, compiler, devices."""
    return {"version": __version__, **_strop.info()}


_register.add_public(globals(), nd)


def set_fallback(mode):
    """What happens when an operator works on dense copies of sparse arrays: "silent", "warn" or "error"; what it was
    before."""
    modes = ("silent", "warn", "error")
    if mode not in modes:
        raise error.ValueError(f"set_fallback: no mode {mode!r}, expected silent, warn or error")
    return modes[_strop.set_fallback(modes.index(mode))]


fallbacks = _strop.fallbacks
clear_fallbacks = _strop.clear_fallbacks
set_asynchronous = engine.set_asynchronous

from . import initializer, lr_scheduler, metric, operator, optimizer, test_utils  # noqa: E402  they stand on everything above
from . import callback, gluon, image, io, kvstore, libinfo, model, module, recordio, runtime, visualization  # noqa: E402
from . import initializer as init  # noqa: E402
from . import kvstore as kv  # noqa: E402
from . import image as img  # noqa: E402
from . import module as mod  # noqa: E402
from . import visualization as viz  # noqa: E402

_LEFT_OUT = {
    "np": "the numpy namespace", "npx": "the numpy namespace",
    "numpy_extension": "the numpy namespace", "monitor": "monitors of modules", "mon": "monitors of modules", "executor_manager": "several devices",
    "profiler": "profiles", "rtc": "kernels compiled at run time",
}


def __getattr__(name):
    if name in _LEFT_OUT:
        raise AttributeError(f"strop has no {name!r}: {_LEFT_OUT[name]}, left out: see docs/python.md")
    if name in ("numpy", "jax"):
        raise AttributeError(f"strop has no {name!r} yet: say import strop.{name}")
    raise AttributeError(f"module 'strop' has no attribute {name!r}")
