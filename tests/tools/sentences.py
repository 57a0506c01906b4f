#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long the sentences of the pages are: for each page the mean of words, how many have more than 35, and the longest ones.
A hint for who writes: `python3 tests/tools/sentences.py [PAGE...]` checks nothing. With --words it counts the lines of the sources
that have a word which CONTRIBUTING.md's vocabulary replaces."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
LONG = 35


def paragraphs(text):
    """Prose without code blocks, tables and headings: paragraphs and entries of lists, each in one line."""
    text = re.sub(r"(?ms)^ *```.*?^ *```$", "\n", text)
    text = re.sub(r"(?m)^ *(\||#|!\[).*$", "\n", text)
    text = re.sub(r"(?m)^ *(?:[-*]|\d+\.) ", "\n\n", text)
    for paragraph in re.split(r"\n\s*\n", text):
        if paragraph := " ".join(paragraph.split()):
            yield paragraph


def sentences(text):
    """Sentences; what is quoted as code, and the address of a link, is one word."""
    for paragraph in paragraphs(text):
        paragraph = re.sub(r"`[^`]*`", "code", paragraph)
        paragraph = re.sub(r"\]\([^)]*\)", "]", paragraph)
        for sentence in re.split(r"(?<=[.!?])[\"')*]*\s+|:$", paragraph):
            if words := re.findall(r"[\w’'.,/^-]*\w[\w’'.,/^-]*", sentence):
                yield len(words), sentence


def words():
    """(the word to write, the old one, {folder: lines that have it}) of the vocabulary."""
    table = re.search(r"(?ms)^\| write \| not \|\n\|.*?\n(.*?)\n\n", (ROOT / "CONTRIBUTING.md").read_text() + "\n\n")[1]
    for write, old in re.findall(r"(?m)^\| (.*?) \| ([^(|]*?) \|$", table):
        for word in old.split(", "):
            pattern = re.compile(rf"(?i)\b{word.replace('way of', 'way[ _]of')}(?:s|\b)")
            yield write, word, {folder: sum(len(pattern.findall(p.read_text())) for p in (ROOT / folder).rglob("*.*") if p.suffix in (".hpp", ".cpp", ".py", ".cu", ".def"))
                                for folder in ("include", "src", "tests", "bench", "examples")}


def main():
    if sys.argv[1:] == ["--words"]:
        for write, word, counts in words():
            print(f"{word:14} {', '.join(f'{n} in {folder}' for folder, n in counts.items() if n) or 'nowhere':60} write: {write}")
        return
    pages = [pathlib.Path(name).resolve() for name in sys.argv[1:]] or PAGES
    print(f"{'page':34} {'sentences':>9} {'mean':>6} {'> ' + str(LONG):>5}")
    longest = []
    for page in pages:
        found = list(sentences(page.read_text()))
        name = str(page.relative_to(ROOT))
        mean = sum(count for count, _ in found) / max(1, len(found))
        print(f"{name:34} {len(found):9} {mean:6.1f} {sum(count > LONG for count, _ in found):5}")
        longest += [(count, name, sentence) for count, sentence in found]
    print(f"\nthe longest of {len(longest)}:")
    shown = sorted(longest, reverse=True)
    for count, name, sentence in shown[: max(12, sum(count > LONG for count, _, _ in shown))]:
        print(f"{count:3} {name}: {sentence}")


if __name__ == "__main__":
    main()
