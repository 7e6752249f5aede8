"""The student bundle: a zip of everything that a student needs, and of nothing else.

A class's has no solutions, no hidden tests and no grader. Who studies alone gets all three, since
`specdec mark` needs them. Made twice a bundle has the same bytes.
"""

import json
import tomllib
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from autograde.chapter import LIBRARY, NOTEBOOKS, ROOT, SOLUTIONS, library_folders
from autograde.files import files_below, write_if_changed, zip_of

OURS = "specdec_lib"  # the library of this course
FOLDER, SELF_STUDY_FOLDER = "specdec-course", "specdec-self-study"
COPIED = ("LICENSE", "LICENSE-text.md", "constraints.txt", "environment.yml")
QUIZZES = "quizzes.py"  # of each chapter: the right letters, and what each option is told
README = ROOT / "docs" / "student.md"
SELF_STUDY_README = """\
This copy is for who studies alone: `specdec mark` marks your notebooks with it. So it holds the
answers, in `solutions/` and in the tests of `autograde/chapters/`. Look there last.

"""
# The whole text of another course's bundle, and its project if that course has a library.
OTHER_README = """\
# {name}

Unpack this folder, {install}and open the notebooks in it with Jupyter: `jupyter lab notebooks`.
"""
OTHER_PROJECT = """\
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = {name}
version = {version}
requires-python = {python}
dependencies = {needed}

[tool.setuptools.packages.find]
include = [{packages}]

[tool.setuptools.package-data]
{library} = ["**/*"]
"""
# What of autograde/ makes notebooks, or grades and reports on a class.
OF_A_CLASS = ("__main__.py", "build", "cli.py", "grading", "jupyter", "lms", "nbgrader", "pool.py")
OF_A_CLASS += ("tools",)
GRADERS = ("docutils",)  # dependencies that the grader alone needs
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
include = {packages}

[tool.setuptools.package-data]
specdec_lib = {data}
"""
SELF_STUDY_PROJECT = """\
autograde = {grader_data}

[tool.autograde]
library = {library}
seed = {seed}
"""


def write_bundle(
    target: Path,
    chapters: Collection[str] | None = None,
    quizzes: bool = True,
    self_study: bool = False,
) -> int:
    """Write the zip to `target`, whole or not at all; returns the number of its files.

    Of the notebooks, those of `chapters` go into it; None is all of them. Without `quizzes` the
    library holds no answers to them: a quiz is then answered by grading only. With `self_study`
    the grader and the answers are in it. Another course's holds its notebooks, and its library if
    that stands in its folder. Raises ValueError for self-study that is to answer no quizzes, or in
    another course.
    """
    if self_study and not quizzes:
        raise ValueError("a bundle for self-study marks the quizzes, so it needs their answers")
    if LIBRARY != OURS:
        if self_study:
            raise ValueError(f"{OURS} marks a bundle for self-study: only its course has one")
        folder, parts = ROOT.name, list(other_contents(chapters))
    else:
        folder = SELF_STUDY_FOLDER if self_study else FOLDER
        parts = [*contents(chapters, quizzes), *(grader(chapters) if self_study else ())]
    files = {f"{folder}/{name}": data for name, data in parts}
    write_if_changed(target, zip_of(files))
    return len(files)


def other_contents(chapters: Collection[str] | None = None) -> Iterator[tuple[str, bytes]]:
    """Every file of another course's bundle: notebooks, a text, and a library that it can bring.

    A library that is installed from elsewhere is not the course's to give.
    """
    library = [path for path in library_folders() if path.resolve() == ROOT / LIBRARY]
    install = "run `pip install .` in it, " if library else ""
    yield "README.md", OTHER_README.format(name=ROOT.name, install=install).encode()
    if library:
        yield "pyproject.toml", _other_project().encode()
    files = [path for folder in library for path in files_below(folder)]
    yield from _named([*_of_chapters(NOTEBOOKS, chapters), *files])


def _other_project() -> str:
    """The pyproject.toml of another course's library: it asks for the course's extra `course`."""
    ours = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    values = {
        "name": ours["name"],
        "version": ours["version"],
        "python": ours["requires-python"],
        "needed": ours.get("optional-dependencies", {}).get("course", []),
        "packages": f"{LIBRARY}*",
    }
    text = {name: json.dumps(value) for name, value in values.items()}
    return OTHER_PROJECT.format(**text, library=LIBRARY)


def contents(
    chapters: Collection[str] | None = None, quizzes: bool = True
) -> Iterator[tuple[str, bytes]]:
    """Every file of the bundle: its name in the folder, and its bytes."""
    yield "README.md", README.read_bytes()
    yield "pyproject.toml", project().encode()
    for name in COPIED:
        yield name, (ROOT / name).read_bytes()
    library = files_below(ROOT / "specdec_lib")
    library = [path for path in library if quizzes or path.name != QUIZZES]
    yield from _named([*_of_chapters(NOTEBOOKS, chapters), *library])


def grader(chapters: Collection[str] | None = None) -> Iterator[tuple[str, bytes]]:
    """What a bundle for self-study has besides, or instead of the same name in `contents`."""
    yield "README.md", SELF_STUDY_README.encode() + README.read_bytes()
    yield "pyproject.toml", project(self_study=True).encode()
    programs = files_below(ROOT / "autograde")
    ours = [each for each in programs if each.relative_to(ROOT).parts[1] not in OF_A_CLASS]
    yield from _named([*_of_chapters(SOLUTIONS, chapters), *ours])


def _of_chapters(folder: Path, chapters: Collection[str] | None) -> list[Path]:
    """The files of `chapters` in a folder: in one of their name each, or beside it."""
    paths = files_below(folder)
    names = [Path(path.relative_to(folder).parts[0]).stem for path in paths]
    pairs = zip(paths, names, strict=True)
    return [path for path, name in pairs if chapters is None or name in chapters]


def _named(paths: Iterable[Path]) -> Iterator[tuple[str, bytes]]:
    for path in paths:
        yield path.relative_to(ROOT).as_posix(), path.read_bytes()


def project(self_study: bool = False) -> str:
    """The pyproject.toml of the student's half: `specdec_lib` and the course's seven packages.

    The extra `instructor` is in it for a hub, where everybody has the same environment. With
    `self_study` the grader is a package of it too.
    """
    whole = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    ours, data = whole["project"], whole["tool"]["setuptools"]["package-data"]
    needed = [each for each in ours["dependencies"] if self_study or not each.startswith(GRADERS)]
    values = {
        "build": whole["build-system"]["requires"],
        "name": ours["name"],
        "version": ours["version"],
        "description": ours["description"],
        "python": ours["requires-python"],
        "license": ours["license"],
        "dependencies": needed,
        "course": ours["optional-dependencies"]["course"],
        "instructor": ours["optional-dependencies"]["instructor"],
        "packages": ["specdec_lib*", "autograde*"] if self_study else ["specdec_lib*"],
        "data": data["specdec_lib"],
        "grader_data": data["autograde"],
        "library": whole["tool"]["autograde"]["library"],
        "seed": whole["tool"]["autograde"].get("seed", 0),
    }
    # Strings and lists of strings are written alike in JSON and TOML.
    text = PROJECT + SELF_STUDY_PROJECT if self_study else PROJECT
    return text.format(**{name: json.dumps(value) for name, value in values.items()})
