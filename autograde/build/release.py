"""Build the two generated notebooks of every chapter, and release chapters to a class.

solutions/NN_topic.py -> solutions/NN_topic/NN_topic.ipynb    nbgrader's source
                      -> notebooks/NN_topic/NN_topic.ipynb    what students get

nbgrader's own code makes the release with the repository's configuration, on copies in a temporary
folder. The release takes its place only when every check has passed.
"""

import tempfile
from collections.abc import Iterator
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
    NOTEBOOKS,
    SOLUTIONS,
    AuthorError,
    Chapter,
    chapter_names,
    notebook_path,
    require_chapter,
)
from autograde.files import write_if_changed
from autograde.nbgrader.config import load_config, set_folders
from autograde.nbgrader.stubs import require_built
from autograde.runner import collected


@dataclass(frozen=True)
class Built:
    """One chapter's two notebooks, by their places; `changed` are the places that lack theirs."""

    chapter: str
    exercises: int
    points: float
    files: dict[Path, bytes]
    changed: list[Path]


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
    made = _made(solutions, notebooks, chapters)
    for path in [path for each in made for path in each.changed]:
        if path.is_file() and path.is_relative_to(notebooks):
            _refuse_to_overwrite_answers(path)
    for path, data in [file for each in made for file in each.files.items()]:
        write_if_changed(path, data)
    return made


def check(
    solutions: Path = SOLUTIONS,
    notebooks: Path = NOTEBOOKS,
    chapters: list[str] | None = None,
) -> list[str]:
    """What a build would change, one line a file; empty if all is up to date.

    Raises what `build` raises for a text, a hidden test and a notebook without a text.
    """
    made = _made(solutions, notebooks, chapters)
    stale = [f"{path}: out of date" for each in made for path in each.changed]
    return stale + (_orphans(solutions, notebooks) if chapters is None else [])


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


def _made(solutions: Path, notebooks: Path, chapters: list[str] | None) -> list[Built]:
    """The chapters' notebooks, or an AuthorError for what cannot be built or graded."""
    _refuse_notebooks_without_text(solutions)
    names = _chosen(solutions, chapters)
    sources = {name: read_chapter(solutions / f"{name}.py") for name in names}
    made = []
    for name, release in _released(sources):
        ours = (nbformat.writes(sources[name]) + "\n").encode()
        files = {notebook_path(solutions, name): ours, notebook_path(notebooks, name): release}
        changed = [path for path, data in files.items() if _read(path) != data]
        graded = [cell for cell in sources[name].cells if utils.is_grade(cell)]
        points = sum(cell.metadata.nbgrader.points for cell in graded)
        made.append(Built(name, len(graded), points, files, changed))
        if solutions == SOLUTIONS:  # the hidden tests belong there
            _require_tests(name, graded)
    return made


def _released(sources: dict[str, NotebookNode]) -> Iterator[tuple[str, bytes]]:
    """The release of each source, by nbgrader in a temporary course, as bytes.

    The course has no gradebook, which changes nothing in the notebooks and takes two seconds to
    make; the one of a class is filled by `release_into`.
    """
    with tempfile.TemporaryDirectory(prefix="specdec-build-") as temporary:
        folder, config = Path(temporary).resolve(), load_config()
        config.CourseDirectory.root = str(folder)
        config.CourseDirectory.source_directory = "source"
        config.CourseDirectory.release_directory = "release"
        config.GenerateAssignment.no_database = True
        config.SaveCells.enabled = False
        for name, source in sources.items():
            target = notebook_path(folder / "source", name)
            target.parent.mkdir(parents=True)
            nbformat.write(source, target)
        _generate(config, list(sources))
        for name, source in sources.items():
            release = notebook_path(folder / "release", name)
            if problems := gates.problems(source, nbformat.read(release, as_version=4)):
                raise AuthorError("\n".join(f"{name}: {problem}" for problem in problems))
            yield name, release.read_bytes()


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


def _require_tests(chapter: str, graded: list[NotebookNode]) -> None:
    """Raise AuthorError if a graded cell of code has no hidden test."""
    code = [cell.metadata.nbgrader.grade_id for cell in graded if cell.cell_type == "code"]
    if code:
        collected(Chapter(chapter), [name.removeprefix("test_") for name in code], None)


def _without_text(solutions: Path, *folders: Path) -> list[Path]:
    """The notebooks in these folders that no text in `solutions` belongs to."""
    known = chapter_names(solutions)
    paths = sorted(path for folder in folders for path in folder.glob("*/*.ipynb"))
    return [path for path in paths if path.parent.name not in known]


def _orphans(solutions: Path, notebooks: Path) -> list[str]:
    """A line for each folder of generated notebooks whose text is gone."""
    folders = dict.fromkeys(path.parent for path in _without_text(solutions, solutions, notebooks))
    return [f"{each}: no {each.name}.py in {solutions}; delete the folder" for each in folders]


def _refuse_notebooks_without_text(solutions: Path) -> None:
    """Raise AuthorError for a notebook of nbgrader's own making, whose tests we would not run."""
    for path in _without_text(solutions, solutions):
        require_built(nbformat.read(path, as_version=4), str(path))


def _read(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def _refuse_to_overwrite_answers(target: Path) -> None:
    """Raise AuthorError if somebody has worked in the notebook at `target`."""
    remedy = f"Move it to work/ if it is yours, or delete it, and build again: {target}"
    try:
        cells = nbformat.read(target, as_version=4).cells
        answered = [cell.metadata.nbgrader.grade_id for cell in cells if _is_answered(cell)]
    except Exception as error:  # any file at all may lie there
        raise AuthorError(f"{target} is not a readable notebook ({error}). {remedy}") from error
    if answered:
        raise AuthorError(f"{target} holds answers ({', '.join(answered)}). {remedy}")


def _is_answered(cell: NotebookNode) -> bool:
    """Whether a solution cell's checksum is not that of its text."""
    checksum = cell.metadata.get("nbgrader", {}).get("checksum")
    return utils.is_solution(cell) and checksum != utils.compute_checksum(cell)
