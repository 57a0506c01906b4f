#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What headers define is weak or local, so that any number of objects may have it: symbols.py LIBRARY ARCHIVE...

The archives are of tests/odr.cpp, which includes the headers, and of all operators; spec.py asks the same of
header-only programs. LIBRARY is the compiled library, the one place with strong definitions: a control.
"""
import pathlib
import sys

from common import Report, strong_symbols


def main():
    report = Report("symbols")
    library, *archives = sys.argv[1:]
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
