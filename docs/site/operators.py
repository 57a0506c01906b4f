# SPDX-License-Identifier: Apache-2.0
"""The operator reference: one page of reStructuredText for each operator, and the list of all of them."""
import html
import inspect
import re

from plots import plot_of

from strop import _strop
from strop._documents import gradient_of, in_python
from strop._examples import example_of, spelling


def restructured(value):
    """A sentence of an entry for reStructuredText: text between back quotes is code, nothing else is a mark."""
    pieces = re.split(r"`([^`]+)`", str(value))
    return "".join(rf"\ ``{piece}``\ " if i % 2 else re.sub(r"([\\`*_|])", r"\\\1", piece) for i, piece in enumerate(pieces))


def heading(title, mark="-"):
    return f"{title}\n{mark * len(title)}\n\n"


def raw(markup):
    """HTML as it is."""
    return ".. raw:: html\n\n" + "".join(f"   {line}\n" if line else "\n" for line in markup.splitlines()) + "\n" if markup else ""


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


def write(path, content):
    """Only where it changed, so that Sphinx does not read it again."""
    if not path.exists() or path.read_text() != content:
        path.write_text(content)


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


def example_of_calls(found):
    body = []
    for lines, output in found[0].cells if found else []:
        body.append(f"<code>{text(lines)}</code>")
        if output:
            body.append(f'<samp>{text(output)}</samp>')
    return f'<pre class="example">{chr(10).join(body)}</pre>' if body else "<p>None: no row of the tests says how it is called.</p>"


def figure_of(plot):
    svg, caption, both = plot
    keys = '<span class="key function">f</span>' + (' <span class="key derivative">its derivative</span>' if both else "")
    return f'<figure>{svg}<figcaption>{keys} {text(caption)}</figcaption></figure>'


def operator_page(operator):
    spelled, made = spelled_and_made(operator)
    about, in_cpp = document_of(operator)
    plot = plot_of(operator, made)
    others = [name for name in names_of(operator) if name != spelled.rpartition(".")[2]]
    facts = [("Kind", "a map: element by element" if operator["kind"] == "map" else "an operator on whole arrays"),
             ("Types", ", ".join(operator["types"]) or "any"), ("Devices", ", ".join(operator["devices"]) or "none")]
    if operator["cost"]:
        facts.append(("Cost", operator["cost"]))
    storages = "".join(f"<li><code>{text(in_python(line).replace(' -> ', ' → '))}</code></li>" for line in operator["storages"])
    return "".join([
        ":orphan:\n\n", heading(restructured(spelled), "="), raw(signature_of(spelled, made)), f"{restructured(about or operator['name'])}\n\n",
        f"In C++: ``{in_cpp}``\n\n" if in_cpp else "", f"Also called: {', '.join(map(restructured, others))}\n\n" if others else "",
        heading("Plot") + raw(figure_of(plot)) if plot else "",
        heading("Arguments"), raw(rows("inputs", "Arrays", arguments_of(operator, False)) + rows("params", "Parameters", parameters_of(operator))
                                  + rows("outputs", "Results", arguments_of(operator, True))),
        heading("Gradient"), f"{gradient_text(made.card)}\n\n",
        heading("Storages"), raw(f"<ul>{storages}</ul>"), "Others are computed on dense copies, and said once.\n\n",
        heading("Example"), raw(example_of_calls(example_of(made, spelled))),
        heading("Facts"), "".join(f"{name}\n   {restructured(value)}\n\n" for name, value in facts), ":doc:`All operators <index>`\n"])


def gradient_text(card):
    """What the entry says of the gradient, as sentences."""
    said = gradient_of(card)
    if said == "none":
        return "There is none."
    return restructured(f"{said[0].upper()}{said[1:]}.".replace("; keeps", "; until backward it keeps"))


def index_page(operators, spelled):
    body = []
    for one in operators:
        sparse = any("csr" in line or "row_sparse" in line for line in one["storages"])
        gradient = "none" if one["gradient"] == "none" else "zero" if one["gradient"] == "zero" else "yes"
        cells = ["map" if one["kind"] == "map" else "arrays", gradient, "yes" if sparse else "no"]
        body.append(f'<tr><th scope="row"><a href="{page_name(one)}"><code>{text(spelled[one["name"]])}</code></a></th>'
                    f'<td>{prose(document_of(one)[0])}</td>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>')
    return "".join([
        heading("Operators", "="), f"All {len(operators)} operators of the registry, as functions of Python. Each has its page: signature, formula, parameters, gradient, "
        "storages, an example that ran when the page was made.\n\n",
        raw('<table class="operators"><thead><tr><th scope="col">Operator</th><th scope="col">What it computes</th><th scope="col">Kind</th>'
            f'<th scope="col">Gradient</th><th scope="col">Sparse</th></tr></thead><tbody>{"".join(body)}</tbody></table>')])


def write_all(operators, folder):
    """Writes every page; how many there are."""
    spelled = {one["name"]: spelled_and_made(one)[0] for one in operators}
    operators = sorted(operators, key=lambda one: (spelled[one["name"]].rpartition(".")[2].strip("_").lower(), one["name"]))
    for one in operators:
        write(folder / f"{one['name']}.rst", operator_page(one))
    write(folder / "index.rst", index_page(operators, spelled))
    return len(operators)
