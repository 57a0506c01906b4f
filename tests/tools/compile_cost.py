#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What programs ask of a compiler, in numbers that a busy machine does not move: lines that it reads, and classes and
functions that it makes of templates, held to tests/static/compile_cost.txt within 3 %.

compile_cost.py          checks, as the stage `static` does; clang++-19 with the library of g++ 12 counts, others do not
compile_cost.py --write  writes the file anew: where a program is meant to cost more, and where it costs less
"""
import json
import pathlib
import re
import sys
import tempfile

from common import INCLUDE, ROOT, Report, compilers, parallel, pkg_config, run

ME = "tests/tools/compile_cost.py"
GOLDEN = ROOT / "tests/static/compile_cost.txt"
WITHIN = 0.03
RUNTIME = ["-DSTROP_COMPILED"]
OPERATORS = [*RUNTIME, "-DSTROP_OPERATORS_COMPILED"]
ONE = """#include <strop/strop.hpp>
struct Quadratic {
  float a = 0, b = 0, c = 0;
  constexpr auto forward(auto x) const { return (a * x + b) * x + c; }
};
inline constexpr strop::Op<Quadratic> quadratic;
int main() { return quadratic(strop::array({1, 2, 3}), {.a = 1}).size() == 3 ? 0 : 1; }
"""
PROGRAMS = {
    "strop/op.hpp, runtime": ("#include <strop/op.hpp>\n", RUNTIME),
    "strop/strop.hpp, runtime": ("#include <strop/strop.hpp>\n", RUNTIME),
    "strop/strop.hpp, compiled operators": ("#include <strop/strop.hpp>\n", OPERATORS),
    "one operator, runtime": (ONE, RUNTIME),
    "the design page's program, header-only": ((ROOT / "tests/spec/section2.cpp").read_text(), []),
}
HEAD = f"# Written by `{ME} --write`: lines that are read, classes and functions made of templates.\n"


def count(compiler, text, defines, folder):
    """(lines, instantiations), or the messages of a compiler that refuses the program."""
    source, trace = folder / "program.cpp", folder / "trace.json"
    source.write_text(text)
    # one instruction set and no optimisation, so that the numbers are those of every machine
    flags = ["-std=c++20", "-O0", "-march=x86-64-v3", f"-I{INCLUDE}", *pkg_config("fmt"), *defines]
    status, listing, messages = run([compiler.path, *flags, "-E", source])
    if status != 0:
        return messages
    lines = sum(bool(line.strip()) and not line.startswith("# ") for line in listing.splitlines())
    status, _, messages = run([compiler.path, *flags, "-c", "-Xclang", "-fsyntax-only", source, "-o", folder / "program.o", f"-ftime-trace={trace}", "-ftime-trace-granularity=0"])
    if status != 0:
        return messages
    events = json.loads(trace.read_text())["traceEvents"]
    return lines, sum(event["name"] in ("InstantiateClass", "InstantiateFunction") for event in events)


def golden():
    rows = [line.rsplit(None, 2) for line in GOLDEN.read_text().splitlines() if line and not line.startswith("#")]
    return {name: (int(lines), int(made)) for name, lines, made in rows}


def library_of(compiler):
    """The version of the C++ library that a compiler reads."""
    macros = run([compiler.path, "-x", "c++", "-std=c++20", "-E", "-dM", "-include", "version", "/dev/null"])[1]
    found = re.search(r"_GLIBCXX_RELEASE (\d+)", macros)
    return f"libstdc++ {found[1]}" if found else "another library"


def measured(clang):
    counted = {}

    def measure(name):
        text, defines = PROGRAMS[name]
        with tempfile.TemporaryDirectory() as folder:
            counted[name] = count(clang, text, defines, pathlib.Path(folder))

    parallel(measure, PROGRAMS)
    return counted


def counter(report):
    """The compiler that counts; none, with the reason, where it is not here."""
    clang = next((c for c in compilers() if c.name == "clang++" and "version 19" in c.version), None)
    if clang is None:
        report.skipped("compile cost", "clang++-19 is not installed (apt-get install clang-19)")
    elif library_of(clang) != "libstdc++ 12":
        report.skipped("compile cost", f"clang++-19 reads {library_of(clang)}, and the numbers are of libstdc++ 12")
    else:
        return clang
    return None


def check(report):
    clang = counter(report)
    if clang is None:
        return
    known = golden()
    for name, found in measured(clang).items():
        if not isinstance(found, tuple):
            report.failed(f"cost of {name}", found)
            continue
        moved = [f"{what} are {now}, expected {then} within 3 %" for what, now, then in zip(("lines", "instantiations"), found, known.get(name, (0, 0)))
                 if abs(now - then) > WITHIN * then]
        if moved:
            report.failed(f"cost of {name}", ", ".join(moved) + f"; where that is meant, `{ME} --write` writes the numbers anew")
        else:
            report.passed(f"cost of {name}")


def main():
    report = Report("static")
    if sys.argv[1:] == ["--write"]:
        clang = counter(report)
        if clang is not None:
            counted = measured(clang)
            GOLDEN.write_text(HEAD + "".join(f"{name:40} {counted[name][0]:6} {counted[name][1]:7}\n" for name in PROGRAMS))
        return
    check(report)
    report.finish()


if __name__ == "__main__":
    main()
