#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lists C++ sources for meson.build, so that a new file is picked up by configuring again.

  list_sources.py --flat DIR     every DIR/*.cpp, one absolute path a line
  list_sources.py --layers DIR   one line per folder of DIR that holds sources: name, then its files (recursively),
                                 separated by `|`
"""
import pathlib
import sys


def sources(folder, pattern):
    return sorted(str(p) for p in folder.glob(pattern) if p.is_file())


def main():
    mode, folder = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    if mode == "--flat":
        print("\n".join(sources(folder, "*.cpp")))
    elif mode == "--layers":
        for layer in sorted(p for p in folder.iterdir() if p.is_dir()):
            files = sources(layer, "**/*.cpp")
            if files:
                print("|".join([layer.name] + files))
    else:
        sys.exit(f"list_sources.py: unknown mode {mode}")


if __name__ == "__main__":
    main()
