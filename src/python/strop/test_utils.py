# SPDX-License-Identifier: Apache-2.0
"""Helpers for tests of operators and symbols: random arrays, comparisons, gradients against finite differences."""
import contextlib
import functools
import os
import platform
import sys
import time
from collections import OrderedDict
from contextlib import contextmanager

import numpy as np
import numpy.random as rnd

import strop as mx

from . import _strop, nd
from ._test_arrays import *  # noqa: F403
from ._test_arrays import default_dtype
from ._test_comparisons import *  # noqa: F403
from ._test_comparisons import _numpy, assert_almost_equal, default_numeric_eps, same
from ._test_generators import *  # noqa: F403
from .base import also
from .context import Context, current_context
from .ndarray import NDArray, array
from .runtime import Features  # noqa: F401
from .symbol import Symbol
from .util import use_np  # noqa: F401


def default_context():
    """The context that tests run on."""
    return current_context()


def set_default_context(ctx):
    """Makes it the one that tests run on."""
    Context.default_ctx = ctx


def assert_exception(f, exception_type, *args, **kwargs):
    """Raises AssertionError unless the call raises that."""
    try:
        f(*args, **kwargs)
    except exception_type:
        return
    raise AssertionError(f"{exception_type.__name__} was expected and not raised")


def np_reduce(dat, axis, keepdims, numpy_reduce_func):
    """A reduction of NumPy along several axes."""
    axes = (axis,) if isinstance(axis, int) else tuple(range(dat.ndim)) if axis is None else tuple(axis)
    made = dat
    for one in sorted((a % dat.ndim for a in axes), reverse=True):
        made = numpy_reduce_func(made, axis=one)
    return made.reshape([1 if i in [a % dat.ndim for a in axes] else n for i, n in enumerate(dat.shape)]) if keepdims else made


def collapse_sum_like(a, shape):
    """Sums an array to a shape that broadcasts to its own."""
    a = np.asarray(a)
    a = a.sum(axis=tuple(range(a.ndim - len(shape))))
    return a.sum(axis=tuple(i for i, n in enumerate(shape) if n == 1 and a.shape[i] != 1), keepdims=True)


# --- executors --------------------------------------------------------------------------------------------------------
def _location(symbol, location, ctx, dtype):
    """{name: array} of arguments that are given as a dictionary or in their order."""
    names = symbol.list_arguments()
    if isinstance(location, dict):
        if set(location) != set(names):
            raise _strop.ValueError(f"test_utils: the arguments are {', '.join(names)}, given are {', '.join(location)}")
        named = [(name, location[name]) for name in names]
    else:
        named = list(zip(names, location))
    return {name: _array(value, ctx, dtype) for name, value in named}


def _array(value, ctx, dtype):
    if isinstance(value, NDArray):
        return _strop.copy(value)
    value = np.asarray(value)
    return nd.array(value, ctx=ctx, dtype=_type_of(value, dtype))


def _type_of(value, dtype):
    """An element type, or that of an array where it is called "asnumpy"."""
    return value.dtype if isinstance(dtype, str) and dtype == "asnumpy" else dtype


def _states(symbol, aux_states, ctx, dtype):
    if aux_states is None:
        return {}
    names = symbol.list_auxiliary_states()
    named = aux_states.items() if isinstance(aux_states, dict) else zip(names, aux_states)
    return {name: _array(value, ctx, dtype) for name, value in named}


def _of_names(names, values):
    return dict(values) if isinstance(values, dict) else dict(zip(names, values))


def simple_forward(sym, ctx=None, is_train=False, **inputs):
    """The outputs of a symbol for arrays of NumPy; one alone where there is one."""
    run = sym.bind(ctx or default_context(), {name: nd.array(value) for name, value in inputs.items()})
    outputs = [output.asnumpy() for output in run.forward(is_train=is_train)]
    return outputs[0] if len(outputs) == 1 else outputs


