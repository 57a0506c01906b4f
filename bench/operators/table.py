# SPDX-License-Identifier: Apache-2.0
"""The table of bench/operators.cpp and of its peers: of each operator what it is called with, and how PyTorch or NumPy spell
the same. The modules beside this one hold the rows. As a program it writes the cases into a file: table.py FILE

A row is `family(operator, inputs..., torch="torch.exp(a)", **parameters)`. The peers call their inputs a, b, c ... in the
order of the operator's. A row gives two cases where `grads` says of which inputs a gradient is asked: forward, and forward
with backward."""
import collections
import importlib
import math
import pathlib
import string
import sys

Input = collections.namedtuple("Input", "shape dtype kind low high")
Case = collections.namedtuple(
    "Case", "name family operator inputs params torch numpy ready grads loss leaves train into part compared")
CASES = []
# Operators that have no row, and why: what the report says of them.
WITHOUT = {}
MODULES = ("maps", "layers", "tensors", "linear", "losses", "updates", "draws", "images", "without")
# Where the numbers of input i begin among all those that inputs are made of; of head gradients as of the tenth input.
APART = 100003
HEAD = 9
BACKWARD = ", backward"  # behind the name of a case that is forward with backward
SAMPLES = 256
SMALL_IMAGES, LARGE_IMAGES = (4, 16, 28, 28), (16, 64, 56, 56)
SMALL_TABLE, LARGE_TABLE = (1000, 20), (100000, 40)
SMALL_SENTENCES, LARGE_SENTENCES = (4, 32, 256), (32, 128, 768)
IMAGES = {"images, small": SMALL_IMAGES, "images, large": LARGE_IMAGES}
TABLES = {"table, small": SMALL_TABLE, "table, large": LARGE_TABLE}
SENTENCES = {"sentences, small": SMALL_SENTENCES, "sentences, large": LARGE_SENTENCES}
ANY = {"small": SMALL_TABLE, "large": LARGE_IMAGES}  # where only the number of elements matters


def of(*shape, low=-1.0, high=1.0, dtype="f32"):
    """Numbers between low and high; of a type of whole numbers from low to high - 1."""
    return Input(shape, dtype, "any", low, high)


def places(n, *shape, dtype="i64"):
    """Whole numbers from 0 to n - 1."""
    return Input(shape, dtype, "whole", 0, n)


def constant(value, *shape, dtype="f32"):
    return Input(shape, dtype, "any", value, value)


def definite(*shape):
    """Symmetric matrices, positive definite, whose determinants are no large numbers."""
    return Input(shape, "f32", "definite", 0, 1)


def symmetric(*shape):
    return Input(shape, "f32", "symmetric", -1, 1)


def lower(*shape):
    """Their lower triangles."""
    return Input(shape, "f32", "lower", 0, 1)


def family(name):
    """What adds rows to a family."""
    def row(operator, *inputs, what="", torch=None, numpy=None, ready=None, grads=(), loss=None, leaves=None, train=False, into=None, part=(), compared=True, **params):
        """`ready`: {name: expression} that a peer evaluates before; `loss`: what a peer's backward begins at, where our operator
        is the head of a loss; `leaves`: of what the peer asks gradients, where that are not its inputs; `into`: the input that
        the result is written to; `part`: inputs of which only as much is read as the result has; `compared`: whether the values
        are those of the peer."""
        case = Case(f"{operator}, {what}" if what else operator, name, operator, inputs, params, torch, numpy, ready or {}, tuple(grads), loss, leaves, train, into, tuple(part), compared)
        CASES.append(case)
    return row


def without(reason, names):
    WITHOUT.update(dict.fromkeys(names.split(), reason))


def parameter(value):
    return "None" if value is None else str(value)


def size_of(one):
    return math.prod(one.shape)


def letters(inputs):
    return string.ascii_lowercase[:len(inputs)]


def lines():
    """What bench/operators.cpp reads: a line for every row, then one for every operator that has none."""
    for case in CASES:
        inputs = ";".join(f"{x.dtype}:{x.kind}:{x.low}:{x.high}:{','.join(map(str, x.shape))}" for x in case.inputs)
        params = "|".join(f"{name}={parameter(value)}" for name, value in case.params.items())
        yield "\t".join((case.name, case.operator, inputs, params, ",".join(map(str, case.grads)), "" if case.into is None else str(case.into),
                         ",".join(map(str, case.part)), ("train " if case.train else "") + ("loss" if case.loss else "")))
    for name, reason in WITHOUT.items():
        yield f"-\t{name}\t{reason}"


def load():
    """Reads the modules with the rows."""
    if not CASES:
        for module in MODULES:
            importlib.import_module(f"operators.{module}")
        names = [case.name for case in CASES]
        twice = {name for name in names if names.count(name) > 1}
        assert not twice, f"two rows are called {', '.join(sorted(twice))}"
    return CASES


if __name__ == "__main__":
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
    from operators import table
    table.load()
    pathlib.Path(sys.argv[1]).write_text("".join(line + "\n" for line in table.lines()))
