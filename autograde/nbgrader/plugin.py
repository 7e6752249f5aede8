"""Where nbgrader calls the grader: an exporter that takes submissions in, and preprocessors that
grade them, save the marks and fetch them for the feedback page. `nbgrader_config.py` names them.
"""

import re
from pathlib import Path
from typing import Any

from nbconvert.exporters import NotebookExporter
from nbformat import NotebookNode
from nbgrader.preprocessors import (
    GetGrades,
    NbGraderPreprocessor,
    OverwriteCells,
    SaveAutoGrades,
)
from nbgrader.utils import is_grade, is_locked

from autograde.grade import grade
from autograde.nbgrader import exchange, timestamps
from autograde.nbgrader.regions import without_hidden
from autograde.nbgrader.stamps import begin, drop_outdated, graded_folder
from autograde.report.marks import add_marks
from autograde.sandbox import selftest
from autograde.sandbox.isolation import NoIsolation
from autograde.submission import release_of, take_in

# Characters that make markup of a name: formgrader writes names into its pages as they are.
MARKUP = re.compile(r'[<>"\x00-\x1f\x7f]')


class Intake(NotebookExporter):
    """Opens a notebook for nbgrader: `take_in` stands between the file and everything else.

    nbgrader converts twice: the submission, then its own sanitised copy. Only the first is a
    student's file. nbgrader makes one exporter a run, before it looks which folders are there.
    """

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self._leave_out_markup()
        self._name_unseen()
        timestamps.copy_nothing(self.parent)
        for folder in getattr(self.parent, "assignments", ()):
            drop_outdated(Path(self.parent.coursedir.root, folder))

    def _leave_out_markup(self) -> None:
        """Leave out students whose folder's name is markup; with a newline it would stop all."""
        assignments = getattr(self.parent, "assignments", {})
        for folder in [folder for folder in assignments if MARKUP.search(Path(folder).parent.name)]:
            student = Path(folder).parent.name
            self.log.error('%r is left out: rename this folder, without < > " or newline', student)
            del assignments[folder]

    def _name_unseen(self) -> None:
        """Name the students whose folder nbgrader does not see when it is asked for all."""
        course = getattr(self.parent, "coursedir", None)
        if course is not None and course.student_id == "*":
            submitted = Path(course.root, course.submitted_directory)
            for folder in sorted(submitted.glob(f".*/{course.assignment_id}")):
                student = folder.parent.name
                self.log.error("%r is left out: rename this folder, without a dot first", student)

    def from_filename(self, filename: str, resources: Any = None, **kw: Any) -> Any:
        if not getattr(self.parent, "_sanitizing", False):
            return super().from_filename(filename, resources=resources, **kw)
        notebook = self._taken_in(filename, resources["nbgrader"]["assignment"])
        return self.from_notebook_node(notebook, resources=resources, **kw)

    def _taken_in(self, filename: str, chapter: str) -> NotebookNode:
        root = Path(self.parent.coursedir.root, self.parent.coursedir.submitted_directory)
        path = Path(self.parent.coursedir.root, filename).relative_to(root)
        submitted = Path(root, path).absolute().parent
        begin(submitted)
        timestamps.keep(submitted, graded_folder(submitted))
        exchange.keep(submitted, graded_folder(submitted))
        return take_in(root, path, chapter).notebook


class RestoreCells(OverwriteCells):
    """nbgrader's OverwriteCells, which does not warn of each test's text.

    Intake puts in the release's, whose hidden lines are not there yet. Nine lines for each student
    would bury a real warning.
    """

    def report_change(self, name: str, attr: str, old: object, new: object) -> None:
        if attr != "checksum":
            super().report_change(name, attr, old, new)


class Grade(NbGraderPreprocessor):
    """Grades the notebook and writes the marks, in place of nbgrader's own execution.

    Without isolation nothing is graded and no mark is saved, unless `$SPECDEC_ISOLATION` is none.
    """

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        try:
            selftest.require()
        except NoIsolation as error:
            raise RuntimeError(f"could not be graded: {error}") from None
        chapter = resources["nbgrader"]["assignment"]
        refuse_other_points(nb, chapter)
        result = grade(nb, chapter)
        add_marks(nb, chapter, result)
        for cell in nb.cells:
            if is_locked(cell):  # ours: nbgrader has put the hidden lines back in
                cell.source = without_hidden(cell.source)
        return nb, resources


def refuse_other_points(nb: NotebookNode, chapter: str) -> None:
    """Raise RuntimeError if the gradebook's points, which nbgrader has put in, are outdated."""
    released, given = map(_points, (release_of(chapter), nb))
    for name, points in given.items():
        if points != released[name]:
            raise RuntimeError(
                f"{name} has {points:g} points in the gradebook, {released[name]:g} in the "
                f"release: run nbgrader generate_assignment {chapter} --force, and then this again"
            )


def _points(nb: NotebookNode) -> dict[str, float]:
    """What each grade cell is worth."""
    marked = (cell.metadata.nbgrader for cell in nb.cells if is_grade(cell))
    return {cell.grade_id: cell.points for cell in marked}


class SaveMarks(SaveAutoGrades):
    """nbgrader's saving of marks, less any notebook with a grade cell that we have not marked.

    nbgrader would read a missing output as full marks.
    """

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        for cell in nb.cells:
            if cell.cell_type == "code" and is_grade(cell):
                kinds = [output.output_type for output in cell.outputs]
                if kinds != ["display_data", "execute_result"]:
                    raise RuntimeError(f"{cell.id} carries no mark; no score is saved")
        return super().preprocess(nb, resources)


class MarksForPage(GetGrades):
    """Fetches marks and comments for the feedback page, and which answers wait for a person.

    nbgrader gives such an answer the score 0, as if a person had marked it so.
    """

    def _get_score(self, cell: NotebookNode, resources: dict) -> None:
        super()._get_score(cell, resources)
        place = (self.notebook_id, self.assignment_id, self.student_id)
        grade = self.gradebook.find_grade(cell.metadata.nbgrader.grade_id, *place)
        waits = grade.manual_score is None and grade.auto_score is None
        cell.metadata.nbgrader["to_be_marked"] = waits
