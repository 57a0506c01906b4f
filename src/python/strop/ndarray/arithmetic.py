# SPDX-License-Identifier: Apache-2.0
"""The operators of Python as functions, of arrays and numbers on either side."""
import operator

from .._strop import NDArray

__all__ = ["add", "divide", "equal", "greater", "greater_equal", "lesser", "lesser_equal", "logical_and", "logical_or",
           "logical_xor", "maximum", "minimum", "modulo", "multiply", "not_equal", "power", "subtract", "true_divide"]


def _plain(name, function):
    def call(lhs, rhs):
        return function(lhs, rhs)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"{name} of arrays that broadcast, or of an array and a number."
    return call


add = _plain("add", operator.add)
subtract = _plain("subtract", operator.sub)
multiply = _plain("multiply", operator.mul)
divide = _plain("divide", operator.truediv)
true_divide = _plain("true_divide", operator.truediv)
modulo = _plain("modulo", operator.mod)
equal = _plain("equal", operator.eq)
not_equal = _plain("not_equal", operator.ne)
greater = _plain("greater", operator.gt)
greater_equal = _plain("greater_equal", operator.ge)
lesser = _plain("lesser", operator.lt)
lesser_equal = _plain("lesser_equal", operator.le)


def power(base, exp):
    """base to the power exp, of arrays that broadcast, or of an array and a number."""
    return base**exp


def _named(name, number):
    """By operators: broadcast_<name> of two arrays, _<name>_scalar of one and a number."""

    def call(lhs, rhs):
        from . import _internal, op

        first, second = isinstance(lhs, NDArray), isinstance(rhs, NDArray)
        if first and second:
            return getattr(op, "broadcast_" + name)(lhs, rhs)
        if first or second:
            array, scalar = (lhs, rhs) if first else (rhs, lhs)
            return getattr(_internal, f"_{name}_scalar")(array, scalar=scalar)
        return number(lhs, rhs)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"{name} of arrays that broadcast, or of an array and a number."
    return call


maximum = _named("maximum", max)
minimum = _named("minimum", min)
logical_and = _named("logical_and", lambda a, b: bool(a and b))
logical_or = _named("logical_or", lambda a, b: bool(a or b))
logical_xor = _named("logical_xor", lambda a, b: bool(a) != bool(b))
