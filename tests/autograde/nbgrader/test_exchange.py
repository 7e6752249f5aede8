"""What lies beside a notebook, and a hub's exchange: nobody stops, robs or delays the others."""

import os
import pwd
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest
from classes.submitting import CHAPTER, hand_in, right, run_nbgrader, text
from nbgrader.api import Gradebook
from nbgrader.apps import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from nbgrader.utils import notebook_hash

from autograde.build.release import release_into
from autograde.nbgrader import config as settings
from autograde.nbgrader import exchange
from autograde.nbgrader.exchange import SECRET, SMALL, TIME, secret_of, time_of
from autograde.nbgrader.gradebook import read_scores

NOON = "2026-01-31 12:00:00.000000 UTC"
GOOD, OTHER = "0123456789abcdef" * 8, "f" * 128
ACCOUNT = pwd.getpwuid(os.getuid()).pw_name  # who owns what the tests put into an exchange


def linked(place: Path) -> None:
    """A link to a file that would do, but is not the student's."""
    target = place.parents[3] / "elsewhere"
    target.write_text(NOON if place.name == TIME else OTHER)
    place.symlink_to(target)


def holding(words: str) -> Callable[[Path], object]:
    return lambda place: place.write_text(words)


# What a student can put in the place of either file.
UNUSABLE: dict[str, Callable[[Path], object]] = {
    "link": linked,
    "folder": lambda place: place.mkdir(),
    "pipe": os.mkfifo,
    "device": lambda place: place.symlink_to("/dev/zero"),
    "empty": holding(""),
    "words": holding("on time"),
    "long": holding("a" * (SMALL + 1)),
    "binary": lambda place: place.write_bytes(bytes(range(128, 200))),
}
TIMES = UNUSABLE | {
    "late year": holding("9999-12-31 23:59:59 UTC"),
    "overflow": holding("0001-01-01 00:00:00 +2300"),
}
SECRETS = UNUSABLE | {"no hex": holding("../" * 42), "line": holding(GOOD + "\n")}
IN_CLASS = ("link", "pipe", "late year")  # those whom nbgrader meets


@pytest.mark.parametrize("kind", TIMES)
def test_only_a_plain_file_with_a_time_is_one(tmp_path: Path, kind: str):
    folder = hand_in(tmp_path / "submitted", "ada", "").parent
    TIMES[kind](folder / TIME)
    assert time_of(folder) is None


@pytest.mark.parametrize("kind", SECRETS)
def test_only_a_plain_file_of_hexadecimal_digits_is_a_secret(tmp_path: Path, kind: str):
    folder = hand_in(tmp_path / "submitted", "ada", "").parent
    SECRETS[kind](folder / SECRET)
    assert secret_of(folder) is None


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A class: ada came through the exchange, ben on a stick, eve has a secret that is a link."""
    course = tmp_path_factory.mktemp("class") / "my class.2"  # a name that nbgrader has to quote
    release_into(course, [CHAPTER])
    for student in ("ada", "ben", "eve", *IN_CLASS):
        folder = hand_in(course / "submitted", student, text(right())).parent
        if student in IN_CLASS:
            TIMES[student](folder / TIME)
        elif student != "ben":
            (folder / TIME).write_text(NOON)
            (holding(GOOD) if student == "ada" else linked)(folder / SECRET)
    return course


@pytest.fixture(scope="module")
def said(course: Path) -> str:
    """What nbgrader's own commands say over this class."""
    return "".join(
        run_nbgrader(course, step, CHAPTER) for step in ("autograde", "generate_feedback")
    )


def test_everybody_is_graded_and_only_a_good_time_counts(course: Path, said: str):
    scores = read_scores(course)
    assert {sum(marks[CHAPTER].values()) for marks in scores.values()} == {22.0}
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        times = {s: gradebook.find_submission(CHAPTER, s).timestamp for s in scores}
    noon = datetime(2026, 1, 31, 12)
    assert times == dict.fromkeys(IN_CLASS) | {"ada": noon, "ben": None, "eve": noon}


def test_the_log_names_whose_time_is_not_used_and_no_file_is_copied(said: str):
    """nbgrader followed links: one to /dev/zero filled the disk before anything of ours ran."""
    warnings = [line for line in said.splitlines() if "WARNING" in line]
    assert all(any(f"{student}, " in line for line in warnings) for student in IN_CLASS)
    assert len(warnings) == len(IN_CLASS)
    assert "Copying" not in said.partition("GenerateFeedback")[0]


@pytest.mark.parametrize("step", ["autograded", "feedback"])
def test_the_secret_goes_the_whole_way_and_a_link_does_not(course: Path, said: str, step: str):
    folder = course / step / "ada" / CHAPTER
    assert (folder / SECRET).read_text() == GOOD and (folder / TIME).read_text() == NOON
    assert not (course / step / "eve" / CHAPTER / SECRET).exists()


