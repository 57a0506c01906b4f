# SPDX-License-Identifier: Apache-2.0
"""The operator reference as HTML: one page for each operator, and the list of all of them."""
import html
import inspect
import json
import re

from plots import plot_of

from strop import _strop
from strop._documents import gradient_of, in_python
from strop._examples import example_of, spelling

HEAD = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="description" content="{about}">
<title>{title}</title>
<link rel="stylesheet" href="style.css">
<script src="operators.js" defer></script>
<script src="search.js" defer></script>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header>
<a class="home" href="index.html">strop <span>operators</span></a>
<form role="search" onsubmit="return false">
<label class="unseen" for="search">Find an operator</label>
<input id="search" type="search" placeholder="Find an operator, press /" autocomplete="off" spellcheck="false" role="combobox" aria-expanded="false" aria-controls="found" aria-autocomplete="list">
<ul id="found" role="listbox" aria-label="Operators found" hidden></ul>
</form>
</header>
"""
FOOT = """<footer>From the registry, by <code>./run docs</code>. Examples ran when the page was built; their numbers are shown to four places.</footer>
</body>
</html>
"""


def text(value):
    return html.escape(str(value), quote=False)


def prose(value):
    """A sentence of an entry: text between back quotes is code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", text(value))


def names_of(operator):
    return [operator["name"], *operator["aliases"]]


def spelled_and_made(operator):
    """(how a program spells the operator, its object)."""
    found = spelling(_strop.Operator(operator["name"], operator["name"], False).description)
    if found is None:
        raise LookupError(f"run docs: {operator['name']} is no function of the package")
    return found


def page_name(operator):
    return f"{operator['name']}.html"


def document_of(operator):
    """(what it computes, the example in C++ that the document ends with or '')."""
    about, _, example = operator["doc"].partition(" Example: ")
    return about, example


def signature_of(spelled, made):
    """The call with its types, broken where it is long."""
    signature = inspect.signature(made)
    parts, star = [], False
    for one in signature.parameters.values():
        if one.kind == one.KEYWORD_ONLY and not star:
            star = True
            if not any(p.kind == p.VAR_POSITIONAL for p in signature.parameters.values()):
                parts.append("*")
        kind = f': <span class="type">{text(one.annotation)}</span>' if isinstance(one.annotation, str) else ""
        default = "" if one.default is one.empty else f" = {text(repr(one.default)) if repr(one.default) != '_Null' else '…'}"
        parts.append(f"{'*' if one.kind == one.VAR_POSITIONAL else ''}<b>{text(one.name)}</b>{kind}{default}")
    result = f' → <span class="type">{text(signature.return_annotation)}</span>'
    plain = len(re.sub("<[^>]*>", "", ", ".join(parts))) + len(spelled)
    inner = ", ".join(parts) if plain < 84 else "\n    " + ",\n    ".join(parts) + ",\n"
    return f'<pre class="signature"><code>{text(spelled)}({inner}){result}</code></pre>'


def rows(kind, heading, lines):
    body = "".join(f'<tr><th scope="row"><code>{name}</code></th><td>{what}</td></tr>' for name, what in lines)
    return f'<table class="{kind}"><caption>{heading}</caption><tbody>{body}</tbody></table>' if lines else ""


def arguments_of(operator, output):
    lines = []
    for one in operator["arguments"]:
        if (one["role"] == "output") != output or one.get("hidden"):
            continue
        words = [word for word, said in (("whole numbers", one.get("whole")), ("written", one["role"] == "written"), ("optional", one["optional"] and not output), ("any number", one.get("variadic"))) if said]
        lines.append((text(one["name"]), ". ".join(filter(None, [", ".join(words), prose(one["doc"])])) or "an array"))
    return lines


def parameters_of(operator):
    lines = []
    for one in operator["params"]:
        kind = " | ".join(f'"{word}"' for word in one["words"]) if one["kind"] == "enumeration" else one["type"]
        words = [text(kind), "required" if one["required"] else f"default {text(one['default'] or repr(''))}"]
        if "low" in one or "high" in one:
            low, high = (f"{one[k]:g}" if k in one else None for k in ("low", "high"))
            words.append(f"from {low} to {high}" if low and high else f"at least {low}" if low else f"at most {high}")
        if one.get("aliases"):
            words.append(f"also called {text(', '.join(one['aliases']))}")
        lines.append((text(one["name"]), f'<span class="type">{", ".join(words)}</span>' + (f"<br>{prose(one['doc'])}" if one["doc"] else "")))
    return lines


def example_section(found):
    body = []
    for lines, output in found[0].cells if found else []:
        body.append(f"<code>{text(lines)}</code>")
        if output:
            body.append(f'<samp>{text(output)}</samp>')
    return f'<section id="example"><h2>Example</h2><pre class="example">{chr(10).join(body)}</pre></section>' if body else \
        '<section id="example"><h2>Example</h2><p>None: no row of the tests says how it is called.</p></section>'


def plot_section(plot):
    svg, caption, both = plot
    keys = '<span class="key function">f</span>' + (' <span class="key derivative">its derivative</span>' if both else "")
    return f'<section id="plot"><h2>Plot</h2><figure>{svg}<figcaption>{keys} {text(caption)}</figcaption></figure></section>'


