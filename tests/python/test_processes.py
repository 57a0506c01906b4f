# SPDX-License-Identifier: Apache-2.0
"""Other threads and processes of Python."""
import multiprocessing
import subprocess
import sys
import textwrap
import threading

import pytest

from strop import nd


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
    a, b = nd.ones((700, 700)), nd.random.uniform(0, 1, (1 << 17,))
    try:
        before = counted[0]
        for _ in range(5):
            call(a, b)
        assert counted[0] > before + 1000
    finally:
        stop.set()
        thread.join()


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


@pytest.mark.parametrize("look", ["c.asnumpy()", "c.wait_to_read()", "nd.waitall()", "float(c[0, 0])"])
def test_ctrl_c_ends_a_long_wait(look):
    done = run(f"""
        import os, signal, threading, time
        from strop import nd

        a, c = nd.ones((1500, 1500)), nd.zeros((1500, 1500))
        for _ in range(400):
            nd.dot(a, a, out=c)
        sent = []

        def interrupt():
            sent.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)

        threading.Timer(0.2, interrupt).start()
        try:
            {look}
        except KeyboardInterrupt:
            print("in time" if time.monotonic() - sent[0] < 1.5 else "late")
        os._exit(0)""")
    assert (done.returncode, done.stdout, done.stderr) == (0, "in time\n", "")


def test_a_failing_import_says_why(tmp_path):
    (tmp_path / "numpy.py").write_text("raise ImportError('no such thing here')")
    done = subprocess.run([sys.executable, "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import strop"], capture_output=True, text=True, timeout=60)
    assert done.returncode != 0 and "strop needs NumPy: no such thing here" in done.stderr
