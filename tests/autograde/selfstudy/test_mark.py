"""`specdec mark`: one's own notebook, and the page of a class."""

import re
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import nbformat
import pytest
from bs4 import BeautifulSoup
from classes.submitting import CHAPTER, FULL, POINTS, QUIZ, WRITTEN, WRONG_LETTER, right
from data_files import table
from nbformat import NotebookNode

from autograde.course import ROOT, notebook_path
from autograde.grading import grade
from autograde.grading.result import Exercise, Result
from autograde.intake.bounds import TooCostly
from autograde.intake.submission import release_of
from autograde.sandbox import isolation, workers
from autograde.sandbox.isolation import BUBBLEWRAP
from autograde.selfstudy import command
from autograde.selfstudy.command import MARKS_FOLDER, page_of

WRONG = "residual_distribution"
TARGET_AGAIN = "def residual_distribution(p, q):\n    return p.copy()"
ANOTHER_QUIZ = f'quiz_02 = "{WRONG_LETTER}"'


def save(work: Path, notebook: NotebookNode, chapter: str = CHAPTER) -> Path:
    """Write a notebook as JupyterLab does; its path."""
    path = notebook_path(work, chapter)
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, path)
    return path


PROGRAMS = table("any_system.toml")  # Python where there is no Linux: what only it has is missing


def marking(folder: Path, *arguments: object) -> list[str]:
    """The command line of the grader there, with 0.3 s for a cell; its programs lie in `folder`."""
    worker, grader = folder / "worker.py", folder / "grader.py"
    program = {"block": PROGRAMS["only_linux"], "program": str(workers.WORKER_PROGRAM)}
    program |= {"folder": str(workers.WORKER_PROGRAM.parent)}
    worker.write_text(PROGRAMS["program"].format(**program))
    command = {"block": PROGRAMS["only_linux"], "root": str(ROOT), "program": str(worker)}
    grader.write_text(PROGRAMS["command"].format(**command, seconds=0.3))
    return [sys.executable, "-X", "utf8", str(grader), *map(str, arguments)]


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess]:
    """A folder `work` marked once, where nothing is there that only Linux has."""
    folder = tmp_path_factory.mktemp("there")
    work = folder / "work"
    answers = {WRONG: TARGET_AGAIN, "quiz_02": ANOTHER_QUIZ, WRITTEN: "Missing mass."}
    notebook = right(**answers)
    notebook.cells.insert(3, nbformat.v4.new_code_cell("# mine\nwhile True:\n    pass"))
    path = save(work, notebook)
    save(work, release_of("00_bottleneck"), "00_bottleneck")
    before = path.read_bytes()
    start = marking(folder, "--work", work, "--no-browser")
    done = subprocess.run(start, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert path.read_bytes() == before
    return work, done


def test_it_says_where_the_pages_are(there):
    work, done = there
    assert "with your own rights" in done.stdout
    assert f": {work / MARKS_FOLDER / CHAPTER}.html" in done.stdout
    assert f" of {FULL:g} points: " in done.stdout
    assert [path.name for path in (work / MARKS_FOLDER).iterdir()] == [f"{CHAPTER}.html"]


def test_the_page_is_that_of_a_class_with_the_courses_own_written_answer(there):
    page = BeautifulSoup(page_of(there[0], CHAPTER).read_text(encoding="utf-8"), "html.parser")
    text = " ".join(page.get_text(" ").split())
    head = re.fullmatch(rf"{CHAPTER}: (\d+) of {FULL:g} points", page.header.get_text(strip=True))
    assert FULL - POINTS[WRONG] - POINTS["quiz_02"] <= float(head[1]) < FULL
    assert "You may have assumed" in page.find(id=f"test_{WRONG}").get_text()
    assert "The course's own answer, to compare yours with: " in text
    assert "a person marks it" not in text and page.find("script") is None
    assert page.find("math") is not None
    assert f"You chose {WRONG_LETTER}. {QUIZ.explanations[WRONG_LETTER][:20]}" in text
    said = page.find(string=re.compile("it took longer than 0.3 s and was stopped"))
    assert said and not said.find_parent("details")


def test_only_what_was_changed_or_is_named_is_marked_again(tmp_path: Path, capsys, monkeypatch):
    counted: list[str] = []
    meanwhile: list[NotebookNode] = []

    def mark_notebook(notebook: NotebookNode, chapter: str) -> tuple[Result, str]:
        counted.append(chapter)
        if meanwhile:
            save(tmp_path, meanwhile.pop())
        return Result({"f": Exercise(2.0, note="not written yet")}), "page"

    def marks_after(notebook: NotebookNode | None, *asked: str) -> int:
        if notebook:
            save(tmp_path, notebook)
        assert command.mark_chapters(tmp_path, [*asked], show_page=False) == 0
        return len(counted)

    monkeypatch.setattr(command, "mark_notebook", mark_notebook)
    another, third = right(quiz_02=ANOTHER_QUIZ), right(**{WRONG: TARGET_AGAIN})
    assert [marks_after(each) for each in (right(), None, right(), another)] == [1, 1, 1, 2]
    assert "No notebook has changed" in capsys.readouterr().out
    assert marks_after(None, "2") == 3
    meanwhile.append(third)  # saved while the notebook before it is marked
    assert [marks_after(each) for each in (right(), None, None)] == [4, 5, 5]
    monkeypatch.setattr(command, "grader_fingerprint", lambda chapter: "other tests")
    assert [marks_after(None), marks_after(None)] == [6, 6]


@pytest.mark.isolation
def test_a_class_and_who_studies_alone_get_the_same_points_and_words(monkeypatch):
    answers = {WRONG: TARGET_AGAIN, "quiz_02_b": "", "acceptance_probability": "def x(:"}
    of_own_code = grade.grade_now(right(**answers), CHAPTER)
    monkeypatch.setattr(isolation, "mode", lambda: BUBBLEWRAP)
    of_a_class = grade.grade_now(right(**answers), CHAPTER)
    assert of_own_code.exercises == of_a_class.exercises
    wrong = {name for name, e in of_a_class.exercises.items() if e.passed < len(e.groups)}
    assert wrong == set(answers)


IMPORTED = """
import sys
from autograde.selfstudy import command
from autograde.hidden.collected import with_hidden_tests
with_hidden_tests("02_rejection_sampling", lambda tests: None)
print(*{each.partition(".")[0] for each in sys.modules})
"""


def test_marking_needs_nothing_that_only_authors_and_instructors_install():
    done = subprocess.run([sys.executable, "-c", IMPORTED], capture_output=True, text=True)
    imported = set(done.stdout.split())
    assert "nbconvert" in imported and not imported & {"distributed", "rich", "typer", "yaml"}


def test_a_notebook_that_cannot_be_marked_is_named_and_left_alone(tmp_path, capsys, monkeypatch):
    path = notebook_path(tmp_path, CHAPTER)
    path.parent.mkdir()
    path.write_text("{")
    assert command.mark_chapters(tmp_path, [str(path)], show_page=False) == 2
    assert f"{path}: the file is not valid JSON" in capsys.readouterr().err
    assert path.read_text() == "{"
    assert command.mark_chapters(tmp_path, ["0"], show_page=False) == 2  # there is no copy of it
    monkeypatch.setattr(command, "mark_notebook", Mock(side_effect=TooCostly("too long")))
    save(tmp_path, right())
    assert command.mark_chapters(tmp_path, [CHAPTER], show_page=False) == 2
    assert f"{path}: too long" in capsys.readouterr().err
