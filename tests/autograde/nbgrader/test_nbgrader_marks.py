"""By the instructor's guide: late penalty, extensions, marks by hand, graded again."""

import copy
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from classes.submitting import CHAPTER, cell_of, hand_in, right, run_nbgrader, text
from nbgrader.api import Gradebook, SubmittedNotebook
from nbgrader.utils import determine_grade

from autograde.build.release import build, release_into
from autograde.chapter import ROOT, SOLUTIONS
from autograde.cli import main
from autograde.nbgrader.config import CONFIG_NAME
from autograde.nbgrader.plugin import Grade, MarksForPage, SaveMarks
from autograde.report.marks import mark
from autograde.result import Exercise, GroupResult, Result
from autograde.submission import release_of

GUIDE = (ROOT / "docs" / "instructor.md").read_text(encoding="utf-8")
DUE = re.search(r"`nbgrader (db assignment add .*)`", GUIDE)[1]
EXTENSION = re.search(r"`autograde (extend .*)`", GUIDE)[1]
PENALTY = re.search(r"`(c\.LateSubmissionPlugin\..*)`", GUIDE)[1]
LATE = "2027-02-01 13:00:00 UTC"
RESOURCES = {"nbgrader": {"assignment": CHAPTER}}
WRONG = "def correct_token(p, q, token, r, u):\n    return token, True"


def file_of(course: Path, student: str) -> Path:
    return course / "submitted" / student / CHAPTER / f"{CHAPTER}.ipynb"


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A class that was graded, worked on by hand, and graded again after the due date had moved.

    ada was late, bob too but has an extension; cleo has points and a comment by hand, and then
    handed in something else. A file beside bob's graded notebook shows whether a run without
    --force leaves him alone.
    """
    course = tmp_path_factory.mktemp("class") / "course"
    release_into(course, [CHAPTER])
    for student in ("ada", "bob", "cleo"):
        notebook = right(quiz_02=f'quiz_02 = "b"  # {student} of {course.name}')
        folder = hand_in(course / "submitted", student, text(notebook)).parent
        if student in ("ada", "bob"):
            (folder / "timestamp.txt").write_text(LATE)
    run_nbgrader(course, *shlex.split(DUE))
    (course / CONFIG_NAME).write_text(f"c = get_config()\n{PENALTY}\n")
    for step in ("autograde", "generate_feedback"):
        run_nbgrader(course, step, CHAPTER)
    extension = shlex.split(EXTENSION.replace("STUDENT", "bob"))
    assert main([*extension, "--course", str(course)]) == 0
    with gradebook_of(course) as gradebook:
        mark_by_hand(gradebook)
    file_of(course, "cleo").write_text(text(right(correct_token=WRONG)))
    seen = course / "autograded" / "bob" / CHAPTER / "seen"
    seen.touch()
    for step in ("autograde", "generate_feedback"):
        run_nbgrader(course, step, CHAPTER)
    (course / "left alone").write_text(str(seen.exists()))
    run_nbgrader(course, "autograde", CHAPTER, "--force")
    return course


def gradebook_of(course: Path) -> Gradebook:
    return Gradebook(f"sqlite:///{course / 'gradebook.db'}")


def mark_by_hand(gradebook: Gradebook) -> None:
    place = (CHAPTER, CHAPTER, "cleo")
    gradebook.find_grade("why_residual", *place).manual_score = 2.0
    gradebook.find_grade("test_correct_token", *place).manual_score = 1.5
    gradebook.find_comment("why_residual", *place).manual_comment = "Well said."
    gradebook.db.commit()


@pytest.fixture
def gradebook(course: Path) -> Iterator[Gradebook]:
    with gradebook_of(course) as gradebook:
        yield gradebook


def notebook_of(gradebook: Gradebook, student: str) -> SubmittedNotebook:
    return gradebook.find_submission_notebook(CHAPTER, CHAPTER, student)


def test_late_submission_loses_its_points_and_an_extension_gives_them_back(gradebook: Gradebook):
    ada, bob = (notebook_of(gradebook, student) for student in ("ada", "bob"))
    assert (ada.score, ada.late_submission_penalty) == (22.0, 22.0)
    assert gradebook.find_submission(CHAPTER, "ada").total_seconds_late == 3600
    assert (bob.score, bob.late_submission_penalty) == (22.0, None)


def test_points_and_comments_by_hand_survive_and_wait_to_be_looked_at(gradebook: Gradebook):
    grades = {grade.name: grade for grade in notebook_of(gradebook, "cleo").grades}
    written, tested = grades["why_residual"], grades["test_correct_token"]
    assert (written.score, tested.score, tested.auto_score) == (2.0, 1.5, 0.0)
    waiting = {grade for grade in grades.values() if grade.needs_manual_grade}
    assert waiting == {written, tested}  # formgrader asks for attention to them again
    comment = gradebook.find_comment("why_residual", CHAPTER, CHAPTER, "cleo")
    assert comment.comment == "Well said."


@pytest.mark.parametrize("student, waits", [("cleo", False), ("bob", True)])
def test_the_page_is_told_which_answers_wait_for_a_person(course: Path, student: str, waits: bool):
    path = course / "autograded" / student / CHAPTER / f"{CHAPTER}.ipynb"
    told = {"notebook": CHAPTER, "assignment": CHAPTER, "student": student}
    told["db_url"] = f"sqlite:///{course / 'gradebook.db'}"
    notebook, _ = MarksForPage().preprocess(nbformat.read(path, 4), {"nbgrader": told})
    waiting = {
        cell.metadata.nbgrader.grade_id
        for cell in notebook.cells
        if cell.metadata.get("nbgrader", {}).get("to_be_marked")
    }
    assert waiting == ({"why_residual"} if waits else set())


def test_what_is_handed_in_again_is_graded_again_and_nothing_else(course: Path):
    assert (course / "left alone").read_text() == "True"
    page = course / "feedback" / "cleo" / CHAPTER / f"{CHAPTER}.html"
    assert "18 of 22 points from the tests" in page.read_text()


def test_other_points_in_the_gradebook_are_refused_by_name(tmp_path: Path):
    """The chapter's points were changed after it had been released to the class."""
    course, solutions, notebooks = (tmp_path / n for n in ("course", "solutions", "notebooks"))
    solutions.mkdir()
    before = (SOLUTIONS / f"{CHAPTER}.py").read_text()
    before = before.replace('test="correct_token" points=4', 'test="correct_token" points=3')
    (solutions / f"{CHAPTER}.py").write_text(before)
    build(solutions, notebooks)
    release_into(course, None, solutions)
    hand_in(course / "submitted", "ada", text(right()))
    said = run_nbgrader(course, "autograde", CHAPTER, code=1)
    assert "test_correct_token has 3 points in the gradebook, 4 in the release" in said
    assert f"run nbgrader generate_assignment {CHAPTER} --force" in said
    run_nbgrader(course, "generate_assignment", CHAPTER, "--force")
    run_nbgrader(course, "autograde", CHAPTER)
    with gradebook_of(course) as gradebook:
        assert notebook_of(gradebook, "ada").score == 22.0


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ((CHAPTER, "adda", "--days", "1"), f"adda has no graded {CHAPTER}"),
        (("99_none", "ada", "--days", "1"), "those who have: nobody"),
        ((CHAPTER, "ada"), "--days"),
    ],
)
def test_what_is_wrong_with_an_extension_is_one_line(course: Path, capsys, words, line: str):
    assert main(["extend", *words, "--course", str(course)]) == 2
    said = capsys.readouterr().err
    assert line in said and said.count("\n") == 1


