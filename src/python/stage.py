#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Links the package's files and its extension into one folder, from which Python imports them while they are worked on.

  stage.py PACKAGE FOLDER EXTENSION PYTHON

Beside the folder the file `interpreter` says which Python the extension is built for.
"""
import os
import pathlib
import shutil
import sys


def main():
    package, folder, extension = (pathlib.Path(p) for p in sys.argv[1:4])
    shutil.rmtree(folder, ignore_errors=True)
    for source in sorted(package.rglob("*")):
        if source.suffix not in (".py", ".pyi", ".typed"):
            continue
        link = folder / source.relative_to(package)
        link.parent.mkdir(parents=True, exist_ok=True)
        os.symlink(source, link)
    os.symlink(os.path.relpath(extension, folder), folder / extension.name)
    (folder.parent / "interpreter").write_text(sys.argv[4] + "\n")


if __name__ == "__main__":
    main()
