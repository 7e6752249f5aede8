"""The report's figures, as PNG with alternative text made from the same numbers."""

import base64
import io
from collections.abc import Sequence
from html import escape

from matplotlib.figure import Figure

from autograde.reports.statistics import Chapter, ExerciseCount

MET, NOT_MET = "#0072b2", "#d9d9d9"


def scores_histogram(chapter: Chapter) -> str:
    """How many students have how many points, in ten bins, as an <img>."""
    figure = Figure(figsize=(7, 2.4))
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
    """The share of behaviours met, exercise by exercise, as an <img>."""
    figure = Figure(figsize=(7, 0.5 + 0.32 * len(exercises)))
    ax = figure.subplots()
    names = [exercise.name for exercise in exercises]
    shares = [exercise.mean for exercise in exercises]
    ax.barh(names, [1] * len(names), color=NOT_MET)
    ax.barh(names, shares, color=MET, hatch="//", edgecolor="white")
    for i, share in enumerate(shares):
        ax.text(1.01, i, f"{share:.0%}", va="center")
    ax.invert_yaxis()
    ax.set_xlim(0, 1.12)
    ax.set_xlabel("share of behaviours met")
    told = ", ".join(f"{name} {share:.0%}" for name, share in zip(names, shares, strict=True))
    return _image(figure, f"Mean share of behaviours met. {told}.")


def _image(figure: Figure, alt: str) -> str:
    memory = io.BytesIO()
    figure.savefig(memory, format="png", dpi=130, bbox_inches="tight", metadata={"Software": None})
    data = base64.b64encode(memory.getvalue()).decode()
    return f'<img alt="{escape(alt)}" src="data:image/png;base64,{data}">'
