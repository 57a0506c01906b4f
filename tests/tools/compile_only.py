#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that need a compiler and no run: compile_only.py {static,reject,headers}

Each commit has every file of static and reject by one of the compilers, and a quarter of the headers; `./run test --all` has all.

  static   tests/static/*.cpp: compiling is passing; a line `// flags: …` has flags of a user's. As most users read them,
           with the compiled library
  reject   tests/reject/*.cpp: must not compile, and the messages must contain every `// reject: text` of the file
           (`// reject(g++): text`, `// reject(clang++): text`: of one compiler only); `// reject-first: text` is in the first
           error line. `// reject-first A B: text` is of the file with -DA, and with -DB. What is refused is read with the flags of a
           line `// flags: …`; with a line `// lines: 20` the first error stands in the first 20 lines of what a compiler says
           of the whole program; with -DCONTROL, and without these, the file must compile. Users of the compiled library see
           the same sentences, a third sooner, so these are theirs; the contract is precompiled
  headers  every header under include/strop, alone and included twice: by clang, which takes half the time of g++. One that
           has code for STROP_COMPILED to leave out is read with it, and without the bodies of kernels beside it; the others
           as users of the compiled library read them. The largest header that one includes, as others do, is read first,
           precompiled. Those that README.md, docs, examples or foreign projects name are also read by g++ beside the macros
           of hosts, together. Bodies come behind what they include, whichever header is first
"""
import collections
import functools
import re
import sys
import threading

import compile_cost
from common import (INCLUDE, ROOT, STRICT, Report, compilers, compilers_or_skip, parallel, pkg_config, precompiled, syntax_check)

SYSTEM = [a.replace("-I", "-isystem", 1) if a.startswith("-I") else a for a in pkg_config("eigen3", "fmt") if not a.startswith("-l")]


OF_COMPILERS = {"strop: this compiler writes names in a way that core/reflect.hpp does not know"}  # of none that is tested


def squeezed(text):
    return re.sub(r"\s+", " ", text)


def flags_of(path):
    return [f for line in re.findall(r"(?m)^// flags:(.*)$", path.read_text()) for f in line.split()]


def static(report, compiler, path):
    name = f"{path.name} with {compiler.name}"
    status, messages = syntax_check(compiler, [*user_arguments(compiler), *STRICT, *flags_of(path)], path)
    report.passed(name) if status == 0 else report.failed(name, messages)


def user_arguments(compiler):
    return [*compiler.native, *SYSTEM, "-DSTROP_COMPILED"]


@functools.lru_cache(maxsize=None)
def contract(compiler):
    return precompiled(compiler, user_arguments(compiler), "strop/strop.hpp")


REJECT = re.compile(r"(?m)^\s*// reject(-first)?((?: \w+)*)(?:\(([^)]*)\))?:(.*)$")  # first, cases, compiler, text


DIRECTIVE = re.compile(r"(?m)^\s*// \S.*?\b(?:reject(?:-first)?(?: [A-Z_]+)*: |lines: \d|flags: )")  # behind other words


def reject(report, compiler, path):
    cases = {}
    for first, names, only, text in REJECT.findall(path.read_text()):
        for case in names.split() or [""]:
            if only in ("", compiler.name):
                cases.setdefault(case, []).append((first, text.strip()))
    if not cases:
        if not REJECT.search(path.read_text()):
            report.failed(path.name, "the file has no `// reject: text` line")
        return
    if inside := DIRECTIVE.search(path.read_text()):
        report.failed(path.name, f"a line `// reject…`, `// lines:` or `// flags:` stands inside another comment: {inside[0].strip()}")
        return
    named = {case for _, cases_of_line, *_ in REJECT.findall(path.read_text()) for case in cases_of_line.split()}
    if unnamed := set(re.findall(r"(?m)^#(?:el)?if defined\((\w+)\)", path.read_text())) - named - {"CONTROL"}:
        report.failed(path.name, f"no `// reject` line says what {', '.join(sorted(unnamed))} is refused with")
        return
    flags = flags_of(path)
    most = re.search(r"(?m)^// lines: (\d+)$", path.read_text())
    all_errors = ["-ferror-limit=0"] if compiler.name == "clang++" else []
    as_user = user_arguments(compiler)
    for case, wanted in cases.items():
        name = f"{path.name} {case} with {compiler.name}"
        arguments = [*as_user, *all_errors, *flags, *([f"-D{case}"] if case else [])]
        status, messages = syntax_check(compiler, arguments, path, None if flags or most else contract(compiler))
        before = next((n for n, line in enumerate(messages.splitlines(), 1) if " error: " in line), 0)
        error = next((line for line in messages.splitlines() if " error: " in line), "")
        missing = [text for first, text in wanted if squeezed(text) not in squeezed(error if first else messages)]
        if status == 0:
            report.failed(name, "this compiled and should not have")
        elif missing:
            report.failed(name, "\n".join(f"not in the messages: {text}" for text in missing) + "\n" + messages)
        elif most and before > int(most[1]):
            report.failed(name, f"the first error stands in line {before}, expected the first {most[1]}\n" + messages)
        else:
            report.passed(name)
    name = f"{path.name} with {compiler.name}"
    status, messages = syntax_check(compiler, [*as_user, "-DCONTROL", *STRICT], path, contract(compiler))
    name = f"control of {name}"
    report.passed(name) if status == 0 else report.failed(name, messages)


