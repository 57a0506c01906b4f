# SPDX-License-Identifier: Apache-2.0
"""Operators as functions: where they are, how they are called, what they say."""
import inspect
import pickle
import threading

import numpy as np
import pytest

import strop as mx

nd = mx.nd
X = np.array([[1, -2, 3], [4, 5, -6]], "f4")


def everything():
    return {name: operator for name, operator in vars(nd).items() if type(operator) is mx._strop.Operator}


def test_names_go_where_mxnet_has_them():
    assert nd.FullyConnected and nd.fully_connected and mx.relu is nd.relu and mx.sym.relu is not nd.relu
    assert nd.contrib.quadratic and nd.sparse.relu and nd._internal._plus_scalar and nd.random.uniform_like
    assert nd.op.relu is nd.relu and nd.op.Reshape is nd.Reshape
    assert not [name for name in vars(nd) if name.startswith(("_npi_", "_npx_", "_backward_"))]
    for names in mx._strop.list_operators():
        for name in names:
            where = mx._register.place(name)
            if where is not None:
                module = nd if where[0] == "" else getattr(nd, where[0])
                assert hasattr(module, where[1]), name


def test_calls():
    x = nd.array(X)
    want = X.clip(0, 2)
    for made in (nd.clip(x, 0, 2), nd.clip(data=x, a_min=0, a_max=2), nd.clip(x, a_max="2", a_min="0"), x.clip(0, a_max=2.0),
                 nd.clip(x, np.float32(0), np.int64(2)), mx.clip(x, 0, 2)):
        np.testing.assert_array_equal(made.asnumpy(), want)
    out = nd.zeros((2, 3))
    assert nd.clip(x, 0, 2, out=out) is out and nd.clip(x, 0, 2, out=None) is not out
    np.testing.assert_array_equal(out.asnumpy(), want)
    np.testing.assert_array_equal(nd.relu(x, name="anything").asnumpy(), X.clip(0))


def test_parameters_as_values_and_as_text():
    x = nd.array(X)
    for axis in (1, "1", (1,), [1], "(1,)", np.int64(1)):
        np.testing.assert_array_equal(nd.sum(x, axis=axis).asnumpy(), X.sum(1))
    for axis in (None, (0, 1), "(0, 1)", mx.base._Null):
        np.testing.assert_array_equal(nd.sum(x, axis=axis).asnumpy(), [X.sum()])
    for flag in (True, "True", 1, "1", np.bool_(True)):
        assert nd.sum(x, axis=1, keepdims=flag).shape == (2, 1)
    for dtype in ("int32", np.int32, np.dtype("int32")):
        assert nd.cast(x, dtype=dtype).dtype is np.int32
    for begin in ((0, 1), (None, 1), "(0, 1)", "(None, 1)", [0, 1]):
        np.testing.assert_array_equal(nd.slice(x, begin=begin, end=(2, 3)).asnumpy(), X[:, 1:])


def test_variadic():
    x = nd.array(X)
    want = np.concatenate([X, X, X], 1)
    for made in (nd.concat(x, x, x, dim=1), nd.concat([x, x, x], dim=1), nd.Concat(x, x, x, num_args=3, dim=1), nd.concat((x, x, x), dim=1)):
        np.testing.assert_array_equal(made.asnumpy(), want)
    np.testing.assert_array_equal(nd.add_n(x, x).asnumpy(), X * 2)
    assert nd.stack(x, x, axis=0).shape == (2, 2, 3)


def test_optional_inputs():
    x, w, b = nd.array(X), nd.ones((2, 3)), nd.ones((2,))
    with_bias = nd.FullyConnected(x, w, b, num_hidden=2).asnumpy()
    without = nd.FullyConnected(x, w, num_hidden=2, no_bias=True).asnumpy()
    np.testing.assert_array_equal(with_bias, without + 1)
    np.testing.assert_array_equal(nd.FullyConnected(x, w, None, num_hidden=2, no_bias=True).asnumpy(), without)
    np.testing.assert_array_equal(nd.FullyConnected(weight=w, data=x, num_hidden=2, no_bias=True).asnumpy(), without)
    with pytest.raises(ValueError):
        nd.FullyConnected(x, w, num_hidden=2)
    assert nd.SequenceMask(nd.ones((2, 3)), value=0).shape == (2, 3)
    np.testing.assert_array_equal(nd.SequenceMask(nd.ones((2, 2)), nd.array([1, 2]), use_sequence_length=True).asnumpy(), [[1, 1], [0, 1]])


