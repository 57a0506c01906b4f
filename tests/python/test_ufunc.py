# SPDX-License-Identifier: Apache-2.0
"""Maps as ufuncs of NumPy: beside the operators' own results, bit by bit, and beside NumPy's ufuncs of the same formula."""
import concurrent.futures
import copy
import gc
import pickle
import warnings

import numpy as np
import pytest

import strop as mx
import strop.numpy

ufunc = strop.numpy.ufunc
KINDS = ["float16", "float32", "float64", "uint8", "int8", "int32", "int64", "bool"]


def maps():
    """Every map that is a ufunc, with parameters of its example."""
    for names in mx._strop.list_operators():
        operator = mx._strop.Operator(names[0], names[0], False)
        about = operator.description
        if not about["map"] or not about["inputs"] or any(i["written"] for i in about["inputs"]):
            continue
        example = (operator.card["example"] or {"params": {}})["params"]
        if all(p["name"] in example or not p["required"] for p in about["params"]):
            yield names[0], example


def operands(count, dtype, size=531):
    rng = np.random.default_rng(3)
    if dtype == "bool":
        return [rng.random(size) < 0.5 for _ in range(count)]
    return [rng.uniform(0 if dtype == "uint8" else -4, 5, size).astype(dtype) for _ in range(count)]


def same(a, b):
    assert a.dtype == b.dtype and a.shape == b.shape
    assert a.tobytes() == b.tobytes() or np.array_equal(a, b, equal_nan=a.dtype.kind == "f")


@pytest.mark.parametrize(("name", "params"), list(maps()), ids=lambda v: v if isinstance(v, str) else "")
def test_gives_what_the_operator_gives(name, params):
    """In every type of the operator; elements that lie apart, backwards or are one for all change no bit."""
    made = ufunc(name, **params)
    operator = mx._strop.Operator(name, name, False)
    about = operator.description
    assert made.nin == len(about["inputs"]) and made.__name__ == about["snake"] and (about["doc"] or "") in made.__doc__
    served = [dtype for dtype in about["dtypes"] or KINDS if dtype in KINDS]
    assert served
    for dtype in served:
        arrays = [a.astype("int32") if i["whole"] else a for a, i in zip(operands(made.nin, dtype), about["inputs"])]
        expected = operator(*[mx.nd.array(a, dtype=a.dtype) for a in arrays], **params)
        expected = [e.asnumpy() for e in (expected if isinstance(expected, list) else [expected])]
        with np.errstate(all="ignore"):
            whole = made(*arrays)
            apart = made(*[np.repeat(a, 3)[::3] for a in arrays])
            turned = made(*[a[::-1].copy()[::-1] for a in arrays])
            one = made(*[a if k == 0 else a[7] for k, a in enumerate(arrays)])
            filled = made(*[a if k == 0 else np.full_like(a, a[7]) for k, a in enumerate(arrays)])
        listed = [r if isinstance(r, tuple) else (r,) for r in (whole, apart, turned, one, filled)]
        for k, e in enumerate(expected):
            same(listed[0][k], e)
            same(listed[1][k], e)
            same(listed[2][k], e)
            same(listed[3][k], listed[4][k])


PAIRS = [("exp", np.exp), ("log", np.log), ("tanh", np.tanh), ("broadcast_add", np.add), ("broadcast_mul", np.multiply), ("broadcast_maximum", np.maximum),
         ("broadcast_hypot", np.hypot)]


