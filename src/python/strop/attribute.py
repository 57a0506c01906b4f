# SPDX-License-Identifier: Apache-2.0
"""Attributes that the nodes made within a scope get."""
import threading

from . import _strop


class _Current(type):
    """AttrScope.current, of each thread."""

    @property
    def current(cls):
        """The scope that is open."""
        return current()

    @current.setter
    def current(cls, scope):
        AttrScope._current.value = scope


class AttrScope(metaclass=_Current):
    """``with AttrScope(ctx_group="stage1"):`` gives every symbol made inside this attribute."""

    _current = threading.local()

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
        self._before = current()
        self._attr = {**self._before._attr, **self._attr}
        AttrScope._current.value = self
        return self

    def __exit__(self, *failure):
        AttrScope._current.value = self._before


def current():
    """The scope of this thread."""
    scope = getattr(AttrScope._current, "value", None)
    if scope is None:
        scope = AttrScope._current.value = AttrScope()
    return scope
