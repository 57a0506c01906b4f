# SPDX-License-Identifier: Apache-2.0
"""The operator reference has a page for every operator, with all its parts; its examples run while it is written."""
import pathlib
import re
import sys

import pytest

import strop as mx

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMAND = pathlib.Path(mx.__file__).parents[2] / "strop"


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    if not COMMAND.exists():
        pytest.skip("the command is not built here")
    sys.path.insert(0, str(ROOT / "docs"))
    import generate  # pylint: disable=import-outside-toplevel,import-error

    folder = tmp_path_factory.mktemp("reference")
    generate.write(COMMAND, folder)
    return {path.stem: path.read_text() for path in folder.glob("*.html")}, {one["name"]: one for one in generate.operators_of(COMMAND)}, folder


def test_every_operator_has_a_page_with_its_parts(written):
    pages, operators, _ = written
    registered = {names[0] for names in mx._strop.list_operators()}
    assert registered <= set(operators) and set(operators) == set(pages) - {"index"}
    for name, operator in operators.items():
        parts = re.findall(r'<section id="(\w+)">', pages[name])
        plotted = operator["kind"] == "map" and operator["example"]["inputs"] and {"float32", "float64"} & set(operator["types"])
        assert parts == ["formula", *["plot"] * bool(plotted), "parameters", "gradient", "storages", "example", "facts"], name
        assert pages[name].count('<pre class="signature">') == 1 and "<samp>" in pages[name], name
        assert all(f'<code>{param["name"]}</code>' in pages[name] for param in operator["params"]), name
        if plotted:
            assert ('class="derivative"' in pages[name]) == (operator["gradient"] != "none"), name


def test_links_lead_to_pages_and_to_nothing_outside(written):
    pages, operators, folder = written
    linked = set(re.findall(r'href="([^"#]*)"', pages["index"]))
    assert {f"{name}.html" for name in operators} <= linked
    for page in pages.values():
        for target in re.findall(r'(?:href|src)="([^"#]+)"', page):
            assert (folder / target).exists(), target
    assert (folder / "operators.js").read_text().count(".html") == len(operators)


def test_examples_show_what_operators_compute(written):
    pages, _, _ = written
    shown = re.search(r'<pre class="example">(.*?)</pre>', pages["square"], re.S)[1]
    first, second = (mx.nd.array(eval(text)) for text in re.findall(r"nd\.array\((.*?)\)</code>", shown)[:1] * 2)
    numbers = [float(n) for n in re.findall(r"-?\d+\.\d*", re.search(r"<samp>(.*?)</samp>", shown, re.S)[1])]
    assert numbers == pytest.approx((first * second).asnumpy().ravel().tolist(), abs=1e-4)
