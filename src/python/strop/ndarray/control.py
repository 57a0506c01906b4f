# SPDX-License-Identifier: Apache-2.0
"""What nd.contrib has beside its operators: loops and branches over arrays, what kind of number elements are; and the gradient of
gather_nd."""
import math

from .. import _strop
from .._strop import NDArray
from ..base import counted

__all__ = ["cond", "foreach", "isfinite", "isinf", "isnan", "while_loop"]


def isnan(data):
    """1 where an element is NaN, else 0."""
    return data != data  # pylint: disable=comparison-with-itself


def isinf(data):
    """1 where an element is an infinity, else 0."""
    return data.abs() == math.inf


def isfinite(data):
    """1 where an element is a finite number, else 0."""
    return data.abs() < math.inf


def _flat(value):
    """(the arrays of a nested list, what puts such a list of arrays into the same nest)."""
    if isinstance(value, NDArray):
        return [value], lambda arrays: arrays.pop(0)
    if not isinstance(value, (list, tuple)):
        raise _strop.TypeError(f"control flow: expected an NDArray or lists of them, got {type(value).__name__}")
    parts = [_flat(one) for one in value]
    return [a for arrays, _ in parts for a in arrays], lambda arrays: [nest(arrays) for _, nest in parts]


def _stack(arrays):
    from . import op

    return op.stack(*arrays, axis=0)


def foreach(body, data, init_states):
    """body(entry of the data, states) -> (outputs, states) for each entry along the first axis: (the outputs stacked,
    the last states)."""
    first, _ = _flat(data)
    _flat(init_states)
    states, made, nest = init_states, [], None
    for i in range(first[0].shape[0]):
        out, states = body(data[i] if isinstance(data, NDArray) else [d[i] for d in data], states)
        arrays, nest = _flat(out)
        made.append(arrays)
    return (nest([_stack(arrays) for arrays in zip(*made)]) if nest else []), states


def while_loop(cond, func, loop_vars, max_iterations=None):  # pylint: disable=redefined-outer-name
    """func(*loop_vars) -> (outputs, loop_vars) while cond(*loop_vars) holds, at most max_iterations times: (the outputs
    stacked and filled up with zeros, the last loop_vars)."""
    if max_iterations is None:
        raise _strop.ValueError("while_loop: max_iterations has to be given")
    alone = isinstance(loop_vars, NDArray)
    values = [loop_vars] if alone else list(loop_vars)
    if not values:
        raise _strop.ValueError("while_loop: no loop_vars")
    made, nest, steps = [], None, 0
    while steps < int(max_iterations) and bool(cond(*values)):
        out, new = func(*values)
        new = [] if new is None else [new] if isinstance(new, NDArray) else list(new)
        if len(new) != len(values):
            raise _strop.ValueError(f"while_loop: func returned {len(new)} loop_vars, it got {len(values)}")
        values = new
        arrays, nest = _flat([] if out is None else out)
        if made and len(arrays) != len(made[0]):
            raise _strop.ValueError(f"while_loop: a step has {counted(len(arrays), 'output')}, the first had {len(made[0])}")
        made.append(arrays)
        steps += 1
    outputs = []
    for arrays in zip(*made):
        empty = [arrays[0].zeros_like()] * (int(max_iterations) - steps)
        outputs.append(_stack([*arrays, *empty]))
    return (nest(outputs) if nest else []), values[0] if alone else values


def cond(pred, then_func, else_func):
    """then_func() where the only element of pred is not zero, else else_func()."""
    return then_func() if bool(pred) else else_func()


def gather_nd_gradient(data, indices, shape):
    """data added up in zeros of `shape`, where gather_nd found it."""
    from .. import autograd, nd

    found = nd.zeros(shape, ctx=data.context, dtype=data.dtype)
    found.attach_grad()
    with autograd.record():
        taken = nd.gather_nd(found, indices)
    taken.backward(data)
    return found.grad
