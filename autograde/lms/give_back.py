"""Feedback pages back into the LMS: in a zip, under the names that it gave what was handed in.

Canvas finds whose a file is by the two numbers that its own name for it begins with (or by the
letters after `anon`), and Moodle by the folder's name, so `autograde collect` keeps these names.
Sources: Canvas' app/models/abstract_assignment.rb, infer_comment_context_from_filename; Moodle's
mod/assign/feedback/file/importziplib.php, is_valid_filename_for_import.
"""

import json
from collections.abc import Mapping
from pathlib import Path

from autograde.files import write_if_changed, write_json, zip_of
from autograde.lms.collect import name_before_file


def _kept(course: Path, chapter: str) -> Path:
    return course / "collected" / f"{chapter}.json"


def remember(course: Path, kind: str, chapter: str, names: Mapping[str, str]) -> None:
    """Keep the names in the zip of what is graded, by student; an earlier zip's others stay."""
    path = _kept(course, chapter)
    earlier = json.loads(path.read_text()) if path.is_file() else {}
    write_json(path, earlier | {kind: earlier.get(kind, {}) | dict(names)})


def remembered(course: Path, kind: str, chapter: str) -> dict[str, str]:
    """The names in the LMS's zip, by student. Raises ValueError if none was collected."""
    path = _kept(course, chapter)
    names = json.loads(path.read_text()).get(kind) if path.is_file() else None
    if not names:
        raise ValueError(
            f"{path} has no names of {kind}: `autograde collect ZIP --format {kind} --chapter "
            f"{chapter}` keeps them. The same zip again changes nothing else"
        )
    return names


def write_pages(
    out: Path, course: Path, kind: str, chapter: str, names: Mapping[str, str]
) -> list[str]:
    """Write the zip of everybody's page, whole or not at all; returns those who have none.

    Raises ValueError if nobody has one.
    """
    pages = {s: course / "feedback" / s / chapter / f"{chapter}.html" for s in sorted(names)}
    files = {
        f"{name_before_file(names[student], kind)}{chapter}.html": page.read_bytes()
        for student, page in pages.items()
        if page.is_file()
    }
    if not files:
        raise ValueError(
            f"{course / 'feedback'} has no page of {chapter} for those who were collected. "
            f"`nbgrader generate_feedback {chapter}` writes the pages"
        )
    write_if_changed(out, zip_of(files))
    return [student for student, page in pages.items() if not page.is_file()]
