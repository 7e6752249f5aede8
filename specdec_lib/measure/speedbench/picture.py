"""The curve as a picture: throughput over latency, and the speed-up over the batch, as SVG."""

import math
from collections.abc import Iterable, Sequence
from html import escape
from statistics import geometric_mean

from specdec_lib.measure.speedbench.serving import Row

WIDE, HIGH = 900, 400
PANEL, TOP, FLOOR = 330, 50, 300  # width of a panel; the heights of its upper and its lower edge
LEFT = (70, 520)  # where the panels begin
COLOURS = ("#0072b2", "#a87900", "#00805c", "#c74a00")  # of the kinds; and shapes, for the same
SHAPES = ("circle", "square", "diamond", "triangle")
INK, PALE = "#222", "#dcdce2"

Point = tuple[float, float]


class Axis:
    """A logarithmic axis from `low` to `high`, drawn from `start` to `end`."""

    def __init__(self, values: Iterable[float], start: float, end: float, room: float) -> None:
        each = list(values)
        self.low, self.high = min(each) / room, max(each) * room
        self.start, self.end = start, end

    def at(self, value: float) -> float:
        """The place of a value."""
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return self.start + share * (self.end - self.start)

    def ticks(self, candidates: Iterable[float]) -> list[float]:
        """Those candidates that lie on it."""
        return [value for value in candidates if self.low <= value <= self.high]


def picture(rows: Sequence[Row], title: str) -> str:
    """Both panels, and what they show in words."""
    parts = [*throughput(rows), *speedups(rows)]
    parts.append(text(LEFT[0] - 50, 20, title, "start", bold=True))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDE} {HIGH}" role="img" '
        f'font-family="sans-serif" font-size="12" fill="{INK}" '
        f'aria-label="{escape(in_words(rows))}">'
        f'<rect width="{WIDE}" height="{HIGH}" fill="white"/>{"".join(parts)}</svg>\n'
    )


def page(rows: Sequence[Row], title: str) -> str:
    """The picture as a part of a page; on a narrow one it is moved sideways and stays legible."""
    inner = (
        f'<div style="min-width:{WIDE * 3 // 4}px;max-width:{WIDE}px">{picture(rows, title)}</div>'
    )
    return f'<div style="overflow-x:auto" tabindex="0">{inner}</div>'


def in_words(rows: Sequence[Row]) -> str:
    """The alternative text: the numbers of both panels."""
    curve = [
        f"batch {batch}: plain {points[0][1]:.0f} tokens/s at {points[0][0]:.1f} ms, speculative "
        f"{points[1][1]:.0f} at {points[1][0]:.1f}"
        for batch, points in over_kinds(rows).items()
    ]
    ratios = [f"{row.kind}, batch {row.batch}: {row.speedup[0]:.2f}" for row in rows]
    return f"Throughput and latency. {'; '.join(curve)}. Speed-ups. {'; '.join(ratios)}."


def over_kinds(rows: Sequence[Row]) -> dict[int, tuple[Point, Point]]:
    """By batch (latency, throughput) of plain and of speculative decoding, mean of the kinds."""
    found = {}
    for batch in dict.fromkeys(row.batch for row in rows):
        own = [row for row in rows if row.batch == batch]
        plain = [(row.plain_ms, row.plain_tokens_a_second) for row in own]
        fast = [(row.ms, row.tokens_a_second) for row in own]
        found[batch] = tuple(
            tuple(map(geometric_mean, zip(*s, strict=True))) for s in (plain, fast)
        )
    return found


