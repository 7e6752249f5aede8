"""What lies beside a notebook: when it was handed in, and the secret of a hub's exchange.

A student may have written both files, or put a link or a pipe in their place, and nbgrader opens
whatever is there. So here they are read as plain files alone, and one that cannot be used costs
nobody else anything. `nbgrader submit` writes the secret: a hash of it is the name of the feedback
page in the exchange, so that only this student can ask for it.
"""

import copy
import os
import pwd
import re
from contextlib import suppress
from datetime import datetime
from glob import glob
from pathlib import Path

from nbgrader.apps.api import NbGraderAPI
from nbgrader.converters.base import BaseConverter
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange.default import ExchangeCollect, ExchangeReleaseFeedback
from nbgrader.utils import parse_utc

from autograde.files import Trap, read_untrusted
from autograde.submission import MAX_BYTES

TIME, SECRET = "timestamp.txt", "submission_secret.txt"
SMALL = 256  # bytes: nbgrader 0.9.6 writes 128 digits as a secret (exchange/submit.py)
YEARS = range(2000, 2200)  # near the first and the last year, a change of zone leaves the calendar


def time_of(folder: Path) -> datetime | None:
    """The time (UTC) in `folder`, STUDENT/CHAPTER at its end; None if there is none to be used."""
    with suppress(Exception):  # nbgrader's parser meets whatever a student's file holds
        time = parse_utc(_plain(folder, TIME).decode().strip())
        return time if time.year in YEARS else None
    return None


def secret_of(folder: Path) -> bytes | None:
    """The secret in `folder`; None if there is no usable one: hexadecimal digits alone."""
    with suppress(Trap, FileNotFoundError):
        data = _plain(folder, SECRET)
        return data if re.fullmatch(rb"[0-9a-f]{32,}", data) else None
    return None


def _plain(folder: Path, name: str, most: int = SMALL) -> bytes:
    return read_untrusted(folder.parents[1], Path(*folder.parts[-2:], name), most)


def keep(submitted: Path, graded: Path) -> None:
    """Copy a submission's time and secret into the graded folder; nbgrader takes them on."""
    for name, usable in {TIME: time_of(submitted), SECRET: secret_of(submitted)}.items():
        if usable:
            (graded / name).write_bytes(_plain(submitted, name))


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
    """Replaces nbgrader's method: the log says whose time is not used."""
    folder = Path(dest_path).absolute()
    time = time_of(folder)
    if time is None and os.path.lexists(folder / TIME):
        self.log.warning(
            "%s, %s: %s is no plain file with a time, so it is graded without one. Write a time "
            "such as 2026-01-31 12:00:00 UTC into it, or remove it.",
            *(folder.parent.name, folder.name, TIME),
        )
    return time


def _submitted(self: NbGraderAPI, assignment_id: str, student_id: str) -> datetime | None:
    """Replaces the method that formgrader's pages call again and again: logs nothing."""
    step = self.coursedir.submitted_directory
    return time_of(Path(self.coursedir.format_path(step, student_id, assignment_id)).absolute())


class Collect(ExchangeCollect):
    """nbgrader's, which follows links and believes a folder's name whose submission it is."""

    def _path_to_record(self, path: str) -> dict:
        record, owner = super()._path_to_record(path), owner_of(path)
        if self.check_owner and owner is not None and owner != record["username"]:
            self.log.warning("%s is taken as its owner's, whatever its name says", path)
            record["username"] = owner
        return record

    def do_copy(self, src: str, dest: str, log: object = None) -> None:
        """Copy the notebook, the time and the secret, if they are plain files; nothing else."""
        target = Path(dest)
        target.mkdir(parents=True)
        notebook = f"{self.coursedir.assignment_id}.ipynb"
        for name, most in {notebook: MAX_BYTES, TIME: SMALL, SECRET: SMALL}.items():
            try:
                (target / name).write_bytes(_plain(Path(src), name, most))
            except Trap as trap:
                self.log.warning("%s: %s is not collected: %s", target.parent.name, name, trap)


def owner_of(path: str) -> str | None:
    """The account that a student's folder belongs to; None for root's and our own."""
    number = os.stat(path, follow_symlinks=False).st_uid
    if number in (0, os.getuid()):
        return None
    with suppress(KeyError):
        return pwd.getpwuid(number).pw_name
    return f"unknown-{number}"


class ReleaseFeedback(ExchangeReleaseFeedback):
    """nbgrader's, which ends with an error at the first student whose files are incomplete."""

    def copy_files(self) -> None:
        """Release the pages of all who handed in through the exchange, and name the others."""
        excluded = self.coursedir.student_id_exclude
        folders = [Path(folder) for folder in glob(self.src_path)]
        others = [f.parent.name for f in folders if not {TIME, SECRET} <= set(os.listdir(f))]
        for name in others:
            line = "%s: no feedback is released: it was not handed in through the exchange"
            self.log.warning(line, name)
        self.coursedir.student_id_exclude = ",".join(filter(None, (excluded, *others)))
        try:
            super().copy_files()
        finally:  # formgrader uses the same settings again
            self.coursedir.student_id_exclude = excluded
