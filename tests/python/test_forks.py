# SPDX-License-Identifier: Apache-2.0
"""Forks of Python: under pending calls, beside threads, by pools and data loaders. Each program runs apart, with a time after
which it is ended: one that hangs is a failure and not the end of the suite."""
import importlib.util
import subprocess
import sys
import textwrap

import pytest


def run(program, timeout=120):
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=timeout)
    return done.returncode, done.stdout, done.stderr


HELPERS = """
    import os, signal, threading
    import strop as mx
    from strop import autograd, nd

    def in_child(child):
        pid = os.fork()
        if pid == 0:
            signal.alarm(60)
            good = False
            try:
                good = bool(child())
            finally:
                os._exit(0 if good else 1)
        return os.waitpid(pid, 0)[1] == 0

    def computes():
        x = nd.full((1 << 19,), 2)
        y = (x * 3).sum()
        nd.waitall()
        return float(y.asscalar()) == 6.0 * (1 << 19) and nd.random.uniform(shape=(3,)).shape == (3,)
"""


def test_forks_under_pending_calls():
    assert run(HELPERS + """
    x = nd.full((1 << 21,), 1)
    good = 0
    for _ in range(40):
        y = nd.exp(x)
        z = nd.dot(nd.ones((300, 300)), nd.ones((300, 300)))
        good += in_child(lambda: float(y[5].asscalar()) > 2.7 and float(z[0, 0].asscalar()) == 300 and computes())
    print(good, computes())""") == (0, "40 True\n", "")


def test_forks_while_operators_of_python_run():
    assert run(HELPERS + """
    class Twice(mx.operator.CustomOp):
        def forward(self, is_train, req, in_data, out_data, aux):
            self.assign(out_data[0], req[0], in_data[0] * 2)
        def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
            self.assign(in_grad[0], req[0], out_grad[0] * 2)

    @mx.operator.register("twice")
    class TwiceProp(mx.operator.CustomOpProp):
        def create_operator(self, ctx, in_shapes, in_dtypes):
            return Twice()

    stop, shared = threading.Event(), nd.ones((1 << 18,))
    net = mx.sym.sum(mx.sym.Custom(mx.sym.var("x"), op_type="twice"))
    bound = net.simple_bind(mx.cpu(), x=(1 << 18,))

    def calls():
        while not stop.is_set():
            nd.Custom(shared, op_type="twice").wait_to_read()

    def runs():
        while not stop.is_set():
            bound.forward(is_train=True, x=shared)
            bound.backward(nd.ones((1,)))

    def trains():
        weight = nd.ones((300, 300))
        weight.attach_grad()
        while not stop.is_set():
            with autograd.record():
                loss = (nd.dot(weight, weight) + nd.random.normal(shape=(300, 300))).sum()
            loss.backward()
            weight -= 1e-6 * weight.grad

    threads = [threading.Thread(target=one) for one in (calls, runs, trains)]
    for thread in threads:
        thread.start()
    good = sum(in_child(lambda: float(bound.forward(x=shared)[0].asscalar()) == 2.0 * (1 << 18) and computes()) for _ in range(30))
    stop.set()
    for thread in threads:
        thread.join()
    print(good, computes())""") == (0, "30 True\n", "")


@pytest.mark.parametrize("before", ["", "nd.random.uniform(shape=(2,))", "mx.random.seed(3)", "nd.ones((1 << 20,)).sum().wait_to_read()"])
def test_every_child_draws_numbers_of_its_own(before):
    assert run(HELPERS + f"""
    import multiprocessing

    def draw(_):
        return tuple(nd.random.uniform(shape=(4,)).asnumpy().tolist()), tuple(nd.random.normal(shape=(4,)).asnumpy().tolist())

    {before}
    found = []
    for _ in range(3):
        with multiprocessing.get_context("fork").Pool(1) as pool:
            found.append(pool.map(draw, [0])[0])
    found.append(draw(0))
    for place in (0, 1):
        print(len(set(one[place] for one in found)), end=" ")

    def seeded(_):
        mx.random.seed(5)
        return draw(0)

    with multiprocessing.get_context("fork").Pool(1) as pool:
        there = pool.map(seeded, [0])[0]
    print(there == seeded(0))""") == (0, "4 4 True\n", "")


