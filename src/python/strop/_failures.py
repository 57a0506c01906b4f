# SPDX-License-Identifier: Apache-2.0
"""What code that somebody wrote for us raises: operators and steps of their own."""
import atexit
import contextlib
import functools
import inspect
import traceback
import types

from . import _strop

_failures = {}  # by the kind of failure: that kind as a kind of Error
atexit.register(_failures.clear)


def _as_error(error):
    """An exception as an Error that is of its kind as well and holds what it holds; itself where that cannot be made."""
    kind = type(error)
    try:
        if kind not in _failures:
            # Its own kind is first: the classes of Python that have more than arguments are made by their own __new__.
            bases = (_strop.Error, kind) if issubclass(_strop.Error, kind) else (kind, _strop.Error)
            reduce = "__reduce__" if kind.__reduce_ex__ is object.__reduce_ex__ else "__reduce_ex__"
            _failures[kind] = type(kind.__name__, bases, {"__module__": kind.__module__, reduce: functools.partialmethod(_reduced, kind)})
        made = kind.__new__(_failures[kind], *error.args)  # without __init__, which would do again what it did
        for base in kind.__mro__:
            for name, member in vars(base).items():
                if inspect.ismemberdescriptor(member):
                    with contextlib.suppress(AttributeError, TypeError):  # not set there, or set by __new__ alone
                        value = getattr(error, name)
                        if getattr(made, name, _failures) is not value:  # an OSError says of None that was set that it is a file
                            setattr(made, name, value)
        made.__dict__.update(error.__dict__)
        made.args = error.args if error.args or str(error) else ("".join(traceback.format_exception(error)),)
        return made
    except Exception:  # pylint: disable=broad-except
        return error


def _reduced(error, kind, *protocol):
    """How one is pickled, by a pool's worker that reports it: as its own kind is. The class is made where it is raised, and
    has no name to be found by: where the kind names the class of its object it means itself."""
    made, reduce = type(error), kind.__reduce_ex__ if protocol else kind.__reduce__
    function, given, *state = reduce(error, *protocol)
    if function is made:  # the kinds of Python itself say so, whatever the parameters of __init__ are
        function = None if isinstance(reduce, types.MethodDescriptorType) else kind
    return _again, (kind, function, tuple(kind if one is made else one for one in given), *state)


def _again(kind, function, given, *state):
    """One that was pickled."""
    if function is None:
        error = kind.__new__(kind, *given)  # without an __init__ in Python, whose parameters may be others
        # Python's own kinds set their fields in theirs.
        own = next(vars(base)["__init__"] for base in kind.__mro__ if not inspect.isfunction(vars(base).get("__init__", _again)))
        own(error, *given)
    else:
        error = function(*given)
    if state and state[0]:
        error.__setstate__(state[0])
    return _as_error(error)


def run_written(step, *given, **arguments):
    """Runs what somebody wrote. What it raises is an Error as well as what it is, with the traceback as its cause."""
    try:
        return step(*given, **arguments)
    except _strop.Error:
        raise
    except Exception as error:  # pylint: disable=broad-except
        made = _as_error(error)
        if made is error:
            raise
        raise made.with_traceback(error.__traceback__) from error