@pytest.mark.parametrize(("name", "own"), PAIRS, ids=[name for name, _ in PAIRS])
def test_behaves_as_numpys_of_the_same_formula(name, own):
    made = ufunc(name)
    assert type(made) is np.ufunc and (made.nin, made.nout) == (own.nin, own.nout)
    rng = np.random.default_rng(1)
    x = rng.uniform(0.5, 3, (7, 1, 5)).astype("f4")
    args = [x, rng.uniform(0.5, 3, (4, 5)).astype("f4")][:made.nin]
    np.testing.assert_allclose(made(*args), own(*args), rtol=1e-6)
    shape = own(*args).shape
    where = rng.random(shape) < 0.5
    ours, theirs = np.full(shape, 9, "f8"), np.full(shape, 9, "f8")
    assert made(*args, out=ours, where=where) is ours
    own(*args, out=theirs, where=where)
    np.testing.assert_allclose(ours, theirs, rtol=1e-6)
    assert made(*args, dtype="f8").dtype == own(*args, dtype="f8").dtype == np.float64
    for dtype in ("f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4"):
        some = [np.array([1, 2], dtype)] * made.nin
        a, b = made(*some).dtype, own(*some).dtype
        assert a == b or "i->i" in made.types or "ii->i" in made.types  # which stay integers here
    assert made(*[np.float32(1)] * made.nin).dtype == np.float32  # a scalar in, a scalar out
    assert np.isscalar(made(*[2.0] * made.nin))
    with pytest.raises(TypeError):
        made(*[np.array(["a"])] * made.nin)
    with pytest.raises(TypeError, match="casting|Cannot cast"):
        made(*args, out=np.empty(shape, "i4"))


def test_reduces_accumulates_and_makes_outer_products():
    x = np.arange(1, 13, dtype="f8").reshape(3, 4)
    for name, own in [("broadcast_add", np.add), ("broadcast_mul", np.multiply), ("broadcast_maximum", np.maximum), ("broadcast_minimum", np.minimum)]:
        made = ufunc(name)
        assert made.identity == own.identity
        for axis in (0, 1, None, (0, 1)):
            np.testing.assert_array_equal(made.reduce(x, axis=axis), own.reduce(x, axis=axis))
        for axis in (0, 1):
            np.testing.assert_array_equal(made.accumulate(x, axis=axis), own.accumulate(x, axis=axis))
            np.testing.assert_array_equal(made.reduceat(x, [0, 2], axis=axis), own.reduceat(x, [0, 2], axis=axis))
        np.testing.assert_array_equal(made.outer(x[0], x[1]), own.outer(x[0], x[1]))
        np.testing.assert_array_equal(made.reduce(x[:, ::2], where=x[:, ::2] > 2, initial=1), own.reduce(x[:, ::2], where=x[:, ::2] > 2, initial=1))
    minus = ufunc("broadcast_sub")  # no identity, and the order counts
    assert minus.identity is None
    np.testing.assert_array_equal(minus.reduce(x, axis=0), np.subtract.reduce(x, axis=0))
    np.testing.assert_array_equal(minus.accumulate(x[0]), np.subtract.accumulate(x[0]))
    with pytest.raises(ValueError, match="reorderable"):
        minus.reduce(x, axis=(0, 1))
    with pytest.raises(ValueError):
        ufunc("exp").reduce(x)
    total = np.zeros(3)
    ufunc("broadcast_add").at(total, [0, 2, 2], 1.5)
    assert total.tolist() == [1.5, 0, 3]


def test_long_reductions_go_by_blocks():
    rng = np.random.default_rng(6)
    add, largest, hypot = ufunc("broadcast_add"), ufunc("broadcast_maximum"), ufunc("broadcast_hypot")
    for size in (5, 512, 1023, 1024, 1025, 4097, 100_003):
        x = rng.integers(-50, 50, size)
        for kind in ("i1", "i4", "i8", "f4", "f8"):
            y = x.astype(kind)
            assert add.reduce(y) == np.add.reduce(y, dtype=kind) and largest.reduce(y[::-2]) == y[::-2].max()  # sums that are exact
            assert add.reduce(y, initial=7) == np.add.reduce(y, dtype=kind, initial=7)
        assert add.reduce(np.full((3, size), 2.0 ** -10, "f2"), axis=1).tolist() == [np.float16(size / 1024)] * 3  # added up in float32
    tenth = np.full(1 << 20, 0.1, "f4")
    assert abs(float(add.reduce(tenth)) / (0.1 * (1 << 20)) - 1) < 1e-6
    assert hypot.reduce(np.array([3, 4, 12, 84, 0, 0])) == 85  # each result is an integer of the operator
    with np.errstate(over="raise"), pytest.raises(FloatingPointError, match="overflow encountered in reduce"):
        add.reduce(np.full(2000, 3e38, "f4"))
    special = rng.normal(size=5000).astype("f4")
    special[4000] = np.nan
    with np.errstate(all="raise"):
        assert np.isnan(add.reduce(special))


