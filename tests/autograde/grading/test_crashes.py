"""kill -9 of the grader, of a worker, and of nbgrader between its passes; then the next run."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import nullcontext
from pathlib import Path

import psutil
import pytest
from classes.submitting import CHAPTER, hand_in, right, run_nbgrader, text

from autograde import cache, pool
from autograde.build.release import release_into
from autograde.chapter import ROOT
from autograde.cli import main
from autograde.grade import Job, Outcome
from autograde.nbgrader.gradebook import read_scores
from autograde.nbgrader.stamps import STAMP
from autograde.pool import PER_WORKER, GraderCrashed, Pool
from autograde.result import Result
from autograde.tools.samples import write_class

STUDENTS = 4
GRADE = """
import sys
from pathlib import Path
from autograde.cli import main
from autograde import cache
if __name__ == "__main__":
    cache.FOLDER = Path(sys.argv[1])
    sys.exit(main(["grade", *sys.argv[2:]]))
"""


@pytest.fixture(scope="module")
def submitted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("class") / "submitted"
    write_class(folder, [CHAPTER], STUDENTS, ("right", "wrong", "half"))
    return folder


@pytest.fixture(scope="module")
def undisturbed(submitted: Path, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The JSON of a run that nothing happens to."""
    out = tmp_path_factory.mktemp("undisturbed") / "grades.json"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cache, "FOLDER", out.parent / "cache")
        assert main(["grade", str(submitted), "--json", str(out), "--workers", "2"]) == 0
    return out.read_bytes()


