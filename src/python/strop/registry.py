# SPDX-License-Identifier: Apache-2.0
"""Classes by their names: what makes metrics and initializers, and classes of one's own, from texts."""
import atexit
import json
import warnings

from . import _strop
from .base import also

_REGISTRY = {}  # {base class: {name: class}}


@atexit.register
def _forget():
    """Empties what functions of the registry hold: a class refers to all variables of its program."""
    for known in _REGISTRY.values():
        known.clear()


def _refuse(kind, text):
    raise also(kind, AssertionError)(text)


def get_registry(base_class):
    """{name: class} of those that are registered, a copy."""
    return dict(_REGISTRY.setdefault(base_class, {}))


def get_register_func(base_class, nickname):
    """A function that makes subclasses of a class known, by their names in lower case or by another name."""
    known = _REGISTRY.setdefault(base_class, {})

    def register(klass, name=None):
        if not (isinstance(klass, type) and issubclass(klass, base_class)):
            _refuse(_strop.TypeError, f"{nickname}: {klass!r} is no class derived from {base_class.__name__}")
        name = (klass.__name__ if name is None else name).lower()
        if name in known:
            warnings.warn(f"{nickname}: {klass.__module__}.{klass.__name__} takes the name {name!r} of {known[name].__module__}.{known[name].__name__}",
                          UserWarning, stacklevel=2)
        known[name] = klass
        return klass

    register.__doc__ = f"Makes a class known, as a {nickname}, by its name in lower case or by another."
    return register


def get_alias_func(base_class, nickname):
    """A decorator that takes the names that a subclass is known by."""
    register = get_register_func(base_class, nickname)

    def alias(*aliases):
        def take(klass):
            for name in aliases:
                register(klass, name)
            return klass

        return take

    alias.__doc__ = f"Makes a class known, as a {nickname}, by these names."
    return alias


def get_create_func(base_class, nickname):
    """A function that makes objects of the classes that are known: by a name and what the class takes, by a dictionary that has the
    name as `nickname`, by either as JSON. An object of the class is returned as it is."""
    known = _REGISTRY.setdefault(base_class, {})

    def create(*args, **kwargs):
        if not args and nickname not in kwargs:
            raise _strop.TypeError(f"{nickname}: no name is given")
        name, *args = args or [kwargs.pop(nickname)]
        if isinstance(name, (base_class, dict)) or isinstance(name, str) and name[:1] in ("[", "{"):
            if args or kwargs:
                _refuse(_strop.ValueError, f"{nickname}: {name!r} says everything; nothing is taken beside it")
            if isinstance(name, base_class):
                return name
            found = json.loads(name) if isinstance(name, str) else name
            return create(**found) if isinstance(found, dict) else create(found[0], **found[1])
        if not isinstance(name, str):
            _refuse(_strop.TypeError, f"{nickname}: {name!r} is no name")
        if name.lower() not in known:
            _refuse(_strop.ValueError, f"{nickname}: none is called {name!r}; there are {', '.join(sorted(known))}")
        return known[name.lower()](*args, **kwargs)

    create.__doc__ = f"A {nickname} by its name and what its class takes, as a dictionary or as JSON; or itself."
    return create
