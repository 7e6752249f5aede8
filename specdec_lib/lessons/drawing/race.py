"""A race of decoders (measure/race) replayed side by side, each at the speed that it had.

The replay is a style sheet: every token appears after its own delay, so it also plays on exported
pages and where scripts are off. The texts, with their times, are there as plain text too.
"""

from __future__ import annotations

import hashlib
import html
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from specdec_lib.lessons.drawing.style import display_page, in_both_themes

_HERE = Path(__file__).parent
# Where scripts run, the replay waits until it is in sight.
_IN_SIGHT = """<script>(() => {
for (const race of document.querySelectorAll(".sd-race:not([data-seen])")) {
race.dataset.seen = race.dataset.wait = "";
new IntersectionObserver((seen, watch) => { if (seen.some((each) => each.isIntersecting)) {
delete race.dataset.wait; watch.disconnect(); } }, { threshold: 0.3 }).observe(race);
} })();</script>"""
COLOUR_KEY = (
    '<span class="sd-own">Blue: written by the target.</span> '
    '<span class="sd-draft">Green and underlined: proposed by a draft and accepted.</span>'
)
_METHOD = (
    "Replayed at the measured speed. When it was measured, the decoders took turns, text by text, "
    "each with its own timer."
)


def show_race(races: Sequence[Any], yours: str = "") -> None:
    """Replay every race of `races`, as measure.race.race gives them; on terminals print them.

    `yours` is the name of the lane that the reader's own decoder ran in.
    """
    for race in races:
        display_page(race_page(race, yours), race_text(race, yours))


def race_text(race: Any, yours: str = "") -> str:
    """The texts, and under them who wrote them in which time."""
    first = race.lanes[0]
    lines = [_about(race)]
    for i, (prompt, pieces) in enumerate(zip(race.prompts, first.pieces, strict=True)):
        lines.append(f"\nText {i + 1}: {prompt}|{''.join(pieces)}\n")
    for lane in race.lanes:
        lines.append(f"{lane.name}: {lane.seconds:.2f} s, {_passes(race, lane)}")
    return "\n".join([*lines, verdict(race), *readings(race, yours)])


def readings(race: Any, yours: str = "") -> Iterator[str]:
    """What the race says: a sentence for each lane, and at last how far the reader's decoder is."""
    plain, *others = race.lanes
    for lane in others:
        ratio, longer = race.ratio(lane), len(plain.passes) / len(lane.passes) / race.ratio(lane)
        fast = f"was done {ratio:.2f} times as fast"
        ended = fast if ratio >= 1 else f"took {1 / ratio:.2f} times as long"
        yield (
            f"{lane.name[0].upper()}{lane.name[1:]} needed {len(lane.passes)} passes of the target "
            f"instead of {len(plain.passes)}. One of them, its drafts included, took {longer:.2f} "
            f"times as long as a pass of {plain.name}, so the text {ended}."
        )
    for lane in (lane for lane in others if lane.name == yours):
        tokens, passes = sum(map(len, lane.pieces)), len(lane.passes)
        yield (
            f"Your decoder so far: {tokens} tokens in {passes} passes, {tokens / passes:.2f} "
            f"tokens per pass, {race.ratio(lane):.2f} times as fast as {plain.name}."
        )


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
    return f"The tokens were compared: {names} did not write the text of {race.lanes[0].name}."


def race_page(race: Any, yours: str = "") -> str:
    """The replay as HTML that needs nothing else."""
    lanes = "".join(_lane(race, lane) for lane in race.lanes)
    mark = "sd-race-" + hashlib.sha256(lanes.encode()).hexdigest()[:12]
    end = max(lane.seconds for lane in race.lanes)
    sentences = verdict(race), *readings(race, yours)
    said = "".join(f"<p>{html.escape(each)}</p>" for each in sentences)
    return (
        f'<div class="sd-race"><style>{race_css()}</style>'
        f"<p>{html.escape(_about(race))}</p>"
        f'<input class="sd-again" type="checkbox" id="{mark}" aria-label="Run the race again">'
        f'<label class="sd-button" for="{mark}">Run it again</label>'
        f'<div class="sd-lanes">{lanes}</div>'
        f'<div class="sd-end sd-t" style="--t:{end:.2f}s">{said}</div>'
        f"<p>{COLOUR_KEY} {_METHOD}</p></div>{_IN_SIGHT}"
    )


def _about(race: Any) -> str:
    many = f", {race.rows} texts at a time (the first is shown)" if race.rows > 1 else ""
    return f"Target: {race.pair}. Temperature {race.temperature:g}{many}."


def _passes(race: Any, lane: Any) -> str:
    """A lane's passes, and how many times as fast as plain decoding it was, the first lane."""
    faster = f", {race.ratio(lane):.2f} times as fast" if lane is not race.lanes[0] else ""
    return f"{len(lane.passes)} passes of the target{faster}"


def _lane(race: Any, lane: Any) -> str:
    end = f'style="--t:{lane.seconds:.2f}s"'
    slowest = max(each.seconds for each in race.lanes)
    bar = f'style="--t:{lane.seconds:.2f}s; width:{lane.seconds / slowest:.1%}"'
    return (
        f'<div class="sd-lane"><div class="sd-name">{html.escape(lane.name)}</div>'
        f'<div class="sd-clock"><span class="sd-track"><span class="sd-bar" {bar}></span></span>'
        f'<span class="sd-t" {end}>{lane.seconds:.2f} s</span></div>'
        f'<div class="sd-t" {end}>{_passes(race, lane)}</div>'
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
    """All texts of the lane in a fold, if there are several: the replay keeps only the last."""
    if len(lane.texts) == 1:
        return ""
    still = (re.sub(r' sd-t" style="[^"]*', "", spans) for spans in _spans(race, lane))
    texts = "".join(f'<pre class="sd-written">{spans}</pre>' for spans in still)
    return (
        f'<details class="sd-all"><summary>All {len(lane.texts)} texts</summary>{texts}</details>'
    )


@cache
def race_css() -> str:
    """The palette as CSS variables, in a light and a dark version, then race.css."""
    rules = (_HERE / "race.css").read_text(encoding="utf-8")
    return f"{in_both_themes('.sd-race')}\n{rules}"
