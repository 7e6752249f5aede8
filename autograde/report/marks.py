"""Write marks and feedback as outputs of a notebook's cells, for nbgrader and the pages."""

from typing import Any

import nbformat
from nbformat import NotebookNode

from autograde.grading.result import Result
from autograde.report.feedback import exercise_html, summary_markdown
from autograde.report.folding import SUMMARY_ID


def add_marks(nb: NotebookNode, result: Result) -> None:
    """Write a result into the rebuilt notebook: a summary as its first cell, and all outputs."""
    for cell in nb.cells:
        nbgrader = cell.metadata.get("nbgrader", {})
        if cell.cell_type == "code" and nbgrader.get("grade"):
            cell.outputs = mark_outputs(result, nbgrader["grade_id"].removeprefix("test_"))
        elif cell.cell_type == "code":
            cell.outputs = _transcript(result.cells.get(cell.id, {}))
    nb.cells.insert(0, nbformat.v4.new_markdown_cell(summary_markdown(result), id=SUMMARY_ID))


def mark_outputs(result: Result, name: str) -> list[NotebookNode]:
    """The feedback on an exercise, and then its mark: the one output that nbgrader reads.

    nbgrader reads nan, None, a NumPy number and a missing output as full marks, so the mark is
    exactly one execute_result with a plain finite float between 0 and the cell's points.
    """
    exercise = result.exercises[name]
    score = float(exercise.score)
    if not 0.0 <= score <= exercise.max_score:
        raise ValueError(f"{name}: the mark {score} is not within 0 and {exercise.max_score}")
    html = {"text/html": exercise_html(exercise)}
    mark = {"text/plain": repr(score)}
    return [
        _output("display_data", data=html, metadata={}),
        _output("execute_result", data=mark, metadata={}, execution_count=1),
    ]


def _output(kind: str, **fields: Any) -> NotebookNode:
    """An output, not validated: the whole notebook is validated later."""
    return nbformat.from_dict({"output_type": kind, **fields})


def _transcript(report: dict) -> list[NotebookNode]:
    """The output of a student's cell, and the error that it raised."""
    outputs = []
    if report.get("printed"):
        outputs.append(_output("stream", name="stdout", text=report["printed"]))
    if error := report.get("error"):
        where = f" ({error['where']})" if error["where"] else ""
        text = f"{error['name']}{where}: {error['text']}"
        fields = {"ename": error["name"], "evalue": error["text"], "traceback": [text]}
        outputs.append(_output("error", **fields))
    return outputs