def operator_page(operator, before, after):
    spelled, made = spelled_and_made(operator)
    about, in_cpp = document_of(operator)
    plot = plot_of(operator, made)
    others = [name for name in names_of(operator) if name != spelled.rpartition(".")[2]]
    facts = [("Kind", "a map: element by element" if operator["kind"] == "map" else "an operator on whole arrays"),
             ("Types", ", ".join(operator["types"]) or "any"), ("Devices", ", ".join(operator["devices"]) or "none")]
    if operator["cost"]:
        facts.append(("Cost", operator["cost"]))
    if others:
        facts.append(("Also called", ", ".join(f"<code>{text(name)}</code>" for name in others)))
    storages = "".join(f"<li><code>{text(in_python(line).replace(' -> ', ' → '))}</code></li>" for line in operator["storages"])
    parts = [
        HEAD.format(title=text(f"{spelled} · strop"), about=html.escape(about)),
        f'<main id="main"><article><h1><code>{text(spelled)}</code></h1>',
        signature_of(spelled, made),
        f'<section id="formula"><h2>What it computes</h2><p class="lead">{prose(about) or text(operator["name"])}</p>'
        + (f'<p class="cpp">In C++: <code>{text(in_cpp)}</code></p>' if in_cpp else "") + "</section>",
        plot_section(plot) if plot else "",
        '<section id="parameters"><h2>Arguments</h2>', rows("inputs", "Arrays", arguments_of(operator, False)),
        rows("params", "Parameters", parameters_of(operator)), rows("outputs", "Results", arguments_of(operator, True)), "</section>",
        f'<section id="gradient"><h2>Gradient</h2><p>{gradient_text(made.card)}</p></section>',
        f'<section id="storages"><h2>Storages</h2><ul>{storages}</ul><p>Others are computed on dense copies, and said once.</p></section>',
        example_section(example_of(made, spelled)),
        facts_section(facts),
        "</article>", neighbours(before, after), "</main>", FOOT]
    return "".join(parts)


def gradient_text(card):
    """What the entry says of the gradient, as sentences."""
    said = gradient_of(card)
    if said == "none":
        return "There is none."
    return prose(f"{said[0].upper()}{said[1:]}.".replace("; keeps", "; until backward it keeps"))


def facts_section(facts):
    lines = "".join(f"<dt>{name}</dt><dd>{value if name == 'Also called' else text(value)}</dd>" for name, value in facts)
    return f'<section id="facts"><h2>Facts</h2><dl>{lines}</dl></section>'


def neighbours(before, after):
    links = [f'<a rel="{rel}" href="{page_name(one)}">{arrow} {text(one["name"])}</a>' for rel, arrow, one in (("prev", "←", before), ("next", "→", after)) if one]
    return f'<nav class="neighbours" aria-label="Neighbours">{"".join(links)}</nav>'


def index_page(operators, spelled):
    body = []
    for one in operators:
        sparse = any("csr" in line or "row_sparse" in line for line in one["storages"])
        gradient = "none" if one["gradient"] == "none" else "zero" if one["gradient"] == "zero" else "yes"
        cells = ["map" if one["kind"] == "map" else "arrays", gradient, "yes" if sparse else "no"]
        body.append(f'<tr><th scope="row"><a href="{page_name(one)}"><code>{text(spelled[one["name"]])}</code></a></th>'
                    f'<td>{prose(document_of(one)[0])}</td>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>')
    return "".join([
        HEAD.format(title="Operators · strop", about="Every operator of strop: signature, formula, parameters, storages, gradient, example."),
        f'<main id="main" class="wide"><h1>Operators</h1><p class="lead">All {len(operators)} operators of the registry, as functions of Python.</p>',
        '<table class="operators"><thead><tr><th scope="col">Operator</th><th scope="col">What it computes</th><th scope="col">Kind</th>'
        f'<th scope="col">Gradient</th><th scope="col">Sparse</th></tr></thead><tbody>{"".join(body)}</tbody></table><p id="none" hidden>No operator is called so.</p></main>', FOOT])


def search_list(operators, spelled):
    """What search.js looks through, as a script: pages that are opened from a folder may read no other file."""
    lines = [[spelled[one["name"]], page_name(one), " ".join(names_of(one)), document_of(one)[0]] for one in operators]
    return "// SPDX-License-Identifier: Apache-2.0\nconst OPERATORS = " + json.dumps(lines, ensure_ascii=False, indent=0) + ";\n"


def write_all(operators, folder):
    """Writes every page; how many there are."""
    spelled = {one["name"]: spelled_and_made(one)[0] for one in operators}
    operators = sorted(operators, key=lambda one: (spelled[one["name"]].rpartition(".")[2].strip("_").lower(), one["name"]))
    for i, one in enumerate(operators):
        (folder / page_name(one)).write_text(operator_page(one, operators[i - 1] if i else None, operators[i + 1] if i + 1 < len(operators) else None))
    (folder / "index.html").write_text(index_page(operators, spelled))
    (folder / "operators.js").write_text(search_list(operators, spelled))
    return len(operators)
