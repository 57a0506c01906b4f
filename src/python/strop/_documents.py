# SPDX-License-Identifier: Apache-2.0
"""What inspect and help say of an operator: its signature and its document, from its entry in the registry."""
import inspect
import itertools
import keyword

import numpy as np

from . import _strop
from .base import STORAGES, _hook, _Null

_KINDS = {"boolean": bool, "integer": int, "real": float, "string": str, "enumeration": str, "shape": tuple, "axes": tuple, "bounds": tuple, "dtype": str}


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
        default = _Null if one["required"] else value_of(one)
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
    computes, _, example = about["doc"].partition(" Example: ")
    lines = [computes or about["name"], ""]
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
    lines.append("")
    if about["map"] and "broadcast" not in computes:
        lines.append("Shapes: one, of all inputs and of the result.")
    lines += [*_storages(operator, about), f"Types: {', '.join(about['dtypes']) or 'any'}.",
              f"Gradient: {'zero' if about['zero_gradient'] else 'yes' if about['gradient'] else 'none'}."]
    if names:
        lines.append(f"Also called {', '.join(names)}.")
    shown = _example(operator, about) or ([f"In C++: {example}"] if example else [])
    lines += ["", "Example", "-------", *shown] if shown else []
    return "\n".join(lines)


def _has_fixed_inputs(about, most):
    return 0 < len(about["inputs"]) <= most and not any(one["variadic"] or one["written"] for one in about["inputs"])


def _storages(operator, about):
    """What sparse inputs give, where the parameters have defaults, as the graph infers it."""
    outputs = [one for one in about["outputs"] if not one["hidden"]]
    if not _has_fixed_inputs(about, 3) or len(outputs) != 1 or any(one["required"] for one in about["params"]):
        return []
    as_node, found = _strop.Operator(about["name"], operator.__name__, True), []
    for storages in itertools.product(STORAGES, repeat=len(about["inputs"])):
        try:
            known = [(f"x{i}", STORAGES.index(storage)) for i, storage in enumerate(storages)]
            made = STORAGES[as_node(*(_strop._var(name, {}) for name, _ in known), name="x")._infer_storage(known)[1][0]]
        except _strop.Error:
            continue
        if made != "default":
            found.append(f"({', '.join(storages)}) -> {made}")
    return [f"Storages: {'; '.join(found)}; default else."] if found else ["Storages: the result is default."]


_SAMPLES = (((-1.0, 0.5, 2.0), (3.0, 2.0, 0.5)), ((0.25, 0.5, 0.75), (0.5, 0.25, 1.0)), ((1.0, 1.5, 3.0), (2.0, 1.0, 4.0)))


def _example(operator, about):
    """A call of an operator of numbers and what it gives; nothing of others, nor where it is not finite."""
    if not about["map"] or not _has_fixed_inputs(about, 2) or "float32" not in about["dtypes"] or any(one["required"] for one in about["params"]):
        return []
    run = _strop.Operator(about["name"], operator.__name__, False)
    for sample in _SAMPLES:
        numbers = sample[:len(about["inputs"])]
        try:
            with _strop.Scope(False, False):
                made = run(*[_strop.copy_of_buffer(np.array(one, np.float32)) for one in numbers])
            elements = made.asnumpy()
        except (_strop.Error, AttributeError):
            return []
        if np.isfinite(elements).all():
            arrays = ", ".join(f"nd.array({[float(f'{x:g}') for x in one]})" for one in numbers)
            where = operator.__module__.partition("strop.ndarray.")[2] or "op"
            return [f">>> nd.{'' if where == 'op' else where + '.'}{operator.__name__}({arrays}).asnumpy()", repr(elements)]
    return []
