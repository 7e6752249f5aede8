"""Grading stamps: a file in each graded folder that says which notebook was graded to the end.

nbgrader takes any graded folder that exists for the submission's. If nbgrader was killed between
its two passes, or another notebook was handed in since, the old mark would stay for good.
"""

import hashlib
from pathlib import Path

from nbgrader.utils import rmtree

from autograde.course import notebook_path
from autograde.intake.submission import InvalidSubmission, read_submitted
from autograde.nbgrader import exchange

STAMP = ".graded"  # nbgrader's later steps leave names with a leading dot alone


def drop_outdated(submitted: Path) -> None:
    """Remove the graded folder of submitted/STUDENT/CHAPTER unless its stamp still fits."""
    graded = _graded_folder(submitted)
    stamp = graded / STAMP
    fits = stamp.is_file() and stamp.read_text() == _fingerprint(submitted)
    if graded.is_dir() and not fits:
        rmtree(str(graded))


def finish(notebooks: list[str], **_: object) -> None:
    """nbgrader's post_convert_hook: these notebooks have been graded to the end."""
    for submitted in {Path(notebook).absolute().parent for notebook in notebooks}:
        graded = _graded_folder(submitted)
        exchange.keep(submitted, graded)
        (graded / STAMP).write_text(_fingerprint(submitted))


def _graded_folder(submitted: Path) -> Path:
    return submitted.parents[2] / "autograded" / submitted.parent.name / submitted.name


def _fingerprint(submitted: Path) -> str:
    """The SHA-256 of the notebook in submitted/STUDENT/CHAPTER, or why there is none."""
    path = notebook_path(Path(submitted.parent.name), submitted.name)
    try:
        return hashlib.sha256(read_submitted(submitted.parents[1], path)).hexdigest()
    except InvalidSubmission as refusal:
        return str(refusal)
