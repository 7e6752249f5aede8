"""Submissions to try the grader on, made from the release and the solution: none is stored.

`STUDENTS` are the five of `make course`; a class of any size has each kind of `MIX`.
"""

import copy
import os
from collections.abc import Callable, Mapping
from itertools import cycle, islice
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograde.bugs import answers_of, bugs_of
from autograde.chapter import notebook_path
from autograde.files import write_if_changed
from autograde.grade import exercises_of, parameters_of
from autograde.submission import is_answer, release_of

Answers = dict[str, str]  # what stands in a cell, by the cell's name
TROUBLES = (
    "import os\nos._exit(0)",
    "def {name}(*args)\n    return 0",
    "def {name}(*args):\n    while True:\n        pass",
    "def {name}(*args):\n    return [1] * 10**12",
)
ATTACK = """\
import builtins, glob, os, sys
print(float('inf'), glob.glob('/**/gradebook.db'), os.environ)
sys.modules['pytest'] = sys.modules['specdec_lib.lessons.common.examples'] = os
class Always(float):
    __eq__ = __le__ = lambda *_: True
"""


def filled(release: NotebookNode, answers: Mapping[str, str]) -> NotebookNode:
    """A copy of the release with `answers`, by name, in place of the stubs."""
    notebook = copy.deepcopy(release)
    for cell in notebook.cells:
        if is_answer(cell) and cell.metadata.nbgrader.grade_id in answers:
            cell.source = answers[cell.metadata.nbgrader.grade_id]
    return notebook


def functions_of(chapter: str) -> list[str]:
    """The graded functions of a chapter, in its order."""
    return [n for n in parameters_of(chapter) if n in exercises_of(release_of(chapter))]


def right(chapter: str, _: int) -> Answers:
    """All answers of the solution."""
    return answers_of(chapter)


def half(chapter: str, _: int) -> Answers:
    """The first half of the solution's answers, the other cells as they were released."""
    answers = list(answers_of(chapter).items())
    return dict(answers[: len(answers) // 2])


def blank(chapter: str, _: int) -> Answers:
    """No answer at all."""
    return {}


def wrong(chapter: str, number: int) -> Answers:
    """One known bug, another one for each number, the rest right; half where none is known."""
    known = bugs_of(chapter)
    if not known:
        return half(chapter, number)
    answer = known[number % len(known)]
    return answers_of(chapter) | {answer.exercise: answer.code}


def misconceived(chapter: str, _: int) -> Answers:
    """The first known bug of every function, the rest right."""
    answers = {bug.exercise: bug.code for bug in reversed(bugs_of(chapter))}
    return answers_of(chapter) | answers


def crashing(chapter: str, number: int) -> Answers:
    """One function that ends the process, does not parse, never ends or asks for all memory."""
    functions, turn = functions_of(chapter), number // len(MIX)
    name = functions[turn % len(functions)]
    code = TROUBLES[turn % len(TROUBLES)].replace("{name}", name)
    return answers_of(chapter) | {name: code}


def forging(chapter: str, _: int) -> Answers:
    """Wrong functions below code that reaches for the grader: its files, its checks, its mark."""
    functions = functions_of(chapter)
    codes = {name: f"def {name}(*args):\n    return Always(1)" for name in functions}
    return codes | {functions[0]: ATTACK + codes[functions[0]]}


KINDS: dict[str, Callable[[str, int], Answers]] = {
    kind.__name__: kind for kind in (right, half, blank, wrong, misconceived, crashing, forging)
}
STUDENTS = {
    "ada-right": "right",
    "ben-half": "half",
    "cleo-misconceived": "misconceived",
    "dan-blank": "blank",
    "eve-crashing": "crashing",
}
# Of twenty students: roughly what a class hands in, and some of everything that goes wrong.
MIX = (
    *("right", "wrong", "half", "right", "wrong", "right", "blank", "right", "half", "crashing"),
    *("right", "wrong", "half", "right", "misconceived", "right", "forging", "broken"),
    *("right", "half"),
)


def sample(student: str, chapter: str) -> NotebookNode:
    """The notebook that one of `STUDENTS` hands in."""
    return filled(release_of(chapter), KINDS[STUDENTS[student]](chapter, 0))


def submission(kind: str, chapter: str, number: int) -> bytes:
    """One student's file. `number` stands in a comment: no two files are equal."""
    answers = answers_of(chapter) if kind == "broken" else KINDS[kind](chapter, number)
    notebook = filled(release_of(chapter), answers)
    first = next(c for c in notebook.cells if is_answer(c) and c.cell_type == "code")
    first.source += f"\n# student {number}"
    text = nbformat.writes(notebook).encode()
    return text[: len(text) // 2] if kind == "broken" else text


def write_students(submitted: Path, chapters: list[str]) -> None:
    """Write the notebooks of `STUDENTS` below `submitted`, in nbgrader's layout."""
    for student in STUDENTS:
        for chapter in chapters:
            text = nbformat.writes(sample(student, chapter))
            write_if_changed(notebook_path(submitted / student, chapter), text.encode())


def write_class(
    submitted: Path, chapters: list[str], size: int, kinds: tuple[str, ...] = MIX
) -> None:
    """Write a class of so many students below `submitted`, the same bytes every time.

    Raises ValueError if there is something already: it may be a real class.
    """
    if submitted.exists() and any(os.scandir(submitted)):
        raise ValueError(f"{submitted} is not empty; name a new folder, or remove that one first")
    for number, kind in enumerate(islice(cycle(kinds), size)):
        for chapter in chapters:
            path = notebook_path(submitted / f"s{number + 1:04d}-{kind}", chapter)
            write_if_changed(path, submission(kind, chapter, number))
