# SPDX-License-Identifier: Apache-2.0
"""Operators as functions of JAX: strop.jax.op("smooth_l1")(x, scalar=2.0), for jit, grad, jvp and vmap, on the CPU."""
import functools

import numpy as np

try:
    import jax
    import jax.ffi
    import jax.numpy as jnp
except ImportError as _error:
    raise ImportError(f"strop.jax needs jax 0.5 or newer: {_error}") from _error

from . import _strop, error
from .base import _dtype_name

__all__ = ["op"]

_TARGET = "strop_operator"
_TYPES = ("float16", "bfloat16", "float32", "float64", "uint8", "int8", "int32", "int64", "bool")
_core = _strop._jax
jax.ffi.register_ffi_target(_TARGET, _core.handler(), platform="cpu")


def op(name, /):
    """The operator `name` as a function of JAX's arrays; its parameters are keywords, and static under jit.

    A map broadcasts its arrays and takes them to one type as jax.numpy does; it has grad, jvp and vmap, to as many orders as the operator
    has gradients. Other operators have grad of the first order, and vmap computes one slice after the other. What the operator refuses
    (a parameter, a shape, a type) is its sentence, when the function is traced. Operators that write their inputs, keep a state or draw
    random numbers are refused, and so are those whose shape follows from data.
    """
    _strop.Operator(name, name, False)  # a name that nobody has is refused here

    def call(*arrays, **parameters):
        for key, value in parameters.items():
            if isinstance(value, jax.core.Tracer):
                raise error.TypeError(f"{name}: parameter '{key}' is a traced value, expected one that is known when the function is traced")
        own, text, is_map = _core.describe_call(name, parameters)
        return _compiled(own, text, is_map)(*arrays)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = _strop.Operator(name, name, False).__doc__
    return call


@functools.lru_cache(maxsize=None)
def _compiled(name, text, is_map):
    """The call as a function that JAX has compiled where it is not part of a larger one."""

    def call(*arrays):
        return (_call_map if is_map else _call_tensors)(name, text, [jnp.asarray(a) for a in arrays])

    call.__name__ = f"strop_{name}"
    return jax.jit(call, inline=True)


def _infer(name, text, arrays):
    """What the operator gives for arrays like these; its sentence where it refuses them."""
    types = [_dtype_name(a.dtype) for a in arrays]
    for i, one in enumerate(types):
        if str(one) not in _TYPES:
            raise error.TypeError(f"{name}: input {i} is {one}, expected one of {', '.join(_TYPES)}")
    made = _core.infer_call(name, text, [a.shape for a in arrays], types)
    return [jax.ShapeDtypeStruct(shape, jnp.dtype(_dtype_name(dtype))) for shape, dtype in made]


def _ffi(results, vmap, name, text, what, arrays):
    return jax.ffi.ffi_call(_TARGET, results, vmap_method=vmap)(*arrays, op=name, params=text, what=what)


def _one_or_all(results):
    """Results as JAX has them: integers in 32 bits unless 64 are switched on."""
    results = [r if (t := jax.dtypes.canonicalize_dtype(r.dtype)) == r.dtype else jax.lax.convert_element_type(r, t) for r in results]
    return results[0] if len(results) == 1 else tuple(results)


# --- maps -------------------------------------------------------------------------------------------------------------


def _call_map(name, text, arrays):
    whole = [one["whole"] for one in _strop.Operator(name, name, False).description["inputs"]]
    floats = [a for a, w in zip(arrays, whole) if not w]
    if floats:
        common = jnp.result_type(*floats)
        arrays = [a if w else a.astype(common) for a, w in zip(arrays, whole)] if len(whole) == len(arrays) else arrays
    rank = max((a.ndim for a in arrays), default=0)
    types = tuple(r.dtype for r in _infer(name, text, arrays))  # and refuses what the operator does
    # Of one rank, so that vmap may put its axis before all of them; what is smaller stays so.
    arrays = [jnp.expand_dims(a, tuple(range(rank - a.ndim))) for a in arrays]
    return _one_or_all(_map_of(name, text, 0, types)(*arrays))


@functools.lru_cache(maxsize=None)
def _map_of(name, text, order, types):
    """A map, or its gradient of that order, with the derivative that follows from its next gradient."""

    @jax.custom_jvp
    def run(*arrays):
        shape = jnp.broadcast_shapes(*(a.shape for a in arrays))
        return tuple(_ffi([jax.ShapeDtypeStruct(shape, t) for t in types], "broadcast_all", name, text, str(order), arrays))

    @run.defjvp
    def derivative(arrays, tangents):
        made = run(*arrays)
        rule = _core.gradient_of(name, order, len(arrays), len(made))
        if rule is None:
            raise TypeError(f"{name}: has gradients to order {order}, and a further one is asked for")
        takes, gives = rule
        moving = [k for k, i in enumerate(gives) if tangents[i].dtype != jax.dtypes.float0]
        along = []
        for j, y in enumerate(made):
            if not jnp.issubdtype(y.dtype, jnp.floating):
                along.append(np.zeros(y.shape, jax.dtypes.float0))
                continue
            total = jnp.zeros_like(y)
            if moving:
                heads = [jnp.full(y.shape, 1 if k == j else 0, y.dtype) for k in range(len(made))]
                taken = [jnp.broadcast_to((heads, arrays, made)[what][at], y.shape) for what, at in takes]
                partial = _map_of(name, text, order + 1, (y.dtype,) * len(gives))(*taken)
                for k in moving:
                    total = total + partial[k] * tangents[gives[k]]
            along.append(total)
        return made, tuple(along)

    return run


# --- operators on tensors ---------------------------------------------------------------------------------------------


def _call_tensors(name, text, arrays):
    return _one_or_all(_tensors_of(name, text)(*arrays))


@functools.lru_cache(maxsize=None)
def _tensors_of(name, text):
    @jax.custom_vjp
    def run(*arrays):
        return tuple(_ffi(_infer(name, text, arrays), "sequential", name, text, "0", arrays))

    def forward(*arrays):
        if not _core.has_gradient(name):
            raise TypeError(f"{name}: has no gradient")
        return run(*arrays), arrays

    def back(arrays, heads):
        heads = [jnp.zeros(h.shape, y.dtype) if h.dtype == jax.dtypes.float0 else h for h, y in zip(heads, _infer(name, text, arrays))]
        moving = [a for a in arrays if jnp.issubdtype(a.dtype, jnp.floating)]
        if _core.has_gradient(name) == 1:
            made = iter([jnp.zeros_like(a) for a in moving])
        else:
            made = iter(_ffi([jax.ShapeDtypeStruct(a.shape, a.dtype) for a in moving], "sequential", name, text, f"vjp{len(heads)}", (*heads, *arrays)))
        return tuple(next(made) if jnp.issubdtype(a.dtype, jnp.floating) else np.zeros(a.shape, jax.dtypes.float0) for a in arrays)

    run.defvjp(forward, back)
    return run
