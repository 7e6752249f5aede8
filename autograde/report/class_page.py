"""A class on one page that holds everything it shows: what `autograde report` writes."""

import base64
import io
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from autograde.bugs import bugs_of
from autograde.files import printable
from autograde.report.feedback import points
from autograde.result import Grades, Override, ResultJson

TEMPLATES = Path(__file__).with_name("templates")
SHADES = LinearSegmentedColormap.from_list("points", ["#f0f0f0", "#9cc7e0", "#00466e"])
NARROWEST = 0.03  # of the bar; a narrower part has no room for its number

Results = Mapping[str, ResultJson]  # of one chapter, by student


def class_page(grades: Grades, overrides: Iterable[Override] = ()) -> str:
    """The page, as HTML. `overrides` are manual marks that stand over other automatic ones."""
    jinja = Environment(
        autoescape=True, undefined=StrictUndefined, loader=FileSystemLoader(TEMPLATES)
    )
    # A student's folder may be called anything, and UTF-8 has no odd bytes.
    jinja.filters["printable"] = printable
    names = sorted({name for chapters in grades.values() for name in chapters})
    return jinja.get_template("class_page.html.j2").render(
        students=len(grades),
        chapters=[
            _chapter(name, {s: c[name] for s, c in sorted(grades.items()) if name in c})
            for name in names
        ],
        overrides=[
            (o.student, o.chapter, o.exercise, points(o.automatic), points(o.by_hand))
            for o in overrides
        ],
    )


def _chapter(name: str, results: Results) -> dict[str, Any]:
    """A chapter as the template shows it: its tables are lists of rows of texts."""
    graded = {s: result for s, result in results.items() if result["status"] == "graded"}
    failed = {s: result["reason"] for s, result in results.items() if s not in graded}
    total = sum(result["score"] for result in graded.values())
    return {
        "name": name,
        "graded": len(graded),
        "mean": f"{total / max(len(graded), 1):.1f}",
        "max_score": points(max(result["max_score"] for result in results.values())),
        "picture": _picture(_by_points(graded)) if graded else None,
        "mistakes": _mistakes(name, graded),
        "failed": [(student, " ".join(why.split())) for student, why in failed.items()],
        "limited": ", ".join(s for s, result in results.items() if result.get("limited")),
    }


def _by_points(results: Results) -> dict[tuple[str, float], Counter[float]]:
    """How many students have how many points, by exercise and its maximum."""
    counts: dict[tuple[str, float], Counter[float]] = {}
    for result in results.values():
        for name, exercise in result["exercises"].items():
            counts.setdefault((name, exercise["max_score"]), Counter())[exercise["score"]] += 1
    return counts


def _mistakes(chapter: str, results: Results) -> list[tuple[str, ...]]:
    """Each known mistake in words, how many have it, where it shows and who; the most common first.

    A mistake stands for itself if the chapter no longer knows it.
    """
    texts = {bug.think: f"{bug.think} But {bug.because}" for bug in bugs_of(chapter)}
    found: dict[str, tuple[dict[str, None], dict[str, None]]] = {}
    for student, result in results.items():
        for name, exercise in result["exercises"].items():
            for cause in exercise.get("causes", ()):
                places, who = found.setdefault(cause, ({}, {}))
                places[name] = who[student] = None
    rows = sorted(found.items(), key=lambda each: (-len(each[1][1]), *each[1][0], each[0]))
    return [
        (texts.get(cause, cause), str(len(who)), ", ".join(places), ", ".join(who))
        for cause, (places, who) in rows
    ]


def _picture(counts: Mapping[tuple[str, float], Counter[float]]) -> dict[str, str]:
    """A bar for each exercise, from no points to all: its PNG in base64, and the same in words."""
    figure = Figure(figsize=(7.0, 0.9 + 0.32 * len(counts)), layout="constrained")
    ax = figure.subplots()
    for place, ((_, most), students) in enumerate(counts.items()):
        _bar(ax, place, most, students)
    ax.set_yticks(range(len(counts)), [name for name, _ in counts])
    ax.invert_yaxis()
    ax.set_xlim(0, 1)
    ax.xaxis.set_major_formatter(PercentFormatter(1))
    ax.set_xlabel("share of the students, from no points (light) to all (dark)")
    memory = io.BytesIO()
    figure.savefig(memory, format="png", dpi=130, metadata={"Software": None})
    rows = "; ".join(_words(name, most, students) for (name, most), students in counts.items())
    return {"alt": f"{rows}.", "png": base64.b64encode(memory.getvalue()).decode()}


def _bar(ax: Axes, place: int, most: float, students: Counter[float]) -> None:
    """One bar of parts, each with its number of students."""
    left = 0.0
    for score, count in sorted(students.items()):
        share, part = count / students.total(), score / (most or 1)
        ax.barh(place, share, left=left, color=SHADES(part), edgecolor="black", linewidth=0.5)
        if share > NARROWEST:
            colour = "white" if part > 0.5 else "black"
            ax.text(left + share / 2, place, count, ha="center", va="center", color=colour)
        left += share


def _words(name: str, most: float, students: Counter[float]) -> str:
    counts = ", ".join(f"{count} with {points(score)}" for score, count in sorted(students.items()))
    mean = sum(score * count for score, count in students.items()) / students.total()
    return f"{name}, of {points(most)} points: {counts}, mean {points(mean)}"
