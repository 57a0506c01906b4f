#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds and runs the tests of a configured build folder; behind `./run test`.

What is compiled is what the chosen tests need. Every test then runs under `meson test`, and what each counted is added
up. The last line is `N passed, N failed` (and `, N skipped`); the exit status is 1 when anything failed or nothing ran.
"""
import argparse
import functools
import json
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]


def introspect(build, what):
    done = subprocess.run(["meson", "introspect", f"--{what}", str(build)], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def sources_of(target):
    return [pathlib.Path(s) for group in target["target_sources"] for s in group.get("sources", [])]


def mentions(paths, pattern):
    for path in paths:
        if pattern in str(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path).lower():
            return True
        if path.exists() and pattern in path.read_text(errors="replace").lower():
            return True
    return False


def choose(tests, targets, pattern):
    """The tests that a pattern reaches: by their name; where no name has it, through the sources of the programs that
    they run, and the scripts that look through their own files."""
    if not pattern:
        return tests
    pattern = pattern.lower()
    named = [t for t in tests if pattern in t["name"].lower()]
    if named:
        return named
    chosen = []
    for test in tests:
        programs = [targets[d] for d in test["depends"] if d in targets and targets[d]["type"] == "executable"]
        scans = not programs and "whole" not in [s.split(":")[-1] for s in test["suite"]]
        if scans or any(mentions(sources_of(p), pattern) for p in programs):
            chosen.append(test)
    return chosen


# Of `--changed`, the stages that look at files one by one; others check the whole, for minutes.
BY_FILE = ("static", "reject", "headers", "spec", "examples", "docs", "format")


def changed_since(revision):
    """Files that are not as in that commit, new ones included."""
    def lines(*words):
        done = subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"run test: --changed: {done.stderr.strip()}")
        return done.stdout.splitlines()
    return lines("diff", "--name-only", "--relative", revision, "--") + lines("ls-files", "-o", "--exclude-standard")


def read_by_objects(build):
    """{object: files that it was compiled from}, by the compiler's own account."""
    done = subprocess.run(["ninja", "-C", str(build), "-t", "deps"], capture_output=True, text=True)
    found, last = {}, None
    for line in done.stdout.splitlines():
        if line.startswith("    "):
            found[last].add(os.path.normpath(build / line.strip()))
        elif ": #deps" in line:
            last = line.split(": #deps")[0]
            found[last] = set()
    return found


def choose_changed(tests, targets, build, changed):
    """The unit tests whose programs were made of what changed or would be built again, and the stages that look at
    files one by one."""
    read = read_by_objects(build)
    changed = {os.path.normpath(ROOT / name) for name in changed}

    @functools.lru_cache(maxsize=None)  # one program is run by several tests
    def is_touched(files):
        def ninja(*words):
            return subprocess.run(["ninja", "-C", str(build), *words, *files], capture_output=True, text=True).stdout

        inputs = ninja("-t", "inputs").splitlines()
        sources = {os.path.normpath(build / name) for name in inputs}.union(*(read.get(name, ()) for name in inputs))
        return "no work to do" not in ninja("-n") or bool(sources & changed)

    chosen = []
    for test in tests:
        files = tuple(os.path.relpath(f, build) for d in test["depends"] if d in targets for f in targets[d]["filename"])
        if any(s.split(":")[-1] == "unit" for s in test["suite"]) or test["name"] == "python":
            if is_touched(files):
                chosen.append(test)
        elif test["name"] in BY_FILE:
            chosen.append(test)
    return chosen


def build_programs(build, tests, targets):
    """Compiles what the tests run; [names of what failed to build]."""
    files = sorted({f for t in tests for d in t["depends"] if d in targets for f in targets[d]["filename"]})
    if not files:
        return []
    names = [os.path.relpath(f, build) for f in files]
    done = subprocess.Popen(["ninja", "-C", str(build), "-k", "0", *names], stdout=subprocess.PIPE, text=True, errors="replace")
    failed = []
    for line in done.stdout:
        if os.environ.get("CI") is None or not re.match(r"\[\d+/\d+\] (Compiling|Linking)", line):
            sys.stdout.write(line)
            sys.stdout.flush()
        broken = re.match(r"FAILED: (\S+)", line)
        if broken:
            failed.append(broken[1])
    if done.wait() != 0 and not failed:
        failed.append("ninja")
    return failed


