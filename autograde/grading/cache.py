"""The result cache: a submission is graded once, whoever asks.

The key covers everything that a result depends on: the student's answers, the grader, the
chapter's source and tests, the library that the answers import, and the versions underneath.
"""

import json
import platform
from functools import cache
from importlib import metadata
from pathlib import Path

from nbformat import NotebookNode

from autograde.chapter import BUILD, ROOT, Chapter, library_folders
from autograde.files import digest_of, files_below, write_if_changed
from autograde.result import Result
from autograde.submission import is_demo

PACKAGES = ("ipython", "matplotlib", "numpy", "pytest", "torch", "transformers")
FOLDER = BUILD / "cache" / "results"


def key(notebook: NotebookNode, chapter: str) -> str:
    """The fingerprint of one rebuilt submission, its outputs left out."""
    answers = [
        [cell.id, cell.cell_type, cell.source]
        for cell in notebook.cells
        if not cell.metadata.get("nbgrader", {}).get("locked") and not is_demo(cell)
    ]
    return digest_of([], chapter, json.dumps(answers), grader_fingerprint(chapter))


@cache
def grader_fingerprint(chapter: str) -> str:
    """What the result depends on beside the answers."""
    files = [Chapter(chapter).source, Chapter(chapter).release]
    folders = [ROOT / "autograde", *library_folders()]
    files += [path for folder in folders for path in files_below(folder)]
    names = [path.relative_to(ROOT).as_posix() for path in files]
    return digest_of(files, platform.python_version(), *map(_version, PACKAGES), *names)


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "none"


def load(name: str) -> Result | None:
    """The stored result, or None; a damaged file counts as none."""
    try:
        return Result.from_cache(json.loads(_path(name).read_text()))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def store(name: str, result: Result) -> None:
    """Keep a result, whole or not at all."""
    write_if_changed(_path(name), json.dumps(result.to_cache()).encode())


def _path(name: str) -> Path:
    return FOLDER / f"{name}.json"
