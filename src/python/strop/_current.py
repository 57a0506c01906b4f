# SPDX-License-Identifier: Apache-2.0
"""What a thread has open: a name manager, a scope of attributes."""
import threading


class Current(type):
    """The type of classes with an object that is open: ``cls.current``, of each thread. Where none is, one is made without
    arguments. Subclasses share it."""

    def __init__(cls, name, bases, space):
        super().__init__(name, bases, space)
        if not hasattr(cls, "_current"):
            cls._current, cls._first = threading.local(), cls

    @property
    def current(cls):
        """The object that is open on this thread."""
        if not hasattr(cls._current, "value"):
            cls._current.value = cls._first()
        return cls._current.value

    @current.setter
    def current(cls, opened):
        cls._current.value = opened
