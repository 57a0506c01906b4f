# SPDX-License-Identifier: Apache-2.0
"""Documents of operators say what the registry knows, and end with an example that gives what it shows."""
import re
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest

import strop as mx
from strop import _examples, autograd, nd, sym

OPERATORS = {names[0]: mx._strop.Operator(names[0], names[0], False) for names in mx._strop.list_operators()}
WITHOUT = {}  # {name: why}: operators of which no example can be shown


def cells(document):
    """[(program, what it shows)] of a document's example."""
    lines = document.partition("\nExamples\n--------\n")[2]
    found = re.findall(r"^>>> (.*(?:\n\.\.\. .*)*)((?:\n(?!>>>).*)*)", lines, re.M)
    return [(program.replace("\n... ", "\n"), output.strip("\n")) for program, output in found]


def test_every_operator_has_an_example():
    shown = {name for name, operator in OPERATORS.items() if "\nExamples\n--------\n>>> " in operator.__doc__}
    assert set(OPERATORS) - shown == set(WITHOUT)


@pytest.mark.parametrize("name", OPERATORS)
def test_examples_give_what_they_show(name, capsys):
    space = {"mx": mx, "nd": nd, "autograd": autograd}
    with np.printoptions(precision=4, suppress=True, threshold=64, edgeitems=2, linewidth=88), autograd.pause():
        for program, output in cells(OPERATORS[name].__doc__):
            exec(compile(f"{program}\n", name, "single"), space)
            assert capsys.readouterr().out.strip("\n") == output, program


def test_documents_say_what_there_is():
    said = nd.FullyConnected.__doc__
    assert "Gradient: with respect to data, weight, bias, of any order; keeps data, weight." in said and "num_hidden : int, required" in said
    assert "Storages: default -> default; default, row_sparse, default -> default;" in said
    assert "Gradient: zero wherever it exists." in nd.floor.__doc__ and "Gradient: none." in nd._internal._shuffle.__doc__
    assert "Gradient: with respect to data, up to order 3; keeps output." in nd.exp.__doc__
    assert "loss head (needs no head gradient), with respect to data, of first order; keeps label, output." in nd.SoftmaxOutput.__doc__
    assert "csr -> csr with scalar=0" in nd._internal._plus_scalar.__doc__
    assert "Gradient: with respect to data, gamma, beta, of first order;" in nd.BatchNorm.__doc__ and "Gradient: composed of operators, of any order." in nd.concat.__doc__
    assert "Gradient: with respect to lhs, rhs, of any order; keeps lhs, rhs." in nd.dot.__doc__  # whose gradient is one of products again
    assert "Shapes: one, of all inputs and of the result." in nd.exp.__doc__
    assert "Shapes of the example: data (4, 2), weight (3, 2), bias (3,) -> (4, 3)." in said


def test_examples_go_by_the_name_that_was_looked_up():
    assert ">>> nd.concat(" in nd.concat.__doc__ and ">>> nd.Concat(" in nd.Concat.__doc__ and ">>> nd.concat(" in sym.concat.__doc__
    assert ">>> nd.contrib.quadratic(" in nd.contrib.quadratic.__doc__


@pytest.fixture
def unread():
    """No example has run."""
    kept = dict(_examples._found)
    _examples._found.clear()
    yield
    _examples._found.update(kept)


@pytest.mark.parametrize("name", ("softmax", "log_softmax", "softmin", "BatchNorm", "L2Normalization"))
def test_gradients_in_examples_are_not_all_zeros(name):
    """The sum of such results is the same whatever the input is."""
    said = getattr(nd, name).__doc__
    shown = said.partition(".grad\n")[2]
    assert any(float(number) for number in re.findall(r"-?\d+\.\d*", shown.partition("<NDArray")[0]))


def test_an_example_runs_once(unread):
    before = nd.exp.__doc__
    with mx.cpu(1):
        assert nd.exp.__doc__ == before and "@cpu(0)" in before and nd.log.__doc__.count("@cpu(0)") == 2
    assert len(_examples._found) == 2 and not any(session.space for session, _ in _examples._found.values())


def test_threads_read_documents(unread):
    options, filters = np.get_printoptions(), list(warnings.filters)
    alone = {name: operator.__doc__ for name, operator in OPERATORS.items()}
    _examples._found.clear()
    read = [{}, {}]

    def work(found):
        for name, operator in OPERATORS.items():
            found[name] = operator.__doc__

    threads = [threading.Thread(target=work, args=(found,)) for found in read]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        assert np.get_printoptions() == options and warnings.filters == filters
        threads[0].join(0.001)
    threads[1].join()
    assert read == [alone, alone] and np.get_printoptions() == options and warnings.filters == filters


def test_no_example_falls_back(unread):
    mx.clear_fallbacks()
    before = mx.set_fallback("error")
    try:
        assert all(">>> " in operator.__doc__ for operator in OPERATORS.values()) and mx.fallbacks() == []
    finally:
        mx.set_fallback(before)


def test_reading_a_document_changes_nothing(unread):
    mx.random.seed(3)
    expected = nd.random.uniform(shape=(4,)).asnumpy()
    mx.random.seed(3)
    mx.clear_fallbacks()
    x = nd.ones((2,))
    x.attach_grad()
    with autograd.record():
        for operator in OPERATORS.values():
            assert operator.__doc__
        y = x * 2
        assert autograd.is_recording() and autograd.is_training()
    y.backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), [2, 2])
    np.testing.assert_array_equal(nd.random.uniform(shape=(4,)).asnumpy(), expected)
    assert mx.fallbacks() == []


def test_nothing_runs_when_the_package_is_imported():
    program = "import sys, strop; assert 'strop._examples' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
