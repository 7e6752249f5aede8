"""Grading a class: a folder of submissions in nbgrader's layout, several at a time.

A thread takes one submission after the other and has it graded by a process of its own. One that
is killed is replaced, and costs no other submission anything. In place of this machine's processes
the workers of a dask cluster can grade: every machine needs Linux, this repository and its packages
at the same versions. Submissions are read, and results stored, on the machine that sends.
"""

import gc
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import Pipe, get_context
from multiprocessing.connection import Connection
from pathlib import Path

from nbformat import NotebookNode
from tqdm import tqdm

from autograde.course import UsageError, chapter_names, notebook_path
from autograde.grading.cache import grader_fingerprint
from autograde.grading.grade import Grader, grade, grade_by, grade_now, known_of
from autograde.grading.result import Exercise, Grades, Result
from autograde.hidden.collected import HiddenTests, with_hidden_tests
from autograde.hidden.material import material_of
from autograde.intake.submission import sanitise
from autograde.sandbox import isolation, selftest

CPU_TIME = Path("/sys/fs/cgroup/cpu.max")  # of a container, on Linux
CONNECT_SECONDS = 15  # to a dask scheduler, and to its first worker
_ALONE = threading.Lock()


@dataclass(frozen=True)
class Task:
    """One student's notebook of one chapter, below the folder `submitted`."""

    submitted: Path
    student: str
    chapter: str

    @property
    def path(self) -> Path:
        return notebook_path(Path(self.student), self.chapter)


def grade_class(
    submitted: Path,
    chapter: str | None = None,
    workers: int | None = None,
    scheduler: str | None = None,
) -> Grades:
    """Grade every STUDENT/CHAPTER/CHAPTER.ipynb below `submitted`, one chapter or all.

    With `scheduler`, the address of a dask scheduler, on its workers; else in `workers` processes
    here, by default one for every core that this process may use. One submission's trouble never
    stops another. Raises FileNotFoundError if there is no such folder, UsageError if the cluster
    cannot grade.
    """
    # Chapter by chapter: a process keeps what one chapter needs, and not much of every other.
    tasks = sorted(tasks_in(submitted, chapter), key=lambda task: task.chapter)
    students = sorted({task.student for task in tasks})
    grades: Grades = {student: {} for student in students}
    here = nullcontext((Processes().grade, workers or usable_cores()))
    somewhere = cluster(scheduler, {task.chapter for task in tasks}) if scheduler else here
    with somewhere as (grader, at_once):
        for task, result in _results(tasks, grader, at_once):
            grades[task.student][task.chapter] = result.to_json()
    return {name: dict(sorted(grades[name].items())) for name in students}


