"""Source notebook to student release: same bytes by every way, nothing leaked, nothing lost."""

import json
import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from classes.builder_fixtures import TINY, changed, write_chapter
from classes.submitting import with_cell_source
from nbformat import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.apps import NbGraderAPI
from nbgrader.server_extensions.formgrader.formgrader import FormgradeExtension
from traitlets.config import Config

from autograde.build import gates, release
from autograde.build.release import build, check, release_into
from autograde.chapter import ROOT, AuthorError, chapter_names, notebook_path

CHAPTERS = chapter_names()
TWO = TINY.replace("# A tiny chapter", "# Another")


@pytest.fixture(autouse=True)
def no_real_class(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever reads the configuration gets a class of its own."""
    monkeypatch.setenv("SPECDEC_COURSE", str(tmp_path / "course"))


def built(folder: Path, text: str = TINY) -> tuple[Path, Path]:
    """(solutions, notebooks) after a build of one chapter."""
    solutions = write_chapter(folder, text)
    build(solutions, folder / "notebooks")
    return solutions, folder / "notebooks"


def read(folder: Path, chapter: str = "01_tiny") -> NotebookNode:
    return nbformat.read(notebook_path(folder, chapter), as_version=4)


def all_bytes(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_two_builds_are_byte_identical(tmp_path: Path) -> None:
    for run in ("a", "b"):
        write_chapter(tmp_path / run, TWO, "02_other")
        built(tmp_path / run)
    first, second = all_bytes(tmp_path / "a"), all_bytes(tmp_path / "b")
    assert first == second and len(first) == 6
    (again, _) = build(tmp_path / "a" / "solutions", tmp_path / "a" / "notebooks")
    assert (again.chapter, again.exercises, again.points) == ("01_tiny", 4, 7.0)
    assert not again.changed


def test_only_the_chosen_chapter_is_built(tmp_path: Path) -> None:
    write_chapter(tmp_path, TWO, "02_other")
    solutions = write_chapter(tmp_path)
    assert [b.chapter for b in build(solutions, tmp_path / "nb", ["02_other"])] == ["02_other"]
    assert not (tmp_path / "nb" / "01_tiny").exists()


CHECK_LINE = "# Check of square, 3 points: run this cell."


def test_the_stubs(tmp_path: Path) -> None:
    cells = {cell.id: cell.source for cell in read(built(tmp_path)[1]).cells}
    assert cells["square"].split("\n") == [
        "def square(x):",
        '    """The square of x."""',
        "    # a comment that stays",
        "    # Your code: about 2 lines.",
        '    raise NotImplementedError("square: not written yet")',
    ]
    assert cells["quiz_01"] == 'quiz_01 = ""  # a, b, c or d'
    assert cells["prediction_01"] == "prediction_01 = None  # your guess, before you look"
    assert cells["why"] == "YOUR ANSWER HERE"
    assert cells["test_square"].split("\n") == [CHECK_LINE, "check(square)"]


def test_grade_cells_are_locked_and_notebooks_valid(tmp_path: Path) -> None:
    for folder in built(tmp_path):
        nbformat.validate(read(folder))
    for cell in read(tmp_path / "notebooks").cells:
        nbgrader = cell.metadata.get("nbgrader", {})
        if nbgrader.get("grade") and not nbgrader["solution"]:
            assert nbgrader["locked"] and not cell.metadata.editable and not cell.metadata.deletable


def test_check_says_what_is_out_of_date(tmp_path: Path) -> None:
    solutions, notebooks = built(tmp_path)
    assert check(solutions, notebooks) == []
    write_chapter(tmp_path, changed("Some text.", "Some more text."))
    stale = [notebook_path(folder, "01_tiny") for folder in (solutions, notebooks)]
    before = all_bytes(tmp_path)
    assert check(solutions, notebooks) == [f"{path}: out of date" for path in stale]
    assert all_bytes(tmp_path) == before
    assert build(solutions, notebooks)[0].changed
    assert "Some more text." in read(notebooks).cells[0].source


def test_check_finds_a_notebook_whose_text_is_gone(tmp_path: Path) -> None:
    solutions, notebooks = built(tmp_path)
    (solutions / "01_tiny.py").unlink()
    assert [line.split(": ")[0] for line in check(solutions, notebooks)] == [
        str(notebooks / "01_tiny"),
        str(solutions / "01_tiny"),
    ]


def test_the_command_line_gives_the_same_bytes(tmp_path: Path) -> None:
    """`nbgrader generate_assignment` from another folder, the environment not activated."""
    solutions, notebooks = built(tmp_path)
    command = [sys.executable, "-m", "nbgrader", "generate_assignment", "01_tiny"]
    command += [f"--course-dir={ROOT}", f"--CourseDirectory.source_directory={solutions}"]
    ours = {"SPECDEC_COURSE": str(tmp_path / "class"), "PYTHONPATH": str(ROOT)}
    env = os.environ | ours | {"PATH": "/usr/bin:/bin"}
    subprocess.run(command, cwd=tmp_path, env=env, check=True, timeout=120)
    assert all_bytes(tmp_path / "class" / "release") == all_bytes(notebooks)


def test_formgraders_button_gives_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    solutions, notebooks = built(tmp_path)
    monkeypatch.chdir(ROOT)
    formgrader = FormgradeExtension()
    formgrader.initialize([])
    formgrader.coursedir.source_directory = str(solutions)
    json.dumps(formgrader.config)  # its page shows the configuration
    api = NbGraderAPI(formgrader.coursedir, parent=formgrader, log_level="ERROR")
    assert [assignment["name"] for assignment in api.get_assignments()] == ["01_tiny"]
    for _ in range(2):
        assert api.generate_assignment("01_tiny")["success"]
    assert all_bytes(tmp_path / "course" / "release") == all_bytes(notebooks)


def answer(notebook: Path, cell_id: str, source: str) -> bytes:
    """Write an answer as a student would; returns the file's bytes."""
    content = nbformat.read(notebook, as_version=4)
    nbformat.write(with_cell_source(content, cell_id, source), notebook)
    return notebook.read_bytes()


@pytest.mark.parametrize("cell_id", ["square", "quiz_01", "why"])
def test_answers_are_never_overwritten(tmp_path: Path, cell_id: str) -> None:
    solutions, notebooks = built(tmp_path)
    target = notebook_path(notebooks, "01_tiny")
    answers = answer(target, cell_id, "mine")
    with pytest.raises(AuthorError, match=rf"holds answers \({cell_id}\)(.|\n)*Move it to work/"):
        build(solutions, notebooks)
    assert target.read_bytes() == answers


@pytest.mark.parametrize("fault", ["answers", "broken text"])
def test_one_chapter_that_cannot_be_built_leaves_all_as_they_were(tmp_path: Path, fault: str):
    write_chapter(tmp_path, TWO, "02_other")
    solutions, notebooks = built(tmp_path)
    write_chapter(tmp_path, changed("Some text.", "Some more text."))
    if fault == "answers":
        answer(notebook_path(notebooks, "02_other"), "square", "mine")
    else:
        write_chapter(tmp_path, TWO.replace("points=3", "points=0"), "02_other")
    before = all_bytes(tmp_path)
    with pytest.raises(AuthorError):
        build(solutions, notebooks)
    assert all_bytes(tmp_path) == before


def both(folder: Path, text: str = TINY) -> tuple[NotebookNode, NotebookNode]:
    solutions, notebooks = built(folder, text)
    return read(solutions), read(notebooks)


@pytest.mark.parametrize(
    ("cell_id", "source"),
    [
        ("square", 'def square(x):\n    raise NotImplementedError("square: not written yet")'),
        ("quiz_01", 'quiz_01 = ""'),
        ("test_square", "check(square) "),
        ("why", ""),
        ("a-tiny-chapter-1", "# A tiny chapter\n\nSome text"),
    ],
)
def test_the_line_gate_can_fail(tmp_path: Path, cell_id: str, source: str) -> None:
    ours, theirs = both(tmp_path)
    assert gates.differences(ours, with_cell_source(theirs, cell_id, source)) == [
        f"cell {cell_id}: the release is not the source less its solution region"
    ]


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("Like this:\n\n    product_of_both = x * x\n    return product_of_both", "square"),
        ('The answer:\n\n    quiz_01 = "c"', "quiz_01"),
        ("Because a number times itself is never below zero.", "why"),
        ('raise RuntimeError("graded only with the repository\'s nbgrader_config.py")', "graded"),
        ("### END SOLUTION", "END SOLUTION"),
        ("### BEGIN HIDDEN TESTS", "BEGIN HIDDEN TESTS"),
    ],
)
def test_the_leak_gate_can_fail(tmp_path: Path, text: str, secret: str) -> None:
    ours, theirs = both(tmp_path)
    (leak,) = gates.leaks(ours, with_cell_source(theirs, "a-tiny-chapter-1", text))
    assert secret in leak


