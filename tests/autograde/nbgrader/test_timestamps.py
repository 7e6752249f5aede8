"""`timestamp.txt` beside a notebook: what a student can put there costs nobody a mark."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest
from classes.submitting import CHAPTER, hand_in, right, run_nbgrader, text
from nbgrader.api import Gradebook
from nbgrader.apps import NbGraderAPI

from autograde.build.release import release_into
from autograde.nbgrader import config as settings
from autograde.nbgrader import timestamps
from autograde.nbgrader.gradebook import read_scores
from autograde.nbgrader.timestamps import MAX_BYTES, NAME, time_of

GOOD = "2026-01-31 12:00:00 UTC"
ELSEWHERE = "elsewhere.txt"  # beside the class: a good time, but not the student's file


def link(place: Path) -> None:
    place.symlink_to(place.parents[3] / ELSEWHERE)


def folder_with_a_link(place: Path) -> None:
    place.mkdir()
    link(place / NAME)


def holding(words: str | bytes) -> Callable[[Path], object]:
    return lambda place: place.write_bytes(words if isinstance(words, bytes) else words.encode())


# What stands in the place of timestamp.txt, and what is said about it.
UNUSABLE = {
    "link": (link, "timestamp.txt is a link"),
    "folder": (folder_with_a_link, "timestamp.txt is not a regular file"),
    "garbage": (holding("\x00" * 20), r"timestamp.txt holds no time, but '\x00"),
    "words": (holding("on time"), "timestamp.txt holds no time, but 'on time'"),
    "empty": (holding(""), "timestamp.txt holds no time, but ''"),
    "binary": (holding(bytes(range(128, 200))), "timestamp.txt holds no time"),
    "late-year": (holding("9999-12-31 23:59:59 UTC"), "timestamp.txt holds no time"),
    "overflow": (holding("0001-01-01 00:00:00 +2300"), "timestamp.txt holds no time"),
    "long": (holding(GOOD + " " * MAX_BYTES), "timestamp.txt has more than 200 bytes"),
}
USABLE = {"good": GOOD, "none": None}


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A class, each student with another thing beside the right notebook."""
    course = tmp_path_factory.mktemp("class") / "my class.2"  # a name that nbgrader has to quote
    release_into(course, [CHAPTER])
    (course / ELSEWHERE).write_text(GOOD)
    for student in (*UNUSABLE, *USABLE):
        folder = hand_in(course / "submitted", student, text(right())).parent
        if student in UNUSABLE:
            UNUSABLE[student][0](folder / NAME)
        elif USABLE[student]:
            (folder / NAME).write_text(USABLE[student])
    link(folder / CHAPTER)  # nbgrader has to spare this name
    return course


def folder_of(course: Path, student: str, step: str = "submitted") -> Path:
    return course / step / student / CHAPTER


@pytest.fixture(scope="module")
def said(course: Path) -> str:
    """What nbgrader's own command says over this class."""
    return run_nbgrader(course, "autograde", CHAPTER)


@pytest.mark.parametrize("student", UNUSABLE)
def test_a_time_that_cannot_be_used_is_named_and_stays(course: Path, said: str, student: str):
    start = f"{student}, {CHAPTER}: "
    (line,) = [line for line in said.splitlines() if start in line]
    assert UNUSABLE[student][1] in line and "graded without a time" in line and GOOD in line
    assert (folder_of(course, student) / NAME).exists()
    assert not (folder_of(course, student, "autograded") / NAME).exists()


def test_everybody_is_graded_and_the_good_time_counts(course: Path, said: str):
    scores = read_scores(course)
    assert set(scores) == {*UNUSABLE, *USABLE}
    assert {sum(marks[CHAPTER].values()) for marks in scores.values()} == {22.0}
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        times = {s: gradebook.find_submission(CHAPTER, s).timestamp for s in scores}
    assert {s: time for s, time in times.items() if time} == {"good": datetime(2026, 1, 31, 12)}
    assert (folder_of(course, "good", "autograded") / NAME).read_text() == GOOD


def test_the_log_warns_of_nothing_that_the_grader_does_itself(said: str):
    """Nine lines a student said that the checksum of a test has changed: intake had put it in."""
    warnings = [line for line in said.splitlines() if "WARNING" in line]
    assert len(warnings) == len(UNUSABLE)
    assert all(timestamps.NAME in line for line in warnings)


def test_nbgrader_copies_no_file_of_a_student(said: str):
    """It followed links: one to /dev/zero filled the disk before anything of ours ran."""
    assert "Copying" not in said


def test_formgraders_pages_are_made_for_everybody(course: Path, said: str, monkeypatch):
    """nbgrader opened a link's target for the list, and one text that is no time ended the page."""
    monkeypatch.setenv("SPECDEC_COURSE", str(course))
    api = NbGraderAPI(config=settings.load_config(), log_level="CRITICAL")
    rows = {row["student"]: row for row in api.get_submissions(CHAPTER)}
    assert set(rows) == {*UNUSABLE, *USABLE}
    assert [student for student, row in rows.items() if row["timestamp"]] == ["good"]
    assert api.get_autograded_students(CHAPTER) == set(rows)
    assert api.get_submitted_timestamp(CHAPTER, "nobody") is None


def test_formgraders_button_grades_too_and_leaves_its_settings_alone(
    course: Path, said: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("SPECDEC_COURSE", str(course))
    api = NbGraderAPI(config=settings.load_config(), log_level="WARN")
    ignored = list(api.coursedir.ignore)
    result = api.autograde(CHAPTER, "link", force=True)
    assert result["success"] and "timestamp.txt is a link" in result["log"]
    assert api.coursedir.ignore == ignored
    assert not (folder_of(course, "link", "autograded") / NAME).exists()


@pytest.mark.parametrize("zone", ["UTC", "+0000", "Europe/London"])
def test_times_are_read_as_nbgrader_reads_them(tmp_path: Path, zone: str):
    folder = tmp_path / "ada" / CHAPTER
    folder.mkdir(parents=True)
    (folder / NAME).write_text(f"2026-01-31 12:00:00.5 {zone}\n")
    assert time_of(folder) == datetime(2026, 1, 31, 12, 0, 0, 500_000)
