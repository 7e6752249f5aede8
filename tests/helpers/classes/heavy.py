"""Submissions that cost as much as their authors can make them, and what each step costs with them.

The table of all, or of those named: `PYTHONPATH=tests/helpers python -c "from classes.heavy import
main; main()"`. It has the peak memory over the start of a process (MB) and its processor seconds.
"""

import json
import multiprocessing
import os
import resource
import runpy
import sys
import time
from collections.abc import Callable, Iterable
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import nbformat
from classes.submitting import CHAPTER, cell_of, hand_in, right
from nbconvert.exporters import HTMLExporter

from autograde import cache
from autograde.build.release import release_into
from autograde.chapter import ROOT, notebook_path
from autograde.files import write_json
from autograde.grade import grade_now, job_of, parameters_of
from autograde.nbgrader.config import load_config
from autograde.report.class_page import class_page
from autograde.result import read_grades
from autograde.submission import MAX_BYTES, MAX_CELLS, release_of, take_in

MOST_MEGABYTES, MOST_SECONDS = 600, 60
PATH = notebook_path(Path("ada"), CHAPTER)
_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(["nbgrader.apps", "autograde.nbgrader.plugin", "classes.heavy"])
EMOJI = "\N{GRINNING FACE}"  # makes Python hold a text in 4 bytes a character


def own(kind: str, *sources: str, **fields: object) -> bytes:
    """The right notebook and cells of that kind after it."""
    notebook = right()
    new = getattr(nbformat.v4, f"new_{kind}_cell")
    notebook.cells += [new(source, **fields) for source in sources]
    return json.dumps(notebook).encode()


def answered(name: str, source: str) -> bytes:
    notebook = right()
    cell_of(notebook, name).source = source
    return json.dumps(notebook).encode()


def answering(line: str) -> bytes:
    """Every function has this line for an answer."""
    notebook = right()
    for cell in notebook.cells:
        if (name := cell.id) in parameters_of(CHAPTER):
            cell.source = f"def {name}(*_): {line}"
    return json.dumps(notebook).encode()