def test_a_shuffled_line_is_no_leak(tmp_path: Path) -> None:
    ours, theirs = both(tmp_path)
    shuffled = "return product_of_both\nproduct_of_both = x * x"
    assert not [*gates.leaks(ours, with_cell_source(theirs, "a-tiny-chapter-1", shuffled))]


def test_an_answer_told_in_the_text_stops_the_build(tmp_path: Path) -> None:
    text = changed("# Some text.", "# product_of_both = x * x\n# return product_of_both")
    with pytest.raises(AuthorError, match="01_tiny: cell square: the release holds its answer"):
        built(tmp_path, text)


def test_a_region_of_half_a_statement_stops_the_build(tmp_path: Path) -> None:
    text = changed(
        "    product_of_both = x * x\n", "    product_of_both = (\n        x * x\n"
    ).replace("    return product_of_both\n    ### END SOLUTION", "    ### END SOLUTION\n    )")
    with pytest.raises(AuthorError, match="cell square: .* whole statements"):
        built(tmp_path, text)


def test_the_committed_notebooks_are_in_step_with_their_texts() -> None:
    assert CHAPTERS and check() == []


def test_release_into_a_class(tmp_path: Path) -> None:
    solutions, notebooks = built(tmp_path)
    course = tmp_path / "a class"
    release_into(course, None, solutions)
    assert all_bytes(course / "release") == all_bytes(notebooks)
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        assert gradebook.find_assignment("01_tiny").max_score == 7.0
        hidden = gradebook.find_source_cell("test_square", "01_tiny", "01_tiny").source
    assert "graded only with" in hidden


