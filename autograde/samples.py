"""A small class to try the grader on, made from the release: nothing of it is stored."""

from collections.abc import Callable
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograde.files import write_if_changed
from autograde.grading.misconceptions import misconceptions_of
from autograde.intake import release_of
from autograde.submissions import filled, solutions_of

TROUBLES = (
    "import os\nos._exit(0)",
    "def {name}(*args):\n    while True:\n        pass",
    "def {name}(*args)\n    return 0",
    "def {name}(*args):\n    return [1] * 10**12",
)


def everything_right(chapter: str) -> dict[str, str]:
    """All answers of the solution."""
    return solutions_of(chapter)


def half_right(chapter: str) -> dict[str, str]:
    """The first half of the solution's answers, the other cells as they were released."""
    answers = list(solutions_of(chapter).items())
    return dict(answers[: len(answers) // 2])


def blank(chapter: str) -> dict[str, str]:
    """No answer at all."""
    return {}


def misconceived(chapter: str) -> dict[str, str]:
    """The first known wrong answer to every function, the rest right."""
    wrong = {w.exercise: w.code for w in reversed(misconceptions_of(chapter).all)}
    return solutions_of(chapter) | wrong


def crashing(chapter: str) -> dict[str, str]:
    """Functions that end the process, never end, do not parse or ask for all memory.

    They are the last of the chapter, so that what stands before them can still be right.
    """
    functions = list(dict.fromkeys(w.exercise for w in misconceptions_of(chapter).all))
    pairs = zip(reversed(functions), TROUBLES, strict=False)
    troubles = {name: trouble.replace("{name}", name) for name, trouble in pairs}
    return solutions_of(chapter) | troubles


STUDENTS: dict[str, Callable[[str], dict[str, str]]] = {
    "ada-right": everything_right,
    "ben-half": half_right,
    "cleo-misconceived": misconceived,
    "dan-blank": blank,
    "eve-crashing": crashing,
}


def sample(student: str, chapter: str) -> NotebookNode:
    """The notebook that one of `STUDENTS` hands in."""
    return filled(release_of(chapter), STUDENTS[student](chapter))


def write_class(submitted: Path, chapters: list[str]) -> None:
    """Write every student's notebooks below `submitted`, in nbgrader's layout."""
    for student in STUDENTS:
        for chapter in chapters:
            text = nbformat.writes(sample(student, chapter)) + "\n"
            path = submitted / student / chapter / f"{chapter}.ipynb"
            write_if_changed(path, text.encode())
