"""A race of decoders (measure/race) replayed side by side, each at the speed that it had.

The replay is a style sheet: every token appears after its own delay, so it also plays on exported
pages and where scripts are off. The texts, with their times, are there as plain text too.
"""

from __future__ import annotations

import hashlib
import html
import re
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from specdec_lib.lessons.common.style import palette

HERE = Path(__file__).parent
LIGHT = {"ink": "#1c1c21", "soft": "#55555f", "paper": "#ffffff", "line": "#dcdce2"}
DARK = {"ink": "#ececf1", "soft": "#b4b4c0", "paper": "#1e1e24", "line": "#3a3a44"}
BASE = {"base": "#8a8a94"}
# Where scripts run, the replay waits until it is in sight.
_IN_SIGHT = """<script>(() => {
for (const race of document.querySelectorAll(".sd-race:not([data-seen])")) {
race.dataset.seen = race.dataset.wait = "";
new IntersectionObserver((seen, watch) => { if (seen.some((each) => each.isIntersecting)) {
delete race.dataset.wait; watch.disconnect(); } }, { threshold: 0.3 }).observe(race);
} })();</script>"""
KEY = (
    '<span class="sd-own">Blue: written by the target.</span> '
    '<span class="sd-draft">Green and underlined: proposed by a draft and accepted.</span>'
)
HOW = (
    "Replayed at the measured speed. When it was measured, the decoders took turns every few "
    "tokens, each with its own clock."
)


def show_race(races: Sequence[Any]) -> None:
    """Replay every race of `races`, as measure.race.race gives them; on terminals print them."""
    ipython = sys.modules.get("IPython")
    in_kernel = ipython and getattr(ipython.get_ipython(), "kernel", None)
    for race in races:
        if in_kernel:
            from IPython.display import display

            display({"text/html": as_page(race), "text/plain": as_text(race)}, raw=True)
        else:
            print(as_text(race))


def as_text(race: Any) -> str:
    """The texts, and under them who wrote them in which time."""
    first = race.lanes[0]
    lines = [*race.remarks, f"{_about(race)}"]
    for i, (prompt, pieces) in enumerate(zip(race.prompts, first.pieces, strict=True)):
        lines.append(f"\nText {i + 1}: {prompt}|{''.join(pieces)}")
    lines.append("")
    lines += [f"{lane.name}: {_time(race, lane)}" for lane in race.lanes]
    return "\n".join([*lines, verdict(race)])


def verdict(race: Any) -> str:
    """Whether all lanes wrote the same texts: compared, token by token."""
    others = [lane for lane in race.lanes[1:] if not race.same(lane)]
    count = sum(map(len, race.lanes[0].pieces))
    if not others:
        return f"All {count} tokens were compared: every decoder wrote the same text."
    names = " and ".join(lane.name for lane in others)
    if race.temperature:
        return (
            f"At temperature {race.temperature:g} every decoder draws its own tokens, so the texts "
            "differ. One text cannot show whether their distribution is the same."
        )
    return f"The tokens were compared: {names} wrote another text than {race.lanes[0].name}."


def as_page(race: Any) -> str:
    """The replay as HTML that needs nothing else."""
    lanes = "".join(_lane(race, lane) for lane in race.lanes)
    mark = "sd-race-" + hashlib.sha256(lanes.encode()).hexdigest()[:12]
    remarks = "".join(f"<p><strong>{html.escape(each)}</strong></p>" for each in race.remarks)
    end = max(lane.seconds for lane in race.lanes)
    return (
        f'<div class="sd-race"><style>{style_sheet()}</style>{remarks}'
        f"<p>{html.escape(_about(race))}</p>"
        f'<input class="sd-again" type="checkbox" id="{mark}" aria-label="Run the race again">'
        f'<label class="sd-button" for="{mark}">Run it again</label>'
        f'<div class="sd-lanes">{lanes}</div>'
        f'<p class="sd-end sd-t" style="--t:{end:.2f}s">{html.escape(verdict(race))}</p>'
        f"<p>{KEY} {HOW}</p></div>{_IN_SIGHT}"
    )


