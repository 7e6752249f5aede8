"""The feedback under one exercise, for the feedback page and for formgrader.

Lists, divisions and emphasis only: nbgrader's sanitizer shows every other tag as text. Every text
may hold a student's values, so every text is escaped.
"""

from collections.abc import Mapping
from html import escape
from typing import NamedTuple

from autograde.report.sections import Section
from autograde.result import Behaviour, Exercise, Result


class Words(NamedTuple):
    """What a page says to whom: under written answers, and where a time limit decided."""

    written: str
    limited: str


CLASS = Words(
    "a person marks it",
    "**A time limit decided:** a cell or a call was stopped, also when everything was run again "
    "alone. What was stopped is named below. This result is not stored: grading again tries again.",
)


def points(number: float) -> str:
    """Points as people read them: at most two decimals, and none that is a zero: 2, 0.67, 8.87.

    For pages and tables; files that programs read hold every digit.
    """
    return f"{round(float(number), 2):g}"


def summary_markdown(result: Result, sections: Mapping[str, Section], words: Words = CLASS) -> str:
    """The first cell of a graded notebook: what is not right, and then what is, with links."""
    wrong = {name: e for name, e in result.exercises.items() if not is_right(e)}
    lines = [
        f"- [{name}](#test_{name}): {', '.join(filter(None, (_points(e), _parts(e))))}"
        f"; {_first_reason(e)}"
        for name, e in wrong.items()
    ]
    by_hand = [f"- [{name}](#{name}): {words.written}" for name in result.pending]
    title = f"### Result: {_points(result)} from the tests"
    limited = [words.limited, ""] if result.limited else []
    return "\n".join(
        [title, "", *limited, *lines, *by_hand, *_right(result), *_read_again(result, sections)]
    )


def is_right(exercise: Exercise) -> bool:
    """Whether there is an answer, and all of it is right."""
    return exercise.note is None and exercise.passed == len(exercise.behaviours)


def _right(result: Result) -> list[str]:
    """A line with the exercises that are right, if any are."""
    names = [
        f"[{name}](#test_{name}){' by itself' if e.remarks else ''}"
        for name, e in result.exercises.items()
        if is_right(e)
    ]
    return ["", f"Right: {', '.join(names)}."] if names else []


def _points(marked: Result | Exercise) -> str:
    return f"{points(marked.score)} of {points(marked.max_score)} points"


def _first_reason(exercise: Exercise) -> str:
    """The first behaviour that is missing, in our words; a message may hold a student's."""
    if exercise.note is not None:
        return "no answer yet"
    return f"not yet: {next(b.name for b in exercise.behaviours if not b.passed)}"


def _read_again(result: Result, sections: Mapping[str, Section]) -> list[str]:
    """A line with the sections to read again, each once."""
    again = {to_read(name, e, sections): None for name, e in result.exercises.items()}
    links = [f"[{section.title}](#{section.place})" for section in again if section]
    return ["", f"Read again: {'; '.join(links)}."] if links else []


def to_read(name: str, exercise: Exercise, sections: Mapping[str, Section]) -> Section | None:
    """The section that explains what is wrong in an exercise, if any is.

    None too if there is no answer, and if its only fault is explained in an exercise above: that
    exercise names the section.
    """
    if exercise.note or is_right(exercise):
        return None
    causes = {b.cause for b in exercise.behaviours if b.cause}
    return None if exercise.see_first and len(causes) < 2 else sections.get(name)


def exercise_html(exercise: Exercise, section: Section | None = None) -> str:
    """A list of the exercise's behaviours by name, with what is to be said of each.

    Below it a link to `section`, which is to be read again. MathJax leaves the class
    tex2jax_ignore alone: a student's value may look like a formula. The page does not show the
    points of the class from-tests, since its label has the mark.
    """
    told = exercise.note if exercise.note is not None else _parts(exercise)
    line = f"<div>{escape(told)}</div>" if told else ""
    rows = "".join(map(_row, exercise.behaviours)) if exercise.note is None else ""
    return (
        f'<div class="feedback tex2jax_ignore">'
        f'<div class="from-tests"><strong>{_points(exercise)}</strong></div>{line}'
        f"{rows and f'<ul>{rows}</ul>'}{_link(exercise, section)}</div>"
    )


def _link(exercise: Exercise, section: Section | None) -> str:
    lines = []
    if exercise.see_first:
        first = escape(exercise.see_first)
        lines.append(f'Read first: <a href="#test_{first}">{first}</a>')
    if section:
        lines.append(f'Read again: <a href="#{section.place}">{escape(section.title)}</a>')
    return "".join(f'<div class="again">{line}</div>' for line in lines)


def _parts(exercise: Exercise) -> str:
    """How many are right, of an answer that has several."""
    total, alone = len(exercise.behaviours), " by themselves" if exercise.remarks else ""
    several = total > 1 and exercise.note is None
    return f"{exercise.passed} of {total} parts right{alone}" if several else ""


def _row(behaviour: Behaviour) -> str:
    name, text = escape(behaviour.name), escape(behaviour.message or behaviour.told)
    below = f"<div>{text}</div>" if text else ""
    if behaviour.passed:
        return f'<li class="right">right: {name}{below}</li>'
    return f'<li class="wrong"><strong>not yet: {name}</strong>{below}</li>'
