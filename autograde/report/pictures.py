"""The report's figures, as PNG with alternative text made from the same numbers."""

import base64
import io
from collections.abc import Sequence
from html import escape

from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from autograde.report.statistics import Chapter, ExerciseCount

MET, SOME, NONE = "#0072b2", "#9cc7e0", "#d9d9d9"
WIDTH = 7.0  # inches


def scores_histogram(chapter: Chapter) -> str:
    """How many students have how many points, in ten bins, as an <img>."""
    figure = Figure(figsize=(WIDTH, 2.4), layout="constrained")
    ax = figure.subplots()
    width = chapter.max_score / 10 or 1.0
    edges = [width * i for i in range(11)]
    counts, _, _ = ax.hist(list(chapter.scores.values()), bins=edges, color=MET, edgecolor="white")
    ax.set_xlabel(f"points from the tests, of {chapter.max_score:g}")
    ax.set_ylabel("students")
    ax.yaxis.get_major_locator().set_params(integer=True)
    told = ", ".join(
        f"{edges[i]:g} to {edges[i + 1]:g} points: {int(n)}" for i, n in enumerate(counts) if n
    )
    return _image(figure, f"Students by points. {told or 'Nobody was graded'}.")


def behaviours_met(exercises: Sequence[ExerciseCount]) -> str:
    """How many students met all, some and no behaviours of each exercise, as an <img>."""
    figure = Figure(figsize=(WIDTH, 1.1 + 0.32 * len(exercises)), layout="constrained")
    ax = figure.subplots()
    names = [exercise.name for exercise in exercises]
    left = [0.0] * len(names)
    looks = {"all": (MET, ""), "some": (SOME, "//"), "none": (NONE, "..")}
    for (kind, (colour, hatch)), shares in zip(looks.items(), _by_kind(exercises), strict=True):
        ax.barh(names, shares, left=left, color=colour, hatch=hatch, edgecolor="white", label=kind)
        left = [start + share for start, share in zip(left, shares, strict=True)]
    ax.invert_yaxis()
    ax.set_xlim(0, 1)
    ax.xaxis.set_major_formatter(PercentFormatter(1))
    ax.set_xlabel("students who met all, some or no behaviours")
    figure.legend(loc="outside upper right", ncols=3, frameon=False)
    told = "; ".join(_told(exercise) for exercise in exercises)
    return _image(figure, f"Students by behaviours met. {told}.")


def _by_kind(exercises: Sequence[ExerciseCount]) -> list[list[float]]:
    return [[exercise.shares[i] for exercise in exercises] for i in range(3)]


def _told(exercise: ExerciseCount) -> str:
    most, some, none = exercise.shares
    return f"{exercise.name}: all {most:.0%}, some {some:.0%}, none {none:.0%}"


def _image(figure: Figure, alt: str) -> str:
    memory = io.BytesIO()
    figure.savefig(memory, format="png", dpi=130, metadata={"Software": None})
    data = base64.b64encode(memory.getvalue()).decode()
    return f'<img alt="{escape(alt)}" src="data:image/png;base64,{data}">'