def test_results_that_overlap_operands():
    x = np.arange(64, dtype="f4") / 8
    expected = np.exp(x[:-1])
    shifted = x.copy()
    ufunc("exp")(shifted[:-1], out=shifted[1:])
    np.testing.assert_allclose(shifted[1:], expected, rtol=1e-6)
    for kind in ("f2", "f4", "f8"):
        y = np.linspace(-1, 2, 3000).astype(kind)
        own = ufunc("tanh")(y)
        ufunc("tanh")(y, out=y)
        same(y, own)


def test_follows_numpys_error_state():
    log, exp = ufunc("log"), ufunc("exp")
    cases = [(log, -1.0, "invalid"), (log, 0.0, "divide"), (exp, 1000.0, "over"), (ufunc("rsqrt"), 0.0, "divide"),
             (exp, np.float16(12), "over"), (exp, np.float32(100), "over"), (ufunc("arctanh"), 1.0, "divide")]
    for f, value, kind in cases:
        at = np.full(5000, 0.5, np.asarray(value).dtype)
        at[4321] = value
        with np.errstate(all="ignore", **{kind: "raise"}), pytest.raises(FloatingPointError, match="encountered in"):
            f(at)
        with np.errstate(**{"all": "raise", kind: "ignore"}):
            f(at)
    with np.errstate(all="raise"):  # what was NaN or infinite before is no news
        f = ufunc("smooth_l1")
        assert np.isnan(f(np.float64("nan"))) and f(np.float64("inf")) == np.inf and exp(np.array(-np.inf)) == 0
        large = np.full(200_000, np.nan, "f4")  # on several threads
        assert np.isnan(log(large)).all()
    with np.errstate(all="ignore", invalid="raise"), pytest.raises(FloatingPointError):
        large[:] = 1
        large[150_000] = -1
        log(large, out=large)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        log(np.array([0.0, -1]))
    assert sorted(str(w.message) for w in heard) == ["divide by zero encountered in log", "invalid value encountered in log"]


def test_large_arrays_and_threads():
    x = np.random.default_rng(0).normal(size=300_001).astype("f4")
    f = ufunc("smooth_l1", scalar=2.0)
    expected = np.concatenate([f(part) for part in np.array_split(x, 50)])
    same(f(x), expected)
    same(f(x[::-1])[::-1], expected)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for made in pool.map(f, [x] * 12):
            same(made, expected)


def test_parameters_are_bound_and_checked():
    f = ufunc("smooth_l1", scalar=2.0)
    x = np.linspace(-1, 1, 9)
    np.testing.assert_allclose(f(x), np.where(np.abs(x) < 0.25, 2 * x * x, np.abs(x) - 0.125))
    assert "scalar is 2 here" in f.__doc__
    np.testing.assert_array_equal(ufunc("clip", a_min=-0.5, a_max="0.25")(x), np.clip(x, -0.5, 0.25))
    for name, params, kind, sentence in [
            ("smooth_l2", {}, ValueError, "no operator 'smooth_l2'"), ("smooth_l1", {"scaler": 1}, TypeError, "smooth_l1: no argument 'scaler'; nearest: scalar"),
            ("smooth_l1", {"scalar": "x"}, ValueError, "smooth_l1: parameter 'scalar' is 'x', expected a double"),
            ("clip", {"a_min": 1}, ValueError, "clip: parameter 'a_max'"), ("dot", {}, TypeError, "dot does not work element by element")]:
        with pytest.raises(kind, match=sentence):
            ufunc(name, **params)
    with pytest.raises(AttributeError):
        f.scalar


def test_is_written_by_pickle_and_ends_with_its_last_owner():
    f = ufunc("smooth_l1", scalar=2.5)
    x = np.linspace(-2, 2, 50)
    for again in (pickle.loads(pickle.dumps(f)), copy.deepcopy(f)):
        same(again(x), f(x))
    assert pickle.loads(pickle.dumps(np.sin)) is np.sin
    for k in range(200):  # what NumPy refers to lives as long as the ufunc, and no longer
        f = ufunc("smooth_l1", scalar=k + 1.0)
        bound = f.at
        del f
        gc.collect(0)
        y = x.copy()
        bound(y, slice(None))
        same(y, ufunc("smooth_l1", scalar=k + 1.0)(x))
