# SPDX-License-Identifier: Apache-2.0
"""How nodes of symbols get their names."""
import threading


class _Current(type):
    """NameManager.current, of each thread."""

    @property
    def current(cls):
        """The manager that names nodes."""
        return current()

    @current.setter
    def current(cls, manager):
        NameManager._current.value = manager


class NameManager(metaclass=_Current):
    """Gives a node that has no name its operator's and a number; ``with`` makes a manager the thread's current one."""

    _current = threading.local()

    def __init__(self):
        self._counter = {}
        self._before = None

    def get(self, name, hint):
        """The name as given, or the hint and how often it was asked for."""
        if name:
            return name
        number = self._counter.get(hint, 0)
        self._counter[hint] = number + 1
        return f"{hint}{number}"

    def __enter__(self):
        self._before = current()
        NameManager._current.value = self
        return self

    def __exit__(self, *failure):
        NameManager._current.value = self._before


class Prefix(NameManager):
    """A manager that puts a prefix before every name."""

    def __init__(self, prefix):
        super().__init__()
        self._prefix = prefix

    def get(self, name, hint):
        return self._prefix + super().get(name, hint)


def current():
    """The manager of this thread."""
    manager = getattr(NameManager._current, "value", None)
    if manager is None:
        manager = NameManager._current.value = NameManager()
    return manager
