"""Grading a class: a folder of submissions in nbgrader's layout, several at a time.

They go to other processes, of this machine or of a dask cluster. Every machine of a cluster needs
this repository at the same version, its packages at the same versions, and Linux. Submissions are
read, and results stored, on the machine that sends.
"""

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from itertools import islice
from multiprocessing import connection, get_context, parent_process
from pathlib import Path

from tqdm import tqdm

from autograde.cache import grader_fingerprint
from autograde.chapter import chapter_names, notebook_path
from autograde.grade import Job, Outcome, exercises_of, grade_now, job_of, pending_of, stored
from autograde.result import Grades, Result
from autograde.submission import Refused, release_of, take_in

PER_WORKER = 4  # jobs on their way to a worker: enough to keep it busy, and memory stays flat
CONNECT_SECONDS = 15


class GraderCrashed(Exception):
    """A job whose process ended while it was graded; the text says so."""


@dataclass(frozen=True)
class Pool:
    """So many `workers` that grade; `open` makes an executor of that number or another."""

    open: Callable[[int], AbstractContextManager[Executor]]
    workers: int

    def run(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, Outcome]]:
        """Every job with its outcome as they come, an exception for one that failed.

        `jobs` are read as workers get free. A worker that is killed takes its executor with it:
        the rest goes into a new one, and the jobs that were on their way are repeated at the end,
        each by itself, so that only the one that ends its process gets GraderCrashed.
        """
        waiting, interrupted = iter(jobs), []
        for first in waiting:
            yield from self._through(first, waiting, interrupted)
        for job in interrupted:
            crashed: list[Job] = []
            yield from Pool(self.open, 1)._through(job, iter(()), crashed)
            if crashed:
                words = "it ended, or had killed, the process that graded it, twice"
                yield job, GraderCrashed(words)

    def _through(
        self, first: Job, waiting: Iterator[Job], interrupted: list[Job]
    ) -> Iterator[tuple[Job, Outcome]]:
        """What comes of one executor; if it breaks, the jobs on their way are `interrupted`."""
        with self.open(self.workers) as executor:
            running = {self._submit(executor, first): first}
            try:
                while running:
                    for job in islice(waiting, PER_WORKER * self.workers - len(running)):
                        running[self._submit(executor, job)] = job
                    for future in wait(running, return_when=FIRST_COMPLETED).done:
                        job, error = running.pop(future), _error_of(future)
                        if isinstance(error, BrokenProcessPool):
                            interrupted += [job, *running.values()]
                            return
                        yield job, error or future.result()
            finally:
                for future in running:
                    future.cancel()

    def _submit(self, executor: Executor, job: Job) -> Future:
        """The future of a job: finished if its outcome is known or the executor takes no more."""
        known: Future = Future()
        try:
            if job.outcome is None:
                return executor.submit(grade_now, job.notebook, job.chapter)
            if isinstance(job.outcome, Exception):
                known.set_exception(job.outcome)
            else:
                known.set_result(job.outcome)
        except Exception as error:
            known.set_exception(error)
        return known


def _error_of(future: Future) -> BaseException | None:
    if future.cancelled():  # as a cluster does whose scheduler has gone
        return GraderCrashed("the machines that it was sent to are gone; run the command again")
    return future.exception()


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
    here. One submission's trouble never stops another. Raises FileNotFoundError if there is no
    such folder, ValueError if the cluster cannot grade.
    """
    # Chapter by chapter: a process keeps what one chapter needs, and not much of every other.
    tasks = sorted(tasks_in(submitted, chapter), key=lambda task: task.chapter)
    students = sorted({task.student for task in tasks})
    grades: Grades = {student: {} for student in students}
    chapters = {task.chapter for task in tasks}
    opened = local_pool(workers) if scheduler is None else cluster_pool(scheduler, chapters)
    with opened as pool:
        for task, result in _shown(_results(tasks, pool), len(tasks)):
            grades[task.student][task.chapter] = result.to_json()
    return {name: dict(sorted(grades[name].items())) for name in students}


def tasks_in(submitted: Path, chapter: str | None) -> Iterator[Task]:
    """The notebooks that are there, and with `chapter` also those that should be.

    A folder whose name begins with a dot is a student's only if there is a chapter in it.
    """
    if not submitted.is_dir():
        raise FileNotFoundError(f"there is no folder of submissions at {submitted}")
    for student in sorted(entry.name for entry in os.scandir(submitted) if _is_student(entry)):
        for name in [chapter] if chapter else chapter_names():
            expected = chapter and not student.startswith(".")
            if expected or os.path.lexists(submitted / student / name):
                yield Task(submitted, student, name)


def _is_student(entry: os.DirEntry) -> bool:
    return entry.is_symlink() or entry.is_dir()


def _shown(results: Iterable[tuple[Task, Result]], total: int) -> Iterator[tuple[Task, Result]]:
    """The results, with a progress bar that counts the graded and the failed."""
    counts = {"graded": 0, "failed": 0}
    with tqdm(total=total, desc="grading", unit="submission") as bar:
        for task, result in results:
            counts["graded" if result.reason is None else "failed"] += 1
            bar.set_postfix(counts, refresh=False)
            bar.update()
            yield task, result


def _results(tasks: list[Task], pool: Pool) -> Iterator[tuple[Task, Result]]:
    """Each task's result, in the order in which they come."""
    waiting: dict[Job, tuple[Task, str | None]] = {}  # each with intake's reason

    def jobs() -> Iterator[Job]:
        for task in tasks:
            job, reason = _job(task)
            waiting[job] = task, reason
            yield job

    for job, outcome in pool.run(jobs()):
        task, reason = waiting.pop(job)
        # At once: a run that is cut off loses only what was on its way.
        yield task, _result(task, stored(job, outcome), reason)


