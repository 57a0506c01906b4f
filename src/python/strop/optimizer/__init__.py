# SPDX-License-Identifier: Apache-2.0
"""Optimizers: what a step makes of a weight, its gradient and a state, mostly by the update operators."""
from . import contrib, large_batch, optimizer
from .contrib import *  # noqa: F401,F403
from .large_batch import *  # noqa: F401,F403
from .optimizer import *  # noqa: F401,F403
from .optimizer import _FixedRate  # noqa: F401  what set_learning_rate raises beside a scheduler
