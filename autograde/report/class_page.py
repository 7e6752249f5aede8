"""A class on one page that holds everything it shows: what `autograde report` writes."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from autograde.files import printable
from autograde.report.pictures import behaviours_met, scores_histogram
from autograde.report.statistics import ChapterCount, counts_of
from autograde.result import Grades, Override, Seconds, Written

TEMPLATES = Path(__file__).with_name("templates")


def class_page(
    grades: Grades,
    overrides: Iterable[Override] = (),
    seconds: Seconds | None = None,
    written: Iterable[Written] = (),
) -> str:
    """The page, as HTML. `overrides` are manual marks that stand over other automatic ones.

    `seconds` tells how long grading took, by student and chapter; None if it is not known.
    `written` are the marks that people gave to written answers.
    """
    jinja = Environment(
        autoescape=True, undefined=StrictUndefined, loader=FileSystemLoader(TEMPLATES)
    )
    # A student's folder may be called anything, and UTF-8 has no odd bytes.
    jinja.filters["printable"] = printable
    return jinja.get_template("class_page.html.j2").render(
        students=len(grades),
        chapters=[_shown(count) for count in counts_of(grades, seconds)],
        written=[
            (w.chapter, w.name, f"{w.most:g}", f"{len(w.marks)} of {w.answers}", _mean(w))
            for w in written
        ],
        overrides=[
            (o.student, o.chapter, o.exercise, f"{o.automatic:g}", f"{o.by_hand:g}")
            for o in overrides
        ],
    )


def _mean(written: Written) -> str:
    return f"{sum(written.marks) / len(written.marks):.2f}" if written.marks else ""


def _shown(chapter: ChapterCount) -> dict[str, Any]:
    """A chapter's numbers as the template shows them: its tables are lists of rows of texts."""
    graded = len(chapter.scores)
    return {
        "name": chapter.name,
        "graded": graded,
        "mean": f"{sum(chapter.scores.values()) / graded if graded else 0:.1f}",
        "max_score": f"{chapter.max_score:g}",
        "histogram": scores_histogram(chapter) if graded else None,
        "bars": behaviours_met(chapter.exercises) if graded else None,
        "exercises": [
            (
                e.name,
                f"{e.max_score:g}",
                f"{e.mean:.0%}",
                str(e.by_itself),
            )
            for e in chapter.exercises
        ],
        "misconceptions": [
            (m.text, str(len(m.students)), ", ".join(m.exercises), ", ".join(m.students))
            for m in chapter.misconceptions
        ],
        "failed": [(s, " ".join(why.split())) for s, why in sorted(chapter.failed.items())],
        "limited": ", ".join(chapter.limited),
        "slowest": [(student, f"{seconds:.2f}") for student, seconds in chapter.slowest],
    }
