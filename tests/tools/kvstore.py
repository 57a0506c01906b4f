#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Distributed stores under mpirun: kvstore.py PROGRAM (tests/kvstore/processes.cpp).

Workers on this machine have, bit for bit, what one process has; one that dies, leaves or makes other calls ends the
others, and they say who and where. Skipped where mpirun is not there.
"""
import os
import re
import shutil
import sys
import tempfile
import time

from common import Report, run, shown

MOST = 60  # seconds, many times what the end of all takes after the end of one: a guard against workers that hang
# What the last of three workers does (`first`: both but the first), and what somebody has to say of it; mpirun speaks of one that was killed.
ENDS = {
    "killed": r"KVStore: worker 2 \(process \d+ on \S+\) has died|process rank 2 .* exited on signal 9",
    "leaves": r"KVStore: worker 2 \(process \d+ on \S+\) has ended, and worker \d waits for it at push of 'w'",
    "first": r"KVStore: worker [12] \(process \d+ on \S+\) has ended, and worker 0 waits for it at push of 'w'",
    "throws": r"this worker has had enough",
    "async killed": r"KVStore: worker 2 \(process \d+ on \S+\) has died|process rank 2 .* exited on signal 9",
    "async throws": r"this worker has had enough",
    "async garbled": r"KVStore: worker 0 got a request of worker 2 that another version of strop sends",
    "async odd": r"KVStore: the updater threw for 'w' what is no std::exception",
    "differs": r"is at another call than worker \d, which is at push of '[ab]': all workers make the same calls",
}


def main():
    report = Report("kvstore", by_file=False)
    mpirun = shutil.which("mpirun")
    if mpirun is None or "Open MPI" not in run([mpirun, "--version"])[1]:
        report.skipped("kvstore", "OpenMPI's mpirun is not installed (apt-get install openmpi-bin)")
        report.finish()
    program = os.path.abspath(sys.argv[1])
    folder = tempfile.mkdtemp(prefix="strop-kvstore-")
    base = [mpirun, "--oversubscribe", *(["--allow-run-as-root"] if os.geteuid() == 0 else [])]
    threads = {**os.environ, "STROP_NUM_THREADS": "1", "TMPDIR": folder}

    def start(workers, what):
        command = [*base, "-n", workers, program, what, os.path.join(folder, "kvstore.states")]
        begin = time.monotonic()
        status, out, err = run(command, timeout=120, env=threads, cwd=folder)
        return shown(command), status, out + err, time.monotonic() - begin

    try:
        # What `async saves` writes with two workers, `async loads` reads with three.
        for what, workers in (("fine", 1), ("fine", 2), ("fine", 4), ("async fine", 3), ("async saves", 2), ("async loads", 3)):
            name = f"{what} {workers}"
            if not report.wanted(name):
                continue
            command, status, text, seconds = start(workers, what)
            print(f"{seconds:6.1f} s  {name}", *re.findall(r"(?m)^\d+ bytes: \d+ us", text), sep="  ", flush=True)
            if status == 0 and f"{what.split()[-1]}: {workers} workers are done" in text:
                report.passed(name)
            else:
                report.failed(name, f"{command}\nended with status {status}\n{text}")
        for what, said in ENDS.items():
            if not report.wanted(what):
                continue
            command, status, text, seconds = start(3, what)
            print(f"{seconds:6.1f} s  {what}", flush=True)
            if status in (0, 124) or seconds > MOST or not re.search(said, text):
                report.failed(what, f"{command}\nended with status {status} after {seconds:.1f} s (at most {MOST}), "
                                    f"and has to say {said}\n{text}")
            else:
                report.passed(what)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    report.finish()


if __name__ == "__main__":
    main()
