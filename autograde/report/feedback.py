"""The feedback under one exercise, for the feedback page and for formgrader.

Lists, divisions and emphasis only: nbgrader's sanitizer shows every other tag as text. Every text
may hold a student's values, so every text is escaped.
"""

import re
from collections.abc import Mapping
from html import escape

from autograde.report.sections import Section
from autograde.result import Exercise, GroupResult, Result

LIMITED = (
    "**A time limit decided:** a cell or a call was stopped. What was stopped is named below. "
    "Marking it again tries again."
)
# Characters that turn the direction of what follows, and old control characters.
TURNING = dict.fromkeys([*range(0x80, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A)])


# A call in a message, up to what came of it.
CALL = re.compile(r"\b[a-zA-Z_]\w*\(.*?\)(?= (?:returned|raised|gave) )", re.DOTALL)


def points(number: float) -> str:
    """Points as people read them: at most two decimals, and none that is a zero: 2, 0.67, 8.87.

    For pages and tables; files that programs read hold every digit.
    """
    return f"{round(float(number), 2):g}"


def summary_markdown(result: Result) -> str:
    """The first cell of a graded notebook: what is not right, and then what is, with links."""
    lines = [
        f"- [{name}](#test_{name}): {_points(e)}; {_first_reason(e)}"
        for name, e in result.exercises.items()
        if not is_right(e)
    ]
    title = f"### Result: {_points(result)} from the tests"
    limited = [LIMITED, ""] if result.limited else []
    return "\n".join([title, "", *limited, *lines, *_right(result)])


def is_right(exercise: Exercise) -> bool:
    """Whether there is an answer, and all of it is right."""
    return exercise.note is None and exercise.passed == len(exercise.groups)


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
    """The first test group that is missing, in our words; a message may hold a student's."""
    if exercise.note is not None:
        return "no answer yet"
    return f"not yet: {next(b.name for b in exercise.groups if not b.passed)}"


def to_read(name: str, exercise: Exercise, sections: Mapping[str, Section]) -> Section | None:
    """The section that explains what is wrong in an exercise, if any is.

    None too if there is no answer, and if its only fault is explained in an exercise above: that
    exercise names the section.
    """
    if exercise.note or is_right(exercise):
        return None
    causes = {b.cause for b in exercise.groups if b.cause}
    return None if exercise.see_first and len(causes) < 2 else sections.get(name)


def exercise_html(exercise: Exercise, section: Section | None = None) -> str:
    """A list of the exercise's test groups by name, with what is to be said of each.

    Below it a link to `section`, which is to be read again. MathJax leaves the class
    tex2jax_ignore alone: a student's value may look like a formula. The page does not show the
    points of the class from-tests, since its label has the mark.
    """
    line = f"<div>{escape(exercise.note)}</div>" if exercise.note else ""
    rows = "".join(map(_row, exercise.groups)) if exercise.note is None else ""
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


def _row(group: GroupResult) -> str:
    name = escape(group.name)
    text = _with_call((group.message or group.told).translate(TURNING))
    below = f"<div>{text}</div>" if text else ""
    if group.passed:
        return f'<li class="right">right: {name}{below}</li>'
    return f'<li class="wrong"><strong>not yet: {name}</strong>{below}</li>'


def _with_call(text: str) -> str:
    """A message with its call in a line of its own."""
    call = CALL.search(text)
    if call is None:
        return escape(text)
    before, after = text[: call.start()], text[call.end() :]
    return f'{escape(before)}<div class="call">{escape(call[0])}</div>{escape(after.strip())}'
