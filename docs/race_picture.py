"""Draw the README's race: `python docs/race_picture.py` writes docs/_static/race.png.

It shows the first text of the recorded race (specdec_lib/measure/race): every token as a square
over the moment at which its pass of the large model ended.
"""

from dataclasses import replace
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from specdec_lib.lessons.drawing.style import palette
from specdec_lib.measure.race.record import Lane, Race, recorded_race

PATH = Path(__file__).parent / "_static" / "race.png"


def main() -> None:
    """Write the picture."""
    race, colours = first_text(recorded_race()), palette("light")
    figure = Figure(figsize=(8, 2.6), layout="constrained")
    for ax, lane in zip(figure.subplots(2, sharex=True, sharey=True), race.lanes, strict=True):
        _draw(ax, lane, colours["target"], colours["accepted"])
    most = max(len(each.pieces) for lane in race.lanes for each in lane.passes)
    ax.set(ylim=(0.3, most + 0.7), yticks=[])
    ax.set_xlabel("seconds. A column is one pass of the large model, and a square is one token")
    ax.legend(loc="center right", frameon=False)
    figure.savefig(PATH, dpi=160, metadata={"Software": None})
    print(f"The picture is made: {PATH}. Its alternative text: {words(race)}")


def first_text(race: Race) -> Race:
    """The first text of `race`, as a race of its own."""
    lanes = [replace(lane, texts=lane.texts[:1]) for lane in race.lanes]
    return replace(race, lanes=lanes, prompts=race.prompts[:1])


def _draw(ax: Axes, lane: Lane, own: str, accepted: str) -> None:
    """A column for each pass: the draft tokens that it accepted, and the model's own on top."""
    drafted = [(each.ends, i) for each in lane.passes for i in range(1, len(each.pieces))]
    written = [(each.ends, len(each.pieces)) for each in lane.passes]
    square = {"s": 16, "marker": "s"}
    if drafted:
        x, y = zip(*drafted, strict=True)
        ax.scatter(x, y, facecolors="none", edgecolors=accepted, label="drafted", **square)
    x, y = zip(*written, strict=True)
    ax.scatter(x, y, color=own, label="written by the large model", **square)
    ax.axvline(lane.seconds, color="black", linewidth=0.8)
    title = f"{lane.name}: {lane.seconds:.2f} s, {len(lane.passes)} passes"
    ax.set_title(title, loc="left", fontsize=11)
    ax.spines[["left", "top", "right"]].set_visible(False)


def words(race: Race) -> str:
    """What the picture shows, in a sentence: its alternative text."""
    plain, fast = race.lanes
    return (
        f"Two decoders write the same {len(plain.pieces[0])} tokens. {plain.name.capitalize()} "
        f"takes {plain.seconds:.2f} s and {len(plain.passes)} passes of the large model. "
        f"{fast.name.capitalize()} takes {fast.seconds:.2f} s and {len(fast.passes)} passes."
    )


if __name__ == "__main__":
    main()
