"""A race of decoders (measure/race) replayed side by side, each at the speed that it had.

The replay is a style sheet: every token appears after its own delay, so it also plays on exported
pages and where scripts are off. The texts, with their times, are there as plain text too.
"""

from __future__ import annotations

import hashlib
import html
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

from specdec_lib.lessons.drawing.style import display_page, in_both_themes

if TYPE_CHECKING:
    from specdec_lib.measure.race.record import Lane, Race

COLOUR_KEY = (
    '<span class="sd-own">Blue: written by the target.</span> '
    '<span class="sd-draft">Green and underlined: proposed by a draft and accepted.</span>'
)


def show_race(races: Sequence[Race], yours: str = "") -> None:
    """Replay every race of `races`, as measure.race.race gives them; on terminals print them.

    `yours` is the lane that the reader's own code ran in, if one did: it is called their decoder.
    """
    for race in races:
        display_page(race_page(race, yours), race_text(race, yours))


def race_text(race: Race, yours: str = "") -> str:
    """The texts, and under them who wrote them in which time."""
    lines = [_about(race)]
    for i, (prompt, pieces) in enumerate(zip(race.prompts, race.lanes[0].pieces, strict=True)):
        lines.append(f"\nText {i + 1}: {prompt}|{''.join(pieces)}\n")
    lines += [f"{lane.name}: {lane.seconds:.2f} s, {_passes(race, lane)}" for lane in race.lanes]
    return "\n".join([*lines, verdict(race), *readings(race, yours), *race.remarks])


def readings(race: Race, yours: str = "") -> Iterator[str]:
    """What the race says of each lane: its passes, then its clock; `yours` comes last."""
    plain, *others = race.lanes
    for lane in sorted(others, key=lambda lane: lane.name == yours):
        called = "Your decoder so far" if lane.name == yours else lane.name
        tokens, passes = sum(map(len, lane.pieces)), len(lane.passes)
        count = f"{tokens} tokens in {passes} passes of the target, {tokens / passes:.2f} tokens"
        yield f"{called[0].upper()}{called[1:]}: {count} per pass. {_clock(race, lane)}"


def _clock(race: Race, lane: Lane) -> str:
    """How fast the lane wrote its middle text, and why: all numbers are of this one text."""
    turns, ratio = race.turns(lane), race.ratio(lane)
    middle = turns.index(ratio)
    written, needed = len(lane.pieces[middle]), len(lane.texts[middle])
    cost = len(race.lanes[0].texts[middle]) / needed / ratio
    sentence = (
        f"On average each pass, drafting included, took {cost:.2f} times as long as a plain one, "
        f"so the decoder was {ratio:.2f} times as fast as {race.lanes[0].name}"
    )
    if len(turns) == 1:
        return f"{sentence}."
    middle_text = f"In the middle one of {len(turns)} texts, {written} tokens took {needed} passes."
    return f"{middle_text} {sentence} (all texts: {min(turns):.2f} to {max(turns):.2f})."


def verdict(race: Race) -> str:
    """Whether all lanes wrote the same texts: compared, token by token."""
    others = [lane for lane in race.lanes[1:] if not race.same(lane)]
    count = sum(map(len, race.lanes[0].pieces))
    if not others:
        return f"All {count} tokens were compared: every decoder wrote the same text."
    names = " and ".join(lane.name for lane in others)
    if race.temperature:
        return (
            f"At temperature {race.temperature:g} every decoder draws its own tokens, so the texts "
            "differ. A few texts cannot show whether their distribution is the same."
        )
    return f"The tokens were compared: {names} did not write the text of {race.lanes[0].name}."


def race_page(race: Race, yours: str = "") -> str:
    """The replay as HTML that needs nothing else."""
    lanes = "".join(_lane(race, lane) for lane in race.lanes)
    sentences = [verdict(race), *readings(race, yours)]
    return _template("race.html").substitute(
        css=race_css(),
        about=html.escape(_about(race)),
        button="sd-race-" + hashlib.sha256(lanes.encode()).hexdigest()[:12],
        lanes=lanes,
        seconds=f"{max(lane.seconds for lane in race.lanes):.2f}",
        sentences="".join(f"<p>{html.escape(sentence)}</p>" for sentence in sentences),
        colours=COLOUR_KEY,
        remarks=html.escape(" ".join(race.remarks)),
    )


