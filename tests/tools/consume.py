#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Foreign projects (tests/consume/*) that take strop in every way it is offered, are built with warnings of their own,
and run. No network: the wrap points to a clone of this working tree, the packages to an installation in a temporary
folder. The `// expect:` lines of each app.cpp are lines of its output, in order.

The compiled installations have few of the operators. One is all else that can be installed: kernels for every level, and
the command, which is started from where it lies, on this machine and on older ones that qemu plays.

Each commit has one third: what needs the headers alone, the runtime that clang built, or the library with the command;
`./run test --all` has all.
"""
import array
import json
import math
import os
import pathlib
import re
import shlex
import shutil
import struct
import tempfile
import time

from common import INCLUDE, MARCH, ROOT, WERROR, Report, compilers, indent, parallel, run, shown, timed
from spec import first_missing, lines_of


PLAIN = "--buildtype=plain"  # what is asked is whether the library links, not its speed
RUNTIME = len(list((ROOT / "src/runtime").glob("*.cpp")))  # the units of the compiled library
NO_PCH = "-Db_pch=false"  # which pays from some four files on, and here are three


class Failed(Exception):
    pass


def must(command, **options):
    status, out, err = run(command, timeout=900, **options)
    if status != 0:
        raise Failed(f"{shown(command)}\nexit status {status}\n{out}\n{err}")
    return out


def clone(folder, operators=None):
    """A git repository of the working tree as it is: what is tracked or would be, of src/ops the files named `operators`
    alone, where such are: those of every level compile elsewhere (machines, unit ops, LEVEL)."""
    status, out, _ = run(["git", "-C", ROOT, "ls-files", "-coz", "--exclude-standard"])
    if status != 0:
        raise Failed("the working tree is no git repository, so there is nothing to clone")
    for name in filter(None, out.split("\0")):
        source, target = ROOT / name, folder / name
        left_out = operators and source.parent == ROOT / "src/ops" and source.stem not in operators
        if not left_out and (source.is_symlink() or source.is_file()):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target, follow_symlinks=False)
    git = ["git", "-C", folder, "-c", "user.name=test", "-c", "user.email=test@localhost"]
    must([*git, "init", "-q", "-b", "main"])
    must([*git, "add", "-A"])
    must([*git, "commit", "-q", "-m", "the working tree"])


def recipe(beginning):
    """The line of README.md that begins so: what readers type is what runs here."""
    return re.search(rf"(?m)^{re.escape(beginning)}.*$", (ROOT / "README.md").read_text())[0]


def install(folder, environment, *options, command="disabled", source=ROOT, compiler=None):
    """The environment of a project that finds what was installed; `compiler` builds it."""
    prefix = folder / "prefix"
    begin = time.monotonic()
    said = shlex.split(recipe("meson setup B").partition(" && meson install -C B")[0])[3:]  # README.md's options, then those of the test
    words = [*said, f"--prefix={prefix}", "--libdir=lib", f"-Db_pch={'false' if command == 'disabled' else 'true'}", f"-Dcommand={command}", *options]
    must(["meson", "setup", folder / "build", source, *{word.partition("=")[0]: word for word in words}.values()],
         env={**os.environ, **({"CXX": compiler.path} if compiler else {})})
    must(["meson", "install", "-C", folder / "build"])
    print(f"{time.monotonic() - begin:6.1f} s  install {folder.name}", flush=True)
    return {**environment, "PREFIX": str(prefix), "LD_LIBRARY_PATH": f"{prefix}/lib",
            "PKG_CONFIG_PATH": f"{prefix}/lib/pkgconfig:{prefix}/share/pkgconfig"}


BOTH = ("app", "precompiled")  # what a project makes of app.cpp where its headers of strop shall be precompiled as well


def expect_of(project, programs, environment=None):
    """The programs that the project has built say what is expected of app.cpp."""
    for program in (project / "build" / name for name in programs):
        if not program.exists():
            raise Failed(f"the project made no program {program.name}")
        expect(project, must([program], env=environment))


def expect(project, out):
    missing = first_missing(lines_of((project / "app.cpp").read_text(), "expect"), out, exact=True)
    if missing is not None:
        raise Failed(f"expected the line: {missing}\nstandard output:\n{indent(out)}")


def wrap(project, operators=None):
    """The wrap of a project, which is README.md's: a clone that lies beside it."""
    origin = project / "origin"
    origin.mkdir()
    clone(origin, operators)
    (project / "subprojects").mkdir()
    text = re.search(r"(?ms)^```ini\n(.*?)^```", (ROOT / "README.md").read_text())[1]
    (project / "subprojects/strop.wrap").write_text(re.sub(r"(?m)^url = .*$", f"url = file://{origin}", text))


