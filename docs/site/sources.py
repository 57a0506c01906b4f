# SPDX-License-Identifier: Apache-2.0
"""What Sphinx reads: the pages of docs/ in four parts, files that they link to, the contract."""
import os
import pathlib
import re
import subprocess

import interfaces
from interfaces import paragraphs
from operators import heading, restructured, write

ROOT = pathlib.Path(__file__).resolve().parents[2]
SITE = ROOT / "docs/site"

# The one navigation. Every page of docs/ stands in one part; what this script writes is named by its folder.
PARTS = {
    "Learn": ["first-operator", "tensor-operator", "train", "train-python", "sparse-model"],
    "Do": ["install", "test-operator", "your-operator", "pytorch", "numpy", "jax", "libraries", "files", "data", "optimizers", "kvstore", "cuda", "find-faults", "costs",
           "port-from-mxnet"],
    "Look up": ["operators/index", "contract", "cpp/index", "python-api/index", "command", "settings", "types", "sparse", "python", "graph",
                "from-mxnet", "from-mxnet-sparse", "from-mxnet-system", "examples/index", "figures/index", "CHANGELOG"],
    "Understand": ["architecture", "call", "engine", "threads", "CONTRIBUTING"],
}
# Pages of the site for what a page links to in the tree.
FILES = {"examples": "examples/index.rst", "bench/results/amd-epyc-avx512f": "figures/index.rst", "include/strop/op/concepts.hpp": "contract.rst"}


def linked(text, page):
    """A page's text with its links as the site has them: pages stand side by side, files of the tree beside them."""
    def place(found):
        target, anchor = found[1], found[2] or ""
        if target.startswith("http") or not target:
            return found[0]
        real = os.path.relpath((page.parent / target).resolve(), ROOT)
        if real in FILES:
            return f"]({FILES[real]}{anchor})"
        name = "index.md" if real == "README.md" else pathlib.Path(real).name
        return f"]({name}{anchor})"

    pieces = re.split(r"(?ms)(^ *```.*?^ *```$|`[^`\n]*`)", text)
    return "".join(piece if i % 2 else re.sub(r"\]\(([^)#\s]*)(#[^)]*)?\)", place, piece) for i, piece in enumerate(pieces))


def write_pages(folder):
    for page in [*sorted((ROOT / "docs").glob("*.md")), ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]:
        write(folder / page.name, linked(page.read_text(), page))
    for path in [*(ROOT / "docs").glob("*.svg"), *(ROOT / "bench/results/amd-epyc-avx512f").glob("graph_step*.svg"), ROOT / "LICENSE", ROOT / "THIRD-PARTY.txt"]:
        write(folder / path.name, path.read_text())
    trees = "".join(f"\n```{{toctree}}\n:hidden:\n:caption: {part}\n\n" + "\n".join(pages) + "\n```\n" for part, pages in PARTS.items())
    write(folder / "index.md", linked((ROOT / "README.md").read_text(), ROOT / "README.md") + trees)


def listing(title, about, files, language):
    """A page with files as they stand."""
    body = [heading(title, "="), about, "\n\n"]
    for path in files:
        body += [heading(path.name), f".. code-block:: {language}\n\n", "".join(f"   {line}\n" if line else "\n" for line in path.read_text().splitlines()), "\n"]
    return "".join(body)


def write_files(folder):
    write(folder / "examples/index.rst", listing("Examples", "Programs that the tests compile and run.", sorted((ROOT / "examples").glob("*.[ch]pp")), "cpp"))
    results = ROOT / "bench/results/amd-epyc-avx512f"
    write(folder / "figures/index.rst", listing("Figures", "What ``./run bench`` measured on an AMD EPYC with AVX-512; ``--peers`` has other libraries beside it.",
                                                sorted(results.glob("*.txt")), "text"))


def write_contract(folder):
    """The clauses, from the comments of the concepts' files."""
    body = [heading("The contract", "="), "What a struct has to be to be an operator, and what it may state, clause by clause. The compiler "
            "checks each, and says one sentence of one that is missed.\n\n"]
    for name in re.findall(r"#include <(strop/op/concepts/\w+\.hpp)>", (ROOT / "include/strop/op/concepts.hpp").read_text()):
        text = (ROOT / "include" / name).read_text()
        comment = re.search(r"/// \\file\n((?:///.*\n)+)", text)[1]
        first, *rest = re.sub(r"(?m)^/// ?", "", comment).split("\n\n", 1)
        title = first.split(":")[0].split(".")[0].strip().replace("\n", " ")
        clauses = re.sub(r"(?m)^ (?=[ \d])", "", rest[0]) if rest else ""
        body += [heading(restructured(title)), paragraphs(first), paragraphs(clauses), f"File: ``{name}``\n\n"]
    write(folder / "contract.rst", "".join(body))


def write_all(folder, doxygen):
    """Writes all but the operators into a folder; what it could not find, one sentence each."""
    for name in ("cpp", "python-api", "examples", "figures", "_static"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for name in ("conf.py", "site.css"):
        write(folder / ("_static" if name.endswith("css") else ".") / name, (SITE / name).read_text())
    doxygen.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(["doxygen", "-"], input=(SITE / "Doxyfile").read_text() + f"OUTPUT_DIRECTORY = {doxygen}\n", capture_output=True, text=True, cwd=ROOT)
    if done.returncode != 0:
        return [f"doxygen failed: {done.stderr}"]
    write_pages(folder)
    write_files(folder)
    write_contract(folder)
    interfaces.write_modules(folder)
    return [f"strop/fwd.hpp declares {name}, of which Doxygen has no entry" for name in interfaces.write_classes(folder, doxygen / "xml")]
