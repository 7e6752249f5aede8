"""`autograde report`: a class on one page that holds everything it shows."""

from collections.abc import Iterable, Mapping
from html import escape

from autograde.grading.misconceptions import Misconception, misconceptions_of
from autograde.reports.gradebook import Override
from autograde.reports.pictures import behaviours_met, scores_histogram
from autograde.reports.statistics import Chapter, Found, Grades, chapters_of

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #1b1b1b; background: #fff; margin: 1.5rem auto;
  max-width: 60rem; padding: 0 1rem; }
table { border-collapse: collapse; display: block; overflow-x: auto; max-width: 100%; }
th, td { border-bottom: 1px solid #bbb; padding: .25rem .75rem .25rem 0; text-align: left;
  vertical-align: top; }
td.number, th.number { text-align: right; }
img { max-width: 100%; height: auto; }
td { overflow-wrap: anywhere; }
@media print { h2 { break-before: page; } h2:first-of-type { break-before: auto; } }
"""


def report(grades: Grades, overrides: Iterable[Override] = ()) -> str:
    """The page, as HTML. `overrides` are manual marks that stand over other automatic ones."""
    chapters = chapters_of(grades)
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
    pictures = scores_histogram(chapter) + behaviours_met(chapter.exercises) if graded else ""
    return (
        f"<h2>{escape(chapter.name)}</h2><p>{graded} graded, mean {mean:.1f} of "
        f"{chapter.max_score:g} points; {len(chapter.failed)} could not be graded.</p>{pictures}"
        f"{_misconceptions(chapter)}{_failed(chapter.failed)}"
    )


def _misconceptions(chapter: Chapter) -> str:
    """What was thought, how often, and by whom."""
    if not chapter.found:
        return ""
    known = {(w.exercise, w.name): w for w in misconceptions_of(chapter.name).all}
    rows = [
        (each.exercise, _thought(known, each), str(len(each.students)), ", ".join(each.students))
        for each in chapter.found
    ]
    return "<h3>Misconceptions found</h3>" + _table(
        ("exercise", "thought", "students", "who"), rows
    )


def _thought(known: Mapping[tuple[str, str], Misconception], found: Found) -> str:
    wrong = known.get((found.exercise, found.cause))
    return f"{wrong.think} It is not so: {wrong.because}" if wrong else found.cause


def _failed(failed: Mapping[str, str]) -> str:
    if not failed:
        return ""
    return "<h3>Could not be graded</h3>" + _table(("student", "why"), sorted(failed.items()))


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


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    top = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
    body = "".join("<tr>" + "".join(f"<td>{escape(c)}</td>" for c in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
