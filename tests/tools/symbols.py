#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What headers define is weak or local, so that any number of objects may have it: symbols.py CALLS LIBRARY ARCHIVE...

The archives are of tests/odr.cpp, which includes the headers, and of all operators, the last; spec.py asks the same of
header-only programs. LIBRARY is the compiled library, the one place with strong definitions: a control. CALLS is the
archive of a file that calls operators of a library that has them all: it builds none of their entries.
"""
import pathlib
import sys

from common import Report, run, strong_symbols

ENTRY = "LibraryEntryOf"  # the class whose static member is an operator's entry


def main():
    report = Report("symbols")
    calls, library, *archives = sys.argv[1:]
    built = {archive: ENTRY in run(["nm", "--defined-only", archive])[1] for archive in (calls, archives[-1])}
    if built == {calls: False, archives[-1]: True}:
        report.passed("calls of compiled operators")
    else:
        report.failed("calls of compiled operators", f"which of these has entries of operators: {built}")
    if any("strop" in symbol for symbol in strong_symbols(library)):
        report.passed("control")
    else:
        report.failed("control", f"no strong symbol in {library}, which has hundreds")
    for archive in archives:
        strong = strong_symbols(archive)
        name = pathlib.Path(archive).name
        report.failed(name, "strong, where weak or local is expected:\n" + "\n".join(strong)) if strong else report.passed(name)
    report.finish()


if __name__ == "__main__":
    main()
