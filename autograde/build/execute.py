"""Execute the solution views of chapters into notebooks with outputs."""

import os
import sys
import tempfile
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat.notebooknode import NotebookNode

from autograde.build.source import read_chapter
from autograde.course import BUILD, ROOT, AuthorError, library_folders
from autograde.intake.files import digest_of, files_below, write_if_changed
from autograde.nbgrader import regions


def execute(chapters: list[Path], out: Path = BUILD / "solutions") -> list[Path]:
    """Execute solutions/NN_topic.py files into OUT/NN_topic.ipynb; returns these paths.

    A chapter is not executed again while its text, the library and the builder are unchanged.
    Raises AuthorError at the first cell that fails.
    """
    return [_execute_chapter(path, out / f"{path.stem}.ipynb") for path in chapters]


def _execute_chapter(chapter: Path, target: Path) -> Path:
    """Execute one chapter into `target`, with a digest of its inputs in the metadata."""
    digest = _digest(chapter)
    start = time.monotonic()
    if target.is_file() and nbformat.read(target, 4).metadata.get("made_from") == digest:
        print(f"  {chapter.stem}: up to date", flush=True)
        return target
    notebook = regions.solution_view(read_chapter(chapter))
    try:
        _run(notebook, chapter)
    except Exception as error:  # a cell that raises, a time-out, a kernel that died
        raise AuthorError(f"{chapter.stem}: {error}") from error
    notebook.metadata["made_from"] = digest
    write_if_changed(target, (nbformat.writes(notebook) + "\n").encode())
    print(f"  {chapter.stem}: executed in {time.monotonic() - start:.0f} s", flush=True)
    return target


def _digest(chapter: Path) -> str:
    """A digest of an executed chapter's inputs, including the version of Python."""
    folders = [Path(__file__).parent, *library_folders()]
    files = [path for folder in folders for path in files_below(folder)]
    return digest_of([chapter, Path(regions.__file__), *files], sys.version)


def _run(notebook: NotebookNode, chapter: Path) -> None:
    """Execute the notebook in place, in an empty folder beside those of the other chapters."""
    with tempfile.TemporaryDirectory(prefix="specdec-run-") as work:
        for other in chapter.parent.glob("*/"):
            Path(work, other.name).symlink_to(other.resolve())
        folder = Path(work, "this")
        folder.mkdir()
        client = NotebookClient(
            notebook,
            kernel_name="python3",
            extra_arguments=["--log-level=ERROR"],  # without a warning on local TCP every time
            timeout=900,  # seconds, for a cell
            record_timing=False,
            resources={"metadata": {"path": str(folder)}},
        )
        client.execute(env=_environment())


def _environment() -> dict[str, str]:
    """The kernel's environment: this repository's packages first, figures inline."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    backend = "module://matplotlib_inline.backend_inline"
    return {**os.environ, "PYTHONPATH": path, "MPLBACKEND": backend}
