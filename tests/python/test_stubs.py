# SPDX-License-Identifier: Apache-2.0
"""Stubs are Python, and say what the registry says."""
import ast

import strop as mx
from strop import stubs


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
