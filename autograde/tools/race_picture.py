"""Draw the README's race: `python -m autograde.tools.race_picture` writes two pictures of docs/.

The picture is the recorded race called "readme" (specdec_lib/measure/race), replayed at the speed
that it had by the picture's own style sheet. It needs no script, so it moves inside an <img> too.
It ends with both texts whole. Who wants no motion sees this end, from the other picture too: not
every browser tells a picture in an <img> what its reader wants.
"""

import sys
from collections.abc import Iterator
from html import escape
from typing import NamedTuple

from autograde.chapter import ROOT
from autograde.exits import exit_code
from autograde.files import write_if_changed
from specdec_lib.lessons.common.race import DARK, LIGHT
from specdec_lib.lessons.common.style import palette
from specdec_lib.measure.race.record import Lane, Race, recorded

PATH = ROOT / "docs" / "_static" / "race.svg"
STILL = PATH.with_name("race_still.svg")
# Pixels. At 400 pixels of width, as on a telephone, the letters are 10 pixels high.
WIDTH, MARGIN, LETTER, LINE, GAP = 480, 16, 7.2, 17, 26
COLUMNS = int((WIDTH - 2 * MARGIN) / LETTER)
LEAD = 1.0  # seconds before the start, so that the reader sees it
COLOURS = {"own": "target", "draft": "accepted"}  # by kind of piece: the role in the palette
RULES = """
text { font: 12px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: var(--ink); }
.name { font: 600 14px system-ui, "Segoe UI", Arial, sans-serif; }
.end { font: 600 17px system-ui, "Segoe UI", Arial, sans-serif; }
.note { font: 12px system-ui, "Segoe UI", Arial, sans-serif; fill: var(--soft); }
.paper { fill: var(--paper); stroke: var(--line); }
.track { fill: var(--line); }
.bar { fill: var(--ink); transform-box: fill-box; animation: run var(--t) linear %(lead)ss both; }
.prompt { fill: var(--soft); }
.own { fill: var(--own); }
.draft { fill: var(--draft); text-decoration: underline; }
.t { animation: show 1ms linear calc(var(--t) + %(lead)ss) both; }
@keyframes show { from { visibility: hidden; } to { visibility: visible; } }
@keyframes run { from { transform: scaleX(0); } to { transform: scaleX(1); } }
@media (prefers-reduced-motion: reduce) { .t, .bar { animation: none; } }
"""


class Written(NamedTuple):
    """A run of characters on one line of a text."""

    line: int
    column: int
    text: str
    kind: str
    moment: float  # seconds after the start


def main() -> int:
    """Write the pictures."""
    moving = picture(recorded("readme"))
    write_if_changed(PATH, moving.encode())
    write_if_changed(STILL, still(moving).encode())
    print(f"The pictures are made: {PATH}, {STILL.name}")
    return 0


def picture(race: Race) -> str:
    """The race as an SVG."""
    lines = [list(written(race, lane)) for lane in race.lanes]
    height = 1 + max(each.line for texts in lines for each in texts)
    lane_height = GAP + 14 + height * LINE
    tall = MARGIN + len(race.lanes) * (lane_height + 12) + 52
    lanes = "".join(
        f'<g transform="translate({MARGIN} {MARGIN + i * (lane_height + 12)})">'
        f"{_lane(race, lane, texts)}</g>"
        for i, (lane, texts) in enumerate(zip(race.lanes, lines, strict=True))
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {tall}" width="{WIDTH}" '
        f'height="{tall}" role="img">\n<title>{escape(words(race))}</title>\n'
        f"<style>{_style()}</style>\n"
        f'<rect class="paper" x="0.5" y="0.5" width="{WIDTH - 1}" height="{tall - 1}" rx="8"/>\n'
        f"{lanes}{_end(race, tall)}</svg>\n"
    )


def still(moving: str) -> str:
    """The end of a picture, without motion."""
    return moving.replace("</style>", ".t, .bar { animation: none; }\n</style>")


def words(race: Race) -> str:
    """What the picture shows, in a sentence: its alternative text."""
    plain, fast = race.lanes
    return (
        f"Two decoders write the same {len(plain.pieces[0])} tokens. {plain.name.capitalize()} "
        f"takes {plain.seconds:.2f} s and {len(plain.passes)} passes of the large model. "
        f"{fast.name.capitalize()} takes {fast.seconds:.2f} s and {len(fast.passes)} passes."
    )


def written(race: Race, lane: Lane) -> Iterator[Written]:
    """The first text of a lane in runs, each on one line, with the moment of its pass."""
    line = column = 0
    for text, kind, moment in _pieces(race, lane):
        for i, part in enumerate(text.split("\n")):
            if i:
                line, column = line + 1, 0
            while part:
                if column == COLUMNS:
                    line, column = line + 1, 0
                now, part = part[: COLUMNS - column], part[COLUMNS - column :]
                if now.strip():
                    blanks = len(now) - len(now.lstrip())
                    yield Written(line, column + blanks, now.strip(), kind, moment)
                column += len(now)


def _pieces(race: Race, lane: Lane) -> Iterator[tuple[str, str, float]]:
    yield race.prompts[0].lstrip(), "prompt", 0.0
    for each in lane.texts[0]:
        *drafted, last = each.pieces
        yield "".join(drafted), "draft", each.ends
        yield last, "own", each.ends


def _lane(race: Race, lane: Lane, texts: list[Written]) -> str:
    """A name, a bar that takes as long as the lane, the time, the passes, and the text."""
    inside, timed = WIDTH - 2 * MARGIN, f'style="--t:{lane.seconds:.3f}s"'
    score = f"{lane.seconds:.2f} s, {len(lane.passes)} passes"
    head = (
        f'<text class="name" y="13">{escape(lane.name)}</text>'
        f'<text class="name t" x="{inside}" y="13" text-anchor="end" {timed}>{score}</text>'
        f'<rect class="track" y="21" width="{inside}" height="4" rx="2"/>'
        f'<rect class="bar" y="21" width="{inside}" height="4" rx="2" {timed}/>\n'
    )
    return head + "\n".join(map(_run, texts))


def _run(run: Written) -> str:
    x, y = run.column * LETTER, GAP + 14 + run.line * LINE
    moment = f' t" style="--t:{run.moment:.3f}s' if run.moment else ""
    return (
        f'<text class="{run.kind}{moment}" x="{x:.1f}" y="{y}" '
        f'textLength="{len(run.text) * LETTER:.1f}">{escape(run.text)}</text>'
    )


def _end(race: Race, tall: int) -> str:
    plain, fast = race.lanes
    same = "the same text" if race.same(fast) else "another text"
    ratio = f"{race.ratio(fast):.2f} times as fast, {same}"
    return (
        f'<text class="end t" x="{MARGIN}" y="{tall - 38}" style="--t:{plain.seconds:.3f}s">'
        f"{ratio}</text>\n"
        f'<text class="note" x="{MARGIN}" y="{tall - 16}">Blue: written by the large model. '
        "Green, underlined: drafted, accepted.</text>\n"
    )


def _style() -> str:
    light, dark = (
        " ".join(
            f"--{name}: {colour};"
            for name, colour in (plain | {k: palette(theme)[v] for k, v in COLOURS.items()}).items()
        )
        for theme, plain in (("light", LIGHT), ("dark", DARK))
    )
    scheme = f"@media (prefers-color-scheme: dark) {{ svg {{ {dark} }} }}"
    return f"svg {{ {light} }}\n{scheme}{RULES % {'lead': f'{LEAD:g}'}}"


if __name__ == "__main__":
    sys.exit(exit_code(main))
