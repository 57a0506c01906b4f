# SPDX-License-Identifier: Apache-2.0
"""The site: a page for every operator with all its parts, the pages of docs/ in one navigation, every public class and module.
Examples run while it is written, and a warning of Sphinx is a failure."""
import html.parser
import importlib
import pathlib
import re
import sys
import urllib.parse

import pytest

import strop as mx

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMAND = pathlib.Path(mx.__file__).parents[2] / "strop"


@pytest.fixture(scope="module")
def generate():
    if not COMMAND.exists():
        pytest.skip("the command is not built here")
    sys.path.insert(0, str(ROOT / "docs"))
    return importlib.import_module("generate")


@pytest.fixture(scope="module")
def written(generate, tmp_path_factory):
    out = tmp_path_factory.mktemp("site")
    generate.write_operators(COMMAND, out / "source/operators")
    return {path.stem: path.read_text() for path in out.glob("source/operators/*.rst")}, {one["name"]: one for one in generate.operators_of(COMMAND)}, out


def test_every_operator_has_a_page_with_its_parts(written):
    pages, operators, _ = written
    registered = {names[0] for names in mx._strop.list_operators()}
    assert registered <= set(operators) and set(operators) == set(pages) - {"index"}
    for name, operator in operators.items():
        parts = re.findall(r"(?m)^(\w+)\n-+$", pages[name])
        plotted = operator["kind"] == "map" and operator["example"]["inputs"] and {"float32", "float64"} & set(operator["types"])
        assert parts == [*["Plot"] * bool(plotted), "Arguments", "Gradient", "Storages", "Example", "Facts"], name
        assert pages[name].count('<pre class="signature">') == 1 and "<samp>" in pages[name], name
        assert all(f'<code>{param["name"]}</code>' in pages[name] for param in operator["params"]), name
        if plotted:
            assert ('class="derivative"' in pages[name]) == (operator["gradient"] != "none"), name
    assert {f"{name}.html" for name in operators} == set(re.findall(r'href="([^"]*)"', pages["index"]))


def test_examples_show_what_operators_compute(written):
    pages, _, _ = written
    shown = re.search(r'<pre class="example">(.*?)</pre>', pages["square"], re.S)[1]
    first, second = (mx.nd.array(eval(text)) for text in re.findall(r"nd\.array\((.*?)\)</code>", shown)[:1] * 2)
    numbers = [float(n) for n in re.findall(r"-?\d+\.\d*", re.search(r"<samp>(.*?)</samp>", shown, re.S)[1])]
    assert numbers == pytest.approx((first * second).asnumpy().ravel().tolist(), abs=1e-4)


@pytest.fixture(scope="module")
def site(generate, written):
    if missing := list(generate.lacking()):
        pytest.skip(f"not installed: {', '.join(missing)}")
    generate.write_site(written[2])  # ends the test with what Sphinx says
    return written[2] / "site"


class Links(html.parser.HTMLParser):
    """What a page reads or leads to, and the places in it."""

    def __init__(self, text):
        super().__init__()
        self.links, self.read, self.places = set(), set(), set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        at = dict(attributes)
        self.places |= {at["id"]} if "id" in at else set()
        self.links |= {at["href"]} if tag == "a" and "href" in at else set()
        self.read |= {at["src"]} if "src" in at else {at["href"]} if tag == "link" and "href" in at else set()


def test_the_site_opens_from_the_file_system(site):
    """Links and anchors lead somewhere, and nothing is read from elsewhere."""
    pages = {path: Links(path.read_text()) for path in site.rglob("*.html")}
    for path, page in pages.items():
        assert [name for name in page.read if re.match(r"\w+:|//", name) and not name.startswith("data:")] == [], path
        for link in page.links | page.read:
            place, _, anchor = link.partition("#")
            if re.match(r"\w+:", place):
                continue
            target = (path.parent / urllib.parse.unquote(place.partition("?")[0])).resolve() if place else path
            assert target.exists(), f"{path.name}: {link}"
            assert not anchor or target not in pages or urllib.parse.unquote(anchor) in pages[target].places, f"{path.name}: {link}"


def test_one_navigation_has_every_page(site):
    text = (site / "index.html").read_text()
    assert re.findall(r'class="caption-text">([^<]*)<', text)[:4] == ["Learn", "Do", "Look up", "Understand"]
    listed = Links(text).links
    for page in [*(ROOT / "docs").glob("*.md"), ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]:
        assert f"{page.stem}.html" in listed, page.name
    found = (site / "searchindex.js").read_text()
    assert all(f'"{name}"' in found for name in ("operators/softmax", "train", "cpp/the-engine", "python-api/autograd", "contract"))


def test_every_public_class_and_function_has_an_entry(site):
    classes = "".join(path.read_text() for path in site.glob("cpp/*.html"))
    declared = re.findall(r"(?m)^(?:class|struct|enum class) (\w+)", (ROOT / "include/strop/fwd.hpp").read_text())
    assert len(declared) > 100 and [name for name in declared if not re.search(rf"<h2>[^<]*\b{name}<", classes)] == []
    modules = {path.stem for path in site.glob("python-api/*.html")}
    public = {name for name, value in vars(mx).items() if type(value) is type(mx) and value.__name__.startswith("strop.") and not value.__name__.rpartition(".")[2].startswith("_")}
    own = {getattr(mx, name).__name__.removeprefix("strop.") for name in public} - {name for name in modules}
    assert own == NO_ENTRY


# Modules of operators alone, which have their pages; Executor has its own; gluon only says that it is left out.
NO_ENTRY = {"ndarray.linalg", "contrib", "executor", "gluon"}
