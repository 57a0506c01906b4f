#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every instruction set, compiler, library and dialect that is promised, whatever machine this is: machines.py

Each commit has a quarter of what follows; `./run test --all` has all.

Compiled and no more (-fsyntax-only instantiates every template):
  everything     all operators, the runtime and Eigen's views: the lowest and the highest level of x86-64 and aarch64, by g++
                 and by clang, where these are not built anyway; for other levels the headers that differ by level
  the rest       these, the suites, the command and export headers, without run-time types, as C++23, with libc++, by the
                 oldest clang, with every warning that a user may have: one job a compiler, each on a level of its own
  by turns       the spec programs, the examples and the largest unit file of each layer that is not run here: each by one
                 compiler on one level, so that every pair has some, the first header-only
  the level      that core/isa.hpp finds for what processors to come have
What is run where the machine, or qemu, can: the lanes' tests, one unit file of core and one of op and the design page's
spellings for aarch64; one of autograd, graph and engine each by clang; the design page's program with the checks of libstdc++
and of libc++, by the oldest clang, and with all optimisation at link time, and on a processor that is too old for it. The unit
programs run on x86-64 and -v3 as `unit LAYER, LEVEL`, on -v2 only the lanes' tests (`unit number, SSE4`) and the design page's
program do.
"""
import glob
import os
import pathlib
import re
import shutil

from common import (BUILD, INCLUDE, ROOT, STRICT, WARNINGS, Report, compilers_or_skip, digest, parallel, pkg_config, remembered, run, shown,
                    syntax_check, timed)

LEVELS = ("x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4", "sapphirerapids")
EVERYTHING = "#include <strop/eigen.hpp>\n#include <strop/ops/all.hpp>\n#include <strop/source.hpp>\n"
REST = EVERYTHING + "".join(f"#include <strop/{name}>\n" for name in (
    "verify.hpp", "verify/source.hpp", "testing.hpp", "command.hpp", "library/export.hpp", "data/idx.hpp", "tensor/dlpack.hpp"))
EVERY_WARNING = ["-DSTROP_COMPILED", *STRICT, "-Wsign-conversion", "-Wpedantic"]
PAGE = ROOT / "tests/spec/section21.cpp"  # uses every spelling
PROGRAM = ROOT / "tests/spec/section2.cpp"
SOURCE = ROOT / "tests/consume/by-hand/source.cpp"  # the runtime in one file
SYSTEM = [a.replace("-I", "-isystem", 1) for a in pkg_config("eigen3", "fmt") if a.startswith("-I")]
ARM = "aarch64-linux-gnu"


def main():
    report = Report("machines")
    folder = BUILD / "programs" / "machines"
    folder.mkdir(parents=True, exist_ok=True)
    found = {c.name: c for c in compilers_or_skip(report)}
    jobs = []

    def compiles(name, compiler, arguments, source):
        if not report.wanted(name, None if "\n" in str(source) else source):
            return
        status, messages = syntax_check(compiler, [*SYSTEM, *WARNINGS, *arguments], source)
        report.passed(name) if status == 0 else report.failed(name, messages)

    def runs(name, compiler, arguments, sources, launcher=(), too_old=()):
        """Builds a program of these sources and runs it; a doctest program says by its status how it went. The launcher
        `too_old` runs it on a processor that lacks what it is built for: a sentence says so."""
        if not report.wanted(name):
            return
        program = folder / re.sub(r"\W+", "-", name)
        command = [*compiler.command, "-std=c++20", "-pthread", f"-I{INCLUDE}", f"-I{ROOT / 'tests'}", f"-I{ROOT / 'tests/unit'}",
                   *SYSTEM, *WARNINGS, *arguments, *sources, "-o", program]
        key = [compiler.version, *map(str, command), *map(digest, [*sources, *sorted((ROOT / "tests/unit").rglob("*.hpp"))])]

        def build():
            status, out, err = run(command, timeout=900)
            return [status, shown(command) + "\n" + out + err], None

        status, messages = remembered(key, build, output=program)
        if status == 0:
            status, out, err = run([*launcher, program], timeout=900)
            messages = f"exit status {status}\n{out}\n{err}"
        report.passed(name) if status == 0 else report.failed(name, messages)
        if status == 0 and too_old:
            status, out, err = run([*too_old, program], timeout=900)
            refused = status != 0 and "this program has it for x86-64-v2 with __SSSE3__ alone, which this processor does not run" in err
            name += " on a processor that is too old"
            report.passed(name) if refused else report.failed(name, f"exit status {status}\n{out}\n{err}")

    def add(what, name, *arguments):
        jobs.append((name, what, name, *arguments))

    x86 = pathlib.Path("/proc/cpuinfo").exists() and "\nflags" in pathlib.Path("/proc/cpuinfo").read_text()
    pairs = []  # of a compiler and an instruction set: name, compiler, arguments
    served = set()  # those whose everything is part of a rest
    for name, compiler in found.items() if x86 else ():
        for level in LEVELS:
            pairs.append((f"{level} with {name}", compiler, [f"-march={level}"]))

    g, clang = found.get("g++"), found.get("clang++")
    lanes = [ROOT / "tests/unit/number/lanes.cpp", ROOT / "tests/unit/main.cpp"]
    run_by_clang = [ROOT / "tests/unit" / name for name in ("autograd/backward.cpp", "graph/executor.cpp", "engine/engine.cpp")]
    older = shutil.which("qemu-x86_64") if x86 else None

    def march(level):
        return [f"-march={level}"] if x86 else []

    if g:
        served.add("x86-64-v2 with g++")
        add(compiles, "the rest as C++23 without run-time types with g++", g,
            ["-std=c++23", "-fno-rtti", *march("x86-64-v2"), *EVERY_WARNING], REST)
        add(runs, f"{PROGRAM.name} with g++ -O0 -D_GLIBCXX_DEBUG", g, ["-O0", "-D_GLIBCXX_DEBUG", *march("x86-64-v2")], [PROGRAM, "-lfmt"],
            (), [older, "-cpu", "qemu64"] if older else [])
        add(runs, f"{PROGRAM.name} with g++ -O3 -flto", g, ["-O3", "-flto"], [PROGRAM, ROOT / "tests/odr.cpp", "-lfmt"])
    if clang:
        add(runs, "lanes with clang++", clang, ["-O1", *clang.native], lanes)
        add(runs, "units of autograd, graph and engine with clang++", clang, ["-O0", "-DSTROP_COMPILED", *clang.native],
            [*run_by_clang, lanes[1], SOURCE, "-lfmt"])
        add(runs, "functions.cpp with clang++ -fassociative-math", clang,
            ["-O2", "-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math"], [ROOT / "tests/spec/functions.cpp", "-lfmt"])
        status, _, _ = run([clang.path, "-stdlib=libc++", "-fsyntax-only", "-include", "version", "-x", "c++", "/dev/null"])
        if status == 0:
            checked = ["-stdlib=libc++", "-D_LIBCPP_HARDENING_MODE=_LIBCPP_HARDENING_MODE_DEBUG"]
            add(runs, f"{PROGRAM.name} with clang++ -stdlib=libc++", clang, ["-O0", *checked], [PROGRAM, "-lfmt"])
            numbers = [ROOT / "tests/unit/core/params.cpp", ROOT / "tests/unit/core/numbers.cpp", lanes[1]]
            add(runs, "numbers in text with clang++ -stdlib=libc++ -std=c++23 -fno-rtti", clang, ["-O0", "-std=c++23", "-fno-rtti", *checked], [*numbers, "-lfmt"])
            served.add("x86-64-v3 with clang++")
            add(compiles, "the rest as C++23 without run-time types with clang++ -stdlib=libc++", clang,
                ["-stdlib=libc++", "-std=c++23", "-fno-rtti", *march("x86-64-v3"), *EVERY_WARNING], REST)
        else:
            report.skipped("libc++", "it is not installed (apt-get install libc++-19-dev libc++abi-19-dev)")
    old = shutil.which("clang++-16")
    if old and clang:
        oldest = type(clang)("clang++", old)
        add(compiles, "the rest with clang++ 16", oldest, [*march("x86-64-v4"), *EVERY_WARNING], REST)
        add(runs, f"{PROGRAM.name} with clang++ 16", oldest, ["-O0"], [PROGRAM, "-lfmt"])
    elif not old:
        report.skipped("clang++ 16", "it is not installed (apt-get install clang-16)")

    for name in ("g++", "clang++"):  # whatever else the machine has, newer than those above
        least = {"g++": 13, "clang++": 20}[name]
        for path in sorted(glob.glob(f"/usr/bin/{name}-[0-9]*")):
            version = path.rpartition("-")[2]
            if version.isdigit() and int(version) >= least and found:
                add(compiles, f"{PAGE.name} with {name} {version}", type(next(iter(found.values())))(name, path), [], PAGE)

    # aarch64: headers of no architecture, as no package brings them for another than this machine's
    cross = next(filter(None, map(shutil.which, (f"{ARM}-g++", f"{ARM}-g++-12"))), None)
    beside = folder / "include"
    beside.mkdir(exist_ok=True)
    for package in ("fmt", "doctest", "nlohmann"):
        if not (beside / package).exists() and pathlib.Path("/usr/include", package).exists():
            (beside / package).symlink_to(pathlib.Path("/usr/include", package))
    headers = ["-isystem", beside, "-DFMT_HEADER_ONLY"]
    if cross and g:
        arm = type(g)("g++", cross)
        pairs.append(("aarch64 with g++", arm, headers))
        add(compiles, "lanes of 64 bytes for aarch64 with g++", arm, [f"-I{ROOT / 'tests/unit'}", *headers, "-DSTROP_LANE_BYTES=64", "-Wno-psabi"], lanes[0])
        if clang:
            pairs.append(("aarch64 with clang++", clang, [f"--target={ARM}", *headers]))
        if qemu := shutil.which("qemu-aarch64"):
            launcher = [qemu, "-L", f"/usr/{ARM}"]
            add(runs, "lanes for aarch64 with g++", arm, ["-O1", *headers], lanes, launcher)
            add(runs, f"{PAGE.name} for aarch64 with g++", arm, ["-O0", *headers], [PAGE], launcher)
            units = [ROOT / "tests/unit/core/params.cpp", ROOT / "tests/unit/op/plan.cpp", lanes[1]]
            add(runs, "units of core and op for aarch64 with g++", arm, ["-O0", *headers], units, launcher)
        else:
            report.skipped("programs of aarch64", "compiled only: qemu is not installed (apt-get install qemu-user)")
    else:
        report.skipped("aarch64", f"there is no compiler for it (apt-get install g++-{ARM})")

    to_come = {"-march=x86-64-v4 -mno-evex512": 3, "-mavx10.1-256": 3, "-march=x86-64-v4 -D__AVX10_2__=1": 4, "-mapxf": 1,
               "-march=clearwaterforest": 3} if x86 else {}
    to_come |= {f"--target={ARM} -march={name}": 1 for name in ("armv9.4-a+sve2p1", "armv8.2-a+rcpc3")} if cross else {}
    for flags, level in to_come.items() if clang else ():
        if run([clang.path, *flags.split(), "-fsyntax-only", "-x", "c++", "/dev/null"])[0] == 0:  # clang up to 21 has the first
            add(compiles, f"the level of {flags} with clang++", clang, flags.split(),
                f"#include <strop/core/isa_impl.hpp>\nstatic_assert(STROP_LEVEL == {level});\n")

    # Kernels are the same text for every level but in the headers below, so that each compiler builds all of them for the
    # narrowest registers, the widest, and another architecture; for the other levels it reads these headers. What is built
    # anyway is not built again: by src/ops for this machine, by src/levels, and by an older clang.
    everywhere = {f"{level} with {name}" for name in found for level in (LEVELS[0], LEVELS[-1])} | {f"aarch64 with {name}" for name in found}
    if os.environ.get("STROP_COMPILER") == "gcc":
        everywhere -= {f"{level} with g++" for level in os.environ.get("STROP_TESTED_LEVELS", "").split()}
        if g and "__AVX512VL__" in run([*g.command, *g.native, "-E", "-dM", "-x", "c++", "/dev/null"])[1]:
            everywhere.discard(f"{LEVELS[-1]} with g++")
    if old and clang:
        everywhere.discard(f"{LEVELS[-1]} with clang++")
    of_levels = "".join(f"#include <strop/{name}>\n" for name in (
        "number/lanes.hpp", "ops/gemm.hpp", "memory/normal.hpp", "memory/stream.hpp", "core/isa_impl.hpp"))
    for name, compiler, arguments in (pair for pair in pairs if pair[0] not in served):
        if name in everywhere:
            add(compiles, f"everything for {name}", compiler, [*arguments, "-DSTROP_COMPILED"], EVERYTHING)
        else:
            add(compiles, f"what depends on the level for {name}", compiler, [*arguments, f"-I{ROOT / 'tests/unit'}"],
                of_levels + f'#include "{lanes[0]}"\n')
    turns = [*sorted((ROOT / "tests/spec").glob("*.cpp")), *sorted((ROOT / "examples").glob("*.cpp"))]
    for layer in sorted(p for p in (ROOT / "tests/unit").iterdir() if p.is_dir() and not (clang and p in [u.parent for u in run_by_clang])):
        turns.append(max(layer.rglob("*.cpp"), key=lambda path: (path.stat().st_size, path)))
    tests = [f"-I{ROOT / folder}" for folder in ("tests", "tests/unit", "src")]
    for turn, path in enumerate(turns) if pairs else ():
        name, compiler, arguments = pairs[turn % len(pairs)]
        runtime = [] if turn < len(pairs) else ["-DSTROP_COMPILED"]
        add(compiles, f"{path.relative_to(ROOT)} for {name}", compiler, [*arguments, *runtime, *tests], path)

    parallel(lambda job: timed(*job), report.share(jobs, 4))
    report.finish()


if __name__ == "__main__":
    main()
