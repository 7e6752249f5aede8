"""Receipts: what was handed in and what it was given, as hashes that anybody can compute again.

A receipt shows whether a file and a result are those that it was made for. It is not a signature:
who wrote it, it does not show.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from autograde.chapter import chapter_names
from autograde.files import printable, write_json
from autograde.grade import grade_submission
from autograde.grading import cache
from autograde.pool import Task
from autograde.submission import Submission, is_answer, take_in

VERSION = 1
OWN_CELLS = "the student's own cells"


def make_receipt(submission: Submission, chapter: str, result: Mapping | None) -> dict:
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


def _of_result(result: Mapping) -> dict:
    marks = {name: result[name] for name in ("score", "max_score", "pending", "exercises")}
    scores = {name: exercise["score"] for name, exercise in result["exercises"].items()}
    return {"hash": sha256(marks), "score": result["score"], "by_exercise": scores}


def sha256(data: Any) -> str:
    """The SHA-256 of data as JSON in its one canonical form."""
    text = json.dumps(data, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def of_file(path: Path, chapter: str | None = None, grade_now: bool = False) -> dict:
    """The receipt of a notebook file, with its result where it has been graded.

    `chapter` is the file's name where it is None. With `grade_now`, it is graded where it has not
    been. Raises ValueError where there is no such chapter, FileNotFoundError where no such file.
    """
    chapter = chapter or path.stem
    if chapter not in chapter_names():
        raise ValueError(f"{path.name} is not named after a chapter; say which with --chapter")
    if not os.path.lexists(path):
        raise FileNotFoundError(f"there is no file {path}")
    submission = take_in(path.parent, Path(path.name), chapter)
    result = cache.load(cache.key(submission.notebook, chapter))
    if result is None and grade_now:
        result = grade_submission(submission, chapter)
    return make_receipt(submission, chapter, result.to_json() if result else None)


def verify(receipt: Path, submission: Path, chapter: str | None = None) -> list[str]:
    """What differs between a receipt and a submission, which is graded again if need be."""
    known = read_receipt(receipt.read_bytes().decode("utf-8", "replace"), str(receipt))
    if chapter is None and submission.stem not in chapter_names():
        chapter = known["chapter"]
    now = of_file(submission, chapter, grade_now=known["result"] is not None)
    return list(differences(known, now))


def write_receipts(folder: Path, submitted: Path, grades: Mapping[str, Mapping]) -> None:
    """Write folder/STUDENT/CHAPTER.json for every graded submission below `submitted`."""
    for student, results in grades.items():
        for chapter, result in results.items():
            submission = Task(submitted, student, chapter).take_in()
            receipt = make_receipt(submission, chapter, result)
            write_json(folder / student / f"{chapter}.json", receipt)


def receipt_markdown(receipt: Mapping) -> str:
    """The receipt's two hashes, for the feedback page."""
    result = receipt["result"]["hash"] if receipt["result"] else "not graded"
    return f"Receipt, SHA-256 of your answers: `{receipt['answers']}`, of the result: `{result}`"


def read_receipt(text: str, name: str) -> dict:
    """The receipt in a file's `text`. Raises ValueError, with its `name`, where it is none."""
    try:
        receipt = json.loads(text)
        version = receipt["receipt"]
    except (ValueError, RecursionError, KeyError, TypeError):
        raise ValueError(f"{name} is not a receipt; `autograde receipt` writes them") from None
    if version != VERSION:
        raise ValueError(f"{name} is a receipt of version {version!r:.20}, not {VERSION}")
    wrong = _wrong_parts(receipt)
    if wrong:
        raise ValueError(
            f"{name} is not a receipt as `autograde receipt` writes it: missing or of another "
            f"type: {', '.join(wrong)}"
        )
    return receipt


def _wrong_parts(receipt: Mapping) -> list[str]:
    """The parts that a receipt lacks, or has of another type than `make_receipt` writes."""
    reason, result = (receipt.get(part, 0) for part in ("unreadable", "result"))
    right = {
        "chapter": _is_text(receipt.get("chapter")),
        "unreadable": reason is None or _is_text(reason),
        "answers": _is_text(receipt.get("answers")),
        "by_answer": _is_table(receipt.get("by_answer"), _is_text),
        "result": result is None or _is_result(result),
    }
    return [name for name, good in right.items() if not good]


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_points(value: object) -> bool:
    """Whether it is a number as marks are; JSON also holds some that no format can show."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e6


def _is_table(value: object, is_right: Callable[[object], bool]) -> bool:
    return isinstance(value, dict) and all(map(is_right, value.values()))


def _is_result(value: object) -> bool:
    return (
        isinstance(value, dict)
        and _is_text(value.get("hash"))
        and _is_points(value.get("score"))
        and _is_table(value.get("by_exercise"), _is_points)
    )


def differences(receipt: Mapping, now: Mapping) -> Iterator[str]:
    """What differs between a receipt and one that was made `now`, in words.

    Every part is compared, not only the two hashes: who changed one part may have left the others.
    """
    if receipt["chapter"] != now["chapter"]:
        chapter = printable(receipt["chapter"])
        yield f"the receipt is for {chapter}, the submission is {now['chapter']}"
        return
    if receipt["answers"] != sha256(receipt["by_answer"]):
        yield "the receipt was changed: its hash 'answers' is not that of its 'by_answer'"
    if (receipt["unreadable"] is None) != (now["unreadable"] is None):
        then, today = ("cannot" if r["unreadable"] else "can" for r in (receipt, now))
        yield f"the receipt says that the submission {then} be read, and it {today}"
    yield from _unequal("the answer differs", receipt["by_answer"], now["by_answer"])
    if receipt["result"] is not None and now["result"] is not None:
        yield from _unequal_results(receipt["result"], now["result"])


def _unequal_results(then: Mapping, now: Mapping) -> Iterator[str]:
    if (then["hash"], then["score"]) != (now["hash"], now["score"]):
        yield f"the result differs: {then['score']:g} points then, {now['score']:g} now"
    yield from _unequal("points differ", then["by_exercise"], now["by_exercise"])


def _unequal(what: str, then: Mapping, now: Mapping) -> Iterator[str]:
    for name in sorted({*then, *now}):
        values = [side.get(name) for side in (then, now)]
        if values[0] != values[1]:
            marks = all(map(_is_points, values))
            told = f", {values[0]:g} then, {values[1]:g} now" if marks else ""
            yield f"{printable(name)}: {what}{told}"
