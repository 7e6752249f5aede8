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


def build(
    solutions: Path = SOLUTIONS, notebooks: Path = NOTEBOOKS, chapters: list[str] | None = None
) -> list[Path]:
    """Build `chapters`, or all; returns the notebooks that were out of date.

    Raises UsageError for an unknown chapter, and an AuthorError for what is wrong in a text and for
    a hidden test that is missing; then nothing has been written. A notebook that holds answers is
    never overwritten.
    """
    stale = _stale(solutions, notebooks, chapters)
    for path in stale:
        if path.is_file() and path.is_relative_to(notebooks):
            _refuse_to_overwrite_answers(path)
    for path, data in stale.items():
        write_if_changed(path, data)
    return list(stale)


def check(
    solutions: Path = SOLUTIONS, notebooks: Path = NOTEBOOKS, chapters: list[str] | None = None
) -> list[str]:
    """What is out of date, one line a file. Raises what `build` raises for a text."""
    stale = [f"{path}: out of date" for path in _stale(solutions, notebooks, chapters)]
    return stale + (_orphans(solutions, notebooks) if chapters is None else [])


def release_into(
    course: Path, chapters: list[str] | None = None, solutions: Path = SOLUTIONS
) -> None:
    """Release built chapters to the class in `course`: its release/ and its gradebook."""
    config = load_config()
    set_folders(config, course, solutions)
    api = NbGraderAPI(config=config, log_level="WARN")
    for chapter in _chosen(solutions, chapters):
        result = api.generate_assignment(chapter)
        if not result["success"]:
            raise AuthorError(f"{chapter}: nbgrader could not make the release: {result['error']}")


def _chosen(solutions: Path, chapters: list[str] | None) -> list[str]:
    for name in chapters or ():
        require_chapter(name, solutions)
    return chapter_names(solutions) if chapters is None else chapters


def _stale(solutions: Path, notebooks: Path, chapters: list[str] | None) -> dict[Path, bytes]:
    """The notebooks that are not as they should be, and what they should hold."""
    wanted = {}
    for name in _chosen(solutions, chapters):
        source = read_chapter(solutions / f"{name}.py")
        wanted[notebook_path(solutions, name)] = (nbformat.writes(source) + "\n").encode()
        wanted[notebook_path(notebooks, name)] = _release(name, source)
        if solutions == SOLUTIONS:  # the hidden tests belong there
            _require_tests(name, source)
    return {
        path: data
        for path, data in wanted.items()
        if not path.is_file() or path.read_bytes() != data
    }


def _release(name: str, source: NotebookNode) -> bytes:
    """The release as `nbgrader generate_assignment` makes it, without its gradebook."""
    config = load_config()
    config.Exporter.default_preprocessors = []
    config.SaveCells.enabled = False
    exporter = NotebookExporter(config=config)
    for preprocessor in config.GenerateAssignment.preprocessors:
        exporter.register_preprocessor(preprocessor)
    text, _ = exporter.from_notebook_node(source, {"nbgrader": {"notebook": name}})
    if found := [*leaks.leaks(source, nbformat.reads(text, as_version=4))]:
        raise AuthorError("\n".join(f"{name}: {leak}" for leak in found))
    return text.encode()


def _require_tests(chapter: str, source: NotebookNode) -> None:
    """Raise AuthorError if a graded cell of code has no hidden test."""
    code = [cell for cell in source.cells if utils.is_grade(cell) and cell.cell_type == "code"]
    if code:
        names = [cell.metadata.nbgrader.grade_id.removeprefix("test_") for cell in code]
        require_tests(chapter, names)


def _orphans(solutions: Path, notebooks: Path) -> list[str]:
    """A line for each folder with notebooks whose text is gone."""
    paths = [path.parent for each in (solutions, notebooks) for path in each.glob("*/*.ipynb")]
    gone = [path for path in paths if path.name not in chapter_names(solutions)]
    return [f"{each}: no {each.name}.py in {solutions}; delete the folder" for each in sorted(gone)]


def _refuse_to_overwrite_answers(target: Path) -> None:
    """Raise AuthorError if somebody has worked in the notebook at `target`."""
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
