# SPDX-License-Identifier: Apache-2.0
"""What an operator's comment says twice: `doc` is what programs and pages show, and the comment before a struct adds what
it does not say. Part of the stage `format`."""
import re

STRUCT = re.compile(r"^((?:///[^\n]*\n)+)((?:template <[^\n]*>\n)?struct (\w+) [^\n]*\{\n.*?^\};)", re.M | re.S)
DOC = re.compile(r"\bdoc\s*=\s*((?:\"(?:[^\"\\]|\\.)*\"\s*)+);")
SHORTEST = 10


def plain(text):
    """For comparison: without marks of code, spaces, capitals, and the stop at the end."""
    return re.sub(r"\s+", " ", text.replace("`", "").replace("−", "-")).strip().rstrip(".;:").lower()


def doc_of(body):
    """The document that a struct states, if it is a text."""
    found = DOC.search(body)
    return "".join(re.findall(r"\"((?:[^\"\\]|\\.)*)\"", found[1])) if found else None


def sentences(paragraph):
    """Pieces of a paragraph, which joined by spaces are it again."""
    return re.split(r"(?<=[.:;]) (?=[A-Z`0-9Σ√(∂−|])|(?<=\.) (?=[a-z])", paragraph)


def label_of(sentence):
    """The operator's name before the first sentence: "relu: ", "SliceChannel (split): "."""
    found = re.match(r"\w+(?: \(\w+\))?: ", sentence)
    return found[0] if found else ""


def says(doc, sentence):
    words = plain(sentence)
    return words != "example" and (len(words) >= SHORTEST and words in plain(doc) or words in map(plain, sentences(doc)))


def repeats(text):
    """Struct and sentence, of each sentence of a comment that the struct's doc has as well."""
    for comment, body, name in STRUCT.findall(text):
        doc = doc_of(body)
        if doc is None:
            continue
        words = re.sub(r"\n?///", "\n", comment)
        for paragraph in re.split(r"\n\s*\n", words):
            paragraph = " ".join(paragraph.split())
            for sentence in sentences(paragraph[len(label_of(paragraph)):]):
                if sentence and says(doc, sentence):
                    yield name, sentence
