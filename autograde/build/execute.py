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
    """One chapter's executed solution below the folder `out`; `ran`: it was run now."""

    source: Path
    out: Path
    digest: str  # of all that it depends on
    ran: bool = False

    @property
    def chapter(self) -> str:
        return self.source.stem

    @property
    def notebook(self) -> Path:
        return self.out / f"{self.chapter}.ipynb"

    @property
    def stamp(self) -> Path:
        """The file with the digest of what it was made from."""
        return self.out / f".{self.chapter}.stamp"

    def is_fresh(self) -> bool:
        """Whether both are there, and it was made from what there is now."""
        present = self.notebook.is_file() and self.stamp.is_file()
        return present and self.stamp.read_text() == self.digest

    def save(self, notebook: NotebookNode) -> None:
        """Write the notebook, and last the stamp that says that it is whole."""
        self.stamp.unlink(missing_ok=True)
        write_if_changed(self.notebook, (nbformat.writes(notebook) + "\n").encode("utf-8"))
        write_if_changed(self.stamp, self.digest.encode())
        self.ran = True


class ThisInterpreter(AsyncKernelManager):
    """Starts kernels of the interpreter that runs this, whatever kernels the user has installed."""

    @default("kernel_spec_manager")
    def _only_ours(self) -> KernelSpecManager:
        return KernelSpecManager(parent=self, kernel_dirs=[])


def execute(
    chapters: list[Path], out: Path = BUILD / "solutions", timeout: int = CELL_SECONDS
) -> list[Executed]:
    """Execute solutions/NN_topic.py files into OUT/NN_topic.ipynb.

    A chapter is not run again while its text, the library and the builder are what they were.
    They run one after the other, in the order given: torch takes every core, two at a time wait
    for each other most of the time, and most chapters read the clock. Each has a line when it has
    ended. `timeout` is in seconds, for a cell. Raises AuthorError once all have ended; those that
    ran well are in place by then.
    """
    results = [Executed(path, out, _digest(path)) for path in chapters]
    errors = _run_all([result for result in results if not result.is_fresh()], timeout)
    if errors:
        raise AuthorError("\n\n".join(errors))
    return results


def _run_all(stale: list[Executed], timeout: int) -> list[str]:
    """Run them in order; returns what went wrong."""
    notebooks = [regions.solution_view(read_chapter(result.source)) for result in stale]
    total = sum(cell.cell_type == "code" for nb in notebooks for cell in nb.cells)
    errors = []
    with tqdm(total=total, unit="cell", desc="chapters", disable=not stale) as bar:
        for result, notebook in zip(stale, notebooks, strict=True):
            bar.set_postfix_str(result.chapter)
            start = time.monotonic()
            error = _run(notebook, bar, timeout)
            if error is None:
                result.save(notebook)
            else:
                errors.append(f"{result.chapter}: {error}")
            done = "failed after" if error else "executed in"
            bar.write(f"  {result.chapter}: {done} {time.monotonic() - start:.0f} s")
    return errors


def _digest(chapter: Path) -> str:
    """A digest of all that an executed chapter depends on, this Python among it."""
    folders = [Path(__file__).parent, *library_folders()]
    files = [
        chapter,
        Path(regions.__file__),
        *(path for folder in folders for path in files_below(folder)),
    ]
    return digest_of(files, sys.version)


def _run(notebook: NotebookNode, bar: tqdm, timeout: int) -> str | None:
    """Execute the notebook in place; returns the cell that failed and its error, or None."""
    place = "the kernel's start"

    def note(cell: NotebookNode, cell_index: int) -> None:
        nonlocal place
        place = f"cell {cell_index + 1} ({cell.id})"

    with tempfile.TemporaryDirectory(prefix="specdec-run-") as folder:
        client = NotebookClient(
            notebook,
            kernel_name="python3",
            kernel_manager_class=ThisInterpreter,
            extra_arguments=["--log-level=ERROR"],  # else a warning on local TCP, every time
            timeout=timeout,
            record_timing=False,
            resources={"metadata": {"path": folder}},
            on_cell_execute=note,
            on_cell_executed=lambda **_: bar.update(),
        )
        try:
            client.execute(env=_environment())
        except Exception as error:  # a cell that raises, a time-out, a kernel that died
            return f"{place} failed.\n{_plain(error)}"
    _drop_nothing(notebook)
    return None


def _drop_nothing(notebook: NotebookNode) -> None:
    """Leave out the outputs in which a line of progress stood: there is nothing in them now."""
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = [each for each in cell.outputs if not _shows_nothing(each)]


def _shows_nothing(output: NotebookNode) -> bool:
    return output.output_type == "display_data" and not any(output.data.values())


def _environment() -> dict[str, str]:
    """The kernel's: this repository's packages first, figures inline."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    backend = "module://matplotlib_inline.backend_inline"
    return {**os.environ, "PYTHONPATH": path, "MPLBACKEND": backend}


def _plain(error: Exception) -> str:
    """The exception's text without the terminal's colours."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error)).strip()
    return text or type(error).__name__
