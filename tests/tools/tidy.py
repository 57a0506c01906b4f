#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""clang-tidy on one unit per header family: every header of a folder under include/strop, included together. A quarter
of them for each commit; `./run test --all` has all."""
import shutil

from common import BUILD, INCLUDE, ROOT, Report, compilers, digest, parallel, pkg_config, remembered, run


def main():
    report = Report("tidy")
    tool = shutil.which("clang-tidy-19")
    clang = next((c for c in compilers() if c.name == "clang++"), None)
    if tool is None or clang is None:
        report.skipped("all", "clang-tidy-19 is not installed (apt-get install clang-tidy-19)")
        report.finish()
    families = {}
    for path in sorted((INCLUDE / "strop").rglob("*.hpp")):
        inside = path.relative_to(INCLUDE / "strop")
        if inside.name == "source.hpp" or inside.parts[0] == "source":  # lists of the others
            continue
        families.setdefault(inside.parts[0] if len(inside.parts) > 1 else "top", []).append(path)
    folder = BUILD / "tidy"
    folder.mkdir(exist_ok=True)
    version = run([tool, "--version"])[1]
    system = [a.replace("-I", "-isystem", 1) for a in pkg_config("eigen3", "fmt") if a.startswith("-I")]

    def check(family):
        name, headers = family
        unit = folder / f"{name}.cpp"
        headers = sorted(headers, key=lambda p: (p.stem.endswith("_impl"), p))  # an _impl.hpp is a part of its header
        text = "".join(f"#include <{p.relative_to(INCLUDE)}>\n" for p in headers)
        unit.write_text(text)
        only = r"include/strop/[^/]*$" if name == "top" else f"include/strop/{name}/"
        command = [tool, "--quiet", f"--config-file={ROOT / '.clang-tidy'}", f"--header-filter={only}", unit, "--", "-std=c++20", f"-I{INCLUDE}", *system, *clang.native]
        status, messages = remembered([version, text, digest(ROOT / ".clang-tidy"), *map(str, command)],
                                      lambda: (messages_of(run(command, timeout=1200)), None))
        report.passed(name) if status == 0 else report.failed(name, messages)

    parallel(check, report.share(families.items(), 4))
    report.finish()


def messages_of(result):
    status, out, err = result
    return [status, out if out.strip() else err]


if __name__ == "__main__":
    main()