def test_several_results():
    found = nd.topk(nd.array(X), k=2, ret_typ="both")
    assert isinstance(found, list) and len(found) == 2
    a, b = nd.zeros((2, 2)), nd.zeros((2, 2))
    made = nd.topk(nd.array(X), k=2, ret_typ="both", out=[a, b])
    assert made[0] is a and made[1] is b
    np.testing.assert_array_equal(b.asnumpy(), found[1].asnumpy())


def test_updates_write_their_inputs():
    w, g, m = nd.ones((3,)), nd.ones((3,)), nd.zeros((3,))
    assert nd.sgd_mom_update(w, g, m, lr=0.1, momentum=0.9, out=w) is w
    np.testing.assert_allclose(w.asnumpy(), 0.9)
    np.testing.assert_allclose(m.asnumpy(), -0.1, rtol=1e-6)


@pytest.mark.parametrize(
    "call, kind, said",
    [
        (lambda x: nd.relu(3), TypeError, "expected an NDArray"),
        (lambda x: nd.relu(x, x), TypeError, "got 2 arguments"),
        (lambda x: nd.relu(x, data=x), TypeError, "given twice"),
        (lambda x: nd.relu(x, foo=1), TypeError, "no argument 'foo'"),
        (lambda x: nd.clip(x, 0, 1, a_max=2), TypeError, "given twice"),
        (lambda x: nd.clip(x, 0), TypeError, "'a_max' is missing"),
        (lambda x: nd.clip(x, "low", 1), ValueError, "'a_min' is 'low'"),
        (lambda x: nd.Activation(x, act_type="gelu"), ValueError, "expected one of"),
        (lambda x: nd.sum(x, axis=5), ValueError, "sum"),
        (lambda x: nd.sum(x, axis=1.5), ValueError, "axis"),
        (lambda x: nd.sum(x, axis={}), TypeError, "axis"),
        (lambda x: nd.elemwise_add(x, nd.zeros((4,))), ValueError, "elemwise_add"),
        (lambda x: nd.relu(), ValueError, "relu"),
        (lambda x: nd.cast(x, dtype="complex64"), ValueError, "dtype"),
        (lambda x: nd.relu(x, out=3), TypeError, "'out'"),
        (lambda x: nd.relu(x, out=[x, x]), ValueError, "'out' has 2"),
        (lambda x: nd.relu(x, out=nd.zeros((5,))), ValueError, "relu"),
        (lambda x: nd.concat(x, 3), TypeError, "expected an NDArray"),
    ],
)
def test_failures_are_errors_of_their_kind(call, kind, said):
    with pytest.raises(kind) as raised:
        call(nd.array(X))
    assert isinstance(raised.value, mx.Error) and isinstance(raised.value, mx.base.MXNetError) and said in str(raised.value)


def test_memory():
    with pytest.raises(MemoryError) as raised:
        nd.zeros((1 << 50,))
    assert isinstance(raised.value, mx.Error)


def test_unknown_operators():
    with pytest.raises(AttributeError):
        nd.no_such_operator  # noqa: B018
    with pytest.raises(mx.Error):
        mx._strop.Operator("no_such_operator", "x", False)


def test_every_operator_has_a_signature_and_a_document():
    operators = everything()
    assert len(operators) > 200
    for name, operator in operators.items():
        signature = inspect.signature(operator)
        assert {"out", "name"} <= set(signature.parameters), name
        assert operator.__doc__ and "Types:" in operator.__doc__ and operator.__name__ == name
        assert pickle.loads(pickle.dumps(operator)).__name__ == name
    assert str(inspect.signature(nd.clip)) == "(data: 'NDArray', a_min: 'float', a_max: 'float', *, out=None, name=None) -> 'NDArray'"
    assert str(inspect.signature(nd.sum)) == "(data: 'NDArray', axis: 'tuple | None' = None, keepdims: 'bool' = False, exclude: 'bool' = False, *, out=None, name=None) -> 'NDArray'"
    assert str(inspect.signature(mx.sym.clip)) == "(data: 'Symbol' = None, a_min: 'float' = _Null, a_max: 'float' = _Null, *, out=None, name=None, attr=None, **attributes) -> 'Symbol'"
    assert str(inspect.signature(mx.sym.split)).endswith("-> 'Symbol'") and "data : Symbol" in mx.sym.clip.__doc__
    assert "a_min : double, required" in nd.clip.__doc__ and repr(nd.clip) == "<operator clip>"


