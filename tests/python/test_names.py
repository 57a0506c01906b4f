# SPDX-License-Identifier: Apache-2.0
"""What public names say of themselves: their modules, their documents; what the registry has that draws, by its names."""
import inspect
import pickle
import sys
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


def test_documents_are_of_python():
    counts = dict(mx.name.current()._counter) if hasattr(mx.name.current(), "_counter") else {}
    for operator in {id(o): o for module in (nd.op, nd._internal, nd.contrib, nd.sparse) for o in vars(module).values() if isinstance(o, mx._strop.Operator)}.values():
        assert operator.__doc__ and " Example: " not in operator.__doc__
    assert dict(getattr(mx.name.current(), "_counter", {})) == counts  # nodes that documents make take no names


def test_what_draws_is_found_by_its_name():
    operators = _register.Operators(symbolic=False)
    operators["_internal", "_random_between"] = nd._internal._random_uniform
    operators["_internal", "_random_between_like"] = nd.random.uniform_like
    operators["_internal", "_sample_between"] = nd.elemwise_add
    module = types.SimpleNamespace(make_draw=nd.random.make_draw, __all__=[])
    _register.add_draws(module, operators)
    between = module.between
    assert module.__all__ == ["between"]
    assert between.__name__ == "between" and not hasattr(module, "between_like")
    assert list(inspect.signature(between).parameters) == ["low", "high", "shape", "dtype", "more"] and inspect.signature(between).parameters["high"].default == 1
    assert between().shape == (1,) and between(2, 3, (4, 5)).shape == (4, 5) and between(shape=3, dtype="float64", ctx=mx.cpu(1)).context == mx.cpu(1)
    assert between(2, high=3, shape=(100,)).asnumpy().min() >= 2 and between(2, 3, 4, "float64").dtype == np.float64
    out = nd.zeros((6,))
    assert between(2, 3, out=out) is out and out.asnumpy().min() >= 2
    for wrong in (lambda: between(nd.ones((1,)), 3), lambda: between(2, high=nd.ones((1,)))):
        with pytest.raises(AssertionError, match="random.between: low, high have to be numbers or NDArrays, not both"):
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


def test_star_imports_have_all_that_draws():
    names = {"gamma", "poisson", "negative_binomial", "generalized_negative_binomial", "uniform", "multinomial", "randn", "shuffle"}
    for module in ("strop.random", "strop.ndarray.random", "strop.symbol.random"):
        space = {}
        exec(f"from {module} import *", space)
        assert names <= set(space) and names <= set(dir(sys.modules[module]))
        assert space["gamma"] is getattr(sys.modules[module], "gamma")


def test_documents_say_that_arrays_are_taken():
    assert "Where alpha, beta are NDArrays, so many of each of their elements." in nd.random.gamma.__doc__
    assert "Where lam are" not in nd.random.poisson.__doc__ and "Where lam is" in sym.random.poisson.__doc__
    assert "NDArrays" not in nd.random.make_draw("between", nd._internal._random_uniform, None).__doc__


def test_crop_is_slice():
    x = nd.arange(6).reshape((2, 3))
    assert nd.crop(x, begin=(0, 1), end=(2, 3)).asnumpy().tolist() == [[1, 2], [4, 5]] and sym.crop.description["name"] == "slice"
    assert nd.Crop.description["name"] == "Crop" and "crop," not in nd.Crop.__doc__


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


def test_a_seed_of_a_context_is_that_of_what_is_drawn_there():
    probabilities = [0.2, 0.3, 0.5]

    def draw(ctx):
        weights = nd.array(probabilities, ctx=ctx)
        drawn = [mx.random.uniform(shape=9, ctx=ctx), mx.random.normal(shape=(9,), ctx=ctx, dtype="float64"), mx.random.randint(0, 99, (9,), ctx=ctx),
                 mx.random.gamma(2, shape=(9,), ctx=ctx), mx.random.multinomial(weights, shape=9), mx.random.poisson(weights, shape=9)]
        assert all(a.context == ctx for a in drawn) and [np.dtype(a.dtype).name for a in drawn[:3]] == ["float32", "float64", "int32"]
        return [a.asnumpy().tolist() for a in drawn]

    made = []
    for ctx in (mx.cpu(0), mx.cpu(1)):
        mx.random.seed(8)
        mx.random.seed(1234, ctx=ctx)
        made.append(draw(ctx))
    assert made[0] == made[1]
    mx.random.seed(1234, ctx=mx.cpu(1))
    draw(mx.cpu(0))
    assert draw(mx.cpu(1)) == made[1]
    with mx.cpu(1):
        mx.random.seed(1234, ctx=mx.cpu(1))
        assert mx.random.uniform(shape=9).asnumpy().tolist() == made[1][0]
    assert mx.random.uniform(shape="9", ctx=mx.cpu(1)).shape == (9,)


