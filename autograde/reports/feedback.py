"""The feedback under one exercise, for nbgrader's feedback page and for formgrader.

Lists, divisions and emphasis only: nbgrader's sanitizer shows every other tag as text. Every text
may hold a student's values, so every text is escaped.
"""

from html import escape

from autograde.grading.results import Behaviour, Exercise, Result


def summary_markdown(result: Result) -> str:
    """The first cell of a graded notebook: every exercise with its points and a link to it."""
    lines = [
        f"- [{name}](#test_{name}): {e.score:g} of {e.max_score:g} points{_behaviours(e)}"
        for name, e in result.exercises.items()
    ]
    by_hand = [f"- [{name}](#{name}): marked by a person" for name in result.pending]
    title = f"### Result: {result.score:g} of {result.max_score:g} points from the tests"
    return "\n".join([title, "", *lines, *by_hand])


def exercise_html(exercise: Exercise) -> str:
    """A list of the exercise's behaviours: met ones by name, the others with their message."""
    if exercise.note is not None:
        note = escape(exercise.note)
        points = f"{exercise.score:g} of {exercise.max_score:g} points"
        return f"<div><strong>{points}</strong>: {note}</div>"
    rows = "".join(_row(b) for b in exercise.behaviours)
    return (
        f"<div><strong>{exercise.score:g} of {exercise.max_score:g} points"
        f"{_behaviours(exercise)}</strong></div><ul>{rows}</ul>"
    )


def _behaviours(exercise: Exercise) -> str:
    total = len(exercise.behaviours)
    return f", {exercise.passed} of {total} behaviours right" if total > 1 else ""


def _row(behaviour: Behaviour) -> str:
    if behaviour.passed:
        return f"<li>right: {escape(behaviour.name)}</li>"
    text = escape(behaviour.message)
    return f"<li><strong>not yet: {escape(behaviour.name)}</strong><div>{text}</div></li>"


def exercise_text(exercise: Exercise) -> str:
    """The same as plain text."""
    if exercise.note is not None:
        return exercise.note
    lines = [
        f"right: {b.name}" if b.passed else f"not yet: {b.name}\n    {b.message}"
        for b in exercise.behaviours
    ]
    return "\n".join(lines)
