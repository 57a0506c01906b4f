# SPDX-License-Identifier: Apache-2.0
"""Attributes that the nodes made within a scope get."""
from . import _strop
from ._current import Current


class AttrScope(metaclass=Current):
    """``with AttrScope(ctx_group="stage1"):`` gives every symbol made inside this attribute."""

    def __init__(self, **attributes):
        for key, value in attributes.items():
            if not isinstance(value, str):
                raise _strop.ValueError(f"AttrScope: {key} is of type {type(value).__name__}, expected a string")
        self._attr = attributes
        self._before = None

    def get(self, attr):
        """These attributes with those of a node, which come first."""
        if not self._attr:
            return attr or {}
        return {**self._attr, **(attr or {})}

    def __enter__(self):
        self._before = AttrScope.current
        self._attr = {**self._before._attr, **self._attr}
        AttrScope.current = self
        return self

    def __exit__(self, *failure):
        AttrScope.current = self._before


def current():
    """The scope of this thread."""
    return AttrScope.current
