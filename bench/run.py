#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds and runs the benchmarks; behind `./run bench`: run.py --build FOLDER [--gpu] [--peers] [NAME...]

bench/NAME.cpp and bench/NAME.py are one question each, bench/gpu/NAME.cu those that need a device. What each prints is
kept in bench/results/PROCESSOR/NAME.txt (the GPU's name for those), under a heading that says where it was measured. With
--peers the questions that bench/peers asks of others as well (KIND_NAME.py, KIND_NAME.cpp) are then answered in turn by us
and by them, each with one thread and with two, several times over; the best times and their ratios are kept in
NAME-peers.txt, with the medians of a question that tells them, and drawn in NAME-peers.svg; torch_gpu_NAME.py prints what
bench/gpu/NAME.cu prints. bench/python.py asks of the Python package, which is built for it; package_NAME.py is our package
as a peer of our program. A question with a folder of its own, bench/NAME, has its cases in a table there, which is written into a
file for our program; its report begins with the worst. --only TEXT asks the cases whose names have that text, and keeps nothing.
"""
import argparse
import importlib
import os
import pathlib
import platform
import re
import shutil
import statistics
import subprocess
import sys
import time

BENCH = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(BENCH / "peers"), str(BENCH)]
from picture import picture, ranked  # noqa: E402
from ranking import Ranking  # noqa: E402

ROOT = BENCH.parent
# The peers' packages, and where they live. MXNet 1.9.1 is the last of its line and wants a numpy of its time, so it lives apart.
ENVIRONMENTS = {
    **dict.fromkeys(("torch", "inductor", "numpy", "scipy", "mkl", "scikit", "arrow"),
                    (BENCH / ".venv", ["torch", "numpy", "scipy", "mkl", "sparse-dot-mkl", "scikit-learn", "pyarrow", "jax"])),
    "mxnet": (BENCH / ".venv-mxnet", ["mxnet==1.9.1", "numpy==1.23.5"]),
}
THREADS = (1, 2)
UNITS = {"graph_plan": ("MiB", 1 << 20)}  # questions whose lines are no nanoseconds
OF_THE_PACKAGE = ("python", "hosts")  # questions of the Python package
COMPILED = ("debian", "eigen")  # peers that are linked with packages of the system
PACKAGE = "package"  # our Python package, as a peer of our program
OWN_TABLES = ("engine", "hosts")  # questions whose peers print a table of their own


def output(command):
    try:
        return subprocess.run(command, capture_output=True, text=True, cwd=ROOT).stdout.strip()
    except OSError:
        return ""


def processor():
    try:
        cpuinfo = pathlib.Path("/proc/cpuinfo").read_text()
        name = re.search(r"model name\s*:\s*(.*)", cpuinfo)[1]
        widest = next((f for f in ("avx512f", "avx2", "sse4_2") if re.search(rf"\b{f}\b", cpuinfo)), "")
        return f"{name} {widest}".strip()
    except (OSError, TypeError):
        return platform.machine()


def folder(device):
    """Where the results of a processor or a GPU are kept."""
    return BENCH / "results" / (re.sub(r"[^a-z0-9]+", "-", device.lower()).strip("-") or "unknown")


def heading(name):
    cores = len(os.sched_getaffinity(0))
    return (f"# {name}\n# {time.strftime('%Y-%m-%d')}, {processor()}, {cores} cores, {platform.system()}\n"
            f"# {output(['c++', '--version']).splitlines()[0]}, commit {output(['git', 'rev-parse', '--short', 'HEAD']) or 'none'}\n"
            f"# at the start {os.getloadavg()[0]:.1f} other processes wanted a core; figures are the best of many short rounds\n")


def write_cases(name, data):
    """Writes the cases of a question that has a table of them, for our program, which finds them in the folder `data`."""
    script = BENCH / name / "table.py"
    if script.exists():
        data.mkdir(parents=True, exist_ok=True)
        subprocess.run([sys.executable, str(script), str(data / f"{name}.txt")], check=True)


def execute(name, command, results, environment=None):
    """Runs one benchmark, shows what it prints as it comes, and keeps it; not where there is no folder for it."""
    print(f"\n== {name}", flush=True)
    kept = [heading(name)]
    process = subprocess.Popen([str(c) for c in command], stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment)
    for line in process.stdout:
        sys.stdout.write(line)
        sys.stdout.flush()
        kept.append(line)
    if process.wait() != 0:
        print(f"{name} ended with status {process.returncode}; its results are not kept")
        return False
    if results is None:
        return True
    results.mkdir(parents=True, exist_ok=True)
    (results / f"{name}.txt").write_text("".join(kept))
    return True


def peer_python(kind):
    """The interpreter of a peer's environment, which is made and filled when it is not there; None where it cannot be."""
    place, packages = ENVIRONMENTS[kind]
    python = place / "bin/python"
    ready = place / ".ready"
    if not ready.exists() or ready.read_text().split() != packages:
        print(f"\n== installing {', '.join(packages)} into {place.relative_to(ROOT)}", flush=True)
        done = subprocess.run([sys.executable, "-m", "venv", str(place)]).returncode
        done = done or subprocess.run([str(python), "-m", "pip", "install", "--quiet", *packages]).returncode
        if done != 0:
            print(f"SKIP {kind}: {', '.join(packages)} could not be installed")
            return None
        ready.write_text(" ".join(packages))
    return python


def compile_peer(build, path, options):
    """A peer's program; None where it does not compile."""
    program = build / "bench" / path.stem
    sources = [path, *(ROOT / "include").rglob("*.hpp"), *(BENCH / "peers").glob("*.hpp")]
    if program.exists() and program.stat().st_mtime > max(source.stat().st_mtime for source in sources):
        return program
    program.parent.mkdir(parents=True, exist_ok=True)
    print(f"compiling {path.name}", flush=True)
    command = ["c++", "-std=c++20", "-O2", "-march=native", f"-I{ROOT / 'include'}", path, *options, "-pthread", "-o", program]
    if subprocess.run([str(c) for c in command]).returncode == 0:
        return program
    print(f"SKIP {path.stem}: {path.name} does not compile")
    return None


def peer_command(path, build):
    """What runs a peer's side of a question; None where it cannot be had. KIND_NAME.py runs in KIND's environment;
    torch_NAME.cpp is linked with its libtorch, mxnet_NAME.cpp is told where its library is, debian_NAME.cpp and
    eigen_NAME.cpp are linked with packages of the system."""
    kind = path.stem.split("_", 1)[0]
    if kind == PACKAGE:
        return package_command(build, path)
    if kind == "eigen":
        flags = output(["pkg-config", "--cflags", "eigen3"]).split()
        if not flags:
            print(f"SKIP {path.stem}: Eigen is not installed (apt-get install libeigen3-dev)")
            return None
        program = compile_peer(build, path, [*flags, "-fopenmp", "-lfmt"])
        return program and [program]
    if kind == "debian":
        flags = output(["pkg-config", "--cflags", "--libs", "tbb"]).split()
        if not flags:
            print(f"SKIP {path.stem}: oneTBB is not installed (apt-get install libtbb-dev)")
            return None
        program = compile_peer(build, path, [*flags, "-lfmt"])
        return program and [program]
    python = peer_python(kind)
    if python is None or path.suffix == ".py":
        return python and [python, path]
    if kind == "mxnet":
        library = output([str(python), "-c", "import mxnet; print(mxnet.libinfo.find_lib_path()[0])"]).splitlines()
        program = compile_peer(build, path, ["-ldl", "-lfmt"])
        return program and [program, *library[-1:]]
    library = output([str(python), "-c", "import torch, os; print(os.path.dirname(torch.__file__))"])
    program = compile_peer(build, path, [f"-isystem{library}/include", f"-isystem{library}/include/torch/csrc/api/include",
                                         f"-L{library}/lib", f"-Wl,-rpath,{library}/lib", "-ltorch", "-ltorch_cpu", "-lc10"])
    return program and [program]


def package_command(build, script):
    """What runs a script on the Python package, which is brought up to date; None where it cannot be had."""
    interpreter = build / "python/interpreter"
    extension = next((build / "python/strop").glob("_strop*.so"), None)
    if not interpreter.exists() or extension is None:
        print(f"SKIP {script.stem}: the Python module is left out of {build.name}/; meson setup says what it lacks")
        return None
    target = os.path.relpath(os.path.join(extension.parent, os.readlink(extension)), build)
    if subprocess.run(["ninja", "-C", str(build), target]).returncode != 0:
        sys.exit("run bench: the Python package does not build")
    return ["env", f"PYTHONPATH={build / 'python'}", interpreter.read_text().strip(), script]


def cases(command, threads, data, only=""):
    """{case: nanoseconds} of a program that prints lines of `case<TAB>nanoseconds`, with a median behind another tab
    {case: (nanoseconds, median)}; the bounds of lines `=<TAB>case<TAB>compulsory<TAB>gather`; and its lines that begin with
    `# `. None where it fails. What we write into the folder `data` the peers read."""
    environment = dict(os.environ, PYTHONDONTWRITEBYTECODE="1", STROP_BENCH_DATA=str(data), STROP_BENCH_ONLY=only,
                       **{f"{library}_NUM_THREADS": str(threads) for library in ("STROP", "OMP", "MKL", "OPENBLAS")})
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, cwd=ROOT, env=environment)
    if done.returncode != 0:
        print(f"{command[-1]} ended with status {done.returncode}\n{done.stderr}")
        return {}, {}, []
    lines = done.stdout.splitlines()
    rows = [line.split("\t") for line in lines if line.count("\t") in (1, 2, 3)]
    times = {case: tuple(map(float, found)) for case, *found in rows if case != "="}
    bounds = {case: tuple(map(float, found)) for mark, case, *found in rows if mark == "="}
    return times, bounds, [line for line in lines if line.startswith("# ")]


