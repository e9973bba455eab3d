# SPDX-License-Identifier: BSD-3-Clause
"""Charts as SVG text: horizontal bars, and lines over a logarithmic axis."""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape

WIDTH = 860
COLOURS = ["#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf", "#8c564b", "#7f7f7f",
           "#bcbd22", "#e377c2"]
DASHES = ["", "6 3", "2 3"]


class Canvas:
    """Collects shapes; y grows downward."""

    def __init__(self, width: float, height: float, title: str) -> None:
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
            f'width="{width:g}" height="{height:g}" font-family="sans-serif" font-size="13">',
            f"<title>{escape(title)}</title>",
            f'<rect width="{width:g}" height="{height:g}" fill="#ffffff"/>',
        ]
        self.text(12, 22, title, size=15, bold=True)

    def text(self, x: float, y: float, text: str, anchor: str = "start", size: int = 13,
             bold: bool = False, colour: str = "#222222") -> None:
        weight = ' font-weight="bold"' if bold else ""
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" '
                          f'font-size="{size}" fill="{colour}"{weight}>{escape(text)}</text>')

    def line(self, x1: float, y1: float, x2: float, y2: float, colour: str = "#cccccc",
             width: float = 1, dash: str = "") -> None:
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
                          f'stroke="{colour}" stroke-width="{width:g}"{dashes}/>')

    def bar(self, x: float, y: float, width: float, height: float, colour: str) -> None:
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" '
                          f'height="{height:.1f}" fill="{colour}"/>')

    def dot(self, x: float, y: float, colour: str) -> None:
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>')

    def finish(self) -> str:
        return "\n".join([*self.parts, "</svg>"]) + "\n"


@dataclass
class Bar:
    label: str
    value: float
    low: float  # whisker
    high: float


@dataclass
class Line:
    label: str
    points: list[tuple[float, float]]


def bar_chart(title: str, axis: str, bars: list[Bar], marks: dict[float, str]) -> str:
    """Horizontal bars from 0 with whiskers; `marks` are values with a vertical line."""
    left, right, top, step = 230, WIDTH - 80, 48, 24
    most = max([b.high for b in bars] + list(marks)) * 1.02
    height = top + step * len(bars) + 52
    canvas = Canvas(WIDTH, height, title)

    def x_of(value: float) -> float:
        return left + (right - left) * value / most

    bottom = top + step * len(bars)
    for tick in ticks(0, most):
        canvas.line(x_of(tick), top - 4, x_of(tick), bottom)
        canvas.text(x_of(tick), bottom + 16, f"{tick:g}", "middle")
    canvas.text((left + right) / 2, bottom + 38, axis, "middle")
    for i, bar in enumerate(bars):
        y = top + step * i
        canvas.text(left - 8, y + 16, bar.label, "end")
        canvas.bar(left, y + 3, x_of(bar.value) - left, step - 7, COLOURS[0])
        canvas.line(x_of(bar.low), y + step / 2, x_of(bar.high), y + step / 2, "#222222", 1.5)
        canvas.text(x_of(bar.high) + 6, y + 16, f"{bar.value:.2f}")
    for value, label in marks.items():
        canvas.line(x_of(value), top - 8, x_of(value), bottom, COLOURS[1], 1.5, DASHES[1])
        canvas.text(x_of(value), top - 10, label, "middle", 11, colour=COLOURS[1])
    return canvas.finish()


def line_chart(title: str, x_axis: str, y_axis: str, lines: list[Line], log_y: bool = False) -> str:
    """Lines over a logarithmic x axis; every x that occurs has a tick."""
    left, right, top, height = 70, WIDTH - 230, 50, 440
    bottom = height - 60
    canvas = Canvas(WIDTH, height, title)
    xs = sorted({x for line in lines for x, _ in line.points})
    ys = [y for line in lines for _, y in line.points]
    x_low, x_high = math.log(xs[0]), math.log(max(xs[-1], xs[0] * 1.01))
    if log_y:
        decades = (math.floor(math.log10(min(ys))), math.ceil(math.log10(max(ys)) + 1e-9))
        y_low, y_high = decades[0], max(decades[1], decades[0] + 1)
        y_ticks = [10.0**d * m for d in range(y_low, y_high) for m in (1, 2, 5)] + [10.0**y_high]
    else:
        y_low, y_high = 0, max(ys) * 1.05
        y_ticks = ticks(0, y_high)

    def x_of(x: float) -> float:
        return left + (right - left) * (math.log(x) - x_low) / (x_high - x_low)

    def y_of(y: float) -> float:
        position = math.log10(y) if log_y else y
        return bottom - (bottom - top) * (position - y_low) / (y_high - y_low)

    for x in xs:
        canvas.line(x_of(x), top, x_of(x), bottom)
        canvas.text(x_of(x), bottom + 18, short(x), "middle")
    for y in y_ticks:
        canvas.line(left, y_of(y), right, y_of(y))
        canvas.text(left - 8, y_of(y) + 4, f"{y:g}", "end")
    canvas.text((left + right) / 2, bottom + 42, x_axis, "middle")
    canvas.text(12, top - 10, y_axis)
    for i, line in enumerate(lines):
        colour, dash = COLOURS[i % len(COLOURS)], DASHES[i // len(COLOURS) % len(DASHES)]
        for (x1, y1), (x2, y2) in zip(line.points, line.points[1:]):
            canvas.line(x_of(x1), y_of(y1), x_of(x2), y_of(y2), colour, 2, dash)
        for x, y in line.points:
            canvas.dot(x_of(x), y_of(y), colour)
        canvas.line(right + 14, top + 8 + 20 * i, right + 38, top + 8 + 20 * i, colour, 2, dash)
        canvas.text(right + 44, top + 12 + 20 * i, line.label)
    return canvas.finish()


def ticks(low: float, high: float) -> list[float]:
    """About six round values."""
    raw = (high - low) / 6
    power = 10 ** math.floor(math.log10(raw))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= raw)
    return [step * i for i in range(int(low / step), int(high / step) + 1)]


