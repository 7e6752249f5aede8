"""A class, also one whose grader, worker or nbgrader is killed: the same marks in the next run."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest.mock import Mock

import psutil
import pytest
from classes import crashing
from classes.gradebook import read_scores
from classes.submitting import hand_in, run_nbgrader, text

from autograde.build.release import release_into
from autograde.cli import main
from autograde.course import ROOT, UsageError, chapter_names
from autograde.grading import cache, classroom
from autograde.hidden.material import material_of
from autograde.intake.submission import release_of
from autograde.nbgrader.stamps import STAMP
from autograde.sandbox import isolation
from autograde.tools.samples import STUDENTS, fill_answers, write_students

CHAPTER = chapter_names()[5]  # one that is graded soon

GRADE = """
import sys
from pathlib import Path
from autograde.cli import main
from autograde.grading import cache
if __name__ == "__main__":
    cache.FOLDER = Path(sys.argv[1])
    sys.exit(main(["grade", *sys.argv[2:]]))
"""


@pytest.fixture(scope="module")
def submitted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("class") / "submitted"
    write_students(folder, [CHAPTER])
    return folder


def test_a_copy_of_a_sample_is_a_submission_of_its_own(tmp_path: Path):
    write_students(tmp_path, [CHAPTER], copies=2)
    assert len({path.read_bytes() for path in tmp_path.rglob("*.ipynb")}) == 2 * len(STUDENTS)


def grade(submitted: Path, folder: Path, *options: str) -> bytes:
    """The JSON of a run with a cache of its own in `folder`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cache, "FOLDER", folder / "cache")
        out = folder / "out.json"
        assert main(["grade", str(submitted), "--json", str(out), *options]) == 0
    return out.read_bytes()


@pytest.fixture(scope="module")
def undisturbed(submitted: Path, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The JSON of a run that nothing happens to."""
    return grade(submitted, tmp_path_factory.mktemp("undisturbed"), "--workers=2")


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
        assert process.poll() is None and len(stored(tmp_path)) < len(STUDENTS) - 1
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


def is_dead(process: psutil.Process) -> bool:
    """Whether it has ended, and at most waits for somebody to read its exit code."""
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


@pytest.mark.slow
def test_a_killed_grader_leaves_no_process_and_the_next_run_goes_on(
    grader: subprocess.Popen, submitted: Path, undisturbed: bytes, tmp_path: Path
):
    """It goes on with another number of workers, too."""
    others = psutil.Process(grader.pid).children(recursive=True)
    os.kill(grader.pid, signal.SIGKILL)
    grader.wait()
    before = stored(tmp_path)
    assert before and others and not (tmp_path / "out.json").exists()
    until(lambda: all(map(is_dead, others)))
    assert grade(submitted, tmp_path) == undisturbed
    assert stored(tmp_path).items() >= before.items()


@pytest.mark.slow
def test_a_killed_worker_is_replaced_and_nothing_is_lost(
    grader: subprocess.Popen, undisturbed: bytes, tmp_path: Path
):
    for child in psutil.Process(grader.pid).children():
        if "--multiprocessing-fork" in child.cmdline():
            child.kill()
    assert grader.wait(timeout=120) == 0, (tmp_path / "log").read_text()[-2000:]
    assert (tmp_path / "out.json").read_bytes() == undisturbed


def test_only_the_submission_that_ends_its_process_is_lost(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(classroom, "_serve", crashing.serve)
    processes = classroom.Processes()
    with pytest.raises(RuntimeError, match="twice"):
        processes.grade("exit", CHAPTER)
    assert processes.grade("another", CHAPTER) == 42


def test_a_fault_of_the_grader_is_reported_and_stops_nobody(submitted: Path, monkeypatch):
    monkeypatch.setattr(cache, "key", Mock(side_effect=OSError("disk full")))
    for grades in classroom.grade_class(submitted).values():
        result = grades[CHAPTER]
        assert result["status"] == "failed" and "OSError: disk full" in result["reason"]
        assert result["score"] == 0 < result["max_score"]


LIMITS = [(64, "", 64), (2, "", 2), (64, "max 100000", 64), (64, "200000 100000", 2)]


@pytest.mark.parametrize("bound_to, time, cores", [*LIMITS, (2, "400000 100000", 2), (9, "1 2", 1)])
def test_workers_are_as_many_as_the_cores_that_the_process_may_use(
    bound_to: int, time: str, cores: int, tmp_path: Path, monkeypatch
):
    if time:
        (tmp_path / "cpu.max").write_text(f"{time}\n")
    monkeypatch.setattr(classroom, "CPU_TIME", tmp_path / "cpu.max")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(bound_to)), raising=False)
    assert classroom.usable_cores() == cores


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """Three students, the second of whom takes more than a second to grade."""
    course = tmp_path / "course"
    release_into(course, [CHAPTER])
    for student, start in (("ada", ""), ("ben", "import time\ntime.sleep(1.5)\n"), ("cleo", "")):
        guess = f"{start}prediction_05 = 0.5  # {student}, {os.getpid()} {time.time_ns()}"
        notebook = fill_answers(
            release_of(CHAPTER), material_of(CHAPTER).answers | {"prediction_05": guess}
        )
        hand_in(course / "submitted", student, text(notebook), CHAPTER)
    return course


@pytest.mark.slow
def test_nbgrader_killed_between_its_passes_grades_everybody_in_the_next_run(course: Path):
    def graded(student: str) -> Path:
        return course / "autograded" / student / CHAPTER

    command = [sys.executable, "-m", "nbgrader", "autograde", CHAPTER]
    environment, quiet = os.environ | {"SPECDEC_COURSE": str(course)}, subprocess.DEVNULL
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=quiet, stderr=quiet)
    until(lambda: (graded("ben") / f"{CHAPTER}.ipynb").exists())
    process.send_signal(signal.SIGKILL)
    process.wait()
    first = graded("ada") / STAMP
    finished_at = first.stat().st_mtime_ns
    assert not (graded("ben") / STAMP).exists() and not graded("cleo").exists()

    run_nbgrader(course, "autograde", CHAPTER)
    scores = read_scores(course)
    assert scores["ada"] == scores["ben"] == scores["cleo"] and all(scores["ada"][CHAPTER].values())
    assert first.stat().st_mtime_ns == finished_at


@pytest.mark.slow
@pytest.mark.cluster
def test_a_cluster_gives_the_same_bytes_and_is_refused_if_its_code_differs(
    submitted: Path, undisturbed: bytes, tmp_path: Path, monkeypatch
):
    from distributed import LocalCluster

    with LocalCluster(2, threads_per_worker=1, processes=True, dashboard_address=None) as local:
        address = local.scheduler_address
        assert grade(submitted, tmp_path, f"--scheduler={address}") == undisturbed
        monkeypatch.setattr(classroom, "grader_fingerprint", lambda chapter: os.getpid())
        with pytest.raises(ValueError, match="has another version"):
            classroom.grade_class(submitted, scheduler=address)


def test_a_worker_with_another_isolation_is_refused(monkeypatch):
    monkeypatch.setattr(isolation, "mode", lambda: "bubblewrap")
    for theirs, words in (("none", "has the isolation none"), (OSError("x"), "OSError: x")):
        client = Mock(run=Mock(return_value={"tcp://worker": theirs}))
        with pytest.raises(UsageError, match=words):
            classroom._require_same_grader(client, [])
