"""`specdec race`: decoders that write the same text, side by side in a terminal.

The race is run first, then replayed at its own speed. Without a terminal there is only the table.
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

from specdec_lib.measure.race.record import Lane, Race

SECONDS = 20.0  # of the race; the replay comes after it
ACCEPTED = "green underline"  # not by its colour alone
WIDE = 80  # columns from which panels stand side by side


def measured(draft: str, k: int, temperature: float, cost: str) -> Race:
    """A race on this machine."""
    print(f"The race takes about {SECONDS:.0f} s.", file=sys.stderr)
    from specdec_lib.measure.race import contestants, turns  # bring torch

    how = {"temperature": temperature, "cost": cost, "seconds": SECONDS}
    return turns.run({"speculative decoding": contestants.drafting(draft, k)}, **how)


def show(found: Race, where: str) -> None:
    """Replay the race on a terminal, and print its table."""
    console = Console(highlight=False)
    if console.is_terminal:
        console.print(Text.assemble(("Green and underlined", ACCEPTED), ": drafted and accepted."))
        replay(found, console)
    console.print(table(found))
    about = f"Target: {found.pair}. Temperature {found.temperature:g}, {where}."
    console.print(about, *found.remarks, soft_wrap=True)


def replay(found: Race, console: Console) -> None:
    """Draw the race until the slowest decoder has ended. Ctrl+C brings the cursor back."""
    width, height = room(found, console)
    begun = time.monotonic()

    def frame() -> Columns:
        moment = time.monotonic() - begun
        return Columns([panel(found, lane, moment, width, height) for lane in found.lanes])

    with Live(get_renderable=frame, console=console, refresh_per_second=20):
        time.sleep(max(lane.seconds for lane in found.lanes))


def room(found: Race, console: Console) -> tuple[int, int]:
    """The columns of a text, and its lines: those of the longest, or what the terminal has."""
    across = 2 if console.width >= WIDE else 1
    width = (console.width - across + 1) // across - 4
    numbers = range(len(found.prompts))
    longest = max(len(lines(found, lane, i, 1e9, width)) for lane in found.lanes for i in numbers)
    rows = -(-len(found.lanes) // across)
    return width, max(1, min(longest, (console.height - 2) // rows - 2))


def panel(found: Race, lane: Lane, moment: float, width: int, height: int) -> Panel:
    """What a decoder has written after so many seconds, and its clock."""
    ended = sum(passes[-1].ends <= moment for passes in lane.texts)
    number = min(ended, len(lane.texts) - 1)
    text = Text("\n").join(lines(found, lane, number, moment, width)[-height:])
    clock = f"{min(moment, lane.seconds):.2f} s, text {number + 1} of {len(lane.texts)}"
    look = {"width": width + 4, "height": height + 2}
    look["border_style"] = "bold" if ended == len(lane.texts) else "dim"
    return Panel(text, title=lane.name, subtitle=clock, **look)


def lines(found: Race, lane: Lane, number: int, moment: float, width: int) -> list[Text]:
    """The lines of text `number` that are there after so many seconds."""
    text = Text().append(found.prompts[number], "dim")
    for each in lane.texts[number]:
        if each.ends <= moment:
            *drafted, own = each.pieces or [""]
            text.append("".join(drafted), ACCEPTED).append(own)
    text.highlight_regex(r"(?m)^ +", "not underline")
    return list(text.wrap(Console(), width))


def table(found: Race) -> Table:
    """Tokens, seconds, passes and ratio of every decoder, and whether the texts are the same."""
    drawn = Table(box=box.SIMPLE_HEAD, show_edge=False)
    drawn.add_column(no_wrap=True)
    for name in ("tokens", "seconds", "passes", "times as fast", "same text"):
        drawn.add_column(name, justify="right")
    for lane in found.lanes:
        counts = sum(map(len, lane.pieces)), f"{lane.seconds:.2f}", len(lane.passes)
        same = "yes" if found.same(lane) else "drawn anew" if found.temperature else "no"
        drawn.add_row(lane.name, *map(str, counts), f"{found.ratio(lane):.2f}", same)
    return drawn