def meson_wrap(work, project, _, *options, units=0, operators=None, programs=("app",)):
    """The wrap, with options of the subproject's; `units` is what it may bring to be compiled."""
    wrap(project, operators)
    must(["meson", "setup", "build", f"-Dwerror={'true' if WERROR else 'false'}", *options], cwd=project)
    commands = json.loads((project / "build/compile_commands.json").read_text())
    commands = [command for command in commands if not command["file"].endswith(".hpp")]  # headers are precompiled
    if len(commands) != 1 + units:
        raise Failed(f"as a subproject strop brings {len(commands) - 1} units of its own to compile, expected {units}")
    own = next(command for command in commands if command["file"].endswith("app.cpp"))
    imposed = re.findall(r"\s(-march\S*|-Wconversion|-Wshadow|-O2|-f\S*)", own["command"])
    imposed = [flag for flag in imposed if not flag.startswith(("-fdiagnostics-color", "-fpch-preprocess"))]  # Meson's own
    if imposed:
        raise Failed(f"as a subproject strop imposes {' '.join(imposed)}")
    must(["ninja", "-C", "build"], cwd=project)
    if operators is None:
        expect_of(project, programs)


def meson_default(work, project, environment):
    """What `dependency('strop')` brings: the runtime. A second program of the project's is precompiled."""
    meson_wrap(work, project, environment, PLAIN, "-Dprecompile=true", units=RUNTIME + 1, programs=BOTH)


def meson_headers(work, project, environment):
    meson_wrap(work, project, environment, "-Dstrop:header_only=true")


def meson_levels(work, project, environment):
    """Operators and loops for every level in the program: the file, the three of each level beside it, and the choice of them."""
    meson_wrap(work, project, environment, PLAIN, NO_PCH, "-Dstrop:operators=true", "-Dstrop:levels=enabled", operators=["cast_identity"],
               units=RUNTIME + 1 + 2 * (1 + 3) + 1)
    takes_levels(project / "build/app", os.environ, lambda level: [level, "[1.5, 2.5]", f"Cast for {level}: [1, 2]"])


def command_works(program, environment=None):
    """What a command of the project's operators (tests/consume/command) does with them."""
    ops = json.loads(must([program, "ops", "--json"], env=environment))
    own = {op["name"]: op for op in ops}
    if not {"lean", "spread"} <= {name.lower() for name in own}:
        raise Failed(f"{program} ops lists {', '.join(own)}, expected lean and spread among them")
    for words, expected in [(["describe", "spread"], "Every element less the first of its row."),
                            (["describe", "lean"], "slope"), (["check", "lean"], ", 0 failed"),
                            (["check", "spread"], ", 0 failed"), (["bench", "lean"], "lean"), (["--help"], "mine")]:
        out = must([program, *words], env=environment)
        if expected not in out:
            raise Failed(f"{program.name} {' '.join(words)}: expected {expected!r} in its output:\n{indent(out)}")
    status, _, err = run([program, "describe", "laen"], env=environment)
    if status != 2 or not err.startswith("mine: ") or "lean" not in err or "`mine ops` lists all" not in err:
        raise Failed(f"{program.name} describe laen: status {status}, it said:\n{indent(err)}")
    for words in (["--help"], ["run", "--help"], ["bench", "--help"], ["describe", "lean"]):
        out = must([program, *words], env=environment)
        if re.search(r"\bstrop (ops|describe|run|check|bench|info|trace)\b", out) or (words[0] == "describe" and "mine run lean" not in out):
            raise Failed(f"{program.name} {' '.join(words)}: expected its own name in its advice:\n{indent(out)}")


def meson_command(work, project, environment):
    """`dependency('strop-command')`: a command and tests of the project's operators."""
    wrap(project)
    must(["meson", "setup", "build", PLAIN, f"-Dwerror={'true' if WERROR else 'false'}"], cwd=project)
    must(["ninja", "-C", "build", "mine", "app"], cwd=project)
    command_works(project / "build/mine")
    expect(project, must([project / "build/app"]))


def script_command(work, project, environment):
    must(["sh", "build.sh"], cwd=project, env=environment)
    command_works(project / "mine", environment)


def cmake_command(work, project, environment):
    must(["cmake", "-G", "Ninja", "-S", ".", "-B", "build", f"-DCMAKE_PREFIX_PATH={environment['PREFIX']}"], cwd=project)
    must(["cmake", "--build", "build"], cwd=project)
    command_works(project / "build/mine", environment)


def script(work, project, environment):
    expect(project, must(["sh", "build.sh"], cwd=project, env=environment))


