#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the operator reference from the registry: generate.py --command build/strop --out FOLDER

OUT/index.html lists all operators, OUT/NAME.html says all that is known of one. What there is the command says
(`strop ops --json`); signatures, results and plots are those of the Python package, which has to be importable.
"""
import argparse
import json
import pathlib
import shutil
import subprocess
import sys

REFERENCE = pathlib.Path(__file__).resolve().parent / "reference"
sys.path.insert(0, str(REFERENCE))
import pages  # noqa: E402


def operators_of(command):
    done = subprocess.run([str(command), "ops", "--json"], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"run docs: {command} ops --json failed\n{done.stderr}")
    return json.loads(done.stdout)


def write(command, out):
    """Writes the reference into a folder; how many operators it has."""
    out.mkdir(parents=True, exist_ok=True)
    for name in ("style.css", "search.js"):
        shutil.copyfile(REFERENCE / name, out / name)
    return pages.write_all(operators_of(command), out)


def main():
    parser = argparse.ArgumentParser(prog="run docs")
    parser.add_argument("--command", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder of the pages")
    options = parser.parse_args()
    print(f"{write(options.command, options.out)} operators in {options.out / 'index.html'}")


if __name__ == "__main__":
    main()
