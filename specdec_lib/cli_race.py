"""`specdec race`: decoders that write the same text, side by side in a terminal.

The race is run first (measure/race), and then replayed at the speed that every decoder had. Where
the output is no terminal there is the table alone.
"""

import sys
import time

from rich import box
from rich.columns import Columns
from rich.console import Console
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from specdec_lib.measure.race.race import run
from specdec_lib.measure.race.record import Lane, Race

SECONDS = 20.0  # for the race; the replay comes after it
ACCEPTED = "green underline"  # not by its colour alone
WIDE = 80  # columns from which panels stand side by side


def measured(draft: str, k: int, temperature: float, cost: str) -> Race:
    """A race on this machine. ValueError if it is too slow or has too little memory."""
    print(f"The race runs for about {SECONDS:.0f} s, then it is replayed.", file=sys.stderr)
    from specdec_lib.measure.race.contestants import drafting  # brings torch

    lanes = {"speculative decoding": drafting(draft, k)}
    try:
        return run(lanes, temperature=temperature, cost=cost, seconds=SECONDS)
    except ValueError as error:
        other = "`specdec race --recorded` replays a race of another machine."
        raise ValueError(f"{error}. {other}") from None


def show(race: Race, where: str) -> None:
    """Replay the race on a terminal, and print its table."""
    console = Console(highlight=False)
    if console.is_terminal:
        console.print(Text.assemble(("Green and underlined", ACCEPTED), ": drafted and accepted."))
        replay(race, console)
    console.print(table(race))
    about = f"{race.pair}, temperature {race.temperature:g}, {where}"
    console.print(f"{about[:1].upper()}{about[1:]}.", soft_wrap=True)


def replay(race: Race, console: Console) -> None:
    """Draw the race until the slowest decoder has ended; after Ctrl+C the cursor is back."""
    width, height = room(race, console)
    begun = time.monotonic()

    def frame() -> Columns:
        moment = time.monotonic() - begun
        return Columns([panel(race, lane, moment, width, height) for lane in race.lanes])

    with Live(get_renderable=frame, console=console, refresh_per_second=20):
        time.sleep(max(lane.seconds for lane in race.lanes))


def room(race: Race, console: Console) -> tuple[int, int]:
    """The columns of a text, and its lines: those of the longest, or what the terminal has."""
    across = 2 if console.width >= WIDE else 1
    width = (console.width - across + 1) // across - 4
    numbers = range(len(race.prompts))
    longest = max(len(lines(race, lane, i, 1e9, width)) for lane in race.lanes for i in numbers)
    rows = -(-len(race.lanes) // across)
    return width, max(1, min(longest, (console.height - 2) // rows - 2))


def panel(race: Race, lane: Lane, moment: float, width: int, height: int) -> Panel:
    """What a decoder has written after so many seconds, and its clock."""
    ended = sum(passes[-1].ends <= moment for passes in lane.texts)
    number = min(ended, len(lane.texts) - 1)
    text = Text("\n").join(lines(race, lane, number, moment, width)[-height:])
    clock = f"{min(moment, lane.seconds):.2f} s, text {number + 1} of {len(lane.texts)}"
    look = {"width": width + 4, "height": height + 2}
    look["border_style"] = "bold" if ended == len(lane.texts) else "dim"
    return Panel(text, title=lane.name, subtitle=clock, **look)


def lines(race: Race, lane: Lane, number: int, moment: float, width: int) -> list[Text]:
    """The lines of text `number` that are there after so many seconds."""
    text = Text().append(race.prompts[number], "dim")
    for each in lane.texts[number]:
        if each.ends <= moment:
            *drafted, own = each.pieces or [""]
            text.append("".join(drafted), ACCEPTED).append(own)
    text.highlight_regex(r"(?m)^ +", "not underline")
    return list(text.wrap(Console(), width))


def table(race: Race) -> Table:
    """Tokens, seconds, passes and ratio of every decoder, and whether the texts are the same."""
    drawn = Table(box=box.SIMPLE_HEAD, show_edge=False)
    drawn.add_column(no_wrap=True)
    for name in ("tokens", "seconds", "passes", "times as fast", "same text"):
        drawn.add_column(name, justify="right")
    for lane in race.lanes:
        counts = sum(map(len, lane.pieces)), f"{lane.seconds:.2f}", len(lane.passes)
        same = "yes" if race.same(lane) else "no"
        drawn.add_row(lane.name, *map(str, counts), f"{race.ratio(lane):.2f}", same)
    return drawn
