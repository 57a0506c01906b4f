# SPDX-License-Identifier: Apache-2.0
"""Gradients by the names that MXNet had before it had autograd."""
import functools

from .. import _strop
from .._strop import NDArray
from ..autograd import backward as _backward
from ..autograd import mark_variables, pause, record, set_recording, set_training

__all__ = ["TrainingStateScope", "backward", "compute_gradient", "grad", "grad_and_loss", "mark_variables", "set_is_training",
           "test_section", "train_section"]


def set_is_training(is_train):
    """Switches recording and training mode on or off; what recording was before."""
    before = set_recording(is_train)
    set_training(is_train)
    return before


def train_section():
    """While it is open calls are recorded, in training mode."""
    return record()


def test_section():
    """While it is open nothing is recorded, and operators behave as in prediction."""
    return pause()


class TrainingStateScope:
    """``with TrainingStateScope(True):`` is train_section(), with False test_section()."""

    def __init__(self, enter_state):
        self._scope = record() if enter_state else pause()

    def __enter__(self):
        self._scope.__enter__()

    def __exit__(self, *failure):
        self._scope.__exit__(*failure)


def backward(outputs, out_grads=None, retain_graph=False):
    """Gradients of the outputs for everything that they were computed from."""
    if not isinstance(outputs, (list, tuple)):
        raise _strop.TypeError(f"backward: expected a list of NDArrays, got {type(outputs).__name__}")
    _backward(outputs, out_grads, retain_graph)


def compute_gradient(outputs):
    """backward() by an older name."""
    backward(outputs)


def grad_and_loss(func, argnum=None):
    """A function that returns the gradients of the function's arguments (of those whose positions are given) and its
    result."""

    @functools.wraps(func)
    def run(*args):
        positions = range(len(args)) if argnum is None else argnum if isinstance(argnum, (list, tuple)) else [argnum]
        variables = [args[i] for i in positions]
        for one in variables:
            if not isinstance(one, NDArray):
                raise _strop.TypeError(f"grad_and_loss: an argument is of type {type(one).__name__}, expected an NDArray")
        gradients = [one.zeros_like() for one in variables]
        mark_variables(variables, gradients)
        with train_section():
            outputs = func(*args)
        backward([outputs] if isinstance(outputs, NDArray) else outputs)
        return gradients, outputs

    return run


def grad(func, argnum=None):
    """A function that returns the gradients of the function's arguments."""
    both = grad_and_loss(func, argnum)

    @functools.wraps(both)
    def run(*args):
        return both(*args)[0]

    return run
