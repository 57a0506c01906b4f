# SPDX-License-Identifier: Apache-2.0
"""Random numbers: their seed, and the functions of ndarray.random."""
from . import _strop
from .ndarray import random as _random
from .base import integer_types
from .ndarray.random import *  # noqa: F401,F403


def __getattr__(name):
    """What operators of the registry have added to ndarray.random."""
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(_random, name)


def seed(seed_state, ctx="all"):
    """Restarts the random numbers, of one context or of all: from here on they follow from the seed and from the order
    of calls."""
    if not isinstance(seed_state, integer_types):
        raise _strop.ValueError(f"seed: {seed_state!r} is no whole number")
    seed_state = int(seed_state)
    if ctx == "all":
        _strop.seed(seed_state % 2**64)
    else:
        _strop.seed(seed_state % 2**64, ctx)
