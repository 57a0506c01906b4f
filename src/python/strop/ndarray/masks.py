# SPDX-License-Identifier: Apache-2.0
"""Masks: arrays that came from a comparison. They have the type of what was compared, as in MXNet, know what they are, and
serve as keys and with & | ^ ~ as NumPy's arrays of bools do."""
import numpy as np

from .. import _strop
from .._strop import NDArray
from ..base import NUMBER, TRUTH, _dtype_name, bfloat16


def operators():
    """The module of all operators by their own names."""
    from . import op

    return op


def is_mask(a):
    """Whether an array came from a comparison, or has elements of type bool."""
    return bool(a._facts & TRUTH) or a.dtype is np.bool_


def bools_of(a):
    """The elements of a mask as an array of NumPy's bools."""
    made = (a.astype("float32") if a.dtype is bfloat16 else a).asnumpy()
    made = made if made.dtype == bool else made != 0
    return made.reshape(()) if a._facts & NUMBER else made


def _checked(a, sign):
    if is_mask(a):
        return a
    raise _strop.TypeError(f"{sign}: takes results of comparisons and arrays of bool, got an array of {_dtype_name(a.dtype)}; compare it before, as in "
                           f"{'~(x > 0)' if sign == '~' else f'(x > 0) {sign} (y > 0)'}")


def _other(a, value, sign):
    """What stands on the other side of a sign, as a mask of the type of `a`; None where it is nothing of the kind."""
    if not isinstance(value, NDArray):
        if not isinstance(value, (bool, np.bool_, np.ndarray)):
            return None
        value = np.asarray(value)
        if value.dtype != bool:
            raise _strop.TypeError(f"{sign}: takes results of comparisons and arrays of bool, got an array of {value.dtype.name} of NumPy")
        return _strop.to_device(_strop.copy_of_buffer(np.asarray(value, dtype=a.dtype, order="C")), a.context)
    value = _checked(value, sign)
    return value if value.dtype is a.dtype else operators().Cast(value, dtype=_dtype_name(a.dtype))


def _sign(sign, name):
    """Methods for a sign: forward, reflected, in place."""
    def forward(self, other):
        made = _other(_checked(self, sign), other, sign)
        return NotImplemented if made is None else getattr(operators(), f"broadcast_{name}")(self, made)

    def in_place(self, other):
        made = _other(_checked(self, sign), other, sign)
        return NotImplemented if made is None else getattr(operators(), f"broadcast_{name}")(self, made, out=self)

    return forward, forward, in_place


for _mark, _method, _operator in (("&", "and", "logical_and"), ("|", "or", "logical_or"), ("^", "xor", "logical_xor")):
    for _prefix, _function in zip(("", "r", "i"), _sign(_mark, _operator)):
        _function.__doc__ = f"{_operator} of masks."
        setattr(NDArray, f"__{_prefix}{_method}__", _function)


def _inverted(self):
    """1 where a mask is 0, 0 elsewhere."""
    return operators().logical_not(_checked(self, "~"))


NDArray.__invert__ = _inverted


def _reduced(name, by):
    def reduce(self, axis=None, out=None, keepdims=False):
        if self.size == 0:
            found = np.asarray(getattr(np, name)(self.asnumpy(), axis=axis, keepdims=keepdims), dtype=self.dtype)
            made = _strop.to_device(_strop.copy_of_buffer(found.reshape(found.shape or (1,))), self.context)
            made._facts = TRUTH | (0 if found.ndim else NUMBER)
        else:
            truths = self != 0  # which is of the array's type; the reductions take no bools
            made = getattr(operators(), by)(truths.astype("uint8") if truths.dtype is np.bool_ else truths, axis=axis, keepdims=keepdims) != 0
            made = made.astype("bool") if self.dtype is np.bool_ else made
        if out is None:
            return made
        out[:] = made
        return out

    reduce.__name__ = reduce.__qualname__ = name
    return reduce


NDArray.any, NDArray.all = _reduced("any", "max"), _reduced("all", "min")
NDArray.any.__doc__ = "Whether some element is not 0, along axes or of all: a mask."
NDArray.all.__doc__ = "Whether no element is 0, along axes or of all: a mask."
