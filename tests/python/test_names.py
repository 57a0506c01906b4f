# SPDX-License-Identifier: Apache-2.0
"""What public names say of themselves: their modules, their documents; what the registry has that draws, by its names."""
import inspect
import pickle
import types

import numpy as np
import pytest

import strop as mx
from strop import _register, nd, sym


def test_modules_of_names():
    for value, module in ((nd.NDArray, "strop.ndarray.ndarray"), (sym.Symbol, "strop.symbol.symbol"), (mx.Executor, "strop.executor"), (nd.relu, "strop.ndarray.op"),
                          (sym.relu, "strop.symbol.op"), (nd.contrib.quadratic, "strop.ndarray.contrib"), (sym._internal._copy, "strop.symbol._internal"),
                          (nd.random.uniform_like, "strop.ndarray.random"), (nd.random.uniform, "strop.ndarray.random"), (mx.Error, "strop")):
        assert value.__module__ == module
    for kind in (nd.NDArray, sym.Symbol, mx.Executor, mx._strop.Operator):
        assert pickle.loads(pickle.dumps(kind)) is kind
    for operator in (nd.relu, sym.contrib.quadratic):
        again = pickle.loads(pickle.dumps(operator))
        assert again.__name__ == operator.__name__ and again.description == operator.description
    assert type(mx._strop.Operator.__module__)(mx._strop.Operator.__module__) == "strop._strop" and repr(nd.NDArray) == "<class 'strop.ndarray.ndarray.NDArray'>"


def test_documents_say_shapes_storages_and_show_a_call():
    said = nd.relu.__doc__
    assert "Shapes: one, of all inputs and of the result." in said and "Storages: (row_sparse) -> row_sparse; (csr) -> csr; default else." in said
    assert "(csr, csr) -> csr" in nd.dot.__doc__ and "Storages: the result is default." in nd.cos.__doc__
    for operator in (nd.relu, nd.broadcast_add, nd.arccosh, nd.contrib.quadratic):
        call, shown = operator.__doc__.split("Example\n-------\n>>> ")[1].split("\n", 1)
        assert repr(eval(call, {"nd": nd})) == shown
    counts = dict(mx.name.current()._counter) if hasattr(mx.name.current(), "_counter") else {}
    for operator in {id(o): o for module in (nd.op, nd._internal, nd.contrib, nd.sparse) for o in vars(module).values() if isinstance(o, mx._strop.Operator)}.values():
        assert operator.__doc__ and " Example: " not in operator.__doc__
    assert dict(getattr(mx.name.current(), "_counter", {})) == counts  # nodes that documents make take no names


def test_what_draws_is_found_by_its_name():
    operators = _register.Operators(symbolic=False)
    operators["_internal", "_random_between"] = nd._internal._random_uniform
    operators["_internal", "_random_between_like"] = nd.random.uniform_like
    operators["_internal", "_sample_between"] = nd.elemwise_add
    module = types.SimpleNamespace(make_draw=nd.random.make_draw)
    _register.add_draws(module, operators)
    between = module.between
    assert between.__name__ == "between" and not hasattr(module, "between_like")
    assert list(inspect.signature(between).parameters) == ["low", "high", "shape", "dtype", "more"] and inspect.signature(between).parameters["high"].default == 1
    assert between().shape == (1,) and between(2, 3, (4, 5)).shape == (4, 5) and between(shape=3, dtype="float64", ctx=mx.cpu(1)).context == mx.cpu(1)
    assert between(2, high=3, shape=(100,)).asnumpy().min() >= 2 and between(2, 3, 4, "float64").dtype == np.float64
    out = nd.zeros((6,))
    assert between(2, 3, out=out) is out and out.asnumpy().min() >= 2
    for wrong in (lambda: between(nd.ones((1,)), 3), lambda: between(2, high=nd.ones((1,)))):
        with pytest.raises(AssertionError, match="have to be numbers or NDArrays"):
            wrong()
    with pytest.raises(TypeError, match="low is given twice"):
        between(1, low=2)
    with pytest.raises(TypeError):
        between(1, 2, 3, 4, 5, 6, 7)
    assert place_of("_random_gamma_like") == ("random", "gamma_like") and place_of("_random_gamma") == ("_internal", "_random_gamma")


def place_of(name):
    return _register.place(name)


def test_nodes_that_draw():
    between = sym.random.make_draw("between", sym._internal._random_uniform, None)
    assert between(2, 3, shape=(4,), ctx=mx.cpu()).eval()[0].asnumpy().min() >= 2
    with pytest.raises(ValueError):
        between(sym.var("x"), sym.var("y"))


def test_what_draws_of_arrays_alone():
    call = nd.random.make_draw("pick", None, nd.repeat)  # an operator of an array with parameters
    assert list(inspect.signature(call).parameters)[0] == "data"
    with pytest.raises(TypeError, match="expected data as NDArray"):
        call(3)
    assert mx.random.uniform_like is nd.random.uniform_like
    with pytest.raises(AttributeError):
        mx.random.nothing


def test_a_seed_of_one_context():
    def draw(ctx):
        return [f(shape=(5,), ctx=ctx).asnumpy().tolist() for f in (mx.random.uniform, mx.random.normal)] + [nd.shuffle(nd.arange(20)).asnumpy().tolist()]

    for ctx in (mx.cpu(), mx.cpu(0)):
        mx.random.seed(11, ctx=ctx)
        first = draw(ctx)
        again = draw(ctx)
        mx.random.seed(11, ctx)
        assert draw(ctx) == first != again
    mx.random.seed(11)
    first = draw(mx.cpu())
    mx.random.seed(np.int64(11), ctx="all")
    assert draw(mx.cpu()) == first
    for wrong in ("1", 1.5, None):
        with pytest.raises(ValueError):
            mx.random.seed(wrong)