def usable_cores() -> int:
    """The cores that this process may use: a container often has fewer than the machine.

    Either it is bound to some of them, or its processor time is limited to that of so many.
    """
    may_use = getattr(os, "sched_getaffinity", None)  # macOS and Windows have none
    cores = len(may_use(0)) if may_use else os.cpu_count() or 1
    if CPU_TIME.exists():
        most, period = CPU_TIME.read_text().split()  # microseconds, or "max"
        cores = cores if most == "max" else min(cores, max(1, int(most) // int(period)))
    return cores


def tasks_in(submitted: Path, chapter: str | None) -> Iterator[Task]:
    """The notebooks that are there, and with `chapter` also those that should be.

    A folder whose name begins with a dot is nobody's, as for nbgrader.
    """
    if not submitted.is_dir():
        raise FileNotFoundError(f"there is no folder of submissions at {submitted}")
    for student in sorted(entry.name for entry in os.scandir(submitted) if _is_student(entry)):
        for name in [chapter] if chapter else chapter_names():
            if chapter or os.path.lexists(submitted / student / name):
                yield Task(submitted, student, name)


def _is_student(entry: os.DirEntry) -> bool:
    return not entry.name.startswith(".") and (entry.is_symlink() or entry.is_dir())


def _results(tasks: list[Task], grader: Grader, workers: int) -> Iterator[tuple[Task, Result]]:
    """Each task's result as they come, and stored at once: a run cut off loses little."""
    bar = tqdm(total=len(tasks), desc="grading", unit="submission")
    with bar, ThreadPoolExecutor(workers) as threads:
        try:
            running = {threads.submit(result_of, task, grader): task for task in tasks}
            for future in as_completed(running):
                bar.update()
                yield running[future], future.result()
        finally:
            threads.shutdown(cancel_futures=True)


def result_of(task: Task, grader: Grader) -> Result:
    """A task's result; whatever goes wrong stops this submission only, and is its reason."""
    try:
        submission = sanitise(task.submitted, task.path, task.chapter)
        return replace(grade(submission.notebook, task.chapter, grader), reason=submission.reason)
    except Exception as error:
        reason = f"the grader could not finish: {type(error).__name__}: {error}"
    material = material_of(task.chapter)
    exercises = {name: Exercise(points) for name, points in material.points.items()}
    return Result(exercises, material.pending, reason=reason)


class Processes(threading.local):
    """A grading process for each thread, made anew if it was killed."""

    requests: Connection | None = None

    def grade(self, notebook: NotebookNode, chapter: str) -> Result:
        """What `grade_now` gives in the process. Raises RuntimeError if it was killed twice."""
        for _ in range(2):
            if self.requests is None:
                self.requests = _start_process()
            try:
                self.requests.send((notebook, chapter))
                answer = self.requests.recv()
            except (EOFError, OSError):
                self.requests = None
                continue
            if isinstance(answer, Exception):
                raise answer
            return answer
        raise RuntimeError("the process that graded it was killed, twice")


def _start_process() -> Connection:
    """A new process that grades what is sent to it, until this process is gone."""
    ours, theirs = Pipe()
    # A fresh one: a forked one would share this process's open files.
    get_context("spawn").Process(target=_serve, args=(theirs,), daemon=True).start()
    theirs.close()
    return ours


def _serve(requests: Connection) -> None:
    """Grade one notebook after the other. The tests of a chapter are collected once for all."""
    notebook, chapter = _next(requests)
    while True:
        try:
            known_of(chapter)
            gc.freeze()  # what is known by now stays: the collector need not look at it again
            use = partial(_grade_chapter, requests=requests, notebook=notebook)
            notebook, chapter = with_hidden_tests(chapter, use)
        except Exception as error:
            requests.send(error)
            notebook, chapter = _next(requests)


def _next(requests: Connection) -> tuple[NotebookNode, str]:
    """The next notebook and its chapter. Ends this process if the one that asks is gone."""
    try:
        return requests.recv()
    except (EOFError, OSError):
        raise SystemExit from None


def _grade_chapter(
    tests: HiddenTests, requests: Connection, notebook: NotebookNode
) -> tuple[NotebookNode, str]:
    """Grade notebooks of one chapter. Returns the first request about another chapter."""
    chapter = tests.chapter
    while chapter == tests.chapter:
        requests.send(grade_by(tests, notebook))
        notebook, chapter = _next(requests)
    return notebook, chapter


@contextmanager
def cluster(address: str, chapters: Iterable[str]) -> Iterator[tuple[Grader, int]]:
    """What grades on the workers of the dask scheduler at `address`, and how many these are.

    Raises UsageError if dask.distributed is missing, no scheduler with a worker answers, or a
    worker has another version of what grades `chapters`, or another isolation.
    """
    try:
        from distributed import Client
    except ImportError:
        raise UsageError("--scheduler needs dask: pip install -e '.[cluster]'") from None
    with ExitStack() as opened:
        try:
            client = Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
            opened.enter_context(client).wait_for_workers(1, timeout=CONNECT_SECONDS)
        except (OSError, ValueError) as error:
            raise UsageError(
                f"no dask scheduler with a worker answers at {address}: {error}"
            ) from None
        _require_same_grader(client, chapters)

        def grade(notebook: NotebookNode, chapter: str) -> Result:
            return client.submit(_grade_alone, notebook, chapter, pure=False, retries=0).result()

        yield grade, len(client.ncores())


def _grade_alone(notebook: NotebookNode, chapter: str) -> Result:
    """One at a time in a process, whatever threads it has: a submission's limits hold for it."""
    with _ALONE:
        return grade_now(notebook, chapter)


def _require_same_grader(client, chapters: Iterable[str]) -> None:
    """Raise UsageError if a worker would grade by other code, or in another isolation, than here.

    Results are stored under this machine's isolation, so a worker's must be the same.
    """
    for chapter in sorted(chapters):
        for worker, code in _on_workers(client, grader_fingerprint, chapter):
            if code != grader_fingerprint(chapter):
                raise UsageError(
                    f"the worker {worker} has another version of the course, of Python or of a "
                    "package: install the same commit with constraints.txt there"
                )
    for worker, mode in _on_workers(client, isolation.mode):
        if mode != isolation.mode():
            raise UsageError(
                f"the worker {worker} has the isolation {mode}, this machine {isolation.mode()}: "
                f"set {isolation.VARIABLE} alike on both, and start the worker again"
            )
    _on_workers(client, selftest.require_isolation)


def _on_workers(client, function: Callable, *args: str) -> list[tuple[str, str]]:
    """Each worker's name, with what `function` gives there. Raises UsageError if it fails."""
    results = sorted(client.run(function, *args, on_error="return").items())
    for worker, value in results:
        if isinstance(value, Exception):
            raise UsageError(f"the worker {worker} cannot grade: {type(value).__name__}: {value}")
    return results