def numeric_grad(executor, location, aux_states=None, eps=1e-4, use_forward_train=True, dtype=np.float32):
    """The gradients of the sum of the first output for each array of `location`, by central differences, which are taken of
    each element before they are added."""
    found = {}
    for name, value in location.items():
        if value.dtype.kind != "f":
            continue
        base, gradient = value.astype(np.float64), np.zeros(value.shape)
        for i in range(base.size):
            sides = []
            for side in (eps / 2, -eps / 2):
                moved = base.copy().reshape(-1)
                moved[i] += side
                executor.arg_dict[name][:] = moved.reshape(value.shape).astype(value.dtype)
                for state, kept in (aux_states or {}).items():
                    executor.aux_dict[state][:] = kept
                sides.append(executor.forward(is_train=use_forward_train)[0].asnumpy().astype(np.float64))
            gradient.reshape(-1)[i] = (sides[0] - sides[1]).sum() / eps
        executor.arg_dict[name][:] = value
        found[name] = gradient.astype(_type_of(value, dtype))
    return found


def check_numeric_gradient(sym, location, aux_states=None, numeric_eps=None, rtol=None, atol=None, grad_nodes=None,
                           use_forward_train=True, ctx=None, grad_stype_dict=None, dtype=default_dtype()):
    """Compares the gradients of a symbol, multiplied with random numbers and summed, with finite differences. Arrays of NumPy
    become `dtype`, or with "asnumpy" arrays of their own type; gradients are within 1 % where rtol is None."""
    ctx = ctx or default_context()
    eps = default_numeric_eps()[np.dtype(np.float32 if dtype == "asnumpy" else dtype)] if numeric_eps is None else numeric_eps
    rtol = 1e-2 if rtol is None else rtol
    arrays = _location(sym, location, ctx, dtype)
    states = _states(sym, aux_states, ctx, dtype)
    names = list(grad_nodes) if grad_nodes is not None else [n for n in arrays if arrays[n].dtype in (np.float16, np.float32, np.float64)]
    requests = grad_nodes if isinstance(grad_nodes, dict) else {name: "write" for name in names}
    shape = sym.infer_shape(**{name: a.shape for name, a in arrays.items()})[1][0]
    head = np.random.uniform(0.1, 1.1, size=shape)  # none of them so small that differences vanish
    proj = _projected(sym)
    kinds = dict(zip(sym.list_arguments(), (a.dtype for a in arrays.values())))
    arrays["__random_proj"] = nd.array(head, ctx=ctx, dtype=sym.infer_type(**kinds)[1][0])
    gradients = {name: nd.zeros(arrays[name].shape, ctx=ctx, dtype=arrays[name].dtype, stype=(grad_stype_dict or {}).get(name)) for name in names}
    run = proj.bind(ctx, arrays, gradients, {name: requests.get(name, "null") for name in arrays}, states)
    kept = {name: a.asnumpy() for name, a in states.items()}
    run.forward(is_train=True)
    run.backward()
    computed = {name: gradients[name].asnumpy() for name in names}
    wanted = numeric_grad(run, {name: arrays[name].asnumpy() for name in names}, kept, eps, use_forward_train, dtype)
    for name in names:
        if requests[name] == "null":
            continue
        assert_almost_equal(wanted[name], computed[name], rtol, atol, (f"numeric gradient of {name}", f"gradient of {name}"))


def _projected(sym):
    """A loss: a symbol's first output times an argument called __random_proj."""
    from .symbol import MakeLoss, var  # pylint: disable=no-name-in-module

    return MakeLoss(sym[0] * var("__random_proj"), name="random_proj")


