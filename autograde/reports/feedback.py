"""The feedback under one exercise, for nbgrader's feedback page and for formgrader.

Plain tags and classes only: nbgrader's sanitizer takes everything else away. Every text may hold
a student's values, so every text is escaped.
"""

from html import escape

from autograde.grading.results import Behaviour, Exercise


def exercise_html(exercise: Exercise) -> str:
    """A list of the exercise's behaviours: met ones by name, the others with their message."""
    if exercise.note is not None:
        note = escape(exercise.note)
        return f"<p><strong>0 of {exercise.max_score:g} points</strong>: {note}</p>"
    rows = "".join(_row(b) for b in exercise.behaviours)
    return (
        f"<p><strong>{exercise.passed} of {len(exercise.behaviours)} behaviours right, "
        f"{exercise.score:g} of {exercise.max_score:g} points</strong></p><ul>{rows}</ul>"
    )


def _row(behaviour: Behaviour) -> str:
    if behaviour.passed:
        return f"<li>right: {escape(behaviour.name)}</li>"
    text = escape(behaviour.message)
    return f"<li><strong>not yet: {escape(behaviour.name)}</strong><br>{text}</li>"


def exercise_text(exercise: Exercise) -> str:
    """The same as plain text."""
    if exercise.note is not None:
        return exercise.note
    lines = [
        f"right: {b.name}" if b.passed else f"not yet: {b.name}\n    {b.message}"
        for b in exercise.behaviours
    ]
    return "\n".join(lines)
