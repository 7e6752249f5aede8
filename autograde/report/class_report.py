"""`autograde report`: a class on one page that holds everything it shows."""

from collections.abc import Iterable, Mapping
from html import escape

from autograde.files import printable
from autograde.report.pictures import behaviours_met, scores_histogram
from autograde.report.statistics import (
    Chapter,
    ExerciseCount,
    Found,
    Grades,
    Seconds,
    chapters_of,
)
from autograde.result import Override

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #1b1b1b; background: #fff; margin: 1.5rem auto;
  max-width: 60rem; padding: 0 1rem; }
table { border-collapse: collapse; }
th, td { border-bottom: 1px solid #bbb; padding: .25rem .75rem .25rem 0; text-align: left;
  vertical-align: top; }
h2, td { overflow-wrap: anywhere; }
td[data-name^="exercise"] { overflow-wrap: normal; }  /* names of ours, none of them long */
img { max-width: 100%; height: auto; display: block; margin: 1rem 0; }
@media (max-width: 40rem) {  /* a row becomes a card, each value behind its name */
  table, tbody, tr, td { display: block; }
  thead { position: absolute; clip-path: inset(50%); }
  tr { border-bottom: 1px solid #bbb; padding: .4rem 0; }
  td { border: 0; padding: 0; }
  td::before { content: attr(data-name) ": "; font-weight: bold; }
}
@media print {
  h2 { break-before: page; }
  h2:first-of-type { break-before: auto; }
  tr, img { break-inside: avoid; }
}
"""


def report(
    grades: Grades, overrides: Iterable[Override] = (), seconds: Seconds | None = None
) -> str:
    """The page, as HTML. `overrides` are manual marks that stand over other automatic ones.

    `seconds` tells how long grading took, by student and chapter; None where it is not known.
    """
    chapters = chapters_of(grades, seconds)
    parts = [_chapter(chapter) for chapter in chapters] or ["<p>Nobody has handed in anything.</p>"]
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Class report</title><style>{STYLE}</style></head><body><main>"
        f"<h1>Class report</h1><p>{len(grades)} students. Points are those of the tests; written "
        f"answers are marked in formgrader.</p>{''.join(parts)}{_overrides(list(overrides))}"
        "</main></body></html>\n"
    )


def _chapter(chapter: Chapter) -> str:
    graded = len(chapter.scores)
    mean = sum(chapter.scores.values()) / graded if graded else 0.0
    by_exercise = scores_histogram(chapter) + _exercises(chapter) if graded else ""
    return (
        f"<h2>{escape(chapter.name)}</h2><p>{graded} graded, mean {mean:.1f} of "
        f"{chapter.max_score:g} points; {len(chapter.failed)} could not be graded.</p>{by_exercise}"
        f"{_misconceptions(chapter)}{_failed(chapter.failed)}{_slowest(chapter)}"
    )


def _exercises(chapter: Chapter) -> str:
    """The picture, and how many students met how many behaviours of each exercise."""
    rows = [
        (e.name, f"{e.max_score:g}", f"{e.mean:.0%}", _distribution(e)) for e in chapter.exercises
    ]
    head = ("exercise", "points", "mean", "students by behaviours met")
    return f"<h3>By exercise</h3>{behaviours_met(chapter.exercises)}{_table(head, rows)}"


def _distribution(exercise: ExerciseCount) -> str:
    counts = exercise.students_by_passed.items()
    return ", ".join(f"{passed} of {exercise.behaviours}: {n}" for passed, n in counts)


def _misconceptions(chapter: Chapter) -> str:
    """What was thought, how often, in which exercises, and by whom."""
    rows = [
        (_thought(found), str(len(found.students)), ", ".join(found.exercises),
         ", ".join(found.students))
        for found in chapter.found
    ]  # fmt: skip
    if not rows:
        return ""
    head = ("thought", "students", "exercises", "who")
    return "<h3>Misconceptions found</h3>" + _table(head, rows)


def _thought(found: Found) -> str:
    return f"{found.think} It is not so: {found.because}" if found.because else found.think


def _slowest(chapter: Chapter) -> str:
    if not chapter.slowest:
        return ""
    rows = [(student, f"{seconds:.2f}") for student, seconds in chapter.slowest]
    return (
        "<h3>Slowest to grade</h3><p>Wall time of cells and tests. A call is stopped after 2 s, "
        "so an answer that never ends takes a few seconds.</p>"
        + _table(("student", "seconds"), rows)
    )


def _failed(failed: Mapping[str, str]) -> str:
    if not failed:
        return ""
    rows = [(student, " ".join(why.split())) for student, why in sorted(failed.items())]
    return "<h3>Could not be graded</h3>" + _table(("student", "why"), rows)


def _overrides(overrides: list[Override]) -> str:
    if not overrides:
        return ""
    rows = [
        (o.student, o.chapter, o.exercise, f"{o.automatic:g}", f"{o.by_hand:g}") for o in overrides
    ]
    head = ("student", "chapter", "exercise", "tests", "by hand")
    return (
        "<h2>Marks by hand that differ from the tests</h2><p>nbgrader shows the mark by hand, "
        f"also when a later grading gives another one.</p>{_table(head, rows)}"
    )


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    top = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
    body = "".join(f"<tr>{''.join(map(_cell, head, row))}</tr>" for row in rows)
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def _cell(name: str, text: str) -> str:
    """One value. A student's folder may be called anything, and UTF-8 has no odd bytes."""
    return f'<td data-name="{escape(name)}">{escape(printable(text))}</td>'
