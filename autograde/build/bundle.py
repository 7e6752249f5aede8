"""The student bundle: a zip of everything that a student needs, and of nothing else.

It has no solutions, no hidden tests and no grader. Made twice a bundle has the same bytes.
"""

import re
from collections.abc import Collection, Iterator
from pathlib import Path

from autograde.course import LIBRARY, NOTEBOOKS, ROOT, current_course, library_folders
from autograde.intake.files import files_below, write_if_changed, zip_of

# What installs the library. setuptools leaves out what pyproject.toml names and the bundle lacks.
PROJECT = ("pyproject.toml", "LICENSE", "LICENSE-text.md", "constraints.txt", "environment.yml")
# In pyproject.toml: commands and plugins of the grader, which students do not get.
OF_THE_GRADER = re.compile(rb'^autograde = "autograde\..*"\n', re.MULTILINE)
QUIZZES = "quizzes.toml"  # of each chapter: the right letters, and what each option is told
README = ROOT / "docs" / "student.md"
OTHER_README = """\
# {name}

Unpack this folder, {install}and open the notebooks in it with Jupyter: `jupyter lab notebooks`.
"""


def write_bundle(
    target: Path, chapters: Collection[str] | None = None, quizzes: bool = True
) -> int:
    """Write the zip to `target`, whole or not at all; returns the number of its files.

    Of the notebooks, those of `chapters` go into it; None is all of them. Without `quizzes` the
    library holds no answers to them: a quiz is then answered by grading only.
    """
    paths = [path for path in _contents(chapters) if quizzes or path.name != QUIZZES]
    files = {path.relative_to(ROOT).as_posix(): path.read_bytes() for path in paths}
    files["README.md"] = _readme().encode()
    if "pyproject.toml" in files:
        files["pyproject.toml"] = OF_THE_GRADER.sub(b"", files["pyproject.toml"])
    folder = current_course().name
    write_if_changed(target, zip_of({f"{folder}/{name}": data for name, data in files.items()}))
    return len(files)


def _contents(chapters: Collection[str] | None) -> Iterator[Path]:
    """The files of the bundle, but for its README: the one list of what students get."""
    for path in files_below(NOTEBOOKS):
        if chapters is None or path.relative_to(NOTEBOOKS).parts[0] in chapters:
            yield path
    if library := _own_library():
        yield from files_below(library)
        yield from (ROOT / name for name in PROJECT if (ROOT / name).is_file())


def _own_library() -> Path | None:
    """The folder of the course's library. One from elsewhere is not the course's to give."""
    return next((each for each in library_folders() if each.resolve() == ROOT / LIBRARY), None)


def _readme() -> str:
    if README.is_file():
        return README.read_text(encoding="utf-8")
    install = "run `pip install .` in it, " if _own_library() else ""
    return OTHER_README.format(name=current_course().name, install=install)
