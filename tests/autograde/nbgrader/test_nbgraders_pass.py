"""What we do in nbgrader's place in its pass, to save time: it writes what nbgrader would write."""

from functools import cache
from pathlib import Path

import pytest
from classes.submitting import CHAPTER, hand_in, right, run_nbgrader, text
from nbgrader.api import Gradebook
from nbgrader.apps import NbGraderAPI
from nbgrader.nbgraderformat import MetadataValidator, ValidationError

from autograde.build.release import release_into
from autograde.chapter import ROOT
from autograde.nbgrader import cells, connection
from autograde.nbgrader.config import load_config
from autograde.submission import release_of

# Our configuration, with nbgrader's own exporter and preprocessors around our grading.
PLAIN = f"""
load_subconfig({str(ROOT / "nbgrader_config.py")!r})
from nbgrader.api import Gradebook
from autograde.nbgrader.connection import USERS
for module in USERS:
    module.Gradebook = Gradebook
for ours in ("exporter_class", "post_convert_hook", "sanitize_preprocessors"):
    c.Autograde.pop(ours)
c.Autograde.autograde_preprocessors = ["autograde.nbgrader.plugin.Grade"] + [
    f"nbgrader.preprocessors.{{name}}"
    for name in ("LimitOutput", "SaveAutoGrades", "AssignLatePenalties", "CheckCellMetadata")
]
"""
WRITTEN = "why_residual"
ZERO_IF_LATE = "--LateSubmissionPlugin.penalty_method=zero"


def gradebook_of(course: Path) -> Gradebook:
    return Gradebook(f"sqlite:///{course / 'gradebook.db'}")


def class_of_three(course: Path) -> None:
    """ada is late, ben has answered nothing in writing, cleo is wrong and prints something."""
    release_into(course, [CHAPTER])
    with gradebook_of(course) as gradebook:
        gradebook.update_or_create_assignment(CHAPTER, duedate="2027-02-01 12:00 UTC")
    folder = hand_in(course / "submitted", "ada", text(right())).parent
    (folder / "timestamp.txt").write_text("2027-02-01 13:00:00 UTC")
    blank = next(cell.source for cell in release_of(CHAPTER).cells if cell.id == WRITTEN)
    hand_in(course / "submitted", "ben", text(right(**{WRITTEN: blank})))
    wrong = "def correct_token(p, q, token, r, u):\n    return 1 / 0\nprint('seen')"
    hand_in(course / "submitted", "cleo", text(right(correct_token=wrong)))


def grade_and_grade_again(course: Path, *options: str) -> None:
    """Between the two, points by hand; then everybody again."""
    run_nbgrader(course, "autograde", CHAPTER, ZERO_IF_LATE, *options)
    with gradebook_of(course) as gradebook:
        for student in ("ben", "cleo"):
            gradebook.find_grade("test_correct_token", CHAPTER, CHAPTER, student).manual_score = 1.5
        gradebook.find_comment(WRITTEN, CHAPTER, CHAPTER, "cleo").manual_comment = "Well said."
        gradebook.db.commit()
    run_nbgrader(course, "autograde", CHAPTER, ZERO_IF_LATE, "--force", *options)


def rows_of(course: Path) -> list[dict]:
    """Everything that the gradebook holds of submissions, but for the rows' own numbers."""
    with gradebook_of(course) as gradebook:
        notebooks = gradebook.notebook_submissions(CHAPTER, CHAPTER)
        late = [{"student": n.student.id, "late": n.late_submission_penalty} for n in notebooks]
        rows = [*gradebook.assignment_submissions(CHAPTER), *notebooks]
        rows += [row for n in notebooks for row in (*n.grades, *n.comments)]
        found = [*late, *(row.to_dict() | {"id": type(row).__name__} for row in rows)]
    return sorted(found, key=lambda row: str(sorted(row.items(), key=str)))


def graded_files(course: Path) -> dict[str, bytes]:
    """What lies in the graded folders, but for our own notes, which begin with a dot."""
    folder = course / "autograded"
    files = (path for path in folder.rglob("[!.]*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def test_rows_and_notebooks_are_those_that_nbgrader_itself_writes(tmp_path: Path):
    ours, plain = tmp_path / "ours", tmp_path / "plain"
    (tmp_path / "plain.py").write_text(PLAIN)
    for course, options in {ours: [], plain: [f"--config={tmp_path / 'plain.py'}"]}.items():
        class_of_three(course)
        grade_and_grade_again(course, *options)
    rows = rows_of(ours)
    assert rows == rows_of(plain)
    assert {"student": "ada", "late": 22.0} in rows
    assert "No response." in [row.get("auto_comment") for row in rows]
    assert graded_files(ours) == graded_files(plain) and len(graded_files(ours)) == 4


def test_the_gradebook_is_connected_once_a_run_and_whom_nbgrader_does_not_see_is_named(
    tmp_path, monkeypatch
):
    opened = []
    begin = Gradebook.__init__
    monkeypatch.setattr(
        Gradebook, "__init__", lambda self, *given: begin(self, *given) or opened.append(given)
    )
    monkeypatch.setenv("SPECDEC_COURSE", str(tmp_path))
    release_into(tmp_path, [CHAPTER])
    for student in ("ada", "ben", ".eve"):
        hand_in(tmp_path / "submitted", student, text(right()))
    opened.clear()
    for run in (1, 2):  # another course for the converter than for its preprocessors
        result = NbGraderAPI(config=load_config()).autograde(CHAPTER, "*")
        assert result["success"] and len(opened) <= 2 * run, result["log"]
        assert "'.eve' is left out: rename this folder" in result["log"]
    connection.disconnect()
    with gradebook_of(tmp_path) as gradebook:
        assert [s.score for s in gradebook.assignment_submissions(CHAPTER)] == [22.0, 22.0]


def test_metadata_that_was_right_once_does_not_make_other_metadata_right(monkeypatch):
    notebook = release_of(CHAPTER).copy()
    seen = []
    monkeypatch.setattr(cells, "_validator", cache(cells.KnownMetadata))
    original = MetadataValidator.validate_cell
    monkeypatch.setattr(
        MetadataValidator,
        "validate_cell",
        lambda self, cell: seen.append(cell) or original(self, cell),
    )
    check = cells.CheckMetadata()
    check.preprocess(notebook, {})
    first = len(seen)
    check.preprocess(notebook, {})
    assert len(seen) == first > 0
    wrong = next(cell.copy() for cell in notebook.cells if cell.metadata.get("nbgrader"))
    wrong.metadata = wrong.metadata.copy()
    wrong.metadata["nbgrader"] = {**wrong.metadata["nbgrader"], "points": "many"}
    notebook.cells = [*notebook.cells, wrong]
    with pytest.raises(ValidationError, match="failed to validate"):
        check.preprocess(notebook, {})
