"""A hub's exchange: secrets go the whole way, and nobody stops or robs the others."""

import os
import pwd
from collections.abc import Callable
from pathlib import Path

import pytest
from classes.submitting import CHAPTER, hand_in, right, run_nbgrader, text
from nbgrader.apps import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from nbgrader.utils import notebook_hash

from autograde.build.release import release_into
from autograde.nbgrader import config as settings
from autograde.nbgrader import exchange, timestamps
from autograde.nbgrader.exchange import MAX_BYTES, NAME, Collect, ReleaseFeedback, secret_of

TIME = "2026-01-31 12:00:00.000000 UTC"
GOOD = "0123456789abcdef" * 8
OTHER = "f" * 128
STUDENT = pwd.getpwuid(os.getuid()).pw_name  # who owns what the tests put into an exchange
UID, FORGER = os.getuid(), 987_654


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A class of three: handed in through the exchange, on a stick, and with a secret to steal."""
    course = tmp_path_factory.mktemp("course")
    release_into(course, [CHAPTER])
    for student in ("ada", "ben", "eve"):
        folder = hand_in(course / "submitted", student, text(right())).parent
        if student != "ben":
            (folder / timestamps.NAME).write_text(TIME)
    (course / "submitted" / "ada" / CHAPTER / NAME).write_text(GOOD)
    (course / "secret").write_text(OTHER)
    (folder / NAME).symlink_to(course / "secret")
    for command in ("autograde", "generate_feedback"):
        run_nbgrader(course, command, CHAPTER)
    return course


@pytest.mark.parametrize("step", ["autograded", "feedback"])
def test_the_secret_goes_the_whole_way_and_a_link_does_not(course: Path, step: str):
    folder = course / step / "ada" / CHAPTER
    assert (folder / NAME).read_text() == GOOD and (folder / timestamps.NAME).read_text() == TIME
    assert not (course / step / "eve" / CHAPTER / NAME).exists()


def api_of(course: Path, exchange: Path, monkeypatch: pytest.MonkeyPatch) -> NbGraderAPI:
    monkeypatch.setenv("SPECDEC_COURSE", str(course))
    config = settings.load_config()
    config.Exchange.root = str(exchange)
    config.CourseDirectory.course_id = "specdec"
    return NbGraderAPI(config=config, log_level="INFO")


def test_feedback_is_released_and_who_cannot_have_it_is_named(
    course: Path, tmp_path: Path, monkeypatch
):
    api = api_of(course, tmp_path, monkeypatch)
    result = api.release_feedback(CHAPTER)
    assert result["success"], result
    said = [line for line in result["log"].splitlines() if "no feedback is released" in line]
    assert [name in line for name, line in zip(("ben", "eve"), sorted(said), strict=True)]
    (page,) = (tmp_path / "specdec" / "feedback").iterdir()
    assert page.stem == notebook_hash(secret=GOOD, notebook_id=CHAPTER)
    assert "22 of 24 points" in page.read_text() and api.coursedir.student_id_exclude == ""


BAD_SECRETS: dict[str, Callable[[Path], object]] = {
    "none": lambda place: None,
    "empty": lambda place: place.write_text(""),
    "short": lambda place: place.write_text("a" * 31),
    "no hex": lambda place: place.write_text("../" * 42),
    "line": lambda place: place.write_text(GOOD + "\n"),
    "long": lambda place: place.write_text("a" * (MAX_BYTES + 1)),
    "folder": lambda place: place.mkdir(),
    "pipe": os.mkfifo,
    "device": lambda place: place.symlink_to("/dev/zero"),
    "hard link": lambda place: os.link(hand_in(place.parents[2], "ben", GOOD), place),
}


@pytest.mark.parametrize("kind", BAD_SECRETS)
def test_only_a_plain_file_of_hexadecimal_digits_is_a_secret(tmp_path: Path, kind: str):
    folder = tmp_path / "ada" / CHAPTER
    folder.mkdir(parents=True)
    BAD_SECRETS[kind](folder / NAME)
    assert secret_of(folder) is None


@pytest.fixture
def collected(tmp_path: Path, monkeypatch) -> Callable[[], str]:
    """`collected()` runs nbgrader's collect on the exchange in `tmp_path`; returns its log."""
    api = api_of(tmp_path / "class", tmp_path, monkeypatch)
    inbound = tmp_path / "specdec" / "inbound"
    inbound.mkdir(parents=True)
    return lambda: api.collect(CHAPTER)["log"]


def put(exchange: Path, student: str, **files: str) -> Path:
    """Files as `nbgrader submit` puts them into an exchange."""
    folder = exchange / "specdec" / "inbound" / f"{student}+{CHAPTER}+{TIME}+abcdefgh"
    folder.mkdir()
    for name, content in ({f"{CHAPTER}.ipynb": "{}", timestamps.NAME: TIME} | files).items():
        (folder / name).write_text(content)
    return folder


def test_collecting_takes_three_plain_files_and_follows_no_link(tmp_path: Path, collected):
    folder = put(tmp_path, STUDENT, **{NAME: GOOD, "big.bin": "x"})
    (folder / timestamps.NAME).unlink()
    (folder / timestamps.NAME).symlink_to("/dev/zero")
    assert f"{STUDENT}: {timestamps.NAME} is not collected: timestamp.txt is a link" in collected()
    taken = tmp_path / "class" / "submitted" / STUDENT / CHAPTER
    assert {file.name for file in taken.iterdir()} == {f"{CHAPTER}.ipynb", NAME}


def test_a_folder_under_another_students_name_is_its_owners(tmp_path, collected, monkeypatch):
    """nbgrader only warns, and the later one of two takes the place of the student's own."""
    put(tmp_path, "daemon")
    monkeypatch.setattr(exchange, "owner_of", lambda path: 987_654)
    assert "is taken as its owner's" in collected()
    submitted = tmp_path / "class" / "submitted"
    assert [folder.name for folder in submitted.iterdir()] == ["unknown-987654"]


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
    forged = put(tmp_path, STUDENT, **{f"{CHAPTER}.ipynb": "forged"})
    forged = forged.rename(forged.with_name(forged.name.replace("2026", "2999")))
    monkeypatch.setattr(exchange, "owner_of", lambda path: FORGER if path == str(forged) else UID)
    api.coursedir = CourseDirectory(config=api.config)
    return api


def test_an_exchange_after_a_whole_run_gives_everybody_their_own_latest(after_a_run, tmp_path):
    first, again = (after_a_run.collect(CHAPTER) for _ in range(2))
    assert first["success"] and f"No newer submission to collect: {STUDENT}" in again["log"]
    notebooks = tmp_path.glob("class/submitted/*/*/*.ipynb")
    taken = {path.parts[-3]: path.read_text() for path in notebooks}
    assert taken == {STUDENT: "second", f"unknown-{FORGER}": "forged"}
    assert secret_of(tmp_path / "class" / "submitted" / STUDENT / CHAPTER) is not None


def test_these_classes_stand_where_nbgraders_would(monkeypatch, tmp_path: Path):
    factory = api_of(tmp_path, tmp_path, monkeypatch).exchange
    assert (factory.collect, factory.release_feedback) == (Collect, ReleaseFeedback)
