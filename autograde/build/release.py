"""Build the two generated notebooks of every chapter, and release chapters to a class.

solutions/NN_topic.py -> solutions/NN_topic/NN_topic.ipynb    nbgrader's source
                      -> notebooks/NN_topic/NN_topic.ipynb    what students get

nbgrader's own preprocessors make the release, with the repository's configuration. Nothing is
written before every check has passed.
"""

from pathlib import Path

import nbformat
from nbconvert.exporters import NotebookExporter
from nbformat.notebooknode import NotebookNode
from nbgrader import utils
from nbgrader.apps import NbGraderAPI

from autograde.build import leaks
from autograde.build.source import read_chapter
from autograde.course import (
    NOTEBOOKS,
    SOLUTIONS,
    AuthorError,
    chapter_names,
    notebook_path,
    require_chapter,
)
from autograde.hidden.collected import require_tests
from autograde.intake.files import write_if_changed
from autograde.nbgrader.config import load_config, set_folders


def build_chapters(
    solutions: Path = SOLUTIONS, notebooks: Path = NOTEBOOKS, chapters: list[str] | None = None
) -> list[Path]:
    """Build `chapters`, or all; returns the notebooks that were out of date.

    Raises UsageError for an unknown chapter, and AuthorError for a mistake in a text or a missing
    hidden test; then nothing has been written. A notebook that holds answers is never overwritten.
    """
    stale = _stale(solutions, notebooks, chapters)
    for path in stale:
        if path.is_file() and path.is_relative_to(notebooks):
            _refuse_to_overwrite_answers(path)
    for path, data in stale.items():
        write_if_changed(path, data)
    return list(stale)


def outdated_notebooks(
    solutions: Path = SOLUTIONS, notebooks: Path = NOTEBOOKS, chapters: list[str] | None = None
) -> list[str]:
    """A line for every notebook that is out of date. Raises as `build_chapters` does."""
    paths = _stale(solutions, notebooks, chapters)
    stale = [f"{path}: out of date; run autograde build" for path in paths]
    return stale + (_orphans(solutions, notebooks) if chapters is None else [])


def release_into(
    course: Path, chapters: list[str] | None = None, solutions: Path = SOLUTIONS
) -> None:
    """Release built chapters to the class in `course`: its release/ and its gradebook."""
    config = load_config()
    set_folders(config, course, solutions)
    api = NbGraderAPI(config=config, log_level="WARN")
    for chapter in _require_chapters(solutions, chapters):
        result = api.generate_assignment(chapter)
        if not result["success"]:
            raise AuthorError(f"{chapter}: nbgrader could not make the release: {result['error']}")


def _require_chapters(solutions: Path, chapters: list[str] | None) -> list[str]:
    """`chapters`, or all. Raises UsageError for an unknown chapter."""
    for name in chapters or ():
        require_chapter(name, solutions)
    return chapter_names(solutions) if chapters is None else chapters


def _stale(solutions: Path, notebooks: Path, chapters: list[str] | None) -> dict[Path, bytes]:
    """The notebooks that are out of date, with their new contents."""
    contents = {}
    for name in _require_chapters(solutions, chapters):
        source = read_chapter(solutions / f"{name}.py")
        contents[notebook_path(solutions, name)] = (nbformat.writes(source) + "\n").encode()
        contents[notebook_path(notebooks, name)] = _release_bytes(name, source)
        if solutions == SOLUTIONS:  # the hidden tests belong there
            _require_tests(name, source)
    return {
        path: data
        for path, data in contents.items()
        if not path.is_file() or path.read_bytes() != data
    }


def _release_bytes(name: str, source: NotebookNode) -> bytes:
    """The release as `nbgrader generate_assignment` makes it, without its gradebook."""
    config = load_config()
    config.Exporter.default_preprocessors = []
    config.SaveCells.enabled = False
    exporter = NotebookExporter(config=config)
    for preprocessor in config.GenerateAssignment.preprocessors:
        exporter.register_preprocessor(preprocessor)
    text, _ = exporter.from_notebook_node(source, {"nbgrader": {"notebook": name}})
    release = nbformat.reads(text, as_version=4)
    lines = [f"{name}: {leak}" for leak in leaks.find_leaks(source, release)]
    if lines:
        raise AuthorError("\n".join(lines))
    return text.encode()


def _require_tests(chapter: str, source: NotebookNode) -> None:
    """Raise AuthorError if a graded cell of code has no hidden test."""
    code = [cell for cell in source.cells if utils.is_grade(cell) and cell.cell_type == "code"]
    if code:
        names = [cell.metadata.nbgrader.grade_id.removeprefix("test_") for cell in code]
        require_tests(chapter, names)


def _orphans(solutions: Path, notebooks: Path) -> list[str]:
    """A line for every folder with notebooks whose text is gone."""
    folders = {path.parent for root in (solutions, notebooks) for path in root.glob("*/*.ipynb")}
    orphans = [folder for folder in folders if folder.name not in chapter_names(solutions)]
    return [
        f"{path}: no {path.name}.py in {solutions}; delete the folder" for path in sorted(orphans)
    ]


def _refuse_to_overwrite_answers(target: Path) -> None:
    """Raise AuthorError if the notebook at `target` holds somebody's answers."""
    cells = nbformat.read(target, as_version=4).cells
    if answered := [cell.metadata.nbgrader.grade_id for cell in cells if _is_answered(cell)]:
        raise AuthorError(
            f"{target} holds answers ({', '.join(answered)}). "
            f"Move it to work/ if it is yours, or delete it, and build again: {target}"
        )


def _is_answered(cell: NotebookNode) -> bool:
    """Whether a solution cell's checksum is not that of its text."""
    checksum = cell.metadata.get("nbgrader", {}).get("checksum")
    return utils.is_solution(cell) and checksum != utils.compute_checksum(cell)
