#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs built the way a stranger builds them, and run: spec.py {spec,examples,docs}

  spec      tests/spec/*.cpp
  examples  examples/*.cpp
  docs      the programs of README.md and docs/*.md; other code there has to stand in a file (pages.py)

Those of spec are compiled by g++ or clang++, run in an empty folder, and must exit with 0. The design page's (section2,
section21) and those that say what is emitted are compiled by both with `c++ -std=c++20 -O2 -march=native -pthread
-Iinclude prog.cpp $(pkg-config --cflags --libs eigen3 fmt) -Wall -Wextra`; the others by one, so or with the compiled
library: by turns, with the commit. Every
`// expect: line` must be a line of its output, in the order of the file; `// expect-stderr: text` must occur in a line
of standard error. `// arguments: …` are passed on. A line `// skip-unless: PATTERN` skips where no file has such a path. With
`// emits-at-most: BYTES` its object may have no more code and data than that: what a program does not use is not built
into it. With `// emits-nothing-of: TEXT, TEXT` no symbol that its object defines has such a text, and with `// emits: TEXT`
one has. No header-only program may have strong symbols of strop.
Examples and docs are compiled with -O1, by the compilers in turns. They take the compiled library, as most users do, in less
than half the time: all but README.md's program and the first example. Of docs, each commit has one half of the pages' programs.
`./run test --all` has every program by every compiler.
"""
import glob
import os
import pathlib
import re
import shlex
import sys
import tempfile

import pages
from common import (BUILD, ROOT, WARNINGS, Report, compilers_or_skip, digest, indent, parallel, pkg_config, remembered, run, shown,
                    strong_symbols)


def lines_of(text, what):
    return [line.strip() for line in re.findall(rf"(?m)^\s*//\s*{what}:(.*)$", text)]


def first_missing(expected, text, exact):
    """The first expected line that does not come, in order, in text; None when all do."""
    lines = iter(line.strip() for line in text.splitlines())
    for wanted in expected:
        if not any(wanted == line if exact else wanted in line for line in lines):
            return wanted
    return None


def wrongly_emitted(text, compiled):
    """What an object has, or has not, against the lines `emits…` of its program; empty where it keeps to them."""
    status, size, err = run(["size", compiled])
    for most in lines_of(text, "emits-at-most"):
        if status != 0 or sum(map(int, size.splitlines()[1].split()[:3])) > int(most):
            return f"expected at most {most} bytes of code and data:\n{size}{err}"
    status, out, err = run(["nm", "--defined-only", "--demangle", compiled])
    symbols = [line.split(" ", 2)[2] for line in out.splitlines()]
    for part in lines_of(text, "emits"):
        if not any(part in symbol for symbol in symbols):
            return f"expected a symbol with {part!r}{err}"
    parts = [part.strip() for line in lines_of(text, "emits-nothing-of") for part in line.split(",")]
    extra = [symbol for symbol in symbols if any(part in symbol for part in parts)]
    return "what this program cannot need is built into it:\n" + "\n".join(extra) if extra else ""


def check(report, compiler, name, source, header_only):
    name = f"{name} with {compiler.name}"
    text = source.read_text()
    for path in lines_of(text, "skip-unless"):
        if not glob.glob(path):
            report.skipped(name, f"{path} is not here")
            return
    folder = BUILD / "programs" / report.stage / compiler.name
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / source.stem
    optimised = "-O2" if report.stage == "spec" else "-O1"
    library = []
    if not header_only:
        place = pathlib.Path(os.environ["STROP_LIBRARY"])
        library = ["-DSTROP_COMPILED", place, f"-Wl,-rpath,{place.parent}"]
    command = [*compiler.command, "-std=c++20", optimised, *compiler.native, "-pthread", "-Iinclude", source, *library,
               *pkg_config("eigen3", "fmt"), *WARNINGS, "-o", program]

    def build():
        program.unlink(missing_ok=True)
        if not re.search(r"(?m)^//\s*emits", text):
            status, out, err = run(command, cwd=ROOT)
            return [status, err], None
        compiled = program.with_suffix(".o")
        status, out, err = run([*(a for a in command[:-2] if not str(a).startswith("-l")), "-c", "-o", compiled], cwd=ROOT)
        wrong = wrongly_emitted(text, compiled) if status == 0 else ""
        if status == 0 and not wrong:
            status, out, err = run([compiled if a == source else a for a in command], cwd=ROOT)
        return [1, wrong] if wrong else [status, err], None

    key = [compiler.version, *map(str, command), digest(source), *map(digest, library[1:2])]
    status, messages = remembered(key, build, output=program)
    if status != 0:
        report.failed(name, shown(command) + "\n" + messages)
        return
    if not library and (strong := strong_symbols(program)):
        report.failed(name, "what headers define is weak or local, so that many objects may have it; strong are:\n" + "\n".join(strong))
        return
    with tempfile.TemporaryDirectory() as empty:
        arguments = [a for line in lines_of(text, "arguments") for a in shlex.split(line)]
        status, out, err = run([program, *arguments], timeout=300, cwd=empty)
    came = f"\nstandard output:\n{indent(out)}\nstandard error:\n{indent(err)}"
    missing = first_missing(lines_of(text, "expect"), out, exact=True)
    unsaid = first_missing(lines_of(text, "expect-stderr"), err, exact=False)
    if status != 0:
        report.failed(name, f"exit status {status}{came}")
    elif missing is not None:
        report.failed(name, f"expected the line: {missing}{came}")
    elif unsaid is not None:
        report.failed(name, f"expected on standard error: {unsaid}{came}")
    else:
        report.passed(name)


def main():
    stage = sys.argv[1]
    if stage == "docs":
        programs = list(pages.programs())
    else:
        folder = {"spec": ROOT / "tests/spec", "examples": ROOT / "examples"}[stage]
        programs = [(str(p.relative_to(ROOT)), p) for p in sorted(folder.glob("*.cpp"))]
    report = Report(stage)
    for page in pages.PAGES if stage == "docs" else []:
        name = f"code quoted in {page.relative_to(ROOT)}"
        found = list(pages.faults(page)) if report.wanted(name, page) else []
        report.failed(name, "\n".join(found)) if found else report.passed(name)
    programs = [(name, path) for name, path in programs if report.wanted(name, path)]
    if programs:
        chosen = compilers_or_skip(report)
        if stage == "docs":
            programs = report.share(programs, 2)
        jobs = []
        for i, (name, path) in enumerate(programs):
            both = path.stem.startswith("section2") or "// emits" in path.read_text()
            alone = {"examples": i == 0, "docs": path.stem.startswith("README")}.get(stage, both)
            for k, compiler in enumerate(chosen):
                if both or report.has_turn(i + k, len(chosen)):
                    jobs.append((report, compiler, name, path, alone or stage == "spec" and report.has_turn(i // 2 + k, 2)))
        parallel(lambda job: check(*job), jobs)
    report.finish()


if __name__ == "__main__":
    main()
