# SPDX-License-Identifier: Apache-2.0
"""Other threads and processes of Python."""
import multiprocessing
import subprocess
import sys
import threading

import pytest

from strop import nd


def test_other_threads_run_while_a_call_computes():
    counted, stop = [0], threading.Event()

    def count():
        while not stop.is_set():
            counted[0] += 1

    thread = threading.Thread(target=count)
    thread.start()
    a = nd.ones((700, 700))
    try:
        before = counted[0]
        for _ in range(5):
            nd.dot(a, a).asnumpy()
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
    program = "import strop as mx; x = mx.nd.ones((1 << 20,)); x.attach_grad(); y = x + 1; s = mx.sym.relu(mx.sym.var('x')); r = s.bind(mx.cpu(), {'x': x})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_failing_import_says_why(tmp_path):
    (tmp_path / "numpy.py").write_text("raise ImportError('no such thing here')")
    done = subprocess.run([sys.executable, "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import strop"], capture_output=True, text=True, timeout=60)
    assert done.returncode != 0 and "strop needs NumPy: no such thing here" in done.stderr
