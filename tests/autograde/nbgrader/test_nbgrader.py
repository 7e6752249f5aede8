"""One class through nbgrader's own commands: late work, marks by hand, a hub's exchange."""

import os
import pwd
import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from classes.submitting import CHAPTER, FULL, WRITTEN, cell_of, hand_in, right, run_nbgrader, text
from nbgrader.api import Gradebook, SubmittedNotebook
from nbgrader.apps import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from nbgrader.utils import determine_grade, notebook_hash

from autograde.build.release import release_into
from autograde.course import ROOT
from autograde.grading.result import Exercise, GroupResult, Result
from autograde.intake.submission import release_of
from autograde.nbgrader import exchange
from autograde.nbgrader.config import CONFIG_NAME, load_config, set_folders
from autograde.nbgrader.exchange import SECRET, TIME
from autograde.report.marks import mark_outputs

GUIDE = (ROOT / "docs" / "instructor.md").read_text(encoding="utf-8")
DUE = re.search(r"`nbgrader (db assignment add .*)`", GUIDE)[1]
EXTENSION = re.search(r'python -c "(.*)"', GUIDE)[1]
PENALTY = re.search(r"`(c\.LateSubmissionPlugin\..*)`", GUIDE)[1]
EARLY, LATE = "2026-01-31 12:00:00 UTC", "2027-02-01 13:00:00 UTC"
GOOD = "0123456789abcdef" * 8
WRONG = "def speculative_step(draft_tokens, p, q, r, u):\n    return [-1]"
ACCOUNT = pwd.getpwuid(os.getuid()).pw_name  # who owns what the tests put into an exchange


def linked(place: Path) -> None:
    """A link to a file that would do, but is not the student's."""
    target = place.parents[3] / "elsewhere"
    target.write_text(EARLY if place.name == TIME else "f" * 128)
    place.symlink_to(target)


