#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A part of the tests under the sanitizers, which part by the commit: sanitized.py ARCHIVE...

  address   one of PARTS of the unit files under the address and undefined-behaviour sanitizers, and `check` of one of PARTS of
            the library's operators (src/ops)
  thread    another part of the unit files under the thread sanitizer

Each is linked with a runtime that is built so as well, none of it optimised: that compiles in a third of the time.
STROP_PART=N takes part N; `./run test --sanitize=…` runs all of the units, `./run test --all` of the operators as well. The archives are those of the command of a program's
own operators, which have no sanitizer: they read words and print.
"""
import os
import pathlib
import re
import subprocess
import sys

from common import BUILD, INCLUDE, ROOT, WARNINGS, Report, compilers, digest, parallel, pkg_config, remembered, run, shown, timed, turn

PARTS = 16
KINDS = {"address": ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"], "thread": ["-fsanitize=thread"]}
RUNTIME = ("arrays", "emulator", "graphs", "operators", "linear_algebra")


def sanitizes(compiler):
    """Are the libraries of the sanitizers there? Debian has those of clang in a package of their own."""
    probe = BUILD / "programs" / "sanitized" / f"probe_{compiler.name}"
    probe.parent.mkdir(parents=True, exist_ok=True)
    source = ["-x", "c++", "-"]
    for flags in KINDS.values():
        command = [compiler.path, *flags, *source, "-o", probe]
        if subprocess.run(command, input="int main() {}", text=True, capture_output=True).returncode != 0:
            return False
    return True


def main():
    report = Report("sanitized", by_file=False)
    compiler = next((c for c in reversed(compilers()) if sanitizes(c)), None)  # clang takes two thirds of g++'s time
    if compiler is None:
        report.skipped("sanitized", "no compiler here has the sanitizers' libraries")
        report.finish()
    part = "all" if turn() is None else turn() % PARTS
    print(f"part {part} of {PARTS} (STROP_PART)", flush=True)
    apart = {"main.cpp", "registry_other.cpp"}
    units = sorted(p for p in (ROOT / "tests/unit").rglob("*.cpp") if p.name not in apart and "command" not in p.parts)
    operators = sorted((ROOT / "src/ops").glob("*.cpp"))
    chosen = {kind: [p for i, p in enumerate(units) if report.has_turn(i + of, PARTS)] for kind, of in (("address", 0), ("thread", PARTS // 2))}
    for files in chosen.values():  # one looks for what the other defines
        files += [p.with_name("registry_other.cpp") for p in files if p.name == "registry.cpp"]
    # clang's thread sanitizer has an operator new of its own
    chosen["thread"] = [p for p in chosen["thread"] if "operator_new.hpp" not in p.read_text()]
    kernels = report.share(operators, PARTS)
    folder = BUILD / "programs" / "sanitized"
    base = [*compiler.command, "-std=c++20", "-g1", *compiler.native, "-pthread", f"-I{INCLUDE}", f"-I{ROOT / 'tests'}",
            f"-I{ROOT / 'src'}", *(a for a in pkg_config("eigen3", "fmt") if a.startswith("-I")), *WARNINGS]
    made = {}

    def compile_one(job):
        kind, source, defines = job
        name = str(source.relative_to(ROOT))
        place = folder / kind / (re.sub(r"\W", "_", name) + ".o")
        place.parent.mkdir(parents=True, exist_ok=True)
        command = [*base, *KINDS[kind], *defines, "-c", source, "-o", place]
        key = [compiler.version, *map(str, command), digest(source), *map(digest, sorted((ROOT / "tests").rglob("*.hpp")))]
        status, messages = remembered(key, lambda: ([(done := run(command, timeout=900))[0], done[2]], None), output=place)
        if status == 0:
            made[kind, source] = place
        else:
            report.failed(name, shown(command) + "\n" + messages)

    def program(kind, name, sources, archives=()):
        """Links and runs; a doctest program and the command both say by their status how it went."""
        runtime = [ROOT / f"src/runtime/{part}.cpp" for part in RUNTIME]
        if any((kind, source) not in made for source in [*sources, *runtime]):
            return None
        place = folder / kind / name
        command = [compiler.path, *KINDS[kind], *(made[kind, s] for s in sources), *archives, *(made[kind, s] for s in runtime),
                   "-pthread", "-lfmt", "-o", place]
        status, out, err = run(command)
        if status != 0:
            report.failed(f"{kind}: link of {name}", shown(command) + "\n" + out + err)
            return None
        return place

    def runs(kind, name, command):
        environment = {**os.environ, "ASAN_OPTIONS": "detect_stack_use_after_return=1", "UBSAN_OPTIONS": "print_stacktrace=1"}
        status, out, err = run(command, timeout=900, env=environment)
        report.passed(name) if status == 0 else report.failed(f"{kind}: {name}", out + err)

    support = ROOT / "tests/unit/main.cpp"
    jobs = [(kind, ROOT / f"src/runtime/{name}.cpp", ["-DSTROP_COMPILED"]) for kind in KINDS for name in RUNTIME]
    jobs += [(kind, source, ["-DSTROP_COMPILED"]) for kind in KINDS for source in [*chosen[kind], support]]
    jobs += [("address", source, ["-DSTROP_COMPILED"]) for source in kernels]
    timed("compiled", parallel, compile_one, jobs)
    for kind in KINDS:
        for layer in sorted({source.relative_to(ROOT / "tests/unit").parts[0] for source in chosen[kind]}):
            sources = [s for s in chosen[kind] if s.relative_to(ROOT / "tests/unit").parts[0] == layer]
            place = program(kind, layer, [*sources, support])
            if place:
                timed(f"{kind}: {layer}", runs, kind, f"{layer} of part {part}", [place, "--no-colors=true"])
    place = program("address", "check", kernels, sys.argv[1:])
    if place:
        timed("address: operators", runs, "address", "operators " + ", ".join(s.stem for s in kernels), [place, "check"])
    report.finish()


if __name__ == "__main__":
    main()
