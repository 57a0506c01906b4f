# SPDX-License-Identifier: Apache-2.0
"""The programs and commands of docs/*.md run, and print what the pages say; what docs/python.md says is left out is not there."""
import fnmatch
import re

import pytest
from page_programs import DOCS, blocks_of, run_page

import strop as mx

PAGE = DOCS / "python.md"
OWN_MODULES = ["your-operator"]  # test_library.py builds the modules that this page imports


@pytest.mark.parametrize("page", [page for page in sorted(DOCS.glob("*.md")) if blocks_of(page) and page.stem not in OWN_MODULES], ids=lambda page: page.stem)
def test_programs(page, tmp_path, monkeypatch):
    assert run_page(page, tmp_path, monkeypatch)


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
