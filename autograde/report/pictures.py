"""The report's figures, as PNG with alternative text made from the same numbers."""

import base64
import io
from collections.abc import Sequence
from typing import NamedTuple

from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from autograde.report.statistics import ChapterCount, ExerciseCount

MET, SOME, NONE = "#0072b2", "#9cc7e0", "#d9d9d9"
WIDTH = 7.0  # inches


class Picture(NamedTuple):
    """A figure: the text in its place, and its PNG in base64."""

    alt: str
    png: str


def scores_histogram(chapter: ChapterCount) -> Picture:
    """How many students have how many points, in ten bins."""
    figure = Figure(figsize=(WIDTH, 2.4), layout="constrained")
    ax = figure.subplots()
    width = chapter.max_score / 10 or 1.0
    edges = [width * i for i in range(11)]
    counts, _, _ = ax.hist(list(chapter.scores.values()), bins=edges, color=MET, edgecolor="white")
    ax.set_xlabel(f"points from the tests, of {chapter.max_score:g}")
    ax.set_ylabel("students")
    ax.yaxis.get_major_locator().set_params(integer=True)
    bins = ", ".join(
        f"{edges[i]:g} to {edges[i + 1]:g} points: {int(n)}" for i, n in enumerate(counts) if n
    )
    return _picture(figure, f"Students by points. {bins}.")


def behaviours_met(exercises: Sequence[ExerciseCount]) -> Picture:
    """How many students met all, some and no behaviours of each exercise."""
    figure = Figure(figsize=(WIDTH, 1.1 + 0.32 * len(exercises)), layout="constrained")
    ax = figure.subplots()
    names = [exercise.name for exercise in exercises]
    left = [0.0] * len(names)
    looks = {"all": (MET, ""), "some": (SOME, "//"), "none": (NONE, "..")}
    for number, (kind, (colour, hatch)) in enumerate(looks.items()):
        shares = [exercise.shares[number] for exercise in exercises]
        ax.barh(names, shares, left=left, color=colour, hatch=hatch, edgecolor="white", label=kind)
        left = [start + share for start, share in zip(left, shares, strict=True)]
    ax.invert_yaxis()
    ax.set_xlim(0, 1)
    ax.xaxis.set_major_formatter(PercentFormatter(1))
    ax.set_xlabel("students who met all, some or no behaviours")
    figure.legend(loc="outside upper right", ncols=3, frameon=False)
    rows = "; ".join(map(_shares_text, exercises))
    return _picture(figure, f"Students by behaviours met. {rows}.")


def _shares_text(exercise: ExerciseCount) -> str:
    most, some, none = exercise.shares
    return f"{exercise.name}: all {most:.0%}, some {some:.0%}, none {none:.0%}"


def _picture(figure: Figure, alt: str) -> Picture:
    memory = io.BytesIO()
    figure.savefig(memory, format="png", dpi=130, metadata={"Software": None})
    return Picture(alt, base64.b64encode(memory.getvalue()).decode())
