# SPDX-License-Identifier: Apache-2.0
"""Operators as functions of JAX: the operators' own bits, JAX's own check of derivatives, and its transformations."""
import concurrent.futures
import pathlib
import shutil
import subprocess
import textwrap

import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="jax is not installed")
pytest.importorskip("jax.ffi", reason="this jax has no jax.ffi")
jax.config.update("jax_platforms", "cpu")
import jax.numpy as jnp  # noqa: E402
from jax.test_util import check_grads  # noqa: E402

import strop as mx  # noqa: E402
import strop.jax  # noqa: E402

op = strop.jax.op


@pytest.fixture(autouse=True)
def _wide():
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


def examples():
    """(name, parameters, shapes) of every operator whose example JAX can call on plain numbers."""
    for names in mx._strop.list_operators():
        operator = mx._strop.Operator(names[0], names[0], False)
        about, example = operator.description, operator.card["example"]
        if example is None or not example["inputs"] or "float64" not in (about["dtypes"] or ["float64"]):
            continue
        if any(i["storage"] != "dense" or i["positions"] or i["elements"] for i in example["inputs"]) or any(i["whole"] for i in about["inputs"]):
            continue
        if any(i["written"] for i in about["inputs"]):
            continue
        yield names[0], example["params"], example["inputs"]


def made_of(inputs, dtype):
    rng = np.random.default_rng(4)
    return [rng.uniform(i["low"], i["high"], i["shape"]).astype(dtype) for i in inputs]


REFUSED = ("draws random numbers", "keeps a state", "follows from its data", "writes its inputs")


EXAMPLES = list(examples())


@pytest.mark.parametrize("part", range(6))
def test_gives_the_bits_of_the_operator(part):
    """Many operators in one compiled program, in float32 and float64."""
    some = [(name, params, made_of(inputs, dtype)) for name, params, inputs in EXAMPLES[part::6] for dtype in ("float32", "float64")]
    refused = {}

    def called(k, name, params, arrays):
        try:
            return op(name)(*arrays, **params)
        except mx.Error as error:  # when it is traced
            refused[k] = str(error)
            return ()

    made = jax.jit(lambda all_arrays: [called(k, name, params, arrays) for k, ((name, params, _), arrays) in enumerate(zip(some, all_arrays))])([s[2] for s in some])
    assert len(refused) < len(some) / 5
    for k, (name, params, arrays) in enumerate(some):
        operator, given = mx._strop.Operator(name, name, False), [mx.nd.array(a, dtype=a.dtype) for a in arrays]
        if k in refused:
            if not any(words in refused[k] for words in REFUSED):
                with pytest.raises(mx.Error):  # the operator refuses the call as well
                    operator(*given, **params)
            continue
        expected = operator(*given, **params)
        expected, results = [r if isinstance(r, (list, tuple)) else [r] for r in (expected, made[k])]
        assert len(results) == len(expected), name
        for a, b in zip(results, expected):
            assert np.asarray(a).dtype == b.dtype and a.shape == b.shape, name
            assert np.array_equal(np.asarray(a), b.asnumpy(), equal_nan=np.asarray(a).dtype.kind == "f"), name


SMOOTH = [("tanh", 1, {}), ("smooth_l1", 1, {"scalar": 2.0}), ("broadcast_mul", 2, {}), ("broadcast_hypot", 2, {}), ("erf", 1, {}), ("activation", 1, {"act_type": "softrelu"})]


@pytest.mark.parametrize(("name", "count", "params"), SMOOTH, ids=[s[0] for s in SMOOTH])
def test_maps_have_both_modes_to_the_second_order(name, count, params):
    rng = np.random.default_rng(2)
    args = tuple(rng.uniform(0.3, 1.4, (3, 4)[k:]) for k in range(count))  # what broadcasts as well
    f = op(name)
    check_grads(lambda *a: f(*a, **params), args, order=2, modes=["fwd", "rev"], atol=1e-3, rtol=1e-3)
    batched = jax.vmap(jax.grad(lambda *a: f(*a, **params).sum()), in_axes=(0, *[None] * (count - 1)))(jnp.stack([args[0]] * 3), *args[1:])
    np.testing.assert_array_equal(batched[2], jax.grad(lambda *a: f(*a, **params).sum())(*args))


