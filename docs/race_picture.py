"""Draw the README's race: `python docs/race_picture.py` writes docs/_static/race.png.

It shows the first text of the recorded race (specdec_lib/measure/race): question and answer as the
decoder with a draft wrote them, and every token as a square over the moment at which its pass of
the large model ended. What the README says of the picture is written anew with it.
"""

import re
import textwrap
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image

from specdec_lib.lessons.drawing.style import palette
from specdec_lib.measure.race.record import Lane, Race, recorded_race

PATH = Path(__file__).parent / "_static" / "race.png"
README = Path(__file__).parents[1] / "README.md"
COLUMNS, SIZE = 82, 11.2  # characters in a line of the text, and their points
LINE = 0.21  # inches


def main() -> None:
    """Write the picture, and the README's words for it."""
    race, colours = first_text(recorded_race()), palette("light")
    lines = 2 + 1 + max(line for line, *_ in words_in_lines(race.lanes[-1]))
    figure = Figure(figsize=(8, LINE * lines + 2.6), layout="constrained")
    text, *axes = figure.subplots(3, height_ratios=[LINE * lines, 1.1, 1.1])
    _write(text, race, lines, colours["target"], colours["accepted"])
    most = max(len(each.pieces) for lane in race.lanes for each in lane.passes)
    for ax, lane in zip(axes, race.lanes, strict=True):
        _draw(ax, lane, colours["target"], colours["accepted"])
        ax.set(ylim=(0.3, most + 0.7), yticks=[])
        ax.set_xlim(0, 1.02 * max(each.seconds for each in race.lanes))
    ax.set_xlabel("seconds. A column is one pass of the large model, and a square is one token")
    axes[0].tick_params(labelbottom=False)
    axes[0].legend(*ax.get_legend_handles_labels(), ncols=2, loc="upper left", frameon=False)
    figure.savefig(PATH, dpi=160)
    Image.open(PATH).convert("RGB").quantize(48).save(PATH, optimize=True)  # a third of the size
    README.write_text(retold(README.read_text(encoding="utf-8"), race), encoding="utf-8")
    print(f"The picture is made: {PATH}. Its alternative text: {words(race)}")


def first_text(race: Race) -> Race:
    """The first text of `race`, as a race of its own."""
    lanes = [replace(lane, texts=lane.texts[:1]) for lane in race.lanes]
    return replace(race, lanes=lanes, prompts=race.prompts[:1])


def words_in_lines(lane: Lane) -> Iterator[tuple[int, int, str, bool]]:
    """The words of a text, or their parts: line, column, text, and whether it was drafted."""
    lines = textwrap.wrap("".join(lane.pieces[0]), COLUMNS, break_on_hyphens=False)
    places = (
        (number, column)
        for number, line in enumerate(lines)
        for column, letter in enumerate(line)
        if not letter.isspace()
    )
    for target_pass in lane.passes:
        for left, piece in zip(
            count(1 - len(target_pass.pieces)), target_pass.pieces, strict=False
        ):
            for word in piece.split():
                yield (*[next(places) for _ in word][0], word, left < 0)


def _write(ax: Axes, race: Race, lines: int, own: str, accepted: str) -> None:
    """The question, and below it the answer: drafted tokens green and underlined."""
    ax.set(xlim=(0, COLUMNS), ylim=(lines, 0))
    ax.axis("off")
    style = {"va": "baseline", "fontsize": SIZE}
    ax.text(0, 0.8, race.prompts[0].strip(), weight="bold", **style)
    for line, column, piece, is_drafted in words_in_lines(race.lanes[-1]):
        y, colour = line + 2.3, accepted if is_drafted else own
        ax.text(column, y, piece, color=colour, family="monospace", **style)
        if is_drafted:
            ax.plot([column, column + len(piece)], [y + 0.17] * 2, color=colour, linewidth=0.8)


def _draw(ax: Axes, lane: Lane, own: str, accepted: str) -> None:
    """A column for each pass: the draft tokens that it accepted, and the model's own on top."""
    drafted = [(each.ends, i) for each in lane.passes for i in range(1, len(each.pieces))]
    written = [(each.ends, len(each.pieces)) for each in lane.passes]
    square = {"s": 16, "marker": "s"}
    if drafted:
        x, y = zip(*drafted, strict=True)
        ax.scatter(
            x, y, facecolors="none", edgecolors=accepted, label="drafted and accepted", **square
        )
    x, y = zip(*written, strict=True)
    ax.scatter(x, y, color=own, label="written by the large model", **square)
    ax.axvline(lane.seconds, color="black", linewidth=0.8)
    title = f"{lane.name}: {lane.seconds:.2f} s, {len(lane.passes)} passes"
    ax.set_title(title, loc="left", fontsize=11)
    ax.spines[["left", "top", "right"]].set_visible(False)


def words(race: Race) -> str:
    """What the picture shows, in a few sentences: its alternative text."""
    plain, fast = race.lanes
    return (
        f"Two decoders write the same {len(plain.pieces[0])} tokens, the answer to: "
        f"{race.prompts[0].strip()} {plain.name.capitalize()} "
        f"takes {plain.seconds:.2f} s and {len(plain.passes)} passes of the large model. "
        f"{fast.name.capitalize()} takes {fast.seconds:.2f} s and {len(fast.passes)} passes."
    )


def caption(race: Race) -> str:
    """The README's paragraph below the picture."""
    plain, fast = race.lanes
    return (
        f"*The same {len(plain.pieces[0])} tokens, {race.ratio(fast):.2f} times as fast: "
        f"{fast.seconds:.2f} s instead of {plain.seconds:.2f} s. A small draft model proposes "
        "tokens, and the large one checks several in one pass. It kept the underlined ones. "
        f"The models: {race.pair}. {race.remarks[0]}*"
    )


def retold(page: str, race: Race) -> str:
    """`page` with the alternative text of the picture, and the paragraph below it, of `race`."""
    below = textwrap.fill(caption(race), 118, break_on_hyphens=False)
    page = re.sub(r'(race\.png" width="\d+" alt=")[^"]*', lambda m: m[1] + words(race), page)
    return re.sub(r"^\*The same \d+ tokens,.*?\*$", lambda _: below, page, flags=re.M | re.S)


if __name__ == "__main__":
    main()