def api_of(course: Path, exchange: Path, monkeypatch: pytest.MonkeyPatch) -> NbGraderAPI:
    monkeypatch.setenv("SPECDEC_COURSE", str(course))
    config = settings.load_config()
    config.Exchange.root = str(exchange)
    config.CourseDirectory.course_id = "specdec"
    return NbGraderAPI(config=config, log_level="INFO")


def test_formgraders_pages_and_its_button_work_for_everybody(
    course: Path, said: str, tmp_path: Path, monkeypatch
):
    """nbgrader opened a link's target for the list, and one text that is no time ended the page."""
    api = api_of(course, tmp_path, monkeypatch)
    rows = {row["student"]: row for row in api.get_submissions(CHAPTER)}
    assert {student for student, row in rows.items() if row["timestamp"]} == {"ada", "eve"}
    assert api.get_autograded_students(CHAPTER) == set(rows) == {"ada", "ben", "eve", *IN_CLASS}
    ignored = list(api.coursedir.ignore)
    assert api.autograde(CHAPTER, "link", force=True)["success"]
    assert api.coursedir.ignore == ignored


def test_feedback_is_released_and_who_cannot_have_it_is_named(
    course: Path, said: str, tmp_path: Path, monkeypatch
):
    api = api_of(course, tmp_path, monkeypatch)
    result = api.release_feedback(CHAPTER)
    assert result["success"], result
    without = [line for line in result["log"].splitlines() if "no feedback is released" in line]
    assert all(any(f"{name}:" in line for line in without) for name in ("ben", "eve", *IN_CLASS))
    (page,) = (tmp_path / "specdec" / "feedback").iterdir()
    assert page.stem == notebook_hash(secret=GOOD, notebook_id=CHAPTER)
    assert "22 of 24 points" in page.read_text() and api.coursedir.student_id_exclude == ""


def put(root: Path, student: str, **files: str) -> Path:
    """Files as `nbgrader submit` puts them into an exchange."""
    folder = root / "specdec" / "inbound" / f"{student}+{CHAPTER}+{NOON}+abcdefgh"
    folder.mkdir(parents=True)
    for name, content in ({f"{CHAPTER}.ipynb": "{}", TIME: NOON} | files).items():
        (folder / name).write_text(content)
    return folder


def test_collecting_takes_three_plain_files_and_follows_no_link(tmp_path: Path, monkeypatch):
    folder = put(tmp_path, ACCOUNT, **{SECRET: GOOD, "big.bin": "x"})
    (folder / TIME).unlink()
    (folder / TIME).symlink_to("/dev/zero")
    log = api_of(tmp_path / "class", tmp_path, monkeypatch).collect(CHAPTER)["log"]
    assert f"{ACCOUNT}: {TIME} is not collected" in log
    taken = tmp_path / "class" / "submitted" / ACCOUNT / CHAPTER
    assert {file.name for file in taken.iterdir()} == {f"{CHAPTER}.ipynb", SECRET}


@pytest.fixture
def after_a_run(course: Path, tmp_path: Path, monkeypatch) -> NbGraderAPI:
    """An exchange with all that a run leaves, by nbgrader's own commands, and an empty class.

    One account has fetched the chapter and submitted it twice; another has put its own work there
    under this one's name, with a time that is always the latest.
    """
    api, place = api_of(course, tmp_path, monkeypatch), tmp_path / CHAPTER
    settings.set_folders(api.config, tmp_path / "class")
    tmp_path.chmod(0o777)
    api.config.Exchange.assignment_dir, api.config.Exchange.cache = str(tmp_path), str(tmp_path)
    assert api.release_assignment(CHAPTER)["success"]
    run = {"coursedir": api.coursedir, "authenticator": api.authenticator, "parent": api}
    api.coursedir.assignment_id = CHAPTER
    api.exchange.FetchAssignment(**run).start()
    for answer in ("first", "second"):
        (place / f"{CHAPTER}.ipynb").write_text(answer)
        api.exchange.Submit(**run).start()
    forged = put(tmp_path, ACCOUNT, **{f"{CHAPTER}.ipynb": "forged"})
    forged = forged.rename(forged.with_name(forged.name.replace("2026", "2999")))
    owner = {str(forged): "mallory"}
    monkeypatch.setattr(exchange, "owner_of", owner.get)
    api.coursedir = CourseDirectory(config=api.config)
    return api


def test_an_exchange_after_a_whole_run_gives_everybody_their_own_latest(after_a_run, tmp_path):
    first, again = (after_a_run.collect(CHAPTER) for _ in range(2))
    assert first["success"] and f"No newer submission to collect: {ACCOUNT}" in again["log"]
    notebooks = tmp_path.glob("class/submitted/*/*/*.ipynb")
    taken = {path.parts[-3]: path.read_text() for path in notebooks}
    assert taken == {ACCOUNT: "second", "mallory": "forged"}
    assert secret_of(tmp_path / "class" / "submitted" / ACCOUNT / CHAPTER) is not None
