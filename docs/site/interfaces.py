# SPDX-License-Identifier: Apache-2.0
"""The C++ classes, from Doxygen's XML, and the modules of Python, from their docstrings, as reStructuredText."""
import importlib
import inspect
import pathlib
import re
import textwrap
import xml.etree.ElementTree as ET

from operators import heading, restructured, write

ROOT = pathlib.Path(__file__).resolve().parents[2]


def paragraphs(text):
    """A comment as paragraphs and list entries; what is indented in it stays as it stands."""
    made = []
    for paragraph in re.split(r"\n\s*\n", inspect.cleandoc(text)):
        entries = re.split(r"\n(?= *(?:\d+\.|-) )", paragraph)
        if re.match(r" *(?:\d+\.|-) ", entries[0]) or len(entries) > 1:
            made += [re.sub(r"^(\\?-|\d+\.) ", r"* " if e.lstrip().startswith("-") else r"\1 ", restructured(" ".join(e.split()))) for e in entries]
        elif "\n " in f"\n{paragraph}":
            made.append(".. code-block:: text\n\n" + textwrap.indent(textwrap.dedent(paragraph), "   "))
        else:
            made.append(restructured(" ".join(paragraph.split())))
    return "\n\n".join(made) + "\n\n"


def code(language, text):
    return f".. code-block:: {language}\n   :force:\n\n{textwrap.indent(text, '   ')}\n\n"


# --- C++ ------------------------------------------------------------------------------------------------------------
def public_classes():
    """[(part, [qualified name])] as strop/fwd.hpp has them in reading order."""
    parts, space = [], ["strop"]
    for line in (ROOT / "include/strop/fwd.hpp").read_text().partition("namespace strop")[2].splitlines():
        if found := re.match(r"// ([^:,]+).*: .*", line):
            parts.append((found[1], []))
        elif found := re.match(r"namespace (\w+) \{", line):
            space.append(found[1])
        elif re.match(r"\}  // namespace \w+$", line):
            space.pop()
        elif (found := re.match(r"(?:class|struct|enum class) (\w+)", line)) and parts:
            parts[-1][1].append("::".join([*space, found[1]]))
    return parts


def plain(element):
    """The text of an element of Doxygen's: one paragraph a line, code between back quotes."""
    if element is None:
        return ""
    if element.tag == "programlisting":
        for space in element.iter("sp"):
            space.text = " "
        lines = ["".join(line.itertext()) for line in element.iter("codeline")]
        return "\n\n" + "\n".join(f"    {line}" for line in lines) + "\n\n"
    text = element.text or ""
    for child in element:
        inner = plain(child)
        mark = {"computeroutput": f"`{inner}`", "para": f"{inner}\n\n", "listitem": f"- {inner}"}
        text += mark.get(child.tag, "" if child.tag == "simplesect" and not inner.strip() else inner) + (child.tail or "")
    return text


def document_of(member):
    return (plain(member.find("briefdescription")) + "\n\n" + plain(member.find("detaileddescription"))).strip()


def template_of(member):
    names = [" ".join(filter(None, [plain(p.find("type")), p.findtext("declname", "")])) for p in member.findall("templateparamlist/param")]
    requires = plain(member.find("requiresclause")).strip()
    return (f"template <{', '.join(names)}>\n" if member.find("templateparamlist") is not None else "") + (f"  requires {requires}\n" if requires else "")


def declaration_of(member):
    return re.sub(r"(?<=<) | (?=>)", "", spaced_declaration_of(member))


def spaced_declaration_of(member):
    if member.get("kind") == "enum":
        values = ", ".join((v.findtext("name") + " " + plain(v.find("initializer"))).strip() for v in member.findall("enumvalue"))
        return f"enum class {member.findtext('name')} {{ {values} }};"
    static = "static " if member.get("static") == "yes" else ""
    kind = "using " if member.get("kind") == "typedef" else ""
    if kind:
        return f"using {member.findtext('name')} = {plain(member.find('type'))};"
    initial = plain(member.find("initializer")) if member.get("kind") == "variable" else ""
    return template_of(member) + re.sub(r" +", " ", f"{static}{plain(member.find('type'))} {member.findtext('name')}{member.findtext('argsstring', '')}{' ' + initial if initial else ''};").strip()


def members_of(compound):
    """[(declarations, document)] of what is public: members without a comment stand with the one before them."""
    found = []
    for member in sorted(compound.iter("memberdef"), key=lambda m: int(m.find("location").get("line", 0))):
        if member.get("prot") != "public" or member.get("kind") == "friend" or member.findtext("name", "").endswith("_"):
            continue
        about = document_of(member)
        if about or not found:
            found.append(([declaration_of(member)], about))
        else:
            found[-1][0].append(declaration_of(member))
    return found


