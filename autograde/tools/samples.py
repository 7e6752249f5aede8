"""Classes to try the grader on, made from the release: nothing of them is stored.

`write_class` makes the five students of `make course`, `write_large_class` as many as one likes.
"""

import os
from collections.abc import Callable, Iterator
from itertools import cycle, islice
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograde.chapter import notebook_path
from autograde.files import write_if_changed
from autograde.submission import is_answer, release_of
from autograde.tools.submissions import filled, solutions_of
from autograde.wrong import misconceptions_of

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
    pairs = zip(reversed(functions_of(chapter)), TROUBLES, strict=False)
    troubles = {name: trouble.replace("{name}", name) for name, trouble in pairs}
    return solutions_of(chapter) | troubles


def functions_of(chapter: str) -> list[str]:
    """The graded functions of a chapter, in its order."""
    return list(dict.fromkeys(w.exercise for w in misconceptions_of(chapter).all))


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
            _write(submitted, student, chapter, as_text(sample(student, chapter)))


def as_text(notebook: NotebookNode) -> bytes:
    """The notebook as Jupyter saves it."""
    return (nbformat.writes(notebook) + "\n").encode()


def _write(submitted: Path, student: str, chapter: str, text: bytes) -> None:
    write_if_changed(notebook_path(submitted / student, chapter), text)


# --- a class of any size --------------------------------------------------------------------


def one_wrong(chapter: str, number: int) -> dict[str, str]:
    """One misconception, another one for each number, the rest right."""
    known = misconceptions_of(chapter).all
    wrong = known[number % len(known)]
    return solutions_of(chapter) | {wrong.exercise: wrong.code}


def one_trouble(chapter: str, number: int) -> dict[str, str]:
    """One function that ends the process, never ends, does not parse or asks for all memory."""
    functions = functions_of(chapter)
    turn = number // len(MIX)
    name = functions[turn % len(functions)]
    trouble = TROUBLES[turn % len(TROUBLES)].replace("{name}", name)
    return solutions_of(chapter) | {name: trouble}


def forging(chapter: str, number: int) -> dict[str, str]:
    """Wrong functions below code that reaches for the grader: its files, its checks, its mark."""
    functions = functions_of(chapter)
    attack = (
        "import builtins, glob, os, sys\n"
        "print(float('inf'), glob.glob('/**/gradebook.db'), os.environ)\n"
        "sys.modules['pytest'] = sys.modules['specdec_lib.lessons.common.examples'] = os\n"
        "class Always(float):\n"
        "    __eq__ = __le__ = lambda *_: True\n"
    )
    wrong = {name: f"def {name}(*args):\n    return Always(1)" for name in functions}
    return wrong | {functions[0]: attack + wrong[functions[0]]}


ANSWERS: dict[str, Callable[[str, int], dict[str, str]]] = {
    "right": lambda chapter, number: everything_right(chapter),
    "half": lambda chapter, number: half_right(chapter),
    "wrong": one_wrong,
    "misconceived": lambda chapter, number: misconceived(chapter),
    "blank": lambda chapter, number: blank(chapter),
    "trouble": one_trouble,
    "forging": forging,
}


def _broken(chapter: str, number: int) -> bytes:
    """Broken files of several kinds."""
    text = as_text(filled(release_of(chapter), solutions_of(chapter)))
    kinds = [text[: len(text) // 2], b"", b"[" * 100_000, b'{"cells": []}', bytes(range(256))]
    return kinds[number // len(MIX) % len(kinds)]


# Of twenty students: roughly what a class hands in, and some of everything that goes wrong.
MIX = (
    *("right", "wrong", "half", "right", "wrong", "right", "blank", "right", "half", "trouble"),
    *("right", "wrong", "half", "right", "misconceived", "right", "forging", "broken"),
    *("right", "half"),
)
GRADABLE = ("right", "half", "wrong")


def submission(kind: str, chapter: str, number: int, salt: str = "") -> bytes:
    """One student's file. `number` and `salt` stand in a comment: no two files are equal."""
    if kind == "broken":
        return _broken(chapter, number)
    notebook = filled(release_of(chapter), ANSWERS[kind](chapter, number))
    first = next(c for c in notebook.cells if is_answer(c) and c.cell_type == "code")
    first.source += f"\n# student {number} {salt}".rstrip()
    return as_text(notebook)


def large_class(students: int, kinds: tuple[str, ...] = MIX) -> Iterator[tuple[int, str, str]]:
    """For each student a number, a kind and a name that holds both."""
    for number, kind in enumerate(islice(cycle(kinds), students)):
        yield number, kind, f"s{number + 1:04d}-{kind}"


def write_large_class(
    submitted: Path,
    chapters: list[str],
    students: int,
    kinds: tuple[str, ...] = MIX,
    salt: str = "",
) -> None:
    """Write a class of so many students below `submitted`, the same bytes every time.

    Raises ValueError where there is something already: it may be a real class.
    """
    if submitted.exists() and any(os.scandir(submitted)):
        raise ValueError(f"{submitted} is not empty; name a new folder, or remove that one first")
    for number, kind, student in large_class(students, kinds):
        for chapter in chapters:
            _write(submitted, student, chapter, submission(kind, chapter, number, salt))