@pytest.mark.parametrize("name", ["relu", "sigmoid", "exp", "square", "negative", "abs", "sqrt", "tanh"])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_maps_against_numpy(name, dtype, rng):
    reference = {"relu": lambda a: np.maximum(a, 0), "sigmoid": lambda a: 1 / (1 + np.exp(-a))}.get(name) or getattr(np, name)
    a = rng.uniform(0.1, 2, (3, 5)).astype(dtype)
    made = getattr(nd, name)(nd.array(a, dtype=dtype))
    assert made.dtype is np.dtype(dtype).type
    np.testing.assert_allclose(made.asnumpy(), reference(a.astype("f8")), rtol=2e-3 if dtype == "float16" else 1e-5)


DTYPES = ["float16", "float32", "float64", "uint8", "int8", "int32", "int64"]
REFERENCES = {
    "broadcast_add": np.add, "broadcast_sub": np.subtract, "broadcast_mul": np.multiply, "broadcast_maximum": np.maximum, "broadcast_minimum": np.minimum,
    "broadcast_equal": np.equal, "broadcast_lesser": np.less, "broadcast_greater_equal": np.greater_equal,
    "abs": np.abs, "sign": np.sign, "square": np.square, "floor": np.floor, "rint": np.rint, "sin": np.sin, "arctan": np.arctan, "log1p": np.log1p,
    "transpose": lambda a: a.T, "flatten": lambda a: a, "ones_like": lambda a: np.ones_like(a), "sum": lambda a: np.sum(a, dtype=a.dtype, keepdims=True).reshape(1),
    "max": lambda a: a.max().reshape(1), "argmax": lambda a: np.argmax(a).reshape(1), "sort": lambda a: np.sort(a, -1), "expand_dims": (lambda a: a[None], {"axis": 0}),
    "tile": (lambda a: np.tile(a, (2, 3)), {"reps": (2, 3)}), "repeat": (lambda a: np.repeat(a, 2, 1), {"repeats": 2, "axis": 1}), "clip": (lambda a: a.clip(1, 3), {"a_min": 1, "a_max": 3}),
    "slice_axis": (lambda a: a[:, 1:], {"axis": 1, "begin": 1, "end": None}), "reverse": (lambda a: a[:, ::-1], {"axis": 1}), "stack": lambda a, b: np.stack([a, b]),
    "concat": (lambda a, b: np.concatenate([a, b]), {"dim": 0}), "take": (lambda a, b: a[b.astype(int)], {"mode": "wrap"}), "where": lambda c, a, b: np.where(c != 0, a, b),
    "dot": lambda a, b: a @ b,
}


@pytest.mark.parametrize("name", REFERENCES)
def test_every_type_against_numpy(name, rng):
    reference, params = REFERENCES[name] if isinstance(REFERENCES[name], tuple) else (REFERENCES[name], {})
    operator = getattr(nd, name)
    served = set(operator.description["dtypes"] or DTYPES) & set(DTYPES)
    assert served
    inputs = inspect.signature(reference).parameters if not isinstance(reference, np.ufunc) else "ab"[:reference.nin]
    for dtype in sorted(served):
        arrays = [rng.integers(0, 3, (3, 3)).astype(dtype) for _ in inputs]
        made = operator(*(nd.array(a, dtype=dtype) for a in arrays), **params)
        want = reference(*arrays)
        assert made.shape == want.shape, dtype
        np.testing.assert_allclose(made.asnumpy().astype("f8"), want.astype("f8"), rtol=2e-3 if dtype == "float16" else 1e-6, err_msg=dtype)


def test_random_numbers_follow_from_the_seed():
    draws = []
    for _ in range(2):
        mx.random.seed(7)
        draws.append(np.concatenate([nd.random.uniform(-1, 1, (5,)).asnumpy(), nd.random.normal(0, 1, (5,)).asnumpy(), mx.random.randint(0, 9, (5,)).asnumpy()]))
    np.testing.assert_array_equal(*draws)
    assert nd.random.uniform(0, 1, dtype="float64").dtype is np.float64 and nd.random.randn(2, 3).shape == (2, 3)
    out = nd.zeros((1000,))
    assert nd.random.normal(3, 0.5, out=out) is out and abs(out.mean().asscalar() - 3) < 0.1
    assert abs(nd.random.exponential(2, shape=(4000,)).mean().asscalar() - 2) < 0.3
    for made, mean in ((nd.random.gamma(3, 2, shape=(4000,)), 6), (nd.random.poisson(20, shape=(4000,)), 20), (nd.random.negative_binomial(4, 0.5, shape=(4000,)), 4),
                       (nd.random.generalized_negative_binomial(4, 0.5, shape=(4000,)), 4)):
        assert made.shape == (4000,) and abs(made.mean().asscalar() - mean) < 0.5
    of_each = nd.random.poisson(nd.array([1, 50]), shape=(2000,))
    assert of_each.shape == (2, 2000) and abs(of_each.asnumpy().mean(axis=1) - [1, 50]).max() < 1.5
    assert sorted(nd.random.shuffle(nd.arange(10)).asnumpy()) == list(range(10))
    mx.random.seed(3, ctx=mx.cpu())