def sentences():
    """{sentence: where} of every static_assert of the headers that begins with `strop:`."""
    found = {}
    for path in sorted(INCLUDE.rglob("*.hpp")):
        text = path.read_text()
        for last in re.finditer(r'((?:"(?:[^"\\]|\\.)*"\s*)+)\);', text):
            sentence = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', last[1]))
            opened = text.rfind("static_assert(", 0, last.start())
            if sentence.startswith("strop:") and opened > text.rfind(");\n", 0, last.start()):
                found[squeezed(sentence)] = path.relative_to(ROOT)
    return found


def all_refused(report, paths):
    """Every sentence of the contract stands in a `// reject:` line."""
    refused = [squeezed(text.strip()) for path in paths for *_, text in REJECT.findall(path.read_text())]
    for sentence, where in sentences().items():
        if sentence in OF_COMPILERS or any(len(text) > 20 and text in sentence for text in refused):
            report.passed(sentence)
        else:
            report.failed(sentence, f"{where} has a sentence that no tests/reject file shows")


@functools.lru_cache(maxsize=None)
def named_headers():
    """The headers that a user is told of, and so includes first."""
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "examples").rglob("*.cpp"), *(ROOT / "tests/consume").rglob("*.cpp")]
    return {name for page in pages for name in re.findall(r"strop/[a-z_0-9/]+\.hpp", page.read_text())}


@functools.lru_cache(maxsize=None)
def parts_of(name):
    """The headers of strop that a header includes at its top, and those at its end, which the compiled library's users do not read."""
    top, *end = re.split(r"#if !defined\(STROP_(?:OPERATORS_)?COMPILED\)", (INCLUDE / name).read_text())
    return tuple(tuple(re.findall(r"(?m)^#include <(strop/\S+\.hpp)>", part)) for part in (top, "".join(end)))


def includes_of(name):
    """The headers of strop that a header includes at its top."""
    return parts_of(name)[0]


@functools.lru_cache(maxsize=None)
def closure(name):
    found, waiting = {name}, [name]
    while waiting:
        more = set(includes_of(waiting.pop())) - found
        found |= more
        waiting += more
    return found


def kind_of(path):
    """What a header is read with. Bodies of kernels that stand beside it are left out: they are read alone, and include it.
    Other code that STROP_COMPILED leaves out is read."""
    text = path.read_text()
    if "_body.hpp>" in text and not path.stem.endswith("_body"):
        return "-DSTROP_COMPILED", "-DSTROP_OPERATORS_COMPILED"
    return () if "STROP_COMPILED" in text else ("-DSTROP_COMPILED",)


@functools.lru_cache(maxsize=None)
def common_includes():
    """{(kind, header): how many headers of that kind include it at their top}."""
    found = collections.Counter()
    for path in (INCLUDE / "strop").rglob("*.hpp"):
        for name in includes_of(str(path.relative_to(INCLUDE))):
            found[kind_of(path), name] += 1
    return found


@functools.lru_cache(maxsize=None)
def lock_of(*what):
    return threading.Lock()