def class_section(name, xml, refid):
    compound = ET.parse(xml / f"{refid}.xml").find("compounddef")
    bases = [b.text for b in compound.findall("basecompoundref") if b.get("prot") == "public"]
    kind = compound.get("kind")
    body = [heading(restructured(name)), code("cpp", f"{template_of(compound)}{kind} {name}{' : ' + ', '.join(bases) if bases else ''};"), paragraphs(document_of(compound))]
    for declarations, about in members_of(compound):
        body += [code("cpp", "\n".join(declarations)), paragraphs(about) if about else ""]
    place = compound.find("location").get("file")
    return "".join(body) + f"Header: ``{place.removeprefix('include/')}``\n\n"


def write_classes(folder, xml):
    """A page for each part of fwd.hpp; names that Doxygen has no entry of."""
    index = ET.parse(xml / "index.xml").getroot()
    known = {one.findtext("name"): one.get("refid") for one in index.iter("compound") if one.get("kind") in ("class", "struct")}
    enums = {f"{space}::{member.findtext('name')}": member for space in {"strop"} for member in
             ET.parse(xml / "namespacestrop.xml").iter("memberdef") if member.get("kind") == "enum"}
    missing, pages = [], []
    for part, classes in public_classes():
        body = [heading(part, "=")]
        for name in classes:
            if name in known:
                body.append(class_section(name, xml, known[name]))
            elif name in enums:
                body += [heading(restructured(name)), code("cpp", declaration_of(enums[name])), paragraphs(document_of(enums[name]))]
            else:
                missing.append(name)
        pages.append(re.sub(r"\W+", "-", part.lower()))
        write(folder / f"cpp/{pages[-1]}.rst", "".join(body))
    write(folder / "cpp/index.rst", heading("C++ classes", "=") + "The public types of ``strop/strop.hpp`` in reading order, from the comments of the headers.\n\n.. toctree::\n"
          "   :maxdepth: 2\n\n" + "".join(f"   {page}\n" for page in pages))
    return missing


# --- Python ---------------------------------------------------------------------------------------------------------
# The modules of the package with functions and classes written in Python; operators have pages of their own.
MODULES = ["ndarray", "ndarray.sparse", "symbol", "autograd", "contrib.autograd", "numpy", "module", "model", "io", "recordio", "image", "kvstore", "optimizer",
           "lr_scheduler", "initializer", "metric", "callback", "operator", "rnn", "context", "attribute", "name", "engine", "library", "libinfo", "registry",
           "random", "runtime", "util", "base", "error", "visualization", "test_utils"]


def call_of(name, made):
    try:
        return f"{name}{inspect.signature(made)}"
    except (TypeError, ValueError):
        return name


def python_section(name, made):
    about = inspect.getdoc(made) or ""
    body = [heading(restructured(name)), code("python", call_of(("class " if inspect.isclass(made) else "") + name, made)), paragraphs(about) if about else ""]
    for member, value in vars(made).items() if inspect.isclass(made) else ():
        function = value.__func__ if isinstance(value, (staticmethod, classmethod)) else value
        if not member.startswith("_") and (inspect.isroutine(function) or isinstance(function, property)) and not hasattr(function, "card"):
            said = inspect.getdoc(function) or ""
            body += [code("python", member if isinstance(function, property) else call_of(member, function)), paragraphs(said) if said else ""]
    return "".join(body)


def own_members(module):
    """The public functions and classes that a module of the package has from itself or its parts."""
    for name, made in sorted(vars(module).items()):
        place = getattr(made, "__module__", None) or ""
        if not name.startswith("_") and (inspect.isclass(made) or inspect.isfunction(made)) and place.startswith(module.__name__):
            yield name, made


def write_modules(folder):
    import strop  # pylint: disable=import-outside-toplevel

    pages = ["NDArray", "Symbol", "Executor"]
    for name in pages:
        write(folder / f"python-api/{name}.rst", heading(name, "=") + python_section(name, getattr(strop._strop, name)))
    for name in MODULES:
        module = importlib.import_module(f"strop.{name}")
        about = inspect.getdoc(module)
        body = "".join(python_section(f"{name}.{member}", made) for member, made in own_members(module))
        write(folder / f"python-api/{name}.rst", heading(restructured(f"mx.{name}"), "=") + (paragraphs(about) if about else "") + body)
        pages.append(name)
    write(folder / "python-api/index.rst", heading("Python modules", "=") + "What stands beside the operators in ``import strop as mx``.\n\n.. toctree::\n   :maxdepth: 1\n\n"
          + "".join(f"   {page}\n" for page in pages))
