#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tour of `./run demo`, whole, and what `./run demo sparse` shows: demo.py PROGRAM SPARSE_PROGRAM

What it prints, step by step; that the listing it shows is the code that it runs; the accuracy, the confusion table and
the picture of the training.
"""
import math
import pathlib
import re
import sys
import tempfile
import time
import xml.etree.ElementTree

from common import ROOT, Report, run

SOURCE = ROOT / "examples/demo/demo.cpp"
DATA = pathlib.Path("/usr/share/datasets/fashion-mnist")
EPOCHS = 5  # of the ten in which the tour has to arrive
LENET_EPOCHS = 1

# Of each step, texts that are in its part of the output.
EXPECTED = {
    2: ["swish(data, beta=1) -> output", "csr -> csr", "gradient   keeps data", "beta             float, default 1"],
    3: ["swish: 5 gradients agree with differences"],
    4: ["csr(3, 4) {(0, 2): 1, (2, 0): -3} -> csr(3, 4) {(0, 2): 0.73"],
    5: ["arguments data, output [-0.03"],
}


def swish(x, beta=1):
    return x / (1 + math.exp(-beta * x))


def swish_gradient(x):
    s = 1 / (1 + math.exp(-x))
    return s + x * s * (1 - s)


def code_of(text):
    """Lines of code without comments, indentation and runs of blanks."""
    lines = (re.sub(r"\s+", " ", re.sub(r"//.*", "", line)).strip() for line in text.splitlines())
    return [line for line in lines if line]


def package_index(packages=2000):
    """An index in which the words of a description tell the section, but for one in twenty, and each has a word that
    two or three others have, so that a batch holds few of all words."""
    sections = ["libs", "games", "doc", "python"]
    words = [["shared", "runtime", "linker"], ["puzzle", "arcade", "level"], ["manual", "guide", "reference"],
             ["module", "interpreter", "script"]]
    text = []
    for i in range(packages):
        kind = i * 7 % 4
        said = (kind + 1) % 4 if i % 20 == 0 else kind
        rare = "".join(chr(ord("a") + i % 601 // 26**k % 26) for k in range(2))
        text.append(f"Package: thing{i}\nVersion: 1\nDescription: {words[said][i % 3]} for {words[said][(i + 1) % 3]}s "
                    f"of{rare}\n more of it\nSection: {'contrib/' if i % 9 == 0 else ''}{sections[kind]}\n")
    return "\n".join(text)


def sparse_demo(program, check):
    with tempfile.TemporaryDirectory() as folder:
        index = pathlib.Path(folder) / "index"
        index.write_text(package_index())
        status, out, err = run([program, index, 3], timeout=300)
        check("sparse: exit code", status == 0 and err == "", f"exit code {status}\n{out}\n{err}")
        counts = re.search(r"(\d+) packages to learn from, (\d+) to test \(digest [0-9a-f]{16}\); 4 sections", out)
        check("sparse: packages", counts and int(counts[1]) + int(counts[2]) == 2000 and 150 < int(counts[2]) < 250, out)
        scores = [float(x) for x in re.findall(r"(?m)^epoch 3/3 .* test accuracy (0\.\d+)", out)]
        check("sparse: accuracies", len(scores) == 3 and all(0.9 < x < 1 for x in scores), out)
        memory = re.search(r"row_sparse +[\d.]+ ms +([\d.]+) KB\n +dense +[\d.]+ ms +([\d.]+) KB", out)
        check("sparse: memory", memory and 0 < float(memory[1]) < float(memory[2]), out)
        table = re.search(r"(?m)^confusion of the largest sections .*\n +(\w+(?: +\w+)*)\n((?: +\w+(?: +\d+)+\n)+)", out)
        columns, rows = (table[1].split(), [row.split() for row in table[2].splitlines()]) if table else ([], [])
        seen = {row[0]: [int(n) for n in row[1:]] for row in rows}
        check("sparse: confusion", sorted(seen) == ["doc", "games", "libs", "python"] and columns == [*seen, "another"]
              and all(len(row) == 5 and row[4] == 0 for row in seen.values()), out)
        right = sum(row[i] for i, row in enumerate(seen.values()))
        check("sparse: confusion and accuracy", counts and scores and sum(map(sum, seen.values())) == int(counts[2])
              and abs(right / int(counts[2]) - scores[0]) < 1e-4, out)
        again = run([program, index, 3], timeout=300)[1]
        steady = [re.sub(r"[\d.]+ m?s\b", "", text) for text in (out, again)]
        check("sparse: the same twice", steady[0] == steady[1], out + again)
        index.write_text("Package: alone\nSection: libs\n")
        status, out, err = run([program, index])
        check("sparse: no index", status == 1 and "tells of 1 packages, expected 1000 or more" in err, out + err)
        status, out, err = run([program, pathlib.Path(folder) / "none"])
        check("sparse: no file", status == 1 and "cannot read" in err, out + err)


def main():
    program, sparse_program = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    report = Report("demo")

    def check(name, good, text):
        if good:
            report.passed(name)
        else:
            report.failed(name, text)

    sparse_demo(sparse_program, check)
    if not (DATA / "train-images-idx3-ubyte.gz").exists():
        report.skipped("demo", f"there is no data set in {DATA} (apt-get install dataset-fashion-mnist)")
        report.finish()
    with tempfile.TemporaryDirectory() as folder:
        picture = pathlib.Path(folder) / "demo.svg"
        begin = time.monotonic()
        status, out, err = run([program, picture, EPOCHS, LENET_EPOCHS], timeout=600)
        seconds = time.monotonic() - begin
        check("exit code", status == 0, f"exit code {status}\n{out}\n{err}")
        print(f"demo: {EPOCHS} epochs, {seconds:.0f} s")
        parts = {int(number): text for number, text in re.findall(r"(?ms)^-- (\d)\. (.*?)(?=^-- \d\. |\Z)", out)}
        check("steps", sorted(parts) == [1, 2, 3, 4, 5, 6, 7], out)
        for number, lines in EXPECTED.items():
            for line in lines:
                check(f"step {number}", line in parts.get(number, ""), f"'{line}' is not in\n{parts.get(number, '')}")
        for number, name, function in ((3, "2]) =", swish), (3, "gradient =", swish_gradient), (5, "output", lambda x: swish(x, 2))):
            found = re.search(re.escape(name) + r" \[(.*?)\]", parts.get(number, ""))
            values = [float(v) for v in found[1].split(",")] if found else []
            close = len(values) == 5 and all(abs(v - function(x)) < 1e-6 for v, x in zip(values, (-2, -1, 0, 1, 2)))
            check(f"values of step {number}", close, parts.get(number, ""))
        listing, source = code_of("\n".join(parts.get(1, "").splitlines()[1:])), code_of(SOURCE.read_text().split("int main")[0])
        missing = [line for line in listing if line not in source]
        check("listing", listing and not missing, f"shown, and not in {SOURCE.relative_to(ROOT)}: {missing}")

        training = parts.get(6, "")
        score = re.search(rf"test accuracy (0\.\d+) after {EPOCHS} epochs", training)
        check("accuracy", score and float(score[1]) >= 0.875, training)
        rows = [[int(n) for n in row.split()] for row in re.findall(r"(?m)^ *\S+((?: +\d+){10})$", training)]
        check("confusion", len(rows) == 10 and all(sum(row) == 1000 for row in rows), training)
        right = sum(row[i] for i, row in enumerate(rows))
        check("confusion and accuracy", score and abs(right / 10000 - float(score[1])) < 1e-4, training)
        for number, epochs in ((6, f"{EPOCHS} epochs"), (7, f"{LENET_EPOCHS} epoch")):
            check("how long it takes", re.search(rf"(?m)^about \d+ s for {epochs}$", parts.get(number, "")), parts.get(number, ""))
        check("a line for each epoch", len(re.findall(r"(?m)^epoch \d+/\d+ +loss .* test accuracy ", training)) == EPOCHS, training)

        lenet = re.search(rf"test accuracy (0\.\d+) after {LENET_EPOCHS} epoch,", parts.get(7, ""))
        check("accuracy of LeNet", lenet and float(lenet[1]) >= 0.83, parts.get(7, ""))
        check("mode of LeNet", re.search(r"(?m)^mode graph: [\d.]+ s, at most [\d.]+ MB beside the images$", parts.get(7, "")), parts.get(7, ""))
        try:
            tree = xml.etree.ElementTree.parse(picture).getroot()
            words = " ".join(tree.itertext())
            check("picture", tree.tag.endswith("svg") and "training loss" in words and "test accuracy" in words, words)
            curves = [e for e in tree.iter() if e.tag.endswith("polyline")]
            points = [len(e.get("points").split()) for e in curves]
            check("curves", points == [EPOCHS, EPOCHS], f"points of the curves: {points}")
        except (OSError, xml.etree.ElementTree.ParseError) as error:
            report.failed("picture", str(error))
    report.finish()


if __name__ == "__main__":
    main()
