# SPDX-License-Identifier: Apache-2.0
"""Timing of calls from Python, for us and for the peers alike: statements, so that no function stands around what is
measured. Prints `case<TAB>nanoseconds<TAB>median`."""
import os
import subprocess
import sys
import tempfile
import timeit

ROUNDS = 60
ROUND_TIME = 1e-3
PROCESSES = 3
LOADED = """import time
begin = time.perf_counter()
import {}
seconds = time.perf_counter() - begin
import resource
print(seconds, int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize() / 1e6)
"""


def time_of(text, space, group=1, end="pass"):
    """(best, median) nanoseconds of a statement; with a group of so many, the end of which is awaited, the rate."""
    body = text if group == 1 else f"for _ in range({group}): {text}\n{end}"
    timer = timeit.Timer(body, globals=space)
    timer.timeit(20)
    calls = max(1, int(ROUND_TIME / max(timer.timeit(20) / 20, 1e-9)))
    times = sorted(timer.repeat(ROUNDS, calls))
    return tuple(t / calls / group * 1e9 for t in (times[0], times[len(times) // 2]))


def loading(module):
    """((best, median) nanoseconds of the import, resident megabytes after it), each time in a new process, where bytecode
    is kept as it is of what is installed."""
    with tempfile.TemporaryDirectory() as kept:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": kept, "PYTHONDONTWRITEBYTECODE": ""}
        said = [subprocess.run([sys.executable, "-c", LOADED.format(module)], capture_output=True, text=True, check=True, env=environment).stdout
                for _ in range(PROCESSES + 1)]
    found = sorted(tuple(map(float, line.split())) for line in said[1:])
    return (found[0][0] * 1e9, found[PROCESSES // 2][0] * 1e9), max(megabytes for _, megabytes in found)


def show(case, times):
    print(f"{case}\t{times[0]:.2f}\t{times[1]:.2f}", flush=True)


def answer(who, module, space, cases, group=1, end="pass"):
    """What a peer prints: its cases, what its import takes and what is resident after it."""
    for case, text in cases.items():
        show(case, time_of(text, space, group, end))
    times, megabytes = loading(module)
    show("import", times)
    print(f"# {who}: {megabytes:.0f} MB resident after the import")