def compare(ours, peers, turns, data, only=""):
    """{case: {who: nanoseconds}} of our best time of every case and every peer's, the same of the medians of programs that
    tell them (of the better number of threads), {case: bounds} at the best rate that was measured, and what they say
    beside them."""
    best, medians, bounds, notes = {}, {}, {}, {}
    for turn in range(turns):
        for who, command in {"strop": ours, **peers}.items():
            for threads in THREADS:
                print(f"turn {turn + 1} of {turns}: {who} with {threads} thread{'s'[:threads - 1]}", flush=True)
                found, known, notes[who] = cases(command, threads, data, only)
                for case, bound in known.items():
                    bounds[case] = tuple(map(min, bounds.get(case, bound), bound))
                for case, (nanoseconds, *median) in found.items():
                    times = best.setdefault(case, {})
                    times[who] = min(times.get(who, nanoseconds), nanoseconds)
                    if median:
                        medians.setdefault(case, {}).setdefault(who, {}).setdefault(threads, []).append(median[0])
    middle = {case: {who: min(map(statistics.median, of_threads.values())) for who, of_threads in of.items()} for case, of in medians.items()}
    compared = [{case: of for case, of in times.items() if "strop" in of and len(of) > 1} for times in (best, middle)]
    return *compared, bounds, [line for lines in notes.values() for line in lines]


