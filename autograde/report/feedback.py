"""The feedback under one exercise, for the feedback page and for formgrader.

Lists, divisions and emphasis only: nbgrader's sanitizer shows every other tag as text. Every text
may hold a student's values, so every text is escaped.
"""

import re
from html import escape

from autograde.grading.result import Exercise, GroupResult, Result

# Characters that turn the direction of what follows, and old control characters.
TURNING = dict.fromkeys([*range(0x80, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A)])
# A call in a message, up to what came of it.
CALL = re.compile(r"\b[a-zA-Z_]\w*\(.*?\)(?= (?:returned|raised|gave) )", re.DOTALL)


def points(number: float) -> str:
    """Points as people read them: at most two decimals, and none that is a zero: 2, 0.67, 8.87."""
    return f"{round(float(number), 2):g}"


def summary_markdown(result: Result) -> str:
    """The first cell of a graded notebook: every exercise, with a link to it."""
    lines = [f"- [{n}](#test_{n}): {_points(e)}{_reason(e)}" for n, e in result.exercises.items()]
    title = f"### Result: {_points(result)} from the tests"
    limited = ["**A time limit decided.** Marking it again tries again.", ""]
    return "\n".join([title, "", *(limited if result.limited else []), *lines])


def _points(marked: Result | Exercise) -> str:
    return f"{points(marked.score)} of {points(marked.max_score)} points"


def _reason(exercise: Exercise) -> str:
    """The first test group that is missing, in our words; a message may hold a student's."""
    if exercise.note is not None:
        return "; no answer yet"
    missing = [group.name for group in exercise.groups if not group.passed]
    return f"; not yet: {missing[0]}" if missing else ""


def exercise_html(exercise: Exercise) -> str:
    """A list of the exercise's test groups by name, with what is to be said of each.

    Below it a link to the exercise above in which the fault is explained. MathJax leaves the class
    tex2jax_ignore alone: a student's value may look like a formula.
    """
    if exercise.note is None:
        said = f"<ul>{''.join(map(_row, exercise.groups))}</ul>"
    else:
        said = f"<div>{escape(exercise.note)}</div>"
    return f'<div class="feedback tex2jax_ignore">{said}{_link(exercise)}</div>'


def _link(exercise: Exercise) -> str:
    if not exercise.see_first:
        return ""
    first = escape(exercise.see_first)
    return f'<div class="again">Read first: <a href="#test_{first}">{first}</a></div>'


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
