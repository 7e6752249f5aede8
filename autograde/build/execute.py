"""Run the solution view of chapters, and leave each as a notebook with outputs."""

import os
import re
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import nbformat
from jupyter_client import AsyncKernelManager
from jupyter_client.kernelspec import KernelSpecManager
from nbclient import NotebookClient
from nbformat.notebooknode import NotebookNode
from tqdm import tqdm
from traitlets import default

from autograde.build.source import read_chapter
from autograde.chapter import BUILD, ROOT, AuthorError, library_folders
from autograde.files import digest_of, files_below, write_if_changed
from autograde.nbgrader import regions

CELL_SECONDS = 900


@dataclass
class Executed:
    """One chapter's executed solution below the folder `out`; `ran`: it was run now.

    The digest of all that it was made from stands in the notebook's metadata.
    """

    source: Path
    out: Path
    digest: str
    ran: bool = False

    @property
    def chapter(self) -> str:
        return self.source.stem

    @property
    def notebook(self) -> Path:
        return self.out / f"{self.chapter}.ipynb"

    def is_fresh(self) -> bool:
        """Whether it is there, and was made from what there is now."""
        if not self.notebook.is_file():
            return False
        return nbformat.read(self.notebook, as_version=4).metadata.get("made_from") == self.digest

    def save(self, notebook: NotebookNode) -> None:
        """Write the notebook, whole or not at all."""
        notebook.metadata["made_from"] = self.digest
        write_if_changed(self.notebook, (nbformat.writes(notebook) + "\n").encode("utf-8"))
        self.ran = True


class ThisInterpreter(AsyncKernelManager):
    """Starts kernels of the interpreter that runs this, whatever kernels the user has installed."""

    @default("kernel_spec_manager")
    def _only_ours(self) -> KernelSpecManager:
        return KernelSpecManager(parent=self, kernel_dirs=[])


def execute(
    chapters: list[Path], out: Path = BUILD / "solutions", timeout: int = CELL_SECONDS
) -> list[Executed]:
    """Execute solutions/NN_topic.py files into OUT/NN_topic.ipynb, one after the other.

    A chapter is not run again while its text, the library and the builder are what they were.
    `timeout` is in seconds, for a cell. Raises AuthorError once all have ended; those that ran well
    are in place by then.
    """
    results = [Executed(path, out, _digest(path)) for path in chapters]
    stale, errors = [result for result in results if not result.is_fresh()], []
    with tqdm(stale, unit="chapter", desc="chapters", disable=not stale) as bar:
        for result in bar:
            bar.set_postfix_str(result.chapter)
            start, error = time.monotonic(), _made(result, timeout)
            errors += [f"{result.chapter}: {error}"] if error else []
            done = "failed after" if error else "executed in"
            bar.write(f"  {result.chapter}: {done} {time.monotonic() - start:.0f} s")
    if errors:
        raise AuthorError("\n\n".join(errors))
    return results


def _digest(chapter: Path) -> str:
    """A digest of all that an executed chapter depends on, this Python among it."""
    folders = [Path(__file__).parent, *library_folders()]
    files = [path for folder in folders for path in files_below(folder)]
    return digest_of([chapter, Path(regions.__file__), *files], sys.version)


def _made(result: Executed, timeout: int) -> str | None:
    """Execute one chapter, and save it unless it fails; returns what went wrong."""
    notebook = regions.solution_view(read_chapter(result.source))
    error = _run(notebook, timeout)
    if error is None:
        result.save(notebook)
    return error


def _run(notebook: NotebookNode, timeout: int) -> str | None:
    """Execute the notebook in place; returns the error that ended it and its cell, or None."""
    with tempfile.TemporaryDirectory(prefix="specdec-run-") as folder:
        client = NotebookClient(
            notebook,
            kernel_name="python3",
            kernel_manager_class=ThisInterpreter,
            extra_arguments=["--log-level=ERROR"],  # else a warning on local TCP, every time
            timeout=timeout,
            record_timing=False,
            resources={"metadata": {"path": folder}},
        )
        try:
            client.execute(env=_environment())
        except Exception as error:  # a cell that raises, a time-out, a kernel that died
            return _plain(error)
    _drop_nothing(notebook)
    return None


def _drop_nothing(notebook: NotebookNode) -> None:
    """Leave out the outputs in which a line of progress stood: there is nothing in them now."""
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = [
                out for out in cell.outputs if any(out.get("data", {"text": 1}).values())
            ]


def _environment() -> dict[str, str]:
    """The kernel's: this repository's packages first, figures inline."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    backend = "module://matplotlib_inline.backend_inline"
    return {**os.environ, "PYTHONPATH": path, "MPLBACKEND": backend}


def _plain(error: Exception) -> str:
    """The exception's text without the terminal's colours."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error)).strip()
    return text or type(error).__name__
