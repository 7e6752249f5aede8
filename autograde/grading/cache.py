"""The result cache: a submission is graded once, whoever asks.

The key covers everything that can change a mark of the chapter and nothing else, so that an edit
to a report, to the command line or to another chapter re-grades nobody.
"""

import json
import platform
from collections.abc import Iterator
from dataclasses import asdict
from functools import cache
from importlib import metadata
from pathlib import Path

from nbformat import NotebookNode

from autograde.course import (
    BUILD,
    GRADER,
    LIBRARY,
    ROOT,
    TESTS,
    Chapter,
    course_seed,
    library_folders,
)
from autograde.grading.result import Result
from autograde.intake.files import digest_of, files_below, write_if_changed
from autograde.intake.submission import is_demo

FOLDER = BUILD / "cache" / "results"
ROOMS = ("intake", "sandbox", "hidden", "grading")  # of the grader, those that make a mark
PACKAGES = ("ipython", "matplotlib", "numpy", "pytest", "torch", "transformers")


def key(notebook: NotebookNode, chapter: str, isolation: str) -> str:
    """The fingerprint of one rebuilt submission, its outputs left out, and of how it is isolated.

    The isolation is part of the key: without a sandbox a notebook could read the solutions.
    """
    answers = [
        [cell.id, cell.cell_type, cell.source]
        for cell in notebook.cells
        if not cell.metadata.get("nbgrader", {}).get("locked") and not is_demo(cell)
    ]
    return digest_of([], chapter, isolation, json.dumps(answers), grader_fingerprint(chapter))


@cache
def grader_fingerprint(chapter: str) -> str:
    """The fingerprint of what a result depends on beside the answers."""
    files = dict(_ingredients(Chapter(chapter)))
    installed = {each.name.lower(): each.version for each in metadata.distributions()}
    versions = [platform.python_version(), *(installed.get(name, "none") for name in PACKAGES)]
    seed = str(course_seed())  # of the hidden tests' cases
    return digest_of(files.values(), _library_fingerprint(), seed, *versions, *files)


@cache
def _library_fingerprint() -> str:
    """The fingerprint of what students import: many files, the same ones for every chapter."""
    paths = [(path, folder.parent) for folder in library_folders() for path in files_below(folder)]
    names = [path.relative_to(parent).as_posix() for path, parent in paths]
    return digest_of([path for path, _ in paths], str(LIBRARY), *names)


def _ingredients(chapter: Chapter) -> Iterator[tuple[str, Path]]:
    """The course's and the grader's files that can change a mark, by their places in either."""
    shared = [path for path in files_below(TESTS) if not path.match("test_[0-9][0-9]_*")]
    tests = sorted(TESTS.glob(f"{chapter.tests.stem}.*"))  # and the known bugs beside them
    paths = [chapter.source, chapter.release, chapter.solution, *tests, *shared]
    rooms = [path for room in ROOMS for path in files_below(GRADER / room)]
    for path in sorted(paths):
        yield path.relative_to(ROOT).as_posix(), path
    for path in sorted([GRADER / "course.py", *rooms]):
        yield path.relative_to(GRADER.parent).as_posix(), path


def load(name: str) -> Result | None:
    """The stored result, or None; a damaged file counts as none."""
    try:
        return Result.from_dict(json.loads((FOLDER / f"{name}.json").read_text()))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def store(name: str, result: Result) -> None:
    """Keep a result, whole or not at all."""
    write_if_changed(FOLDER / f"{name}.json", json.dumps(asdict(result)).encode())
