"""The feedback on exercises, for the feedback page and for formgrader.

Every text may hold a student's values, so every text is escaped.
"""

import re
from typing import Any

from autograde.grading.result import Exercise, GroupResult, Result
from autograde.report.templating import render

# Characters that change the direction of the text after them, and old control characters.
_DIRECTION_CONTROLS = dict.fromkeys(
    [*range(0x80, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
)
# A call in a message, up to its outcome.
_CALL = re.compile(r"\b[a-zA-Z_]\w*\(.*?\)(?= (?:returned|raised|gave) )", re.DOTALL)


def points(number: float) -> str:
    """Points with at most two decimals, without trailing zeros: 2, 0.67, 8.87."""
    return f"{round(float(number), 2):g}"


def summary_markdown(result: Result) -> str:
    """The text of a graded notebook's first cell: every exercise, with a link to it."""
    lines = [
        f"- [{n}](#test_{n}): {_score(e)}{_first_failure(e)}" for n, e in result.exercises.items()
    ]
    title = f"### Result: {_score(result)} from the tests"
    limited = ["**A time limit decided this result.** Grading it again repeats the run.", ""]
    return "\n".join([title, "", *(limited if result.limited else []), *lines])


def _score(result: Result | Exercise) -> str:
    return f"{points(result.score)} of {points(result.max_score)} points"


def _first_failure(exercise: Exercise) -> str:
    """The name of the first failed test group; its message may hold a student's text."""
    if exercise.note is not None:
        return "; no answer yet"
    failed = [group.name for group in exercise.groups if not group.passed]
    return f"; not yet: {failed[0]}" if failed else ""


def exercise_html(exercise: Exercise) -> str:
    """The test groups of an exercise with their messages, as HTML.

    Below them is a link to the earlier exercise that explains the mistake, if there is one.
    """
    return render(
        "exercise.html.j2",
        note=exercise.note,
        groups=[_group_values(group) for group in exercise.groups],
        see_first=exercise.see_first,
    )


def _group_values(group: GroupResult) -> dict[str, Any]:
    """A test group as the template takes it: the message is split at the call in it."""
    text = (group.message or group.pass_message).translate(_DIRECTION_CONTROLS)
    values = {"name": group.name, "passed": group.passed, "text": text}
    call = _CALL.search(text)
    if call is None:
        return values | {"before": text, "call": ""}
    before = text[: call.start()]
    return values | {"before": before, "call": call[0], "after": text[call.end() :].strip()}
