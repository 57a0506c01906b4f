# SPDX-License-Identifier: Apache-2.0
"""Where arrays live: cpu(i) and gpu(i), and the context that creation takes where none is said."""
import threading

from . import _strop
from .base import also


class _Default(type):
    """Context.default_ctx, of each thread."""

    @property
    def default_ctx(cls):
        """The context that new arrays are on where none is said."""
        return current_context()

    @default_ctx.setter
    def default_ctx(cls, ctx):
        stack = cls._current.__dict__.setdefault("stack", [])
        stack[-1:] = [Context(ctx)]


class Context(metaclass=_Default):
    """A processor by kind and number. ``with cpu(1):`` makes it the one that new arrays are on."""

    devtype2str = {1: "cpu", 2: "gpu", 3: "cpu_pinned", 5: "cpu_shared"}
    devstr2type = {name: number for number, name in devtype2str.items()}
    _current = threading.local()

    def __init__(self, device_type, device_id=0):
        if isinstance(device_type, Context):
            device_type, device_id = device_type.device_type, device_type.device_id
        if device_type not in self.devstr2type:
            raise also(_strop.ValueError, KeyError)(f"Context: no kind of device {device_type!r}, expected cpu or gpu")
        self.device_typeid = self.devstr2type[device_type]
        try:
            self.device_id = int(device_id)
        except (TypeError, ValueError):
            raise also(_strop.ValueError, TypeError)(f"Context: the number of the device is {device_id!r}, expected a whole one") from None

    @property
    def device_type(self):
        return self.devtype2str[self.device_typeid]

    @property
    def _memory(self):
        """Whose memory it is: of the processor's kinds there is one."""
        return self.device_typeid == self.devstr2type["gpu"], self.device_id

    def __hash__(self):
        return hash(self._memory)

    def __eq__(self, other):
        return isinstance(other, Context) and self._memory == other._memory

    def __repr__(self):
        return f"{self.device_type}({self.device_id})"

    __str__ = __repr__

    def __enter__(self):
        stack = self._current.__dict__.setdefault("stack", [])
        stack.append(self)
        return self

    def __exit__(self, *failure):
        self._current.stack.pop()

    def empty_cache(self):
        """Nothing: memory that is free is given to whoever needs it next."""


def cpu(device_id=0):
    """The processor that the program runs on."""
    return Context("cpu", device_id)


def cpu_pinned(device_id=0):
    """The processor's memory, as gpu(i) reads it."""
    return Context("cpu_pinned", device_id)


def gpu(device_id=0):
    """A GPU by its number."""
    return Context("gpu", device_id)


def gpu_memory_info(device_id=0):
    """(free, total) bytes of a GPU."""
    raise _strop.Error(f"gpu_memory_info: there is no gpu({device_id})")


def num_gpus():
    """How many GPUs arrays can be on: those that the program was built with a driver for."""
    return 0


_CPU = Context("cpu", 0)


def current_context():
    """The context of the innermost ``with``, else cpu(0)."""
    stack = Context._current.__dict__.get("stack")
    return stack[-1] if stack else _CPU


current_device = current_context
Device = Context


def of_device(kind_and_number):
    """The Context of what the core calls a device."""
    return Context("gpu" if kind_and_number[0] == 2 else "cpu", kind_and_number[1])