def test_large_calls_are_asynchronous_and_waited_for():
    x = nd.ones((1 << 20,))
    for _ in range(10):
        x = x + 1
    assert x.asnumpy()[-1] == 11
    x.wait_to_read()
    mx.nd.waitall()
    y = nd.zeros((1 << 20,))
    y += x
    assert float(y[0]) == 11


def test_what_fails_on_the_way_is_raised_where_somebody_looks():
    x, outside = nd.ones((1 << 19,)), nd.full((1 << 19,), 1 << 20)
    y = nd.take(x, outside, mode="raise")
    z = y + 1
    for look in (y.asnumpy, y.wait_to_read, lambda: np.asarray(z), lambda: float(y[3]), lambda: nd.to_dlpack_for_read(z), lambda: repr(z)):
        with pytest.raises(mx.Error, match="take: position 1048576 is outside"):
            look()
    with pytest.raises(mx.Error, match="take"):
        mx.nd.waitall()
    mx.nd.waitall()  # each is raised once
    y[:] = 3
    assert float(y[3]) == 3 and np.asarray(x)[0] == 1


def test_threads():
    failures = []

    def work(k):
        try:
            a = nd.full((1 << 12,), k)
            for _ in range(300):
                b = nd.square(a) + k
            assert b.asnumpy()[5] == k * k + k
            big = nd.full((1 << 19,), k)
            assert (big + big).asnumpy()[-1] == 2 * k
        except Exception as failure:  # pylint: disable=broad-except
            failures.append(failure)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_loops_and_branches():
    nd, contrib = mx.nd, mx.nd.contrib
    x = nd.arange(3)
    x.attach_grad()
    with mx.autograd.record():
        outputs, state = contrib.foreach(lambda d, s: (d * s, s + d), x, nd.ones((1,)))
        loss = outputs.sum() + state
    loss.backward()
    np.testing.assert_array_equal(outputs.asnumpy(), [[0], [1], [4]])
    np.testing.assert_array_equal(x.grad.asnumpy(), [5, 4, 3])
    (sums,), last = contrib.while_loop(lambda i, s: i <= 2, lambda i, s: ([i + s], [i + 1, s + i]), (nd.array([0]), nd.array([1])), max_iterations=5)
    np.testing.assert_array_equal(sums.asnumpy(), [[1], [2], [4], [0], [0]])
    assert [int(a) for a in last] == [3, 4]
    assert int(contrib.cond(nd.array([0]), lambda: nd.ones((1,)), lambda: nd.full((1,), 2))) == 2
    odd = nd.array([1, float("nan"), float("-inf")])
    assert [f(odd).asnumpy().tolist() for f in (contrib.isnan, contrib.isinf, contrib.isfinite)] == [[0, 1, 0], [0, 0, 1], [1, 0, 0]]


def test_a_list_that_changes_during_the_call():
    arrays = [nd.ones((2,)) for _ in range(5)]

    class Emptying:
        def __index__(self):
            arrays.clear()
            return 0

    assert nd.concat(arrays, dim=Emptying()).shape == (10,)
    assert arrays == []


def test_a_list_that_contains_itself_is_no_parameter():
    axes = []
    axes.append(axes)
    with pytest.raises(RecursionError):
        nd.sum(nd.ones((2,)), axis=axes)


def test_a_symbol_without_an_object():
    with pytest.raises(TypeError):
        mx.sym.relu(mx.sym.Symbol.__new__(mx.sym.Symbol))


def hawkes(lda, alpha, beta, state, lags, marks, valid_length, max_time):
    """(log likelihood, state at the end) of one history, event by event."""
    state, last, now, total = state.copy(), np.zeros(len(alpha)), 0.0, 0.0
    for lag, k in list(zip(lags, marks))[:int(valid_length)]:
        now += lag
        decay = np.exp(-beta[k] * (now - last[k]))
        total += np.log(lda[k] + alpha[k] * beta[k] * state[k] * decay) - lda[k] * (now - last[k]) - alpha[k] * state[k] * (1 - decay)
        state[k], last[k] = 1 + state[k] * decay, now
    decay = np.exp(-beta * (max_time - last))
    return total - np.sum(lda * (max_time - last) + alpha * state * (1 - decay)), state * decay


