# SPDX-License-Identifier: Apache-2.0
"""Pictures of maps: the function and its derivative, both as the operator computes them, as inline SVG."""
import html
import math

import numpy as np

from strop import autograd, nd

POINTS = 481
WIDTH, HEIGHT = 640, 320
LEFT, RIGHT, TOP, BOTTOM = 52, 12, 12, 30
WIDEST = 3.0  # the interval that is tried: from -3 to 3


def curve_of(operator, function, params):
    """(x, y, dy or None, what the other inputs are) of a map, where its results are finite."""
    samples = operator["example"]["inputs"]
    dtype = "float64" if "float64" in operator["types"] else "float32"
    x = np.linspace(-WIDEST, WIDEST, POINTS)
    first = nd.array(x, dtype=dtype)
    others = {one["name"]: round((one["low"] + one["high"]) / 2, 1) for one in samples[1:]}
    rest = [nd.full((POINTS,), value, dtype=dtype) for value in others.values()]
    differentiable = operator["gradient"] != "none"
    if differentiable:
        first.attach_grad()
    with autograd.record():
        y = function(first, *rest, **params)
    y = y[0] if isinstance(y, list) else y
    dy = None
    if differentiable:
        y.backward()
        dy = first.grad.asnumpy().astype(float)
    y = y.asnumpy().astype(float)
    finite = np.isfinite(y)
    if finite.sum() < 2:
        return None
    begin, end = np.flatnonzero(finite)[[0, -1]]
    part = slice(begin, end + 1)
    return x[part], y[part], None if dy is None else dy[part], others


def ticks(low, high, most=6):
    """Round numbers from low to high."""
    rough = (high - low) / most
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(unit * k for k in (1, 2, 5, 10) if unit * k >= rough)
    first = math.ceil(low / step - 1e-9)
    return [k * step for k in range(first, math.floor(high / step + 1e-9) + 1)]


def limits(y, dy):
    """The interval of values that shows the function, without the last of what runs off to a pole, and as much of its
    derivative as leaves room for it."""
    def inner(values, most):
        values = values[np.isfinite(values)]
        low, high = np.quantile(values, [0.08, 0.92])
        room = max(high - low, 1.25)
        return max(values.min(), low - most * room), min(values.max(), high + most * room)

    low, high = inner(y, 0.8)
    if dy is not None and np.isfinite(dy).any():
        room = max(high - low, 1.0)
        lowest, highest = inner(dy, 0.3)
        low, high = min(low, max(lowest, low - room / 2)), max(high, min(highest, high + room / 2))
    low, high = min(low, 0.0), max(high, 0.0)
    if high - low < 1e-3:
        low, high = low - 1, high + 1
    return low - 0.06 * (high - low), high + 0.06 * (high - low)


def pieces(x, y, low, high):
    """Runs of points without a jump: where the values step much further than before and after, or out of the picture
    and in again."""
    room = high - low
    with np.errstate(invalid="ignore"):  # from one infinity to another
        steps = np.abs(np.diff(y, prepend=y[0], append=y[-1]))
    run = []
    for i, (at, value) in enumerate(zip(x, y)):
        shown = np.isfinite(value) and low - room <= value <= high + room
        around = [step for step in (steps[i - 1] if i else 0, steps[i + 1]) if np.isfinite(step)]
        jumps = run and shown and (steps[i] > 4 * max(around, default=0) + 0.03 * room or steps[i] > room)
        if run and (jumps or not shown):
            yield run
            run = []
        if shown:
            run.append((at, value))
    if run:
        yield run


def label(value):
    return f"{value:.6g}".replace("-", "−")


def svg_of(name, curve):
    """The picture: f solid, its derivative dashed."""
    x, y, dy, _ = curve
    low, high = limits(y, dy)

    def across(at):
        return LEFT + (at - x[0]) / (x[-1] - x[0]) * (WIDTH - LEFT - RIGHT)

    def down(value):
        return TOP + (high - value) / (high - low) * (HEIGHT - TOP - BOTTOM)

    what = "the function" if dy is None else "the function and its derivative"
    title = html.escape(f"{name}: {what} for inputs from {label(x[0])} to {label(x[-1])}")
    parts = [f'<svg class="plot" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{title}">'
             f'<clipPath id="area"><rect x="{LEFT}" y="{TOP}" width="{WIDTH - LEFT - RIGHT}" height="{HEIGHT - TOP - BOTTOM}"/></clipPath>']
    for at in ticks(x[0], x[-1]):
        kind = "axis" if abs(at) < 1e-9 else "grid"
        parts.append(f'<path class="{kind}" d="M{across(at):.1f} {TOP}V{HEIGHT - BOTTOM}"/><text x="{across(at):.1f}" y="{HEIGHT - 10}" text-anchor="middle">{label(at)}</text>')
    for value in ticks(low, high):
        kind = "axis" if abs(value) < 1e-9 else "grid"
        parts.append(f'<path class="{kind}" d="M{LEFT} {down(value):.1f}H{WIDTH - RIGHT}"/><text x="{LEFT - 6}" y="{down(value) + 4:.1f}" text-anchor="end">{label(value)}</text>')
    parts.append('<g clip-path="url(#area)">')
    for kind, values in [("function", y)] if dy is None else [("derivative", dy), ("function", y)]:
        path = "".join("M" + "L".join(f"{across(at):.1f} {down(value):.1f}" for at, value in run) for run in pieces(x, values, low, high))
        parts.append(f'<path class="{kind}" d="{path}"/>')
    parts.append("</g></svg>")
    return "".join(parts)


def plot_of(operator, function):
    """(svg, caption) of a map with floating results; None of what is none, or where nothing finite can be drawn."""
    example = operator["example"]
    if operator["kind"] != "map" or example is None or not example["inputs"] or not {"float32", "float64"} & set(operator["types"]):
        return None
    curve = curve_of(operator, function, example["params"])
    if curve is None:
        return None
    first = example["inputs"][0]["name"]
    settings = [*(f"{name} = {value}" for name, value in curve[3].items()), *(f"{name} = {text}" for name, text in example["params"].items())]
    caption = f"over {first}" + (f", with {', '.join(settings)}" if settings else "")
    return svg_of(operator["name"], curve), caption, curve[2] is not None
