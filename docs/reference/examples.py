# SPDX-License-Identifier: Apache-2.0
"""Examples of operators: programs that are made of the rows which check them, and what they print when they run."""
import ast
import keyword
import re
import warnings

import numpy as np

import strop as mx
from strop import _register, autograd, nd

LARGEST_LITERAL = 16  # elements; larger arrays are drawn
PLACES = ("", "contrib", "linalg", "image", "sparse", "random", "_internal")


def names_of(operator):
    return [operator["name"], *operator["aliases"]]


def spelling(operator):
    """(how a program spells the operator, its object): nd.clip, nd.contrib.quadratic. The plainest name first."""
    names = sorted(names_of(operator), key=lambda name: (not name.islower(), name.startswith("_")))
    found = []
    for name in names:
        where = _register.place(name)
        if where is None:
            continue
        module = getattr(nd, where[0]) if where[0] else nd
        made = getattr(module, where[1], None)
        if type(made) is mx._strop.Operator and made.description["name"] == operator["name"]:
            found.append((PLACES.index(where[0]) if where[0] in PLACES else 1, ".".join(("nd", *where[:1] * bool(where[0]), where[1])), made))
    if not found:
        raise LookupError(f"run docs: {operator['name']} is no function of the package")
    rank = min(place for place, _, _ in found)
    return next((name, made) for place, name, made in found if place == rank)


def value_text(text, kind):
    """The value of a parameter as a program writes it."""
    if kind in ("boolean", "integer", "real", "shape", "axes", "bounds"):
        if text in ("inf", "-inf", "nan"):
            return f'float("{text}")'
        try:
            return repr(ast.literal_eval(text))
        except (ValueError, SyntaxError):
            pass
    return repr(text)


def smaller(example):
    """The same example with fewer elements: long extents are replaced, everywhere alike. None where they are none, or
    where something else in the call may count them."""
    extents = sorted({n for one in example["inputs"] for n in one["shape"] if n > 4})
    if not extents or any(one["elements"] for one in example["inputs"]):
        return None
    short = dict(zip(extents, range(2, 2 + len(extents))))
    if any(re.search(rf"(?<![\d.]){n}(?![\d.])", text) for n in extents for text in example["params"].values()):
        return None
    inputs = [{**one, "shape": [short.get(n, n) for n in one["shape"]], "positions": short.get(one["positions"], one["positions"])}
              for one in example["inputs"]]
    return {**example, "inputs": inputs}


def elements_of(sample, integers, salt):
    """Round numbers that are as the sample says, scattered and no two alike."""
    count = int(np.prod(sample["shape"], dtype=np.int64))
    u = np.fmod(0.6180339887 * (np.arange(count) + 1 + 17 * salt), 1.0)
    low, high = sample["low"], sample["high"]
    if sample["elements"]:
        flat = np.resize(np.asarray(sample["elements"], float), count)
    elif sample["positions"]:
        flat = np.floor(u * sample["positions"])
    elif integers:
        flat = np.floor(1 + 8 * u if high - low < 1 else low + (high - low) * u)
    else:
        flat = np.clip(np.round(low + (high - low) * u, 2), low, high)
    made = flat.reshape(sample["shape"])
    if sample["storage"] != "default" and made.ndim:
        rows, columns = np.indices(made.reshape(made.shape[0], -1).shape)
        keep = (rows + columns) % 3 == 0 if sample["storage"] == "csr" else rows % 3 == 1
        made = np.where(keep.reshape(made.shape), made, 0)
    return made


def listed(array):
    """Nested lists without needless digits: [[1, 0.5]]."""
    def one(value):
        if isinstance(value, list):
            return f"[{', '.join(map(one, value))}]"
        return repr(int(value)) if float(value).is_integer() else repr(value)
    return one(array.tolist())