def run_tests(build, tests, environment):
    """Runs them under meson; {name: (result, seconds, output)}."""
    log = build / "meson-logs" / "testlog.json"
    log.unlink(missing_ok=True)
    names = [t["name"] for t in tests]
    command = ["meson", "test", "-C", str(build), "--no-rebuild", "--print-errorlogs", *names]
    subprocess.run(command, env=environment)
    results = {}
    if log.exists():
        for line in log.read_text().splitlines():
            entry = json.loads(line)
            # meson names a test "project:suite / name"
            name = entry["name"].split(" / ", 1)[-1]
            results[name] = (entry["result"], entry["duration"], entry.get("stdout", "") + entry.get("stderr", ""))
    return results


def main():
    parser = argparse.ArgumentParser(prog="run test")
    parser.add_argument("--build", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("-k", metavar="PATTERN", default="", help="only what matches: a test's name, a file's name, a text in a source")
    parser.add_argument("--sanitize", choices=["address", "thread"])
    parser.add_argument("--changed", metavar="COMMIT", nargs="?", const="HEAD",
                        help="the unit programs that read a file which is not as in COMMIT (default HEAD), and of the stages that look at "
                             "files one by one these files")
    parser.add_argument("--all", action="store_true", help="of the long stages every part, not the one that has its turn by the commit: two hours")
    parser.add_argument("--list", action="store_true", help="name the tests and run none")
    options = parser.parse_args()
    start = time.monotonic()

    build = options.build.resolve()
    again = subprocess.run(["ninja", "-C", str(build), "build.ninja"], stdout=subprocess.PIPE, text=True)  # after a change of meson's files
    if again.returncode != 0:
        sys.exit(again.stdout)
    targets = {t["id"]: t for t in introspect(build, "targets")}
    tests = introspect(build, "tests")
    if options.sanitize:
        tests = [t for t in tests if any(s.split(":")[-1] == "unit" for s in t["suite"])]
    tests = choose(tests, targets, options.k)
    changed = changed_since(options.changed) if options.changed else None
    if changed is not None:
        tests = choose_changed(tests, targets, build, changed)
    if options.list:
        print("\n".join(t["name"] for t in tests))
        return 0
    environment = dict(os.environ, STROP_ONLY=options.k, STROP_BUILD=str(build))
    if options.all:
        environment["STROP_PART"] = "all"
    if changed is not None:
        environment["STROP_CHANGED"] = "\n".join(changed)

    broken = build_programs(build, tests, targets)
    built = time.monotonic() - start
    print(f"compiled in {built:.0f} s; stages follow with their seconds, and a table of all at the end", flush=True)
    runnable = []
    for test in tests:
        programs = [f for d in test["depends"] if d in targets for f in targets[d]["filename"]]
        stale = [f for f in programs if not os.path.exists(f) or os.path.relpath(f, build) in broken]
        objects = [b for b in broken for f in programs if b.startswith(os.path.relpath(f, build) + ".p/")]
        if not stale and not objects:
            runnable.append(test)
    results = run_tests(build, runnable, environment) if runnable else {}

    totals = {"passed": 0, "failed": 0, "skipped": 0}
    rows, reasons = [], []
    for test in runnable:
        result, seconds, output = results.get(test["name"], ("LOST", 0, ""))
        counted = re.findall(r"strop-count: (\d+) passed, (\d+) failed, (\d+) skipped", output)
        if counted:
            counts = [int(n) for n in counted[-1]]
            if result not in ("OK", "EXPECTEDFAIL", "SKIP") and counts[1] == 0:
                counts[1] = 1
        else:
            counts = [0, 1, 0]  # no count: it crashed or ran out of time
        for what, n in zip(totals, counts):
            totals[what] += n
        reasons += re.findall(r"(?m)^SKIP .*$", output)
        rows.append((test["name"], *counts, seconds))
    if broken:
        totals["failed"] += len(broken)
        rows += [(f"build of {b}", 0, 1, 0, 0) for b in broken]

    print()
    print(f"{'test':44} {'passed':>7} {'failed':>7} {'skipped':>8} {'seconds':>8}")
    print(f"{'(compiling)':44} {'':7} {'':7} {'':8} {built:8.1f}")
    for name, passed, failed, skipped, seconds in rows:
        print(f"{name:44} {passed:7} {failed:7} {skipped:8} {seconds:8.1f}")
    for reason in dict.fromkeys(reasons):
        print(reason)
    if totals["failed"]:
        print(f"the messages are above and in {build.relative_to(ROOT) if build.is_relative_to(ROOT) else build}/meson-logs/testlog.txt")
    print(f"{time.monotonic() - start:.0f} s in all")
    print(f"{totals['passed']} passed, {totals['failed']} failed, {totals['skipped']} skipped", flush=True)
    return 1 if totals["failed"] or totals["passed"] == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
