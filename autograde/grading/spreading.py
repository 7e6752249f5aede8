"""Sending notebooks to other processes, here or on a cluster, and taking their results back."""

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import islice
from multiprocessing import connection, get_context, parent_process

from nbformat import NotebookNode

from autograde.grade import grade_anew
from autograde.result import Result

PER_WORKER = 4  # jobs on their way to a worker: enough to keep it busy, and memory stays flat
Open = Callable[[int], AbstractContextManager[Executor]]  # makes an executor of so many workers
Outcome = Result | Exception


class Lost(Exception):
    """A job that has ended the process which graded it; the text says so."""


@dataclass(frozen=True)
class Job:
    """A rebuilt notebook to grade under a name; or, with `outcome`, what is known already."""

    name: str
    notebook: NotebookNode | None = None
    chapter: str = ""
    outcome: Outcome | None = None


def local_processes(workers: int) -> Executor:
    """A pool of fresh processes (a forked one would share the parent's open files)."""
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


def spread(jobs: Iterable[Job], open_executor: Open, workers: int) -> Iterator[tuple[str, Outcome]]:
    """Results by name as they come, the exception in place of one that failed.

    `jobs` are read as workers get free. A worker that is killed takes its pool with it: the rest
    goes into a new one, and those that were on their way are repeated at the end, each by itself,
    so that only the one that ends its process is Lost.
    """
    waiting, interrupted = iter(jobs), []
    for first in waiting:
        with open_executor(workers) as executor:
            yield from _through(executor, first, waiting, workers, interrupted)
    for job in interrupted:
        broken: list[Job] = []
        with open_executor(1) as executor:
            yield from _through(executor, job, iter(()), 1, broken)
        if broken:
            yield job.name, Lost("it ended, or had killed, the process that graded it, twice")


def _through(
    executor: Executor, first: Job, waiting: Iterator[Job], workers: int, broken: list[Job]
) -> Iterator[tuple[str, Outcome]]:
    """The results of one pool; where it breaks, what was on its way is added to `broken`."""
    running = {_submit(executor, first): first}
    try:
        while running:
            for job in islice(waiting, PER_WORKER * workers - len(running)):
                running[_submit(executor, job)] = job
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                job, error = running.pop(future), _error_of(future)
                if isinstance(error, BrokenProcessPool):
                    broken += [job, *running.values()]
                    return
                yield job.name, error or future.result()
    finally:
        for future in running:
            future.cancel()


def _error_of(future: Future) -> BaseException | None:
    if future.cancelled():  # as a cluster does whose scheduler has gone
        return Lost("the machines that it was sent to are gone; run the command again")
    return future.exception()


def _submit(executor: Executor, job: Job) -> Future:
    """The future of a job: finished, where its outcome is known or the executor takes no more."""
    known: Future = Future()
    try:
        if job.outcome is None:
            return executor.submit(grade_anew, job.notebook, job.chapter)
        if isinstance(job.outcome, Exception):
            known.set_exception(job.outcome)
        else:
            known.set_result(job.outcome)
    except Exception as error:
        known.set_exception(error)
    return known
