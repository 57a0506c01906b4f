# SPDX-License-Identifier: Apache-2.0
"""Loops and branches over symbols as MXNet's sym.contrib has them: nodes whose parameters are sub-graphs."""
import itertools

from .. import _strop, attribute
from .. import name as _name
from .._strop import Symbol
from .symbol import _find, var

__all__ = ["cond", "foreach", "while_loop"]

_NUMBERS = itertools.count()


def _flat(value):
    """(symbols of one output of a nested list, what puts such a list of symbols into the same nest)."""
    if isinstance(value, Symbol):
        if len(value) == 1:
            return [value], lambda symbols: symbols.pop(0)
        return list(value), lambda symbols: [symbols.pop(0) for _ in range(len(value))]
    if not isinstance(value, (list, tuple)):
        raise _strop.TypeError(f"control flow: expected a Symbol or lists of them, got {type(value).__name__}")
    parts = [_flat(one) for one in value]
    return [s for symbols, _ in parts for s in symbols], lambda symbols: [nest(symbols) for _, nest in parts]


class _Body:
    """What is made while a body runs belongs to its sub-graph."""

    def __init__(self, hint):
        around = attribute.current().get(None).get("__subgraph_name__", "")
        self.name = f"{around}${hint}{next(_NUMBERS)}" if around else f"{hint}{next(_NUMBERS)}"
        self._scope = attribute.AttrScope(__subgraph_name__=self.name)

    def __enter__(self):
        self._scope.__enter__()
        return self

    def __exit__(self, *failure):
        self._scope.__exit__(*failure)

    @staticmethod
    def variables(symbols):
        """Variables that stand for these symbols inside."""
        return [var(f"{s.name}-{i}") for i, s in enumerate(symbols)]

    def outputs(self, value):
        """The symbols of a result, each with a node of its own, and their nest."""
        symbols, nest = _flat(value)
        return self.own(symbols), nest

    def own(self, symbols):
        """A copy of each that is a variable, from outside, or there twice."""
        lacking = _strop._lacking_node(self.name, symbols)
        return [_find("_copy")(s) if lacks else s for s, lacks in zip(symbols, lacking)]


def _node(make, called, *args):
    made = make(*args, _name.current().get(None, called))
    made[0]._set_attr(**attribute.current().get(None))
    return list(made)


def foreach(body, data, init_states, name="foreach"):
    """body(entry of the data, states) -> (outputs, states) for each entry along the first axis: (the outputs stacked,
    the last states). A node `_foreach`; symbols from outside of the body become its inputs."""
    whole, data_nest = _flat(data)
    initial, state_nest = _flat(init_states)
    with _Body(name) as scope:
        own = scope.variables(whole + initial)
        out, states = body(data_nest(own[: len(whole)]), state_nest(own[len(whole) :]))
        outputs, out_nest = _flat(out)
        following, nest = _flat(states)
        made = scope.own(outputs + following)
    found = _node(_strop._foreach, "_foreach", scope.name, whole, initial, own, made[: len(outputs)], made[len(outputs) :])
    return out_nest(found[: len(outputs)]), nest(found[len(outputs) :])


def while_loop(cond, func, loop_vars, max_iterations=None, name="while_loop"):  # pylint: disable=redefined-outer-name
    """func(*loop_vars) -> (outputs, loop_vars) while cond(*loop_vars) holds, at most max_iterations times: (the outputs
    stacked and filled up with zeros, the last loop_vars). A node `_while_loop`."""
    if max_iterations is None:
        raise _strop.ValueError("while_loop: max_iterations has to be given")
    alone = isinstance(loop_vars, Symbol) and len(loop_vars) == 1
    initial, nest = _flat([loop_vars] if alone else list(loop_vars))
    if not initial:
        raise _strop.ValueError("while_loop: no loop_vars")
    with _Body(name + "_cond") as condition:
        seen = condition.variables(initial)
        holds = cond(*nest(list(seen)))
        if not isinstance(holds, Symbol):
            raise _strop.ValueError("while_loop: cond returns a Symbol")
        holds = condition.own([holds])[0]
    with _Body(name + "_func") as scope:
        own = scope.variables(initial)
        out, new = func(*nest(list(own)))
        new = [] if new is None else [new] if isinstance(new, Symbol) else list(new)
        outputs, out_nest = _flat([] if out is None else out)
        following, _ = _flat(new)
        if len(following) != len(initial):
            raise _strop.ValueError(f"while_loop: func returned {len(following)} loop_vars, it got {len(initial)}")
        made = scope.own(outputs + following)
    found = _node(_strop._while_loop, "_while_loop", condition.name, seen, holds, scope.name, own, initial, made[: len(outputs)],
                  made[len(outputs) :], int(max_iterations))
    last = nest(found[len(outputs) :])
    return out_nest(found[: len(outputs)]), last[0] if alone else last


def cond(pred, then_func, else_func, name="cond"):
    """then_func() where the only element of pred is not zero, else else_func(). A node `_cond`; both give the same number
    of symbols, of the same shapes and types."""
    if not isinstance(pred, Symbol) or len(pred) != 1:
        raise _strop.ValueError("cond: pred is a Symbol of one output")
    with _Body(name + "_pred") as predicate:
        own = predicate.variables([pred])
        passed = _find("_copy")(own[0])
    with _Body(name + "_then") as then:
        first, nest = then.outputs(then_func())
    with _Body(name + "_else") as otherwise:
        second, _ = otherwise.outputs(else_func())
    return nest(_node(_strop._cond, "_cond", predicate.name, own, passed, pred, then.name, first, otherwise.name, second))