# What a student can put in the place of a time; each is a student's name.
HOSTILE: dict[str, Callable[[Path], object]] = {
    "link": linked,
    "pipe": os.mkfifo,
    "device": lambda place: place.symlink_to("/dev/zero"),
    "binary": lambda place: place.write_bytes(bytes(range(128, 200))),
    "late-year": lambda place: place.write_text("9999-12-31 23:59:59 UTC"),
    "overflow": lambda place: place.write_text("0001-01-01 00:00:00 +2300"),
}


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A class that was graded, worked on by hand, and graded again after the due date had moved.

    ada was late, bob too but has an extension; cleo has points and a comment by hand, and then
    handed in something else; eve's secret is a link, and the others' times are no times. A file
    beside bob's graded notebook shows whether a run without --force leaves him alone.
    """
    course = tmp_path_factory.mktemp("class") / "my class.2"  # a name that nbgrader has to quote
    release_into(course, [CHAPTER])
    hand_in_all(course / "submitted")
    run_nbgrader(course, *shlex.split(DUE))
    (course / CONFIG_NAME).write_text(f"c = get_config()\n{PENALTY}\n")
    grade(course)
    exec(EXTENSION.replace("STUDENT", "bob").replace("course/", f"{course.resolve()}/"))
    with gradebook_of(course) as gradebook:
        mark_by_hand(gradebook)
    changed = course / "submitted" / "cleo" / CHAPTER / f"{CHAPTER}.ipynb"
    changed.write_text(text(right(speculative_step=WRONG)))
    seen = course / "autograded" / "bob" / CHAPTER / "seen"
    seen.touch()
    grade(course)
    (course / "left alone").write_text(str(seen.exists()))
    run_nbgrader(course, "autograde", CHAPTER, "--force", "--student=bob")
    return course


def hand_in_all(submitted: Path) -> None:
    for student in ("ada", "bob", "cleo", "eve", *HOSTILE):
        folder = hand_in(submitted, student, text(right())).parent
        (folder / SECRET).write_text(GOOD) if student == "ada" else linked(folder / SECRET)
        if student in HOSTILE:
            HOSTILE[student](folder / TIME)
        elif student != "cleo":
            (folder / TIME).write_text(EARLY if student == "eve" else LATE)


def grade(course: Path) -> None:
    """Grade all, and write the feedback of some: a page takes as long as a mark."""
    run_nbgrader(course, "autograde", CHAPTER)
    run_nbgrader(course, "generate_feedback", CHAPTER, "--student=[abc]*")


def gradebook_of(course: Path) -> Gradebook:
    return Gradebook(f"sqlite:///{course / 'gradebook.db'}")


def mark_by_hand(gradebook: Gradebook) -> None:
    place = (CHAPTER, CHAPTER, "cleo")
    gradebook.find_grade(WRITTEN, *place).manual_score = 2.0
    gradebook.find_grade("test_speculative_step", *place).manual_score = 1.5
    gradebook.find_comment(WRITTEN, *place).manual_comment = "Well said."
    gradebook.db.commit()


@pytest.fixture
def gradebook(course: Path) -> Iterator[Gradebook]:
    with gradebook_of(course) as gradebook:
        yield gradebook


def notebook_of(gradebook: Gradebook, student: str) -> SubmittedNotebook:
    return gradebook.find_submission_notebook(CHAPTER, CHAPTER, student)


def test_late_submission_loses_its_points_and_an_extension_gives_them_back(gradebook: Gradebook):
    ada, bob = (notebook_of(gradebook, student) for student in ("ada", "bob"))
    assert (ada.score, ada.late_submission_penalty) == (FULL, FULL)
    assert gradebook.find_submission(CHAPTER, "ada").total_seconds_late == 3600
    assert (bob.score, bob.late_submission_penalty) == (FULL, None)


def test_everybody_is_graded_and_only_a_good_time_counts(gradebook: Gradebook):
    for student in HOSTILE:
        assert notebook_of(gradebook, student).score == FULL
        assert gradebook.find_submission(CHAPTER, student).timestamp is None


def test_points_and_comments_by_hand_survive_and_wait_to_be_looked_at(gradebook: Gradebook):
    grades = {grade.name: grade for grade in notebook_of(gradebook, "cleo").grades}
    written, tested = grades[WRITTEN], grades["test_speculative_step"]
    assert (written.score, tested.score, tested.auto_score) == (2.0, 1.5, 0.0)
    waiting = {grade for grade in grades.values() if grade.needs_manual_grade}
    assert waiting == {written, tested}  # formgrader asks for attention to them again
    comment = gradebook.find_comment(WRITTEN, CHAPTER, CHAPTER, "cleo")
    assert comment.comment == "Well said."


def test_what_is_handed_in_again_is_graded_again_and_nothing_else(course: Path):
    assert (course / "left alone").read_text() == "True"
    page = course / "feedback" / "cleo" / CHAPTER / f"{CHAPTER}.html"
    assert f" of {FULL:g} points from the tests" in page.read_text()
    assert f"{FULL:g} of {FULL:g} points" not in page.read_text()


@pytest.mark.parametrize("points", [2, 0.1, 0.2])  # 0.2 * 3 / 3 is more than 0.2
@pytest.mark.parametrize("passed", range(4))
def test_nbgrader_reads_the_mark_to_the_last_digit(passed: int, points: float):
    wanted = Exercise(points, [GroupResult(f"b{i}", i < passed, "why") for i in range(3)])
    cell = cell_of(release_of(CHAPTER), "test_speculative_step").copy()
    cell.metadata = {"nbgrader": cell.metadata.nbgrader | {"points": points}}
    cell.outputs = mark_outputs(Result({"x": wanted}), "x")
    assert determine_grade(cell) == (wanted.score, points)
    assert passed < 3 or wanted.score == points


@pytest.mark.parametrize("score", [float("nan"), -1.0, 2.5])
def test_a_mark_out_of_range_is_never_written(score: float, monkeypatch):
    monkeypatch.setattr(Exercise, "score", score)
    with pytest.raises(ValueError, match="is not within"):
        mark_outputs(Result({"x": Exercise(2.0)}), "x")


# --- formgrader and a hub's exchange -------------------------------------------------------------


@pytest.fixture
def api(course: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> NbGraderAPI:
    """What formgrader's pages and buttons call, over this class and an empty exchange."""
    monkeypatch.setenv("SPECDEC_COURSE", str(course))
    config = load_config()
    config.Exchange.root = str(tmp_path)
    config.CourseDirectory.course_id = "specdec"
    return NbGraderAPI(config=config, log_level="INFO")