def many(unit: str, length: int = 400_000) -> str:
    return (unit * (length // len(unit) + 1))[:length]


def texts(unit: str) -> bytes:
    """As much Markdown as is kept, in cells as long as they may be."""
    return own("markdown", *[many(unit, 9_900)] * 12)


def codes(unit: str) -> bytes:
    return own("code", *[many(unit, 19_900)] * 6)


def printing(what: str, cells: int = 1900) -> bytes:
    return own("code", *[f"print({what})"] * cells)


def padded(unit: bytes, notebook: bytes | None = None) -> bytes:
    """The right notebook, or another, with `unit` beside its cells till the file is full."""
    start = (notebook or own("code"))[:-1] + f', "more": ["{EMOJI}"'.encode()
    number = (MAX_BYTES - len(start) - 9) // (len(unit) + 1)
    return start + (b"," + unit) * number + b"]}"


def pictures() -> bytes:
    """Pictures of the size that is kept, each shown many times."""
    shown = "\n\n".join(["![a](attachment:a.png)"] * 400)
    data = {"a.png": {"image/png": "aGlp" * (2**20)}}
    return own("markdown", *[shown] * 4, attachments=data)


def together() -> bytes:
    """Slow Markdown, slow code and much output in one notebook."""
    notebook = right()
    notebook.cells += [nbformat.v4.new_markdown_cell(many("\\\\[", 9_900)) for _ in range(3)]
    notebook.cells += [nbformat.v4.new_code_cell("#" + many('f"""{', 19_000))]
    loud = [nbformat.v4.new_code_cell("print('\\x1b[31m\\n' * 3_000)") for _ in range(1_000)]
    notebook.cells += [*loud, *(nbformat.v4.new_markdown_cell("*a* $b$") for _ in range(900))]
    return json.dumps(notebook).encode()


def copies() -> bytes:
    """The same cell again and again, each a little other, after a long one."""
    notebook = right()
    cell = cell_of(notebook, "correct_token")
    for number in range(MAX_CELLS - len(notebook.cells)):
        source = f"\n{number}" * (50 if number % 9 else 5_000)
        notebook.cells.append(nbformat.from_dict({**cell, "source": source}))
    return json.dumps(notebook).encode()


def line_by_line() -> bytes:
    """A cell that stands in the file line by line, a number in place of each line."""
    lines = b"[" + b"1e15," * (MAX_BYTES // 6) + b"1]"
    return own("code", "LINES").replace(b'"LINES"', lines)


def metadata() -> bytes:
    """Megabytes of widgets' state, in the notebook and in each cell."""
    notebook = right()
    state = {f"w{i}": {"model_name": "FloatSliderModel", "state": {"v": i}} for i in range(9_000)}
    for cell in notebook.cells[:8]:
        cell.metadata["widgets"] = state
    notebook.metadata["widgets"] = {"application/vnd.jupyter.widget-state+json": {"state": state}}
    return json.dumps(notebook).encode()


HEAVY: dict[str, Callable[[], bytes]] = {
    "right": lambda: own("code"),
    # of the text of Markdown cells
    "400,000 blanks": lambda: own("markdown", f"a{' ' * 400_000}b"),
    "blanks as long as allowed": lambda: own("markdown", *[f"a{' ' * 9_900}b"] * 12),
    "begin": lambda: own("markdown", "\\begin{a}" * 8000),
    "begin as long as allowed": lambda: texts("\\begin{a}"),
    "opened formulas": lambda: own("markdown", "\\\\(" * 32_000),
    "opened formulas as long as allowed": lambda: texts("\\\\["),
    "nested roots": lambda: texts("$" + "\\sqrt" * 190 + "x$ "),
    "formulas": lambda: texts("$x$"),
    "tables": lambda: texts("|a|b|\n|-|-|\n|`|*|\n"),
    "nested quotes": lambda: texts("> - " * 40 + "\n"),
    "language of a block": lambda: own(
        "markdown", *[f"```{name}\n{many('<a ', 9_000)}\n```" for name in ("html", "perl", "tex")]
    ),
    "tags": lambda: texts("<a "),
    "written answer": lambda: answered("why_residual", many("**a** [b](c) ")),
    "raw cells": lambda: own("raw", *[many("a_b*", 9_900)] * 100),
    # of the text of code cells
    "12,000 empty lines": lambda: own("code", "a" + "\n" * 12_000 + "b"),
    "empty lines as long as allowed": lambda: codes(" \n"),
    "dots": lambda: codes("."),
    "open strings": lambda: codes('f"""{'),
    "magic": lambda: own("code", "%%html\n" + many("<a ", 19_000), "%%perl\n" + many("/", 19_000)),
    "answer without end": lambda: answered("correct_token", many("(", 400_000)),
    "2,000 empty cells": lambda: own("code", *[""] * (MAX_CELLS - 61)),
    "2,000 cells of text": lambda: own("markdown", *["*a* $b$"] * (MAX_CELLS - 61)),
    "copies of an answer": copies,
    # of what cells print
    "prints": lambda: printing("'x' * 20_000"),
    "prints emoji": lambda: printing(f"'{EMOJI}' * 20_000"),
    "prints colours": lambda: printing("'\\x1b[31mx\\x1b[0m' * 2_000"),
    "prints lines": lambda: printing("'\\n' * 20_000"),
    "raises": lambda: own("code", *["raise ValueError('\\x1b[1m<' * 400)"] * 1900),
    "exits": lambda: own("code", *["pass"] * 900, *["import os; os._exit(0)"] * 900),
    # of what answers give
    "messages": lambda: answering("raise ValueError('&#x26;<b>' * 10**5)"),
    "values": lambda: answering("return ['&<' * 10**5] * 9"),
    "warnings": lambda: answering("import warnings; warnings.warn('*`[' * 10**5); return 1"),
    # of the file around the cells
    "empty objects": lambda: padded(b"{}"),
    "nested lists": lambda: padded(b"[[1]]"),
    "objects": lambda: padded(b'{"":[1]}'),
    "short texts": lambda: padded(b'"ab"'),
    "numbers": lambda: padded(b"1.5"),
    "400,000 lists": lambda: padded(b"[1]" + b",1.5" * 12),
    "deep lists": lambda: padded(b"[" * 900 + b"]" * 900),
    "line by line": line_by_line,
    "metadata": metadata,
    "pictures": pictures,
    "all at once": lambda: padded(b'"ab"', together()),
    "one long text": lambda: own("markdown", EMOJI + "a" * (MAX_BYTES - 200_000)),
}


class Cost(NamedTuple):
    """What a step needed: MB over the start of its process, and its processor seconds."""

    megabytes: float
    seconds: float

    def __str__(self) -> str:
        return f"{self.megabytes:.0f} MB, {self.seconds:.1f} s"


def intake(course: Path) -> None:
    take_in(course / "submitted", PATH, CHAPTER)


def grading(course: Path) -> None:
    """One submission as `autograde grade` grades it, and what is stored of it read again."""
    job = job_of(take_in(course / "submitted", PATH, CHAPTER).notebook, CHAPTER)
    result = job.outcome or grade_now(job.notebook, CHAPTER)
    cache.store(job.key, result)
    results = {"ada": {CHAPTER: cache.load(job.key).to_json()}}
    write_json(course / "grades.json", {"students": results})


def autograde(course: Path) -> None:
    nbgrader(course, "autograde")


def feedback(course: Path) -> None:
    nbgrader(course, "generate_feedback")


def nbgrader(course: Path, command: str) -> None:
    """One of nbgrader's own commands."""
    os.environ["SPECDEC_COURSE"] = str(course)
    os.chdir(ROOT)
    sys.argv = ["nbgrader", command, CHAPTER]
    try:
        runpy.run_module("nbgrader", run_name="__main__")
    except SystemExit as end:
        if end.code:
            raise RuntimeError(f"nbgrader {command} ended with {end.code}") from None


def formgrader(course: Path) -> None:
    """The page of a submission, made as formgrader makes it."""
    config = load_config()
    config.HTMLExporter.template_name = "formgrade"
    told = dict.fromkeys(("assignment_id", "notebook_id", "submission_id", "student", "last_name"))
    told |= {"index": 0, "total": 1, "base_url": "", "first_name": "", "notebook_path": ""}
    graded = course / "autograded" / PATH
    page, _ = HTMLExporter(config=config).from_filename(str(graded), resources=told)
    (course / "formgrader.html").write_text(page)


def report(course: Path) -> None:
    (course / "report.html").write_text(class_page(read_grades(course / "grades.json")))


def waste(_: Path) -> None:
    """A step that costs too much, to see that it is measured."""
    b"x" * ((MOST_MEGABYTES + 50) * 10**6)
    while time.process_time() < 2:
        pass


STEPS = (intake, grading, autograde, feedback, formgrader, report)


def costs_of(data: bytes, folder: Path) -> dict[str, Cost]:
    """What each step costs with the submission `data`, in a class of its own in `folder`."""
    course = folder / "course"
    hand_in(course / "submitted", "ada", data)
    release_into(course, [CHAPTER])
    return {step.__name__: measured(step, course) for step in STEPS}


def measured(step: Callable[[Path], None], course: Path) -> Cost:
    """What one step costs. Raises RuntimeError if it fails."""
    receiver, sender = _FORKS.Pipe(duplex=False)
    process = _FORKS.Process(target=_measure, args=(step, course, sender))
    process.start()
    sender.close()
    try:
        return Cost(*receiver.recv())
    except EOFError:
        log = (course / "said.txt").read_text()[-3000:]
        raise RuntimeError(f"{step.__name__} failed: {log}") from None
    finally:
        process.join()


def _measure(step: Callable[[Path], None], course: Path, sender: Connection) -> None:
    """Runs in a process of its own. Of other processes only those that make pages count."""
    said = os.open(course / "said.txt", os.O_WRONLY | os.O_CREAT)
    os.dup2(said, 1)
    os.dup2(said, 2)
    cache.FOLDER = course / "cache"
    if step is grading:
        grade_now(release_of(CHAPTER), CHAPTER)  # the self-test, and what a process loads once
    who = (resource.RUSAGE_SELF, *([resource.RUSAGE_CHILDREN] if step is feedback else []))
    start = int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
    before = _seconds(who)
    step(course)
    peak = max(resource.getrusage(each).ru_maxrss * 1024 for each in who)
    sender.send(((peak - start) / 1e6, _seconds(who) - before))


def _seconds(who: Iterable[int]) -> float:
    return sum(sum(resource.getrusage(each)[:2]) for each in who)


def main(*names: str) -> None:
    """Print the table, a row when it is known."""
    print("|".join(["submission", *(step.__name__ for step in STEPS)]))
    for name in names or HEAVY:
        with TemporaryDirectory() as folder:
            try:
                costs = costs_of(HEAVY[name](), Path(folder))
                print("|".join([name, *map(str, costs.values())]), flush=True)
            except RuntimeError as error:
                print(f"{name}|{error}", flush=True)
