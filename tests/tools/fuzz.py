#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds and runs the fuzzers of tests/fuzz: fuzz.py --build FOLDER [NAME] [SECONDS]

Each tests/fuzz/NAME.cpp defines LLVMFuzzerTestOneInput; that of the operators is linked with all of them, which
takes minutes to build the first time. A fuzzer starts from tests/fuzz/corpus/NAME, keeps what it finds in
FOLDER/corpus/NAME, and leaves a failing input in FOLDER/failures.
"""
import argparse
import os
import pathlib
import re
import shutil
import sys

from common import INCLUDE, ROOT, indent, parallel, pkg_config, run, shown

FLAGS = ["-std=c++20", "-O1", "-g", "-march=native", "-Wno-invalid-feature-combination", "-pthread", f"-I{INCLUDE}",
         "-fsanitize=fuzzer,address,undefined", "-fno-sanitize-recover=undefined"]


# Of these the build system compiles the parts, and again what changed alone.
LINKED = {"operators"}
OPTIONS = ["-Dcpp_args=-fsanitize=fuzzer-no-link -fno-sanitize-recover=undefined -gline-tables-only", "-Ddebug=false",
           "-Doptimization=1", "-Db_sanitize=address,undefined", "-Db_lundef=false", "-Dmarch=native", "-Dlevels=disabled",
           "-Dcommand=disabled"]


def build_linked(source, folder):
    """Builds the program of meson's target; its path, or what went wrong."""
    environment = dict(os.environ, CXX="ccache clang++-19" if shutil.which("ccache") else "clang++-19")
    folder = folder / "linked"
    if not (folder / "build.ninja").exists():
        status, out, err = run(["meson", "setup", folder, *OPTIONS], timeout=300, cwd=ROOT, env=environment)
        if status != 0:
            return None, out + err
    target = f"tests/fuzz_{source.stem}"
    status, out, err = run(["ninja", "-C", folder, target], timeout=7200)
    return (folder / target if status == 0 else None), out + err


def main():
    parser = argparse.ArgumentParser(prog="run fuzz")
    parser.add_argument("--build", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("name", nargs="?", default="", help="one fuzzer (all when left out)")
    parser.add_argument("seconds", nargs="?", type=int, default=20, help="how long each runs (default 20)")
    options = parser.parse_args()
    if options.name.isdigit():
        options.name, options.seconds = "", int(options.name)
    sources = [p for p in sorted((ROOT / "tests/fuzz").glob("*.cpp")) if options.name in ("", p.stem)]
    if not sources:
        known = ", ".join(p.stem for p in sorted((ROOT / "tests/fuzz").glob("*.cpp")))
        sys.exit(f"run fuzz: no fuzzer named '{options.name}'; there are: {known}")
    build = options.build.resolve()
    failures = build / "failures"
    failures.mkdir(parents=True, exist_ok=True)
    rows = []

    # Without a symbolizer of its own release the sanitizer prints addresses; binutils has one that it can drive.
    symbolizer = shutil.which("llvm-symbolizer-19") or shutil.which("addr2line") or ""
    environment = dict(os.environ, ASAN_SYMBOLIZER_PATH=symbolizer, UBSAN_OPTIONS="print_stacktrace=1")

    def fuzz(source):
        program = build / source.stem
        command = ["clang++-19", *FLAGS, source, *pkg_config("eigen3", "fmt"), "-o", program]
        print(f"compiling {source.relative_to(ROOT)}", flush=True)
        if source.stem in LINKED:
            program, said = build_linked(source, build)
            status, err = int(program is None), said
        else:
            status, out, err = run(command, timeout=900)
        if status != 0:
            rows.append((source.stem, False, (shown(command) + "\n" if source.stem not in LINKED else "") + err))
            return
        corpus = build / "corpus" / source.stem
        corpus.mkdir(parents=True, exist_ok=True)
        seeds = ROOT / "tests/fuzz/corpus" / source.stem
        print(f"running {source.stem} for {options.seconds} s", flush=True)
        # -malloc_limit_mb: no reader may allocate what a file merely claims
        command = [program, f"-max_total_time={options.seconds}", "-timeout=10", "-rss_limit_mb=2048", "-malloc_limit_mb=256",
                   "-print_final_stats=1", f"-artifact_prefix={failures}/{source.stem}-", corpus, *([seeds] if seeds.is_dir() else [])]
        status, out, err = run(command, timeout=options.seconds + 600, cwd=build, env=environment)
        runs = re.search(r"number_of_executed_units:\s*(\d+)", err)
        rows.append((source.stem, status == 0, f"{runs[1] if runs else '?'} inputs" if status == 0 else indent(err)))

    parallel(fuzz, sources)
    for name, good, text in sorted(rows):
        print(f"{name}: {'no failure, ' + text if good else 'FAILED' + chr(10) + text}")
    sys.exit(0 if all(good for _, good, _ in rows) else 1)


if __name__ == "__main__":
    main()
