# SPDX-License-Identifier: Apache-2.0
"""Operators inside PyTorch: values, gradients of both orders, what PyTorch's own checks say, compiled graphs, what is refused."""
import gc
import pathlib
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

import strop

torch = pytest.importorskip("torch", "2.9")

import strop.torch  # noqa: E402
from torch.autograd import gradcheck, gradgradcheck  # noqa: E402
from torch.library import opcheck  # noqa: E402

ops = torch.ops.strop


def rand(*shape, dtype=torch.float32, grad=False):
    return torch.rand(*shape, dtype=dtype).requires_grad_(grad)


def test_an_operator_takes_tensors_and_gives_tensors():
    x = torch.tensor([-0.5, 0, 1.5], requires_grad=True)
    y = ops.smooth_l1(x, scalar=2.0)
    y.sum().backward()
    assert y.tolist() == [0.375, 0, 1.375] and x.grad.tolist() == [-1, 0, 1]
    assert str(ops.smooth_l1.default._schema) == "strop::smooth_l1(Tensor data, *, Scalar scalar=1, bool is_int=True) -> Tensor"


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int8, torch.uint8, torch.int32, torch.int64])
def test_types_and_layouts(dtype):
    """The same bits as on our own arrays, of tensors with any strides, without elements and of no dimension."""
    x = torch.arange(12).reshape(3, 4).to(dtype)
    for one in (x, x.t(), x[:, 1:3], x[::2], x[:0], x[1, 1]):
        want = strop.nd.from_dlpack(one.contiguous().clone()) if one.dtype != torch.bfloat16 else None
        made = ops.square(one)
        assert made.dtype == dtype and made.shape == one.shape and made.is_contiguous()
        np.testing.assert_array_equal(made.float().numpy(), (one * one).float().numpy())
        if want is not None and one.numel():
            np.testing.assert_array_equal(strop.nd.square(want).asnumpy().reshape(one.shape), made.numpy())


def test_parameters_are_keywords():
    x = rand(2, 3)
    assert ops.sum(x, axis=1).shape == ops.sum(x, axis=[1]).shape == (2,)
    assert ops.Cast(x, dtype=torch.float16).dtype == torch.float16
    assert torch.equal(ops.Activation(x, act_type="relu"), torch.relu(x))
    assert torch.equal(ops.slice(x, begin=[0, None], end=[1, 2]), x[:1, :2])
    assert torch.allclose(ops.fully_connected(x, x, num_hidden=2, no_bias=True), x @ x.t())
    assert torch.equal(ops.Concat([x, x], dim=0), torch.cat([x, x]))
    assert [part.shape for part in ops.SliceChannel(rand(2, 4), num_outputs=2)] == [(2, 2), (2, 2)]
    assert torch.equal(ops.FullyConnected(x, x, num_hidden=2, no_bias=True), ops.FullyConnected(x, x, torch.zeros(2), num_hidden=2))


@pytest.mark.parametrize("call", [
    lambda x: ops.tanh(x), lambda x: ops.smooth_l1(x, scalar=3), lambda x: ops.exp(x), lambda x: ops.broadcast_mul(x, x[:1]),
    lambda x: ops.sum(x, axis=0), lambda x: ops.dot(x, ops.transpose(x)), lambda x: ops.Concat([x, x * 2], dim=1), lambda x: ops.clip(x, a_min=0.2, a_max=0.8)])
def test_gradients_of_both_orders(call):
    x = rand(3, 4, dtype=torch.float64, grad=True)
    assert gradcheck(call, x) and gradgradcheck(call, x)


def test_gradients_of_the_first_order():
    x = rand(3, 4, dtype=torch.float64, grad=True)
    assert gradcheck(lambda t: ops.softmax(t), x)
    with pytest.raises(RuntimeError, match="the operator states its gradient, and no gradient of that"):
        gradgradcheck(lambda t: ops.softmax(t), x)
    y = ops.tanh(x)
    (first,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="strop::tanh: PyTorch differentiates it twice, and it is asked for a third time"):
        second.sum().backward()
    x.grad = None
    ops.round(x).sum().backward()
    assert not x.grad.any()