def _about(race: Any) -> str:
    many = f", {race.rows} texts at a time (the first is shown)" if race.rows > 1 else ""
    return f"Target: {race.pair}. Temperature {race.temperature:g}{many}."


def _time(race: Any, lane: Any) -> str:
    said = f"{lane.seconds:.2f} s, {len(lane.passes)} passes of the target"
    if lane is race.lanes[0]:
        return said
    return f"{said}; {race.ratio(lane):.2f} times as fast"


def _lane(race: Any, lane: Any) -> str:
    plain = lane is race.lanes[0]
    ratio = "" if plain else f", <b>{race.ratio(lane):.2f} times as fast</b>"
    passes = f"{len(lane.passes)} passes{ratio}"
    return (
        f'<div class="sd-lane"><div class="sd-name">{html.escape(lane.name)}</div>'
        f'<div class="sd-clock"><span class="sd-track"><span class="sd-bar" '
        f'style="--t:{lane.seconds:.2f}s"></span></span>'
        f'<span class="sd-t" style="--t:{lane.seconds:.2f}s">{lane.seconds:.2f} s</span></div>'
        f'<div class="sd-t" style="--t:{lane.seconds:.2f}s">{passes}</div>'
        f'<div class="sd-texts">{"".join(_texts(race, lane))}</div>{_all(race, lane)}</div>'
    )


def _texts(race: Any, lane: Any) -> Iterator[str]:
    """The texts of a lane, in one place: each gives way to the next one, and the last one stays."""
    *ends, _ = (passes[-1].ends for passes in lane.texts)
    for i, spans in enumerate(_spans(race, lane)):
        gone = f' sd-gone" style="--t:{ends[i]:.3f}s' if i < len(ends) else ""
        yield f'<pre class="sd-written{gone}">{spans}</pre>'


def _spans(race: Any, lane: Any) -> Iterator[str]:
    """The spans of each text: its prompt, then what every pass wrote."""
    begins = 0.0
    for prompt, passes in zip(race.prompts, lane.texts, strict=True):
        spans = [_span("sd-prompt sd-t", begins, prompt)]
        for each in passes:
            *drafted, last = each.pieces or [""]
            if drafted:
                spans.append(_span("sd-draft sd-t", each.ends, "".join(drafted)))
            spans.append(_span("sd-own sd-t", each.ends, last))
            begins = each.ends
        yield "".join(spans)


def _span(kind: str, seconds: float, text: str) -> str:
    return f'<span class="{kind}" style="--t:{seconds:.3f}s">{html.escape(text)}</span>'


def _all(race: Any, lane: Any) -> str:
    """Every text of the lane to read in peace, folded, if there are several."""
    if len(lane.texts) == 1:
        return ""
    still = (re.sub(r' sd-t" style="[^"]*', "", spans) for spans in _spans(race, lane))
    texts = "".join(f'<pre class="sd-written">{spans}</pre>' for spans in still)
    return (
        f'<details class="sd-all"><summary>All {len(lane.texts)} texts</summary>{texts}</details>'
    )


@cache
def style_sheet() -> str:
    """The palette as CSS variables, in a light and a dark version, then race.css."""
    light, dark = (
        " ".join(f"--sd-{name}: {colour};" for name, colour in (palette(theme) | plain).items())
        for theme, plain in (("light", LIGHT | BASE), ("dark", DARK | BASE))
    )
    # In the dark: JupyterLab's way to say so, and the site's.
    in_dark = "[data-jp-theme-light='false'] .sd-race, [data-theme='dark'] .sd-race"
    rules = f".sd-race {{ {light} }} {in_dark} {{ {dark} }}\n"
    return rules + (HERE / "race.css").read_text(encoding="utf-8")
