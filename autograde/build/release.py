"""Build the two generated notebooks of every chapter, and release chapters to a class.

solutions/NN_topic.py -> solutions/NN_topic/NN_topic.ipynb    nbgrader's source
                      -> notebooks/NN_topic/NN_topic.ipynb    what students get

nbgrader's own code makes the release with the repository's configuration, on copies in a temporary
folder. The release takes its place only when every check has passed.
"""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat.notebooknode import NotebookNode
from nbgrader import utils
from nbgrader.apps import NbGraderAPI
from traitlets.config import Config

from autograde.build import gates
from autograde.build.source import read_chapter
from autograde.chapter import (
    BUILD,
    NOTEBOOKS,
    SOLUTIONS,
    TESTS,
    AuthorError,
    Chapter,
    chapter_names,
    notebook_path,
    require_chapter,
)
from autograde.files import digest_of, files_below, write_if_changed
from autograde.nbgrader.config import load_config, set_folders
from autograde.nbgrader.stubs import require_built
from autograde.runner import collected

FOUND = BUILD / "tests-found"  # by chapter, what its hidden tests were found in


@dataclass(frozen=True)
class Built:
    """One chapter after a build."""

    chapter: str
    changed: bool
    exercises: int
    points: float


@dataclass(frozen=True)
class Staged:
    """One chapter's two notebooks, made but not yet in their place."""

    name: str
    notebook: NotebookNode
    source: bytes
    release: bytes

    def targets(self, solutions: Path, notebooks: Path) -> list[tuple[Path, bytes]]:
        """Where each belongs."""
        return [
            (notebook_path(solutions, self.name), self.source),
            (notebook_path(notebooks, self.name), self.release),
        ]


def build(
    solutions: Path = SOLUTIONS,
    notebooks: Path = NOTEBOOKS,
    chapters: list[str] | None = None,
) -> list[Built]:
    """Build `chapters`, or all. A file is written only if its bytes change.

    Raises ValueError for an unknown chapter, and an AuthorError for what is wrong in a text, for a
    hidden test that is missing, and for a notebook of nbgrader's without a text; then nothing has
    been written. A notebook that holds answers is never overwritten.
    """
    staged = _accepted(solutions, chapters)
    for chapter in staged:
        _refuse_to_overwrite_answers(notebook_path(notebooks, chapter.name), chapter.release)
    return [_install(chapter, solutions, notebooks) for chapter in staged]


def check(
    solutions: Path = SOLUTIONS,
    notebooks: Path = NOTEBOOKS,
    chapters: list[str] | None = None,
) -> list[str]:
    """What a build would change, one line a file; empty if all is up to date.

    Raises what `build` raises for a text, a hidden test and a notebook without a text.
    """
    staged = _accepted(solutions, chapters)
    stale = [
        f"{target}: out of date"
        for chapter in staged
        for target, data in chapter.targets(solutions, notebooks)
        if _read(target) != data
    ]
    if chapters is None:
        stale += _orphans(solutions, notebooks)
    return stale


def release_into(
    course: Path, chapters: list[str] | None = None, solutions: Path = SOLUTIONS
) -> None:
    """Release built chapters to the class in `course`: its release/ and its gradebook."""
    config = load_config()
    set_folders(config, course, solutions)
    _generate(config, _chosen(solutions, chapters))


def _chosen(solutions: Path, chapters: list[str] | None) -> list[str]:
    for name in chapters or ():
        require_chapter(name, solutions)
    return chapter_names(solutions) if chapters is None else chapters


def _accepted(solutions: Path, chapters: list[str] | None) -> list[Staged]:
    """The chapters' notebooks, or an AuthorError for what cannot be built or graded."""
    _refuse_notebooks_without_text(solutions)
    staged = _stage(solutions, _chosen(solutions, chapters))
    for chapter in staged if solutions == SOLUTIONS else ():  # the hidden tests belong there
        _require_tests(chapter)
    return staged


def _orphans(solutions: Path, notebooks: Path) -> list[str]:
    """Generated notebooks whose text is gone."""
    known = chapter_names(solutions)
    folders = (path.parent for top in (solutions, notebooks) for path in top.glob("*/*.ipynb"))
    return [
        f"{folder}: no {folder.name}.py in {solutions}; delete the folder"
        for folder in sorted(set(folders))
        if folder.name not in known
    ]


