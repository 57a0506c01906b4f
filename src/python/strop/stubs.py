# SPDX-License-Identifier: Apache-2.0
"""Stubs of the package for editors and type checkers, written from the registry: `python -m strop.stubs FOLDER`.

FOLDER then holds strop/…pyi of every module whose names are made when it is imported. What pip installs has them already; of
a package that is worked on FOLDER stands in `stubPath` (pyright) or MYPYPATH.
"""
import inspect
import keyword
import pathlib
import re
import sys
import types

import strop

_HEAD = """# SPDX-License-Identifier: Apache-2.0
# Written by strop.stubs from the registry.
import builtins
from typing import Any, Iterator, Sequence, TypeVar
"""
_ALIASES = """
_Extents = int | Sequence[int | None] | str
"""
_NUMERIC = {f"__{side}{name}__" for name in ("add", "floordiv", "matmul", "mod", "mul", "pow", "sub", "truediv") for side in ("", "r", "i")}
_COMPARED = ("__eq__", "__ge__", "__gt__", "__le__", "__lt__", "__ne__")
_RESULTS = {"__bool__": "bool", "__float__": "float", "__index__": "int", "__int__": "int", "__len__": "int", "__delitem__": "None", "__setitem__": "None",
            "__dlpack_device__": "tuple[int, int]"}


def _parameter(p, kinds):
    text = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "") + p.name
    if isinstance(p.annotation, str):
        text += f": {(kinds or {}).get(p.annotation, p.annotation)}"
        if kinds is not None and p.default is None and "None" not in text:
            text += " | None"
    elif kinds is not None and p.name not in ("self", "cls"):
        text += ": Any"
    if p.default is not p.empty:
        plain = p.default is None or isinstance(p.default, (bool, int, float, str, tuple)) and repr(p.default) not in ("inf", "-inf", "nan")
        text += f" = {p.default!r}" if plain else " = ..."
    return text


def _call(function, of_class=False, kinds=None):
    """(parameters) -> result: as the registry says, or as a stub does, with `kinds` for its words."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return f"({'self, ' if of_class else ''}*args: Any, **kwargs: Any) -> Any"
    params = list(signature.parameters.values())
    if of_class and isinstance(function, strop._strop.Operator):
        params[:1] = [params[0].replace(name="self", annotation=params[0].empty, default=params[0].empty)]
    if (kinds or {}).get("NDArray") == "_A":  # symbols too, whose missing inputs are made: a parameter behind them comes by name
        params = [p.replace(default=...) if p.default is p.empty and p.kind == p.POSITIONAL_OR_KEYWORD else p for p in params]
        params.append(inspect.Parameter("attr", inspect.Parameter.KEYWORD_ONLY, default=None))
    written, star = [], False
    for p in params:
        if p.kind == p.KEYWORD_ONLY and not star:
            written += [] if any(q.kind == q.VAR_POSITIONAL for q in params) else ["*"]
            star = True
        written.append(_parameter(p, kinds))
    result = signature.return_annotation
    return f"({', '.join(written)}) -> {(kinds or {}).get(result, result) if isinstance(result, str) else 'Any'}"


def _signature(operator, arrays, of_class=False):
    """The same of an operator: `arrays` is the class of its arrays, _A of whichever are given; extents and types come in
    more than one of Python's types."""
    about = operator.description
    arrays = "NDArray" if arrays == "_A" and not about["inputs"] else arrays
    kinds = {"NDArray": arrays, "list[NDArray]": f"list[{arrays}]", "tuple": "_Extents", "tuple | None": "_Extents | None"}
    text = _call(operator, of_class, kinds)
    for one in about["params"]:
        if one["kind"] == "dtype":
            text = re.sub(rf"\b{one['name']}: str( \| None)?", f"{one['name']}: Any", text)
    return text


def _function(name, function, arrays, indent="", of_class=False):
    doc = (function.__doc__ or "").strip().split("\n")[0].replace("\\", "\\\\").replace('"', "'")
    body = f'\n{indent}    """{doc}"""\n{indent}    ...' if doc else " ..."
    call = _signature(function, arrays, of_class) if isinstance(function, strop._strop.Operator) else _call(function, of_class, {})
    return f"{indent}def {name}{call}:{body}\n"


def _special(name, cls):
    """A method that Python calls: its result is known, or is one of its class."""
    result = cls.__name__ if name in _NUMERIC or name in _COMPARED or name in ("__abs__", "__neg__", "__copy__", "__deepcopy__", "__getitem__", "__round__") else None
    result = result or _RESULTS.get(name) or (f"Iterator[{cls.__name__}]" if name == "__iter__" else "Any")
    return f"    def {name}(self, *args: Any, **kwargs: Any) -> {result}: ...{'  # type: ignore[override]' if name in ('__eq__', '__ne__') else ''}\n"