def table(title, times, peers, size, bounds):
    """Lines: our time of every case, every peer's, and how many times ours that is; and what part of ours the bounds are."""
    wide = max([38, *map(len, times)])
    yield title
    named = f" {'compulsory':>10} {'gather':>10}" if bounds else ""
    yield f"{'':{wide}} {'strop':>12}" + named + "".join(f" {who:>21}" for who in peers)
    for case, of in times.items():
        mine = of["strop"]
        parts = "".join(f" {bound / mine:10.0%}" for bound in bounds[case]) if case in bounds else " " * len(named)
        yield f"{case:{wide}} {mine / size:12.3f}" + parts + "".join(
            f" {of[who] / size:12.3f} {of[who] / mine:7.2f}x" if who in of else f" {'-':>21}" for who in peers)


def ranked_report(name, title, best, medians, bounds, peers):
    """Of a question with a table of cases: the lines, the worst first, and the picture."""
    table_of = importlib.import_module(f"{name}.table")
    rows = {case.name: case for case in table_of.load()}

    def row_of(case):
        return rows[case.removesuffix(table_of.BACKWARD)]

    ranking = Ranking(best, medians, bounds)
    peers = [who for who in peers if who != PACKAGE]
    lines = [title, "x: the time of the fastest peer over ours of C++; the same of the medians; and over our Python package's", *ranking.families(lambda case: row_of(case).family),
             "", *ranking.table(peers)]
    groups = {}
    for case, ratio in ranking.ratios.items():
        groups.setdefault(row_of(case).operator, []).append((ratio, case.endswith(table_of.BACKWARD)))
    note = "How many times our time the fastest peer takes. Discs: forward; rings: forward with backward; red: we are slower. Right: the geometric mean."
    return lines, ranked(f"{name}: {processor()}", groups, note) if groups else ""


