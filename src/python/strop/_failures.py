# SPDX-License-Identifier: Apache-2.0
"""What code that somebody wrote for us raises: operators and steps of their own."""
import atexit
import contextlib
import functools
import inspect
import traceback

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
            _failures[kind] = type(kind.__name__, bases, {"__module__": kind.__module__, "__reduce__": functools.partialmethod(_reduced, kind)})
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


def _reduced(error, kind):
    """How one is pickled, by a pool's worker that reports it: as its own kind is. The class is made where it is raised, and
    has no name to be found by."""
    function, given, *state = kind.__reduce__(error)
    return _again, (kind, None if function is type(error) else function, given, *state)


def _again(kind, function, given, *state):
    """One that was pickled."""
    if function is None:
        error = kind.__new__(kind, *given)  # without __init__, whose parameters may be others
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