def _class(name, cls):
    bases = [b.__name__ if vars(strop._strop).get(b.__name__) is b else f"builtins.{b.__name__}" for b in cls.__bases__ if b is not object]
    lines = [f"class {name}({', '.join(bases)}):\n" if bases else f"class {name}:\n"]
    if issubclass(cls, BaseException):
        return lines[0].rstrip() + " ...\n"
    for member in sorted(dir(cls)):
        value = inspect.getattr_static(cls, member)
        special = member.startswith("__") and member.endswith("__")
        if keyword.iskeyword(member) or member in ("__class__", "__hash__") or value is inspect.getattr_static(object, member, None):
            continue
        if special and callable(value) and (member in _COMPARED or not hasattr(object, member)):
            lines.append(_special(member, cls))
        elif member.startswith("_"):
            continue
        elif isinstance(value, property) or inspect.isgetsetdescriptor(value) or not callable(value):
            lines.append(f"    {member}: Any\n")
        elif isinstance(value, (strop._strop.Operator, types.FunctionType)):
            lines.append(_function(member, value, cls.__name__, "    ", True))
        else:
            lines.append(f"    def {member}(self, *args: Any, **kwargs: Any) -> Any: ...\n")
    return "".join(lines) + ("    ...\n" if len(lines) == 1 else "")


def _home(name, value, module, written):
    """The name of the module where a stub or a file of Python says what a value is; None where this stub does. `written` are
    the modules that have stubs, those first that others take from; the package itself has functions of either kind."""
    if isinstance(value, strop._strop.Operator):
        before = [] if module is strop else written[:written.index(module)]
        return next((place.__name__ for place in before if vars(place).get(name) is value), None)
    files = [m for n, m in sorted(sys.modules.items()) if n.startswith("strop.") and m not in written and getattr(m, "__file__", None)]
    files.sort(key=lambda m: m.__name__ != getattr(value, "__module__", None))
    looped = isinstance(value, types.FunctionType) and value.__code__.co_name != name  # made in a loop, which no reader follows
    if looped or getattr(value, "__module__", None) == module.__name__ and vars(strop._strop).get(name) is not value:
        return None
    return next((place.__name__ for place in [strop._strop, *files] if vars(place).get(name) is value), None)


def text_of(module, written):
    """The stub of one module; of the extension of the classes of arrays and symbols, and of errors."""
    extension = module is strop._strop
    arrays = "_A" if module is strop else "Symbol" if module.__name__.startswith("strop.symbol") else "NDArray"
    taken, made = [], []
    for name, value in sorted(vars(module).items()):
        if name.startswith("__") or keyword.iskeyword(name):
            continue
        if isinstance(value, types.ModuleType):
            parent, _, last = value.__name__.rpartition(".")
            if parent.split(".")[0] == "strop" and not name.startswith("_") and name != "stubs" and (value in written or getattr(value, "__file__", None)):
                taken.append(f"from {parent} import {last} as {name}\n")
            continue
        operator = isinstance(value, strop._strop.Operator)
        if name.startswith("_") and not operator:
            continue
        home = None if extension else _home(name, value, module, written)
        if home:
            taken.append(f"from {home} import {name} as {name}\n")
        elif extension:
            made += [_class(name, value)] if isinstance(value, type) and (issubclass(value, BaseException) or value in (strop.nd.NDArray, strop.sym.Symbol)) else []
        elif operator or isinstance(value, types.FunctionType):
            made.append(_function(name, value, arrays))
        else:
            made.append(f"{name}: Any\n")
    if extension:
        made.append("def __getattr__(name: str) -> Any: ...\n")
        made.sort(key=lambda text: not text.startswith("class Error("))
    else:
        taken += [f"from strop._strop import {name}\n" for name in ("NDArray", "Symbol") if f"from strop._strop import {name} as {name}\n" not in taken]
    variable = '_A = TypeVar("_A", NDArray, Symbol)\n' if arrays == "_A" else ""
    return "".join([_HEAD, *sorted(taken), _ALIASES, variable, "\n", *made])


def modules():
    """{path of the stub: module} of all modules that hold operators, and of the extension."""
    found = {"strop/_strop.pyi": strop._strop}
    for package in (strop.ndarray, strop.symbol):
        folder = package.__name__.replace(".", "/")
        found[f"{folder}/__init__.pyi"] = package
        for name in ("_internal", "linalg", "contrib", "image", "sparse", "random", "op"):
            found[f"{folder}/{name}.pyi"] = getattr(package, name)
    return {**found, "strop/__init__.pyi": strop}


def main(folder):
    """Writes all of them."""
    for path, module in modules().items():
        place = pathlib.Path(folder) / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text_of(module, list(modules().values())))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "stubs")
