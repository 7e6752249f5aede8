"""Answers as students write them: the solution's, with other texts in it."""

from autograde.course import chapter_names
from autograde.hidden.material import material_of


def chapter_of(exercise: str) -> str:
    """The chapter that asks for it: no two have an exercise of one name."""
    (chapter,) = [each for each in chapter_names() if exercise in material_of(each).answers]
    return chapter


def with_slips(exercise: str, *slips: tuple[str, str]) -> str:
    """The solution's answer with the new text of each slip for the old, which stands there once."""
    code = material_of(chapter_of(exercise)).answers[exercise]
    for old, new in slips:
        assert code.count(old) == 1, (exercise, old)
        code = code.replace(old, new)
    return code
