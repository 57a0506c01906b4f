# SPDX-License-Identifier: Apache-2.0
"""What the test scripts share: compilers, a pool of jobs, results remembered by content, and counting.

Every script ends with one line `strop-count: P passed, F failed, S skipped`, which run_tests.py adds up.
"""
import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("STROP_BUILD", ROOT / "build")).resolve()
INCLUDE = ROOT / "include"
MARCH = os.environ.get("STROP_MARCH", "native")
JOBS = int(os.environ.get("STROP_JOBS", len(os.sched_getaffinity(0))))
WERROR = ["-Werror"] if os.environ.get("STROP_WERROR") == "true" else []  # .ci/run; elsewhere a newer compiler may warn
WARNINGS = ["-Wall", "-Wextra", *WERROR]
STRICT = [*WARNINGS, "-Wconversion", "-Wshadow"]
# As in meson.build, for g++: a large unit compiles in an eighth less time and takes a third more memory.
SELDOM = ["--param=ggc-min-heapsize=1000000"]


# --- turns ------------------------------------------------------------------------------------------------------------
@functools.lru_cache(maxsize=None)
def turn():
    """A number by the commit, which says what of the long stages is checked; None: everything.

    STROP_PART is another number, or `all`, as `./run test --all` sets it."""
    said = os.environ.get("STROP_PART", "")
    if said == "all":
        return None
    if said:
        return int(said)
    done = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "HEAD"], capture_output=True, text=True)
    return int(done.stdout.strip()[-4:], 16) if done.returncode == 0 else 0


# --- counting ---------------------------------------------------------------------------------------------------------
class Report:
    """Counts checks and prints those that did not pass. `only` narrows a run to names that contain a text."""

    def __init__(self, stage, by_file=True):
        self.stage = stage
        self.counts = {"passed": 0, "failed": 0, "skipped": 0}
        self.lock = threading.Lock()
        only = os.environ.get("STROP_ONLY", "")
        self.only = "" if only.lower() in stage.lower() else only
        self.changed = os.environ["STROP_CHANGED"].split("\n") if by_file and "STROP_CHANGED" in os.environ else None

    def wanted(self, name, path=None):
        """Does the pattern of `./run test -k` name this check, or occur in its source? Is its source one of the files of
        `./run test --changed`?"""
        if self.changed is not None:  # a program of a page is named by it
            places = {name.split()[0], os.path.relpath(path, ROOT) if path else ""}
            if not places & set(self.changed):
                return False
        if not self.only or self.only.lower() in name.lower():
            return True
        return path is not None and self.only.lower() in pathlib.Path(path).read_text(errors="replace").lower()

    def has_turn(self, index, parts):
        """Whether what has this index is checked for this commit, where the commits check one of so many parts each. Always
        with `./run test --all`, and where a pattern or `--changed` leaves little."""
        return turn() is None or bool(self.only) or self.changed is not None or (index + turn()) % parts == 0

    def share(self, items, parts):
        """The items that have their turn, in one of `parts` parts."""
        items = list(items)
        taken = [item for index, item in enumerate(items) if self.has_turn(index, parts)]
        if len(taken) < len(items):
            print(f"{self.stage}: {len(taken)} of {len(items)}, which ones by the commit; ./run test --all takes all", flush=True)
        return taken

    def passed(self, name, count=1):
        with self.lock:
            self.counts["passed"] += count

    def failed(self, name, text):
        with self.lock:
            self.counts["failed"] += 1
            print(f"FAILED {self.stage}: {name}\n{indent(text)}\n", flush=True)

    def skipped(self, name, reason):
        with self.lock:
            self.counts["skipped"] += 1
            print(f"SKIP {self.stage}: {name}: {reason}", flush=True)

    def finish(self):
        print("strop-count: " + ", ".join(f"{n} {what}" for what, n in self.counts.items()), flush=True)
        sys.exit(1 if self.counts["failed"] else 0)