def check_symbolic_forward(sym, location, expected, rtol=None, atol=None, aux_states=None, ctx=None, equal_nan=False, dtype=default_dtype()):
    """Compares the outputs of a symbol with what is expected; the outputs."""
    ctx = ctx or default_context()
    run = sym.bind(ctx, _location(sym, location, ctx, dtype), aux_states=_states(sym, aux_states, ctx, dtype))
    outputs = run.forward(is_train=False)
    wanted = _of_names(sym.list_outputs(), expected)
    for name, output in zip(sym.list_outputs(), outputs):
        if name in wanted:
            assert_almost_equal(wanted[name], output, rtol, atol, (f"expected {name}", name), equal_nan)
    return outputs


def check_symbolic_backward(sym, location, out_grads, expected, rtol=None, atol=None, aux_states=None, grad_req="write",
                            ctx=None, grad_stypes=None, equal_nan=False, dtype=default_dtype()):
    """Compares the gradients of a symbol, for these head gradients, with what is expected; the gradients by name."""
    ctx = ctx or default_context()
    arrays = _location(sym, location, ctx, dtype)
    names = sym.list_arguments()
    wanted = _of_names(names, expected)
    requests = _of_names(names, [grad_req] * len(names) if isinstance(grad_req, str) else grad_req)
    stypes = _of_names(names, grad_stypes or [])
    before = {name: np.random.normal(size=arrays[name].shape).astype(arrays[name].dtype) for name in wanted}
    gradients = {}
    for name in wanted:
        stype = stypes.get(name)
        dense = nd.array(before[name] if stype in (None, "default") else np.zeros_like(before[name]), ctx=ctx, dtype=arrays[name].dtype)
        before[name] = dense.asnumpy()
        gradients[name] = dense if stype in (None, "default") else dense.tostype(stype)
    run = sym.bind(ctx, arrays, gradients, {name: requests.get(name, "null") if name in wanted else "null" for name in names}, _states(sym, aux_states, ctx, dtype))
    run.forward(is_train=True)
    if out_grads is None:
        run.backward()
    elif isinstance(out_grads, dict):
        run.backward([_array(out_grads[name], ctx, dtype) for name in sym.list_outputs()])
    else:
        run.backward([_array(g, ctx, dtype) for g in (out_grads if isinstance(out_grads, (list, tuple)) else [out_grads])])
    for name, value in wanted.items():
        base = {"add": before[name], "write": 0}.get(requests[name])
        target = before[name] if base is None else _numpy(value) + base
        assert_almost_equal(target, gradients[name], rtol, atol, (f"expected gradient of {name}", f"gradient of {name}"), equal_nan)
    return gradients


def check_consistency(sym, ctx_list, scale=1.0, grad_req="write", arg_params=None, aux_params=None, rtol=None, atol=None,
                      raise_on_err=True, ground_truth=None, equal_nan=False, use_uniform=False, rand_type=np.float64, tol=None):
    """Runs a symbol on each context and type of the list and compares outputs and gradients with the most precise
    one. An entry is {"ctx": …, argument: shape, "type_dict": {argument: type}}. `tol` is rtol and atol in one, a number or one
    by type."""
    symbols = sym if isinstance(sym, (list, tuple)) else [sym] * len(ctx_list)
    runs = []
    for symbol, entry in zip(symbols, ctx_list):
        shapes = {name: shape for name, shape in entry.items() if name not in ("ctx", "type_dict", "group2ctx")}
        runs.append(symbol.simple_bind(entry["ctx"], grad_req=grad_req, type_dict=entry.get("type_dict"), group2ctx=entry.get("group2ctx"), **shapes))
    draw = (lambda shape: np.random.uniform(-0.92 * scale, 0.92 * scale, shape)) if use_uniform else (lambda shape: np.random.normal(0, scale, shape))
    values = {name: np.asarray((arg_params or {}).get(name, draw(a.shape)), dtype=rand_type) for name, a in runs[0].arg_dict.items()}
    states = {name: _numpy((aux_params or {}).get(name, 0)) for name in runs[0].aux_dict}
    for run in runs:
        for name, value in values.items():
            run.arg_dict[name][:] = value.astype(run.arg_dict[name].dtype)
        for name, value in states.items():
            run.aux_dict[name][:] = value
    precise = max(range(len(runs)), key=lambda i: np.dtype(runs[i].outputs[0].dtype).itemsize)
    heads = None
    for run in runs:
        outputs = run.forward(is_train=grad_req != "null")
        if grad_req != "null":
            heads = heads or [np.random.normal(0, 1, output.shape) for output in outputs]
            run.backward([nd.array(h, dtype=o.dtype) for h, o in zip(heads, outputs)])
    truth = ground_truth or {**runs[precise].output_dict, **{f"gradient of {n}": g for n, g in runs[precise].grad_dict.items() if g is not None}}
    for run in runs:
        made = {**run.output_dict, **{f"gradient of {n}": g for n, g in run.grad_dict.items() if g is not None}}
        for name, value in truth.items():
            try:
                given = tol.get(np.dtype(made[name].dtype)) if isinstance(tol, dict) else tol
                assert_almost_equal(made[name], value, rtol if given is None else given, atol if given is None else given, (name, f"the most precise {name}"), equal_nan)
            except AssertionError:
                if raise_on_err:
                    raise
    return truth