def first_read(compiler, arguments, path):
    """The largest header that this one and some others include, precompiled: what it declares the header sees anyway, and
    it compiles alone by a check of its own."""
    kind = kind_of(path)
    shared = [name for name in includes_of(str(path.relative_to(INCLUDE))) if common_includes()[kind, name] >= 5]
    if not shared:
        return None
    name = max(shared, key=lambda name: (len(closure(name)), name))
    with lock_of(compiler, kind, name):
        try:
            return precompiled(compiler, arguments, name)
        except SystemExit:  # its own check says why
            return None


def header(report, compiler, path):
    name = f"{path.relative_to(INCLUDE)} with {compiler.name}"
    line = f"#include <{path.relative_to(INCLUDE)}>\n"
    arguments = [*compiler.native, *SYSTEM, *STRICT, *kind_of(path)]
    status, messages = syntax_check(compiler, arguments, line + line, first_read(compiler, arguments, path))
    report.passed(name) if status == 0 else report.failed(name, messages)


def order_of_includes(report):
    """Of each header that is read first, as header-only programs may: the bodies that follow a header come behind what they
    include. They would not where this is still being read, as it includes the header before its own declarations."""
    def fault(first):
        known, open_tops = set(), []

        def read(name):
            if name in open_tops[:-1] and open_tops[-1].endswith("_body.hpp"):
                return f"{open_tops[-1]} includes {name}, which includes it in turn: {' > '.join(open_tops)}"
            if name in known:
                return None
            known.add(name)
            top, end = parts_of(name)
            open_tops.append(name)
            for inner in top:
                if wrong := read(inner):
                    return wrong
            open_tops.pop()
            for inner in end:
                if wrong := read(inner):
                    return wrong
            return None

        return read(first)

    for name in sorted(str(path.relative_to(INCLUDE)) for path in (INCLUDE / "strop").rglob("*.hpp")):
        wrong = fault(name)
        report.failed(f"order of includes from {name}", wrong) if wrong else report.passed(name)


def beside_macros(report, compiler):
    """Those that a user is told of put the macros of hosts aside at their top and bring them back at their end, and are read
    so. The compiled library's users read fewer lines of the same headers, so the whole of each is read here."""
    # The first says STROP_COMPILED, and is read alone; the second reads PyTorch's headers, where they are, before it does so.
    names = sorted(named_headers() - {"strop/source.hpp", "strop/torch.hpp"})
    for name in names:
        code = [line for line in (INCLUDE / name).read_text().splitlines() if line.startswith("#include")]
        if code[:1] != ["#include <strop/core/push_macros.def>"] or code[-1:] != ["#include <strop/core/pop_macros.def>"]:
            report.failed(f"{name} beside the macros of hosts", "expected core/push_macros.def as the first include, core/pop_macros.def as the last")
    macros = (ROOT / "tests/static/host_macros.hpp").read_text().replace("#pragma once\n", "")
    status, messages = syntax_check(compiler, [*compiler.native, *SYSTEM, *STRICT], macros + "".join(f"#include <{name}>\n" for name in names))
    name = "named headers beside the macros of hosts"
    report.passed(name, len(names)) if status == 0 else report.failed(name, messages)


def main():
    stage = sys.argv[1]
    check, paths = {
        "static": (static, (ROOT / "tests/static").glob("*.cpp")),
        "reject": (reject, (ROOT / "tests/reject").glob("*.cpp")),
        # an _impl.hpp is a part of its header; ops/all.hpp builds every kernel, as src/ops does
        "headers": (header, [p for p in (INCLUDE / "strop").rglob("*.hpp") if not p.stem.endswith("_impl") and p.name != "all.hpp"]),
    }[stage]
    report = Report(stage)
    paths = [p for p in sorted(paths) if report.wanted(str(p.relative_to(ROOT)), p)]
    if stage == "reject" and not report.only:
        all_refused(report, paths)
    if stage == "static" and not report.only:
        compile_cost.check(report)
    if paths:
        chosen = compilers_or_skip(report) if stage != "headers" else compilers()[-1:]
        if stage == "reject":
            parallel(contract, chosen)  # once, before every check asks for it
        if stage == "headers" and not report.only and report.changed is None:
            order_of_includes(report)
            beside_macros(report, compilers()[0])
        if stage == "headers":
            paths = report.share(paths, 4)
        jobs = [(report, compiler, path) for i, path in enumerate(paths) for k, compiler in enumerate(chosen) if report.has_turn(i + k, len(chosen))]
        parallel(lambda job: check(*job), jobs)
    report.finish()


if __name__ == "__main__":
    main()
