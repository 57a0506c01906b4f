# SPDX-License-Identifier: Apache-2.0
"""Operators from outside the package: Python modules that are made of structs, and shared libraries. The examples are built
as projects of their own: with Meson, where strop is a subproject, and with CMake, against the headers of the package."""
import importlib.util
import inspect
import os
import pathlib
import pickle
import re
import shutil
import subprocess
import sys
import sysconfig
import types

import numpy as np
import pytest
from page_programs import run_page

import strop as mx
from strop import autograd, nd, sym

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(pathlib.Path(mx.__file__).parents[1])}
WRAP = "[wrap-file]\ndirectory = strop\n\n[provide]\ndependency_names = strop\n"


def must(*command, cwd, environment=ENVIRONMENT):
    done = subprocess.run([str(word) for word in command], cwd=cwd, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def imported(path):
    """A fresh module from the file of an extension."""
    name = path.name.split(".")[0]
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def curves_file(tmp_path_factory):
    if not shutil.which("meson"):
        pytest.skip("meson is not installed")
    project = tmp_path_factory.mktemp("meson") / "curves"
    shutil.copytree(EXAMPLES / "python-meson", project)
    (project / "subprojects").mkdir()
    (project / "subprojects/strop").symlink_to(ROOT)
    (project / "subprojects/strop.wrap").write_text(WRAP)
    (project / "native.ini").write_text(f"[binaries]\npython = '{sys.executable}'\n")
    must("meson", "setup", "build", "--native-file=native.ini", "-Doptimization=0", cwd=project)
    must("ninja", "-C", "build", cwd=project)
    (built,) = (project / "build").glob("curves.*.so")
    return built


@pytest.fixture(scope="session")
def curves(curves_file):
    return imported(curves_file)


MASKED = """
struct Masked {
  static constexpr std::string_view inputs[] = {"x", "mask"};
  constexpr auto forward(auto x, strop::Integer auto mask) const { return where(mask, x, 0); }
};
inline constexpr strop::Op<Masked> masked;
"""


@pytest.fixture(scope="session")
def rows(tmp_path_factory):
    if not shutil.which("cmake"):
        pytest.skip("cmake is not installed")
    project = tmp_path_factory.mktemp("cmake") / "rows"
    shutil.copytree(EXAMPLES / "python-scikit-build", project)
    source = project / "rows.cpp"
    source.write_text(source.read_text().replace("PyMODINIT_FUNC", MASKED + "PyMODINIT_FUNC"))
    must("cmake", "-S", ".", "-B", "build", f"-DPython_EXECUTABLE={sys.executable}", cwd=project)
    must("cmake", "--build", "build", cwd=project)
    (built,) = (project / "build").glob("rows.*.so")
    return imported(built)


@pytest.fixture(scope="session")
def c_library(tmp_path_factory):
    """Shared libraries that are written in C."""
    compiler = shutil.which("cc")
    if not compiler:
        pytest.skip("there is no C compiler")
    folder = tmp_path_factory.mktemp("libraries")

    def make(name, text):
        (folder / "source.c").write_text(text)
        must(compiler, "-shared", "-fPIC", f"-I{mx.get_include()}", "source.c", "-o", name, cwd=folder)
        return folder / name

    return make


def test_a_struct_is_a_function(curves):
    x = nd.array([-0.5, 0, 1.5])
    assert curves.squash(x, beta=2).asnumpy().tolist() == [-0.25, 0, 0.375]
    assert curves.squash(x, 2).asnumpy().tolist() == curves.squash(x, beta="2").asnumpy().tolist() == [-0.25, 0, 0.375]
    out = nd.zeros((3,))
    assert curves.squash(x, out=out) is out and np.allclose(out.asnumpy(), [-1 / 3, 0, 0.6])
    assert curves.squash(nd.array(np.arange(3), dtype="float64")).dtype == np.float64
    assert curves.__all__ == ["Squash", "squash"] and "squash: x / (1 + beta |x|)" in curves.__doc__


def test_it_has_a_signature_and_a_document(curves):
    assert str(inspect.signature(curves.squash)) == "(data: 'NDArray', beta: 'float' = 1.0, *, out=None, name=None) -> 'NDArray'"
    assert curves.squash.__doc__.startswith("x / (1 + beta |x|), element by element.\n")
    assert "how soon it bends" in curves.squash.__doc__ and "Gradient: with respect to data, up to order 3; keeps data; nothing with beta=0." in curves.squash.__doc__


def test_arrays_keep_their_storage_and_their_memory(curves):
    dense = np.array([[0, 1.0, 0], [0, 0, -3]], dtype=np.float32)
    for storage in ("csr", "row_sparse"):
        y = curves.squash(nd.array(dense).tostype(storage))
        assert y.stype == storage and np.allclose(y.asnumpy(), dense / (1 + abs(dense)))
    shared = nd.from_numpy(dense)
    curves.squash(shared, out=shared)
    assert np.allclose(dense, [[0, 0.5, 0], [0, 0, -0.75]])


def test_gradients_of_every_order_follow(curves):
    x = nd.array([1.0, 3.0])
    x.attach_grad()
    with autograd.record():
        y = curves.squash(x).sum()
        (slope,) = autograd.grad(y, [x], create_graph=True)
        slope.sum().backward()
    assert np.allclose(slope.asnumpy(), [0.25, 0.0625]) and np.allclose(x.grad.asnumpy(), [-0.25, -2 / 64])


def test_what_is_wrong_is_one_sentence(curves):
    x = nd.ones((2,))
    with pytest.raises(mx.Error, match="squash: parameter 'beta' is -1, expected a value from 0 to 100"):
        curves.squash(x, beta=-1)
    with pytest.raises(TypeError, match="squash: no argument 'bta'; nearest: beta"):
        curves.squash(x, bta=1)


def test_it_is_found_by_its_name(curves):
    x = nd.array([1.0, 3.0])
    for found in (nd.squash, mx.squash, nd.op.squash):
        assert found(x).asnumpy().tolist() == [0.5, 0.75]
    copy = pickle.loads(pickle.dumps(curves.squash))
    assert copy(x).asnumpy().tolist() == [0.5, 0.75]


def test_it_is_a_ufunc_and_a_function_of_jax(curves):  # pylint: disable=unused-argument
    import strop.numpy

    x = np.linspace(-1, 1, 9)
    bent = strop.numpy.ufunc("Squash", beta=2)
    assert bent.__name__ == "squash" and "beta is 2 here" in bent.__doc__
    np.testing.assert_allclose(pickle.loads(pickle.dumps(bent))(x), x / (1 + 2 * np.abs(x)), rtol=1e-15)
    with pytest.raises(mx.Error, match="squash: parameter 'beta' is -1, expected a value from 0 to 100"):
        strop.numpy.ufunc("squash", beta=-1)
    jax = pytest.importorskip("jax", reason="jax is not installed")
    import strop.jax

    slope = jax.grad(lambda v: strop.jax.op("squash")(v, beta=2.0).sum())(jax.numpy.asarray(x, "float32"))
    np.testing.assert_allclose(slope, (1 + 2 * np.abs(x)) ** -2, rtol=1e-5)


def test_symbols_and_their_files(curves, curves_file):
    net = curves.squash(sym.var("data"), beta=2, name="bent")
    assert net.list_outputs() == ["bent_output"] == sym.squash(sym.var("data"), name="bent").list_outputs()
    again = sym.load_json(net.tojson())
    run = again.simple_bind(mx.cpu(), data=(3,))
    run.forward(is_train=True, data=nd.array([-0.5, 0, 1.5]))
    run.backward(nd.ones((3,)))
    assert run.outputs[0].asnumpy().tolist() == [-0.25, 0, 0.375]
    assert np.allclose(run.grad_dict["data"].asnumpy(), [0.25, 1, 0.0625])
    program = """
import sys, strop as mx
text = sys.argv[1]
try:
    mx.sym.load_json(text)
except mx.Error as error:
    print(error)
print(*mx.load(sys.argv[2]))
print(mx.sym.load_json(text).list_arguments(), mx.nd.squash(mx.nd.ones((1,))).asscalar())
"""
    said = must(sys.executable, "-c", program, net.tojson(), curves_file, cwd=ROOT).splitlines()
    assert "Squash" in said[0] and said[1:] == ["Squash", "['data'] 0.5"]


def test_the_module_is_a_library_as_well(curves, curves_file, capsys):
    assert mx.load(curves_file) == mx.load_library(str(curves_file)) == ["Squash"]
    mx.library.load(curves_file)
    mx.library.load(curves_file, verbose=False)
    assert capsys.readouterr().out == f"{curves_file}: Squash\n"


def test_comparisons_are_inputs_of_whole_numbers(rows):
    x = nd.array([0.25, 0.75, 1])
    x.attach_grad()
    with autograd.record():
        y = rows.masked(x, x > 0.5)
    y.backward()
    assert y.asnumpy().tolist() == [0, 0.75, 1] and x.grad.asnumpy().tolist() == [0, 1, 1]
    for mask in (nd.array([0, 1, 1], dtype="int32"), (x > 0.5).astype("bool"), (x.astype("float16") > 0.5)):
        assert rows.masked(x, mask).asnumpy().tolist() == [0, 0.75, 1]
    with pytest.raises(ValueError, match=r"masked: input 'mask' is float32, expected whole numbers, .*; convert it with cast, a comparison as \(x > 0\)\.astype\('bool'\)$"):
        rows.masked(x, x)


def test_two_modules_share_the_registry(curves, rows, rng):
    x = rng.normal(size=(3, 4)).astype(np.float32)
    a = nd.array(x)
    a.attach_grad()
    with autograd.record():
        y = rows.centre(curves.squash(a))
        loss = (y * y).sum()
    loss.backward()
    bent = x / (1 + abs(x))
    want = bent - bent.mean(axis=1, keepdims=True)
    assert np.allclose(y.asnumpy(), want, atol=1e-6)
    assert np.allclose(a.grad.asnumpy(), 2 * want / (1 + abs(x)) ** 2, atol=1e-5)
    net = sym.centre(sym.squash(sym.var("x")))
    (out,) = net.bind(mx.cpu(), {"x": a}).forward()
    assert np.allclose(out.asnumpy(), want, atol=1e-6)
    with pytest.raises(mx.Error, match=r"centre: input 'data' has shape \(3,\), expected 2 dimensions"):
        rows.centre(nd.ones((3,)))


def test_a_name_is_taken_once(curves, curves_file, tmp_path):
    copy = tmp_path / curves_file.name
    shutil.copy(curves_file, copy)
    with pytest.raises(ImportError) as failed:
        imported(copy)
    assert "has an operator 'Squash' (Squash), and so has the program (Squash), expected a name of its own" in str(failed.value)
    assert failed.value.name == "curves" and failed.value.path == str(copy) and "\n" not in str(failed.value)
    assert imported(curves_file).squash(nd.ones((1,))).asscalar() == 0.5  # again, from the file that is known


def test_without_the_package_the_module_says_so(curves_file, tmp_path):
    program = "import sys; sys.path.insert(0, sys.argv[1]); import curves"
    done = subprocess.run([sys.executable, "-E", "-S", "-c", program, curves_file.parent], capture_output=True, text=True, cwd=tmp_path, timeout=60)
    assert done.returncode == 1 and 'ImportError: PyCapsule_Import could not import module "strop"' in done.stderr


def test_what_is_no_library_is_one_sentence(c_library, tmp_path):
    (tmp_path / "text.so").write_text("no library")
    future = "#include <strop/library/layout.h>\nconst strop_library* strop_operators(void) {\n" \
             "  static strop_library l;\n  l.size = sizeof l;\n  l.version = 7;\n  return &l;\n}\n"
    cases = {
        tmp_path / "absent.so": r"there is no such file$",
        tmp_path / "text.so": r"cannot be loaded: .*text\.so: ",
        c_library("plain.so", "int plain(void) { return 1; }\n"): "is no library of strop operators: it has no function strop_operators",
        c_library("lacking.so", "int lacking(void);\nint calls(void) { return lacking(); }\n"): "cannot be loaded: .*undefined symbol: lacking$",
        c_library("future.so", future): "speaks version 7 of the layout of operators, expected 1$",
        c_library("nothing.so", future.replace("&l", "0")): r"gives no operators: strop_operators\(\) returns null$",
        c_library("empty.so", future.replace("7", "strop_layout_version")): "has no operator that this machine runs$",
    }
    before = set(dir(nd))
    for path, sentence in cases.items():
        for load in (mx.load, mx.load_library, mx.library.load):
            with pytest.raises(mx.Error, match=f"^load_library: '{re.escape(str(path))}'.*{sentence}") as failed:
                load(path)
            assert "\n" not in str(failed.value)
    assert set(dir(nd)) == before


def test_a_library_that_another_one_lacks_is_not_the_one_that_is_missing(c_library):
    """The system's sentence ends as that of a file that is not there."""
    needed = c_library("libneeded.so", "int needed(void) { return 1; }\n")
    text = "int needed(void);\nint calls(void) { return needed(); }\n"
    (needed.parent / "needing.c").write_text(text)
    must(shutil.which("cc"), "-shared", "-fPIC", "needing.c", "-o", "needing.so", "-L.", "-lneeded", cwd=needed.parent)
    needed.unlink()
    needing = needed.parent / "needing.so"
    for load in (mx.load, mx.load_library):
        with pytest.raises(mx.Error, match=f"^load_library: '{re.escape(str(needing))}' cannot be loaded: .*libneeded") as failed:
            load(needing)
        assert not isinstance(failed.value, OSError)


def test_a_module_of_another_version_is_refused(c_library):
    module = c_library("future_module.so", """
#include <strop/library/layout.h>
void* PyCapsule_Import(const char* name, int no_block);
struct host { uint64_t size; void* (*define_module)(const strop_library* (*)(void)); };
const strop_library* strop_operators(void) {
  static strop_library library;
  library.size = sizeof library;
  library.version = 7;
  return &library;
}
void* PyInit_future_module(void) {
  struct host* host = PyCapsule_Import("strop._strop.operators_host", 0);
  return host ? host->define_module(&strop_operators) : 0;
}
""")
    with pytest.raises(ImportError, match="speaks version 7 of the layout of operators, expected 1$"):
        imported(module)


def test_load_is_of_arrays_as_well(tmp_path):
    nd.save(str(tmp_path / "w.params"), {"w": nd.arange(3)})
    assert mx.load(str(tmp_path / "w.params"))["w"].asnumpy().tolist() == [0, 1, 2]
    with pytest.raises(mx.Error):
        mx.load(str(tmp_path / "absent.params"))
    assert nd.load is not mx.load


def test_info_and_headers():
    about = mx.info()
    assert about["version"] == mx.__version__ and about["operators"] > 200 and about["threads"] >= 1
    assert about["instruction_set"] == about["loops"] and "cpu" in about["devices"] and about["compiler"]
    assert (pathlib.Path(mx.get_include()) / "strop/python.hpp").is_file()
    assert must(sys.executable, "-m", "strop", "--include", cwd=ROOT).strip() == mx.get_include()
    said = dict(line.split(None, 1) for line in must(sys.executable, "-m", "strop", "--info", cwd=ROOT).splitlines())
    assert said["instruction_set"].strip() == about["instruction_set"]


def test_the_extension_shows_nothing_but_its_beginning():
    """What other modules bring of the same runtime is theirs."""
    if not shutil.which("nm"):
        pytest.skip("nm is not installed")
    symbols = must("nm", "-D", "--defined-only", mx._strop.__file__, cwd=ROOT).split()
    assert symbols[1:] == ["T", "PyInit__strop"]


@pytest.mark.parametrize("version, stable, machine", [((3, 11), False, "x86_64"), ((3, 12), True, "x86_64"), ((3, 13), True, "aarch64")])
def test_wheels_are_of_one_version_before_the_stable_interface(monkeypatch, tmp_path, version, stable, machine):
    """And of x86-64-v2 where the machine is an x86-64; what is said otherwise comes later, and holds. Meson of the interpreter's
    own environment is found first."""
    asked = []
    scripts, libraries = tmp_path / "bin", tmp_path / "site-packages"
    (libraries / "mesonbuild").mkdir(parents=True)
    (libraries / "mesonbuild/__init__.py").touch()
    monkeypatch.syspath_prepend(libraries)
    monkeypatch.delitem(sys.modules, "mesonbuild", raising=False)
    monkeypatch.setattr(sysconfig, "get_path", lambda name, *_: str({"scripts": scripts, "purelib": libraries}[name]))
    monkeypatch.setenv("PATH", "/elsewhere")
    hooks = {name: lambda *arguments, name=name: asked.append((name, arguments)) for name in ("build_wheel", "build_editable", "build_sdist")}
    monkeypatch.setitem(sys.modules, "mesonpy", types.SimpleNamespace(**hooks))
    spec = importlib.util.spec_from_file_location("build_backend", ROOT / "src/python/build_backend.py")
    backend = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(backend)
    assert os.environ["PATH"].split(os.pathsep) == [str(scripts), "/elsewhere"]
    monkeypatch.setattr(backend, "sys", types.SimpleNamespace(version_info=version))
    monkeypatch.setattr(backend, "platform", types.SimpleNamespace(machine=lambda: machine))
    first = ["-Dmarch=x86-64-v2"] if machine == "x86_64" else []
    more = [] if stable else ["-Dpython.allow_limited_api=false"]
    backend.build_wheel("out")
    backend.build_wheel("out", {"setup-args": "-Da=b", "build-dir": "c"})
    backend.build_editable("out", {"setup-args": ["-Da=b"]})
    backend.build_sdist("out")
    assert asked == [("build_wheel", ("out", {"setup-args": [*first, *more]}, None)),
                     ("build_wheel", ("out", {"setup-args": [*first, "-Da=b", *more], "build-dir": "c"}, None)),
                     ("build_editable", ("out", {"setup-args": [*first, "-Da=b", *more]}, None)), ("build_sdist", ("out",))]


def test_the_page_says_what_happens(curves, rows, tmp_path, monkeypatch):
    """What docs/your-operator.md shows, with the modules that it imports, and the files that it quotes."""
    monkeypatch.setitem(sys.modules, "curves", curves)
    monkeypatch.setitem(sys.modules, "rows", rows)
    shutil.copyfile(curves.__file__, tmp_path / "curves.so")
    page = ROOT / "docs/your-operator.md"
    assert run_page(page, tmp_path, monkeypatch)
    shown = re.findall(r"(?ms)^```(?:meson|cmake)\n(.*?)^```", page.read_text())
    files = [path.read_text() for path in EXAMPLES.glob("python-*/*")]
    assert shown and all(any(block in text for text in files) for block in shown)


def test_scikit_build_core_makes_a_wheel(tmp_path):
    pytest.importorskip("scikit_build_core")
    pytest.importorskip("pip")
    must(sys.executable, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "-w", tmp_path, EXAMPLES / "python-scikit-build", cwd=tmp_path)
    assert len(list(tmp_path.glob("rows-0.1.0-*.whl"))) == 1