def readme(work, project, environment):
    """README.md's program, by its line of a compiler."""
    text = (ROOT / "README.md").read_text()
    program, output = re.search(r"(?ms)^```cpp\n(#include.*?)^```\n\n```\n(.*?)^```", text).groups()
    (project / "prog.cpp").write_text(program)
    (project / "include").symlink_to(INCLUDE)
    line = recipe("c++ -std=c++20").replace("-march=native", f"-march={MARCH}" if MARCH else "")
    must(["sh", "-c", line.replace("c++ ", f"{os.environ.get('CXX', 'c++')} ", 1)], cwd=project)
    if (out := must([project / "a.out"])) != output:
        raise Failed(f"expected what README.md says:\n{indent(output)}\nand it printed:\n{indent(out)}")


def takes_levels(program, environment, lines):
    """The program takes the highest level that the machine runs, or the one that STROP_ISA names, and so says `lines` of it."""
    flags = re.search(r"(?m)^flags.*$", pathlib.Path("/proc/cpuinfo").read_text())[0].split()
    levels = [name for name, flag in (("x86-64-v4", "avx512vl"), ("x86-64-v3", "avx2"), ("x86-64", "sse2")) if flag in flags]
    for forced in ("", *levels):
        out = must([program], env={**environment, **({"STROP_ISA": forced} if forced else {})})
        if out.splitlines() != lines(forced or levels[0]):
            raise Failed(f"with STROP_ISA={forced!r} expected what is of {forced or levels[0]}, found:\n{indent(out)}")


def runtime_levels(work, project, environment):
    """The runtime that is installed by default has its loops for the highest level that the machine runs."""
    must(["sh", "build.sh"], cwd=project, env=environment)
    takes_levels(project / "app", environment, lambda level: [level, "[1.5, 2.5]"])


def library(work, project, environment):
    """A program that loads a library of operators; and the command, where it is installed."""
    script(work, project, environment)
    strop = pathlib.Path(environment["PREFIX"], "bin/strop")
    if not strop.exists():
        return

    def says(*words):
        return must([strop, *words], cwd=project, env=environment)

    loaded = {op["name"] for op in json.loads(says("--load", "liboperators.so", "ops", "--json"))}
    if loaded - {op["name"] for op in json.loads(says("ops", "--json"))} != {"Curve", "Tenth", "RowScale", "Doubled", "Largest", "Noise", "Decay", "Above", "Louder", "Longest"}:
        raise Failed(f"strop --load liboperators.so ops lists {', '.join(sorted(loaded))}")
    (project / "x.npy").write_bytes(npy([1, 2, 3]))
    (project / "net.json").write_text(json.dumps({
        "nodes": [{"op": "null", "name": "data", "inputs": []}, {"op": "Curve", "name": "bent", "attrs": {"a": "2"}, "inputs": [[0, 0, 0]]}],
        "arg_nodes": [0], "heads": [[1, 0, 0]]}))
    for words, expected in (("run curve x.npy --a 2 --b 1", "[3, 9, 19]"), ("describe row_scale", "row_scale"),
                            ("check row_scale", ", 0 failed"), ("graph net.json --shape data=3", "bent")):
        out = says("--load=./liboperators.so", *words.split())
        if expected not in out:
            raise Failed(f"strop --load=./liboperators.so {words}: expected {expected!r} in its output:\n{indent(out)}")
    for words, sentence in ((["graph", "net.json"], "Curve"), (["--load", "./libplain.so", "ops"], "has no function strop_operators"),
                            (["--load", "./libfuture.so", "ops"], "speaks version 7 of the layout of operators, expected 1")):
        status, out, err = run([strop, *words], cwd=project, env=environment)
        if status != 1 or out or sentence not in err or err.count("\n") != 1:
            raise Failed(f"strop {' '.join(words)}: expected one sentence with {sentence!r}, got {status}, {out!r} and {err!r}")


def cmake(work, project, environment, *options, programs=("app",)):
    must(["cmake", "-G", "Ninja", "-S", ".", "-B", "build", f"-DCMAKE_PREFIX_PATH={environment['PREFIX']}", *options], cwd=project)
    must(["cmake", "--build", "build"], cwd=project)
    expect_of(project, programs, environment)


def cmake_precompiled(work, project, environment):
    cmake(work, project, environment, "-DPRECOMPILE=ON", programs=BOTH)


def npy(values):
    """A file of float32 as NumPy writes it, and back."""
    text = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({len(values)},), }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode() + array.array("f", values).tobytes()


