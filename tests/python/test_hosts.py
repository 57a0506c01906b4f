# SPDX-License-Identifier: Apache-2.0
"""Every operator in the hosts: the same bits as on our own arrays, gradients as ours and as differences have them, PyTorch's
own checks. The calls are those of references/."""
import numpy as np
import pytest

import strop as mx
from references import CASES, make

torch = pytest.importorskip("torch", "2.9")

import strop.numpy  # noqa: E402
import strop.torch  # noqa: E402
from torch.autograd import gradcheck, gradgradcheck  # noqa: E402
from torch.library import opcheck  # noqa: E402

DTYPES = {str(dtype).removeprefix("torch."): dtype for dtype in strop.torch._NUMBERS}
OWN = {name: names[0] for names in mx._strop.list_operators() for name in names}
CASES_IN_PYTORCH = [one for one in CASES if OWN[one.name] not in strop.torch.left_out and all(i.stype is None for i in one.inputs) and
                    one.params.get("act_type") != "rrelu"]  # which draws random numbers


def about(one):
    return mx._strop.Operator(one.name, one.name, False).description


def type_for(one, wanted="float32"):
    """The type of a case: float32 where the operator and its case have it."""
    served = [dtype for dtype in (about(one)["dtypes"] or DTYPES) if dtype in one.types and dtype in DTYPES]
    return wanted if wanted in served else served[0]


def arrays_of(one, dtype):
    rng = np.random.default_rng(5)
    return [make(i, dtype, rng) for i in one.inputs]


def pytorch_call(one, arrays, grad=False):
    """(function, arguments, keywords) of a case in PyTorch."""
    operator = getattr(torch.ops.strop, OWN[one.name])
    if one.params.get("state_outputs") or one.params.get("output_score") or one.params.get("ret_typ") == "both":  # more results than usually
        operator = getattr(torch.ops.strop, f"_all_{OWN[one.name]}")
    tensors = [torch.from_numpy(a.copy()) for a in arrays]
    inputs = about(one)["inputs"]
    for tensor, info in zip(tensors, inputs if not inputs[-1]["variadic"] else [{"written": False}] * len(tensors)):
        if grad and tensor.is_floating_point() and not info["written"]:
            tensor.requires_grad_()
    types = {a.name: str(a.type) for a in operator.default._schema.arguments}
    params = {k: DTYPES[v] if types[k] != "str" and isinstance(v, str) and v in DTYPES else v for k, v in one.params.items() if k in types and v is not None}
    if "training" in types:
        params["training"] = one.train
    listed = [i for i, a in enumerate(operator.default._schema.arguments) if str(a.type) == "List[Tensor]"]
    if listed:
        tensors = [*tensors[: listed[0]], tensors[listed[0]:]]
    return operator, tensors, params


def flat(made):
    return [made] if isinstance(made, torch.Tensor) else list(made)


def name_of(one):
    return "-".join([one.name, *(f"{k}={v}" for k, v in one.params.items() if isinstance(v, (str, bool)))])


@pytest.mark.parametrize("one", CASES_IN_PYTORCH, ids=name_of)
def test_bits_are_the_same(one):
    if one.train and "training" not in str(getattr(torch.ops.strop, OWN[one.name]).default._schema):
        pytest.skip("its results in training follow from the mode alone")
    dtype = type_for(one)
    arrays = arrays_of(one, dtype)
    ours = [mx.nd.array(a, dtype=a.dtype) for a in arrays]
    with mx.autograd.train_mode() if one.train else mx.autograd.predict_mode():
        want = mx._strop.Operator(one.name, one.name, False)(*ours, **one.params)
    operator, tensors, params = pytorch_call(one, arrays)
    made = flat(operator(*tensors, **params))
    for a, b in zip(made, want if isinstance(want, list) else [want]):
        np.testing.assert_array_equal(a.numpy(), b.asnumpy())
    if about(one)["map"] and not one.params.get("dtype") and not any(i["written"] for i in about(one)["inputs"]) and about(one)["outputs"] == 1:
        np.testing.assert_array_equal(strop.numpy.ufunc(one.name, **one.params)(*arrays), made[0].numpy())


SMOOTH_IN_PART = {"_contrib_gradientmultiplier", "_contrib_round_ste", "_contrib_sign_ste"}  # state a gradient that is not the derivative
FIRST = list({OWN[one.name]: one for one in reversed(CASES_IN_PYTORCH)}.values())  # a case of each


@pytest.mark.parametrize("one", FIRST, ids=name_of)
def test_gradients_are_the_same(one):
    operator, tensors, params = pytorch_call(one, arrays_of(one, type_for(one, "float64")), grad=True)
    flat_in = [t for t in (x for a in tensors for x in (a if isinstance(a, list) else [a]))]
    made = [y for y in flat(operator(*tensors, **params)) if y.requires_grad]
    if not made or not about(one)["gradient"] or operator.__name__.startswith("_all_"):
        return
    asked = [t for t in flat_in if t.requires_grad]
    heads = [torch.full_like(y, 0.5) for y in made]
    got = torch.autograd.grad(made, asked, heads, allow_unused=True)
    ours = [mx.nd.array(t.detach().numpy(), dtype=t.detach().numpy().dtype) for t in flat_in]
    variables = [a for a, t in zip(ours, flat_in) if t.requires_grad]
    for a in variables:
        a.attach_grad()
    with mx.autograd.record(train_mode=one.train):
        results = mx._strop.Operator(one.name, one.name, False)(*ours, **one.params)
    results = results if isinstance(results, list) else [results]
    mx.autograd.backward(results[: len(heads)], [mx.nd.full(h.shape, 0.5, dtype=np.dtype("float64")) for h in heads])
    for a, b in zip(variables, got):
        if b is not None:
            np.testing.assert_array_equal(b.numpy(), a.grad.asnumpy())


MAPS = [one for one in FIRST if about(one)["map"] and about(one)["gradient"] and type_for(one, "float64") == "float64" and
        OWN[one.name] not in SMOOTH_IN_PART and not any(i["written"] for i in about(one)["inputs"])]


@pytest.mark.parametrize("one", MAPS, ids=name_of)
def test_differences_say_the_same(one):
    arrays = [a + 0.13 * (k + 1) * (i.low is None) for k, (a, i) in enumerate(zip(arrays_of(one, "float64"), one.inputs))]  # past ties
    operator, tensors, params = pytorch_call(one, arrays, grad=True)
    if not flat(operator(*tensors, **params))[0].requires_grad:
        return
    tensors = [t[..., :2].detach().requires_grad_(t.requires_grad) if t.dim() and t.shape[-1] > 2 and len({x.shape for x in tensors}) == 1 else t for t in tensors]
    assert gradcheck(lambda *x: operator(*x, **params), tensors)
    assert gradgradcheck(lambda *x: operator(*x, **params), tensors)


@pytest.mark.parametrize("one", FIRST, ids=name_of)
def test_what_pytorch_checks(one):
    arrays = arrays_of(one, type_for(one))
    operator, tensors, params = pytorch_call(one, arrays)
    whole = any(not y.is_floating_point() for y in flat(operator(*tensors, **params)))
    operator, tensors, params = pytorch_call(one, arrays, grad=about(one)["gradient"] and not whole)
    opcheck(operator.default, tensors, params)