TENSORS = [("dot", [(3, 4), (4, 2)], {}), ("softmax", [(3, 5)], {"axis": 1}), ("sum", [(3, 4)], {"axis": 0}), ("FullyConnected", [(2, 3), (4, 3), (4,)], {"num_hidden": 4}),
           ("Convolution", [(1, 2, 5, 5), (3, 2, 3, 3), (3,)], {"kernel": (3, 3), "num_filter": 3}), ("concat", [(2, 3), (4, 3)], {"dim": 0}),
           ("split", [(4, 6)], {"num_outputs": 2, "axis": 1})]


@pytest.mark.parametrize(("name", "shapes", "params"), TENSORS, ids=[t[0] for t in TENSORS])
def test_tensor_operators_have_reverse_mode(name, shapes, params):
    rng = np.random.default_rng(2)
    args = tuple(rng.uniform(-1, 1, shape) for shape in shapes)
    f = jax.jit(lambda *a: op(name)(*a, **params))
    check_grads(f, args, order=1, modes=["rev"], atol=1e-3, rtol=1e-3)
    each = jax.vmap(f)(*[jnp.stack([a, 2 * a]) for a in args])
    alone = f(*[2 * a for a in args])
    for a, b in zip(jax.tree.leaves(each), jax.tree.leaves(alone)):
        np.testing.assert_array_equal(a[1], b)


def test_gradients_of_integers_and_of_what_is_zero():
    x, where = jnp.arange(6.0).reshape(3, 2), jnp.array([2, 0, 2])
    take = jax.grad(lambda x: (op("take")(x, where) ** 2).sum())
    np.testing.assert_array_equal(take(x), 2 * x * jnp.array([[1], [0], [2]]))
    np.testing.assert_array_equal(jax.grad(lambda x: (x * op("sign")(x)).sum())(x), jnp.sign(x))
    np.testing.assert_array_equal(jax.jvp(op("round"), (x,), (x,))[1], 0 * x)


def test_maps_broadcast_and_promote_as_jax_does():
    x = jnp.linspace(-1, 1, 12, dtype="float32").reshape(3, 4)
    add = op("broadcast_add")
    np.testing.assert_array_equal(jax.vmap(add, in_axes=(0, None))(x, jnp.arange(4.0, dtype="float32")), x + jnp.arange(4.0, dtype="float32"))
    np.testing.assert_array_equal(jax.vmap(jax.vmap(add, in_axes=(None, 0)), in_axes=(0, None))(x, x), x[:, None] + x[None])
    assert add(x, 2.0).dtype == jnp.float32 and add(x.astype("bfloat16"), 1).dtype == jnp.bfloat16
    assert add(x, jnp.int32(1)).dtype == jnp.float32 and add(jnp.int32(1), jnp.int32(2)) == 3
    assert op("exp")(jnp.zeros((0, 3))).shape == (0, 3) and op("exp")(jnp.float32(0)).shape == ()
    jax.config.update("jax_enable_x64", False)
    assert op("shape_array")(x).dtype == jnp.int32


def test_what_the_operator_refuses_is_its_sentence():
    x = jnp.ones((2, 3), "float32")
    for call, sentence in [(lambda: op("smooth_l2"), "no operator 'smooth_l2'"), (lambda: op("smooth_l1")(x, scaler=1), "smooth_l1: no argument 'scaler'"),
                           (lambda: jax.jit(lambda v: op("dot")(v, v))(x), "dot: input 'lhs' has shape"), (lambda: op("smooth_l1")(x, x), "takes 1 input"),
                           (lambda: op("activation")(x.astype("int32"), act_type="relu"), "activation: input 'data' is int32"),
                           (lambda: op("broadcast_add")(x, jnp.ones(2)), "does not broadcast"), (lambda: op("_random_uniform")(shape=(2,)), "draws random numbers"),
                           (lambda: op("boolean_mask")(x, jnp.ones(2)), "follows from its data"), (lambda: op("smooth_l1")(x, scalar="x"), "parameter 'scalar' is 'x'"),
                           (lambda: op("tanh")(x.astype("complex64")), "tanh: input 0 is complex64, expected one of float16"),
                           (lambda: jax.jit(lambda s: op("smooth_l1")(x, scalar=s))(2.0), "smooth_l1: parameter 'scalar' is a traced value"),
                           (lambda: op("nag_mom_update")(x, x, x, lr=1), "writes its inputs")]:
        with pytest.raises(mx.Error, match=sentence):
            call()
    fourth = jax.grad(lambda v: op("tanh")(v))
    for _ in range(2):
        fourth = jax.grad(fourth)
    assert np.isfinite(fourth(0.3))
    with pytest.raises(TypeError, match="tanh: has gradients to order 3"):
        jax.grad(fourth)(0.3)
    with pytest.raises(Exception, match="scalar"):  # inside a compiled program: JAX's error with the sentence
        jax.ffi.ffi_call("strop_operator", jax.ShapeDtypeStruct((2, 3), jnp.float32))(x, op="smooth_l1", params="scalar=q", what="0").block_until_ready()


