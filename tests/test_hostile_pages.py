"""Nothing that a student writes runs in the browser of whoever marks, or of whoever reads feedback.

A class of hostile submissions goes through nbgrader's own commands; every page of formgrader and
every feedback page is then opened in Chromium. The twin shows that the payloads are alive: without
the protection each of them runs.
"""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from formgrading import Formgrader, Watched
from hostile import file_names, name_of, notebook, unreadable
from submitting import CHAPTER, hand_in, right, run_nbgrader, text

from autograde.builder.release import release_into

pytestmark = pytest.mark.browser

LISTS = (
    *("manage_assignments", f"manage_submissions/{CHAPTER}", "manage_students", "gradebook"),
    *(f"gradebook/{CHAPTER}", f"gradebook/{CHAPTER}/{CHAPTER}"),
)


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The class, graded and with its feedback."""
    course = tmp_path_factory.mktemp("course")
    release_into(course, [CHAPTER])
    folder = hand_in(course / "submitted", "mallory", text(notebook())).parent
    for name in file_names("name of a file"):
        (folder / name).write_text(name)
        (folder / f"{name}.html").write_text(name)
    hand_in(course / "submitted", "oscar", unreadable())
    for name in file_names("name of the student"):
        hand_in(course / "submitted", name, text(right()))
    for command in ("autograde", "generate_feedback"):
        done = run_nbgrader(course, command, CHAPTER)
        print(done.returncode, done.stderr[-3000:])
    return course


@pytest.fixture(scope="module")
def formgrader(course: Path) -> Iterator[Formgrader]:
    server = Formgrader(course)
    try:
        server.wait_until_it_answers()
        yield server
    finally:
        server.stop()


@pytest.fixture
def watched(browser) -> Iterator[Watched]:
    page = Watched(browser)
    yield page
    page.page.close()


def told(numbers: set[int]) -> list[str]:
    return [name_of(number) for number in sorted(numbers)]


@pytest.mark.parametrize("place", LISTS)
def test_lists_of_formgrader(formgrader: Formgrader, watched: Watched, place: str):
    assert told(watched.visit(f"{formgrader.url}/{place}")) == []


def test_submissions_in_formgrader(formgrader: Formgrader, watched: Watched, course: Path):
    with sqlite3.connect(course / "gradebook.db") as gradebook:
        ids = [row[0] for row in gradebook.execute("select id from submitted_notebook")]
    assert len(ids) >= 2
    hits = {n for one in ids for n in watched.visit(f"{formgrader.url}/submissions/{one}/")}
    assert told(hits) == []


def test_feedback_pages(watched: Watched, course: Path):
    pages = sorted(course.glob(f"feedback/*/{CHAPTER}/*"))
    assert pages
    hits = {n for page in pages for n in watched.visit(page.as_uri())}
    assert told(hits) == []
