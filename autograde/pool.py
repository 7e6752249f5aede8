"""Grading a class: a folder of submissions in nbgrader's layout, several at a time."""

import os
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from tqdm import tqdm

from autograde.chapter import chapter_names, notebook_path
from autograde.dispatch import Pool, cluster_pool, local_pool
from autograde.grade import Job, Outcome, exercises_of, grade_all, job_of, pending_of
from autograde.result import Grades, Result, Seconds
from autograde.submission import release_of, take_in


@dataclass(frozen=True)
class Task:
    """One student's notebook of one chapter, below the folder `submitted`."""

    submitted: Path
    student: str
    chapter: str

    @property
    def path(self) -> Path:
        return notebook_path(Path(self.student), self.chapter)


class Graded(NamedTuple):
    """The machine-readable results, and beside them, since no two runs agree, the times."""

    grades: Grades
    seconds: Seconds


def grade_class(
    submitted: Path,
    chapter: str | None = None,
    workers: int | None = None,
    scheduler: str | None = None,
) -> Graded:
    """Grade every STUDENT/CHAPTER/CHAPTER.ipynb below `submitted`, one chapter or all.

    With `scheduler`, the address of a dask scheduler, on its workers; else in `workers` processes
    here. One submission's trouble never stops another. Raises FileNotFoundError if there is no
    such folder, ValueError if the cluster cannot grade.
    """
    # Chapter by chapter: a process keeps what one chapter needs, and not much of every other.
    tasks = sorted(tasks_in(submitted, chapter), key=lambda task: task.chapter)
    students = sorted({task.student for task in tasks})
    grades: Grades = {student: {} for student in students}
    seconds: Seconds = {student: {} for student in students}
    with _pool(scheduler, {task.chapter for task in tasks}, workers) as pool:
        for task, result in _shown(_results(tasks, pool), len(tasks)):
            grades[task.student][task.chapter] = result.to_json()
            seconds[task.student][task.chapter] = result.seconds
    return Graded({name: dict(sorted(grades[name].items())) for name in students}, seconds)


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


def _pool(
    scheduler: str | None, chapters: set[str], workers: int | None
) -> AbstractContextManager[Pool]:
    return local_pool(workers) if scheduler is None else cluster_pool(scheduler, chapters)


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
    """Each task's result, in the order in which they come. Equal submissions are graded once."""
    waiting: dict[str, list[tuple[Task, str | None]]] = {}  # by job, each with intake's reason

    def jobs() -> Iterator[Job]:
        for task in tasks:
            job, reason = _job(task)
            is_first = job.key not in waiting
            waiting.setdefault(job.key, []).append((task, reason))
            if is_first:
                yield job

    for job, outcome in grade_all(jobs(), pool.run, pool.run_alone):
        for task, reason in waiting.pop(job.key):
            yield task, _result(task, outcome, reason)


def _job(task: Task) -> tuple[Job, str | None]:
    """What is to be done for a task, and the reason why it is not graded, if there is one."""
    try:
        submission = take_in(task.submitted, task.path, task.chapter)
        return job_of(submission.notebook, task.chapter), submission.reason
    except Exception as error:  # whatever it is, it stops this submission only
        return Job(str(task.path), outcome=error), None


def _result(task: Task, outcome: Outcome, reason: str | None) -> Result:
    """A task's own result; an exception becomes a failed result that says why."""
    if isinstance(outcome, Result):
        return replace(outcome, reason=reason)
    blank = release_of(task.chapter)
    reason = f"the grader could not finish: {type(outcome).__name__}: {outcome}"
    return Result(exercises_of(blank), pending_of(blank), reason=reason)
