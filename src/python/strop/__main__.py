# SPDX-License-Identifier: Apache-2.0
"""What builds of operators ask: `python -m strop --include`."""
import argparse

import strop

parser = argparse.ArgumentParser(prog="python -m strop", description="Where the package is, for those who build operators.")
parser.add_argument("--include", action="store_true", help="the folder of the C++ headers")
parser.add_argument("--info", action="store_true", help="what was built, and what it takes of this machine")
options = parser.parse_args()
if options.include:
    print(strop.get_include())
if options.info:
    for name, value in strop.info().items():
        print(f"{name:<16} {', '.join(value) if isinstance(value, list) else value}")
if not any(vars(options).values()):
    parser.print_help()
