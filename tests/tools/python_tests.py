#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pytest on tests/python with the package of the build folder.

  python_tests.py PYTHON    the interpreter that the extension was built for; without one the stage is skipped
"""
import os
import re
import sys

from common import BUILD, ROOT, Report, run


def main():
    report = Report("python", by_file=False)
    if len(sys.argv) < 2:
        report.skipped("python", "the module is not built here: there are no headers of Python 3.11 or newer, or no nanobind")
        report.finish()
    interpreter = sys.argv[1]
    for package, name in (("numpy", "python3-numpy"), ("pytest", "python3-pytest")):
        if run([interpreter, "-c", f"import {package}"])[0] != 0:
            report.skipped("python", f"{package} is not installed for {interpreter} (apt-get install {name})")
            report.finish()
    environment = {**os.environ, "PYTHONPATH": str(BUILD / "python"), "PYTHONDONTWRITEBYTECODE": "1"}
    folder = ROOT / "tests/python"
    # One run for each file: what one leaves behind is not in the way of another.
    for path in sorted(folder.glob("test_*.py")):
        if not report.wanted(path.name, path):
            continue
        status, out, err = run([interpreter, "-W", "error::DeprecationWarning", "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=short", path],
                               timeout=900, env=environment)
        count = dict((what, int(n)) for n, what in re.findall(r"(\d+) (passed|failed|skipped|error)", out.splitlines()[-1] if out else ""))
        report.passed(path.name, count.get("passed", 0))
        for _ in range(count.get("skipped", 0)):
            report.skipped(path.name, "a package that it uses beside ours is not installed")
        if status not in (0, 5) or not count.get("passed", 0) + count.get("skipped", 0):
            report.failed(path.name, out + err)
        elif err.strip():
            report.failed(path.name, f"at exit: {err}")  # nanobind says what leaks
    report.finish()


if __name__ == "__main__":
    main()
