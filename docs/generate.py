#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the site: generate.py --command build/strop --out FOLDER

FOLDER/index.html begins it, and opens from the file system. Pages are those of docs/; what operators there are the command says
(`strop ops --json`); their signatures, results and plots, and the modules of Python, are those of the Python package, which has to
be importable. Doxygen reads the C++ classes, Sphinx makes the site. Every warning of Sphinx is a failure.
"""
import argparse
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys

SITE = pathlib.Path(__file__).resolve().parent / "site"
sys.path.insert(0, str(SITE))
import operators  # noqa: E402
import sources  # noqa: E402


def operators_of(command):
    done = subprocess.run([str(command), "ops", "--json"], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"run docs: {command} ops --json failed\n{done.stderr}")
    return json.loads(done.stdout)


def write_operators(command, folder):
    """Writes the operator reference into a folder, as reStructuredText; how many operators it has."""
    folder.mkdir(parents=True, exist_ok=True)
    return operators.write_all(operators_of(command), folder)


def lacking():
    """What the site is made with and is not here."""
    yield from (name for name in ("sphinx", "myst_parser", "furo") if importlib.util.find_spec(name) is None)
    if shutil.which("doxygen") is None:
        yield "doxygen"


def write_site(out):
    """Writes all but the operators, and has Sphinx make the site; ends the program with one line for each fault."""
    faults = sources.write_all(out / "source", out / "doxygen")
    jobs = len(os.sched_getaffinity(0))
    done = subprocess.run([sys.executable, "-W", "ignore", "-m", "sphinx", "-q", "-W", "--keep-going", "-j", str(jobs), "-d", out / "doctrees",
                           out / "source", out / "site"], capture_output=True, text=True)
    if faults or done.returncode != 0:
        sys.exit("\n".join(["run docs: the site has faults", *faults, done.stderr]))


def main():
    parser = argparse.ArgumentParser(prog="run docs")
    parser.add_argument("--command", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder of the site")
    options = parser.parse_args()
    if missing := list(lacking()):
        sys.exit(f"run docs: missing: {', '.join(missing)} for {sys.executable} (Debian, for /usr/bin/python3: doxygen python3-sphinx python3-myst-parser furo)")
    out = options.out.resolve()
    count = write_operators(options.command, out / "source/operators")
    write_site(out)
    print(f"{count} operators and all pages: {options.out / 'site/index.html'}")


if __name__ == "__main__":
    main()
