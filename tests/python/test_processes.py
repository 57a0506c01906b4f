# SPDX-License-Identifier: Apache-2.0
"""Other threads and processes of Python."""
import functools
import multiprocessing
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import strop as mx
from strop import _strop, nd


def run(program, timeout=60):
    return subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=timeout)


@pytest.mark.parametrize("call", [lambda a, b: nd.dot(a, a).asnumpy(), lambda a, b: nd.sort(b)], ids=["waits", "computes"])
def test_other_threads_run_while_a_call(call):
    counted, stop = [0], threading.Event()

    def count():
        while not stop.is_set():
            counted[0] += 1

    thread = threading.Thread(target=count)
    thread.start()
    a, b = nd.ones((700, 700)), nd.random.uniform(0, 1, (1 << 21,))
    end = time.monotonic() + 30  # a busy machine may give the thread no time for a while
    try:
        before = counted[0]
        while counted[0] <= before + 1000 and time.monotonic() < end:
            call(a, b)
        assert counted[0] > before + 1000
    finally:
        stop.set()
        thread.join()


ON_ELEMENTS = {
    "to another device": lambda c, **_: c.as_in_context(mx.cpu(1)),
    "into an executor": lambda c, run, **_: run.copy_params_from({"x": c}),
    "row_sparse": lambda c, rows, **_: _strop.row_sparse_array(c, rows, c.shape),
    "csr": lambda c, columns, starts, **_: _strop.csr_matrix(c.reshape((-1,)), columns, starts, c.shape),
}


def products(a, count):
    """a to the power of count + 1, at once or later."""
    made = a
    for _ in range(count):
        made = nd.dot(a, made)
    return made


@functools.cache
def lasting(size):
    """How many products of these matrices take about 0.3 s here."""
    a = nd.full((size, size), 1 / size)
    products(a, 1).wait_to_read()
    count, begun = 0, time.perf_counter()
    while time.perf_counter() - begun < 0.3:
        products(a, 1).wait_to_read()
        count += 1
    return count


@pytest.mark.parametrize("call", ON_ELEMENTS.values(), ids=ON_ELEMENTS)
def test_other_threads_run_while_elements_are_awaited(call):
    size, moments, stop = 1500, [], threading.Event()

    def note():
        while not stop.is_set():
            moments.append(time.perf_counter())
            time.sleep(0.001)

    a, count = nd.full((size, size), 1 / size), lasting(size)
    known = {"run": mx.sym.tanh(mx.sym.var("x")).simple_bind(mx.cpu(), x=a.shape), "rows": nd.array(np.arange(size), dtype="int64"),
             "columns": nd.array(np.tile(np.arange(size), size), dtype="int64"), "starts": nd.array(np.arange(size + 1) * size, dtype="int64")}
    nd.waitall()
    thread = threading.Thread(target=note)
    thread.start()
    try:
        known["c"] = products(a, count)
        before = time.perf_counter()
        call(**known)
        after = time.perf_counter()
    finally:
        stop.set()
        thread.join()
    # Only the moments at both ends are possible while the call holds Python's lock.
    assert sum(before < moment < after for moment in moments) > 10


def compute(k):
    small, large = nd.full((1000,), k), nd.full((1 << 20,), k)
    return float((small * 2).sum().asscalar()), float((large + 1)[5].asscalar())


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # Python 3.12 says of every fork that there are threads
def test_a_child_of_fork_computes():
    want = [(2000.0 * k, k + 1.0) for k in range(1, 4)]
    assert [compute(k) for k in range(1, 4)] == want
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map_async(compute, range(1, 4)).get(timeout=60) == want


def test_the_end_says_nothing():
    done = run("""
        import strop as mx
        from strop import autograd, nd

        class Twice(autograd.Function):
            def forward(self, x):
                return x * 2
            def backward(self, dy):
                return dy * 2

        x = nd.ones((1 << 20,))
        x.attach_grad()
        with autograd.record():
            y, z = Twice()(x) + 1, Twice()(x)
        y.backward()
        net = mx.sym.relu(mx.sym.var("x"))
        bound = net.bind(mx.cpu(), {"x": x})
        bound.forward()
        sparse, capsule, view = nd.ones((2, 2)).tostype("csr"), nd.to_dlpack_for_read(x), memoryview(x)
        try:
            nd.relu(x, x)
        except mx.Error as error:
            kept = error
        x += 1""")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("call", ["nd.dot(a, a).asnumpy()", "nd.sort(b)", "a[None], a[[0, 1]]", "Twice()(b)"])