def refuses_native(folder):
    """What is built for the machine at hand is nothing to install: a sentence says so, and parts that are asked for install nothing."""
    must(["meson", "setup", folder / "build", ROOT, f"--prefix={folder}/prefix", "-Dmarch=native", "-Dtests=false", "-Dcommand=disabled"])
    for tags in ((), ("--tags=devel",), ("--tags=runtime",)):
        status, out, err = run(["meson", "install", "-C", folder / "build", "--no-rebuild", *tags])
        sentence = "strop: this folder is built for the machine at hand (-Dmarch=native), which is nothing to install"
        if (folder / "prefix").exists() or (not tags and (status == 0 or sentence not in out + err)):
            raise Failed(f"meson install {' '.join(tags)} of -Dmarch=native: status {status}, it said:\n{out}\n{err}")


def only_some_are_compiled(prefix):
    """Programs of an installation that has all operators build none; this one has a part of them, so they shall."""
    flag = "-DSTROP_OPERATORS_COMPILED"
    for path in prefix.rglob("strop.pc"):
        text = path.read_text()
        if flag not in text:
            raise Failed(f"{path.name} does not bring {flag}")
        path.write_text(text.replace(flag, ""))


def command_of(work, environment, launcher, level):
    """The installed command says what it takes, and computes with it; `level` is the set that it should take, if known."""
    strop = [*launcher, pathlib.Path(environment["PREFIX"], "bin/strop")]
    said = dict(re.findall(r"(?m)^(\S+(?: \S+)*)  +(.*)$", must([*strop, "info"], env=environment)))
    takes = {said["instruction set"], said["runtime's loops"], must([*strop, "info", "--products"], env=environment).split("kernels of ")[1].split(":")[0]}
    if len(takes) != 1 or level not in (None, *takes):
        raise Failed(f"operators, the runtime's loops and products are of {', '.join(sorted(takes))}, expected {level or 'one set'}")
    x = [0.01 * i - 5 for i in range(1001)]
    work.mkdir(parents=True)
    (work / "x.npy").write_bytes(npy(x))
    must([*strop, "run", "exp", "x.npy", "-o", "y.npy"], cwd=work, env=environment)
    must([*strop, "run", "Cast", "y.npy", "--dtype", "float16", "-o", "z.npy"], cwd=work, env=environment)
    y = array.array("f", (work / "y.npy").read_bytes()[-4 * len(x):])
    if len(y) != len(x) or any(abs(a - math.exp(b)) > 1e-5 * math.exp(b) for a, b in zip(y, x)):
        raise Failed(f"exp is wrong with {takes}")
    z = struct.unpack(f"<{len(x)}e", (work / "z.npy").read_bytes()[-2 * len(x):])
    if any(abs(a - b) > 2**-11 * b for a, b in zip(z, y) if b > 2**-14):
        raise Failed(f"halves are wrong with {takes}")


def asks_for_more(path):
    """Whether an object or a program has registers of more than 16 bytes. (Large objects take minutes.)"""
    return re.search("%[yz]mm", must(["objdump", "-d", "--no-show-raw-insn", path])) is not None


def whole_installation(report, work, environment):
    """What is installed starts on any x86-64 and takes the highest level that there is."""
    build = work / "build"
    if not (work / "prefix/bin/strop").exists():
        report.skipped("the installed command", "CLI11 or nlohmann_json is not installed")
        return
    if os.uname().machine != "x86_64":
        command_of(work / "here", environment, [], None)
        report.passed("the installed command")
        return
    units = json.loads((build / "compile_commands.json").read_text())
    level = re.compile(r"strop_(ops|loops)_v[34]\.")
    flags = [u["output"] for u in units if re.search(r"\s-m\w", u["command"]) and not level.search(u["output"])]
    if flags:
        raise Failed("built for more than the compiler's default: " + ", ".join(flags))
    control = next(u["output"] for u in units if "strop_ops_v3" in u["output"] and u["output"].endswith("loops.cpp.o"))
    if asks_for_more(work / "prefix/bin/strop") or not asks_for_more(build / control):
        raise Failed("the command has registers of more than 16 bytes, or the loops of x86-64-v3 have none")
    report.passed("what is no level's is for any x86-64")

    flags = re.search(r"(?m)^flags.*$", pathlib.Path("/proc/cpuinfo").read_text())[0].split()
    command_of(work / "here", environment, [], "x86-64-v4" if "avx512vl" in flags else "x86-64-v3" if "avx2" in flags else "x86-64")
    for level in ("x86-64-v3", "x86-64"):
        if level == "x86-64" or "avx2" in flags:
            command_of(work / level, {**environment, "STROP_ISA": level}, [], level)
            report.passed(f"the installed command with STROP_ISA={level}")
    report.passed("the installed command")
    qemu = shutil.which("qemu-x86_64")
    if not qemu:
        report.skipped("the installed command on older machines", "qemu is not installed (apt-get install qemu-user)")
    for cpu, level in (("qemu64", "x86-64"), ("Haswell", "x86-64-v3")) if qemu else ():
        command_of(work / cpu, environment, [qemu, "-cpu", cpu], level)
        report.passed(f"the installed command on {cpu}, by qemu")


