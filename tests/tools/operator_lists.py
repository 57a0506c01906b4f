#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The lists that stand beside the registry. Written from the families (`using …Ops = OpList<…>` in include/strop/ops):
the headers that ops/library.hpp and ops/elementwise.hpp include, the types in ops/families.hpp, the files of src/ops.
Written from the golden list of operators (tests/ops/operators.hpp): the names in graph/library_names.hpp.

  operator_lists.py           writes them
  operator_lists.py --check   says which of them are not as they would be written (the stage `format` does so)
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
INCLUDE = ROOT / "include/strop"
OPS = INCLUDE / "ops"
SOURCES = ROOT / "src/ops"
NAMES = INCLUDE / "graph/library_names.hpp"
GOLDEN = ROOT / "tests/ops/operators.hpp"
ME = "python3 tests/tools/operator_lists.py"

# Declares operators between arrays, and has no family.
WITHOUT_FAMILY = ("ops/arithmetic.hpp",)

# A family is compiled in a file of its own. Those whose kernels take a compiler little share one: headers of ops/.
SHARED = {
    "attention_histogram_images": ("histogram", "interleaved_matmul", "vision/images"),
    "cast_identity": ("cast", "elementwise/amp", "elementwise/identity"),
    "contrib_scatter_special_sum": ("elementwise/contrib", "elementwise/scatter", "elementwise/special", "elementwise/sum"),
    "convolution": ("convolution", "deconvolution", "im2col", "upsampling"),
    "cumsum_ctc_pdf_zipfian": ("ctc_loss", "cumsum", "random_pdf", "random_zipfian"),
    "functions": ("elementwise/exponential", "elementwise/hyperbolic", "elementwise/trigonometric"),
    "init_random": ("init", "random", "random_sample"),
    "layers": ("dropout", "leaky_relu", "pooling"),
    "linalg": ("linalg/diagonals", "linalg/factors", "linalg/orthogonal", "linalg/products"),
    "linear": ("dot", "fully_connected", "khatri_rao"),
    "graphs_one_hot_stored": ("csr_graphs", "index/index_copy", "index/one_hot", "stored"),
    "normalization": ("group_norm", "lrn", "norm"),
    "order": ("allclose", "moments", "order", "sequence"),
    "shape_crop_diag_pad": ("shape/crop", "shape/diag", "shape/pad"),
    "softmax": ("regression_output", "softmax", "softmax_output", "svm_output"),
    "sparse": ("sddmm", "sparse_retain", "square_sum", "stored_softmax"),
    "sparse_optimizer": ("finite", "large_batch", "mixed_optimizer", "sparse_optimizer"),
    "quantization_regions": ("quantization", "vision/position_sensitive", "vision/proposals", "vision/rotated_regions"),
    "vision": ("vision/correlation", "vision/regions", "vision/resize", "vision/sampling"),
    "vision_boxes": ("vision/box_targets", "vision/boxes", "vision/multibox", "vision/multibox_target"),
}

SOURCE = """// SPDX-License-Identifier: Apache-2.0
/// \\file
/// Operators of the command: {words}.
#include <strop/graph/symbol.hpp>
{includes}
namespace {{
[[maybe_unused]] const void* const enrolled[] = {{
{families}}};
}}  // namespace
"""


def families():
    """The families of each header that has any."""
    found = {}
    for header in sorted(OPS.rglob("*.hpp")):
        named = re.findall(r"\busing (\w+) =\s*OpList<", header.read_text())
        if named:
            found[header.relative_to(INCLUDE).as_posix()] = named
    return found


def includes(headers):
    return "".join(f"#include <strop/{header}>\n" for header in sorted(headers))


def replaced(path, pattern, by):
    """The text of a file with what `pattern` finds, which is there once, written anew."""
    text, count = re.subn(pattern, lambda _: by, path.read_text(), flags=re.S | re.M)
    if count != 1:
        sys.exit(f"operator_lists: {path.relative_to(ROOT)} has {count} places for its list, expected 1")
    return text