def indent(text, limit=6000):
    text = text.rstrip()
    if len(text) > limit:
        text = text[: limit // 2] + "\n[...]\n" + text[-limit // 2 :]
    return "\n".join("    " + line for line in text.splitlines())


def timed(name, function, *arguments):
    """function(*arguments), and a line that says how long it took: of what takes seconds, to see what takes minutes."""
    begin = time.monotonic()
    result = function(*arguments)
    print(f"{time.monotonic() - begin:6.1f} s  {name}", flush=True)
    return result


def parallel(function, items):
    """Runs function(item) for every item on JOBS threads; an exception of any is raised here."""
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        for future in [pool.submit(function, item) for item in items]:
            future.result()


# --- processes --------------------------------------------------------------------------------------------------------
def run(command, timeout=600, **options):
    """(exit status, standard output, standard error); a time-out is exit status 124."""
    try:
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True, errors="replace",
                              timeout=timeout, stdin=subprocess.DEVNULL, **options)
        return done.returncode, done.stdout, done.stderr
    except subprocess.TimeoutExpired as late:
        text = late.stdout or b""
        return 124, text.decode(errors="replace"), f"no end within {timeout} s"


def shown(command):
    return "$ " + shlex.join(str(c) for c in command)


# --- compilers --------------------------------------------------------------------------------------------------------
class Compiler:
    def __init__(self, name, path):
        self.name, self.path = name, path
        self.command = [path, *(SELDOM if name == "g++" else [])]
        self.version = run([path, "--version"])[1]
        self.native = [f"-march={MARCH}"] if MARCH else []
        # clang 19 warns of an avx10.1 combination that -march=native itself chooses on some processors
        quiet = ["-Wno-invalid-feature-combination"]
        probe = [path, "-std=c++20", *self.native, "-Werror", "-fsyntax-only", "-x", "c++", "/dev/null"]
        if name.startswith("clang") and run(probe)[0] != 0 and run(probe + quiet)[0] == 0:
            self.native += quiet


@functools.lru_cache(maxsize=None)
def compilers():
    """g++ and clang++ (19 by name, or any from 16 on): those that are here."""
    found = []
    if shutil.which("g++"):
        found.append(Compiler("g++", "g++"))
    for path in ("clang++-19", "clang++"):
        if shutil.which(path):
            clang = Compiler("clang++", path)
            version = re.search(r"clang version (\d+)", clang.version)
            if version and int(version[1]) >= 16:
                found.append(clang)
                break
    return found


def compilers_or_skip(report):
    """The compilers, with a SKIP line for each of the two that is absent."""
    found = compilers()
    for name in ("g++", "clang++"):
        if name not in [c.name for c in found]:
            report.skipped(name, "this compiler is not installed" + (" (apt-get install clang-19)" if name != "g++" else ""))
    return found


@functools.lru_cache(maxsize=None)
def pkg_config(*packages):
    status, out, err = run(["pkg-config", "--cflags", "--libs", *packages])
    if status != 0:
        raise SystemExit(err)
    return shlex.split(out)


def strong_symbols(binary):
    """Definitions of strop in an object, an archive or a program that a second object could not have as well: what a
    header defines has to be weak (W, V), unique (u) or local (lower case)."""
    status, out, err = run(["nm", "--defined-only", binary])
    if status != 0:
        return [err.strip()]
    return re.findall(r"(?m)^\S+ [ABCDGRST] (_Z(?:T[VISTHW]|G[VR])?N[KVrRO]*5strop\S*)$", out)


# --- results remembered by content ------------------------------------------------------------------------------------
@functools.lru_cache(maxsize=None)
def digest(path):
    try:
        return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()
    except OSError:
        return "absent"


@functools.lru_cache(maxsize=None)
def include_digest():
    """Of every file that a compilation of ours may read."""
    total = hashlib.sha256()
    for folder in (INCLUDE, ROOT / "kernels"):
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                total.update(f"{path} {digest(path)}\n".encode())
    return total.hexdigest()


