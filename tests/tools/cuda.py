#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tests/cuda/*.cu with nvcc: each is compiled; together with tests/unit/main.cpp they are one program, which is run.

A file with a main of its own is a program of its own. Without nvcc everything is skipped; without a device the cases
whose names contain `[gpu]` are, and the rest (index arithmetic, refusals) run on the CPU.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

from common import BUILD, INCLUDE, ROOT, Report, digest, parallel, pkg_config, remembered, run, shown


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


def main():
    report = Report("cuda")
    sources = sorted((ROOT / "tests/cuda").glob("*.cu"))
    nvcc = find_nvcc()
    if nvcc is None:
        report.skipped(f"{len(sources)} files", "nvcc is not installed")
        report.finish()
    device = capability()
    folder = BUILD / "programs" / "cuda"
    folder.mkdir(parents=True, exist_ok=True)
    version = run([nvcc, "--version"])[1]
    # Debian's fmt 9.1 takes nvcc for a compiler without constant evaluation
    flags = ["-std=c++20", "--expt-relaxed-constexpr", f"-arch={device or 'sm_80'}", "-O2", "-DFMT_USE_CONSTEXPR=1", "-DEIGEN_NO_CUDA",
             f"-I{INCLUDE}", f"-I{ROOT}", f"-I{ROOT / 'tests'}", *(a for a in pkg_config("eigen3", "fmt") if a.startswith("-I")), "-Xcompiler=-pthread,-Wall"]
    objects = {}

    def compile_one(source):
        name = str(source.relative_to(ROOT))
        place = folder / (source.stem + ".o")
        command = [nvcc, *flags, "-c", source, "-o", place]

        def work():
            place.unlink(missing_ok=True)
            status, out, err = run(command, timeout=900)
            return [status, out + err], None

        status, messages = remembered([version, *map(str, command), digest(source)], work, output=place)
        if status != 0:
            report.failed(name, shown(command) + "\n" + messages)
        elif "warning" in messages:
            report.failed(name, "warnings:\n" + messages)
        else:
            report.passed(f"{name} compiles")
            objects[source] = place

    parallel(compile_one, sources + ([ROOT / "tests/unit/main.cpp"] if sources else []))
    main_object = objects.pop(ROOT / "tests/unit/main.cpp", None)
    alone = [s for s in objects if re.search(r"(?m)^int main\(", s.read_text())]
    together = [s for s in objects if s not in alone]
    programs = [(s.stem, [objects[s]], False) for s in sorted(alone)]
    if together and main_object:
        programs.append(("maps", [main_object, *(objects[s] for s in sorted(together))], True))
    for name, parts, is_doctest in programs:
        program = folder / name
        status, out, err = run([nvcc, *flags, *parts, "-lfmt", "-o", program])
        if status != 0:
            report.failed(f"link of {name}", out + err)
            continue
        report.passed(f"link of {name}")
        if is_doctest:
            arguments = [] if device else ["--test-case-exclude=*[gpu]*"]
            done = subprocess.run([sys.executable, pathlib.Path(__file__).with_name("doctest_run.py"), "cuda", program, *arguments],
                                  capture_output=True, text=True, env=dict(os.environ, STROP_ONLY=""))
            count = re.search(r"strop-count: (\d+) passed, (\d+) failed, (\d+) skipped", done.stdout)
            report.passed(name, int(count[1]) if count else 0)
            if done.returncode != 0:
                report.failed(f"run of {name}", done.stdout + done.stderr)
            if not device:
                report.skipped(f"the [gpu] cases of {name}", "no CUDA device")
        elif device:
            status, out, err = run([program])
            report.passed(f"run of {name}") if status == 0 else report.failed(f"run of {name}", out + err)
        else:
            report.skipped(f"run of {name}", "no CUDA device")
    report.finish()


if __name__ == "__main__":
    main()
