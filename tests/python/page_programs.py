# SPDX-License-Identifier: Apache-2.0
"""Runs what a page of docs/ shows, from its own text: ```python blocks and ```console blocks, in the order of the page.

Python blocks share one namespace. What a `print(…)  # said` says has to be printed, and where a fenced text follows at once, it is all
that is printed. In a console block lines that begin with `$ ` are commands of a shell; the lines after each are what it prints. In a
text, `…` stands for anything. Everything runs in one empty folder.
"""
import contextlib
import io
import os
import pathlib
import re
import subprocess
import sys

import pytest

import strop as mx

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
COMMAND = pathlib.Path(mx.__file__).parents[2] / "strop"
BLOCK = re.compile(r"(?ms)^```(python|console)\n(.*?)^```\n(?:\n```\n(.*?)^```\n)?")


def blocks_of(page):
    return BLOCK.findall(page.read_text())


def squeezed(text):
    return re.sub(r"\s+", " ", text).strip()


def matches(expected, came):
    """Whether a text is as a page says it, but for white space."""
    pattern = ".*".join(re.escape(squeezed(piece)) for piece in expected.split("…"))
    return re.fullmatch(pattern.replace(r".*\ ", ".*").replace(r"\ .*", ".*"), squeezed(came), re.S) is not None


def run_python(page, code, output, space):
    for host in set(re.findall(r"(?m)^\s*(?:import|from) (jax|torch|pandas|scipy)\b", code)):
        pytest.importorskip(host, {"torch": "2.9", "jax": "0.5"}.get(host))
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, str(page), "exec"), space)
    came = squeezed(printed.getvalue())
    for said in re.findall(r"print\(.*?\)\s+# (.*)", code):
        assert said in came
    assert not output or matches(output, came), f"{page.name} says\n{output}\nand it printed\n{printed.getvalue()}"


def run_console(page, text, folder):
    if not COMMAND.exists():
        pytest.skip("the command is not built here")
    environment = {**os.environ, "PATH": f"{COMMAND.parent}{os.pathsep}{os.environ['PATH']}"}
    for command, output in re.findall(r"(?m)^\$ (.*)\n((?:(?!\$ ).*\n)*)", text):
        command = re.sub(r"\s+#.*", "", re.sub(r"^python3\b", sys.executable, command))
        done = subprocess.run(command, shell=True, capture_output=True, text=True, cwd=folder, env=environment, timeout=120)
        assert done.returncode == 0, f"{page.name}: {command}\n{done.stdout}{done.stderr}"
        assert not output or matches(output, done.stdout), f"{page.name} says of {command}\n{output}\nand it printed\n{done.stdout}"


def run_page(page, folder, monkeypatch):
    """Everything that a page shows; how many blocks it has."""
    monkeypatch.chdir(folder)
    space = {"__name__": "__main__"}
    blocks = blocks_of(page)
    for language, text, output in blocks:
        if language == "python":
            run_python(page, text, output, space)
        else:
            run_console(page, text, folder)
    return len(blocks)