def test_a_folder_without_a_class_is_a_line_and_gets_no_gradebook(tmp_path: Path, capsys):
    words = ["extend", CHAPTER, "ada", "--days", "1", "--course", str(tmp_path / "corse")]
    assert main(words) == 2
    assert f"there is no class in {tmp_path / 'corse'}" in capsys.readouterr().err
    assert not (tmp_path / "corse").exists()


@pytest.mark.parametrize("points", [2, 0.1, 0.2])  # 0.2 * 3 / 3 is more than 0.2
@pytest.mark.parametrize("passed", range(4))
def test_nbgrader_reads_the_mark_to_the_last_digit(passed: int, points: float):
    groups = [GroupResult(f"b{i}", i < passed, "why") for i in range(3)]
    wanted = Exercise(points, groups)
    cell = copy.deepcopy(cell_of(release_of(CHAPTER), "test_correct_token"))
    cell.metadata.nbgrader.points = points
    cell.outputs = mark(Result({"x": wanted}), "x", {})
    assert determine_grade(cell) == (wanted.score, points)
    assert passed < 3 or wanted.score == points


@pytest.mark.parametrize("score", [float("nan"), -1.0, 2.5])
def test_a_mark_out_of_range_is_never_written(score: float, monkeypatch):
    monkeypatch.setattr(Exercise, "score", score)
    with pytest.raises(ValueError, match="is not within"):
        mark(Result({"x": Exercise(2.0)}), "x", {})


def test_an_unmarked_grade_cell_is_not_saved():
    with pytest.raises(RuntimeError, match="carries no mark"):
        SaveMarks().preprocess(copy.deepcopy(release_of(CHAPTER)), RESOURCES)


def test_a_graded_notebook_has_no_hidden_line_of_ours_and_all_of_the_students():
    code = "x = 1\n# BEGIN HIDDEN TESTS\ny = 2\n# END HIDDEN TESTS"
    notebook, _ = Grade().preprocess(copy.deepcopy(right(quiz_02=code)), RESOURCES)
    sources = [cell.source for cell in notebook.cells]
    assert sources[0].startswith("### Result: 21 of 22 points") and code in sources
    assert "BEGIN HIDDEN TESTS" not in "".join(source for source in sources if source != code)
    nbformat.validate(notebook)
