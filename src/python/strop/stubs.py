# SPDX-License-Identifier: Apache-2.0
"""Stubs of the package for editors and type checkers, written from the registry: `python -m strop.stubs FOLDER`.

FOLDER then holds strop/…pyi of every module. What pip installs has them already; of a package that is worked on FOLDER stands in
`stubPath` (pyright) or MYPYPATH. What operators take and give they say themselves; _types.py says it of what is written in Python.
"""
import ast
import functools
import importlib
import inspect
import keyword
import pathlib
import re
import sys
import textwrap
import types

import strop

from . import _types

_HEAD = """# SPDX-License-Identifier: Apache-2.0
# Written by strop.stubs from the registry.
import builtins
import contextlib
import os
import numpy
from typing import Any, Iterator, Sequence, TypeVar
"""
_PRIVATE = """# SPDX-License-Identifier: Apache-2.0
# Written by strop.stubs: what is in here is for the package alone.
from typing import Any

def __getattr__(name: str) -> Any: ...
"""
_ALIASES = """
_Extents = int | Sequence[int | None] | str
_Numbers = float | Sequence[float] | str
"""
# What nd.load gives: a dictionary where the arrays have names, else a list. Programs know which; a type checker takes it as a
# dictionary whose keys are positions as well.
_LOADED = """
class _Loaded(builtins.dict[Any, NDArray]): ...
"""
# Modules that need a host which may not be installed: they are not imported, their stubs stand here.
_HOSTS = {"jax.py": """# SPDX-License-Identifier: Apache-2.0
# Written by strop.stubs: the operators as functions of JAX.
from typing import Any, Callable

def op(name: str, /) -> Callable[..., Any]: ...
""", "torch.py": """# SPDX-License-Identifier: Apache-2.0
# Written by strop.stubs: the operators as those of PyTorch.
left_out: dict[str, str]

def refresh() -> None: ...
"""}
# Classes that results and members name, and where they are.
_CLASSES = {"NDArray": "strop._strop", "Symbol": "strop._strop", "Executor": "strop._strop", "Context": "strop.context", "_Loaded": "strop.ndarray.ndarray",
            "CSRNDArray": "strop.ndarray.sparse_array", "RowSparseNDArray": "strop.ndarray.sparse_array", "DataBatch": "strop.io.io", "DataDesc": "strop.io.io",
            "EvalMetric": "strop.metric", "IRHeader": "strop.recordio"}
_BUILTIN = {"bool", "bytes", "dict", "float", "int", "list", "str", "tuple"}


def _parameter(p, kinds, bound=False):
    text = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "") + p.name
    if isinstance(p.annotation, str):
        said = (kinds or {}).get(p.annotation, p.annotation)
        text += f": {said}" + (f" | Sequence[{said}]" if kinds and p.kind == p.VAR_POSITIONAL else "")  # a list of inputs as well
        if kinds is not None and p.default is None and "None" not in text:
            text += " | None"
    elif kinds is not None and not bound:
        said = "Any" if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) else _types.PARAMETERS.get(p.name, "Any")
        said = "Any" if isinstance(p.default, str) and "str" not in said else said
        text += f": {said}" + (" | None" if p.default is None and said != "Any" and "None" not in said else "")
    if p.default is not p.empty:
        plain = p.default is None or isinstance(p.default, (bool, int, float, str, tuple)) and repr(p.default) not in ("inf", "-inf", "nan")
        text += f" = {p.default!r}" if plain else " = ..."
    return text


def _call(function, of_class=False, kinds=None, result="Any"):
    """(parameters) -> result: as the registry says, or as a stub does, with `kinds` for its words."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return f"({'self, ' if of_class else ''}*args: Any, **kwargs: Any) -> {result}"
    params = list(signature.parameters.values())
    if of_class and params and isinstance(function, types.FunctionType):
        params[0] = params[0].replace(name="cls" if params[0].name == "cls" else "self")
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
        written.append(_parameter(p, kinds, of_class and p is params[0]))
    given = signature.return_annotation
    return f"({', '.join(written)}) -> {(kinds or {}).get(given, given) if isinstance(given, str) else result}"


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
        elif one["kind"] == "numbers":
            text = re.sub(rf"\b{one['name']}: _Extents", f"{one['name']}: _Numbers", text)
    return text


def _document(function, indent):
    doc = (function.__doc__ or "").strip().split("\n")[0].replace("\\", "\\\\").replace('"', "'")
    return f'\n{indent}    """{doc}"""\n{indent}    ...' if doc else " ..."


def _function(name, function, call, indent=""):
    return f"{indent}def {name}{call}:{_document(function, indent)}\n"


def _key(module, name):
    """The name of a function in the tables: without the package's."""
    return f"{module.__name__}.{name}".partition("strop.")[2]


