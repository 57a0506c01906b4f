# SPDX-License-Identifier: Apache-2.0
"""Stubs are Python, and say what the registry says."""
import ast
import importlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import types

import pytest

import strop as mx
from strop import nd, stubs

GOLDEN = pathlib.Path(__file__).with_name("signatures.txt")


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stubs")
    stubs.main(folder)
    return folder


def test_every_name_stands_there(written):
    """Operators with their parameters; what another module says is taken from there, and is the same."""
    for path, module in stubs.modules().items():
        tree = ast.parse((written / path).read_text())
        functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
        taken = {alias.asname: (node.module, alias.name) for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names if alias.asname}
        said = {*functions, *taken, *(node.name for node in tree.body if isinstance(node, ast.ClassDef)),
                *(node.target.id for node in tree.body if isinstance(node, ast.AnnAssign))}
        for name, value in vars(module).items():
            operator = type(value) is mx._strop.Operator
            foreign = value is stubs or isinstance(value, types.ModuleType) and not value.__name__.startswith("strop.")
            if module is not mx._strop and not foreign and (operator or not name.startswith("_")):
                assert name in said, f"{path} has no {name}"
            if name in taken:
                place, own = taken[name]
                found = importlib.import_module(place)
                assert getattr(found, own, None) is value or sys.modules[f"{place}.{own}"] is value
            elif operator:
                names = [a.arg for a in functions[name].args.posonlyargs + functions[name].args.args + functions[name].args.kwonlyargs]
                assert [p["name"] for p in value.description["params"]] == [n for n in names if n in [p["name"] for p in value.description["params"]]], name


def test_arrays_and_symbols_have_their_methods(written):
    classes = {node.name: node for node in ast.parse((written / "strop/_strop.pyi").read_text()).body if isinstance(node, ast.ClassDef)}
    members = {name: {node.name: ast.unparse(node.args) + " -> " + ast.unparse(node.returns) for node in classes[name].body if isinstance(node, ast.FunctionDef)}
               for name in ("NDArray", "Symbol")}
    assert members["NDArray"]["clip"] == "self, a_min: float, a_max: float, *, out: Any=None, name: Any=None -> NDArray"
    assert members["Symbol"]["clip"].startswith("self, a_min: float=..., a_max: float=...") and members["Symbol"]["clip"].endswith(", **attributes: Any -> Symbol")
    assert members["NDArray"]["__add__"].endswith("-> NDArray") and members["NDArray"]["__len__"].endswith("-> int") and "asnumpy" in members["NDArray"]
    assert [b.id for b in classes["Error"].bases if isinstance(b, ast.Name)] == [] and [ast.unparse(b) for b in classes["ValueError"].bases] == ["Error", "builtins.ValueError"]


def test_a_build_writes_the_same(written, tmp_path):
    """And its folder is newer each time, which is what ninja looks at."""
    command = [sys.executable, GOLDEN.parents[2] / "src/python/stubs/write.py", pathlib.Path(mx.__file__).parents[1], tmp_path]
    subprocess.run(command, check=True, timeout=60)
    assert {p.relative_to(tmp_path): p.read_text() for p in tmp_path.rglob("*.pyi")} == {p.relative_to(written): p.read_text() for p in written.rglob("*.pyi")}
    os.utime(tmp_path / "strop", (0, 0))
    subprocess.run(command, check=True, timeout=60)
    assert (tmp_path / "strop").stat().st_mtime > 0


def test_a_type_checker_reads_them(written, tmp_path):
    pytest.importorskip("mypy")
    site = tmp_path / "site"
    package = pathlib.Path(mx.__file__).parent
    shutil.copytree(package, site / "strop", ignore=shutil.ignore_patterns("*.so", "include", "*.pyi"))
    shutil.copytree(written, site, dirs_exist_ok=True)
    (site / "strop/py.typed").touch()
    program = tmp_path / "program.py"
    program.write_text("""import numpy as np
import strop as mx
from strop import autograd, nd, sym

x = nd.ones((2, 2))
with autograd.record():
    loss = nd.square(nd.relu(x) + 1).sum(axis=0) + nd.cast(x, dtype=np.float32)[0]
loss.backward()
net = sym.FullyConnected(sym.relu(sym.var("x")), num_hidden=3, name="fc")
trained = mx.optimizer.SGD(learning_rate=0.1), mx.init.Xavier(), mx.random.seed(1), mx.nd.sparse.csr_matrix, mx.Error, mx.cpu(0)
reveal_type(nd.relu(x))
reveal_type(mx.sqrt(nd.relu(x)))
reveal_type(net)
nd.relu(x, x)
nd.no_such
""")
    done = subprocess.run([sys.executable, "-m", "mypy", "--follow-imports=silent", "--cache-dir", tmp_path / "cache", program], capture_output=True, text=True,
                          env={**os.environ, "MYPYPATH": str(site)}, cwd=tmp_path, timeout=300)
    said = [line.split(":", 2)[1:] for line in done.stdout.splitlines() if line.startswith("program.py")]
    # without the code behind it, which releases of mypy name each in its way
    assert [(int(line), re.sub(r"  \[[a-z-]+\]$", "", text.strip())) for line, text in said if "defined in" not in text] == [
        (11, 'note: Revealed type is "strop._strop.NDArray"'), (12, 'note: Revealed type is "strop._strop.NDArray"'),
        (13, 'note: Revealed type is "strop._strop.Symbol"'), (14, 'error: Too many positional arguments for "relu"'),
        (15, 'error: Module has no attribute "no_such"')], done.stdout + done.stderr


def test_signatures_stay_as_they_are():
    """Lines of signatures.txt hold, and each operator has one; STROP_WRITE_GOLDEN=1 writes it anew."""
    now = {}
    inside = ("contrib", "image", "linalg", "random", "sparse")
    for space, module in (("nd", nd), *((f"nd.{name}", getattr(nd, name)) for name in inside), ("sym", mx.sym), *((f"sym.{name}", getattr(mx.sym, name)) for name in inside)):
        for name, value in vars(module).items():
            if type(value) is mx._strop.Operator and not name.startswith("_"):
                now[f"{space}.{name}"] = stubs._call(value)
    if os.environ.get("STROP_WRITE_GOLDEN"):
        GOLDEN.write_text("".join(f"{name}{now[name]}\n" for name in sorted(now)))
    golden = dict((line[:line.index("(")], line[line.index("("):]) for line in GOLDEN.read_text().splitlines())
    assert len(golden) > 500
    assert now == golden
