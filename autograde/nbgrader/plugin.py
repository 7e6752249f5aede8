"""nbgrader's plugins: an exporter that sanitises submissions, and preprocessors that grade them
and read the marks for the feedback page. `nbgrader_config.py` names them.
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

# Characters that make a name into markup: formgrader writes names into its pages unescaped.
_MARKUP = re.compile(r'[<>"\x00-\x1f\x7f]')


class Intake(NotebookExporter):
    """Opens a notebook for nbgrader, sanitised.

    nbgrader converts twice: the submission, then its own rebuilt copy. Only the first is a
    student's file. nbgrader makes one exporter per run, before it lists the graded folders.
    """

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self._exclude_markup_names()
        # nbgrader follows links when it copies the files beside a notebook: here it copies nothing.
        self.parent.coursedir = copy.copy(self.parent.coursedir)  # others share the original
        self.parent.coursedir.ignore = ["*"]
        for folder in self.parent.assignments:
            drop_outdated(Path(self.parent.coursedir.root, folder))

    def _exclude_markup_names(self) -> None:
        """Exclude students whose folder's name is markup; a newline in it would stop the run."""
        for folder in list(self.parent.assignments):
            student = Path(folder).parent.name
            if _MARKUP.search(student):
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

    Without isolation it grades nothing and saves no mark, unless `$SPECDEC_ISOLATION` is none.
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
    """Reads marks and comments for the feedback page, and marks answers that are ungraded.

    nbgrader gives an ungraded answer the score 0, as if a person had marked it so.
    """

    def _get_score(self, cell: NotebookNode, resources: dict) -> None:
        super()._get_score(cell, resources)
        ids = (self.notebook_id, self.assignment_id, self.student_id)
        grade = self.gradebook.find_grade(cell.metadata.nbgrader.grade_id, *ids)
        ungraded = grade.manual_score is None and grade.auto_score is None
        cell.metadata.nbgrader["to_be_marked"] = ungraded