def main():
    report = Report("consume")
    os.environ["WERROR"] = " ".join(WERROR)  # for the projects' scripts
    os.environ["CCACHE_NOHASHDIR"] = "true"  # what two installations compile in the same way they share, wherever they lie
    os.environ.pop("CCACHE_DEPEND", None)
    clang = next((c for c in compilers() if c.name == "clang++"), None)  # what one builds the other's programs link
    x86, has_cmake = os.uname().machine == "x86_64", shutil.which("cmake") is not None
    with tempfile.TemporaryDirectory() as temporary:
        work = pathlib.Path(temporary)
        source = work / "source"

        def library_and_command():
            clone(source, ["cast_identity", "functions", "products"])
            # Where ccache is, the second takes most of its objects from the first.
            archive = install(work / "archive", os.environ, PLAIN, command="enabled", source=source)
            shared = install(work / "shared", os.environ, "-Ddefault_library=shared", "-Doperators=true", PLAIN, command="auto",
                             source=source)
            only_some_are_compiled(work / "shared")
            whole_installation(report, work / "shared", shared)
            report.passed("install, with the command and shared", 2)
            return [("command, by pkg-config", script_command, archive), ("library", library, {**archive, **({"CXX2": clang.path} if clang else {})}),
                    ("pkg-config, shared", script, {**shared, "CXX": "c++ -fvisibility=hidden"}), ("library, shared", library, shared),
                    *([("command, by CMake", cmake_command, archive), ("cmake, shared", cmake, shared)] if has_cmake else [])]

        def runtime():
            clone(source, ["cast_identity", "functions", "products"])
            built = install(work / "runtime", os.environ, PLAIN, source=source, compiler=clang)
            report.passed(f"install, the runtime built by {clang.name if clang else 'c++'}")
            return [("meson-wrap", meson_default, os.environ), ("command, by wrap", meson_command, os.environ), ("pkg-config", script, built),
                    *((f"sanitizer, {one}", script, {**built, "CXX": f"c++ -fsanitize={one}"}) for one in ("address", "thread")),
                    *([("levels", runtime_levels, built), ("levels, by wrap", meson_levels, os.environ)] if x86 else []),
                    *([("cmake", cmake_precompiled, built)] if has_cmake else [])]

        def headers_alone():
            headers = install(work / "headers", os.environ, "-Dheader_only=true")
            report.passed("install, header-only")
            refuses_native(work / "native")
            report.passed("install, refused of -march=native")
            native = {"NATIVE": f"-march={MARCH}"} if MARCH else {}
            both = {**headers, **native, **({"CXX2": clang.path, "NATIVE": " ".join(clang.native) or "-march=x86-64-v2"} if clang else {})}
            # The program and the library that it loads are by two compilers, where there are two.
            two = {**headers, "CXX2": os.environ.get("CXX", "c++"), **({"CXX": clang.path} if clang else {})}
            return [("meson-wrap, header-only", meson_headers, headers), ("pkg-config, header-only", script, headers),
                    ("own-exp", script, headers), ("by-hand", script, {**os.environ, "INCLUDE": str(INCLUDE), **native}),
                    ("by-hand, README.md", readme, os.environ),
                    ("library, header-only", library, two), *([("two-isa", script, both)] if x86 else []),
                    *([("cmake, header-only", cmake, headers)] if has_cmake else [])]

        def check(job):
            name, how, surroundings = job
            project = work / name
            shutil.copytree(ROOT / "tests/consume" / name.split(",")[0], project)
            try:
                timed(name, how, work, project, surroundings)
                report.passed(name)
            except Failed as failure:
                report.failed(name, str(failure))

        for installs in report.share([headers_alone, runtime, library_and_command], 3):
            try:
                jobs = installs()
            except Failed as failure:
                report.failed("install", str(failure))
            else:
                parallel(check, jobs)
            shutil.rmtree(source, ignore_errors=True)
        if not x86:
            report.skipped("two-isa", "its instruction sets are those of x86-64")
        if not has_cmake:
            report.skipped("cmake", "cmake is not installed (apt-get install cmake)")
    report.finish()


if __name__ == "__main__":
    main()