def check_speed(sym, location=None, ctx=None, N=20, grad_req="write", typ="whole", **kwargs):  # pylint: disable=invalid-name
    """The seconds that forward and backward ("whole"), or forward alone, take on average over N runs."""
    if typ not in ("whole", "forward"):
        raise _strop.ValueError(f"check_speed: typ is {typ!r}, expected whole or forward")
    run = sym.simple_bind(ctx or default_context(), grad_req, **(kwargs if location is None else {n: np.shape(a) for n, a in location.items()}))
    for name, a in run.arg_dict.items():
        a[:] = np.random.normal(size=a.shape) if location is None else location[name]

    def once():
        run.forward(is_train=typ == "whole")
        if typ == "whole":
            run.backward(run.outputs)
        nd.waitall()

    once()
    began = time.perf_counter()
    for _ in range(N):
        once()
    return (time.perf_counter() - began) / N


# --- the environment --------------------------------------------------------------------------------------------------
@contextlib.contextmanager
def environment(*args):
    """Sets variables of the environment, a name and a value or a dictionary; None takes one away."""
    wanted = args[0] if len(args) == 1 else {args[0]: args[1]}
    before = {name: os.environ.get(name) for name in wanted}

    def put(values):
        for name, value in values.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = str(value)

    put(wanted)
    try:
        yield
    finally:
        put(before)


class EnvManager:
    """``with EnvManager(name, value):`` sets a variable of the environment."""

    def __init__(self, key, val):
        self._scope = environment(key, val)

    def __enter__(self):
        self._scope.__enter__()
        return self

    def __exit__(self, *failure):
        self._scope.__exit__(*failure)


def getenv(name):
    """A variable of the environment, or None."""
    return os.environ.get(name)


def setenv(name, value):
    """Sets a variable of the environment; None takes it away."""
    if value is None:
        os.environ.pop(name, None)
    else:
        os.environ[name] = str(value)


def set_env_var(key, val, default_val=""):
    """Sets a variable of the environment; what it was before, or default_val."""
    before = os.environ.get(key, default_val)
    os.environ[key] = val
    return before


@contextmanager
def discard_stderr():
    """While it is open nothing is written to the error stream."""
    sys.stderr.flush()
    kept = os.dup(2)
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


class DummyIter:
    """Gives the first batch of an iterator again and again."""

    def __init__(self, real_iter):
        self.real_iter = real_iter
        self.provide_data, self.provide_label, self.batch_size = real_iter.provide_data, real_iter.provide_label, real_iter.batch_size
        self.the_batch = next(iter(real_iter))

    def __iter__(self):
        return self

    def __next__(self):
        return self.the_batch

    next = __next__

    def reset(self):
        """Nothing: there is one batch."""


