# SPDX-License-Identifier: Apache-2.0
"""How nodes of symbols get their names."""
from ._current import Current


class NameManager(metaclass=Current):
    """Gives a node that has no name its operator's and a number; ``with`` makes a manager the thread's current one."""

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
        self._before = NameManager.current
        NameManager.current = self
        return self

    def __exit__(self, *failure):
        NameManager.current = self._before


class Prefix(NameManager):
    """A manager that puts a prefix before every name."""

    def __init__(self, prefix):
        super().__init__()
        self._prefix = prefix

    def get(self, name, hint):
        return self._prefix + super().get(name, hint)


def current():
    """The manager of this thread."""
    return NameManager.current
