# SPDX-License-Identifier: Apache-2.0
"""Cells of recurrent networks as symbols, batches of sentences of like length, and checkpoints of networks of cells."""
from . import io, rnn, rnn_cell
from .io import *  # noqa: F401,F403
from .rnn import *  # noqa: F401,F403
from .rnn_cell import *  # noqa: F401,F403