def _base(base):
    """How a stub names a class that another is derived from; None for one that no module has."""
    if base is object:
        return None
    holder = sys.modules.get(base.__module__)
    if base.__module__ == "builtins":
        return f"builtins.{base.__name__}" + {dict: "[Any, Any]", list: "[Any]", tuple: "[Any, ...]"}.get(base, "")
    if vars(strop._strop).get(base.__name__) is base:
        return f"strop._strop.{base.__name__}"
    if holder is not None and vars(holder).get(base.__name__) is base:
        return f"{base.__module__}.{base.__name__}"
    return next((found for found in map(_base, base.__bases__) if found), None)


@functools.cache
def _set_in(cls):
    """Members that the methods of a class set: `self.data = …`."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(cls)))
    except (OSError, TypeError):
        return ()
    targets = (node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store))
    return sorted({node.attr for node in targets if isinstance(node.value, ast.Name) and node.value.id == "self" and not node.attr.startswith("_")})


def _inherited(cls, member):
    """What a member has from the classes that its class is derived from; None where it is new."""
    for base in cls.__mro__[1:]:
        if base is not object and (member in vars(base) or base.__module__.startswith("strop") and member in _set_in(base)):
            return base
    return None


def _member(cls, member, value, own):
    """A line of a class: a method or a member."""
    said = next((_types.MEMBERS[c.__name__][member] for c in cls.__mro__ if member in _types.MEMBERS.get(c.__name__, {})), None)
    special = member.startswith("__") and member.endswith("__")
    if isinstance(value, strop._strop.Operator):
        return _function(member, value, _signature(value, own, True), "    ")
    if isinstance(value, (staticmethod, classmethod)):
        call = _call(value.__func__, isinstance(value, classmethod), {}, said or "Any")
        return f"    @{type(value).__name__}\n" + _function(member, value.__func__, call, "    ")
    callable_one = callable(value) and not isinstance(value, type)
    if not callable_one:
        return f"    {member}: {said or 'Any'}\n"
    if special and member in _types.SPECIAL:
        params, result = _types.SPECIAL[member]
        ignored = "  # type: ignore[override]" if member in ("__eq__", "__ne__") and result == "Self" and cls.__name__ in ("NDArray", "Symbol") else ""
        result = said or (own if result == "Self" and cls.__name__ in ("NDArray", "Symbol") else "bool" if result == "Self" and member in ("__eq__", "__ne__") else "Any" if result == "Self" else result)
        return f"    def {member}(self{', ' if params else ''}{params}) -> {result}: ...{ignored}\n"
    base = _inherited(cls, member) if member not in ("__init__", "__new__") else None
    loose = base is not None and (not inspect.isfunction(getattr(base, member, None)) or inspect.signature(getattr(base, member)) != inspect.signature(value))
    if loose or not inspect.isfunction(value) or member in _types.WRITTEN_ANEW.get(cls.__name__, ()):
        return f"    def {member}(self, *args: Any, **kwargs: Any) -> {said or 'Any'}:{_document(value, '    ')}\n"
    result = "None" if member == "__init__" else said or "Any"
    return _function(member, value, _call(value, True, {}, result), "    ")


def _class(name, cls, module):
    bases = list(dict.fromkeys(base.removeprefix(f"{module.__name__}.") for base in map(_base, cls.__bases__) if base))
    head = f"class {name}({', '.join(bases)}):\n" if bases else f"class {name}:\n"
    core = cls.__module__.startswith("strop") and cls in (strop.nd.NDArray, strop.sym.Symbol, strop.Executor)
    names = dir(cls) if core else [*vars(cls), *_set_in(cls)]
    lines = []
    for member in sorted(dict.fromkeys(names)):
        value = inspect.getattr_static(cls, member, None)
        special = member.startswith("__") and member.endswith("__")
        if keyword.iskeyword(member) or member in ("__class__", "__hash__", "__slots__", "__module__", "__doc__", "__dict__", "__weakref__", "__qualname__"):
            continue
        if hasattr(object, member) and value is inspect.getattr_static(object, member) or (core and member in ("__init__", "__new__")):
            continue
        if member.startswith("_") and not (special and callable(value)):
            continue
        if special and member.startswith("__") and not isinstance(value, types.FunctionType) and not core:
            continue
        lines.append(_member(cls, member, value, name))
    return head.rstrip() + " ...\n" if not lines else head + "".join(lines)


def _is_ours(value):
    """Whether a class or function is of this package."""
    return (isinstance(value, type) or callable(value)) and str(getattr(value, "__module__", "")).split(".")[0] == "strop"


def _home(name, value, module, written):
    """(the module whose stub says what a value is, its name there); None where this stub does. Of operators those modules come
    first that others take from; functions of the package that take arrays and symbols are its own."""
    if isinstance(value, strop._strop.Operator):
        before = [] if module is strop else written[:written.index(module)]
        return next(((place, name) for place in before if vars(place).get(name) is value), None)
    if not _is_ours(value):
        return None
    places = [strop._strop, *sorted(written, key=lambda m: m.__name__ != value.__module__)]
    found = next(((place, called) for place in places for called in (getattr(value, "__name__", name), name)
                  if vars(place).get(called) is value and (not called.startswith("_") or isinstance(value, type) and place.__name__ == value.__module__)), None)
    return None if found is None or found[0] is module and found[1] == name else found


def _made(name, value, module, arrays):
    """What a stub says of a value that is its module's own."""
    if isinstance(value, strop._strop.Operator):
        return _function(name, value, _signature(value, arrays))
    result = _types.RESULTS.get(_key(module, name), _types.OF_MODULES.get(_key(module, "")[:-1], "Any"))
    if isinstance(value, type) and _is_ours(value):
        return _class(name, value, module)
    if not _is_ours(value) and callable(value):
        return f"{name}: Any\n"  # of another package
    if isinstance(value, types.FunctionType):
        return _function(name, value, _call(value, False, {}, result))
    if callable(value):
        found = _types.RESULTS.get(name, result)
        return f"def {name}(*args: Any, **kwargs: Any) -> {found}: ...\n"
    plain = type(value).__name__ if type(value) in (bool, bytes, float, int, str) else "Any"
    return f"{name}: {plain}\n"


