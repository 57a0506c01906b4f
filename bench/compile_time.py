#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a program of strop costs the compiler: processor time and peak memory of g++ -O2, without any cache, header-only,
with the compiled library (STROP_COMPILED) and, where library operators are called, with that of all operators
(STROP_OPERATORS_COMPILED).

The bound, measured in the same run, is a unit that includes Eigen/Core and fmt/format.h and does nothing. Beside it: the
design page's program (tests/spec/section2.cpp), the headers strop.hpp and op.hpp alone, a program of one operator, the
same without the headers of graphs that strop.hpp includes, and with one operator more; the median over the rounds of the
differences is what graphs and an operator cost. Best of three, the units taken in turn. Programs of a target that has strop.hpp
precompiled stand beside them, and what it takes to make that, measured once as it is done once for a target. Last, what is in the
object of the program of one operator: bytes of code and data by layer and by header, where the compiler's line table says that
they come from.
"""
import collections
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
ROUNDS = 3
BOUND = "#include <Eigen/Core>\n#include <fmt/format.h>\nint main() {}\n"
ONE = """#include <strop/strop.hpp>
struct Quadratic {
  float a = 0, b = 0, c = 0;
  constexpr auto forward(auto x) const { return (a * x + b) * x + c; }
};
inline constexpr strop::Op<Quadratic> quadratic;
%s
int main() {
  auto y = quadratic(strop::array({1, 2, 3}), {.a = 1});
  %s
  return y.size() == 3 ? 0 : 1;
}
"""
MORE = ("""struct Bend {
  float lift = 0;
  constexpr auto forward(auto x) const { return tanh(x) * x + lift; }
};
inline constexpr strop::Op<Bend> bend;""", "y = bend(y, {.lift = 1});")

WITHOUT = "one operator, no graphs"


def command_for(compiler, source, options=(), to="/dev/null"):
    flags = subprocess.run(["pkg-config", "--cflags", "eigen3", "fmt"], capture_output=True, text=True, check=True).stdout.split()
    return [compiler, "-std=c++20", "-O2", "-march=native", "-pthread", f"-I{ROOT / 'include'}", *flags, *options, "-c", source, "-o", to]


def compile_once(compiler, source, options=(), to="/dev/null"):
    """(seconds of processor time, peak MB) of one compilation; the peak is that of the largest process under the driver."""
    command = command_for(compiler, source, options, to)
    process = subprocess.Popen(command)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"compile_time: {' '.join(command)} failed")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def print_parts(compiler, source, folder):
    """Bytes of an object's code and data, by the header that each symbol is defined in. What is all zero (.bss) takes none."""
    to = str(pathlib.Path(folder) / "parts.o")
    subprocess.run(command_for(compiler, source, ["-g1"], to), check=True)
    layers, headers = collections.Counter(), collections.Counter()
    for line in subprocess.run(["nm", "--format=sysv", "--line-numbers", to], capture_output=True, text=True, check=True).stdout.splitlines():
        symbol, _, place = line.partition("\t")
        fields = symbol.rsplit("|", 6)  # name, value, class, type, size, line, section
        if len(fields) < 7 or not fields[4].strip() or ".bss" in fields[6] or ".tbss" in fields[6]:
            continue  # a symbol without a size is only referred to
        found = re.search(r"include/strop/(\w+)/([\w/.]+):\d+$", place)
        layer, header = found.groups() if found else ("the program, std and data", "")
        layers[layer] += int(fields[4], 16)
        if found:
            headers[f"{layer}/{header}"] += int(fields[4], 16)
    print(f"  one operator's object: {sum(layers.values())} bytes")
    for layer, size in layers.most_common():
        most = ", ".join(f"{name.partition('/')[2]} {bytes_}" for name, bytes_ in headers.most_common() if name.startswith(layer + "/"))
        print(f"    {layer:26} {size:7}   {most if len(most) < 100 else most[:most.rfind(',', 0, 100)]}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        units = {"Eigen/Core + fmt/format.h": BOUND, "one operator": ONE % ("", ""), "two operators": ONE % MORE}
        places = {}
        for index, (name, text) in enumerate(units.items()):
            places[name] = pathlib.Path(folder) / f"unit{index}.cpp"
            places[name].write_text(text)
        for header in ("strop/strop.hpp", "strop/op.hpp"):
            places[f"{header} alone"] = pathlib.Path(folder) / f"{header.rpartition('/')[2]}.cpp"
            places[f"{header} alone"].write_text(f"#include <{header}>\nint main() {{}}\n")
        text = (ROOT / "include/strop/strop.hpp").read_text()
        less = "\n".join(line for line in text.splitlines() if not re.match(r"#(include <strop/graph/(?!symbol)|pragma once)", line))
        places[WITHOUT] = pathlib.Path(folder) / "without_graphs.cpp"
        places[WITHOUT].write_text(units["one operator"].replace("#include <strop/strop.hpp>", less))
        section2 = ROOT / "tests/spec/section2.cpp"
        if section2.exists():
            places["the design page's program"] = section2
        for compiler in filter(shutil.which, ("g++", "clang++-19")):
            jobs = {name: (place, ()) for name, place in places.items()}
            for name, place in list(places.items())[1:]:
                jobs[f"{name}, compiled library"] = place, ("-DSTROP_COMPILED",)
            operators = ("-DSTROP_COMPILED", "-DSTROP_OPERATORS_COMPILED")
            for name in ("strop/strop.hpp alone", "one operator"):
                jobs[f"{name}, compiled operators"] = places[name], operators
            if section2.exists():
                jobs["the design page's program, compiled operators"] = section2, operators
            made = {}
            for how, defines in (("", ()), (", compiled library", operators[:1]), (", compiled operators", operators)):
                header = pathlib.Path(folder) / f"precompiled{len(made)}.hpp"
                header.write_text("#include <strop/strop.hpp>\n")
                read = ("-include", str(header), "-Winvalid-pch", "-Werror=invalid-pch")
                suffix = ".gch" if compiler == "g++" else ".pch"
                made[f"strop/strop.hpp{how}, to precompile"] = compile_once(compiler, str(header), (*defines, "-x", "c++-header"), f"{header}{suffix}")
                for name in ("one operator", "the design page's program"):
                    if name in places and (how != ", compiled operators" or name != "one operator"):
                        jobs[f"{name}{how}, precompiled header"] = places[name], (*defines, *read)
            taken = {name: [] for name in jobs}
            for _ in range(ROUNDS):
                for name, (place, defines) in jobs.items():
                    taken[name].append(compile_once(compiler, str(place), defines))
            best = {name: tuple(map(min, zip(*rounds))) for name, rounds in taken.items()} | made
            bound = best["Eigen/Core + fmt/format.h"]
            print(f"{compiler} -O2{'':58} {'seconds':>8} {'of bound':>9} {'MB':>6} {'of bound':>9}")
            for name, (seconds, megabytes) in best.items():
                print(f"  {name:66} {seconds:8.2f} {seconds / bound[0]:9.2f} {megabytes:6.0f} {megabytes / bound[1]:9.2f}")
            for how in ("", ", compiled library"):
                for name, larger, smaller in (("graphs in it", "one operator", WITHOUT), ("one operator more", "two operators", "one operator")):
                    pairs = zip(taken[larger + how], taken[smaller + how])
                    more = statistics.median(two[0] - one[0] for two, one in pairs)
                    print(f"  {name + how:66} {more:8.2f}")
            print_parts(compiler, str(places["one operator"]), folder)


if __name__ == "__main__":
    main()
