# SPDX-License-Identifier: Apache-2.0
"""Random numbers of arrays and of symbols alike: numbers of Zipf's law; functions of what the registry has that draws."""
import inspect
import math

from . import _documents, _strop
from .base import _Null, also, counted


def zipfian(functions, true_classes, num_sampled, range_max, **where):
    """num_sampled classes below range_max, class k with probability log((k + 2) / (k + 1)) / log(range_max + 1); how often the true
    classes, and those drawn, are expected among so many."""
    whole = math.log(range_max + 1)
    drawn = functions.random.uniform(0, whole, shape=(num_sampled,), dtype="float64", **where)
    sampled = (functions.exp(drawn) - 1).astype("int64") % range_max

    def expected(classes):
        classes = classes.astype("float64")
        return functions.log((classes + 2) / (classes + 1)) / whole * num_sampled

    return sampled, expected(true_classes), expected(sampled)


def alike(name, parameters, kind):
    """Whether the parameters {name: value} are of that kind, arrays or symbols; refuses some that are beside others that are not."""
    found = [isinstance(value, kind) for value in parameters.values()]
    if any(found) and not all(found):
        raise also(_strop.ValueError, AssertionError)(f"random.{name}: {', '.join(parameters)} have to be numbers or {kind.__name__}s, not both")
    return any(found)


_EVERYWHERE = ("shape", "dtype", "ctx")  # parameters of all that draws, which come last


def function(name, of_numbers, of_arrays, kind, draw, draw_of):
    """A function that draws: `draw(operator, parameters, shape, dtype, **more)` where its parameters are numbers, `draw_of(operator,
    arrays, shape, dtype, **more)` where they are of that kind, arrays or symbols, of each element so many numbers. It takes what the
    operators say, in their order, then shape, dtype and what else the two take."""
    operator = of_numbers or of_arrays
    about = operator.description
    own = [one["name"] for one in about["params"] if one["name"] not in _EVERYWHERE]
    if of_numbers is None:  # (data, shape, ...) as the operator has them
        order = [one["name"] for one in about["inputs"]] + [one["name"] for one in about["params"] if one["name"] != "ctx"]
    else:
        order = [*own, *_EVERYWHERE[:2]]
    taken = [one["name"] for one in about["inputs"]] if of_numbers is None else own

    def call(*args, **kwargs):
        if len(args) > len(order) + 2:
            raise _strop.TypeError(f"random.{name}: {counted(len(args), 'argument')}, expected at most {len(order) + 2}")
        for key, value in zip([*order, "ctx", "out"], args):
            if key in kwargs:
                raise _strop.TypeError(f"random.{name}: {key} is given twice")
            kwargs[key] = value
        shape, dtype = kwargs.pop("shape", _Null), kwargs.pop("dtype", _Null)
        if not alike(name, {key: kwargs.get(key) for key in taken}, kind):
            if of_numbers is None:
                raise _strop.TypeError(f"random.{name}: expected {', '.join(taken)} as {kind.__name__}")
            return draw(of_numbers, {key: kwargs.pop(key) for key in taken if key in kwargs}, shape, dtype, **kwargs)
        if of_arrays is None:
            raise also(_strop.ValueError, AssertionError)(f"random.{name}: expected {', '.join(taken)} as numbers")
        return draw_of(of_arrays, [kwargs.pop(key) for key in taken], shape, dtype, **kwargs)

    call.__name__ = call.__qualname__ = name
    call.__module__ = draw.__module__
    computes, *lines = _documents.head_of(about)
    if of_numbers is not None and of_arrays is not None:
        computes += " Where " + (f"{own[0]} is of type {kind.__name__}, so many of each of its elements." if len(own) == 1 else
                                 f"{', '.join(own)} are {kind.__name__}s, so many of each of their elements.")
    call.__doc__ = "\n".join([computes, *lines])
    defaults = {one["name"]: _documents.value_of(one) for one in about["params"] if one["name"] in own and not one["required"]}
    parameters = []
    for key in order:
        default = defaults[key] if key in defaults else inspect.Parameter.empty if key in taken else _Null
        parameters.append(inspect.Parameter(key, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default))
    call.__signature__ = inspect.Signature([*parameters, inspect.Parameter("more", inspect.Parameter.VAR_KEYWORD)])
    return call
