#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds and runs the benchmarks; behind `./run bench`: run.py --build FOLDER [--gpu] [--peers] [NAME...]

bench/NAME.cpp and bench/NAME.py are one question each, bench/gpu/NAME.cu those that need a device. With --peers the
peers' side of the same questions (bench/peers) runs right after, in environments of its own. What each prints is kept in
bench/results/PROCESSOR/NAME.txt, under a heading that says where it was measured.
"""
import argparse
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import time

BENCH = pathlib.Path(__file__).resolve().parent
ROOT = BENCH.parent
# MXNet 1.9.1 is the last of its line and wants a numpy of its time, so it lives apart.
ENVIRONMENTS = {
    "torch": (BENCH / ".venv", ["torch", "numpy"]),
    "mxnet": (BENCH / ".venv-mxnet", ["mxnet==1.9.1", "numpy==1.23.5"]),
}


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


def heading(name):
    cores = len(os.sched_getaffinity(0))
    return (f"# {name}\n# {time.strftime('%Y-%m-%d')}, {processor()}, {cores} cores, {output(['uname', '-sr'])}\n"
            f"# {output(['c++', '--version']).splitlines()[0]}, commit {output(['git', 'rev-parse', '--short', 'HEAD']) or 'none'}\n")


def execute(name, command, results, environment=None):
    """Runs one benchmark, shows what it prints as it comes, and keeps it."""
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
    results.mkdir(parents=True, exist_ok=True)
    (results / f"{name}.txt").write_text("".join(kept))
    return True


def peer_python(kind):
    """The interpreter of a peer's environment, which is made and filled when it is not there; None where it cannot be."""
    place, packages = ENVIRONMENTS[kind]
    python = place / "bin/python"
    ready = place / ".ready"
    if not ready.exists():
        print(f"\n== installing {', '.join(packages)} into {place.relative_to(ROOT)}", flush=True)
        done = subprocess.run([sys.executable, "-m", "venv", str(place)]).returncode
        done = done or subprocess.run([str(python), "-m", "pip", "install", "--quiet", *packages]).returncode
        if done != 0:
            print(f"SKIP {kind}: {', '.join(packages)} could not be installed")
            return None
        ready.touch()
    return python


def compile_peer(build, path, options):
    """The program, or None where it does not compile."""
    program = build / "bench" / path.stem
    program.parent.mkdir(parents=True, exist_ok=True)
    command = ["c++", "-std=c++20", "-O2", "-march=native", f"-I{ROOT / 'include'}", path, *options, "-lfmt", "-pthread", "-o", program]
    if subprocess.run([str(c) for c in command]).returncode == 0:
        return program
    print(f"{path.name} does not compile")
    return None


def run_debian_peer(build, path, results):
    """Peers that are packages of the system."""
    flags = output(["pkg-config", "--cflags", "--libs", "tbb"]).split()
    if not flags:
        print(f"SKIP {path.stem}: oneTBB is not installed (apt-get install libtbb-dev)")
        return True
    program = compile_peer(build, path, flags)
    return program is not None and execute(path.stem, [program], results)


def run_peers(build, chosen, results):
    """bench/peers/KIND_NAME.py runs in KIND's environment; torch_NAME.cpp is linked with its libtorch, mxnet_NAME.cpp is
    told where its library is, debian_NAME.cpp is linked with packages of the system."""
    good = True
    for path in sorted((BENCH / "peers").glob("*.*")):
        kind = path.stem.split("_", 1)[0]
        if kind not in [*ENVIRONMENTS, "debian"] or path.suffix == ".hpp" or (chosen and path.stem.split("_", 1)[-1] not in chosen):
            continue
        if kind == "debian":
            good &= run_debian_peer(build, path, results)
            continue
        python = peer_python(kind)
        if python is None:
            continue
        if path.suffix == ".py":
            good &= execute(path.stem, [python, path], results)
        elif path.suffix == ".cpp" and kind == "mxnet":
            library = output([str(python), "-c", "import mxnet; print(mxnet.libinfo.find_lib_path()[0])"]).splitlines()
            program = compile_peer(build, path, ["-ldl"])
            good &= program is not None and execute(path.stem, [program, *library[-1:]], results)
        elif path.suffix == ".cpp":
            library = output([str(python), "-c", "import torch, os; print(os.path.dirname(torch.__file__))"])
            program = build / "bench" / path.stem
            program.parent.mkdir(parents=True, exist_ok=True)
            command = ["c++", "-std=c++20", "-O2", "-march=native", path, f"-isystem{library}/include",
                       f"-isystem{library}/include/torch/csrc/api/include", f"-L{library}/lib", f"-Wl,-rpath,{library}/lib",
                       "-ltorch_cpu", "-lc10", "-pthread", "-o", program]
            if subprocess.run([str(c) for c in command]).returncode != 0:
                print(f"{path.name} does not compile")
                good = False
            else:
                good &= execute(path.stem, [program], results)
    return good


def run_gpu(build, chosen, results):
    nvcc = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
    device = shutil.which("nvidia-smi") and output(["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"])
    if not nvcc or not device:
        print("SKIP gpu: " + ("no CUDA device" if nvcc else "nvcc is not installed"))
        return True
    good = True
    eigen = output(["pkg-config", "--cflags-only-I", "eigen3"]).split()
    for path in sorted((BENCH / "gpu").glob("*.cu")):
        if chosen and path.stem not in chosen:
            continue
        program = build / "bench" / f"gpu_{path.stem}"
        command = [nvcc, "-std=c++20", "--expt-relaxed-constexpr", f"-arch=sm_{device.splitlines()[0].replace('.', '')}", "-O3",
                   "-DFMT_USE_CONSTEXPR=1", "-DEIGEN_NO_CUDA", f"-I{ROOT / 'include'}", *eigen, path, "-lfmt", "-Xcompiler=-pthread",
                   "-o", program]
        if subprocess.run([str(c) for c in command]).returncode != 0:
            print(f"{path.name} does not compile")
            good = False
        else:
            good &= execute(f"gpu_{path.stem}", [program], results)
    return good


def main():
    parser = argparse.ArgumentParser(prog="run bench")
    parser.add_argument("--build", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--gpu", action="store_true", help="also those of the GPU")
    parser.add_argument("--peers", action="store_true", help="also the peers, in the same run")
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
    results = BENCH / "results" / (re.sub(r"[^a-z0-9]+", "-", processor().lower()).strip("-") or "unknown")

    compiled = [f"bench/bench_{n}" for n in chosen if n in programs]
    if compiled and subprocess.run(["ninja", "-C", str(build), *compiled]).returncode != 0:
        sys.exit("run bench: the benchmarks do not build")
    good = True
    for name in chosen:
        command = [build / "bench" / f"bench_{name}"] if name in programs else [sys.executable, scripts[name]]
        good &= execute(name, command, results)
    if options.gpu:
        good &= run_gpu(build, options.names, results)
    if options.peers:
        good &= run_peers(build, options.names, results)
    print(f"\nresults are in {results.relative_to(ROOT)}/")
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
