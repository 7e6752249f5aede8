"""Grading a folder of submissions in nbgrader's layout, several at a time."""

import os
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from tqdm import tqdm

from autograde.chapter import chapter_names, notebook_path
from autograde.grade import exercises_of, pending_of
from autograde.grading import cache
from autograde.grading.spreading import Job, Open, Outcome, local_processes, spread
from autograde.result import Result
from autograde.submission import Submission, release_of, take_in

Grades = dict[str, dict[str, dict]]
Seconds = dict[str, dict[str, float]]


@dataclass(frozen=True)
class Task:
    """One student's notebook of one chapter, below the folder `submitted`."""

    submitted: Path
    student: str
    chapter: str

    @property
    def path(self) -> Path:
        return notebook_path(Path(self.student), self.chapter)

    def take_in(self) -> Submission:
        """What intake makes of the submission."""
        return take_in(self.submitted, self.path, self.chapter)


def grade_class(
    submitted: Path,
    chapter: str | None = None,
    workers: int | None = None,
    scheduler: str | None = None,
) -> Grades:
    """Grade every STUDENT/CHAPTER/CHAPTER.ipynb below `submitted`, one chapter or all.

    With `scheduler`, the address of a dask scheduler, on its workers; else in `workers` processes
    here. Returns the machine-readable results by student and chapter. One submission's trouble
    never stops another. Raises FileNotFoundError where there is no such folder or chapter.
    """
    return grade_and_time(submitted, chapter, workers, scheduler)[0]


def grade_and_time(
    submitted: Path, chapter: str | None, workers: int | None, scheduler: str | None
) -> tuple[Grades, Seconds]:
    """What `grade_class` returns, and beside it, since no two runs agree, how long each took."""
    # Chapter by chapter: a process keeps what one chapter needs, and not much of every other.
    tasks = sorted(tasks_in(submitted, chapter), key=lambda task: task.chapter)
    grades: Grades = {task.student: {} for task in tasks}
    seconds: Seconds = {student: {} for student in sorted(grades)}
    with _executors(scheduler, {task.chapter for task in tasks}, workers) as (executor, number):
        for task, result in _shown(_graded(tasks, executor, number), len(tasks)):
            grades[task.student][task.chapter] = result.to_json()
            seconds[task.student][task.chapter] = result.seconds
    return {student: dict(sorted(grades[student].items())) for student in sorted(grades)}, seconds


def tasks_in(submitted: Path, chapter: str | None) -> Iterator[Task]:
    """The notebooks that are there, and with `chapter` also those that should be."""
    if not submitted.is_dir():
        raise FileNotFoundError(f"there is no folder of submissions at {submitted}")
    for student in sorted(entry.name for entry in os.scandir(submitted) if _is_student(entry)):
        for name in [chapter] if chapter else chapter_names():
            if chapter or os.path.lexists(submitted / student / name):
                yield Task(submitted, student, name)


def _is_student(entry: os.DirEntry) -> bool:
    return entry.is_symlink() or (entry.is_dir() and not entry.name.startswith("."))


@contextmanager
def _executors(
    scheduler: str | None, chapters: set[str], workers: int | None
) -> Iterator[tuple[Open, int]]:
    """How to make an executor, and how many workers it has."""
    if scheduler is None:
        yield local_processes, workers or os.cpu_count() or 1
        return
    from autograde.grading.cluster import connected

    with connected(scheduler, chapters) as cluster:
        yield cluster


def _shown(results: Iterable[tuple[Task, Result]], total: int) -> Iterator[tuple[Task, Result]]:
    """The results, with a progress bar that counts the graded and the failed."""
    counts = {"graded": 0, "failed": 0}
    with tqdm(total=total, desc="grading", unit="submission") as bar:
        for task, result in results:
            counts["graded" if result.reason is None else "failed"] += 1
            bar.set_postfix(counts, refresh=False)
            bar.update()
            yield task, result


def _graded(tasks: list[Task], executor: Open, workers: int) -> Iterator[tuple[Task, Result]]:
    """Results as they come. Those that hit a limit are repeated alone at the end, once.

    A limit may have been hit because the machine was busy with the others.
    """
    limited: list[Task] = []
    yield from Round(tasks, limited).results(executor, workers)
    yield from Round(limited).results(executor, 1)


@dataclass
class Waiting:
    """The tasks that wait for one result, each with intake's reason; `known`: it was stored."""

    known: bool
    tasks: list[tuple[Task, str | None]] = field(default_factory=list)


class Round:
    """Submissions on their way through the workers. Equal ones are graded once.

    A result is stored the moment it comes, so a run that is cut off loses only what was on its
    way. With `limited`, results that hit a limit are not kept: their tasks are added to it.
    """

    def __init__(self, tasks: list[Task], limited: list[Task] | None = None) -> None:
        self.tasks, self.limited = tasks, limited
        self.waiting: dict[str, Waiting] = {}

    def results(self, executor: Open, workers: int) -> Iterator[tuple[Task, Result]]:
        """Each task's result, in the order in which they come."""
        for name, outcome in spread(self._jobs(), executor, workers):
            waiting = self.waiting.pop(name)
            if self._is_to_be_repeated(waiting, outcome):
                self.limited += [task for task, _ in waiting.tasks]
                continue
            if isinstance(outcome, Result) and not waiting.known:
                _store(name, outcome)
            for task, reason in waiting.tasks:
                yield task, _result(task, outcome, reason)

    def _jobs(self) -> Iterator[Job]:
        for task in self.tasks:
            job, reason = _job(task)
            known = job.outcome is not None
            waiting = self.waiting.setdefault(job.name, Waiting(known))
            waiting.tasks.append((task, reason))
            if len(waiting.tasks) == 1:
                yield job

    def _is_to_be_repeated(self, waiting: Waiting, outcome: Outcome) -> bool:
        fresh = isinstance(outcome, Result) and not waiting.known
        return fresh and outcome.limited and self.limited is not None


def _store(name: str, result: Result) -> None:
    try:
        cache.store(name, result)
    except OSError as error:  # the results themselves are whole, they only are not kept
        warnings.warn(f"results cannot be stored in {cache.FOLDER}: {error}", stacklevel=2)


def _job(task: Task) -> tuple[Job, str | None]:
    """What is to be done for a task, and why it is not graded, where it is not."""
    try:
        submission = task.take_in()
        name = cache.key(submission.notebook, task.chapter)
        job = Job(name, submission.notebook, task.chapter, cache.load(name))
        return job, submission.reason
    except Exception as error:  # whatever it is, it stops this submission only
        return Job(str(task.path), outcome=error), None


def _result(task: Task, outcome: Outcome, reason: str | None) -> Result:
    """A task's own result; an exception becomes a failed result that says why."""
    if isinstance(outcome, Result):
        return replace(outcome, reason=reason)
    blank = release_of(task.chapter)
    reason = f"the grader could not finish: {type(outcome).__name__}: {outcome}"
    return Result(exercises_of(blank), pending_of(blank), reason=reason)
