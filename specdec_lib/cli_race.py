"""`specdec race`: plain and speculative decoding side by side in a terminal.

The race is run first (measure/race), by turns, with a clock for each decoder. Then both texts are
replayed at the speed that they had. Where the output is no terminal, they are printed at once.
"""

import argparse
import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import TextIO

from specdec_lib.lessons.common.race import verdict
from specdec_lib.measure.core.progress import Progress
from specdec_lib.measure.race.race import race
from specdec_lib.measure.race.record import Lane, Race, recorded, recorded_where

NAME = "speculative decoding"
SECONDS = 20.0  # for the race; the replay comes after it
WIDE = 80  # columns from which two texts stand side by side
MOST = 64  # columns of a text at most
FRAMES = 20  # a second
HIDE, SHOW, UP, TO_END, PLAIN = "\033[?25l", "\033[?25h", "\033[{}F", "\033[K", "\033[0m"
# How a piece of text looks on a terminal with colours: dim, blue, underlined green.
LOOKS = {"prompt": "2", "own": "34", "draft": "4;32"}
KEY = "Blue: written by the target. Green and underlined: drafted and accepted."

Piece = tuple[str, str]  # text, and one of LOOKS


def run(options: argparse.Namespace, out: TextIO, told: TextIO) -> None:
    """Race, replay and count; `told` gets the progress."""
    found, *beside = [from_record()] if options.recorded else raced(options, told)
    about = (f"Target: {found.pair}. Temperature {found.temperature:g}.", *found.remarks)
    print(*about, "", sep="\n", file=out)
    if moves(out):
        replay(found, out, Screen.of_terminal(takes_colour(out)))
    else:
        print(*still(found, Screen()), sep="\n", file=out)
    colours = [KEY] if takes_colour(out) else []
    print(*colours, "", *table(found), "", verdict(found), sep="\n", file=out)
    for each in beside:
        print("", *each.remarks, *table(each), sep="\n", file=out)


def from_record() -> Race:
    """The recorded race of chapter 00, which says where it was run."""
    found = recorded("00")
    where = f"Recorded {recorded_where('00')}."
    return Race(found.lanes, found.prompts, found.pair, remarks=(where,))


def raced(options: argparse.Namespace, told: TextIO) -> list[Race]:
    """The race on this machine; the recorded one after it, or alone, as `race.race` says."""
    from specdec_lib.measure.race.contestants import drafting  # takes a second: it brings torch

    contestants = {NAME: drafting(options.draft, options.k)}
    how = {"temperature": options.temperature, "cost": options.target_cost, "seconds": SECONDS}
    line = StatusLine(told)
    return race("00", contestants, **how, progress=Progress(lambda: line, after=0))


class StatusLine:
    """A line of a terminal that changes, and is gone when it is empty; in a file, no line."""

    def __init__(self, out: TextIO) -> None:
        self.out = out

    def update(self, text: str) -> None:
        """Show `text`."""
        if moves(self.out):
            print(f"\r{text}{TO_END}", end="", file=self.out, flush=True)


def takes_colour(out: TextIO) -> bool:
    """Whether to write in colours: on a terminal only, and not where $NO_COLOR says no."""
    return out.isatty() and not os.environ.get("NO_COLOR")


def moves(out: TextIO) -> bool:
    """Whether `out` is a terminal on which the cursor can be moved."""
    return out.isatty() and os.environ.get("TERM") != "dumb"


@dataclass(frozen=True)
class Screen:
    """Where a race is drawn: `rows` of it at most, if not 0."""

    columns: int = 80
    rows: int = 0
    colour: bool = False

    @staticmethod
    def of_terminal(colour: bool) -> "Screen":
        """The terminal as large as it is now."""
        size = shutil.get_terminal_size()
        return Screen(size.columns, size.lines, colour)

    @property
    def is_wide(self) -> bool:
        """Whether two texts have room side by side."""
        return self.columns >= WIDE

    @property
    def width(self) -> int:
        """Columns of one text. The last column stays empty: some terminals would begin a line."""
        room = (self.columns - 1 - len(" | ")) // 2 if self.is_wide else self.columns - 1
        return max(1, min(MOST, room))


