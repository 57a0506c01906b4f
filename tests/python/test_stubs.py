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
                *(node.target.id for node in tree.body if isinstance(node, ast.AnnAssign)), *(node.targets[0].id for node in tree.body if isinstance(node, ast.Assign))}
        for name, value in vars(module).items():
            operator = type(value) is mx._strop.Operator
            foreign = value is stubs or name in ("jax", "numpy", "torch") or isinstance(value, types.ModuleType) and not value.__name__.startswith("strop.")
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


@pytest.fixture(scope="module")
def site(written, tmp_path_factory):
    """The package as it is installed: stubs beside the files, and py.typed."""
    folder = tmp_path_factory.mktemp("site")
    shutil.copytree(pathlib.Path(mx.__file__).parent, folder / "strop", ignore=shutil.ignore_patterns("*.so", "include", "*.pyi"))
    shutil.copytree(written, folder, dirs_exist_ok=True)
    return folder


def checked(site, place, *arguments):
    """What mypy says, without what its releases spell each in its way: codes behind it, the module of built-in types, a
    type or None."""
    pytest.importorskip("mypy")
    done = subprocess.run([sys.executable, "-m", "mypy", "--cache-dir", site.parent / "cache", *arguments], capture_output=True, text=True,
                          env={**os.environ, "MYPYPATH": str(site)}, cwd=place, timeout=300)
    spellings = (r"  \[[a-z-]+\]$", ""), (r"\bbuiltins\.", ""), (r"\bUnion\[([\w.]+), None\]", r"\1 | None")
    lines = (done.stdout + done.stderr).splitlines()
    for old, new in spellings:
        lines = [re.sub(old, new, line) for line in lines]
    return lines


def test_the_package_says_that_it_is_typed():
    assert (pathlib.Path(mx.__file__).parent / "py.typed").exists()


def test_stubs_are_strict(site, tmp_path):
    said = checked(site, tmp_path, "--strict", "-p", "strop")
    assert re.fullmatch(r"Success: no issues found in \d+ source files", said[-1]), said


PROGRAM = [  # with what a type checker says of a line
    ("import numpy as np", None), ("import strop as mx", None), ("from strop import autograd, nd, sym", None), ("x = nd.array([[1.0, 2.0]])", None),
    ("reveal_type(x)", "strop._strop.NDArray"), ("reveal_type(nd.ones((2, 2), ctx=mx.cpu()))", "strop._strop.NDArray"), ("reveal_type(x[0])", "strop._strop.NDArray"),
    ("reveal_type(x.grad)", "strop._strop.NDArray"), ("reveal_type(x.asnumpy())", "numpy.ndarray[Any, Any]"), ("reveal_type(x.shape)", "tuple[int, ...]"),
    ("reveal_type((x > 1) & ~(x == 2))", "strop._strop.NDArray"), ("reveal_type(nd.relu(x))", "strop._strop.NDArray"), ("reveal_type(mx.sqrt(nd.relu(x)))", "strop._strop.NDArray"),
    ("reveal_type(nd.concat(x, x, dim=0))", "strop._strop.NDArray"), ("reveal_type(nd.stack([x, x]))", "strop._strop.NDArray"), ("reveal_type(nd.load('f')['w'])", "strop._strop.NDArray"),
    ("reveal_type(nd.sparse.csr_matrix(np.eye(2)))", "strop.ndarray.sparse_array.CSRNDArray"), ("reveal_type(nd.random.uniform(0, 1))", "strop._strop.NDArray"),
    ("reveal_type(sym.var('a'))", "strop._strop.Symbol"), ("net = sym.FullyConnected(sym.relu(sym.var('data')), num_hidden=3, name='fc')", None), ("reveal_type(net)", "strop._strop.Symbol"),
    ("run = net.simple_bind(mx.cpu(), data=(2, 3))", None), ("reveal_type(run)", "strop._strop.Executor"), ("out = run.forward(is_train=True)", None),
    ("reveal_type(out)", "list[strop._strop.NDArray]"), ("reveal_type(run.grad_dict['data'])", "strop._strop.NDArray"), ("reveal_type(run.outputs[0])", "strop._strop.NDArray"),
    ("with autograd.record():", None), ("    loss = nd.square(nd.relu(x) + 1).sum(axis=(0, 1)) + nd.cast(x, dtype=np.float32)[0]", None), ("loss.backward()", None),
    ("batch = next(mx.io.NDArrayIter(np.ones((4, 2)), batch_size=2))", None), ("reveal_type(batch.data[0])", "strop._strop.NDArray"), ("reveal_type(mx.current_context())", "strop.context.Context"),
    ("parts = mx.optimizer.SGD(learning_rate=0.1), mx.init.Xavier(), mx.metric.Accuracy(), mx.Error, mx.nd.contrib.MultiBoxPrior(x, sizes=(0.1, 0.2))", None), ("mx.random.seed(1)", None),
    ("class Twice(autograd.Function):", None), ("    def forward(self, given: nd.NDArray) -> nd.NDArray:", None), ("        return given * 2", None),
    ("    def backward(self, head: nd.NDArray) -> nd.NDArray:", None), ("        return head * 2", None), ("x[0] = 2", None), ("nd.save('f', {'x': x})", None), ("number = float(x[0]) + int(x.sum())", None),
    ("out[0].asnumpyy()", '"NDArray" has no attribute "asnumpyy"; maybe "asnumpy"?'), ("x.grad.asnumpyy()", '"NDArray" has no attribute "asnumpyy"; maybe "asnumpy"?'),
    ("net.tojsonn()", '"Symbol" has no attribute "tojsonn"; maybe "tojson"?'), ("run.forwards()", '"Executor" has no attribute "forwards"; maybe "forward"?'),
    ("def first(named: dict[str, nd.NDArray]) -> nd.NDArray:", None), ("    return named['w']", None), ("loaded = nd.load('f')", None), ("first(loaded)", None),
    ("reveal_type(loaded[0])", "strop._strop.NDArray"), ("reveal_type(loaded.get('w'))", "strop._strop.NDArray | None"), ("reveal_type([a for _, a in loaded.items()])", "list[strop._strop.NDArray]"),
    ("reveal_type(mx.load('f')['w'])", "strop._strop.NDArray"), ("a, b = nd.load('f')", None), ("loaded.values()[0]", 'Value of type "dict_values[Any, NDArray]" is not indexable'),
    ("nd.relu(x, x)", 'Too many positional arguments for "relu"'), ("nd.no_such", 'Module has no attribute "no_such"'), ("mx.optimizer.NoSuch", 'Module has no attribute "NoSuch"')]


def test_a_type_checker_reads_them(site, tmp_path):
    (tmp_path / "program.py").write_text("".join(f"{line}\n" for line, _ in PROGRAM))
    said = [line for line in checked(site, tmp_path, "--strict", "program.py") if line.startswith("program.py") and "defined in" not in line]
    wanted = [f'program.py:{number}: {"note: Revealed type is" if line.startswith("reveal") else "error:"} {f"{chr(34)}{answer}{chr(34)}" if line.startswith("reveal") else answer}'
              for number, (line, answer) in enumerate(PROGRAM, 1) if answer]
    assert said == wanted


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
