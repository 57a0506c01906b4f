# SPDX-License-Identifier: Apache-2.0
"""Examples of operators: programs that are made of the rows which check them, and what they print when they run. The
documents of operators end with them, and the pages of the reference show them."""
import ast
import keyword
import re
import threading

import numpy as np

import strop as mx

from . import _register, _strop, autograd, nd
from .context import Context

LARGEST_LITERAL = 16  # elements; larger arrays are drawn
SEED = 1  # of what is drawn
PLACES = ("", "contrib", "linalg", "image", "sparse", "random", "_internal")
# (inputs, a line that makes them, the call) of operators whose inputs are of several types, which no row says.
OWN = {
    "_contrib_dequantize": (["data"], 'data = nd.array([-127, 0, 64], dtype="int8")', "{}(data, nd.array([-1]), nd.array([1]))"),
    "_contrib_requantize": (["data"], 'data = nd.array([-2147483647, 0, 1073741824], dtype="int32")', "{}(data, nd.array([-1]), nd.array([1]))"),
}
_found = {}  # {(operator, how a program spells it): (session, shapes)} of examples that ran
_running = threading.RLock()  # one example at a time, each once


def names_of(about):
    """All names of an operator, its own first."""
    names = dict.fromkeys((about["name"], about["snake"], *about["aliases"]))
    return [name for name in names if _strop.Operator(name, name, False).description["name"] == about["name"]]  # crop is slice, not Crop


def spelling(about):
    """(how a program spells the operator, its object): nd.clip, nd.contrib.quadratic. The plainest name first; None where no
    module has the operator."""
    names = sorted(names_of(about), key=lambda name: (not name.islower(), name.startswith("_")))
    found = []
    for name in names:
        where = _register.place(name)
        if where is None:
            continue
        module = getattr(nd, where[0]) if where[0] else nd
        made = getattr(module, where[1], None)
        if type(made) is _strop.Operator and made.description["name"] == about["name"]:
            found.append((PLACES.index(where[0]) if where[0] in PLACES else 1, ".".join(("nd", *where[:1] * bool(where[0]), where[1])), made))
    return min(found, key=lambda one: one[0])[1:] if found else None


def spelling_as(operator, about):
    """The same, by the name that this object has where a module has it by that name."""
    place = operator.__module__.rpartition(".")[2]
    module = nd if place == "op" else getattr(nd, place, None)
    made = getattr(module, operator.__name__, None)
    if type(made) is _strop.Operator and made.description["name"] == about["name"]:
        return ".".join(("nd", *[place] * (place != "op"), operator.__name__)), made
    return spelling(about)


def value_text(text, kind):
    """The value of a parameter as a program writes it."""
    if kind in ("boolean", "integer", "real", "shape", "axes", "bounds", "numbers"):
        if text in ("inf", "-inf", "nan"):
            return f'float("{text}")'
        try:
            return repr(ast.literal_eval(text))
        except (ValueError, SyntaxError):
            pass
    return repr(text)