def test_plain_nbgrader_gives_nothing_and_says_why(tmp_path: Path) -> None:
    """Without the repository's configuration a right answer is not marked as if it were tested."""
    solutions = built(tmp_path)[0]
    config = Config()
    config.CourseDirectory.root = str(tmp_path)
    config.CourseDirectory.source_directory = "solutions"
    api = NbGraderAPI(config=config, log_level="CRITICAL")
    assert api.generate_assignment("01_tiny")["success"]
    submitted = notebook_path(tmp_path / "submitted" / "ada", "01_tiny")
    submitted.parent.mkdir(parents=True)
    submitted.write_bytes(notebook_path(solutions, "01_tiny").read_bytes())
    assert api.autograde("01_tiny", "ada")["success"]
    with api.gradebook as gradebook:
        assert gradebook.find_submission("01_tiny", "ada").score == 0
    graded = notebook_path(tmp_path / "autograded" / "ada", "01_tiny").read_text()
    assert graded.count('"evalue": "graded only with the repository\'s nbgrader_config.py"') == 3


def test_missing_hidden_tests_stop_a_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    solutions = write_chapter(tmp_path, name="99_none")
    monkeypatch.setattr(release, "SOLUTIONS", solutions)
    with pytest.raises(AuthorError, match="99_none: nothing grades square, quiz_01"):
        build(solutions, tmp_path / "nb")
    assert not (tmp_path / "nb").exists()