@pytest.fixture
def grader(submitted: Path, tmp_path: Path) -> Iterator[subprocess.Popen]:
    """A grader with one worker, caught when it has stored its first result and has more to do."""
    program = tmp_path / "grade.py"
    program.write_text(GRADE)
    command = [sys.executable, program, tmp_path / "cache", submitted, "--workers=1", "--json"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(
            [*command, tmp_path / "out.json"], env=environment, stdout=log, stderr=log
        )
        until(lambda: stored(tmp_path) or process.poll() is not None)
        assert process.poll() is None and len(stored(tmp_path)) < STUDENTS
        yield process
        process.kill()
        process.wait()


def stored(folder: Path) -> dict[str, int]:
    """The results in the cache, each with the time of its writing."""
    return {path.name: path.stat().st_mtime_ns for path in (folder / "cache").glob("[!.]*.json")}


def until(reached: Callable[[], object], seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < end, "it did not come to that"
        time.sleep(0.01)


def test_a_killed_grader_leaves_no_process_and_the_next_run_goes_on(
    grader: subprocess.Popen, submitted: Path, undisturbed: bytes, tmp_path: Path, monkeypatch
):
    others = psutil.Process(grader.pid).children(recursive=True)
    os.kill(grader.pid, signal.SIGKILL)
    grader.wait()
    before = stored(tmp_path)
    assert before and not (tmp_path / "out.json").exists()
    assert others
    until(lambda: not any(other.is_running() and not is_dead(other) for other in others))

    monkeypatch.setattr(cache, "FOLDER", tmp_path / "cache")
    out = tmp_path / "out.json"
    assert main(["grade", str(submitted), "--json", str(out), "--workers", "2"]) == 0
    assert out.read_bytes() == undisturbed
    after = stored(tmp_path)
    assert len(after) == STUDENTS and after.items() >= before.items()


def is_dead(process: psutil.Process) -> bool:
    """Whether it has ended and only waits for somebody to read its exit code."""
    try:
        return process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


@pytest.mark.slow
def test_a_killed_worker_is_replaced_and_nothing_is_lost(
    grader: subprocess.Popen, undisturbed: bytes, tmp_path: Path
):
    (worker,) = [
        child
        for child in psutil.Process(grader.pid).children()
        if "spawn_main" in " ".join(child.cmdline()) and "--multiprocessing-fork" in child.cmdline()
    ]
    worker.kill()
    assert grader.wait(timeout=120) == 0, (tmp_path / "log").read_text()[-2000:]
    assert (tmp_path / "out.json").read_bytes() == undisturbed


class Fragile(Executor):
    """Does each job at once; job 7 takes the whole pool with it."""

    broken = False

    def submit(self, function: Callable, notebook: str, chapter: str) -> Future:
        if self.broken:
            raise BrokenProcessPool
        future: Future = Future()
        if notebook == "7":
            self.broken = True
            future.set_exception(BrokenProcessPool())
        else:
            future.set_result(Result({}, reason=notebook))
        return future


def by_key(outcomes: Iterable[tuple[Job, Outcome]]) -> dict[str, Outcome]:
    return {job.key: outcome for job, outcome in outcomes}


def test_only_the_submission_that_ends_its_process_is_lost():
    jobs = [Job(str(i), notebook=str(i)) for i in range(20)]
    outcomes = by_key(Pool(lambda workers: nullcontext(Fragile()), 2).run(jobs))
    assert len(outcomes) == 20
    assert isinstance(outcomes.pop("7"), GraderCrashed)
    assert all(outcome.reason == name for name, outcome in outcomes.items())


class Gone(Executor):
    """A cluster that is lost: what was sent is cancelled, and nothing more is taken."""

    sent = 0

    def submit(self, *_: object) -> Future:
        self.sent += 1
        if self.sent > 2:
            raise RuntimeError("the client is closed")
        future: Future = Future()
        future.cancel()
        future.set_running_or_notify_cancel()
        return future


def test_a_lost_cluster_is_told_for_every_submission():
    gone = Gone()
    jobs = [Job(str(i), notebook=str(i)) for i in range(4)]
    outcomes = by_key(Pool(lambda workers: nullcontext(gone), 1).run(jobs))
    words = {name: str(outcome) for name, outcome in outcomes.items()}
    assert all("are gone" in words[name] for name in "01")
    assert all("client is closed" in words[name] for name in "23")


class Slow(Executor):
    """Says of every submission that it hit a limit, the first time."""

    def __init__(self, seen: list[str]) -> None:
        self.seen = seen

    def submit(self, function: Callable, notebook: dict, chapter: str) -> Future:
        future: Future = Future()
        key = cache.key(notebook, chapter, "")
        future.set_result(Result({}, limited=key not in self.seen))
        self.seen.append(key)
        return future


def test_results_at_a_limit_are_graded_again_by_the_next_run_and_then_stored(
    submitted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(cache, "FOLDER", tmp_path / "cache")
    seen: list[str] = []
    monkeypatch.setattr(pool, "_processes", lambda number: nullcontext(Slow(seen)))
    for stored_ones in (0, STUDENTS):
        pool.grade_class(submitted, workers=2)
        assert len(stored(tmp_path)) == stored_ones
    assert len(seen) == 2 * STUDENTS


def test_few_jobs_are_on_their_way_at_once():
    taken = []

    def jobs() -> Iterator[Job]:
        for i in range(100):
            taken.append(i)
            yield Job(str(i), outcome=Result({}))

    for number, _ in enumerate(Pool(lambda workers: nullcontext(None), 2).run(jobs())):
        assert len(taken) - number <= 2 * PER_WORKER
    assert len(taken) == 100


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """Three students, the second of whom takes more than a second to grade."""
    course = tmp_path / "course"
    release_into(course, [CHAPTER])
    for student, start in (("ada", ""), ("ben", "import time\ntime.sleep(1.5)\n"), ("cleo", "")):
        answer = f'{start}quiz_02 = "b"  # {student}, {os.getpid()} {time.time_ns()}'
        hand_in(course / "submitted", student, text(right(quiz_02=answer)))
    return course


def graded(course: Path, student: str) -> Path:
    return course / "autograded" / student / CHAPTER


def test_nbgrader_killed_between_its_passes_grades_everybody_in_the_next_run(course: Path):
    command = [sys.executable, "-m", "nbgrader", "autograde", CHAPTER]
    environment, quiet = os.environ | {"SPECDEC_COURSE": str(course)}, subprocess.DEVNULL
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=quiet, stderr=quiet)
    until(lambda: (graded(course, "ben") / f"{CHAPTER}.ipynb").exists())
    process.send_signal(signal.SIGKILL)
    process.wait()
    first = graded(course, "ada") / STAMP
    finished_at = first.stat().st_mtime_ns
    assert not (graded(course, "ben") / STAMP).exists()
    assert not graded(course, "cleo").exists()
    assert set(read_scores(course)) >= {"ada"}  # the gradebook can be read

    run_nbgrader(course, "autograde", CHAPTER)
    totals = {name: sum(marks[CHAPTER].values()) for name, marks in read_scores(course).items()}
    assert totals == {"ada": 22.0, "ben": 22.0, "cleo": 22.0}
    assert first.stat().st_mtime_ns == finished_at


def test_results_are_equal_in_any_order_and_with_any_number_of_workers(
    submitted: Path, undisturbed: bytes, tmp_path: Path, monkeypatch
):
    forwards = pool.tasks_in
    monkeypatch.setattr(cache, "FOLDER", tmp_path / "cache")
    monkeypatch.setattr(pool, "tasks_in", lambda *args: list(forwards(*args))[::-1])
    out = tmp_path / "out.json"
    assert main(["grade", str(submitted), "--json", str(out), "--workers", "1"]) == 0
    assert out.read_bytes() == undisturbed
