# SPDX-License-Identifier: Apache-2.0
"""Iterators over data, in batches."""
from . import io
from .io import *  # noqa: F401,F403
