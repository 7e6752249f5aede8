"""Grading stamps: a file in each graded folder that says which notebook was graded to the end.

nbgrader takes any graded folder that exists for the submission's. If nbgrader was killed between
its two passes, or another notebook was handed in since, the old mark would stay for good.
"""

import hashlib
from pathlib import Path

from nbgrader.utils import rmtree

from autograde.chapter import notebook_path
from autograde.submission import Refused, read_submitted

# nbgrader's later steps leave names with a leading dot alone.
STAMP = ".graded"
BEGUN = ".begun"


def graded_folder(submitted: Path) -> Path:
    """Where nbgrader puts the graded copy of submitted/STUDENT/CHAPTER: autograded, beside it."""
    return submitted.parents[2] / "autograded" / submitted.parent.name / submitted.name


def drop_outdated(submitted: Path) -> None:
    """Remove the graded folder of submitted/STUDENT/CHAPTER unless its stamp still fits."""
    graded = graded_folder(submitted)
    stamped = graded / STAMP
    if stamped.is_file() and stamped.read_text() == fingerprint(submitted):
        return
    if graded.is_dir():
        rmtree(str(graded))


def begin(submitted: Path) -> None:
    """Note what lies in submitted/STUDENT/CHAPTER, before it is read to be graded.

    A notebook that is put there later has another fingerprint and is graded in the next run.
    """
    graded = graded_folder(submitted)
    graded.mkdir(parents=True, exist_ok=True)
    (graded / BEGUN).write_text(fingerprint(submitted))


def stamp(notebooks: list[str], **_: object) -> None:
    """nbgrader's post_convert_hook: these notebooks have been graded to the end."""
    for submitted in {Path(notebook).absolute().parent for notebook in notebooks}:
        graded = graded_folder(submitted)
        (graded / BEGUN).replace(graded / STAMP)


def fingerprint(submitted: Path) -> str:
    """The SHA-256 of the notebook in submitted/STUDENT/CHAPTER, or why there is none."""
    path = notebook_path(Path(submitted.parent.name), submitted.name)
    try:
        return hashlib.sha256(read_submitted(submitted.parents[1], path)).hexdigest()
    except Refused as refusal:
        return str(refusal)
