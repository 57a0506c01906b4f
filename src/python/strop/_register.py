# SPDX-License-Identifier: Apache-2.0
"""Every operator of the registry as a function, in the module that the original's rules put its names in."""
import inspect
import keyword
import sys
import types

from . import _strop
from .base import _Null, _hook

# Prefixes of names and the modules that they go to. Of _random_ only those in the shape of another array.
PREFIXES = ("_contrib_", "_linalg_", "_sparse_", "_image_", "_random_")
NUMPY = ("_npi_", "_npx_", "_np_")


def place(name):
    """(module, name in it) of an operator's name; None where it is for another interface."""
    if name.startswith(NUMPY):
        return None
    for prefix in PREFIXES:
        if name.startswith(prefix) and (prefix != "_random_" or name.endswith("_like")):
            return prefix.strip("_"), name[len(prefix):]
    if name.startswith("_"):
        return "_internal", name
    return "", name


class Operators(dict):
    """{(module, name): operator} of every operator by each of its names."""

    def __init__(self, symbolic):
        super().__init__()
        self.symbolic = symbolic
        self.filled = []  # (module, place): what refresh() looks through


def make_operators(symbolic):
    """Every operator by each of its names. Its own names come before aliases."""
    made = Operators(symbolic)
    everything = _strop.list_operators()
    for own in (True, False):
        for names in everything:
            for name in names[:1] if own else names[1:]:
                where = place(name)
                if where is not None and where not in made:
                    made[where] = _strop.Operator(names[0], where[1], symbolic)
    return made


_KINDS = {"boolean": bool, "integer": int, "real": float, "string": str, "enumeration": str, "shape": tuple, "axes": tuple, "bounds": tuple, "dtype": str}


def _value(param):
    """A default as Python's value."""
    text, kind = param["default"], param["kind"]
    if text == "None" and param["optional"]:
        return None
    if kind == "boolean":
        return text == "True"
    if kind == "integer":
        return int(text)
    if kind == "real":
        return float(text)
    if kind in ("shape", "axes", "bounds"):
        try:
            return eval(text, {"__builtins__": {}})  # what the core has printed: numbers in brackets
        except (SyntaxError, NameError):
            return text
    return text


@_hook("signature")
def signature_of(operator):
    """The signature of an operator: inputs, parameters with their defaults, what every call takes."""
    about = operator.description
    Parameter = inspect.Parameter
    inputs, params = [], []
    variadic = False
    for one in about["inputs"]:
        name = one["name"] if not keyword.iskeyword(one["name"]) else one["name"] + "_"
        if one["variadic"]:
            variadic = True
            inputs = [Parameter("args", Parameter.VAR_POSITIONAL, annotation="NDArray")]
            break
        default = {"default": None} if one["optional"] else {}
        inputs.append(Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, annotation="NDArray", **default))
    kind = Parameter.KEYWORD_ONLY if variadic else Parameter.POSITIONAL_OR_KEYWORD
    seen_default = any(p.default is not Parameter.empty for p in inputs)
    for one in about["params"]:
        annotation = _KINDS[one["kind"]].__name__
        if one["optional"]:
            annotation += " | None"
        default = _Null if one["required"] else _value(one)
        if one["required"] and not seen_default:
            default = Parameter.empty
        seen_default = seen_default or default is not Parameter.empty
        params.append(Parameter(one["name"], kind, default=default, annotation=annotation))
    for name in ("out", "name"):
        params.append(Parameter(name, Parameter.KEYWORD_ONLY, default=None))
    several = len([o for o in about["outputs"] if not o["hidden"]]) > 1
    return inspect.Signature(inputs + params, return_annotation="list[NDArray]" if several else "NDArray")


@_hook("document")
def document_of(operator):
    """The docstring of an operator, from its entry."""
    about = operator.description
    lines = [about["doc"] or about["name"], ""]
    names = [n for n in (about["name"], about["snake"], *about["aliases"]) if n != operator.__name__]
    if about["inputs"] or about["params"]:
        lines += ["Parameters", "----------"]
    for one in about["inputs"]:
        words = [w for w in ("optional", "variadic", "written") if one[w]]
        lines.append(f"{one['name']} : NDArray" + (f", {', '.join(words)}" if words else ""))
        if one["doc"]:
            lines.append(f"    {one['doc']}")
    for one in about["params"]:
        limits = f", {one['range']}" if one["range"] else ""
        given = "required" if one["required"] else f"default {one['default'] or repr('')}"
        lines.append(f"{one['name']} : {one['type']}, {given}{limits}")
        if one["doc"]:
            lines.append(f"    {one['doc']}")
    lines += ["", "Returns", "-------"]
    for one in about["outputs"]:
        if not one["hidden"]:
            lines.append(f"{one['name']} : NDArray")
            if one["doc"]:
                lines.append(f"    {one['doc']}")
    lines += ["", f"Types: {', '.join(about['dtypes']) or 'any'}.",
              f"Gradient: {'zero' if about['zero_gradient'] else 'yes' if about['gradient'] else 'none'}."]
    if names:
        lines.append(f"Also called {', '.join(names)}.")
    return "\n".join(lines)


def fill_modules(package, operators, names):
    """Makes modules that hold operators and nothing else; `op` has those of the top level."""
    for name in names:
        module = types.ModuleType(f"{package}.{name}", "Operators from the registry.")
        sys.modules[module.__name__] = module
        setattr(sys.modules[package], name, module)
        add_functions(module, operators, "" if name == "op" else name)
        if name == "op":  # what is called by its underscore is found here as well
            add_functions(module, operators, "_internal")


def add_functions(module, operators, place_name):
    """Adds the operators of one place to a module, but for names that it has."""
    operators.filled.append((module, place_name))
    _fill(module, operators, place_name)


def _fill(module, operators, place_name):
    space = vars(module)
    for (where, name), operator in operators.items():
        if where == place_name:
            space.setdefault(name, operator)


def add_methods(cls, operators):
    """Every operator of the top level that takes an array first, and writes none, is a method; what updates weights is
    none, nor is a name that the class has."""
    for (where, name), operator in operators.items():
        if where == "" and name[0].islower() and operator.is_method and not name.endswith("_update") and not hasattr(cls, name):
            setattr(cls, name, operator)


def add_public(space, module):
    """Adds everything of a module that is no module itself to a namespace, but for names that it has."""
    for name, value in vars(module).items():
        if not name.startswith("_") and not isinstance(value, types.ModuleType):
            space.setdefault(name, value)


def refresh(*all_operators):
    """Adds operators that the registry has got since."""
    for operators in all_operators:
        for key, operator in make_operators(operators.symbolic).items():
            operators.setdefault(key, operator)
        for module, place_name in operators.filled:
            _fill(module, operators, place_name)