def short(value: float) -> str:
    for unit, name in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if value >= unit:
            return f"{value / (1e3 if name == 'k' else unit):g}{name}"
    return f"{value:g}"


@dataclass
class Group:
    """Bars of one thing under several series; None where there is nothing."""

    label: str
    values: list[float | None]


def grouped_log_bars(title: str, axis: str, series: list[str], groups: list[Group]) -> str:
    """Horizontal bars on a logarithmic axis, those of a group below each other."""
    left, right, top, thick = 200, WIDTH - 30, 76, 5
    step = thick * len(series) + 7
    height = top + step * len(groups) + 52
    canvas = Canvas(WIDTH, height, title)
    values = [v for group in groups for v in group.values if v is not None and v > 0]
    low = math.floor(math.log10(min(values)))
    high = max(math.ceil(math.log10(max(values))), low + 1)

    def x_of(value: float) -> float:
        return left + (right - left) * max(math.log10(value) - low, 0) / (high - low)

    for i, name in enumerate(series):
        x = 12 + (WIDTH - 24) / len(series) * i
        canvas.bar(x, 36, 12, 12, COLOURS[i % len(COLOURS)])
        canvas.text(x + 17, 47, name, size=12)
    bottom = top + step * len(groups)
    for decade in range(low, high + 1):
        canvas.line(x_of(10.0**decade), top - 4, x_of(10.0**decade), bottom)
        canvas.text(x_of(10.0**decade), bottom + 16, f"{10.0**decade:g}", "middle")
    canvas.text((left + right) / 2, bottom + 38, axis, "middle")
    for g, group in enumerate(groups):
        y = top + step * g
        canvas.text(left - 8, y + step / 2 + 2, group.label, "end", 12)
        for i, value in enumerate(group.values):
            if value is not None and value > 0:
                width = max(x_of(value) - left, 1)
                canvas.bar(left, y + thick * i, width, thick - 0.5, COLOURS[i % len(COLOURS)])
    return canvas.finish()


def curve_panels(title: str, x_axis: str, y_axis: str, panels: dict[str, list[Line]]) -> str:
    """Lines over a linear axis, one panel below the other with scales of their own; what a panel's
    98th percentile leaves out is cut off at its edge."""
    left, right, top, tall = 80, WIDTH - 120, 56, 190
    canvas = Canvas(WIDTH, top + (tall + 44) * len(panels) + 24, title)
    xs = [x for lines in panels.values() for line in lines for x, _ in line.points]
    x_low, x_high = min(xs), max(max(xs), min(xs) + 1e-9)

    def x_of(x: float) -> float:
        return left + (right - left) * (x - x_low) / (x_high - x_low)

    for p, (name, lines) in enumerate(panels.items()):
        head = top + (tall + 44) * p
        sizes = sorted(abs(y) for line in lines for _, y in line.points)
        most = max(sizes[int(0.98 * (len(sizes) - 1))] * 1.1, 1e-6)

        def y_of(y: float, head: float = head, most: float = most) -> float:
            return head + tall / 2 - tall / 2 * max(-1.0, min(1.0, y / most))

        canvas.text(left, head - 6, name, bold=True)
        canvas.text(right, head - 6, y_axis, "end", 11)
        for tick in ticks(0, most):
            for y in {tick, -tick}:
                canvas.line(left, y_of(y), right, y_of(y))
                canvas.text(left - 8, y_of(y) + 4, f"{y:g}", "end", 11)
        for i, line in enumerate(lines):
            colour, dash = COLOURS[i % len(COLOURS)], DASHES[i // len(COLOURS) % len(DASHES)]
            for (x1, y1), (x2, y2) in zip(line.points, line.points[1:]):
                canvas.line(x_of(x1), y_of(y1), x_of(x2), y_of(y2), colour, 1.5, dash)
            if p == 0:
                canvas.line(right + 14, head + 8 + 18 * i, right + 34, head + 8 + 18 * i, colour, 2,
                            dash)
                canvas.text(right + 40, head + 12 + 18 * i, line.label, size=12)
    bottom = top + (tall + 44) * len(panels) - 44
    for tick in ticks(x_low, x_high):
        if x_low <= tick <= x_high:
            canvas.text(x_of(tick), bottom + 16, f"{tick:g}", "middle")
    canvas.text((left + right) / 2, bottom + 36, x_axis, "middle")
    return canvas.finish()