CASES = {
    "tanh": ((rand(3, 4, grad=True),), {}), "broadcast_add": ((rand(3, 4, grad=True), rand(1, 4, grad=True)), {}),
    "softmax": ((rand(3, 4, grad=True),), {}), "sum": ((rand(3, 4, grad=True),), {"axis": 1}),
    "Convolution": ((rand(1, 2, 5, 5, grad=True), rand(3, 2, 3, 3, grad=True), rand(3, grad=True)), {"kernel": [3, 3], "num_filter": 3}),
    "Concat": (([rand(2, 3, grad=True), rand(2, 2)],), {}), "SliceChannel": ((rand(4, 6, grad=True),), {"num_outputs": 2}),
    "take": ((rand(4, 6, grad=True), torch.tensor([0, 2])), {}), "sort": ((rand(3, 4, grad=True),), {}), "argmax": ((rand(3, 4, grad=True),), {"axis": 1}),
    "BatchNorm": ((rand(2, 3, 4, grad=True), rand(3, grad=True), rand(3, grad=True), rand(3), rand(3)), {"training": True, "fix_gamma": False}),
    "sgd_mom_update": ((rand(3), rand(3), rand(3)), {"lr": 0.1, "momentum": 0.9})}


@pytest.mark.parametrize("name", CASES)
def test_what_pytorch_checks(name):
    args, kwargs = CASES[name]
    opcheck(getattr(ops, name).default, args, kwargs)


def test_written_inputs_are_written():
    x, mean, var = rand(4, 3), torch.zeros(3), torch.ones(3)
    version = mean._version
    y = ops.BatchNorm(x, torch.ones(3), torch.zeros(3), mean, var, training=True)
    assert y.shape == x.shape and mean._version > version
    torch.testing.assert_close(mean, 0.1 * x.mean(0))
    momentum = torch.zeros(6)[::2]  # with gaps
    ops.sgd_mom_update(torch.ones(3), torch.ones(3), momentum, lr=0.5)
    assert momentum.tolist() == [-0.5] * 3
    with pytest.raises(RuntimeError, match="writes a tensor that requires a gradient"):
        ops.sgd_mom_update(torch.ones(3), torch.ones(3), rand(3, grad=True), lr=0.5)


def test_compiled_and_exported():
    def function(x, w):
        return ops.softmax(ops.smooth_l1(ops.broadcast_mul(x, w), scalar=2.0)).square().sum()

    compiled = torch.compile(function, fullgraph=True, backend="aot_eager", dynamic=True)
    for rows in (5, 7):
        x, w = rand(rows, 4, grad=True), rand(1, 4, grad=True)
        want = torch.autograd.grad(function(x, w), (x, w))
        for a, b in zip(torch.autograd.grad(compiled(x, w), (x, w)), want):
            torch.testing.assert_close(a, b)
    with pytest.raises(Exception, match="input 'weight' has shape"):
        torch.compile(lambda x: ops.FullyConnected(x, torch.zeros(2, 2), num_hidden=2, no_bias=True), backend="aot_eager", fullgraph=True)(rand(3, 4))

    class Model(torch.nn.Module):
        def forward(self, x):
            return ops.tanh(x)

    exported = torch.export.export(Model(), (rand(3, 4),), dynamic_shapes={"x": {0: torch.export.Dim.AUTO}})
    x = rand(6, 4)
    assert torch.equal(exported.module()(x), ops.tanh(x))


