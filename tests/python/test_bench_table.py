# SPDX-License-Identifier: Apache-2.0
"""The table of bench/operators: its rows are calls that the registry knows, and every operator is accounted for."""
import inspect
import pathlib
import sys

import numpy as np
import pytest

import strop as mx
from strop import nd

BENCH = pathlib.Path(__file__).resolve().parents[2] / "bench"
sys.path[:0] = [str(BENCH), str(BENCH / "peers")]
from operators import arrays, table  # noqa: E402
import package_operators  # noqa: E402
import ranking  # noqa: E402

CASES = table.load()
NAMES = {name: names[0] for names in mx._strop.list_operators() for name in names}
SMALL = [case for case in CASES if "small" in case.name and sum(map(table.size_of, case.inputs)) < 1e5]


def called(name):
    """An operator's own name; its names without prefix are those that lists show."""
    return next(NAMES[other] for other in (name, f"_{name}", f"_contrib_{name}") if other in NAMES)


def test_every_operator_has_a_row_or_a_reason():
    rows, reasons = {called(case.operator) for case in CASES}, {called(name) for name in table.WITHOUT}
    assert not rows & reasons
    assert rows | reasons == set(NAMES.values())


def test_rows_name_what_the_operators_take():
    for case in CASES:
        known = set(inspect.signature(package_operators.function(case.operator)).parameters)
        assert set(case.params) <= known, case.name
        assert case.torch or case.numpy, case.name
        assert all(case.inputs[i].dtype in ("f16", "f32", "f64") for i in case.grads), case.name
    assert len({case.name for case in CASES}) == len(CASES)


@pytest.mark.parametrize("operator", sorted({case.operator for case in SMALL}))
def test_small_rows_run(operator):
    case = next(case for case in SMALL if case.operator == operator)
    made = [arrays.array(one, k) for k, one in enumerate(case.inputs)]
    result = package_operators.function(operator)(*(nd.array(a, dtype=a.dtype) for a in made), **case.params)
    assert all(y.size > 0 for y in (result if isinstance(result, list) else [result]))


def test_inputs_are_what_they_are_called():
    for make, holds in ((table.definite, lambda a: (np.linalg.eigvalsh(a) > 0).all() and (a == a.T).all()), (table.symmetric, lambda a: (a == a.T).all()), (table.lower, lambda a: (np.triu(a, 1) == 0).all())):
        assert holds(arrays.array(make(1, 9, 9), 2)[0])
    whole = arrays.array(table.places(5, 1000), 1)
    assert whole.dtype == np.int64 and set(whole) == set(range(5))
    spread = arrays.array(table.of(1000, low=2, high=3), 0)
    assert spread.dtype == np.float32 and spread.min() >= 2 and spread.max() < 3 and abs(spread.mean() - 2.5) < 0.03


def test_values_that_differ_are_told(tmp_path, monkeypatch):
    monkeypatch.setenv("STROP_BENCH_DATA", str(tmp_path))
    (tmp_path / "operators-found.txt").write_text("a row\tresult 0\t3\t1\t2\tnan\n")
    found = arrays.Found()
    found.compare("a row", "result 0", np.array([1, 2, np.nan]))
    assert found.same == 1 and not found.differ
    found.compare("a row", "result 0", np.array([1, 2.5, np.nan]))
    found.compare("a row", "result 0", np.array([1, 2]))
    found.compare("another row", "result 0", np.array([1]))
    assert found.same == 1 and found.differ == ["a row, result 0: 1 of 3 samples, the first 2 of ours, 2.5", "a row, result 0: 2 elements, ours has 3"]


def test_the_report_begins_with_the_worst():
    best = {"exp, small": {"strop": 10.0, "package": 16.0, "torch": 40.0, "numpy": 20.0}, "dot, small": {"strop": 10.0, "torch": 5.0}, "ours alone": {"strop": 1.0, "package": 2.0}}
    found = ranking.Ranking(best, {"exp, small": {"strop": 10.0, "torch": 30.0}}, {"exp, small": (4.0, 1.0)})
    head, worst, other = (line.split() for line in found.table(["numpy", "torch"]))
    assert head == ["strop", "package", "bound", "of", "it", "x", "medians", "Python", "numpy", "torch"]
    assert worst == ["dot,", "small", "0.010", "-", "-", "-", "0.50x", "-", "-", "-", "0.005"]
    assert other == ["exp,", "small", "0.010", "0.016", "0.004", "40%", "2.00x", "3.00x", "1.25x", "0.020", "0.040"]
    families = [line.split() for line in found.families(lambda case: case.split(",")[0])]
    assert families[1:] == [["all", "2", "1.00x", "3.00x", "1.25x", "1"], ["dot", "1", "0.50x", "-", "-", "1"], ["exp", "1", "2.00x", "3.00x", "1.25x", "0"]]
