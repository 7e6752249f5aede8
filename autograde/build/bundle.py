"""The student bundle: a zip of everything that a student needs, and of nothing else.

No solutions, no hidden tests, no grader. Made twice it has the same bytes.
"""

import json
import tomllib
from collections.abc import Collection, Iterator
from pathlib import Path

from autograde.chapter import NOTEBOOKS, ROOT
from autograde.files import files_below, write_if_changed, zip_of

FOLDER = "specdec-course"
COPIED = ("LICENSE", "LICENSE-text.md", "constraints.txt", "environment.yml")
QUIZZES = "quizzes.py"  # of each chapter: the right letters, and what each option is told
README = ROOT / "docs" / "student.md"
PROJECT = """\
[build-system]
requires = {build}
build-backend = "setuptools.build_meta"

[project]
name = {name}
version = {version}
description = {description}
requires-python = {python}
license = {license}
license-files = ["LICENSE", "LICENSE-text.md"]
dependencies = {dependencies}

[project.optional-dependencies]
course = {course}
instructor = {instructor}

[project.scripts]
specdec = "specdec_lib.cli:main"

[tool.setuptools.packages.find]
include = ["specdec_lib*"]

[tool.setuptools.package-data]
specdec_lib = {data}
"""


def write_bundle(
    target: Path, chapters: Collection[str] | None = None, quizzes: bool = True
) -> int:
    """Write the zip to `target`, whole or not at all; returns the number of its files.

    Of the notebooks, those of `chapters` go into it; None is all of them. Without `quizzes` the
    library holds no answers to them: a quiz is then answered by grading only.
    """
    files = {f"{FOLDER}/{name}": data for name, data in contents(chapters, quizzes)}
    write_if_changed(target, zip_of(files))
    return len(files)


def contents(
    chapters: Collection[str] | None = None, quizzes: bool = True
) -> Iterator[tuple[str, bytes]]:
    """Every file of the bundle: its name in the folder, and its bytes."""
    yield "README.md", README.read_bytes()
    yield "pyproject.toml", project().encode()
    for name in COPIED:
        yield name, (ROOT / name).read_bytes()
    notebooks = files_below(NOTEBOOKS)
    if chapters is not None:
        notebooks = [path for path in notebooks if path.relative_to(NOTEBOOKS).parts[0] in chapters]
    library = files_below(ROOT / "specdec_lib")
    for path in (*notebooks, *(path for path in library if quizzes or path.name != QUIZZES)):
        yield path.relative_to(ROOT).as_posix(), path.read_bytes()


def project() -> str:
    """The pyproject.toml of the student's half: `specdec_lib` and the course's seven packages.

    The extra `instructor` is in it for a hub, where everybody has the same environment.
    """
    whole = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    ours = whole["project"]
    values = {
        "build": whole["build-system"]["requires"],
        "name": ours["name"],
        "version": ours["version"],
        "description": ours["description"],
        "python": ours["requires-python"],
        "license": ours["license"],
        "dependencies": ours["dependencies"],
        "course": ours["optional-dependencies"]["course"],
        "instructor": ours["optional-dependencies"]["instructor"],
        "data": whole["tool"]["setuptools"]["package-data"]["specdec_lib"],
    }
    # Strings and lists of strings are written alike in JSON and TOML.
    return PROJECT.format(**{name: json.dumps(value) for name, value in values.items()})
