# SPDX-License-Identifier: Apache-2.0
"""Stubs of the package for editors and type checkers, written from the registry: `python -m strop.stubs FOLDER`.

FOLDER then holds strop/…pyi; it stands in `stubPath` (pyright) or MYPYPATH.
"""
import inspect
import keyword
import pathlib
import sys
import types

import strop

_HEAD = "# SPDX-License-Identifier: Apache-2.0\n# Written by strop.stubs from the registry.\nfrom typing import Any\n\n"


def _parameter(p):
    text = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "") + p.name
    if p.annotation is not p.empty and isinstance(p.annotation, str):
        text += f": {p.annotation}"
    if p.default is not p.empty:
        plain = p.default is None or isinstance(p.default, (bool, int, float, str, tuple)) and repr(p.default) not in ("inf", "-inf", "nan")
        text += f" = {p.default!r}" if plain else " = ..."
    return text


def _call(function, of_class=False):
    """(parameters) -> result, as a stub writes them."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return f"({'self, ' if of_class else ''}*args: Any, **kwargs: Any) -> Any"
    params = list(signature.parameters.values())
    if of_class and isinstance(function, strop._strop.Operator):
        params[:1] = [params[0].replace(name="self", annotation=params[0].empty)]
    written, star = [], False
    for p in params:
        if p.kind == p.KEYWORD_ONLY and not star:
            written += [] if any(q.kind == q.VAR_POSITIONAL for q in params) else ["*"]
            star = True
        written.append(_parameter(p))
    result = signature.return_annotation
    return f"({', '.join(written)}) -> {result if isinstance(result, str) else 'Any'}"


def _function(name, function, indent="", of_class=False):
    doc = (function.__doc__ or "").strip().split("\n")[0].replace("\\", "\\\\").replace('"""', "'''")
    body = f'\n{indent}    """{doc}"""\n{indent}    ...' if doc else " ..."
    return f"{indent}def {name}{_call(function, of_class)}:{body}\n"


def _class(name, cls):
    lines = [f"class {name}:\n"]
    for member in sorted(dir(cls)):
        if keyword.iskeyword(member) or (member.startswith("_") and member not in ("__add__", "__getitem__", "__setitem__", "__len__", "__mul__", "__sub__", "__truediv__")):
            continue
        value = inspect.getattr_static(cls, member)
        if isinstance(value, property) or inspect.isgetsetdescriptor(value) or not callable(value):
            lines.append(f"    {member}: Any\n")
        elif isinstance(value, (strop._strop.Operator, types.FunctionType)):
            lines.append(_function(member, value, "    ", True))
        else:
            lines.append(f"    def {member}(self, *args: Any, **kwargs: Any) -> Any: ...\n")
    return "".join(lines)


def text_of(module):
    """The stub of one module."""
    lines = [_HEAD]
    for name, value in sorted(vars(module).items()):
        if name.startswith("__") or keyword.iskeyword(name) or isinstance(value, types.ModuleType):
            continue
        if isinstance(value, type):
            lines.append(_class(name, value) if value in (strop.nd.NDArray, strop.sym.Symbol) else f"class {name}(Any): ...\n")
        elif isinstance(value, (strop._strop.Operator, types.FunctionType)) and not name.startswith("_") or isinstance(value, strop._strop.Operator):
            lines.append(_function(name, value))
    return "".join(lines)


def modules():
    """{path of the stub: module} of all modules that hold operators."""
    found = {"strop/__init__.pyi": strop}
    for package in (strop.ndarray, strop.symbol):
        folder = package.__name__.replace(".", "/")
        found[f"{folder}/__init__.pyi"] = package
        for name in ("linalg", "contrib", "image", "sparse", "random", "op", "_internal"):
            found[f"{folder}/{name}.pyi"] = getattr(package, name)
    return found


def main(folder):
    """Writes all of them."""
    for path, module in modules().items():
        place = pathlib.Path(folder) / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text_of(module))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "stubs")