def throughput(rows: Sequence[Row]) -> list[str]:
    """The left panel: one line for plain and one for speculative decoding, marked by batch."""
    points = over_kinds(rows)
    both = [point for pair in points.values() for point in pair]
    x = Axis((point[0] for point in both), LEFT[0], LEFT[0] + PANEL, 1.15)
    y = Axis((point[1] for point in both), FLOOR, TOP, 1.25)
    parts = grid(x, y, "ms a token, of the median request", "tokens a second, all requests")
    looks = ((INK, "circle", "plain", -10), (COLOURS[0], "square", "speculative", 18))
    for i, (colour, shape, _, gap) in enumerate(looks):
        line = [(x.at(pair[i][0]), y.at(pair[i][1])) for pair in points.values()]
        parts.append(path(line, colour))
        for batch, at in zip(points, line, strict=True):
            parts += [mark(shape, at, colour), text(at[0], at[1] + gap, str(batch), "middle")]
    return parts + legend(LEFT[0], [look[:3] for look in looks])


def speedups(rows: Sequence[Row]) -> list[str]:
    """The right panel: the speed-up of each kind over the batch, with its interval."""
    kinds = list(dict.fromkeys(row.kind for row in rows))
    x = Axis((row.batch for row in rows), LEFT[1], LEFT[1] + PANEL, 1.25)
    y = Axis([1.0, *(end for row in rows for end in row.speedup)], FLOOR, TOP, 1.05)
    parts = grid(x, y, "requests in the batch", "times as fast as plain decoding")
    parts.append(path([(LEFT[1], y.at(1)), (LEFT[1] + PANEL, y.at(1))], INK))
    for i, kind in enumerate(kinds):
        own, aside = [row for row in rows if row.kind == kind], 5 * (i - (len(kinds) - 1) / 2)
        line = [(x.at(row.batch) + aside, y.at(row.speedup[0])) for row in own]
        parts.append(path(line, COLOURS[i]))
        for row, at in zip(own, line, strict=True):
            ends = [(at[0], y.at(end)) for end in row.speedup[1:]]
            parts += [path(ends, COLOURS[i]), mark(SHAPES[i], at, COLOURS[i])]
    return parts + legend(LEFT[1], list(zip(COLOURS, SHAPES, kinds, strict=False)))


def grid(x: Axis, y: Axis, below: str, above: str) -> list[str]:
    """Lines and numbers of both axes, and what they are."""
    steps = [n * 10.0**power for power in range(-2, 5) for n in (1, 2, 5)]
    fine = [0.1 * n for n in range(2, 40, 2)] if y.high / y.low < 6 else steps
    across = [2.0**n for n in range(10)] if "batch" in below else steps
    parts = [text(x.start, TOP - 12, above, "start"), text(x.end, FLOOR + 38, below, "end")]
    for value in y.ticks(fine):
        parts.append(path([(x.start, y.at(value)), (x.end, y.at(value))], PALE, 1))
        parts.append(text(x.start - 6, y.at(value) + 4, f"{value:,.4g}", "end"))
    for value in x.ticks(across):
        parts.append(text(x.at(value), FLOOR + 18, f"{value:,.4g}", "middle"))
    return parts


def legend(start: float, entries: Sequence[tuple[str, str, str]]) -> list[str]:
    """Marks and their names in a row under a panel."""
    parts, at = [], start + 8
    for colour, shape, name in entries:
        parts += [mark(shape, (at, FLOOR + 64), colour), text(at + 10, FLOOR + 68, name, "start")]
        at += 34 + 6.6 * len(name)
    return parts


def path(points: Sequence[Point], colour: str, width: float = 1.8) -> str:
    """A line through the points."""
    through = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline points="{through}" fill="none" stroke="{colour}" stroke-width="{width}"/>'


def mark(shape: str, at: Point, colour: str) -> str:
    """A mark around a point."""
    x, y = at
    corners = {
        "square": [(-5, -5), (5, -5), (5, 5), (-5, 5)],
        "diamond": [(0, -6), (6, 0), (0, 6), (-6, 0)],
        "triangle": [(0, -6), (6, 5), (-6, 5)],
    }
    if shape not in corners:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{colour}"/>'
    around = " ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in corners[shape])
    return f'<polygon points="{around}" fill="{colour}"/>'


def text(x: float, y: float, words: str, anchor: str, bold: bool = False) -> str:
    """Words at a place."""
    look = ' font-weight="bold"' if bold else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{look}>{escape(words)}</text>'