def test_sparse_tensors_go_in_and_out():
    """CSR and rows, without a copy of their elements; gradients in their layouts."""
    dense = torch.tensor([[0, 1.0, 0], [2, 0, 3]])
    x = dense.to_sparse_csr()
    y = ops.square(x)
    assert y.layout is torch.sparse_csr and torch.equal(y.to_dense(), dense ** 2)
    assert torch.equal(ops.add_n([x, x]).to_dense(), 2 * dense)
    x.requires_grad_()
    w = rand(3, 2, grad=True)
    y = ops.dot(x, w)
    y.backward(torch.ones(2, 2))
    assert torch.equal(w.grad, dense.t() @ torch.ones(2, 2))
    assert x.grad.layout is torch.sparse_csr and torch.equal(x.grad.to_dense(), (torch.ones(2, 2) @ w.detach().t()) * (dense != 0))
    rows = torch.sparse_coo_tensor([[2, 0]], torch.ones(2, 3), (4, 3))
    made = ops.sin(rows)
    assert made.layout is torch.sparse_coo and torch.equal(made.to_dense(), torch.sin(rows.to_dense()))
    for call, sentence in ((lambda: ops.square(torch.eye(3).to_sparse()), "square: a tensor is torch.sparse_coo of 2 dimensions, expected"),
                           (lambda: ops.square(torch.eye(4).to_sparse_bsr((2, 2))), "square: a tensor is torch.sparse_bsr"),
                           (lambda: ops.square(torch.sparse_csr_tensor([0, 2, 2], [2, 1], [1.0, 2.0], size=(2, 3))), "does not ascend"),
                           (lambda: torch.autograd.grad(ops.dot(x, w).sum(), w, create_graph=True), "gradients on sparse tensors are of the first order")):
        with pytest.raises(RuntimeError, match=sentence):
            call()


def test_autocast_takes_tensors_to_one_type():
    with torch.autocast("cpu", torch.bfloat16):
        x = torch.mm(rand(2, 3), rand(3, 3, grad=True))
        assert x.dtype == torch.bfloat16 and ops.tanh(x).dtype == torch.bfloat16
        y = ops.FullyConnected(x, rand(4, 3, grad=True), rand(4), num_hidden=4)
        assert y.dtype == torch.float32 and ops.Concat([x, x.float()], dim=0).dtype == torch.float32
    y.sum().backward()
    with pytest.raises(RuntimeError, match="'weight' is float32"):
        ops.FullyConnected(x, rand(4, 3), rand(4), num_hidden=4)


def test_transforms_of_functions():
    x, w = rand(5, 3), rand(4, 3)

    def loss(x, w):
        return ops.square(ops.softmax(ops.tanh(ops.FullyConnected(x[None], w, num_hidden=4, no_bias=True)))).sum()

    one = torch.func.grad(loss, argnums=1)
    each = torch.vmap(one, in_dims=(0, None))(x, w)  # gradients of each sample
    assert each.shape == (5, 4, 3)
    for k in range(5):
        v = w.clone().requires_grad_()
        loss(x[k], v).backward()
        torch.testing.assert_close(each[k], v.grad)
        torch.testing.assert_close(one(x[k], w), v.grad)
    torch.testing.assert_close(torch.func.jacrev(torch.func.jacrev(lambda t: ops.tanh(t).sum()))(x[0]), torch.diag(-2 * x[0].tanh() * (1 - x[0].tanh() ** 2)))
    assert torch.vmap(lambda t: ops.Concat([t, t], dim=0))(x).shape == (5, 6)
    assert [t.shape for t in torch.vmap(lambda t: ops.SliceChannel(t, num_outputs=2))(rand(2, 3, 4))] == [(2, 3, 2)] * 2
    assert torch.equal(torch.vmap(ops.softmax, in_dims=1)(rand(3, 2, 4).fill_(1)), torch.full((2, 3, 4), 0.25))


def test_what_else_is_to_see_a_call_sees_it():
    """Modes, profilers, hooks of saved tensors; subclasses of tensors keep their word."""
    from torch.utils._python_dispatch import TorchDispatchMode

    class Seen(TorchDispatchMode):
        def __init__(self):
            super().__init__()
            self.names = []

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            self.names.append(func.__name__)
            return func(*args, **(kwargs or {}))

    x = rand(3, grad=True)
    with Seen() as seen:
        ops.tanh(x).sum().backward()
    assert {"tanh.default", "_backward_tanh.default"} <= set(seen.names)
    with torch.profiler.profile() as profile:
        ops.tanh(x).sum().backward()
    assert {"strop::tanh", "strop::_backward_tanh"} <= {event.key for event in profile.key_averages()}
    packed = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: packed.append(t) or t.clone(), lambda t: t):
        y = ops.square(x)
    y.sum().backward()
    assert len(packed) == 1

    class Named(torch.Tensor):
        pass

    assert type(ops.tanh(rand(3).as_subclass(Named))) is Named