def test_threads_and_large_arrays():
    f = jax.jit(lambda x: op("smooth_l1")(x, scalar=2.0))
    x = np.random.default_rng(0).normal(size=400_000).astype("f4")
    expected = mx.nd.smooth_l1(mx.nd.array(x), scalar=2.0).asnumpy()
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for made in pool.map(lambda _: np.asarray(f(x)), range(8)):
            np.testing.assert_array_equal(made, expected)


def test_is_exported():
    pytest.importorskip("flatbuffers", reason="jax.export serialises with flatbuffers")
    export = pytest.importorskip("jax.export", reason="jax.export lacks a module")
    checks = [export.DisabledSafetyCheck.custom_call("strop_operator")]
    x = jnp.linspace(-1, 1, 5)
    made = export.export(jax.jit(lambda x: op("smooth_l1")(x, scalar=2.0)), disabled_checks=checks)(x)
    np.testing.assert_array_equal(export.deserialize(made.serialize()).call(x), op("smooth_l1")(x, scalar=2.0))


def test_xlas_structs_lie_as_they_are_declared(tmp_path):
    """src/python/xla.hpp beside the header that jaxlib brings."""
    sources = pathlib.Path(__file__).resolve().parents[2] / "src/python"
    if shutil.which("g++") is None or not (sources / "xla.hpp").is_file():
        pytest.skip("needs g++ and the sources")
    pairs = {"CallFrame": ("Frame", [("api", "api"), ("stage", "stage"), ("args", "arguments"), ("rets", "results"), ("attrs", "attributes")]),
             "Args": ("Buffers", [("size", "size"), ("args", "buffers")]), "Rets": ("Buffers", [("size", "size"), ("rets", "buffers")]),
             "Attrs": ("Attributes", [("size", "size"), ("types", "types"), ("names", "names"), ("attrs", "values")]),
             "Buffer": ("Buffer", [("dtype", "dtype"), ("data", "data"), ("rank", "rank"), ("dims", "extents")]), "ByteSpan": ("Bytes", [("len", "size")]),
             "Extension_Base": ("Extension", [("type", "type")]), "Metadata_Extension": ("MetadataExtension", [("metadata", "metadata")]),
             "Metadata": ("Metadata", [("api_version", "version"), ("traits", "traits")]), "Api_Version": ("Version", [("major_version", "major"), ("minor_version", "minor")]),
             "Error_Create_Args": ("ErrorArguments", [("message", "message"), ("errc", "code")]), "Api": ("Api", [("api_version", "version"), ("XLA_FFI_Error_Create", "create_error")])}
    lines = [f"static_assert(offsetof(XLA_FFI_{theirs}, {a}) == offsetof(strop::python::xla::{ours}, {b}));" for theirs, (ours, fields) in pairs.items() for a, b in fields]
    (tmp_path / "layout.cpp").write_text(textwrap.dedent("""\
        #include <xla/ffi/api/c_api.h>
        #include <xla.hpp>
        static_assert(XLA_FFI_API_MAJOR == 0 && XLA_FFI_ExecutionStage_EXECUTE == strop::python::xla::execute_stage);
        static_assert(XLA_FFI_AttrType_STRING == strop::python::xla::string_attribute && XLA_FFI_DataType_BF16 == 16);
        """) + "\n".join(lines) + "\n")
    subprocess.run(["g++", "-std=c++20", "-fsyntax-only", "-Wno-invalid-offsetof", "-isystem", jax.ffi.include_dir(), "-I", sources, tmp_path / "layout.cpp"], check=True)
