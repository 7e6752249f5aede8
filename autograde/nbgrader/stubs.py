"""Stubs: what stands in a student's notebook in place of the solution."""

from nbformat.notebooknode import NotebookNode
from nbgrader.preprocessors import ClearSolutions

from autograde.nbgrader.regions import code_lines, split_at_region


class Stubs(ClearSolutions):
    """nbgrader's ClearSolutions, with a stub that names the exercise and how long ours is.

    Written answers keep nbgrader's own "YOUR ANSWER HERE".
    """

    def _replace_solution_region(self, cell: NotebookNode, language: str) -> bool:
        if cell.cell_type == "code" and "nbgrader" in cell.metadata:
            name: str = cell.metadata.nbgrader.get("grade_id", "")
            self.code_stub = {**self.code_stub, language: stub(name, cell.source)}
        return super()._replace_solution_region(cell, language)


def stub(name: str, source: str) -> str:
    """The lines that take the place of the solution region in `source`, without indentation."""
    if name.startswith("quiz_"):
        return f'{name} = ""  # a, b, c or d'
    if name.startswith("prediction_"):
        return f"{name} = None  # your guess, before you look"
    n = len(code_lines(split_at_region(source)[1]))
    length = "1 line" if n == 1 else f"{n} lines"
    return f'# Your code: about {length}.\nraise NotImplementedError("{name}: not written yet")'
