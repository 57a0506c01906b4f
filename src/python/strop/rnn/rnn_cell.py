# SPDX-License-Identifier: Apache-2.0
"""All cells, by the name of MXNet's module."""
from . import cells, conv_cells, fused, modifiers, stacks
from .cells import *  # noqa: F401,F403
from .conv_cells import *  # noqa: F401,F403
from .fused import *  # noqa: F401,F403
from .modifiers import *  # noqa: F401,F403
from .stacks import *  # noqa: F401,F403

__all__ = [*cells.__all__, *conv_cells.__all__, *fused.__all__, *modifiers.__all__, *stacks.__all__]
