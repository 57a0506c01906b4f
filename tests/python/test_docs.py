# SPDX-License-Identifier: Apache-2.0
"""The programs and commands of docs/*.md run, and print what the pages say; what docs/python.md says is left out is not there."""
import fnmatch
import re
import subprocess

import pytest
from page_programs import COMMAND, DOCS, blocks_of, run_page

import strop as mx

PAGE = DOCS / "python.md"
OWN_MODULES = ["your-operator"]  # test_library.py builds the modules that this page imports


@pytest.mark.parametrize("page", [page for page in sorted(DOCS.glob("*.md")) if blocks_of(page) and page.stem not in OWN_MODULES], ids=lambda page: page.stem)
def test_programs(page, tmp_path, monkeypatch):
    assert run_page(page, tmp_path, monkeypatch)


def test_every_command_has_an_entry():
    """Those of ./run and of `strop`, in CONTRIBUTING.md and on the page of the command."""
    root = DOCS.parent
    usage = re.search(r"(?s)<<'EOF'\n(.*?)\nEOF", (root / "run").read_text())[1]
    commands = set(re.findall(r"(?m)^  (\w+) ", usage))
    text = (root / "CONTRIBUTING.md").read_text() + (root / "README.md").read_text()
    assert len(commands) > 7 and [one for one in sorted(commands) if f"./run {one}" not in text] == []
    if not COMMAND.exists():
        pytest.skip("the command is not built here")
    said = subprocess.run([COMMAND, "--help"], capture_output=True, text=True, check=True).stdout
    commands = set(re.findall(r"(?m)^  ([a-z]+) ", said.partition("COMMANDS")[2] or said.partition("Subcommands")[2]))
    assert len(commands) > 7 and [one for one in sorted(commands) if f"`strop {one}" not in (DOCS / "command.md").read_text()] == []


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