def _stage(solutions: Path, chapters: list[str]) -> list[Staged]:
    """Both notebooks of every chapter, checked, as bytes."""
    sources = {name: read_chapter(solutions / f"{name}.py") for name in chapters}
    with _temporary_course() as (folder, config):
        for name, notebook in sources.items():
            target = notebook_path(folder / "source", name)
            target.parent.mkdir(parents=True)
            target.write_bytes(_to_bytes(notebook))
        _generate(config, chapters)
        return [_staged(folder, name, source) for name, source in sources.items()]


@contextmanager
def _temporary_course() -> Iterator[tuple[Path, Config]]:
    """A course without a gradebook, and its configuration.

    The gradebook changes nothing in the notebooks and takes two seconds to make; the one of a
    class is filled by `release_into`.
    """
    with tempfile.TemporaryDirectory(prefix="specdec-build-") as name:
        folder = Path(name).resolve()
        config = load_config()
        config.CourseDirectory.root = str(folder)
        config.CourseDirectory.source_directory = "source"
        config.CourseDirectory.release_directory = "release"
        config.GenerateAssignment.no_database = True
        config.SaveCells.enabled = False
        yield folder, config


def _generate(config: Config, chapters: list[str]) -> None:
    """nbgrader's generate_assignment, all chapters in this process."""
    if not chapters:
        return
    api = NbGraderAPI(config=config, log_level="WARN")
    for chapter in chapters:
        result = api.generate_assignment(chapter)
        if not result["success"]:
            raise AuthorError(
                f"{chapter}: nbgrader could not make the release.\n"
                f"{result.get('log', '')}{result['error']}"
            )


def _staged(folder: Path, chapter: str, source: NotebookNode) -> Staged:
    data = notebook_path(folder / "release", chapter).read_bytes()
    release = nbformat.reads(data.decode("utf-8"), as_version=4)
    if problems := gates.problems(source, release):
        raise AuthorError("\n".join(f"{chapter}: {problem}" for problem in problems))
    return Staged(chapter, source, _to_bytes(source), data)


def _to_bytes(notebook: NotebookNode) -> bytes:
    return (nbformat.writes(notebook) + "\n").encode("utf-8")


def _install(staged: Staged, solutions: Path, notebooks: Path) -> Built:
    targets = staged.targets(solutions, notebooks)
    written = [write_if_changed(target, data) for target, data in targets]
    cells = staged.notebook.cells
    points = [cell.metadata.nbgrader.points for cell in cells if utils.is_grade(cell)]
    return Built(staged.name, any(written), len(points), sum(points))


def _read(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def _require_tests(staged: Staged) -> None:
    """Raise AuthorError if a graded cell of code has no hidden test.

    Some tests import torch, which takes longer than a build. So this is looked at again only if the
    names have changed, or a file of the tests.
    """
    cells = [cell for cell in staged.notebook.cells if cell.cell_type == "code"]
    names = [cell.metadata.nbgrader.grade_id for cell in cells if utils.is_grade(cell)]
    seen, stamp = digest_of(files_below(TESTS), *names).encode(), FOUND / staged.name
    if names and _read(stamp) != seen:
        collected(Chapter(staged.name), [name.removeprefix("test_") for name in names], None)
        write_if_changed(stamp, seen)


def _refuse_notebooks_without_text(solutions: Path) -> None:
    """Raise AuthorError for a notebook of nbgrader's own making, whose tests we would not run."""
    known = chapter_names(solutions)
    for path in sorted(solutions.glob("*/*.ipynb")):
        if path.stem not in known:
            require_built(nbformat.read(path, as_version=4), str(path))


def _refuse_to_overwrite_answers(target: Path, release: bytes) -> None:
    """Raise AuthorError if somebody has worked in the notebook at `target`.

    The checksum of a solution cell is then not that of its text.
    """
    present = _read(target)
    if present is None or present == release:
        return
    remedy = f"Move it to work/ if it is yours, or delete it, and build again: {target}"
    try:
        cells = nbformat.reads(present.decode("utf-8"), as_version=4).cells
        answered = [cell.metadata.nbgrader.grade_id for cell in cells if _is_answered(cell)]
    except Exception as error:  # any file at all may lie there
        raise AuthorError(f"{target} is not a readable notebook ({error}). {remedy}") from error
    if answered:
        raise AuthorError(f"{target} holds answers ({', '.join(answered)}). {remedy}")


def _is_answered(cell: NotebookNode) -> bool:
    if not utils.is_solution(cell):
        return False
    return cell.metadata.nbgrader.get("checksum") != utils.compute_checksum(cell)