def _public(module):
    """Names of a module that a stub has, with what they are; of private classes those that others are derived from."""
    derived = {base for value in vars(module).values() if isinstance(value, type) for base in value.__mro__}
    for name, value in sorted(vars(module).items()):
        if name.startswith("__") or keyword.iskeyword(name) or isinstance(value, types.ModuleType):
            continue
        inner = isinstance(value, type) and value in derived and value.__module__ == module.__name__
        if not name.startswith("_") or isinstance(value, strop._strop.Operator) or (inner and module is not strop._strop):
            yield name, value


def text_of(module, written):
    """The stub of one module."""
    extension = module is strop._strop
    arrays = "_A" if module is strop else "Symbol" if module.__name__.startswith("strop.symbol") else "NDArray"
    taken, made = [], []
    for name, value in sorted(vars(module).items()):
        if isinstance(value, types.ModuleType) and not name.startswith("_") and value in written and name != "numpy":  # which is NumPy in stubs
            parent, _, last = value.__name__.rpartition(".")
            taken.append(f"from {parent} import {last} as {name}\n" if parent else f"import {last} as {name}\n")
    for name, value in _public(module):
        home = _home(name, value, module, written)
        if home and home[0] is not module:
            taken.append(f"from {home[0].__name__} import {home[1]} as {name}\n")
        elif home:
            made.append(f"{name} = {home[1]}\n")
        else:
            made.append(_made(name, value, module, arrays))
    if extension:
        made.sort(key=lambda text: not text.startswith("class Error("))
    if module is strop.ndarray.ndarray:
        made.append(_LOADED)
    body = "".join(made)
    for name, home in _CLASSES.items():  # what members and results name
        line = f"from {home} import {name}\n"
        if home != module.__name__ and re.search(rf"\b{name}\b", body) and f"{line[:-1]} as {name}\n" not in taken:
            taken.append(line)
    inner = sorted({found.rpartition(".")[0] for found in re.findall(r"(?<=[( ])strop(?:\.\w+)+", "".join(re.findall(r"(?m)^class .*$", body)))})
    taken += [f"import {name}\n" for name in inner]
    variable = '_A = TypeVar("_A", NDArray, Symbol)\n' if arrays == "_A" else ""
    return "".join([_HEAD, *sorted(taken), _ALIASES, variable, "\n", body])


def _files():
    """The paths of the package's files, as their modules are called."""
    root = pathlib.Path(strop.__file__).parent
    return [file.relative_to(root.parent) for file in sorted(root.rglob("*.py"))]


def _is_private(path):
    return path.name in ("stubs.py", *_HOSTS) or any(part.startswith("_") and part != "__init__.py" for part in path.parts)


def modules():
    """{path of the stub: module} of all modules but private ones, those first that others take operators from."""
    found = {"strop/_strop.pyi": strop._strop}
    for package in (strop.ndarray, strop.symbol):
        folder = package.__name__.replace(".", "/")
        found[f"{folder}/__init__.pyi"] = package
        for name in ("_internal", "linalg", "contrib", "image", "sparse", "random", "op"):
            found[f"{folder}/{name}.pyi"] = getattr(package, name)
    for path in _files():
        if _is_private(path):
            continue
        parts = path.with_suffix("").parts
        module = importlib.import_module(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
        if module is not strop and module not in found.values():
            found[str(path.with_suffix(".pyi"))] = module
    return {**found, "strop/__init__.pyi": strop}


def main(folder):
    """Writes all of them."""
    found = modules()
    texts = {path: text_of(module, list(found.values())) for path, module in found.items()}
    texts.update({path.with_suffix(".pyi"): _HOSTS.get(path.name, _PRIVATE) for path in _files() if _is_private(path)})
    for path, text in texts.items():
        place = pathlib.Path(folder) / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "stubs")
