#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""clang-format and the rules for files (CONTRIBUTING.md) on every source of the tree."""
import re
import shutil

import documents
import operator_lists
from common import ROOT, Report, parallel, run

ENDINGS = {".hpp", ".cpp", ".cu", ".cuh"}
LONGEST = 600
PRECOMPILED = [ROOT / folder / "pch" for folder in ("src", "tests", "tests/consume/meson-wrap")]  # compilers warn of `#pragma once` there


def tree():
    """Every source that git tracks or would; without git, every source outside build folders."""
    status, out, _ = run(["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard"])
    names = out.splitlines() if status == 0 else [
        str(p.relative_to(ROOT)) for p in ROOT.rglob("*") if not re.match(r"build|\.", p.relative_to(ROOT).parts[0])]
    paths = [ROOT / n for n in names]
    return sorted(p for p in paths if p.suffix in ENDINGS and p.is_file())


def open_parameters(text):
    """Parameters of operators without an initialiser: where one is left out, g++ warns at the call."""
    for block in re.findall(r"^struct [^;{]*\{.*?^\};|^#define .*?[^\\]$", text, re.M | re.S):
        if block.startswith("#define") or re.search(r"\bforward\w*\(", block):
            yield from re.findall(r"^  [\w:]+(?:<[^;()]*>)? (\w+(?:, \w+)*);", block, re.M)


def faults(path):
    text = path.read_text()
    lines = text.splitlines()
    if not lines or lines[0] != "// SPDX-License-Identifier: Apache-2.0":
        yield "the first line is not `// SPDX-License-Identifier: Apache-2.0`"
    if path.suffix in (".hpp", ".cuh"):
        if not re.match(r"/// \\file\b", lines[1] if len(lines) > 1 else ""):
            yield r"the second line is not `/// \file` with a sentence of what the file is"
        if "#pragma once" not in lines and path.parent not in PRECOMPILED:
            yield "no `#pragma once`"
    if {"include", "ops"} <= set(path.parts):
        for name in open_parameters(text):
            yield f"the parameter `{name}` of an operator has no initialiser"
        for name, sentence in documents.repeats(text):
            yield f"the comment of {name} says again what its doc says: {sentence}"
    if len(lines) > LONGEST:
        yield f"{len(lines)} lines, more than {LONGEST}"


def unlisted_runtime():
    """Headers of code that is no template which the runtime leaves out."""
    headers = ROOT / "include/strop"
    lists = [*(headers / "source").glob("*.hpp"), headers / "verify/source.hpp", headers / "testing.hpp"]
    listed = "".join(path.read_text() for path in lists)
    for header in sorted((ROOT / "include").rglob("*_impl.hpp")):
        if f"<{header.relative_to(ROOT / 'include')}>" not in listed:
            yield f"{header.relative_to(ROOT)} is in no list under strop/source"


def settings():
    """Variables of the environment that the code reads, and options of the build."""
    reads = re.compile(r'(?:getenv|environ(?:ment\w*)?(?:\.get)?)[(\[]\{?((?:"[A-Z_]+"(?:, )?)+)|^ *\{("(?:STROP|MXNET)_[A-Z_]+", "[A-Z_]*"), Known', re.M)
    known = set()
    for folder in ("include", "src", "tests", "bench", "examples"):
        for path in (ROOT / folder).rglob("*"):
            made_up = path.name in ("environment.cpp", "pool.cpp", "test_test_utils.py")  # variables that the tests of the readers set
            others = any(part.startswith(".") for part in path.relative_to(ROOT).parts)  # of bench/.venv
            if path.suffix in {*ENDINGS, ".py"} and not made_up and not others:
                for listed, pair in reads.findall(path.read_text()):
                    known.update(re.findall(r"[A-Z_]{3,}", listed + pair))
    known.update(re.findall(r"\$\{([A-Z][A-Z_]+):?-", (ROOT / "run").read_text()))
    known.update(re.findall(r"(?m)^option\('(\w+)'", (ROOT / "meson.options").read_text()))
    return known - {"CCACHE_DEPEND", "CCACHE_NOHASHDIR", "PATH", "PREFIX", "PYTHONPATH", "WERROR"}  # the system's, and those of tests/consume


def unlisted_settings():
    """What docs/settings.md does not list of them, and names of ours there that nothing reads."""
    page = (ROOT / "docs/settings.md").read_text()
    listed = {name for cell in re.findall(r"(?m)^\| (`[^|]+) \|", page) for name in re.findall(r"`(\w+)`", cell)}
    known = settings()
    for name in sorted(known - listed):
        yield f"{name} has no entry in docs/settings.md"
    for name in sorted(listed - known):
        if name.startswith(("STROP_", "MXNET_")) or name.islower():
            yield f"docs/settings.md lists {name}, which nothing reads"


def main():
    report = Report("format")
    missing = list(unlisted_settings())
    report.failed("settings", "\n".join(missing)) if missing else report.passed("settings")
    missing = list(unlisted_runtime())
    report.failed("the runtime", "\n".join(missing)) if missing else report.passed("the runtime")
    missing = list(operator_lists.faults())
    report.failed("lists of operators", "\n".join(missing)) if missing else report.passed("lists of operators")
    paths = tree()
    for path in paths:
        found = list(faults(path))
        name = f"rules for {path.relative_to(ROOT)}"
        report.failed(name, "\n".join(found)) if found else report.passed(name)

    tool = shutil.which("clang-format-19")
    if tool is None:
        report.skipped("clang-format", "clang-format-19 is not installed (apt-get install clang-format-19)")
        report.finish()

    def check(path):
        name = f"layout of {path.relative_to(ROOT)}"
        status, _, err = run([tool, "--dry-run", "-Werror", "--ferror-limit=3", path])
        report.passed(name) if status == 0 else report.failed(name, err + "`./run format` mends it")

    parallel(check, paths)
    report.finish()


if __name__ == "__main__":
    main()
