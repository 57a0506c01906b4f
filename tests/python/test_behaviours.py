# SPDX-License-Identifier: Apache-2.0
"""What lines of programs give in MXNet 1.9.1, and here: tests/python/behaviours.txt has a line of Python, ` -> ` and what its
last expression is there, or the kind of error that it raises."""
import ast
import math
import pathlib
import warnings

import numpy as np
import pytest

import strop as mx

LINES = [line for line in pathlib.Path(__file__).with_name("behaviours.txt").read_text().splitlines() if line and not line.startswith("#")]
SPACE = {"mx": mx, "nd": mx.nd, "sym": mx.sym, "autograd": mx.autograd, "np": np}


def said(value):
    """A value as numbers, texts, lists and tuples: of an array its storage, type, shape and elements."""
    if isinstance(value, SPACE["nd"].NDArray):
        return (*([] if value.stype == "default" else [value.stype]), *said(value.asnumpy()))
    if isinstance(value, np.ndarray):
        return value.dtype.name, value.shape, said(value.ravel().tolist())
    if isinstance(value, (float, np.floating)):
        return float(f"{value:.5g}") if math.isfinite(value) else str(value)
    if isinstance(value, SPACE["sym"].Symbol):
        return value.list_arguments(), value.list_outputs(), value.list_auxiliary_states()
    if isinstance(value, type):
        return value.__name__
    if isinstance(value, dict):
        return sorted((str(key), said(one)) for key, one in value.items())
    if isinstance(value, (list, tuple)):
        return type(value)([said(one) for one in value]) if type(value) in (list, tuple) else [said(one) for one in value]
    return value.item() if isinstance(value, np.generic) else value


def result_of(line):
    """What the last expression of a line is, or the names of the kinds of error that it is."""
    *before, last = ast.parse(line).body
    space = dict(SPACE)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(ast.Module(before, []), line, "exec"), space)
        try:
            return said(eval(compile(ast.Expression(last.value), line, "eval"), space))
        except Exception as error:
            return {kind.__name__.replace("MXNetError", "Error") for kind in type(error).__mro__} - {"object", "BaseException", "Exception"}


def alike(found, wanted):
    if isinstance(wanted, (list, tuple)):
        return type(found) is type(wanted) and len(found) == len(wanted) and all(map(alike, found, wanted))
    if isinstance(wanted, set):
        return isinstance(found, set) and wanted <= found
    if isinstance(wanted, float):
        return isinstance(found, (int, float)) and math.isclose(found, wanted, rel_tol=2e-4, abs_tol=1e-6)
    return found == wanted


@pytest.mark.parametrize("line", LINES)
def test_as_in_mxnet(line, tmp_path, monkeypatch):
    program, _, wanted = line.rpartition(" -> ")
    monkeypatch.chdir(tmp_path)
    assert alike(found := result_of(program), ast.literal_eval(wanted)), f"{found} instead of {wanted}"