def retry(n):
    """A decorator: up to n attempts of a test that draws random numbers."""
    if n <= 0:
        raise _strop.ValueError(f"retry: {n} attempts, expected at least 1")

    def decorate(test):
        @functools.wraps(test)
        def run(*args, **kwargs):
            for attempt in range(n):
                try:
                    return test(*args, **kwargs)
                except AssertionError:
                    if attempt + 1 == n:
                        raise
            return None

        return run

    return decorate


def with_seed(seed=None):
    """A decorator: random numbers of NumPy and of strop from a seed, which a failure says."""

    def decorate(test):
        @functools.wraps(test)
        def run(*args, **kwargs):
            from . import random

            number = int(os.environ.get("MXNET_TEST_SEED", np.random.randint(0, 2**31))) if seed is None else seed
            before = np.random.get_state()
            np.random.seed(number)
            random.seed(number)
            try:
                return test(*args, **kwargs)
            except BaseException:
                print(f"with_seed: {test.__name__} failed with seed {number}")
                raise
            finally:
                np.random.set_state(before)

        return run

    return decorate


def has_tvm_ops():
    """Whether there are operators that TVM has compiled: there are none."""
    return False


def is_op_runnable():
    """Whether operators can run where the tests are: always."""
    return True


def is_aarch64_run():
    """Whether the tests run on a processor of that kind."""
    return platform.machine() == "aarch64"


def is_cd_run():
    """Whether the tests run for a release of MXNet: never."""
    return False


def list_gpus():
    """The numbers of the GPUs that arrays can be on."""
    from .context import num_gpus

    return range(num_gpus())


def same_symbol_structure(sym1, sym2):
    """Whether two symbols have the same nodes, whatever their names are."""
    import json

    def shape_of(symbol):
        graph = json.loads(symbol.tojson())
        return [(node["op"], node["inputs"], node.get("attrs")) for node in graph["nodes"]]

    return isinstance(sym1, Symbol) and isinstance(sym2, Symbol) and shape_of(sym1) == shape_of(sym2)


def compare_optimizer(opt1, opt2, shape, dtype, w_stype="default", g_stype="default", rtol=1e-4, atol=1e-5, compare_states=True, ntensors=1):
    """Has two optimizers make one step from the same weights and gradients, and compares what they made. Of a list of shapes opt1
    updates one weight after the other, opt2 all at once."""
    several = isinstance(shape, list)
    if not several and ntensors != 1:
        raise also(_strop.ValueError, AssertionError)(f"compare_optimizer: ntensors is {ntensors}; several weights have a list of shapes")
    weights, grads = ([rand_ndarray(extents, stype, density, dtype=dtype) if stype != "default" else mx.random.uniform(shape=extents, dtype=dtype)
                       for extents in (shape[:ntensors] if several else [shape])] for stype, density in ((w_stype, 1), (g_stype, None)))
    others, states = [w.copy() for w in weights], [opt2.create_state_multi_precision(i, w) for i, w in enumerate(weights)]
    if several:
        opt2.update_multi_precision(list(range(ntensors)), others, [g.copy() for g in grads], states)
    else:
        opt2.update_multi_precision(0, others[0], grads[0].copy(), states[0])
    for i, (weight, grad) in enumerate(zip(weights, grads)):
        state = opt1.create_state_multi_precision(i, weight := weight.tostype("default"))
        opt1.update_multi_precision(i, weight, grad.tostype("default"), state)
        if compare_states:
            compare_ndarray_tuple(state, states[i], rtol, atol)
        assert_almost_equal(weight, others[i], rtol, atol)


def compare_ndarray_tuple(t1, t2, rtol=None, atol=None):
    """Compares nested tuples of arrays."""
    if t1 is None or t2 is None:
        return
    if isinstance(t1, (tuple, list)):
        for one, other in zip(t1, t2):
            compare_ndarray_tuple(one, other, rtol, atol)
    else:
        assert_almost_equal(t1, t2, rtol, atol)
