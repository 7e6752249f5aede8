"""The student bundle: a zip of everything that a student needs, and of nothing else.

A class's has no solutions, no hidden tests and no grader. Who studies alone gets all three, since
`specdec mark` needs them. Made twice a bundle has the same bytes.
"""

from collections.abc import Collection, Iterator
from pathlib import Path

from autograde.chapter import LIBRARY, NOTEBOOKS, ROOT, SOLUTIONS, library_folders
from autograde.files import files_below, write_if_changed, zip_of

OURS = "specdec_lib"  # the library of this course
FOLDER, SELF_STUDY_FOLDER = "specdec-course", "specdec-self-study"
# What installs the library. setuptools leaves out what pyproject.toml names and the bundle lacks.
PROJECT = ("pyproject.toml", "LICENSE", "LICENSE-text.md", "constraints.txt", "environment.yml")
COMMAND = b'autograde = "autograde.cli:main"\n'  # in pyproject.toml: of what a class does not get
QUIZZES = "quizzes.toml"  # of each chapter: the right letters, and what each option is told
README = ROOT / "docs" / "student.md"
SELF_STUDY_README = """\
This copy is for self-study: `specdec mark` marks your notebooks with it. So it holds the answers,
in `solutions/` and in the tests of `autograde/chapters/`. Look there last.

"""
OTHER_README = """\
# {name}

Unpack this folder, {install}and open the notebooks in it with Jupyter: `jupyter lab notebooks`.
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
    the grader and the answers are in it. Raises ValueError for self-study that answers no quizzes.
    """
    if self_study and not quizzes:
        raise ValueError("a bundle for self-study marks the quizzes, so it needs their answers")
    paths = [path for path in _contents(chapters, self_study) if quizzes or path.name != QUIZZES]
    files = {path.relative_to(ROOT).as_posix(): path.read_bytes() for path in paths}
    files["README.md"] = _readme(self_study).encode()
    if not self_study and "pyproject.toml" in files:
        files["pyproject.toml"] = files["pyproject.toml"].replace(COMMAND, b"")
    folder = SELF_STUDY_FOLDER if self_study else FOLDER if LIBRARY == OURS else ROOT.name
    write_if_changed(target, zip_of({f"{folder}/{name}": data for name, data in files.items()}))
    return len(files)


def _contents(chapters: Collection[str] | None, self_study: bool) -> Iterator[Path]:
    """The files of the bundle, but for its README: the one list of what students get."""
    yield from _of_chapters(NOTEBOOKS, chapters)
    if library := _own_library():
        yield from files_below(library)
        yield from (ROOT / name for name in PROJECT if (ROOT / name).is_file())
    if self_study:
        yield from _of_chapters(SOLUTIONS, chapters)
        yield from files_below(ROOT / "autograde")


def _of_chapters(folder: Path, chapters: Collection[str] | None) -> Iterator[Path]:
    """The files of `chapters` in a folder: in one of their name each, or beside it."""
    for path in files_below(folder):
        if chapters is None or Path(path.relative_to(folder).parts[0]).stem in chapters:
            yield path


def _own_library() -> Path | None:
    """The folder of the course's library. One from elsewhere is not the course's to give."""
    return next((each for each in library_folders() if each.resolve() == ROOT / LIBRARY), None)


def _readme(self_study: bool) -> str:
    if README.is_file():
        return SELF_STUDY_README * self_study + README.read_text(encoding="utf-8")
    install = "run `pip install .` in it, " if _own_library() else ""
    return OTHER_README.format(name=ROOT.name, install=install)
