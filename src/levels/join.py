#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Joins the objects of one level into one object that harms no other: join.py LD OBJCOPY READELF NAME OUT OBJECT...

Functions of headers that are compiled for AVX-512 have the names of the same functions compiled for SSE, and a linker
keeps one of each: on an old machine perhaps the wrong one. So all that the level's objects define becomes local to them,
but for what is written to, of which a program has one (the registry, the pools of memory), and `strop_isa_NAME`. Their
initialisers go into the section `strop_init_NAME`, for src/levels/choose.cpp to run where the machine can.
"""
import pathlib
import re
import subprocess
import sys


def run(*command):
    return subprocess.run([str(c) for c in command], check=True, capture_output=True, text=True).stdout


def main():
    ld, objcopy, readelf, name, out, *objects = sys.argv[1:]
    joined, shared = pathlib.Path(out + ".joined"), pathlib.Path(out + ".shared")
    run(ld, "-r", "--force-group-allocation", "-o", joined, *objects)
    written, initialisers = set(), set()
    for number, section, kind, flags in re.findall(r"(?m)^\s*\[\s*(\d+)\] (\S+)\s+(\S+)\s+(?:[0-9a-f]+\s+){4}(\w+)", run(readelf, "-SW", joined)):
        if kind == "INIT_ARRAY":
            initialisers.add(section)
        elif "W" in flags and not section.startswith(".data.rel.ro"):
            written.add(number)
    symbols = [line.split() for line in run(readelf, "-sW", joined).splitlines()]
    kept = {s[7] for s in symbols if len(s) == 8 and s[4] != "LOCAL" and (s[6] in written or f"strop_isa_{name}" in s[7])}
    shared.write_text("".join(f"{symbol}\n" for symbol in sorted(kept)))
    renamed = [f"--rename-section={section}=strop_init_{name}" for section in sorted(initialisers)]
    run(objcopy, f"--keep-global-symbols={shared}", f"--weaken-symbols={shared}", *renamed, joined, out)
    joined.unlink()
    shared.unlink()


if __name__ == "__main__":
    main()
