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
# In pyproject.toml: commands and plugins of the grader, which the bundle lacks.
GRADER_ENTRY_POINTS = re.compile(rb'^autograde = "autograde\..*"\n', re.MULTILINE)
QUIZZES = "quizzes.toml"  # of each chapter: the right letters, and an explanation of each option
README = ROOT / "docs" / "student.md"
FRONT = ROOT / "README.md"  # has the table of chapters
CHAPTERS = "<!-- the chapters -->"  # where it stands in the bundle's README
_TABLE = re.compile(r"^\| chapter .*?(?=\n\n)", re.MULTILINE | re.DOTALL)
_ROW = re.compile(r"\(notebooks/(\w+)/")
_LINK_TO_GUIDE = re.compile(r"(?<=\]\()(\w+\.md)")  # from docs/student.md
# A guide's link to a file of the repository that is not a guide.
_LINK_TO_CODE = re.compile(rb"\[([^\]]+)\]\(\.\./[^)]+\)")
DEFAULT_README = """\
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
    files["README.md"] = _readme(chapters).encode()
    files |= {f"docs/{path.name}": without_links_to_code(path.read_bytes()) for path in _guides()}
    if "pyproject.toml" in files:
        files["pyproject.toml"] = GRADER_ENTRY_POINTS.sub(b"", files["pyproject.toml"])
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
    return next((path for path in library_folders() if path.resolve() == ROOT / LIBRARY), None)


def without_links_to_code(page: bytes) -> bytes:
    """A guide whose links to files of the repository are code: where it goes, they do not."""
    return _LINK_TO_CODE.sub(rb"`\1`", page)


def _guides() -> list[Path]:
    """The guides that the students' page links to: their chapters name them."""
    text = README.read_text(encoding="utf-8") if README.is_file() else ""
    return [README.with_name(name) for name in sorted(set(_LINK_TO_GUIDE.findall(text)))]


def _table_of(chapters: Collection[str] | None) -> str:
    """The table of chapters in the repository's README, without those that the bundle lacks."""
    table = _TABLE.search(FRONT.read_text(encoding="utf-8") if FRONT.is_file() else "")
    rows = [(row, _ROW.search(row)) for row in table[0].splitlines()] if table else []
    return "\n".join(
        row for row, link in rows if not link or chapters is None or link[1] in chapters
    )


def _readme(chapters: Collection[str] | None) -> str:
    if README.is_file():
        text = _LINK_TO_GUIDE.sub(r"docs/\1", README.read_text(encoding="utf-8"))
        return text.replace(CHAPTERS, _table_of(chapters))
    install = "run `pip install .` in it, " if _own_library() else ""
    return DEFAULT_README.format(name=current_course().name, install=install)
