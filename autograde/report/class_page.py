"""A class on one page that holds everything it shows: what `autograde report` writes."""

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from autograde.bugs import bugs_of
from autograde.files import printable
from autograde.report.feedback import points
from autograde.result import Grades, Override

TEMPLATES = Path(__file__).with_name("templates")

Results = Mapping[str, dict]  # of one chapter, by student


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
        "exercises": _exercises(graded),
        "mistakes": _mistakes(name, graded),
        "failed": [(student, " ".join(why.split())) for student, why in failed.items()],
        "limited": ", ".join(s for s, result in results.items() if result.get("limited")),
    }


def _exercises(results: Results) -> list[tuple[str, ...]]:
    """Each exercise, its points, their mean, and how many students have how many."""
    counts: dict[tuple[str, float], Counter[float]] = {}
    for result in results.values():
        for name, exercise in result["exercises"].items():
            counts.setdefault((name, exercise["max_score"]), Counter())[exercise["score"]] += 1
    return [
        (name, points(most), points(_mean(students)), _in_words(students))
        for (name, most), students in counts.items()
    ]


def _mean(students: Counter[float]) -> float:
    return sum(score * count for score, count in students.items()) / students.total()


def _in_words(students: Counter[float]) -> str:
    return ", ".join(f"{count} with {points(score)}" for score, count in sorted(students.items()))


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
