# SPDX-License-Identifier: Apache-2.0
"""Traces of the engine from Python."""
import json

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