@functools.lru_cache(maxsize=None)
def machine():
    """What -march=native means here."""
    try:
        return hashlib.sha256(re.search(r"(?m)^(flags|Features).*$", pathlib.Path("/proc/cpuinfo").read_text())[0].encode()).hexdigest()
    except (OSError, TypeError):
        return "unknown"


def remembered(key, work, output=None):
    """The result of work(), a list whose first is an exit status, remembered under build/remembered while what it
    depends on is unchanged. What a signal or the clock ended says nothing of the sources, and is not remembered.

    `key` is a list of texts; work() returns (value, paths that it read or None for everything under include/)."""
    folder = BUILD / "remembered"
    folder.mkdir(parents=True, exist_ok=True)
    place = folder / (hashlib.sha256(json.dumps([machine(), *key]).encode()).hexdigest() + ".json")
    try:
        old = json.loads(place.read_text())
        fresh = all(digest(p) == d for p, d in old["read"].items()) and old["tree"] in ("", include_digest())
        if fresh and (output is None or os.path.exists(output)):
            return old["value"]
    except (OSError, ValueError, KeyError):
        pass
    value, paths = work()
    if not 0 <= value[0] < 124 or any("Killed signal" in str(part) for part in value[1:]):
        return value
    entry = {"value": value, "tree": include_digest() if paths is None else "", "read": {p: digest(p) for p in paths or []}}
    temporary = place.with_suffix(f".{threading.get_ident()}")
    temporary.write_text(json.dumps(entry))
    os.replace(temporary, place)
    return value


def precompiled(compiler, arguments, header):
    """A file to name after -include, so that `header` and what it includes is read once and not in every check."""
    kind = hashlib.sha256(json.dumps([str(a) for a in arguments]).encode()).hexdigest()[:8]
    place = BUILD / "precompiled" / f"{compiler.name}-{kind}" / header
    place.parent.mkdir(parents=True, exist_ok=True)
    if not place.exists():  # clang refuses a precompiled file whose source is newer, whatever is in it
        place.write_text(f"#include <{header}>\n")
    made = place.with_suffix(".hpp.gch" if compiler.name == "g++" else ".hpp.pch")
    command = [*compiler.command, "-std=c++20", f"-I{INCLUDE}", *arguments, "-x", "c++-header", place, "-o", made]
    status, messages = remembered([compiler.version, *map(str, command)], lambda: ([(done := run(command))[0], done[2]], None), output=made)
    if status != 0:
        raise SystemExit(f"{header} does not compile\n{messages}")
    return place


def syntax_check(compiler, arguments, source, before=None):
    """Compiles without making an object: [exit status, messages]. `source` is a path, or a text between newlines;
    `before` is of precompiled()."""
    text = source if "\n" in str(source) else None
    base = [*compiler.command, "-std=c++20", "-fsyntax-only", f"-I{INCLUDE}", *arguments, *(["-Winvalid-pch", "-include", before] if before else [])]

    def work():
        depends = BUILD / "remembered" / f"{os.getpid()}.{threading.get_ident()}.d"
        depends.unlink(missing_ok=True)
        command = base + ["-MMD", "-MF", depends, "-MT", "x"] + (["-x", "c++", "-"] if text else [source])
        done = subprocess.run([str(c) for c in command], input=text, capture_output=True, text=True, errors="replace")
        try:
            read = [p for p in depends.read_text().replace("\\\n", " ").split()[1:] if os.path.exists(p)]
        except OSError:
            read = None
        depends.unlink(missing_ok=True)
        # what failed may change with any file, also one that is not there yet
        return [done.returncode, done.stderr], read if done.returncode == 0 and not before else None

    key = [compiler.version, *map(str, base), str(source)] + ([] if text else [digest(source)])
    return remembered(key, work)
