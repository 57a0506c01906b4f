# SPDX-License-Identifier: Apache-2.0
"""What says of the package what it is: its metadata, the notices of what is compiled in, what builds wheels of it, and, of a
package that pip has installed, what came with it."""
import importlib.metadata
import importlib.util
import pathlib
import re
import subprocess
import sys
import tomllib

import pytest

import strop as mx

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def installed():
    """The distribution that this package came with; None where it is that of a build folder."""
    try:
        found = importlib.metadata.distribution("strop")
    except importlib.metadata.PackageNotFoundError:
        return None
    own = found.locate_file("strop/__init__.py")
    return found if own.exists() and own.samefile(mx.__file__) else None


FOUND = installed()


def test_every_place_says_the_same():
    version = re.search(r"(?m)^  version: '(.*)',$", (ROOT / "meson.build").read_text())[1]
    assert mx.__version__ == mx.info()["version"] == version
    lowest = PROJECT["requires-python"].removeprefix(">=")
    listed = re.findall(r"Programming Language :: Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    assert listed[0] == lowest and [re.match(r"[\w-]+", need)[0] for need in PROJECT["dependencies"]] == ["numpy"]


def test_the_notices_name_all_that_is_compiled_in():
    assert PROJECT["license-files"] == ["LICENSE", "THIRD-PARTY.txt"] and (ROOT / "LICENSE").is_file()
    notices = (ROOT / "THIRD-PARTY.txt").read_text()
    for wrap in (ROOT / "subprojects").glob("*.wrap"):
        name = re.search(r"directory = ([A-Za-z0-9_]+)", wrap.read_text())[1]
        if name != "doctest":  # which is in tests alone
            assert name.lower() in notices.lower(), f"THIRD-PARTY.txt says nothing of {name}"
    for licence in PROJECT["license"].split(" AND "):
        assert licence == "Apache-2.0" or f"\n{licence}\n---" in notices


BUILDERS = {
    "missing": (None, "cannot be started: No such file or directory"),
    "shim": ("echo 'pyenv: builder: command not found' >&2; echo more >&2; exit 127", "cannot be started: pyenv: builder: command not found"),
    "old": ("echo 3.10", "is Python 3.10, expected 3.11 or newer"),
    "headers": ("printf '3.12\\nPython.h\\n'", "has no Python.h, expected"),
    "both": ("printf '3.13\\nPython.h\\nensurepip\\n'", "has no Python.h and no ensurepip, expected"),
}


@pytest.mark.parametrize("script, said", BUILDERS.values(), ids=BUILDERS)
def test_wheels_ask_every_interpreter_before_the_first_builds(tmp_path, script, said):
    fine, builder = tmp_path / "fine", tmp_path / "builder"
    for path, text in ((fine, f"touch {tmp_path}/$$; echo 3.12"), (builder, script)):
        if text:
            path.write_text(f"#!/bin/sh\n{text}\n")
            path.chmod(0o755)
    done = subprocess.run([sys.executable, ROOT / "tests/tools/wheel.py", "--build", tmp_path / "build", fine, builder], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and done.stdout == "" and done.stderr.startswith(f"run wheel: {builder} {said}") and done.stderr.count("\n") == 1
    assert not (tmp_path / "build").exists()
    assert len(list(tmp_path.glob("[0-9]*"))) == 1  # the fine one was asked, and nothing else


def test_wheels_ask_an_interpreter_what_it_has():
    spec = importlib.util.spec_from_file_location("tool_wheel", ROOT / "tests/tools/wheel.py")  # `wheel` is also a package
    wheel = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(wheel)
    hidden = "import sys, sysconfig, importlib.util as u\nsysconfig.get_path = lambda name: '/nothing'\nu.find_spec = lambda name: None\n"
    for before, lacks in (("", None), (hidden, ["Python.h", "ensurepip"]), ("import sys\nsys.version_info = (3, 10)\n", [])):
        version, *said = subprocess.run([sys.executable, "-c", before + wheel.ABOUT], capture_output=True, text=True, check=True, timeout=60).stdout.splitlines()
        assert version == ("3.10" if lacks == [] else f"3.{sys.version_info[1]}") and (lacks is None or said == lacks)
    needs = subprocess.run([sys.executable, "-c", wheel.NEEDS, ROOT / "pyproject.toml"], capture_output=True, text=True, check=True, timeout=60).stdout.splitlines()
    assert needs == tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]


if FOUND:  # of which a build folder has nothing to show

    def test_what_pip_installed_is_whole():
        files = {str(path) for path in FOUND.files}
        for part in ("strop/py.typed", "strop/__init__.pyi", "strop/_strop.pyi", "strop/ndarray/__init__.pyi", "strop/symbol/_internal.pyi", "strop/include/strop/python.hpp"):
            assert part in files, part
        assert {path.rsplit("/", 1)[-1] for path in files if ".dist-info/licenses/" in path} == {"LICENSE", "THIRD-PARTY.txt"}
        assert [need for need in FOUND.requires if "extra" not in need] == ["numpy>=1.23"] and FOUND.metadata["License-Expression"] == PROJECT["license"]
        command = next(pathlib.Path(path.locate()).resolve() for path in FOUND.files if path.name == "strop" and "bin" in path.parts)
        said = subprocess.run([command, "info"], capture_output=True, text=True, timeout=60)
        assert said.returncode == 0 and re.search(rf"(?m)^instruction set +{mx.info()['instruction_set']}$", said.stdout)

    def test_what_pip_installed_has_the_stubs_of_this_registry(tmp_path):
        subprocess.run([sys.executable, "-m", "strop.stubs", tmp_path], check=True, timeout=60)
        for stub in tmp_path.rglob("*.pyi"):
            assert FOUND.locate_file(stub.relative_to(tmp_path)).read_text() == stub.read_text()