def test_a_thread_that_ends_inside_a_call(call):
    done = run(f"""
        import threading, time
        from strop import autograd, nd

        class Twice(autograd.Function):
            def forward(self, x):
                return x * 2

        a, b = nd.ones((600, 600)), nd.random.uniform(0, 1, (1 << 17,))

        def work():
            while True:
                {call}

        for _ in range(3):
            threading.Thread(target=work, daemon=True).start()
        time.sleep(0.2)""")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("look", ["c.asnumpy()", "c.wait_to_read()", "nd.waitall()", "float(c[0, 0])", "c.as_in_context(mx.cpu(1))", "nd.save(os.devnull, c)", "c.copy().asnumpy()",
                                  "nd.array(c)", "copy.deepcopy(c)", "c.tostype('csr')", "mx.nd.sparse.csr_matrix(c)", "(c + head).backward()", "autograd.grad([c * head], [head])",
                                  "run.forward(x=c)", "bound.forward(is_train=True), bound.backward()"])
def test_ctrl_c_ends_a_long_wait(look):
    done = run(f"""
        import copy, os, signal, threading, time
        import strop as mx
        from strop import autograd, nd, sym

        signal.signal(signal.SIGINT, signal.default_int_handler)  # what a shell runs in the background ignores it
        a, c = nd.ones((1500, 1500)), nd.zeros((1500, 1500))
        for _ in range(2):
            begun = time.monotonic()
            nd.dot(a, a, out=c).wait_to_read()
            one = time.monotonic() - begun
        count = int(5 / one) + 1
        for _ in range(count):  # about 5 s here
            nd.dot(a, a, out=c)
        head = nd.ones((1500, 1500))
        head.attach_grad()
        autograd.set_recording(True)
        run = sym.square(sym.var("x")).simple_bind(mx.cpu(), x=(1500, 1500))
        bound = sym.sum(sym.square(sym.var("x"))).bind(mx.cpu(), [c], [nd.zeros((1500, 1500))])
        sent = []

        def interrupt():
            sent.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)

        threading.Timer(0.2, interrupt).start()
        try:
            {look}
        except KeyboardInterrupt:
            waited = time.monotonic() - sent[0]
            print("in time" if waited < count * one / 4 else f"late: {{waited}} of {{count * one}} s")
        os._exit(0)""")
    assert (done.returncode, done.stdout, done.stderr) == (0, "in time\n", "")


def test_a_failing_import_says_why(tmp_path):
    (tmp_path / "numpy.py").write_text("raise ImportError('no such thing here')")
    done = subprocess.run([sys.executable, "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import strop"], capture_output=True, text=True, timeout=60)
    assert done.returncode != 0 and "strop needs NumPy: no such thing here" in done.stderr


# (what is made before, a call of some seconds)
LONG_CALLS = {
    "csr times csr": ("n = 15000; at = np.arange(150) * 100 + np.random.randint(0, 100, (n, 150))\na = nd.sparse.csr_matrix((np.ones(at.size, 'f4'), at.ravel(), np.arange(n + 1) * 150), shape=(n, n))",
                      "nd.sparse.dot(a, a)"),
    "products": ("a = nd.ones((6000, 6000)); a.wait_to_read()", "nd.dot(nd.dot(a, a), a).asnumpy()"),
    "product at the call": ("a = nd.from_numpy(np.ones((8000, 8000), 'float32'))", "nd.dot(a, a)"),
    "dense to csr": ("x = nd.random.uniform(shape=(1 << 14, 1 << 13)); x.wait_to_read()", "x.tostype('csr')"),
    "products, naive": ("a = nd.ones((6000, 6000)); mx._strop.set_asynchronous(False, 0)", "nd.dot(a, a)"),
    "executor": ("x = mx.sym.var('x'); net = mx.sym.sum(mx.sym.Dropout(mx.sym.dot(x, x)))\nbound = net.simple_bind(mx.cpu(), x=(6000, 6000))\nmx._strop.set_asynchronous(False, 0)",
                 "bound.forward(is_train=True)"),
    "backward": ("a = nd.ones((4000, 4000)); a.attach_grad()\nwith autograd.record():\n    y = nd.dot(nd.dot(a, a), nd.dot(a, a)).sum()\ny.wait_to_read(); mx._strop.set_asynchronous(False, 0)", "y.backward()"),
    "backward again": ("a = nd.ones((2500, 2500)); a.attach_grad()\nwith autograd.record():\n    y = nd.dot(nd.dot(a, a), nd.dot(a, a)).sum()\n"
                       "y.wait_to_read(); mx._strop.set_asynchronous(False, 0); y.backward(retain_graph=True)", "y.backward()"),
    "backward of many small calls": ("a = nd.ones((2,)); a.attach_grad()\nwith autograd.record():\n    y = a\n    for _ in range(1000000):\n        y = y * 1", "y.backward()"),
    "a loop over small arrays": ("data, state = mx.sym.var('data'), mx.sym.var('state')\nout, last = mx.sym.contrib.foreach(lambda x, s: (x + s, x * s), data, state)\n"
                                 "bound = mx.sym.Group([out, last]).bind(mx.cpu(), {'data': nd.ones((2000000, 2)), 'state': nd.ones((2,))})\nmx._strop.set_asynchronous(False, 0)", "bound.forward()"),
}