def test_maps_go_over_batches():
    x, y = rand(5, 3, 4), rand(4)
    assert torch.equal(torch.vmap(ops.tanh)(x), ops.tanh(x))
    assert torch.equal(torch.vmap(ops.broadcast_add, in_dims=(1, None))(x, y[None]), ops.broadcast_add(x.transpose(0, 1), y[None, None]))


@pytest.mark.parametrize(("call", "sentence"), [
    (lambda: ops.Activation(rand(3), act_type="bent"), "parameter 'act_type' is 'bent', expected one of"),
    (lambda: ops.tanh(torch.zeros(3, dtype=torch.complex64)), "tanh: there are no elements of type torch.complex64"),
    (lambda: ops.tanh(torch.arange(3)), "tanh: input 'data' is int64, expected one of"),
    (lambda: ops.broadcast_add(rand(3), rand(4)), "does not broadcast"),
    (lambda: ops.FullyConnected(rand(2, 3), rand(2, 3), num_hidden=2), "input 'bias' is missing"),
    (lambda: ops.topk(rand(3), ret_typ="both"), "gives 2 results with these parameters, and 1 without"),
    (lambda: ops.clip(rand(3)), "missing value for argument 'a_min'"),
    (lambda: ops.LeakyReLU(rand(3), act_type="selu", lower_bound="much"), "lower_bound")])
def test_what_is_refused(call, sentence):
    with pytest.raises(RuntimeError, match=sentence):
        call()


def test_what_is_left_out_is_said():
    assert "random" in strop.torch.left_out["Dropout"] and "follows from the data" in strop.torch.left_out["_contrib_boolean_mask"]
    assert not hasattr(ops, "Dropout")
    names = {names[0] for names in strop._strop.list_operators()}
    assert all(hasattr(ops, name) for name in names - set(strop.torch.left_out))


def test_tensors_outlive_what_they_were_made_of():
    x = rand(1000, grad=True)
    y = ops.tanh(x * 2)
    del x
    gc.collect()
    y.sum().backward()
    with torch.no_grad():
        assert ops.tanh(y).grad_fn is None


def test_an_extension_of_ones_own(tmp_path):
    """examples/torch_extension, without the package: values, gradients of both orders, PyTorch's checks, what it refuses."""
    compiler = shutil.which("c++")
    if compiler is None:
        pytest.skip("there is no compiler")
    from torch.utils.cpp_extension import include_paths, library_paths

    root = pathlib.Path(__file__).parents[2]
    built = tmp_path / "curves.so"
    command = [compiler, "-std=c++20", "-O1", "-march=native", "-shared", "-fPIC", "-fvisibility=hidden", f"-I{root / 'include'}",
               *(f"-isystem{path}" for path in include_paths()), str(root / "examples/torch_extension/operators.cpp"), "-o", str(built),
               "-lfmt", *(f"-L{path}" for path in library_paths()), "-ltorch_cpu", "-ltorch", "-lc10"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    torch.ops.load_library(str(built))
    squash = torch.ops.curves.squash
    assert str(squash.default._schema) == "curves::squash(Tensor data, *, float beta=1.) -> Tensor"
    x = torch.tensor([-0.5, 0, 1.5], requires_grad=True)
    squash(x, beta=2).sum().backward()
    assert squash(x, beta=2).tolist() == [-0.25, 0, 0.375] and x.grad.tolist() == [0.25, 1, 0.0625]
    x = rand(3, 4, dtype=torch.float64, grad=True)
    assert gradcheck(squash, x) and gradgradcheck(squash, x)
    torch.testing.assert_close(torch.func.grad(lambda t: squash(t).sum())(x), (1 + x.abs()) ** -2)
    opcheck(squash.default, (rand(3, 4, grad=True),))
    for one in (rand(4, 4).t()[:, 1:], rand(0, 3), rand(3)[0], rand(3).bfloat16(), rand(3).half()):
        torch.testing.assert_close(squash(one), one / (1 + one.abs()))
    with pytest.raises(RuntimeError, match="squash: there are no elements of type ComplexFloat"):
        squash(torch.zeros(3, dtype=torch.complex64))
    (first,) = torch.autograd.grad(squash(x).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="curves::Squash: PyTorch differentiates it twice, and it is asked for a third time"):
        second.sum().backward()


def test_threads_are_those_of_pytorch():
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        ops.tanh(rand(3))
        assert strop._strop._num_threads() == 1
    finally:
        torch.set_num_threads(before)


def test_the_interpreter_ends_quietly():
    """And PyTorch is not asked for by `import strop`."""
    program = "import sys, strop; assert 'torch' not in sys.modules; import torch, strop.torch; print(torch.ops.strop.tanh(torch.zeros(1)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr, done.returncode) == ("tensor([0.])\n", "", 0)


def test_what_would_be_dropped_is_refused():
    x = rand(3)
    with pytest.raises(RuntimeError):  # forward mode
        torch.func.jvp(ops.tanh, (x,), (torch.ones(3),))
    with torch.autograd.forward_ad.dual_level():
        with pytest.raises(RuntimeError):
            ops.tanh(torch.autograd.forward_ad.make_dual(x, torch.ones(3)))
    for pair in ((x, torch.ones(3, device="meta")), (torch.ones(3, device="meta"), x)):
        with pytest.raises(RuntimeError, match="expected one device|expected cpu"):
            ops.broadcast_add(*pair)


class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, i):
        return ops.tanh(torch.full((3,), float(i)))


