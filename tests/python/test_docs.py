# SPDX-License-Identifier: Apache-2.0
"""The programs of docs/python.md run, and print what they say that they print; what it says is left out is not there."""
import fnmatch
import pathlib
import re

import strop as mx

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/python.md"


def test_programs(capsys):
    blocks = re.findall(r"(?ms)^```python\n(.*?)^```", PAGE.read_text())
    assert blocks
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), {})
        printed = re.sub(r"\s+", " ", capsys.readouterr().out)
        for said in re.findall(r"print\(.*?\)\s+# (.*)", block):
            assert said in printed


def row_of(beginning):
    """The names between back quotes in the first column of a row of what is left out."""
    return re.findall(r"`([^`]+)`", re.search(rf"(?m)^\| {re.escape(beginning)}.*?(?= \|)", PAGE.read_text())[0])


def test_operators_that_are_left_out():
    known = {name.removeprefix("_contrib_") for names in mx._strop.list_operators() for name in names}
    left_out = row_of("operators `IdentityAttachKLSparseReg`")
    assert len(left_out) > 10 and "contrib" in left_out
    assert [name for name in left_out if fnmatch.filter(known, name)] == []
    for name in row_of("`np`"):
        module, _, member = name.rpartition(".")
        assert not hasattr(getattr(mx, module) if module else mx, member)