def file_of(header):
    """The file of src/ops, without its ending, that compiles the families of a header."""
    stem = header.removeprefix("ops/").removesuffix(".hpp")
    for name, stems in SHARED.items():
        if stem in stems:
            return name
    return stem.removeprefix("elementwise/").replace("/", "_")


def words_of(name, headers):
    if name not in SHARED:
        return name.replace("_", " ")
    return ", ".join(pathlib.PurePath(header).stem.replace("_", " ") for header in headers)


def snake_case(name):
    """As the function of that name in core/reflect.hpp; tests/ops/symbols.cpp holds the names to the registry."""
    word = name.replace("ReLU", "Relu")
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[^_])(?=[A-Z][^A-Z_])", "_", word).lower()


def names():
    """Every name and alias of the golden list's operators, and what the registry makes of the names, sorted."""
    lines = re.search(r'R"\((.*?)^\)"', GOLDEN.read_text(), re.S | re.M)[1].split("\n")
    found = set()
    for line in filter(None, lines):
        name, _, aliases = re.match(r"(\w+)(\(.*\))((?: \w+)*)$", line).groups()
        found.update((name, snake_case(name), *aliases.split()))
    return sorted(found)


def name_lines():
    """The names as pieces of one text, each followed by a blank, in lines of 120 columns."""
    lines = [""]
    for name in names():
        if len(f'    "{lines[-1]}{name} "') > 120:
            lines.append("")
        lines[-1] += f"{name} "
    return "\n".join(f'    "{line}"' for line in lines)


def wanted():
    """What each file should hold: paths and texts."""
    found = families()
    listed = [*WITHOUT_FAMILY, *found]
    include_lines = r"^(#include <strop/ops/[^\n]*>\n)+"
    files = {
        OPS / "library.hpp": replaced(OPS / "library.hpp", include_lines, includes(listed)),
        OPS / "elementwise.hpp": replaced(
            OPS / "elementwise.hpp", include_lines,
            includes([*WITHOUT_FAMILY, *(header for header in found if header.startswith("ops/elementwise/"))])),
        OPS / "families.hpp": replaced(
            OPS / "families.hpp", r"(?<=^using Families = OpLists<)[^>]*(?=>;)",
            ",".join(f"\n    {family}" for family in sorted(sum(found.values(), [])))),
        NAMES: replaced(NAMES, r'(?<=^    " "\n)[^;]*(?=;)', name_lines()),
    }
    together = {}
    for header in found:
        together.setdefault(file_of(header), []).append(header)
    for name, headers in together.items():
        enrolled = [family for header in headers for family in found[header]]
        files[SOURCES / f"{name}.cpp"] = SOURCE.format(
            words=words_of(name, headers), includes=includes(headers),
            families="".join(f"    strop::{family}::enrol(),\n" for family in enrolled))
    return files


def superfluous(files):
    """Files of src/ops that enrol families and are none of these."""
    return [path for path in sorted(SOURCES.glob("*.cpp")) if path not in files and "Ops::enrol()" in path.read_text()]


def faults():
    """A sentence for each file that is not as it would be written."""
    files = wanted()
    for path, text in files.items():
        if not path.exists() or path.read_text() != text:
            what = "names of tests/ops/operators.hpp" if path == NAMES else "families of include/strop/ops"
            yield f"{path.relative_to(ROOT)} does not list the {what}: `{ME}` writes it"
    for path in superfluous(files):
        yield f"{path.relative_to(ROOT)} enrols families that another file has: `{ME}` removes it"


def main():
    if sys.argv[1:] == ["--check"]:
        found = list(faults())
        sys.exit("\n".join(found) if found else 0)
    if sys.argv[1:]:
        sys.exit(f"operator_lists: takes nothing or --check, got {' '.join(sys.argv[1:])}")
    files = wanted()
    for path in superfluous(files):
        path.unlink()
    for path, text in files.items():
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
            print(f"wrote {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