def test_workers_of_a_loader_call_operators():
    """In forked processes, once the threads of this one have run."""
    ops.tanh(rand(200_000))
    made = torch.cat(list(torch.utils.data.DataLoader(Rows(), batch_size=4, num_workers=2)))
    assert torch.equal(made, ops.tanh(torch.arange(8.0)[:, None].expand(8, 3)))


def test_the_page_prints_what_it_says():
    page = (pathlib.Path(__file__).resolve().parents[2] / "docs/pytorch.md").read_text()
    programs = re.findall(r"(?ms)^```python\n(.*?)^```\n\n```\n(.*?)^```", page)
    assert len(programs) == 2
    for program, output in programs:
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120)
        assert done.stdout == output


def test_autocast_leaves_tensors_that_are_written():
    x, gamma, beta = rand(4, 3, 2, 2), torch.ones(3), torch.zeros(3)
    mean, var = torch.zeros(3), torch.ones(3)
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        ops.BatchNorm(x, gamma, beta, mean, var, fix_gamma=False, training=True)
    assert not torch.equal(mean, torch.zeros(3))
    weight, momentum = torch.ones(3, dtype=torch.bfloat16), torch.zeros(3)
    weight32 = torch.ones(3)
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        made = ops.mp_sgd_mom_update(weight, torch.ones(3, dtype=torch.bfloat16), momentum, weight32, lr=0.5, momentum=0.9)
    assert made.dtype is torch.bfloat16 and not torch.equal(momentum, torch.zeros(3)) and not torch.equal(weight32, torch.ones(3))


def test_a_second_order_over_sparse_tensors_is_refused():
    c = torch.tensor([[0., 2.], [3., 0.]]).to_sparse_csr().requires_grad_()
    w = torch.ones(2, 2, requires_grad=True)
    with pytest.raises(RuntimeError, match="dot: gradients on sparse tensors are of the first order; leave create_graph out"):
        torch.autograd.grad(ops.dot(c, w).sum(), c, create_graph=True)
    values = torch.arange(4.)[::2].contiguous().repeat_interleave(2)[::2]  # with a step
    assert not values.is_contiguous()
    strided = torch.sparse_csr_tensor(torch.tensor([0, 1, 2]), torch.tensor([0, 1]), values, (2, 2))
    assert torch.equal(ops.dot(strided, w.detach()), strided.to_dense() @ w.detach())


def test_vmap_of_maps_that_do_not_broadcast_and_of_no_batch():
    x = rand(2, 3)
    assert torch.equal(torch.vmap(lambda t: ops.elemwise_add(t, torch.ones(3)))(x), x + 1)
    assert torch.equal(torch.vmap(lambda t: ops.broadcast_add(t, torch.ones(4, 3)))(x), x[:, None] + torch.ones(4, 3))
    assert torch.vmap(ops.softmax)(torch.zeros(0, 3)).shape == (0, 3)
    assert torch.vmap(lambda t: ops.SliceChannel(t, num_outputs=3))(torch.zeros(0, 2, 3))[0].shape == (0, 2, 1)
