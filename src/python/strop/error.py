# SPDX-License-Identifier: Apache-2.0
"""Errors of strop that are Python's own kinds as well."""
from ._strop import Error, IndexError, MemoryError, TypeError, ValueError  # noqa: A004

MXNetError = Error
