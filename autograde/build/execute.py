"""Run the solution view of chapters, and leave each as a notebook with outputs and as HTML."""

import os
import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import nbformat
from jupyter_client import AsyncKernelManager
from jupyter_client.kernelspec import KernelSpecManager
from nbclient import NotebookClient
from nbformat.notebooknode import NotebookNode
from tqdm import tqdm
from traitlets import default

from autograde.errors import AuthorError
from autograde.build.source import read_chapter
from autograde.nbgrader import regions
from autograde.report import offline
from autograde.files import digest_of, files_below, write_if_changed
from autograde.chapter import BUILD, ROOT, library_folders

CELL_SECONDS = 900


@dataclass(frozen=True)
class Executed:
    """One chapter's executed solution."""

    chapter: str
    ran: bool
    notebook: Path
    html: Path


class ThisInterpreter(AsyncKernelManager):
    """Starts kernels of the interpreter that runs this, whatever kernels the user has installed."""

    @default("kernel_spec_manager")
    def _only_ours(self) -> KernelSpecManager:
        return KernelSpecManager(parent=self, kernel_dirs=[])


@dataclass
class Run:
    """One chapter to run: its notebook, the cell it is at, and the bar that counts the cells."""

    chapter: str
    notebook: NotebookNode
    bar: tqdm
    cell: str = "the kernel's start"

    def on_execute(self, cell: NotebookNode, cell_index: int) -> None:
        self.cell = f"cell {cell_index + 1} ({cell.id})"

    def on_executed(self, **_: object) -> None:
        self.bar.update()


def execute(
    chapters: list[Path],
    out: Path = BUILD / "solutions",
    timeout: int = CELL_SECONDS,
) -> list[Executed]:
    """Execute solutions/NN_topic.py files into OUT/NN_topic.ipynb and OUT/NN_topic.html.

    A chapter is not run again while its text, specdec_lib and the builder are what they were.
    They run one after the other: torch takes every core, two at a time wait for each other most of
    the time, and many cells read the clock. `timeout` is in seconds, for a cell. Raises
    AuthorError once all have ended; those that ran well are in place by then.
    """
    stamps = {path: _digest(path) for path in chapters}
    stale = [path for path in chapters if not _is_fresh(path.stem, out, stamps[path])]
    errors = _run_all(stale, out, stamps, timeout) if stale else []
    if errors:
        raise AuthorError("\n\n".join(errors))
    return [Executed(path.stem, path in stale, *_results(path.stem, out)) for path in chapters]


def _results(chapter: str, out: Path) -> tuple[Path, Path]:
    return out / f"{chapter}.ipynb", out / f"{chapter}.html"


# ------------------------------------------------------------------------------------ freshness


def _digest(chapter: Path) -> str:
    """A digest of all that an executed chapter depends on, this Python among it."""
    makers = [Path(offline.__file__), Path(regions.__file__)]
    folders = [Path(__file__).parent, offline.TEMPLATES, *library_folders()]
    files = [chapter, *makers, *(path for folder in folders for path in files_below(folder))]
    return digest_of(files, sys.version)


def _stamp(chapter: str, out: Path) -> Path:
    return out / f".{chapter}.stamp"


def _is_fresh(chapter: str, out: Path, digest: str) -> bool:
    stamp = _stamp(chapter, out)
    present = all(path.is_file() for path in (*_results(chapter, out), stamp))
    return present and stamp.read_text() == digest


# ------------------------------------------------------------------------------------- running


def _run_all(chapters: list[Path], out: Path, stamps: dict[Path, str], timeout: int) -> list[str]:
    """Run them in order; returns what went wrong."""
    notebooks = {path: regions.solution_view(read_chapter(path)) for path in chapters}
    total = sum(cell.cell_type == "code" for nb in notebooks.values() for cell in nb.cells)
    errors = []
    with tqdm(total=total, unit="cell", desc="solutions") as bar:
        for path, notebook in notebooks.items():
            bar.set_postfix_str(path.stem)
            error = _run(Run(path.stem, notebook, bar), timeout)
            if error is None:
                _save(path.stem, notebook, out, stamps[path])
            else:
                errors.append(error)
    return errors


def _run(run: Run, timeout: int) -> str | None:
    """Execute the notebook in place; returns the error, or None."""
    with tempfile.TemporaryDirectory(prefix="specdec-run-") as folder:
        client = NotebookClient(
            run.notebook,
            kernel_name="python3",
            kernel_manager_class=ThisInterpreter,
            extra_arguments=["--log-level=ERROR"],  # else a warning on local TCP, every time
            timeout=timeout,
            record_timing=False,
            resources={"metadata": {"path": folder}},
            on_cell_execute=run.on_execute,
            on_cell_executed=run.on_executed,
        )
        try:
            client.execute(env=_environment())
        except Exception as error:  # a cell that raises, a time-out, a kernel that died
            return f"{run.chapter}: {run.cell} failed.\n{_plain(error)}"
    return None


def _environment() -> dict[str, str]:
    """The kernel's: this repository's packages first, figures inline."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    backend = "module://matplotlib_inline.backend_inline"
    return {**os.environ, "PYTHONPATH": path, "MPLBACKEND": backend}


def _plain(error: Exception) -> str:
    """The exception's text without the terminal's colours."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error)).strip()
    return text or type(error).__name__


def _save(chapter: str, notebook: NotebookNode, out: Path, digest: str) -> None:
    """The notebook, the page, and last the stamp that says that both are whole."""
    as_notebook, as_html = _results(chapter, out)
    page, _ = offline.Page().from_notebook_node(notebook, resources={"metadata": {"name": chapter}})
    _stamp(chapter, out).unlink(missing_ok=True)
    write_if_changed(as_notebook, (nbformat.writes(notebook) + "\n").encode("utf-8"))
    write_if_changed(as_html, page.encode("utf-8"))
    write_if_changed(_stamp(chapter, out), digest.encode())
