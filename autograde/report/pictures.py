"""The report's figures, as PNG with alternative text made from the same numbers."""

import base64
import io
from collections.abc import Sequence
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import PercentFormatter

from autograde.report.statistics import ChapterCount, ExerciseCount

MET = "#0072b2"
SHADES = LinearSegmentedColormap.from_list("met", ["#f0f0f0", "#9cc7e0", "#00466e"])
WIDTH = 7.0  # inches
NARROWEST = 0.03  # of the bar; a narrower part has no room for its number


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
    """For each exercise, how many students met none, one, two, ... and all of its behaviours."""
    figure = Figure(figsize=(WIDTH, 1.1 + 0.32 * len(exercises)), layout="constrained")
    ax = figure.subplots()
    for place, exercise in enumerate(exercises):
        _distribution(ax, place, exercise)
    ax.set_yticks(range(len(exercises)), [exercise.name for exercise in exercises])
    ax.invert_yaxis()
    ax.set_xlim(0, 1)
    ax.xaxis.set_major_formatter(PercentFormatter(1))
    ax.set_xlabel("share of the students; in each part, how many they are")
    looks = {"none met": SHADES(0.0), "some": SHADES(0.5), "all met": SHADES(1.0)}
    parts = [Patch(facecolor=colour, edgecolor="black", label=k) for k, colour in looks.items()]
    figure.legend(handles=parts, loc="outside upper right", ncols=3, frameon=False)
    rows = "; ".join(map(_counts_text, exercises))
    return _picture(figure, f"Students by test groups passed. {rows}.")


def _distribution(ax: Axes, place: int, exercise: ExerciseCount) -> None:
    """One bar of parts, from no behaviour met to all, each with its number of students."""
    students, left = sum(exercise.students_by_passed.values()) or 1, 0.0
    for passed, count in sorted(exercise.students_by_passed.items()):
        met, share = passed / (exercise.behaviours or 1), count / students
        ax.barh(place, share, left=left, color=SHADES(met), edgecolor="black", linewidth=0.5)
        if share > NARROWEST:
            colour = "white" if met > 0.5 else "black"
            ax.text(left + share / 2, place, count, ha="center", va="center", color=colour)
        left += share


def _counts_text(exercise: ExerciseCount) -> str:
    counts = ", ".join(
        f"{passed} of {exercise.behaviours}: {count}"
        for passed, count in sorted(exercise.students_by_passed.items())
    )
    return f"{exercise.name}: {counts}"


def _picture(figure: Figure, alt: str) -> Picture:
    memory = io.BytesIO()
    figure.savefig(memory, format="png", dpi=130, metadata={"Software": None})
    return Picture(alt, base64.b64encode(memory.getvalue()).decode())
