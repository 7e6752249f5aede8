"""The instructor's path in Chromium: formgrader in JupyterLab, and a submission in it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from classes.submitting import CHAPTER, FULL, TOTAL, WRITTEN, hand_in, run_nbgrader
from nbgrader.api import Gradebook
from pages.jupyter_lab import InstructorServer, Lab

from autograde.build.release import release_into
from autograde.grading.classroom import grade_class
from autograde.hidden.causes import bugs_of
from autograde.report import feedback
from autograde.tools.samples import sample_notebook

pytestmark = [pytest.mark.browser, pytest.mark.slow]

ADA, CLEO = STUDENTS = ("ada-right", "cleo-misconceived")


class Formgrader(Lab):
    """JupyterLab with formgrader open in it."""

    def start(self) -> None:
        self.page.goto(f"{self.server.url}/lab")
        self.choose("Nbgrader", "Formgrader")
        self.frame = self.page.wait_for_selector("iframe[src*=formgrader]").content_frame()
        self.frame.get_by_role("link", name="Manual Grading").wait_for()

    def follow(self, link: str, leads_to: str) -> None:
        """Press a link of the page, and wait for the page that it leads to."""
        self.frame.get_by_role("link", name=link, exact=True).last.click()
        self.frame.wait_for_url(f"**/formgrader/{leads_to}")

    def open_submission(self, student: str) -> None:
        """Walk from the list of chapters to the submission."""
        self.follow("Manual Grading", "gradebook")
        self.follow(CHAPTER, f"gradebook/{CHAPTER}")
        self.list_submissions()
        self.follow(student, "submissions/**")

    def list_submissions(self) -> None:
        """From a chapter's page on to its submissions, with the students' names."""
        self.follow(CHAPTER, f"gradebook/{CHAPTER}/{CHAPTER}")
        self.row("Submission #1")  # there are rows that the button can change
        self.frame.get_by_role("button", name="Show All Names").click()

    def row(self, link: str) -> list[str]:
        """The texts of the table's row with that link, once it is there."""
        row = self.frame.locator("tr", has=self.frame.get_by_role("link", name=link, exact=True))
        return [text.strip() for text in row.inner_text().split("\t")]

    def points(self) -> dict[str, float]:
        """The points beside the tests of an open submission, once they are all there.

        nbgrader shows an automatic mark as the placeholder of the box for one by hand.
        """
        boxes = "[...document.querySelectorAll('input.score[id^=test_]')]"
        self.frame.wait_for_function(f"{boxes}.length && {boxes}.every(box => box.placeholder)")
        pairs = f"{boxes}.map(box => [box.id.replace('test_', ''), Number(box.placeholder)])"
        return dict(self.frame.evaluate(pairs))

    def mark(self, cell: str, points: str) -> bool:
        """Type the points of a written answer; returns whether they are saved."""
        with self.page.expect_response("**/api/grade/**") as saved:
            box = self.frame.locator(f"input.score#{cell}")
            box.fill(points)
            box.press("Tab")
        return saved.value.ok


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two students hand in, and nbgrader grades them."""
    course = tmp_path_factory.mktemp("course")
    release_into(course, [CHAPTER])
    for student in STUDENTS:
        hand_in(course / "submitted", student, nbformat.writes(sample_notebook(student, CHAPTER)))
    run_nbgrader(course, "autograde", CHAPTER)
    return course


@pytest.fixture(scope="module")
def server(course: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[InstructorServer]:
    with InstructorServer(tmp_path_factory.mktemp("grader"), course).running() as server:
        yield server


@pytest.fixture
def formgrader(browser: Any, server: InstructorServer) -> Iterator[Formgrader]:
    """Formgrader in a fresh browser. At the end nothing may have asked another machine."""
    opened = Formgrader(browser, server)
    opened.start()
    yield opened
    opened.context.close()
    assert opened.outside == []


def points_of(course: Path, student: str) -> dict[str, float]:
    """The engine's points by exercise."""
    exercises = grade_class(course / "submitted")[student][CHAPTER]["exercises"]
    return {name: exercise["score"] for name, exercise in exercises.items()}


def test_the_class_and_its_marks_are_seen(formgrader: Formgrader, course: Path):
    totals = {student: sum(points_of(course, student).values()) for student in STUDENTS}
    assert totals[ADA] == FULL > totals[CLEO] > 0
    formgrader.follow("Manual Grading", "gradebook")
    mean = feedback.points(sum(totals.values()) / 2)
    assert formgrader.row(CHAPTER)[2:] == ["2", f"{mean} / {TOTAL:g}"]
    formgrader.follow(CHAPTER, f"gradebook/{CHAPTER}")
    assert formgrader.row(CHAPTER)[3] == "0 / 2"  # the written answers are not marked yet
    formgrader.list_submissions()
    for student, total in totals.items():
        marks = [f"{feedback.points(total)} / {TOTAL:g}", f"{feedback.points(total)} / {FULL:g}"]
        assert formgrader.row(student)[1:4] == [student, *marks]


def test_a_submission_is_opened_and_a_written_answer_marked(formgrader: Formgrader, course: Path):
    formgrader.open_submission(CLEO)
    assert formgrader.points() == points_of(course, CLEO)
    text = formgrader.frame.locator("body").inner_text()
    assert f"You may have assumed that {bugs_of(CHAPTER)[0].think}" in text
    assert formgrader.mark(WRITTEN, "1.5")
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        marked = gradebook.find_grade(WRITTEN, CHAPTER, CHAPTER, CLEO)
        assert marked.manual_score == 1.5
