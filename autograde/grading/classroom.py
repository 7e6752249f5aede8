"""Grading a folder of submissions in nbgrader's layout, several at a time."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from tqdm import tqdm

from autograde.grading.engine import exercises_of, grade_submission, pending_of
from autograde.grading.results import Result
from autograde.intake import release_of, take_in
from autograde.paths import NOTEBOOKS

Grades = dict[str, dict[str, dict]]


@dataclass(frozen=True)
class Task:
    """One student's notebook of one chapter, below the folder `submitted`."""

    submitted: Path
    student: str
    chapter: str

    @property
    def path(self) -> Path:
        return Path(self.student, self.chapter, f"{self.chapter}.ipynb")


def grade_class(submitted: Path, chapter: str | None = None, workers: int | None = None) -> Grades:
    """Grade every STUDENT/CHAPTER/CHAPTER.ipynb below `submitted`, one chapter or all.

    Returns the machine-readable results by student and chapter. One submission's trouble never
    stops another. Raises FileNotFoundError where there is no such folder or chapter.
    """
    tasks = list(tasks_in(submitted, chapter))
    grades: Grades = {task.student: {} for task in tasks}
    for task, result in _graded(tasks, workers or os.cpu_count() or 1):
        grades[task.student][task.chapter] = result.to_json()
    return {student: dict(sorted(grades[student].items())) for student in sorted(grades)}


def tasks_in(submitted: Path, chapter: str | None) -> Iterator[Task]:
    """The notebooks that are there, and with `chapter` also those that should be."""
    if not submitted.is_dir():
        raise FileNotFoundError(f"there is no folder of submissions at {submitted}")
    for student in sorted(entry.name for entry in os.scandir(submitted) if _is_student(entry)):
        for name in [chapter] if chapter else chapters():
            if chapter or os.path.lexists(submitted / student / name):
                yield Task(submitted, student, name)


def chapters() -> list[str]:
    """The chapters that have a release."""
    return sorted(path.parent.name for path in NOTEBOOKS.glob("*/*.ipynb"))


def _is_student(entry: os.DirEntry) -> bool:
    return entry.is_symlink() or (entry.is_dir() and not entry.name.startswith("."))


def _graded(tasks: list[Task], workers: int) -> Iterator[tuple[Task, Result]]:
    """Results as they come, with a progress bar that counts the failed."""
    failed = 0
    with Pool(min(workers, len(tasks) or 1)) as submit, tqdm(total=len(tasks)) as bar:
        bar.set_description("grading")
        futures = {submit(grade_task, task): task for task in tasks}
        for future in as_completed(futures):
            result = future.result()
            failed += result.reason is not None
            bar.set_postfix(failed=failed)
            bar.update()
            yield futures[future], result


class Pool:
    """A pool of fresh processes (a forked one would share the parent's open files)."""

    def __init__(self, workers: int) -> None:
        self.executor = ProcessPoolExecutor(workers, mp_context=get_context("spawn"))

    def __enter__(self) -> Callable:
        return self.executor.submit

    def __exit__(self, *_: object) -> None:
        self.executor.shutdown(cancel_futures=True)


def grade_task(task: Task) -> Result:
    """Grade one submission; what cannot be graded is a failed result that says why."""
    try:
        submission = take_in(task.submitted, task.path, task.chapter)
        return grade_submission(submission, task.chapter)
    except Exception as error:
        blank = release_of(task.chapter)
        reason = f"the grader could not finish: {type(error).__name__}: {error}"
        return Result(exercises_of(blank), pending_of(blank), reason=reason)
