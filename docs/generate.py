#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the operator pages from the registry: generate.py --command build/strop --out FOLDER

OUT/index.md is a table of all operators, OUT/NAME.md what `strop describe NAME` says of one.
"""
import argparse
import json
import pathlib
import subprocess
import sys


def say(command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"run docs: {' '.join(map(str, command))} failed\n{done.stderr}")
    return done.stdout


def signature(operator):
    parameters = [p["name"] if p["default"] is None else f"{p['name']}={p['default'] or repr('')}" for p in operator["params"]]
    return f"{operator['name']}({', '.join([*operator['inputs'], *parameters])})"


def main():
    parser = argparse.ArgumentParser(prog="run docs")
    parser.add_argument("--command", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder of the pages")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    operators = sorted(json.loads(say([options.command, "ops", "--json"])), key=lambda o: o["name"].lower())
    lines = ["# Operators", "", "| operator | gradient | storages | devices |", "|---|---|---|---|"]
    for operator in operators:
        name = operator["name"]
        page = options.out / f"{name}.md"
        page.write_text(f"# {name}\n\n```text\n{say([options.command, 'describe', name]).rstrip()}\n```\n")
        cells = [f"[`{signature(operator)}`]({page.name})", *(listed(operator[k]) for k in ("gradient", "storages", "devices"))]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    (options.out / "index.md").write_text("\n".join(lines) + "\n")
    print(f"{len(operators)} operators in {options.out / 'index.md'}")


def listed(value):
    return "; ".join(map(str, value)) if isinstance(value, list) else str(value)


if __name__ == "__main__":
    main()