def _about(race: Race) -> str:
    many = f", {race.rows} texts at a time (the first is shown)" if race.rows > 1 else ""
    texts = "One text, timed once."
    if len(race.prompts) > 1:
        texts = "Seconds are totals; bars and “times as fast” are of the middle text."
        texts = f"{len(race.prompts)} texts. {texts}"
    return f"Models: {race.pair}. Temperature {race.temperature:g}{many}. {texts}"


def _passes(race: Race, lane: Lane) -> str:
    """A lane's passes, and how many times as fast as plain decoding it was, the first lane."""
    faster = f", {race.ratio(lane):.2f} times as fast" if lane is not race.lanes[0] else ""
    return f"{len(lane.passes)} passes of the target{faster}"


def _lane(race: Race, lane: Lane) -> str:
    """A lane: its name, its clock, a bar as long as its time is by `ratio`, and its texts."""
    return _template("race_lane.html").substitute(
        name=html.escape(lane.name),
        seconds=f"{lane.seconds:.2f}",
        width=f"{min(map(race.ratio, race.lanes)) / race.ratio(lane):.1%}",
        passes=_passes(race, lane),
        texts="".join(_replayed_texts(race, lane)),
        fold=_all_texts(race, lane),
    )


def _replayed_texts(race: Race, lane: Lane) -> Iterator[str]:
    """The texts of a lane, in one place: each gives way to the next one, and the last one stays."""
    last = len(lane.texts) - 1
    for i, content in enumerate(_contents(race, lane, is_replayed=True)):
        if i == last:
            yield _element("pre", "sd-written", content)
        else:
            yield _element("pre", "sd-written sd-gone", content, lane.texts[i][-1].ends)


def _all_texts(race: Race, lane: Lane) -> str:
    """All texts of the lane in a fold, if there are several: the replay keeps only the last."""
    if len(lane.texts) == 1:
        return ""
    contents = _contents(race, lane, is_replayed=False)
    texts = "".join(_element("pre", "sd-written", content) for content in contents)
    return _element("details", "sd-all", f"<summary>All {len(lane.texts)} texts</summary>{texts}")


def _contents(race: Race, lane: Lane, is_replayed: bool) -> Iterator[str]:
    """What each text consists of: its prompt, and by pass the accepted drafts and the target's."""

    def span(writer: str, text: str, seconds: float) -> str:
        classes, delay = (f"sd-{writer} sd-t", seconds) if is_replayed else (f"sd-{writer}", None)
        return _element("span", classes, html.escape(text), delay)

    begins = 0.0
    for prompt, passes in zip(race.prompts, lane.texts, strict=True):
        spans = [span("prompt", prompt, begins)]
        for target_pass in passes:
            *drafted, own = target_pass.pieces or [""]
            if drafted:
                spans.append(span("draft", "".join(drafted), target_pass.ends))
            spans.append(span("own", own, target_pass.ends))
        begins = passes[-1].ends
        yield "".join(spans)


def _element(tag: str, classes: str, content: str, delay: float | None = None) -> str:
    """An HTML element; race.css shows or hides it after `delay` seconds."""
    style = "" if delay is None else f' style="--t:{delay:.3f}s"'
    return f'<{tag} class="{classes}"{style}>{content}</{tag}>'


@cache
def _template(name: str) -> Template:
    """A file of HTML beside this one; its line ends are between elements only."""
    return Template(Path(__file__).with_name(name).read_text(encoding="utf-8"))


@cache
def race_css() -> str:
    """The palette as CSS variables, in a light and a dark version, then race.css."""
    rules = Path(__file__).with_name("race.css").read_text(encoding="utf-8")
    return f"{in_both_themes('.sd-race')}\n{rules}"
