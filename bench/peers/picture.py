# SPDX-License-Identifier: Apache-2.0
"""A comparison as a picture: for every case how many times our time each peer takes; and, of cases whose names end in
`columns N`, their times over N. Of a question of many cases one row for every group, the worst first."""
import math
import re
from html import escape

COLOURS = ("#d1495b", "#e08e0b", "#5b8e3e", "#7a4fa3", "#2a7f8e", "#8a5a44")
OURS = "#1f4e9c"
ROW, LEFT, RIGHT, WIDTH = 15, 380, 90, 1040
SERIES = re.compile(r"^(.*), columns (\d+)$")


def text(x, y, words, anchor="start", colour="#333", size=11):
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}" font-size="{size}">'
            f"{escape(words)}</text>\n")


def line(x1, y1, x2, y2, colour="#ddd", width=1.0):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" stroke-width="{width}"/>\n'


def dot(x, y, colour):
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}" fill-opacity="0.85"/>\n'


def duration(nanoseconds):
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if nanoseconds >= size:
            return f"{nanoseconds / size:.3g} {unit}"
    return f"{nanoseconds:.3g} ns"


def scale(all_ratios, top, bottom):
    """Where a ratio stands, and the lines of the scale."""
    low = min(-1, math.floor(math.log2(min(all_ratios))))
    high = max(1, math.ceil(math.log2(max(all_ratios))))

    def x(ratio):
        return LEFT + (math.log2(ratio) - low) / (high - low) * (WIDTH - LEFT - RIGHT)

    out = ""
    for power in range(low, high + 1):
        out += line(x(2.0**power), top - 4, x(2.0**power), bottom, "#888" if power == 0 else "#e4e4e4", 1.5 if power == 0 else 1)
        out += text(x(2.0**power), top - 8, f"{2**power}x" if power >= 0 else f"1/{2**-power}x", "middle", "#666", 10)
    return x, out


def ratios(best, colours, top):
    """A row for each case."""
    # What a peer says in whole units may be 0, which has no place on a scale of ratios.
    best = {case: {who: t for who, t in times.items() if t > 0} for case, times in best.items()}
    all_ratios = [t / times["strop"] for times in best.values() for who, t in times.items() if who != "strop"]
    bottom = top + ROW * len(best)
    x, out = scale(all_ratios, top, bottom)
    for k, (case, times) in enumerate(best.items()):
        y = top + ROW * k + ROW / 2
        out += text(LEFT - 10, y + 4, case, "end") + text(WIDTH - RIGHT + 12, y + 4, duration(times["strop"]), "start", OURS)
        out += line(LEFT, y, WIDTH - RIGHT, y, "#f0f0f0")
        out += "".join(dot(x(t / times["strop"]), y, colours[who]) for who, t in times.items() if who != "strop")
    return out, bottom


def curves(title, series, colours, left, top, width, height):
    """Times over the number of columns, both on logarithmic axes. `series`: {who: [(columns, nanoseconds)]}."""
    points = [point for line_ in series.values() for point in line_]
    (x0, x1), (y0, y1) = ([math.log10(f(point[axis] for point in points)) for f in (min, max)] for axis in (0, 1))
    y0, y1 = math.floor(y0), math.ceil(y1)

    def at(point):
        return (left + (math.log10(point[0]) - x0) / max(x1 - x0, 1e-9) * width,
                top + height - (math.log10(point[1]) - y0) / max(y1 - y0, 1e-9) * height)

    out = text(left, top - 12, title)
    for power in range(y0, y1 + 1):
        y = at((1, 10.0**power))[1]
        out += line(left, y, left + width, y, "#e4e4e4") + text(left - 6, y + 4, duration(10.0**power), "end", "#666", 10)
    for columns in sorted({point[0] for point in points}):
        x = at((columns, 1))[0]
        out += line(x, top, x, top + height, "#e4e4e4") + text(x, top + height + 14, f"{columns:,}", "middle", "#666", 10)
    for who, points_of_one in series.items():
        places = [at(point) for point in sorted(points_of_one)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        out += f'<polyline points="{path}" fill="none" stroke="{colours[who]}" stroke-width="{3 if who == "strop" else 1.5}"/>\n'
        out += "".join(dot(x, y, colours[who]) for x, y in places)
    return out


def ranked(title, groups, note):
    """An SVG document of {group: [(ratio, whether it is backward)]}: a row for each, the one with the lowest ratio first. Its
    discs are forward, its rings backward; right of it stands the geometric mean."""
    order = sorted(groups, key=lambda group: min(groups[group])[0])
    top = 94
    bottom = top + ROW * len(order)
    x, rows = scale([ratio for found in groups.values() for ratio, _ in found], top, bottom)
    for k, group in enumerate(order):
        y = top + ROW * k + ROW / 2
        mean = math.exp(sum(math.log(ratio) for ratio, _ in groups[group]) / len(groups[group]))
        rows += text(LEFT - 10, y + 4, group, "end") + text(WIDTH - RIGHT + 12, y + 4, f"{mean:.2f}x", "start", OURS)
        rows += line(LEFT, y, WIDTH - RIGHT, y, "#f0f0f0")
        for ratio, backward in groups[group]:
            colour = COLOURS[0] if ratio < 1 else OURS
            fill = f'fill="none" stroke="{colour}" stroke-width="1.5"' if backward else f'fill="{colour}" fill-opacity="0.7"'
            rows += f'<circle cx="{x(ratio):.1f}" cy="{y:.1f}" r="3.5" {fill}/>\n'
    out = text(20, 26, title, size=15) + text(20, 50, note)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {bottom + 20}" font-family="sans-serif">\n'
            f'<rect width="{WIDTH}" height="{bottom + 20}" fill="white"/>\n{out}{rows}</svg>\n')


def picture(title, best, peers):
    """An SVG document of {case: {who: nanoseconds}}."""
    colours = {"strop": OURS, **{who: COLOURS[k % len(COLOURS)] for k, who in enumerate(peers)}}
    single = {case: times for case, times in best.items() if not SERIES.match(case)}
    series = {}
    for case, times in best.items():
        if found := SERIES.match(case):
            for who, nanoseconds in times.items():
                series.setdefault(found[1], {}).setdefault(who, []).append((int(found[2]), nanoseconds))
    out = text(20, 26, title, size=15)
    x = 20
    for who in colours:
        out += dot(x + 5, 46, colours[who]) + text(x + 14, 50, who)
        x += 30 + 8 * len(who)
    bottom = 60
    if single:
        out += text(LEFT, 66, "How many times our time the others take; right: our time. Right of the line we are faster.")
        drawn, bottom = ratios(single, colours, 94)
        out += drawn
    height = bottom + 20
    charts = list(series.items())
    for k in range(0, len(charts), 2):
        for column, (name, of_name) in enumerate(charts[k:k + 2]):
            out += curves(f"{name}: time over the number of columns", of_name, colours, 80 + 500 * column, height + 40, 400, 220)
        height += 310
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif">\n'
            f'<rect width="{WIDTH}" height="{height}" fill="white"/>\n{out}</svg>\n')
