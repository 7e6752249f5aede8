"""Stubs: the code in a student's notebook in place of the solution."""

from nbformat.notebooknode import NotebookNode
from nbgrader.preprocessors import ClearSolutions
from nbgrader.utils import is_grade

from autograde.course import AuthorError, current_course
from autograde.nbgrader.regions import HIDDEN_TESTS, code_lines, split_at_region


def require_built(notebook: NotebookNode, place: str) -> None:
    """Raise AuthorError if a source notebook has graded code that the builder did not make.

    nbgrader would run the tests in such a cell; the grader here runs those of
    the course's folder of hidden tests and no others, so nobody's answer would be graded.
    """
    code = [cell for cell in notebook.cells if cell.cell_type == "code" and is_grade(cell)]
    foreign = [c.metadata.nbgrader.grade_id for c in code if HIDDEN_TESTS not in c.source]
    if foreign:
        raise AuthorError(
            f"{place}: its tests stand in its own cells ({', '.join(foreign)}), where this grader "
            "does not run them. Move the notebook's text to solutions/NN_topic.py and its tests to "
            f"{current_course().hidden_tests}/test_NN_topic.py, delete the notebook, and run: "
            "autograde build"
        )


class Stubs(ClearSolutions):
    """nbgrader's ClearSolutions, with a stub that has the exercise's name and our answer's length.

    Written answers keep nbgrader's own "YOUR ANSWER HERE". A notebook that the builder did not
    make is refused here, at the start of `nbgrader generate_assignment`.
    """

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        require_built(nb, resources["nbgrader"]["notebook"])
        return super().preprocess(nb, resources)

    def _replace_solution_region(self, cell: NotebookNode, language: str) -> bool:
        if cell.cell_type == "code" and "nbgrader" in cell.metadata:
            name: str = cell.metadata.nbgrader.get("grade_id", "")
            self.code_stub = {**self.code_stub, language: stub(name, cell.source)}
        return super()._replace_solution_region(cell, language)


def stub(name: str, source: str) -> str:
    """The lines that replace the solution region in `source`, without indentation."""
    if name.startswith("quiz_"):
        return f'{name} = ""  # a, b, c or d'
    if name.startswith("prediction_"):
        return f"{name} = None  # your guess, before you look"
    n = len(code_lines(split_at_region(source)[1]))
    length = "1 line" if n == 1 else f"{n} lines"
    return f'# Your code: about {length}.\nraise NotImplementedError("{name}: not written yet")'
