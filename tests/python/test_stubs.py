# SPDX-License-Identifier: Apache-2.0
"""Stubs are Python, and say what the registry says."""
import ast
import os
import pathlib

import strop as mx
from strop import nd, stubs

GOLDEN = pathlib.Path(__file__).with_name("signatures.txt")


def test_every_operator_stands_there(tmp_path):
    stubs.main(tmp_path)
    for path, module in stubs.modules().items():
        tree = ast.parse((tmp_path / path).read_text())
        functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
        for name, value in vars(module).items():
            if type(value) is not mx._strop.Operator:
                continue
            names = [a.arg for a in functions[name].args.posonlyargs + functions[name].args.args + functions[name].args.kwonlyargs]
            assert [p["name"] for p in value.description["params"]] == [n for n in names if n in [p["name"] for p in value.description["params"]]], name
    classes = {node.name: node for node in ast.parse((tmp_path / "strop/ndarray/__init__.pyi").read_text()).body if isinstance(node, ast.ClassDef)}
    members = {node.name: ast.unparse(node.args) for node in classes["NDArray"].body if isinstance(node, ast.FunctionDef)}
    assert members["clip"] == "self, a_min: float, a_max: float, *, out=None, name=None" and "asnumpy" in members


def test_signatures_stay_as_they_are():
    """Lines of signatures.txt hold; STROP_WRITE_GOLDEN=1 writes it anew, with the operators that have come since."""
    now = {}
    for space, module in (("nd", nd), *((f"nd.{name}", getattr(nd, name)) for name in ("contrib", "image", "linalg", "random", "sparse"))):
        for name, value in vars(module).items():
            if type(value) is mx._strop.Operator and not name.startswith("_"):
                now[f"{space}.{name}"] = stubs._call(value)
    if os.environ.get("STROP_WRITE_GOLDEN"):
        GOLDEN.write_text("".join(f"{name}{now[name]}\n" for name in sorted(now)))
    golden = dict((line[:line.index("(")], line[line.index("("):]) for line in GOLDEN.read_text().splitlines())
    assert len(golden) > 250
    assert {name: now.get(name) for name in golden} == golden