@pytest.mark.parametrize("ctx", [mx.cpu(0), mx.cpu(1)])
def test_what_is_drawn_may_be_said_in_texts(ctx):
    for shape, extents in (("(2,3)", (2, 3)), ("[4]", (4,)), ("9", (9,)), (None, (1,)), ((), (1,))):
        assert nd.random.normal(shape=shape, ctx=ctx).shape == extents
    assert nd.random.gamma(2, dtype="None", ctx=ctx).dtype == np.float32 and nd.random.randint(0, 9, dtype="None", ctx=ctx).dtype == np.int32
    assert nd.random.randint(0, 9, dtype="int64", ctx=ctx).dtype == np.int64
    for shape in ("nine", "(2,3.5)", 2.5):
        with pytest.raises(ValueError, match="parameter 'shape' is"):
            nd.random.uniform(shape=shape, ctx=ctx)
    with mx.name.Prefix("net_"):  # no node is counted
        drawn = nd.random.uniform(shape=2, ctx=ctx)
        assert drawn.context == ctx and sym.random.uniform(shape=2).name == "net__random_uniform0"


def test_what_is_made_of_no_array_is_where_ctx_says():
    elsewhere, made = mx.cpu(1), nd._internal
    for array, shape in ((nd.random_uniform(shape=(2,), ctx=elsewhere), (2,)), (nd.random_randint(0, 9, (3,), "cpu(1)"), (3,)), (made._zeros(shape=(2, 3), ctx="cpu(1)"), (2, 3)),
                         (made._full(shape=(2,), value=3, ctx=elsewhere), (2,)), (made._arange(start=0, stop=4, ctx=elsewhere), (4,)), (made._eye(N=2, ctx=elsewhere), (2, 2))):
        assert array.context == elsewhere and array.asnumpy().shape == shape
    drawn = []
    for draw in (nd.random_normal, nd.random.normal):  # the context's own numbers
        mx.random.seed(3, ctx=elsewhere)
        drawn.append(draw(shape=(4,), ctx=elsewhere).asnumpy().tolist())
    assert drawn[0] == drawn[1]
    assert nd.random_uniform(shape=(2,), ctx=mx.cpu(0)).context == mx.cpu(0) and nd.random_uniform(ctx=elsewhere, out=nd.zeros((2,))).context == mx.cpu(0)
    with elsewhere:
        assert nd.random_uniform(shape=(2,)).context == mx.cpu(0)  # as in MXNet: an operator called by name looks at ctx alone
    for ctx, sentence in (("gpu(0)", "has no GPU"), ("nonsense", "'nonsense' is no context")):
        with pytest.raises(ValueError, match=sentence):
            nd.random_uniform(shape=(2,), ctx=ctx)


def test_what_is_drawn_has_the_shape_and_type_of_out():
    out = nd.zeros((2, 3), ctx=mx.cpu(1))
    assert nd.random.uniform(1, 2, shape=(2, 3), dtype="float32", out=out) is out and out.asnumpy().min() >= 1
    assert nd.random.gamma(2, out=out) is out and nd.random.randint(0, 9, out=nd.zeros((2,), dtype="int64")).dtype == np.int64
    for draw in (nd.random.uniform, nd.random.gamma):
        for more in ({"shape": (3, 2)}, {"dtype": "float64"}):
            with pytest.raises(ValueError):
                draw(out=out, **more)


