# SPDX-License-Identifier: Apache-2.0
"""The inputs of a case as NumPy's arrays, with the elements that bench/operators.cpp gives them; and whether values of a
peer are those of ours."""
import os
import pathlib

import numpy as np

from .table import APART, HEAD, SAMPLES, size_of

TYPES = {"f16": "f2", "f32": "f4", "f64": "f8", "u8": "u1", "i8": "i1", "i32": "i4", "i64": "i8"}
LOOSE = {"f2": 2e-2, "f4": 2e-3, "f8": 1e-6}
made = np.empty(0, "f4")


def uniform(n, number):
    """Of input `number` the numbers from 0 to 1 that its elements follow from."""
    global made
    begin = number * APART
    if begin + n > len(made):
        h = np.arange(max(begin + n, 1 << 22), dtype="u4") * np.uint32(0x9E3779B9)
        h = (h ^ h >> 16) * np.uint32(0x85EBCA6B)
        h = (h ^ h >> 13) * np.uint32(0xC2B2AE35)
        made = ((h ^ h >> 16) >> 8).astype("f4") / np.float32(1 << 24)
    return made[begin:begin + n].astype("f8")


def matrices(one, number):
    n = one.shape[-1]
    u = uniform(size_of(one), number).reshape(-1, n, n)
    low = np.tril(u)
    u = low + np.tril(u, -1).transpose(0, 2, 1)
    if one.kind == "symmetric":
        return 2 * u - 1
    u = np.where(np.eye(n, dtype=bool), 1 + u / n, (u - 0.5) / n)
    return np.tril(u) if one.kind == "lower" else u


def array(one, number):
    dtype = TYPES[one.dtype]
    if one.kind not in ("any", "whole"):
        return matrices(one, number).astype(dtype).reshape(one.shape)
    x = one.low + (one.high - one.low) * uniform(size_of(one), number)
    return (np.floor(x) if one.kind == "whole" or dtype[0] in "iu" else x).astype(dtype).reshape(one.shape)


def head_of(shape, dtype):
    """The gradient that a result of this shape is given."""
    return (0.5 + uniform(int(np.prod(shape)), HEAD)).astype(dtype).reshape(shape)


def wanted(name):
    """Whether STROP_BENCH_ONLY, a text that names of cases have, leaves it in."""
    return os.environ.get("STROP_BENCH_ONLY", "") in name


class Found:
    """What our program found, and whether a peer finds the same."""

    def __init__(self):
        self.ours, self.differ, self.same = {}, [], 0
        path = pathlib.Path(os.environ["STROP_BENCH_DATA"]) / "operators-found.txt"
        for line in path.read_text().splitlines() if path.exists() else []:
            name, what, size, *values = line.split("\t")
            self.ours[name, what] = int(size), np.array(values, "f8")

    def compare(self, name, what, values, dtype="f4"):
        """`values` has as many elements as ours, of which some are compared; of results that come in another order (equal
        elements were sorted) one in a hundred may differ."""
        if (name, what) not in self.ours:
            return
        size, ours = self.ours[name, what]
        values = np.asarray(values).reshape(-1)
        if values.size != size:
            self.differ.append(f"{name}, {what}: {values.size} elements, ours has {size}")
            return
        at = np.arange(size) if size <= SAMPLES else np.arange(SAMPLES) * size // SAMPLES
        theirs = values[at].astype("f8")
        loose = LOOSE.get(dtype, LOOSE["f4"])
        finite = ours[np.isfinite(ours)]
        scale = np.abs(finite).max() if finite.size else 0.0
        with np.errstate(invalid="ignore"):
            apart = ~((ours == theirs) | (np.abs(ours - theirs) <= loose * (np.abs(ours) + 0.1 * scale)) | (np.isnan(ours) & np.isnan(theirs)))
        if apart.sum() > 0.01 * len(apart):
            first = int(np.argmax(apart))
            self.differ.append(f"{name}, {what}: {apart.sum()} of {len(apart)} samples, the first {ours[first]:.7g} of ours, {theirs[first]:.7g}")
        else:
            self.same += 1

    def report(self, who):
        print(f"# {who}: {self.same} arrays have the values of ours, {len(self.differ)} have not")
        for line in self.differ:
            print(f"# {who} differs: {line}", flush=True)