def smaller(example):
    """The same example with fewer elements: long extents are replaced, everywhere alike. None where there are none, or
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
    """What an interactive session prints of a result, its numbers to four places. The options of NumPy, which all threads
    share, stay as they are."""
    shown = repr(value).strip("\n")
    if value.stype != "default" or value.ndim == 0:
        return shown
    elements = np.array2string(value.asnumpy(), precision=4, suppress_small=True, threshold=64, edgeitems=2, max_line_width=88)
    return f"{elements}\n{shown[shown.rindex('<'):]}"


class Session:
    """Runs lines of a program, and keeps them with what they show: [(lines, output)]."""

    def __init__(self):
        self.space = {"mx": mx, "nd": nd, "autograd": autograd}
        self.cells = []

    def do(self, *lines):
        exec(compile("\n".join(lines), "<example>", "exec"), self.space)
        self.cells.append(("\n".join(lines), ""))

    def look(self, line, name="y"):
        """One expression, and its arrays; of a sparse one also its elements, which its text leaves out."""
        value = eval(compile(line, "<example>", "eval"), self.space)
        several = isinstance(value, list)
        sparse = not several and value.stype != "default"
        if (several or sparse) and not re.fullmatch(r"\w+(\[\d+\])?", line):
            self.cells.append((f"{name} = {line}", ""))
            self.space[name], line = value, name
        if several:
            for i in range(len(value)):
                self.look(f"{line}[{i}]")
        else:
            self.cells.append((line, show(value)))
        if sparse:
            self.look(f'{line}.tostype("default")')
        return value

    def text(self):
        """The lines of the session with their prompts."""
        lines = []
        for program, output in self.cells:
            lines += [f"... {line}" if line.startswith(" ") else f">>> {line}" for line in program.split("\n")]
            lines += output.split("\n") if output else []
        return lines


def call_of(about, spelled, example, names, kinds):
    variadic = any(one["variadic"] for one in about["inputs"])
    given = names if variadic or len(names) < 3 else [f"{n}={n}" for n in names]
    params = [f"{name}={value_text(text, kinds.get(name, ''))}" for name, text in example["params"].items()]
    return f"{spelled}({', '.join([*given, *params])})"


def attempt(about, differentiable, spelled, example):
    """(the session of an example, the shapes of inputs and results); raises what the call raises."""
    kinds = {param["name"]: param["kind"] for param in about["params"]}
    if about["name"] in OWN:
        names, line, call = OWN[about["name"]]
        lines, call = [line], call.format(spelled)
    else:
        names = [one["name"] + "_" * keyword.iskeyword(one["name"]) for one in example["inputs"]]
        lines = [input_text(sample, name, about["dtypes"], salt) for salt, (sample, name) in enumerate(zip(example["inputs"], names))]
        call = call_of(about, spelled, example, names, kinds)
    session = Session()
    if lines:
        session.do(*lines)
    made = session.look(call)
    shapes = (", ".join(f"{name} {session.space[name].shape}" for name in names), ", ".join(str(one.shape) for one in (made if isinstance(made, list) else [made])))
    written = {one["name"] for one in about["inputs"] if one["written"]}
    for name in names:
        if name in written:
            session.look(name)
    if differentiable and names and "float32" in about["dtypes"] and session.space[names[0]].size <= 2 * LARGEST_LITERAL:
        add_gradient(session, call, names[0])
    return session, shapes


def add_gradient(session, call, name):
    """The gradient of the first input, where the call can be recorded and has one result. Where the results add up to
    the same whatever the input is, their sum has a gradient of zeros, and says nothing: then each result counts
    differently."""
    before = list(session.cells)
    for heads in ("", "nd.arange(y.size).reshape(y.shape)"):
        session.cells[:] = before
        try:
            session.do(f"{name}.attach_grad()", "with autograd.record():", f"    y = {call}", f"y.backward({heads})")
            gradient = session.look(f"{name}.grad", "gradient")
        except Exception:  # noqa: BLE001  pylint: disable=broad-except  (a call of several results, or of none to differentiate)
            session.cells[:] = before
            return
        if np.abs(gradient.asnumpy()).max(initial=0) > 1e-4:
            return


def example_of(operator, spelled):
    """(session, shapes) of the operator's example, which runs when it is asked for first; None where no row says how it is
    called. The program's random numbers, what it records and its context stay as they are."""
    about, card = operator.description, operator.card
    example = card["example"]
    if example is None:
        return None
    key = about["name"], spelled
    with _running:
        if key not in _found:
            with _strop.Scope(False, False), Context("cpu", 0):
                _found[key] = _run(about, card["gradient"] not in ("none", "zero"), spelled, example)
        return _found[key]


def _run(about, differentiable, spelled, example):
    """The same of an example that has not run, with fewer elements where that works."""
    for one in filter(None, (smaller(example), example)):
        try:
            (session, shapes), drew = _strop.with_own_numbers(SEED, lambda made=one: attempt(about, differentiable, spelled, made))
            break
        except _strop.Error:
            if one is example:
                raise
    if drew:
        session.cells.insert(0, (f"mx.random.seed({SEED})", ""))
    session.space.clear()  # its arrays
    return session, shapes
