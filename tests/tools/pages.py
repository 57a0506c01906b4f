# SPDX-License-Identifier: Apache-2.0
"""The code in README.md and docs/*.md: programs, which are compiled and run, and pieces of files and programs, which stand
there as the page shows them; and the links to other files."""
import functools
import re

from common import BUILD, ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def is_program(block):
    return block.startswith("#include") and re.search(r"\bint main\(", block) is not None


def programs():
    """Every ```cpp block that begins with an #include and has a main, written to a file of its own. What it prints is checked
    against the fenced text that follows at once, and where an `// expect:` line says so."""
    folder = BUILD / "programs" / "docs-source"
    folder.mkdir(parents=True, exist_ok=True)
    for page in PAGES:
        number = 0
        for block, output in re.findall(r"(?ms)^```cpp\n(.*?)^```\n(?:\n```\n(.*?)^```\n)?", page.read_text()):
            if not is_program(block):
                continue
            number += 1
            block += "".join(f"// expect: {line}\n" for line in output.splitlines())
            place = folder / f"{page.stem}-{number}.cpp"
            if not place.exists() or place.read_text() != block:
                place.write_text(block)
            yield f"{page.relative_to(ROOT)} program {number}", place


def lines_of(text):
    """Its lines without indentation, between two ends of line."""
    return "\n" + "\n".join(line.strip() for line in text.strip().splitlines()) + "\n"


@functools.cache
def compiled():
    """What the other stages compile, without white space."""
    files = [p for folder in ("examples", "tests") for p in sorted((ROOT / folder).rglob("*.*"))]
    return "\n".join(re.sub(r"\s", "", p.read_text()) for p in files if p.suffix in (".cpp", ".hpp", ".cu") and p.parent.name != "reject")


def anchors(page):
    """What links to headings of the page name: words in lower case between hyphens."""
    headings = re.findall(r"(?m)^#+ (.*)$", re.sub(r"(?ms)^ *```.*?^ *```$", "", page.read_text()))
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def faults(page):
    """Other ```cpp blocks stand, but for their indentation, in the file that the paragraph before them names; so does, in a
    program of the page or of examples/ and tests/, what a table quotes in the column called `here`. Links lead to files."""
    text = page.read_text()
    own = ""
    for fence in re.finditer(r"(?ms)^ *```cpp\n(.*?)^ *```$", text):
        block = fence[1]
        if is_program(block):
            own += re.sub(r"\s", "", block) + "\n"
            continue
        before = text[: fence.start()].rstrip().rsplit("\n\n", 1)[-1]
        named = re.findall(r"[\w./-]+\.(?:hpp|cpp|cuh|cu)\b", before)
        places = [p for name in named for p in (ROOT / name, ROOT / "include/strop" / name) if p.is_file()]
        if not any(lines_of(block) in lines_of(p.read_text()) for p in places):
            where = " or ".join(str(p.relative_to(ROOT)) for p in places) or "a file, which the paragraph before it should name"
            yield f"this does not stand in {where}:\n{block}"
    prose = re.sub(r"(?ms)^ *```.*?^ *```|`[^`\n]*`", "", text)
    for target, anchor in re.findall(r"\]\(([^)#]*)(?:#([^)]*))?\)", prose):
        place = page.parent / target if target else page
        if target.startswith("http"):
            continue
        if not place.exists():
            yield f"a link leads to {target}, which is not there"
        elif anchor and anchor not in anchors(place):
            yield f"a link leads to #{anchor} of {place.name}, which has no such heading"
    for table in re.findall(r"(?m)^\|[^|\n]*\| here[^|\n]*\|\n((?:\|.*\n)+)", text):
        for row in table.splitlines()[1:]:
            cell = re.split(r"(?<!\\)\|", row)[2].replace(r"\|", "|")
            for quoted in re.findall(r"`([^`]+)`", cell):
                for piece in re.sub(r"\s", "", quoted).split("…"):
                    if piece not in own and piece not in compiled():
                        yield f"`{quoted}` stands in no program of the page, of examples/ or of tests/"