def test_numbers_for_each_element_of_arrays():
    a, b = nd.array([[1, 4], [9, 16]]), nd.array([[2, 1], [1, 0.5]])
    drawn = nd.random.gamma(a, b, shape=(3000,))
    assert drawn.shape == (2, 2, 3000) and abs(drawn.asnumpy().mean(axis=2) / (a * b).asnumpy() - 1).max() < 0.15
    assert nd.random.gamma(a, b).shape == (2, 2) and nd.random.poisson(nd.array([3.0]), shape=2, dtype="float64").dtype == np.float64
    out = nd.zeros((2, 2))
    assert nd.random.negative_binomial(nd.array([[1, 2], [3, 4]]), nd.ones((2, 2)) * 0.5, out=out) is out
    for wrong in (lambda: nd.random.gamma(a, 1), lambda: nd.random.gamma(a, b[0])):
        with pytest.raises(ValueError):
            wrong()
    for name, arrays in (("uniform", (a, a + 1)), ("normal", (a, b)), ("gamma", (a, b)), ("exponential", (a,)), ("poisson", (a,)), ("negative_binomial", (a, b / 4)),
                         ("generalized_negative_binomial", (a, b))):
        sample = getattr(nd, f"sample_{name}")
        assert sample(*arrays).shape == (2, 2) and sample(*arrays, shape=3).shape == (2, 2, 3)
        symbols = [sym.var("xy"[i]) for i in range(len(arrays))]
        drawn = (symbols[0] + 0, 1 / symbols[0])[name == "exponential"], *symbols[1:]
        for node in (getattr(sym.random, name)(*drawn, shape=(3, 2), dtype="float64", name="z"), getattr(sym, f"sample_{name}")(*symbols, shape=(3, 2), dtype="float64", name="z")):
            assert node.list_outputs() == ["z_output"] and node.get_internals().list_outputs()[-1] == "z_output"
            run = node.bind(mx.cpu(), dict(zip("xy", arrays)), grad_req="null")
            assert run.forward()[0].shape == (2, 2, 3, 2) and run.outputs[0].dtype == np.float64
            assert node.infer_shape(x=(2, 2))[0] == [(2, 2)] * len(arrays)
        if len(arrays) == 2:
            with pytest.raises(AssertionError):
                getattr(sym.random, name)(sym.var("x"), 1)
        mx.random.seed(7)
        single = getattr(nd.random, name)(*arrays, shape=(50,))
        mx.random.seed(7)
        assert np.array_equal(getattr(nd.random, name)(*arrays, shape=(50,)).asnumpy(), single.asnumpy()) and single.dtype == np.float32
    node = sym.random.randn(loc=1, data=sym.ones((4, 5)), name="z")  # which is passed over, as in MXNet
    assert node.list_arguments() == [] and (node + sym.var("x")).infer_shape(x=(2, 3))[1] == [(2, 3)]
    assert not hasattr(nd.NDArray, "sample_uniform")
    assert abs(nd.sample_exponential(lam=nd.array([4.0]), shape=(4000,)).asnumpy().mean() - 0.25) < 0.05
    with pytest.raises(ValueError, match="_sample_gamma: alpha or beta is not above 0 at position 1"):
        nd.random.gamma(nd.array([1.0, 0]), nd.ones((2,))).wait_to_read()
    with pytest.raises((TypeError, ValueError), match="takes 2 inputs"):
        nd.sample_normal(a)
    assert nd.sample_normal(a, b, ()).shape == (2, 2) and nd.sample_normal(a, b, 3, "float64").dtype == np.float64
    assert nd.sample_normal(a, sigma=b, shape=(3,), out=nd.zeros((2, 2, 3))).shape == (2, 2, 3)


def test_positions_by_their_probabilities():
    rows = nd.array([[0, 0.1, 0, 0.9], [2, 2, 0, 0]])
    mx.random.seed(5)
    drawn = nd.random.multinomial(rows, shape=(50, 40))
    mx.random.seed(5)
    assert (drawn == mx.random.multinomial(rows, (50, 40))).asnumpy().all() and drawn.shape == (2, 50, 40) and drawn.dtype == np.int32
    shares = np.stack([np.bincount(row.ravel(), minlength=4) / 2000 for row in drawn.asnumpy()])
    assert abs(shares - [[0, 0.1, 0, 0.9], [0.5, 0.5, 0, 0]]).max() < 0.05 and (shares[[0, 0, 1, 1], [0, 2, 2, 3]] == 0).all()
    assert nd.random.multinomial(rows).shape == (2,) and nd.random.multinomial(rows[0]).shape == (1,) and nd.sample_multinomial(rows[0], shape=3, dtype="int64").dtype == np.int64
    rows.attach_grad()
    with mx.autograd.record():
        places, logs = nd.random.multinomial(rows, shape=3, get_prob=True)
    logs.backward()
    want = np.zeros((2, 4))
    np.add.at(want, (np.arange(2)[:, None], places.asnumpy()), 1)
    np.testing.assert_allclose(rows.grad.asnumpy(), np.where(want, want / np.maximum(rows.asnumpy(), 1e-9), 0), rtol=1e-5)
    node = sym.random.multinomial(sym.var("rows"), shape=(2, 3), name="z")  # which gives both, as in MXNet
    assert len(node.list_outputs()) == 2 and node.infer_shape(rows=(4, 5))[1] == [(4, 2, 3)] * 2 and node.infer_type(rows="float64")[1] == [np.int32, np.float64]
    assert sym.random.multinomial(sym.var("rows"), get_prob=False, name="z").infer_shape(rows=(5,))[1] == [(1,)]
    run = node.simple_bind(mx.cpu(), rows=(2, 4))
    places, logs = run.forward(is_train=True, rows=rows)
    run.backward([nd.zeros(places.shape, dtype="int32"), nd.ones(logs.shape)])
    want = np.zeros((2, 4))
    np.add.at(want, (np.arange(2)[:, None, None], places.asnumpy()), 1)
    np.testing.assert_allclose(run.grad_dict["rows"].asnumpy(), np.where(want, want / np.maximum(rows.asnumpy(), 1e-9), 0), rtol=1e-5)
    assert nd.random.multinomial(nd.ones((2, 3, 4)), shape=5).shape == (2, 3, 5)
    for wrong in (nd.zeros((0,)), nd.zeros((2,)), nd.array([1, -1]), nd.array([1, np.nan])):
        with pytest.raises(ValueError):
            nd.random.multinomial(wrong)
    with pytest.raises(TypeError):
        nd.random.multinomial([0.5, 0.5])
