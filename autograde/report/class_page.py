"""A class on one page that holds everything it shows: what `autograde report` writes."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from autograde.grading.result import Grades, ResultJson
from autograde.hidden.collected import bugs_of
from autograde.report.feedback import points

TEMPLATES = Path(__file__).with_name("templates")

Results = Mapping[str, ResultJson]  # of one chapter, by student


def class_page(grades: Grades) -> str:
    """The page, as HTML."""
    loader = FileSystemLoader(TEMPLATES)
    jinja = Environment(autoescape=True, undefined=StrictUndefined, loader=loader)
    names = sorted({name for chapters in grades.values() for name in chapters})
    page = jinja.get_template("class_page.html.j2").render(
        students=len(grades),
        chapters=[
            _chapter(name, {s: c[name] for s, c in sorted(grades.items()) if name in c})
            for name in names
        ],
    )
    return page.encode(errors="replace").decode()  # the bytes of a folder's name may be no text


def _chapter(name: str, results: Results) -> dict[str, Any]:
    """A chapter as the template shows it: its tables are lists of rows of texts."""
    graded = {s: result for s, result in results.items() if result["status"] == "graded"}
    return {
        "name": name,
        "graded": len(graded),
        "mean": points(fmean(r["score"] for r in graded.values())) if graded else "0",
        "max_score": points(max(result["max_score"] for result in results.values())),
        "exercises": _exercises(graded),
        "mistakes": _mistakes(name, graded),
        "failed": [(s, result["reason"]) for s, result in results.items() if s not in graded],
        "limited": ", ".join(s for s, result in results.items() if result.get("limited")),
    }


def _exercises(results: Results) -> list[tuple[str, ...]]:
    """Each exercise, its points, their mean, and how many students have how many."""
    scores: dict[tuple[str, float], list[float]] = {}
    for result in results.values():
        for name, exercise in result["exercises"].items():
            scores.setdefault((name, exercise["max_score"]), []).append(exercise["score"])
    return [
        (name, points(most), points(fmean(given)), _counts(given))
        for (name, most), given in scores.items()
    ]


def _counts(scores: list[float]) -> str:
    counted = sorted(Counter(scores).items())
    return ", ".join(f"{count} with {points(score)}" for score, count in counted)


def _mistakes(chapter: str, results: Results) -> list[tuple[str, ...]]:
    """Each known mistake in words, how many have it and who; the most common first."""
    texts = {bug.think: f"{bug.think} But {bug.because}" for bug in bugs_of(chapter)}
    found: dict[str, list[str]] = {}
    for student, result in results.items():
        causes = (e.get("causes", ()) for e in result["exercises"].values())
        for cause in {each for some in causes for each in some}:
            found.setdefault(cause, []).append(student)
    rows = sorted(found.items(), key=lambda each: (-len(each[1]), each[0]))
    return [(texts.get(cause, cause), str(len(who)), ", ".join(who)) for cause, who in rows]