def test_formgraders_pages_and_its_button_work_for_everybody(api: NbGraderAPI):
    """nbgrader opened a link's target for the list, and one text that is no time ended the page."""
    rows = {row["student"]: row for row in api.get_submissions(CHAPTER)}
    assert {student for student, row in rows.items() if row["timestamp"]} == {"ada", "bob", "eve"}
    assert api.get_autograded_students(CHAPTER) == {"ada", "bob", "cleo", "eve", *HOSTILE}
    ignored = list(api.coursedir.ignore)
    assert api.autograde(CHAPTER, "link", force=True)["success"]
    assert api.coursedir.ignore == ignored


def test_feedback_is_released_to_those_who_can_ask_for_it(api: NbGraderAPI, tmp_path: Path):
    result = api.release_feedback(CHAPTER)
    assert result["success"], result
    pages = {page.stem: page for page in (tmp_path / "specdec" / "feedback").iterdir()}
    assert f"{CHAPTER}: " in pages[notebook_hash(secret=GOOD, notebook_id=CHAPTER)].read_text()
    assert notebook_hash(secret="f" * 128, notebook_id=CHAPTER) not in pages


def put(root: Path, name: str, **files: str) -> Path:
    """Files as `nbgrader submit` puts them into an exchange."""
    folder = root / "specdec" / "inbound" / name
    folder.mkdir(parents=True)
    for file, content in files.items():
        (folder / file).write_text(content)
    return folder


@pytest.fixture
def after_a_run(api: NbGraderAPI, tmp_path: Path, monkeypatch) -> NbGraderAPI:
    """An exchange with all that a run leaves, by nbgrader's own commands, and an empty class.

    One account has fetched the chapter and submitted it twice; mallory has put work of their own
    there under this one's name, with a time that is always the latest, and nonsense beside it.
    """
    place = tmp_path / CHAPTER
    set_folders(api.config, tmp_path / "class")
    tmp_path.chmod(0o777)
    api.config.Exchange.assignment_dir, api.config.Exchange.cache = str(tmp_path), str(tmp_path)
    assert api.release_assignment(CHAPTER)["success"]
    run = {"coursedir": api.coursedir, "authenticator": api.authenticator, "parent": api}
    api.coursedir.assignment_id = CHAPTER
    api.exchange.FetchAssignment(**run).start()
    for answer in ("first", "second"):
        (place / f"{CHAPTER}.ipynb").write_text(answer)
        api.exchange.Submit(**run).start()
    forged = put(
        tmp_path,
        f"{ACCOUNT}+{CHAPTER}+2999-01-31 12:00:00 UTC+abcdefgh",
        **{f"{CHAPTER}.ipynb": "forged", "big.bin": "x"},
    )
    (forged / TIME).symlink_to("/dev/zero")
    nonsense = put(tmp_path, f"{ACCOUNT}+{CHAPTER}+nonsense")
    monkeypatch.setattr(exchange, "owner_of", dict.fromkeys(map(str, (forged, nonsense)), "m").get)
    api.coursedir = CourseDirectory(config=api.config)
    return api


def test_an_exchange_gives_everybody_their_own_latest_and_follows_no_link(after_a_run, tmp_path):
    first, again = (after_a_run.collect(CHAPTER) for _ in range(2))
    assert first["success"], first
    assert f"No newer submission to collect: {ACCOUNT}" in again["log"]
    submitted = tmp_path / "class" / "submitted"
    assert (submitted / ACCOUNT / CHAPTER / f"{CHAPTER}.ipynb").read_text() == "second"
    assert (submitted / ACCOUNT / CHAPTER / SECRET).is_file()
    (taken,) = (submitted / "m" / CHAPTER).iterdir()
    assert taken.read_text() == "forged"