def run_peers(build, chosen, results, turns, only):
    """The questions that peers answer as well; a table for each, or each peer's own where it prints one."""
    good = True
    for name in chosen:
        sides = {path: path.stem.split("_", 1)[0] for path in sorted((BENCH / "peers").glob(f"*_{name}.*"))}
        peers = {kind: peer_command(path, build) for path, kind in sides.items() if kind in [*ENVIRONMENTS, *COMPILED, PACKAGE]}
        peers = {kind: command for kind, command in peers.items() if command}
        if name in OWN_TABLES:
            environment = dict(os.environ, PYTHONPATH=str(build / "python"), STROP_BENCH_DATA=str(build / "bench"))
            for kind, command in peers.items():
                good &= execute(f"{kind}_{name}", command, results, environment)
            continue
        if not peers:
            continue
        print(f"\n== {name}: strop and {', '.join(peers)}", flush=True)
        kept = [heading(f"{name} --peers")]
        ours = package_command(build, BENCH / f"{name}.py") if name in OF_THE_PACKAGE else [build / "bench" / f"bench_{name}"]
        if not ours:
            continue
        best, medians, bounds, notes = compare([*ours, "--lines", *([only] if only else [])], peers, turns, build / "bench", only)
        unit, size = UNITS.get(name, ("microseconds", 1e3))
        title = f"{name}: {unit}, each at its best of {THREADS[0]} and {THREADS[-1]} threads in {turns} turns; x: times ours"
        drawn = ""
        if (BENCH / name / "table.py").exists():
            tables, drawn = ranked_report(name, title, best, medians, bounds, list(peers))
        else:
            tables = [*table(title, best, peers, size, bounds)]
            if medians:
                tables += table(f"{name}: the medians of all turns", medians, peers, size, {})
            if name not in UNITS:  # it draws times
                drawn = picture(f"{name}: {processor()}", best, list(peers))
        for line in [*tables, *notes]:
            print(line, flush=True)
            kept.append(line + "\n")
        if results is None:
            continue
        results.mkdir(parents=True, exist_ok=True)
        (results / f"{name}-peers.txt").write_text("".join(kept))
        if drawn:
            (results / f"{name}-peers.svg").write_text(drawn)
    return good


