#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The GPU's side: cuda.py

tests/cuda/*.cpp (g++) and *.cu (nvcc) are one program with tests/unit/main.cpp. Without nvcc it is made of the .cpp
files, and the CPU plays the device; without a device the cases whose names contain `[gpu]` are skipped. tests/cuda/one_entry
is a program of objects of g++, clang and nvcc. bench/gpu/*.cu are compiled. Where no device would run them, each commit
compiles the kernels of one of the three, as nvcc takes minutes; `./run test --all` compiles all of them. In kernels that nvcc compiles nothing may be
a trap: it makes one, without a word, of a body that takes the address of a constant of the host.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from common import (BUILD, INCLUDE, ROOT, SELDOM, STRICT, WARNINGS, WERROR, Report, compilers, compilers_or_skip, digest, parallel, pkg_config,
                    remembered, run, shown)


def find_nvcc():
    return shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")


def capability():
    """`sm_90` of the device at hand; None when there is none."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return None
    status, out, _ = run([tool, "--query-gpu=compute_cap", "--format=csv,noheader"], timeout=60)
    found = re.search(r"(\d+)\.(\d+)", out)
    return f"sm_{found[1]}{found[2]}" if status == 0 and found else None


def traps(ptx):
    """The kernels and functions of a .ptx file in which the device would stop."""
    parts = re.split(r"^(?:\.\w+ )*\.(?:entry|func)\b\s*(?:\(.*?\)\s*)?(\w+)", ptx, flags=re.M)
    return [name for name, body in zip(["no kernel", *parts[1::2]], parts[::2]) if re.search(r"^\s*trap;", body, flags=re.M)]


def main():
    report = Report("cuda")
    nvcc = find_nvcc()
    device = capability() if nvcc else None
    folder = BUILD / "programs" / "cuda"
    folder.mkdir(parents=True, exist_ok=True)
    includes = [f"-I{INCLUDE}", f"-I{ROOT}", f"-I{ROOT / 'tests'}", *(a for a in pkg_config("eigen3", "fmt") if a.startswith("-I"))]
    host = {c.name: [*c.command, "-std=c++20", "-O1", "-pthread", *c.native, *(STRICT if c.name == "g++" else WARNINGS), *includes]
            for c in compilers_or_skip(report)}
    if "g++" not in host:
        report.finish()
    # Debian's fmt 9.1 takes nvcc for a compiler without constant evaluation
    cuda = [nvcc, "-std=c++20", "--expt-relaxed-constexpr", f"-arch={device or 'sm_80'}", "-O1", "-DFMT_USE_CONSTEXPR=1", "-DEIGEN_NO_CUDA",
            *includes, "-Xcompiler=" + ",".join(["-pthread", "-Wall", "-Wextra", *SELDOM])]
    versions = run([nvcc, "--version"])[1] if nvcc else "", *(c.version for c in compilers())
    objects = {}

    def compile_one(source):
        name = str(source.relative_to(ROOT))
        command = cuda if source.suffix == ".cu" else host["clang++" if source.stem == "clang" else "g++"]
        place = folder / f"{source.parent.name}.{source.stem}{source.suffix}.o"
        beside = [digest(p) for p in sorted(source.parent.glob("*.hpp"))]

        def work():
            place.unlink(missing_ok=True)
            with tempfile.TemporaryDirectory() as kept:
                keep = ["--keep", "--keep-dir", kept] if source.suffix == ".cu" else []
                status, out, err = run([*command, *keep, "-c", source, "-o", place], timeout=900)
                return [status, out + err, [k for ptx in pathlib.Path(kept).glob("*.ptx") for k in traps(ptx.read_text())]], None

        status, messages, trapped = remembered(["traps", *versions, *map(str, command), str(source), digest(source), *beside], work, output=place)
        if status != 0:
            report.failed(name, shown([*command, "-c", source]) + "\n" + messages)
        elif WERROR and "warning" in messages:
            report.failed(name, "warnings:\n" + messages)
        elif trapped:
            report.failed(name, "a part that nvcc takes for undefined, and makes a trap, is in\n" + "\n".join(trapped))
        else:
            report.passed(f"{name} compiles")
            objects[source] = place

    def link(name, sources):
        """The program of these objects; None where one of them or the link failed."""
        if any(s not in objects for s in sources):
            return None
        program = folder / name
        status, out, err = run([*(cuda if any(s.suffix == ".cu" for s in sources) else host["g++"]), *(objects[s] for s in sources), "-lfmt", "-o", program])
        if status != 0:
            report.failed(f"link of {name}", out + err)
            return None
        report.passed(f"link of {name}")
        return program

    tests = [*sorted((ROOT / "tests/cuda").glob("*.cpp")), ROOT / "tests/unit/main.cpp"]
    kernels = sorted((ROOT / "tests/cuda").glob("*.cu"))
    entry = sorted((ROOT / "tests/cuda/one_entry").glob("*.c*"))
    benches = sorted((ROOT / "bench/gpu").glob("*.cu"))
    due = [kernels, entry, benches]
    if nvcc is None:
        report.skipped(f"{sum(map(len, due))} files of kernels", "nvcc is not installed")
        due = []
    elif not device:
        due = report.share(due, 3)
    tests += kernels if kernels in due else []
    entry = entry if entry in due and "clang++" in host else []
    benches = benches if benches in due else []
    parallel(compile_one, [*tests, *entry, *benches])

    program = link("maps", tests)
    if program:
        arguments = [] if device else ["--test-case-exclude=*[gpu]*"]
        done = subprocess.run([sys.executable, pathlib.Path(__file__).with_name("doctest_run.py"), "cuda", program, *arguments],
                              capture_output=True, text=True, env=dict(os.environ, STROP_ONLY=""))
        count = re.search(r"strop-count: (\d+) passed, (\d+) failed, (\d+) skipped", done.stdout)
        report.passed("maps", int(count[1]) if count else 0)
        if done.returncode != 0:
            report.failed("run of maps", done.stdout + done.stderr)
        if not device:
            report.skipped("the [gpu] cases of maps", "no CUDA device")
    program = link("one_entry", entry) if entry else None
    if program:
        status, out, err = run([program])
        report.passed("run of one_entry") if status == 0 else report.failed("run of one_entry", out + err)
    for source in benches:
        link(f"bench_{source.stem}", [source])
    report.finish()


if __name__ == "__main__":
    main()
