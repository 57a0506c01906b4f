# SPDX-License-Identifier: Apache-2.0
"""Sparse arrays: their classes and what makes them, beside every operator that has a name for them."""
from .sparse_array import *  # noqa: F401,F403  (apart, because the operators here are called as functions of Python are)
