"""`specdec race`: decoders that write the same text, side by side in a terminal.

The race is run first, then replayed at its own speed. Without a terminal there is only the table.
"""

import math
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
from specdec_lib.models.catalogue import BUILT_IN

QUESTION = "Why is the sky blue?"
_ACCEPTED = "green underline"  # not by its colour alone
_SIDE_BY_SIDE_COLUMNS = 80  # from which panels stand side by side


def race_here(pair: str, draft: str, k: int | None, temperature: float, cost: str) -> Race:
    """A race on this machine. A pair that is not built in answers QUESTION."""
    from specdec_lib.measure.race import lanes, turns  # bring torch
    from specdec_lib.models.pairs import load_pair

    lane, subject = lanes.draft_model_lane(draft, k or 3), None
    if pair != BUILT_IN:
        loaded = load_pair(pair, device="cpu")
        lane = lanes.pair_lane(loaded, k or loaded.k, loaded.eos_id)
        subject = turns.questions_to(loaded, [QUESTION])
    print("The race takes some seconds, after loading.", file=sys.stderr)
    how = {"temperature": temperature, "cost": cost, "subject": subject, "tokens": 96, "texts": 1}
    return turns.run_race({"speculative decoding": lane}, **how)


def show_in_terminal(race: Race, where: str) -> None:
    """Replay the race on a terminal, and print its table."""
    console = Console(highlight=False)
    if console.is_terminal:
        console.print(Text.assemble(("Green and underlined", _ACCEPTED), ": drafted and accepted."))
        replay(race, console)
    console.print(race_table(race))
    about = f"Models: {race.pair}. Temperature {race.temperature:g}, {where}."
    console.print(about, *race.remarks, soft_wrap=True)


def replay(race: Race, console: Console) -> None:
    """Draw the race until the slowest decoder has ended. Ctrl+C brings the cursor back."""
    width, height = text_size(race, console)
    start = time.monotonic()

    def frame() -> Columns:
        moment = time.monotonic() - start
        return Columns([panel(race, lane, moment, width, height) for lane in race.lanes])

    with Live(get_renderable=frame, console=console, refresh_per_second=20):
        time.sleep(max(lane.seconds for lane in race.lanes))


def text_size(race: Race, console: Console) -> tuple[int, int]:
    """The columns of a text, and its lines: those of the longest, or what the terminal has."""
    across = 2 if console.width >= _SIDE_BY_SIDE_COLUMNS else 1
    width = (console.width - across + 1) // across - 4
    texts = [(lane, number) for lane in race.lanes for number in range(len(race.prompts))]
    longest = max(len(visible_lines(race, *text, math.inf, width)) for text in texts)
    rows = math.ceil(len(race.lanes) / across)
    return width, max(1, min(longest, (console.height - 2) // rows - 2))


def panel(race: Race, lane: Lane, moment: float, width: int, height: int) -> Panel:
    """What a decoder has written after so many seconds, and its clock."""
    finished = sum(passes[-1].ends <= moment for passes in lane.texts)
    number = min(finished, len(lane.texts) - 1)
    text = Text("\n").join(visible_lines(race, lane, number, moment, width)[-height:])
    clock = f"{min(moment, lane.seconds):.2f} s, text {number + 1} of {len(lane.texts)}"
    style = "bold" if finished == len(lane.texts) else "dim"
    size = {"width": width + 4, "height": height + 2}
    return Panel(text, title=lane.name, subtitle=clock, border_style=style, **size)


def visible_lines(race: Race, lane: Lane, number: int, moment: float, width: int) -> list[Text]:
    """The lines of text `number` that are there after so many seconds."""
    text = Text().append(race.prompts[number], "dim")
    for target_pass in lane.texts[number]:
        if target_pass.ends <= moment:
            *drafted, last = target_pass.pieces or [""]
            text.append("".join(drafted), _ACCEPTED).append(last)
    text.highlight_regex(r"(?m)^ +", "not underline")
    return list(text.wrap(Console(), width))


def race_table(race: Race) -> Table:
    """Tokens, seconds, passes and ratio of every decoder, and whether the texts are the same."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False)
    table.add_column(no_wrap=True)
    for name in ("tokens", "seconds", "passes", "times as fast", "same text"):
        table.add_column(name, justify="right")
    for lane in race.lanes:
        tokens, passes = sum(map(len, lane.pieces)), len(lane.passes)
        same = "yes" if race.same(lane) else "drawn anew" if race.temperature else "no"
        seconds, ratio = f"{lane.seconds:.2f}", f"{race.ratio(lane):.2f}"
        table.add_row(lane.name, str(tokens), seconds, str(passes), ratio, same)
    return table