def test_hawkesll():
    rng = np.random.default_rng(3)
    lda, alpha, beta = rng.uniform(0.2, 2, (3, 2)), rng.uniform(0.2, 1, 2), rng.uniform(0.5, 2, 2)
    lda[1, 1] = 0  # of what never happens
    state, lags, marks = rng.uniform(0, 1, (3, 2)), rng.uniform(0, 2, (3, 5)), np.array([[0, 1, 1, 0, 1], [0, 0, 0, 1, 1], [1, 0, 1, 0, 0]])
    state[1, 1] = 0
    known = [state, lags, marks, np.array([0.0, 3, 5]), np.array([20.0, 25, 30])]

    def expected(*params):
        rows = [hawkes(params[0][n], *params[1:], *(part[n] for part in known)) for n in range(3)]
        return np.array([row[0] for row in rows]), np.array([row[1] for row in rows])

    given = [nd.array(part, dtype="float64") for part in (lda, alpha, beta)]
    for part in given:
        part.attach_grad()
    rest = [nd.array(part, dtype="int32" if part is marks else "float64") for part in known]
    with mx.autograd.record():
        made, states = nd.contrib.hawkesll(*given, *rest)
    made.backward()
    for found, want in zip((made, states), expected(lda, alpha, beta)):
        np.testing.assert_allclose(found.asnumpy(), want)
    for i, part in enumerate((lda, alpha, beta)):
        for at in np.ndindex(part.shape):
            step = [np.array(p) for p in (lda, alpha, beta)]
            step[i][at] += 1e-6
            slope = (expected(*step)[0].sum() - made.asnumpy().sum()) / 1e-6
            np.testing.assert_allclose(given[i].grad.asnumpy()[at], slope, rtol=1e-4, atol=1e-4)
    with pytest.raises(ValueError, match=r"hawkesll: beta has shape \(3,\), expected \(2,\)"):
        nd.contrib.hawkesll(given[0], given[1], nd.ones((3,)), *rest)


def test_no_repetition_leaves_no_elements():
    x = nd.array([[1, 2, 3], [4, 5, 6]])
    for reps in ((0,), (2, 0), (0, 1), (0, 2, 1), 0):
        want = np.tile(x.asnumpy(), reps)
        assert nd.tile(x, reps=reps).shape == want.shape == mx.sym.tile(mx.sym.var("x"), reps=reps).bind(mx.cpu(), {"x": x}).forward()[0].shape
    x.attach_grad()
    with mx.autograd.record():
        y = nd.tile(x, reps=(0, 1)).sum() + nd.repeat(x, repeats=0).sum() + nd.tile(x, reps=(2, 1)).sum()
    y.backward()
    assert x.grad.asnumpy().tolist() == [[2, 2, 2], [2, 2, 2]]
    with pytest.raises(ValueError, match="tile: parameter 'reps' has a repetition of -1, expected 0 or more"):
        nd.tile(x, reps=(-1,))


@pytest.mark.parametrize("positions", [[1, 7], [-1, 0]])
def test_a_sparse_gradient_of_embedding_refuses_positions_outside(positions):
    """Its rows are numbered by what data says; the dense one is of the rows that forward has moved them to."""
    def gradient(sparse):
        weight = nd.ones((4, 2))
        weight.attach_grad(stype="row_sparse" if sparse else None)
        with mx.autograd.record():
            y = nd.Embedding(nd.array(positions), weight, input_dim=4, output_dim=2, sparse_grad=sparse)
        y.backward()
        return weight.grad.asnumpy()

    assert gradient(False).sum() == 4
    with pytest.raises(IndexError, match=f"embedding: position {positions[0] if positions[0] < 0 else positions[1]} is outside an axis of extent 4"):
        gradient(True)
    net = mx.sym.Embedding(mx.sym.var("i"), mx.sym.var("w"), input_dim=4, output_dim=2, sparse_grad=True)
    run = net.bind(mx.cpu(), {"i": nd.array(positions), "w": nd.ones((4, 2))}, {"w": nd.sparse.zeros("row_sparse", (4, 2))}, {"i": "null", "w": "write"})
    run.forward(is_train=True)
    with pytest.raises(IndexError, match="embedding: position"):
        run.backward(nd.ones((2, 2)))
