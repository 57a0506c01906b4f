# SPDX-License-Identifier: Apache-2.0
"""The programs of docs/python.md run, and print what they say that they print."""
import pathlib
import re

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/python.md"


def test_programs(capsys):
    blocks = re.findall(r"(?ms)^```python\n(.*?)^```", PAGE.read_text())
    assert blocks
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), {})
        printed = re.sub(r"\s+", " ", capsys.readouterr().out)
        for said in re.findall(r"print\(.*?\)\s+# (.*)", block):
            assert said in printed