def replay(
    race: Race,
    out: TextIO,
    screen: Screen,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Draw the race again and again until its end. However it ends, the cursor is there again."""
    end, began, drawn = max(lane.seconds for lane in race.lanes), clock(), 0
    out.write(HIDE)
    try:
        moment = 0.0
        while drawn == 0 or moment < end:
            moment = min(clock() - began, end)
            lines = frame(race, moment, screen)
            up = UP.format(drawn) if drawn else ""
            out.write(up + "".join(f"{line}{TO_END}\n" for line in lines))
            out.flush()
            drawn = len(lines)
            sleep(1 / FRAMES)
    finally:
        out.write(PLAIN + SHOW)
        out.flush()


def still(race: Race, screen: Screen) -> Iterator[str]:
    """Every text of the race as it ended."""
    for number in range(len(race.prompts)):
        ends = [lane.texts[number][-1].ends for lane in race.lanes]
        panels = [
            [lane.name, *_text(race, lane, number, end, screen)]
            for lane, end in zip(race.lanes, ends, strict=True)
        ]
        yield from ([""] if number else [])
        yield from _arranged(panels, screen)


def frame(race: Race, moment: float, screen: Screen) -> list[str]:
    """The race after so many seconds, as lines; every moment of a race has equally many."""
    height = _height(race, screen)
    return _arranged([_panel(race, lane, moment, height, screen) for lane in race.lanes], screen)


def _height(race: Race, screen: Screen) -> int:
    """Lines for the longest text, or as many as the terminal has room for."""
    longest = max(
        len(_text(race, lane, number, float("inf"), screen))
        for lane in race.lanes
        for number in range(len(race.prompts))
    )
    if not screen.rows:
        return longest
    side_by_side = 1 if screen.is_wide else len(race.lanes)
    return max(1, min(longest, (screen.rows - 1) // side_by_side - 3))


def _panel(race: Race, lane: Lane, moment: float, height: int, screen: Screen) -> list[str]:
    """A lane's name, its clock, and the end of the text that it writes at this moment."""
    moment = min(moment, lane.seconds)
    ended = sum(passes[-1].ends <= moment for passes in lane.texts)
    number = min(ended, len(lane.texts) - 1)
    of, clock = f"text {number + 1} of {len(lane.texts)}", f"{moment:.2f} s"
    lines = _text(race, lane, number, moment, screen)[-height:]
    head = [lane.name[: screen.width], f"{clock:>8}  {of}"[: screen.width]]
    return [*head, *lines, *[""] * (height - len(lines))]


def _text(race: Race, lane: Lane, number: int, moment: float, screen: Screen) -> list[str]:
    """What stands of a text after so many seconds, in lines of the screen's width."""
    pieces: list[Piece] = [(race.prompts[number], "prompt")]
    for each in lane.texts[number]:
        if each.ends <= moment:
            *drafted, last = each.pieces or [""]
            pieces += [("".join(drafted), "draft"), (last, "own")]
    return [_drawn(line, screen.colour) for line in wrapped(pieces, screen.width)]


def wrapped(pieces: Sequence[Piece], width: int) -> list[list[Piece]]:
    """The pieces in lines of `width` characters at most."""
    lines: list[list[Piece]] = [[]]
    room = width
    for text, kind in pieces:
        for i, part in enumerate(text.expandtabs(4).split("\n")):
            if i:
                lines.append([])
                room = width
            while part:
                if not room:
                    lines.append([])
                    room = width
                lines[-1].append((part[:room], kind))
                part, room = part[room:], room - len(part[:room])
    return lines


def _drawn(line: Sequence[Piece], colour: bool) -> str:
    if not colour:
        return "".join(text for text, _ in line)
    return "".join(f"\033[{LOOKS[kind]}m{text}{PLAIN}" for text, kind in line if text)


def _arranged(panels: Sequence[list[str]], screen: Screen) -> list[str]:
    """The panels side by side, or one below the other where there is no room."""
    if not screen.is_wide:
        return [line for i, panel in enumerate(panels) for line in ([""] if i else []) + panel]
    rows = zip_longest(*panels, fillvalue="")
    return [" | ".join(_padded(line, screen.width) for line in row).rstrip() for row in rows]


def _padded(line: str, width: int) -> str:
    """The line with blanks up to `width` characters, colours not counted."""
    seen = line
    for look in LOOKS.values():
        seen = seen.replace(f"\033[{look}m", "")
    return line + " " * (width - len(seen.replace(PLAIN, "")))


def table(race: Race) -> list[str]:
    """Tokens, seconds, passes and ratio of every decoder."""
    rows = [("", "tokens", "seconds", "passes", "ratio")]
    for lane in race.lanes:
        tokens = sum(map(len, lane.pieces))
        counts = (f"{tokens}", f"{lane.seconds:.2f}", f"{len(lane.passes)}")
        rows.append((lane.name, *counts, f"{race.ratio(lane):.2f}"))
    return [f"{name:<22}" + "".join(f"{cell:>10}" for cell in cells) for name, *cells in rows]