def _job(task: Task) -> tuple[Job, str | None]:
    """What is to be done for a task, and the reason why it is not graded, if there is one."""
    try:
        _require_seen(task.student)
        submission = take_in(task.submitted, task.path, task.chapter)
        return job_of(submission.notebook, task.chapter), submission.reason
    except Exception as error:  # whatever it is, it stops this submission only
        return Job(str(task.path), outcome=error), None


def _require_seen(student: str) -> None:
    """Raise Refused for a folder that nbgrader does not see: no mark of it would be kept."""
    if student.startswith("."):
        raise Refused("the folder's name begins with a dot, which nbgrader does not see; rename it")


def _result(task: Task, outcome: Outcome, reason: str | None) -> Result:
    """A task's own result; an exception becomes a failed result that says why."""
    if isinstance(outcome, Result):
        return replace(outcome, reason=reason)
    blank = release_of(task.chapter)
    reason = f"the grader could not finish: {type(outcome).__name__}: {outcome}"
    reason = str(outcome) if isinstance(outcome, Refused) else reason
    return Result(exercises_of(blank), pending_of(blank), reason=reason)


@contextmanager
def local_pool(workers: int | None) -> Iterator[Pool]:
    """Processes of this machine, one for every core if `workers` is None."""
    yield Pool(_processes, workers or os.cpu_count() or 1)


def _processes(workers: int) -> Executor:
    """An executor of fresh processes (a forked one would share the parent's open files)."""
    return ProcessPoolExecutor(workers, get_context("spawn"), initializer=_end_with_parent)


def _end_with_parent() -> None:
    """End this process when the one that started it is gone, even by kill -9.

    A worker of ProcessPoolExecutor holds both ends of the queue that it reads from, so it would
    wait there for ever.
    """

    def watch() -> None:
        connection.wait([parent_process().sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@contextmanager
def cluster_pool(address: str, chapters: Iterable[str]) -> Iterator[Pool]:
    """The workers of the dask scheduler at `address`.

    Raises ValueError if dask.distributed is missing, nothing answers at `address`, no worker is
    there, or one of them has another version of what grades `chapters`.
    """
    with _client(address) as client:
        workers = client.ncores()
        require_single_threads(address, workers)
        for chapter in sorted(chapters):
            _require_same_grader(client, chapter)

        def open_executor(number: int) -> AbstractContextManager[Executor]:
            return nullcontext(client.get_executor(pure=False, retries=0))

        yield Pool(open_executor, len(workers))


def _client(address: str):  # -> distributed.Client, which may not be installed
    try:
        from distributed import Client
    except ImportError:
        raise ValueError(
            "--scheduler needs dask.distributed: pip install -e '.[cluster]'"
        ) from None
    try:
        return Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ValueError(f"no dask scheduler answers at {address}: {error}") from None


def require_single_threads(address: str, workers: Mapping[str, int]) -> None:
    """Raise ValueError unless there are workers, of one thread: one submission at a time."""
    command = f"dask worker {address} --nworkers -1 --nthreads 1"
    if not workers:
        raise ValueError(f"no worker has joined {address}; start some: {command}")
    if several := [name for name, threads in workers.items() if threads > 1]:
        raise ValueError(
            f"the worker {several[0]} has {workers[several[0]]} threads, and one submission needs "
            f"a process to itself; start it so: {command}"
        )


def _require_same_grader(client, chapter: str) -> None:
    """Raise ValueError if a worker would grade by other code than this machine."""
    ours = grader_fingerprint(chapter)
    theirs = client.run(grader_fingerprint, chapter, on_error="return")
    strange = sorted(name for name, fingerprint in theirs.items() if fingerprint != ours)
    if strange:
        raise ValueError(
            f"the worker {strange[0]} has another version of the course, of Python or of a "
            f"package, or none ({theirs[strange[0]]}). Bring it to this machine's version."
        )
