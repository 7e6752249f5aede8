"""Probability that moves: what is rejected leaves its token and fills others up to the target.

The page is a drawing and a style sheet. It ends with the two masses of every token, which is also
what paper and readers without motion get.
"""

import html
from pathlib import Path

import numpy as np

from specdec_lib.lessons.common.style import in_both_themes
from specdec_lib.lessons.common.wording import TOKENS

WIDTH, UNIT, FLOOR, STEP = 64, 420, 240, 130  # pixels: a bar, probability 1, the floor, a column
SHEET = Path(__file__).parent / "transport.css"
KEY = (
    "Filled: accepted. Dashed: rejected, and on the move. Outlined: written by the correction. "
    "Black line: the target p."
)


def page(kept: np.ndarray, into: np.ndarray, p: np.ndarray, q: np.ndarray, words: str) -> str:
    """The masses (V,) of acceptance and correction, from the draft's bars to the target's lines."""
    rejected = np.maximum(q - kept, 0)
    share = rejected / rejected.sum() if rejected.any() else np.eye(len(p))[0]
    moved = np.outer(share, np.maximum(into, 0))  # from each token (row) to each other
    high, stacks = np.maximum(kept, 0), ""
    starts, ends = high.copy(), high.copy()
    for i, j in np.argwhere(moved > 1e-12):
        x, y = STEP * (i - j), UNIT * (ends[j] - starts[i])  # from where it ends to where it begins
        box = _box(j, ends[j], moved[i, j])
        stacks += f'<g class="part" style="--x:{x}px; --y:{y:.1f}px">'
        stacks += f'<rect class="into" {box}/><rect class="from" {box}/></g>'
        starts[i], ends[j] = starts[i] + moved[i, j], ends[j] + moved[i, j]
    columns = "".join(
        _column(*each) for each in zip(range(len(p)), high, kept, into, p, strict=True)
    )
    style = in_both_themes(".sd-moved") + SHEET.read_text(encoding="utf-8")
    return (
        f'<div class="sd-moved"><style>{style}</style>'
        '<input class="again" type="checkbox" id="sd-moved" aria-label="Move it again">'
        '<label for="sd-moved">Move it again</label>'
        f'<svg viewBox="0 0 {STEP * len(p)} {FLOOR + 60}" role="img" '
        f'aria-label="{html.escape(words)}">{columns}{stacks}</svg><p>{KEY}</p></div>'
    )


def _box(column: int, low: float, mass: float) -> str:
    """The place of a mass in its column, above the mass `low`."""
    x, y = STEP * (column + 0.5) - WIDTH / 2, FLOOR - UNIT * (low + mass)
    return f'x="{x}" y="{y:.1f}" width="{WIDTH}" height="{UNIT * mass:.1f}"'


def _column(column: int, high: float, kept: float, into: float, line: float) -> str:
    """What stands still of a token: the accepted mass, its name and sum, and the target's line."""
    middle, y = STEP * (column + 0.5), FLOOR - UNIT * line
    return (
        f'<rect class="kept" {_box(column, 0, high)}/>'
        f'<path class="line" d="M{middle - 45} {y:.1f}h90"/>'
        f'<text x="{middle}" y="{FLOOR + 20}">{TOKENS[column]}</text>'
        f'<text class="sum" x="{middle}" y="{FLOOR + 42}">'
        f"{kept:.2f} + {into:.2f} = {kept + into:.2f}</text>"
    )