def interrupted(before, call):
    """A program whose call Ctrl-C meets while it computes."""
    return """
        import os, signal, threading, time
        import numpy as np
        import strop as mx
        from strop import autograd, nd

        signal.signal(signal.SIGINT, signal.default_int_handler)
""" + textwrap.indent(before, " " * 8) + f"""
        sent = []

        def interrupt():
            time.sleep(0.15)
            sent.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)

        begun = time.monotonic()
        threading.Thread(target=interrupt, daemon=True).start()
        {call}"""


@pytest.mark.parametrize("what", LONG_CALLS)
def test_ctrl_c_is_heard_while_a_call_computes(what):
    """Long before the call ends, which goes on by itself: what waits for it says how long it takes here."""
    before, call = LONG_CALLS[what]
    done = run(interrupted(before, f"""
        try:
            {call}
            print("it was done before")
        except KeyboardInterrupt:
            waited = time.monotonic() - sent[0]
            nd.waitall()
            own = time.monotonic() - begun
            print("in time" if waited < own / 4 else f"late: {{waited}} of {{own}} s")"""), timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "in time\n", "")


def test_ctrl_c_is_heard_while_a_call_waits_for_memory():
    """As results that lie ahead of their work may take so much alone: the second call waits for the first one."""
    done = run(interrupted("""
x = nd.ones((1 << 11, 1 << 11))
x.wait_to_read()
begun = time.monotonic()
nd.dot(x, x).wait_to_read()
own = 64 * (time.monotonic() - begun)  # of an array that has four times as many rows and columns
x = nd.ones((1 << 13, 1 << 13))
x.wait_to_read()""", """
        try:
            [nd.dot(x, x) for _ in range(3)]
            print("it was done before")
        except KeyboardInterrupt:
            waited = time.monotonic() - sent[0]
            print("in time" if waited < own / 4 else f"late: {waited} of {own} s", flush=True)
        os._exit(0)"""), timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "in time\n", "")


@pytest.mark.parametrize("what", ["csr times csr", "products", "product at the call", "products, naive", "executor", "backward"])
def test_ctrl_c_that_nobody_catches_ends_the_program(what):
    """As it ends any program of Python, though the call may still compute."""
    done = run(interrupted(*LONG_CALLS[what]), timeout=120)
    assert done.returncode in (-signal.SIGINT, 128 + signal.SIGINT) and done.stdout == ""
    assert done.stderr.startswith("Traceback") and done.stderr.endswith("\nKeyboardInterrupt\n")


def test_a_file_is_read_once_a_call_that_ctrl_c_ended_is_over(tmp_path):
    """It is read on a thread of its own as well, of which one at a time may be left alone."""
    nd.save(str(tmp_path / "f"), nd.ones((2,)))
    before, call = LONG_CALLS["product at the call"]
    done = run(interrupted(before, f"""
        try:
            {call}
            print("it was done before")
        except KeyboardInterrupt:
            pass
        nd.load({str(tmp_path / 'f')!r})
        read = time.monotonic()
        nd.waitall()
        after, own = time.monotonic() - read, time.monotonic() - begun
        print("in order" if after < own / 4 else f"{{after}} s before the end of a call of {{own}} s")"""), timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "in order\n", "")


def test_what_comes_after_ctrl_c_waits_for_the_call():
    done = run("""
        import os, signal, threading, time
        import numpy as np
        from strop import nd

        signal.signal(signal.SIGINT, signal.default_int_handler)
        kept = np.random.rand(1 << 22).astype("float32")
        x = nd.from_numpy(kept)
        heard = 0
        for _ in range(200):
            threading.Timer(0.05, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
            try:
                while True:
                    y = nd.sort(x, axis=0)
            except KeyboardInterrupt:
                heard += 1
            if heard == 3:
                break
        x[:] = 1
        print(heard, float((x[:5] * 2).sum().asscalar()), (kept == 1).all())""")
    assert (done.returncode, done.stdout, done.stderr) == (0, "3 10.0 True\n", "")
