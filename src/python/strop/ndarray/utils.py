# SPDX-License-Identifier: Apache-2.0
"""Functions that make, save and load arrays of any storage type, by the name of MXNet's module."""
from .ndarray import array, empty, load, load_frombuffer, save, zeros  # noqa: F401