def input_text(sample, name, types, salt):
    """The line that makes an input."""
    integers = "float32" not in types
    dtype = ', dtype="int64"' if integers else ""
    storage = "" if sample["storage"] in ("default", "dense") else f'.tostype("{sample["storage"]}")'
    sample = {**sample, "storage": "default" if not storage else sample["storage"]}
    count = int(np.prod(sample["shape"], dtype=np.int64))
    if count == 0:
        return f"{name} = nd.zeros({tuple(sample['shape'])}{dtype})"
    if count <= LARGEST_LITERAL or sample["elements"] or storage:
        made = f"{name} = nd.array({listed(elements_of(sample, integers, salt))}{dtype}){storage}"
        return made if len(made) < 84 else made.replace("], [", "],\n" + " " * (made.index("[") + 1) + "[")
    shape = tuple(sample["shape"])
    if sample["positions"]:
        return f'{name} = nd.random.randint(0, {sample["positions"]}, {shape}).astype("{"int64" if integers else "float32"}")'
    if integers:
        return f'{name} = nd.random.randint(1, 9, {shape}).astype("int64")'
    return f"{name} = nd.random.uniform({sample['low']}, {sample['high']}, {shape})"


def show(value):
    """What an interactive session prints of a result."""
    if isinstance(value, (list, tuple)):
        return "\n".join(show(one) for one in value)
    return repr(value).strip("\n")


class Session:
    """Runs lines of a program, and keeps them with what they show: [(lines, output)]."""

    def __init__(self):
        self.space = {"mx": mx, "nd": nd, "autograd": autograd}
        self.cells = []

    def do(self, *lines):
        exec(compile("\n".join(lines), "<example>", "exec"), self.space)
        self.cells.append(("\n".join(lines), ""))

    def look(self, line, name="y"):
        """One expression; of a sparse array also its elements, which its text leaves out."""
        value = eval(compile(line, "<example>", "eval"), self.space)
        if isinstance(value, nd.NDArray) and value.stype != "default":
            if not line.isidentifier():
                self.cells.append((f"{name} = {line}", ""))
                self.space[name], line = value, name
            self.cells += [(line, show(value)), (f"{line}.asnumpy()", show(value.asnumpy()))]
        else:
            self.cells.append((line, show(value)))


def call_of(operator, spelled, example, names, kinds):
    variadic = any(one["variadic"] for one in operator["arguments"] if one["role"] != "output")
    given = names if variadic or len(names) < 3 else [f"{n}={n}" for n in names]
    params = [f"{name}={value_text(text, kinds.get(name, ''))}" for name, text in example["params"].items()]
    return f"{spelled}({', '.join([*given, *params])})"


def attempt(operator, spelled, example):
    """The cells of an example; raises what the call raises."""
    kinds = {param["name"]: param["kind"] for param in operator["params"]}
    names = [one["name"] + "_" * keyword.iskeyword(one["name"]) for one in example["inputs"]]
    lines = [input_text(sample, name, operator["types"], salt) for salt, (sample, name) in enumerate(zip(example["inputs"], names))]
    call = call_of(operator, spelled, example, names, kinds)
    session = Session()
    if any("nd.random" in line for line in (*lines, call)) or re.search("random|dropout", operator["name"].lower() + operator["doc"].lower()):
        lines.insert(0, "mx.random.seed(1)")
    mx.random.seed(1)
    if lines:
        session.do(*lines)
    session.look(call)
    roles = {one["name"]: one["role"] for one in operator["arguments"]}
    for name in names:
        if roles.get(name) == "written":
            session.look(name)
    if operator["gradient"] not in ("none", "zero") and names and "float32" in operator["types"] and session.space[names[0]].size <= 2 * LARGEST_LITERAL:
        add_gradient(session, call, names[0])
    return session.cells


def add_gradient(session, call, name):
    """The gradient of the first input, where the call can be recorded and has one result."""
    before = list(session.cells)
    try:
        session.do(f"{name}.attach_grad()", "with autograd.record():", f"    y = {call}", "y.backward()")
        session.look(f"{name}.grad", "gradient")
    except Exception:  # noqa: BLE001  pylint: disable=broad-except  (a call of several results, or of none to differentiate)
        session.cells[:] = before


def example_of(operator, spelled):
    """[(lines, output)] of the operator's example; empty where no row says how it is called."""
    example = operator["example"]
    if example is None:
        return []
    with np.printoptions(precision=4, suppress=True, threshold=64, edgeitems=2, linewidth=88), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for one in (smaller(example), example):
            if one is None:
                continue
            try:
                return attempt(operator, spelled, one)
            except mx.Error:
                if one is example:
                    raise
    return []