def run_gpu(build, chosen, peers):
    """The questions of a GPU, and with --peers PyTorch's side of them."""
    nvcc = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
    found = shutil.which("nvidia-smi") and output(["nvidia-smi", "--query-gpu=compute_cap,name", "--format=csv,noheader"])
    if not nvcc or not found:
        print("SKIP gpu: " + ("no CUDA device" if nvcc else "nvcc is not installed"))
        return True
    capability, device = found.splitlines()[0].split(", ", 1)
    results = folder(device)
    good = True
    eigen = output(["pkg-config", "--cflags-only-I", "eigen3"]).split()
    for path in sorted((BENCH / "gpu").glob("*.cu")):
        if chosen and path.stem not in chosen:
            continue
        program = build / "bench" / f"gpu_{path.stem}"
        program.parent.mkdir(parents=True, exist_ok=True)
        command = [nvcc, "-std=c++20", "--expt-relaxed-constexpr", f"-arch=sm_{capability.replace('.', '')}", "-O3",
                   "-DFMT_USE_CONSTEXPR=1", "-DEIGEN_NO_CUDA", f"-I{ROOT / 'include'}", *eigen, path, "-lfmt", "-Xcompiler=-pthread",
                   "-o", program]
        if subprocess.run([str(c) for c in command]).returncode != 0:
            print(f"{path.name} does not compile")
            good = False
            continue
        good &= execute(f"gpu_{path.stem}", [program], results)
        peer = BENCH / "peers" / f"torch_gpu_{path.stem}.py"
        if peers and peer.exists():
            has_torch = output([sys.executable, "-c", "import torch; print(torch.cuda.is_available())"]) == "True"
            python = sys.executable if has_torch else peer_python("torch")
            good &= python is None or execute(peer.stem, [python, peer], results)
    print(f"\nresults of {device} are in {results.relative_to(ROOT)}/")
    return good


def main():
    parser = argparse.ArgumentParser(prog="run bench")
    parser.add_argument("--build", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--gpu", action="store_true", help="also those of the GPU")
    parser.add_argument("--peers", action="store_true", help="also the peers, in the same run")
    parser.add_argument("--turns", type=int, default=3, help="how many times we and each peer take turns (3)")
    parser.add_argument("--only", default="", metavar="TEXT", help="only cases whose names have this text; nothing is kept")
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these questions")
    options = parser.parse_args()
    build = options.build.resolve()
    scripts = {p.stem: p for p in BENCH.glob("*.py") if p.name != "run.py"}
    programs = {p.stem: p for p in BENCH.glob("*.cpp")}
    known = sorted({*scripts, *programs})
    unknown = [n for n in options.names if n not in known and not list((BENCH / "gpu").glob(f"{n}.cu"))]
    if unknown:
        sys.exit(f"run bench: no benchmark named {', '.join(unknown)}; there are: {', '.join(known)}")
    chosen = [n for n in known if not options.names or n in options.names]
    results = None if options.only else folder(processor())
    environment = dict(os.environ, STROP_BENCH_DATA=str(build / "bench"))

    compiled = [f"bench/bench_{n}" for n in chosen if n in programs]
    if compiled and subprocess.run(["ninja", "-C", str(build), *compiled]).returncode != 0:
        sys.exit("run bench: the benchmarks do not build")
    good = True
    for name in chosen:
        write_cases(name, build / "bench")
        command = [build / "bench" / f"bench_{name}"] if name in programs else [sys.executable, scripts[name]]
        if name in OF_THE_PACKAGE:
            command = package_command(build, scripts[name])
        if name in programs and options.only:
            command = [*command, options.only]
        good &= command is None or execute(name, command, results, environment if (BENCH / name / "table.py").exists() else None)
    if options.gpu:
        good &= run_gpu(build, options.names, options.peers)
    if options.peers:
        good &= run_peers(build, chosen, results, options.turns, options.only)
    if results is not None:
        print(f"\nresults are in {results.relative_to(ROOT)}/")
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
