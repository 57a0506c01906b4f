#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs one doctest program and counts its cases: doctest_run.py [--needs FLAG] STAGE PROGRAM [ARGUMENT...]

With --needs it is skipped where the processor lacks what Linux calls FLAG: then it is compiled and no more.
"""
import pathlib
import re
import subprocess
import sys

from common import Report


def main():
    words = sys.argv[1:]
    needed = words[1] if words[0] == "--needs" else None
    stage, *command = words[2:] if needed else words
    report = Report(stage)
    if needed and not re.search(rf"(?m)^flags.*\b{needed}\b", pathlib.Path("/proc/cpuinfo").read_text()):
        report.skipped(stage, f"compiled only: this processor has no {needed}")
        report.finish()
    if report.only:
        # a case by its name, or every case of a file
        runs = [command + [f"--test-case=*{report.only}*"], command + [f"--source-file=*{report.only}*"]]
    else:
        runs = [command]
    for arguments in runs:
        done = subprocess.run(arguments + ["--no-colors=true"], capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL)
        count = re.search(r"test cases:\s*(\d+)\s*\|\s*(\d+) passed\s*\|\s*(\d+) failed\s*\|\s*(\d+) skipped", done.stdout)
        if count is None:
            report.failed(" ".join(arguments), f"ended with status {done.returncode} and no summary\n{done.stdout}\n{done.stderr}")
            continue
        passed, failed = int(count[2]), int(count[3])
        report.passed(stage, passed)
        for text in range(failed):
            report.counts["failed"] += 1
        if failed or done.returncode != 0:
            print(done.stdout + done.stderr, flush=True)
            if not failed:  # a sanitizer's report, or an end after the last case
                report.failed(" ".join(arguments), f"every case passed, but the program ended with status {done.returncode}")
        elif "SKIP" in done.stdout + done.stderr:
            for line in (done.stdout + done.stderr).splitlines():
                if line.lstrip().startswith("SKIP"):
                    report.skipped(stage, line.strip()[4:].lstrip(": "))
        if passed + failed and report.only:
            break
    report.finish()


if __name__ == "__main__":
    main()
