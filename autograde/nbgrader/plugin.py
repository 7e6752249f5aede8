"""Where nbgrader calls the grader: an exporter that takes submissions in, and preprocessors that
grade them, save the marks and fetch them for the feedback page. `nbgrader_config.py` names them.
"""

import copy
import re
from pathlib import Path
from typing import Any

from nbconvert.exporters import NotebookExporter
from nbformat import NotebookNode
from nbgrader.preprocessors import GetGrades, NbGraderPreprocessor

from autograde.grading.grade import grade
from autograde.intake.submission import sanitise
from autograde.nbgrader.stamps import drop_outdated
from autograde.report.marks import add_marks
from autograde.sandbox import selftest
from autograde.sandbox.isolation import NoIsolation

# Characters that make markup of a name: formgrader writes names into its pages as they are.
MARKUP = re.compile(r'[<>"\x00-\x1f\x7f]')


class Intake(NotebookExporter):
    """Opens a notebook for nbgrader: `sanitise` stands between the file and everything else.

    nbgrader converts twice: the submission, then its own rebuilt copy. Only the first is a
    student's file. nbgrader makes one exporter a run, before it looks which folders are there.
    """

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self._leave_out_markup()
        # nbgrader follows links as it copies what lies beside a notebook: here it copies nothing.
        self.parent.coursedir = copy.copy(self.parent.coursedir)  # others use the same one after us
        self.parent.coursedir.ignore = ["*"]
        for folder in self.parent.assignments:
            drop_outdated(Path(self.parent.coursedir.root, folder))

    def _leave_out_markup(self) -> None:
        """Leave out students whose folder's name is markup; with a newline it would stop all."""
        for folder in list(self.parent.assignments):
            student = Path(folder).parent.name
            if MARKUP.search(student):
                line = '%r is left out: rename this folder, without < > " or newline'
                self.log.error(line, student)
                del self.parent.assignments[folder]

    def from_filename(self, filename: str, resources: Any = None, **kw: Any) -> Any:
        if not self.parent._sanitizing:
            return super().from_filename(filename, resources=resources, **kw)
        root = Path(self.parent.coursedir.root, self.parent.coursedir.submitted_directory)
        path = Path(self.parent.coursedir.root, filename).relative_to(root)
        notebook = sanitise(root, path, resources["nbgrader"]["assignment"]).notebook
        return self.from_notebook_node(notebook, resources=resources, **kw)


class Grade(NbGraderPreprocessor):
    """Grades the notebook and writes the marks, in place of nbgrader's own execution.

    Without isolation nothing is graded and no mark is saved, unless `$SPECDEC_ISOLATION` is none.
    """

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        try:
            selftest.require_isolation()
        except NoIsolation as error:
            raise RuntimeError(f"could not be graded: {error}") from None
        chapter = resources["nbgrader"]["assignment"]
        add_marks(nb, grade(nb, chapter))
        return nb, resources


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
