# SPDX-License-Identifier: Apache-2.0
"""What inspect and help say of an operator: its signature and its document, from its entry in the registry."""
import inspect
import keyword
import re

from . import _strop
from .base import _hook, _Null

_KINDS = {"boolean": bool, "integer": int, "real": float, "string": str, "enumeration": str, "shape": tuple, "axes": tuple, "bounds": tuple, "dtype": str, "numbers": tuple}


def value_of(param):
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
    if kind in ("shape", "axes", "bounds", "numbers"):
        try:
            return eval(text, {"__builtins__": {}})  # what the core has printed: numbers in brackets
        except (SyntaxError, NameError):
            return text
    return text


@_hook("signature")
def signature_of(operator):
    """The signature of an operator: inputs, parameters with their defaults, what every call takes. A symbol's inputs may be
    left out: they become variables."""
    about = operator.description
    array = _array_of(operator)
    Parameter = inspect.Parameter
    inputs, params = [], []
    variadic = False
    for one in about["inputs"]:
        name = one["name"] if not keyword.iskeyword(one["name"]) else one["name"] + "_"
        if one["variadic"]:
            variadic = True
            inputs = [Parameter("args", Parameter.VAR_POSITIONAL, annotation=array)]
            break
        default = {"default": None} if one["optional"] or operator.symbolic else {}
        inputs.append(Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, annotation=array, **default))
    kind = Parameter.KEYWORD_ONLY if variadic else Parameter.POSITIONAL_OR_KEYWORD
    seen_default = any(p.default is not Parameter.empty for p in inputs)
    for one in about["params"]:
        annotation = _KINDS[one["kind"]].__name__
        if one["optional"]:
            annotation += " | None"
        default = _Null if one["required"] else value_of(one)
        if one["required"] and not seen_default:
            default = Parameter.empty
        seen_default = seen_default or default is not Parameter.empty
        params.append(Parameter(one["name"], kind, default=default, annotation=annotation))
    for name in ("out", "name", "attr") if operator.symbolic else ("out", "name"):
        params.append(Parameter(name, Parameter.KEYWORD_ONLY, default=None))
    if operator.symbolic:  # a symbol of several outputs is one symbol
        return inspect.Signature([*inputs, *params, Parameter("attributes", Parameter.VAR_KEYWORD)], return_annotation=array)
    several = len([o for o in about["outputs"] if not o["hidden"]]) > 1
    return inspect.Signature(inputs + params, return_annotation=f"list[{array}]" if several else array)


def _array_of(operator):
    return "Symbol" if operator.symbolic else "NDArray"


def head_of(about, array="NDArray"):
    """The part of a document that says what an operator takes and gives: arrays, or symbols."""
    computes, _, _ = about["doc"].partition(" Example: ")
    lines = [computes or about["name"], ""]
    if about["inputs"] or about["params"]:
        lines += ["Parameters", "----------"]
    for one in about["inputs"]:
        words = [w for w in ("optional", "variadic", "written") if one[w]]
        if one["whole"]:
            words.insert(0, "whole numbers (bool, uint8, int8, int32 or int64)")
        lines.append(f"{one['name']} : {array}" + (f", {', '.join(words)}" if words else ""))
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
            lines.append(f"{one['name']} : {array}")
            if one["doc"]:
                lines.append(f"    {one['doc']}")
    return lines


def in_python(said):
    """What the command says of parameters and storages, as Python writes it."""
    return re.sub(r" --(\w+) ('[^']*'|\S+?)(?=[;,]? |[;,]?$)", r" \1=\2", re.sub(r"\bdense\b", "default", said))


def gradient_of(card):
    """What there is of a gradient: of which inputs, of which order, what stays alive for it."""
    said = in_python(card["gradient"])
    if said == "none":
        return "none"
    if said == "zero":
        return "zero wherever it exists"
    *kind, keeps = said.rpartition("keeps ")[::2] if "keeps " in said else (said, "")
    names, orders = card["differentiated"], card["orders"]
    parts = [words.strip(" ,") for words in kind if words.strip(" ,")]
    if names:
        parts.append(f"with respect to {', '.join(names)}")
    parts.append("of any order" if orders is None else "of first order" if orders == 1 else f"up to order {orders}")
    return ", ".join(parts) + (f"; keeps {keeps}" if keeps and keeps != "nothing" else "")


@_hook("document")
def document_of(operator):
    """The docstring of an operator, from its entry. Its example runs when the docstring is read."""
    from . import _examples

    about, card = operator.description, operator.card
    found = _example(_examples, operator, about)
    lines = [*head_of(about, _array_of(operator)), "", "Notes", "-----"]
    if about["map"] and "broadcast" not in about["doc"]:
        lines.append("Shapes: one, of all inputs and of the result.")
    elif found is not None:
        taken, made = found[1]
        lines.append(f"Shapes of the example: {taken}{' -> ' * bool(taken)}{made}.")
    storages = [in_python(line) for line in card["storages"]]
    lines += [f"Types: {', '.join(about['dtypes']) or 'any'}.",
              f"Storages: {'; '.join(storages)}; others are computed on dense copies." if storages else "Storages: all are computed on dense copies.",
              f"Gradient: {gradient_of(card)}."]
    names = [name for name in _examples.names_of(about) if name != operator.__name__]
    if names:
        lines.append(f"Also called {', '.join(names)}.")
    if found is not None:
        lines += ["", "Examples", "--------", *found[0].text()]
    return "\n".join(lines)


def _example(examples, operator, about):
    """The example's session and shapes; None where there is none, or where it fails."""
    spelled = examples.spelling_as(operator, about)
    try:
        return examples.example_of(operator, spelled[0]) if spelled else None
    except _strop.Error:  # of operators of other libraries the calls are made up
        return None