def test_a_pool_beside_training():
    assert run(HELPERS + """
    import multiprocessing

    def work(k):
        x = nd.full((1 << 19,), k)
        return float((x + 1)[7].asscalar())

    weight = nd.ones((400, 400))
    weight.attach_grad()
    good = 0
    for step in range(10):
        with autograd.record():
            loss = nd.dot(weight, weight).sum()
        loss.backward()
        with multiprocessing.get_context("fork").Pool(2) as pool:
            made = pool.map_async(work, range(4))
            weight -= 1e-9 * weight.grad
            good += made.get(timeout=60) == [k + 1.0 for k in range(4)]
    print(good, computes())""") == (0, "10 True\n", "")


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="PyTorch is not installed")
def test_a_data_loader_of_pytorch_beside_training():
    assert run(HELPERS + """
    import torch

    class Rows(torch.utils.data.Dataset):
        def __len__(self):
            return 64
        def __getitem__(self, i):
            return torch.from_numpy((nd.full((1 << 18,), i) * 2)[:16].asnumpy())

    weight = nd.ones((400, 400))
    weight.attach_grad()
    rows = 0
    for epoch in range(5):
        with autograd.record():
            loss = nd.dot(weight, weight).sum()
        loss.backward()
        for batch in torch.utils.data.DataLoader(Rows(), batch_size=8, num_workers=2):
            with autograd.record():
                more = (nd.dot(weight, weight)[:8, :16] * nd.array(batch.numpy())).sum()
            more.backward()
            weight -= 1e-12 * weight.grad
            rows += len(batch)
    print(rows, computes())""", timeout=300) == (0, "320 True\n", "")


def test_exceptions_of_written_steps_come_back_from_a_pool():
    assert run(HELPERS + """
    import multiprocessing

    class Own(Exception):
        def __init__(self, code, why):
            super().__init__(why)
            self.code = code

    class Made(OSError):
        pass

    def raised(k):
        return [ValueError("too small"), KeyError("x"), OSError(2, "no file", "a.txt"), UnicodeDecodeError("utf-8", b"a", 0, 1, "bad"), Own(7, "own"), Made("made"),
                mx.Error("ours"), ZeroDivisionError("by zero")][k]

    class Step(autograd.Function):
        def __init__(self, k):
            self.k = k
        def forward(self, x):
            raise raised(self.k)
        def backward(self, dy):
            return dy

    class Failing(mx.operator.CustomOp):
        def __init__(self, k):
            self.k = k
        def forward(self, is_train, req, in_data, out_data, aux):
            raise raised(self.k)

    @mx.operator.register("failing")
    class FailingProp(mx.operator.CustomOpProp):
        def __init__(self, k):
            super().__init__()
            self.k = int(k)
        def create_operator(self, ctx, in_shapes, in_dtypes):
            return Failing(self.k)

    def call(which):
        custom, k = which
        x = nd.ones((2,))
        return nd.Custom(x, op_type="failing", k=k).asnumpy() if custom else Step(k)(x)

    good = 0
    with multiprocessing.get_context("fork").Pool(1) as pool:
        for custom in (False, True):
            for k in range(8):
                want = raised(k)
                try:
                    pool.apply(call, ((custom, k),))
                except mx.Error as error:
                    good += isinstance(error, type(want)) and error.args == want.args and getattr(error, "code", None) == getattr(want, "code", None)
                    good += getattr(error, "filename", None) == getattr(want, "filename", None)
    print(good)""") == (0, "32\n", "")
