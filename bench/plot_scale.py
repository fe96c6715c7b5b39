#!/usr/bin/env python3
"""Draws what scale_bench prints: CPU time against the number of buffers, both by powers of ten.

Usage: plot_scale.py SCALE.csv SCALE.svg
"""

import csv
import math
import sys
from collections import defaultdict

WIDTH, HEIGHT = 860, 520
LEFT, RIGHT, TOP, BOTTOM = 84, 190, 56, 60
COLORS = ["#1b6ca8", "#d1495b", "#3c8d5a", "#e08e1b", "#6a4c93", "#555555"]


def read(path):
    series = defaultdict(list)
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            # What the clock calls nothing is drawn as its least step.
            series[row["planner"]].append((int(row["buffers"]), max(float(row["cpu_ms"]), 0.001)))
    return series


def label(power, unit):
    """10**power buffers, or milliseconds."""
    if unit == "buffers":
        return f"{10**power:,}"
    names = {-3: "1 µs", -2: "10 µs", -1: "100 µs", 0: "1 ms", 1: "10 ms", 2: "100 ms", 3: "1 s", 4: "10 s", 5: "100 s"}
    return names.get(power, f"1e{power} ms")


class Axis:
    def __init__(self, values, begin, end):
        self.low = math.floor(math.log10(min(values)))
        self.high = math.ceil(math.log10(max(values)))
        self.begin, self.end = begin, end

    def at(self, value):
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return self.begin + share * (self.end - self.begin)

    def powers(self):
        return range(self.low, self.high + 1)


def apart(places, least):
    """Moves labels so that each is at least so far below the one above it."""
    moved = {}
    last = -math.inf
    for name, y in sorted(places.items(), key=lambda item: item[1]):
        last = max(y, last + least)
        moved[name] = last
    return moved


def draw(series):
    points = [p for line in series.values() for p in line]
    x = Axis([p[0] for p in points], LEFT, WIDTH - RIGHT)
    y = Axis([p[1] for p in points], HEIGHT - BOTTOM, TOP)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        'font-family="DejaVu Sans, sans-serif" font-size="13" fill="#222">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        f'<text x="{LEFT}" y="28" font-size="16" font-weight="bold">Planning time against number of buffers</text>',
    ]
    for power in x.powers():
        at = x.at(10**power)
        out.append(f'<line x1="{at:.1f}" y1="{TOP}" x2="{at:.1f}" y2="{HEIGHT - BOTTOM}" stroke="#e4e4e4"/>')
        out.append(f'<text x="{at:.1f}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle">{label(power, "buffers")}</text>')
    for power in y.powers():
        at = y.at(10.0**power)
        out.append(f'<line x1="{LEFT}" y1="{at:.1f}" x2="{WIDTH - RIGHT}" y2="{at:.1f}" stroke="#e4e4e4"/>')
        out.append(f'<text x="{LEFT - 8}" y="{at + 4:.1f}" text-anchor="end">{label(power, "ms")}</text>')
    middle = (LEFT + WIDTH - RIGHT) / 2
    out.append(f'<text x="{middle:.1f}" y="{HEIGHT - 14}" text-anchor="middle">buffers</text>')
    out.append(f'<text x="{LEFT}" y="46" fill="#666">CPU time of one plan, one thread</text>')
    ends = apart({name: y.at(line[-1][1]) for name, line in series.items()}, 16)
    for color, (name, line) in zip(COLORS, series.items()):
        path = " ".join(f"{x.at(n):.1f},{y.at(ms):.1f}" for n, ms in line)
        out.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="2"/>')
        out += [f'<circle cx="{x.at(n):.1f}" cy="{y.at(ms):.1f}" r="3" fill="{color}"/>' for n, ms in line]
        out.append(f'<text x="{WIDTH - RIGHT + 12}" y="{ends[name] + 4:.1f}" fill="{color}">{name}</text>')
    out.append("</svg>")
    return "\n".join(out) + "\n"


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[2], "w", encoding="utf-8") as svg:
        svg.write(draw(read(sys.argv[1])))
