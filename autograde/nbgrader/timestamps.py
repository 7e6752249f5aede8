"""When a submission was handed in: its `timestamp.txt`, which a student may have written.

nbgrader opens and copies that file whatever it is. A link to a device fills memory and disk. A
text that is no time ends the grading of that student and the page that formgrader makes of all.
"""

import copy
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from nbgrader.apps.api import NbGraderAPI
from nbgrader.converters.base import BaseConverter
from nbgrader.coursedir import CourseDirectory
from nbgrader.utils import parse_utc

from autograde.files import Trap, read_untrusted

NAME = "timestamp.txt"
MAX_BYTES = 200
YEARS = range(2000, 2200)  # near the first and the last year, a change of zone leaves the calendar


class Unusable(ValueError):
    """A timestamp.txt that gives no time; the text says whose, why, and what to do."""

    def __init__(self, folder: Path, why: str) -> None:
        super().__init__(
            f"{folder.parent.name}, {folder.name}: {why}, so it is graded without a time of "
            f"submission. Write a time such as 2026-01-31 12:00:00 UTC into {NAME}, or remove it."
        )


def time_of(folder: Path) -> datetime | None:
    """The time (UTC) that `folder`, STUDENT/CHAPTER at its end, holds; None without a file.

    Raises Unusable.
    """
    data = _data_of(folder)
    return None if data is None else _parsed(folder, data)


def keep(submitted: Path, graded: Path) -> None:
    """Copy the time of a submission into the graded folder, if it has a time."""
    with suppress(Unusable):
        data = _data_of(submitted)
        if data is not None and _parsed(submitted, data):
            (graded / NAME).write_bytes(data)


def copy_nothing(converter: BaseConverter | None) -> None:
    """Keep nbgrader from copying any file that lies beside a notebook, in this run of it.

    nbgrader follows links as it copies, and a student can give a link any name.
    """
    if converter is not None:
        converter.coursedir = copy.copy(converter.coursedir)  # others use the same one after us
        converter.coursedir.ignore = ["*"]


def guard() -> None:
    """Have nbgrader and formgrader read times as `time_of` does. It has no setting for that."""
    CourseDirectory.get_existing_timestamp = _existing
    NbGraderAPI.get_submitted_timestamp = _submitted


def _existing(self: CourseDirectory, dest_path: str) -> datetime | None:
    """Replaces nbgrader's method: the log says whose time is not used, and why."""
    try:
        return time_of(Path(dest_path).absolute())
    except Unusable as reason:
        self.log.warning("%s", reason)
        return None


def _submitted(self: NbGraderAPI, assignment_id: str, student_id: str) -> datetime | None:
    """Replaces the method that formgrader's pages call again and again: logs nothing."""
    step = self.coursedir.submitted_directory
    with suppress(Unusable):
        return time_of(Path(self.coursedir.format_path(step, student_id, assignment_id)).absolute())
    return None


def _data_of(folder: Path) -> bytes | None:
    """The bytes of the file; None if there is no file. Raises Unusable."""
    try:
        return read_untrusted(folder.parents[1], Path(*folder.parts[-2:], NAME), MAX_BYTES)
    except FileNotFoundError:  # no folder of submissions at all
        return None
    except Trap as trap:
        if trap.kind == "missing":
            return None
        why = f"{NAME} has more than {MAX_BYTES} bytes" if trap.kind == "large" else str(trap)
        raise Unusable(folder, why) from None


def _parsed(folder: Path, data: bytes) -> datetime:
    """The time in `data`, as nbgrader reads it. Raises Unusable."""
    with suppress(Exception):  # its parser meets whatever a student's file holds
        time = parse_utc(data.decode().strip())
        if time.year in YEARS:
            return time
    raise Unusable(folder, f"{NAME} holds no time, but {data[:40].decode(errors='replace')!r}")
