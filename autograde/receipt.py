"""Receipts: what was handed in and what it was given, as hashes that anybody can compute again.

A receipt shows whether a file and a result are the ones that it was made for. It is not a
signature: it does not show who wrote it.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from autograde import cache
from autograde.chapter import chapter_names, notebook_path
from autograde.files import write_json
from autograde.result import Grades, ResultJson
from autograde.submission import Submission, is_answer, take_in

VERSION = 1
OWN_CELLS = "the student's own cells"


def make_receipt(submission: Submission, chapter: str, result: ResultJson | None) -> dict:
    """The receipt of a submission as intake took it in, and of its `result` as JSON, if any."""
    answers = answer_hashes(submission.notebook)
    return {
        "receipt": VERSION,
        "chapter": chapter,
        "unreadable": submission.reason,
        "answers": sha256(answers),
        "by_answer": answers,
        "result": None if result is None else _of_result(result),
    }


def answer_hashes(notebook: NotebookNode) -> dict[str, str]:
    """The hash of every answer by its exercise, and one of all cells that the student added.

    Outputs, the chapter's text and the grade cells do not count.
    """
    answers = {c.metadata.nbgrader.grade_id: c.source for c in notebook.cells if is_answer(c)}
    own = [[c.cell_type, c.source] for c in notebook.cells if c.id.startswith("extra-")]
    return {name: sha256(text) for name, text in [*answers.items(), (OWN_CELLS, own)]}


def _of_result(result: ResultJson) -> dict:
    parts = ("score", "max_score", "pending", "exercises", "limited")
    marks = {name: result[name] for name in parts if name in result}
    scores = {name: exercise["score"] for name, exercise in result["exercises"].items()}
    limited = {"limited": True} if result.get("limited") else {}
    return {"hash": sha256(marks), "score": result["score"], "by_exercise": scores} | limited


def sha256(data: Any) -> str:
    """The SHA-256 of data as JSON in its one canonical form."""
    text = json.dumps(data, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def of_file(path: Path, chapter: str | None = None) -> dict:
    """The receipt of a notebook file, with its result if it has been graded.

    `chapter` is the file's name if it is None. Raises ValueError if there is no such chapter,
    FileNotFoundError if there is no such file.
    """
    chapter = chapter or path.stem
    if chapter not in chapter_names():
        raise ValueError(f"{path.name} is not named after a chapter; say which with --chapter")
    if not os.path.lexists(path):
        raise FileNotFoundError(f"there is no file {path}")
    submission = take_in(path.parent, Path(path.name), chapter)
    result = cache.load(cache.key(submission.notebook, chapter))
    return make_receipt(submission, chapter, result.to_json() if result else None)


def write_receipts(folder: Path, submitted: Path, grades: Grades) -> None:
    """Write folder/STUDENT/CHAPTER.json for every graded submission below `submitted`."""
    for student, results in grades.items():
        for chapter, result in results.items():
            submission = take_in(submitted, notebook_path(Path(student), chapter), chapter)
            receipt = make_receipt(submission, chapter, result)
            write_json(folder / student / f"{chapter}.json", receipt)


def receipt_markdown(receipt: Mapping) -> str:
    """The receipt's two hashes, for the feedback page."""
    result = receipt["result"]["hash"] if receipt["result"] else "not graded"
    return f"Receipt, SHA-256 of your answers: `{receipt['answers']}`, of the result: `{result}`"
