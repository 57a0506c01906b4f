# SPDX-License-Identifier: Apache-2.0
"""The engine from Python: waiting, what it is given, bulks, traces."""
import json

import numpy as np
import pytest

import strop


def test_a_trace_has_the_calls_that_were_made_inside(tmp_path):
    path = tmp_path / "trace.json"
    with strop.engine.trace(path):
        strop.nd.tanh(strop.nd.ones((4, 4)))
    text = path.read_text()
    assert "tanh" in text and json.loads(text)
    with pytest.raises(strop.Error), strop.engine.trace(tmp_path / "a.json"), strop.engine.trace(tmp_path / "b.json"):
        pass
    with strop.engine.trace(path):  # a new one may begin, and overwrites
        strop.nd.exp(strop.nd.ones((4, 4)))
    assert "exp" in path.read_text()


@pytest.fixture
def asynchronous():
    yield
    strop.engine.set_asynchronous(True)


def test_calls_are_handed_over_or_not(asynchronous):
    """With the same results; what fails is said by the call, or by whoever waits."""
    x = strop.nd.full((1 << 19,), 3)
    found = []
    for on in (True, False):
        strop.engine.set_asynchronous(on)
        y = strop.nd.square(x) + 1
        strop.engine.waitall()
        found.append(y.asnumpy())
    np.testing.assert_array_equal(found[0], np.full(1 << 19, 10, "f4"))
    np.testing.assert_array_equal(found[1], found[0])


def test_bulks_are_scopes_that_change_no_result():
    """MXNet's names: a scope puts back what was said before it, also where it is left by a failure."""
    before = strop.engine.set_bulk_size(7)
    try:
        with strop.engine.bulk(30):
            assert strop.engine.set_bulk_size(30) == 30
            y = strop.nd.ones((2,)) + 1
        with pytest.raises(KeyError), strop.engine.bulk(1):
            raise KeyError
        assert strop.engine.set_bulk_size(7) == 7 and y.asnumpy().tolist() == [2, 2]
    finally:
        strop.engine.set_bulk_size(before)
