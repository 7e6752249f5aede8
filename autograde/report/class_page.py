"""The class report as one self-contained page: what `autograde report` writes."""

from collections import Counter
from collections.abc import Mapping
from statistics import fmean
from typing import Any

from autograde.grading.result import Grades, ResultJson
from autograde.hidden.causes import bugs_of
from autograde.report.feedback import points
from autograde.report.templating import render

Results = Mapping[str, ResultJson]  # of one chapter, by student


def class_page(grades: Grades) -> str:
    """The page, as HTML."""
    names = sorted({name for chapters in grades.values() for name in chapters})
    students = sorted(grades.items())
    results = {name: {s: c[name] for s, c in students if name in c} for name in names}
    chapters = [_chapter_values(name, results[name]) for name in names]
    page = render("class_page.html.j2", students=len(grades), chapters=chapters)
    return page.encode(errors="replace").decode()  # a folder's name may hold bytes that are no text


def _chapter_values(name: str, results: Results) -> dict[str, Any]:
    """A chapter as the template takes it: its tables are lists of rows of texts."""
    graded = {s: result for s, result in results.items() if result["status"] == "graded"}
    return {
        "name": name,
        "graded": len(graded),
        "mean": points(fmean(r["score"] for r in graded.values())) if graded else "0",
        "max_score": points(max(result["max_score"] for result in results.values())),
        "exercises": _exercises(graded),
        "known_bugs": _known_bugs(name, graded),
        "failed": [(s, result["reason"]) for s, result in results.items() if s not in graded],
        "limited": ", ".join(s for s, result in results.items() if result.get("limited")),
    }


def _exercises(results: Results) -> list[tuple[str, ...]]:
    """A row per exercise: its name, its points, their mean, and the number of students by score."""
    scores: dict[tuple[str, float], list[float]] = {}
    for result in results.values():
        for name, exercise in result["exercises"].items():
            scores.setdefault((name, exercise["max_score"]), []).append(exercise["score"])
    return [
        (name, points(max_score), points(fmean(values)), _counts(values))
        for (name, max_score), values in scores.items()
    ]


def _counts(scores: list[float]) -> str:
    counts = sorted(Counter(scores).items())
    return ", ".join(f"{count} with {points(score)}" for score, count in counts)


def _known_bugs(chapter: str, results: Results) -> list[tuple[str, ...]]:
    """A row per known bug, the most common first: its text, and its students."""
    texts = {bug.think: f"{bug.think} But {bug.because}" for bug in bugs_of(chapter)}
    students_by_cause: dict[str, list[str]] = {}
    for student, result in results.items():
        exercises = result["exercises"].values()
        for cause in {cause for exercise in exercises for cause in exercise.get("causes", ())}:
            students_by_cause.setdefault(cause, []).append(student)
    rows = sorted(students_by_cause.items(), key=lambda row: (-len(row[1]), row[0]))
    return [(texts.get(c, c), str(len(students)), ", ".join(students)) for c, students in rows]
