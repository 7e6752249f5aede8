"""The files beside a notebook: the time of submission, and the secret of a hub's exchange.

A student may have written both files, or replaced them by a link or a pipe, and nbgrader opens
anything. So here only regular files are read. `nbgrader submit` writes the secret: its hash is the
name of the feedback page in the exchange, so that only this student can fetch it.
"""

import os
import pwd
import secrets
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from nbgrader.apps.api import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange.default import ExchangeCollect
from nbgrader.utils import parse_utc

from autograde.intake.files import UnsafePath, read_untrusted
from autograde.intake.submission import MAX_BYTES

TIME = "timestamp.txt"
SECRET = "submission_secret.txt"
MAX_FILE_BYTES = 256  # nbgrader 0.9.6 writes 128 digits as a secret (exchange/submit.py)
YEARS = range(2000, 2200)  # far from datetime.min and datetime.max, where time zones overflow


def time_of(folder: Path) -> datetime | None:
    """The time (UTC) in `folder`, which ends in STUDENT/CHAPTER; None if there is no valid one."""
    with suppress(Exception):  # a student's file may break nbgrader's parser in any way
        time = parse_utc(_read(folder, TIME).decode().strip())
        return time if time.year in YEARS else None
    return None


def secret_of(folder: Path) -> str:
    """The secret in `folder`; if there is no valid one, a new one, which nobody knows."""
    with suppress(UnsafePath, UnicodeDecodeError):
        return _read(folder, SECRET).decode("ascii")
    return secrets.token_hex(64)


def _read(folder: Path, name: str, max_bytes: int = MAX_FILE_BYTES) -> bytes:
    return read_untrusted(folder.parents[1], Path(*folder.parts[-2:], name), max_bytes)


def write_submission_files(submitted: Path, graded: Path) -> None:
    """Write the time and the secret beside the graded notebook, for nbgrader.

    Without these files of any one student, releasing feedback fails.
    """
    time = time_of(submitted)
    (graded / TIME).write_text(f"{time} UTC" if time else "")
    (graded / SECRET).write_text(secret_of(submitted))


def patch_timestamps() -> None:
    """Make nbgrader and formgrader read times by `time_of`. They have no setting for it."""
    CourseDirectory.get_existing_timestamp = _existing_timestamp
    NbGraderAPI.get_submitted_timestamp = _submitted_timestamp


def _existing_timestamp(_: CourseDirectory, dest_path: str) -> datetime | None:
    return time_of(Path(dest_path).absolute())


def _submitted_timestamp(self: NbGraderAPI, assignment_id: str, student_id: str) -> datetime | None:
    step = self.coursedir.submitted_directory
    return time_of(Path(self.coursedir.format_path(step, student_id, assignment_id)).absolute())


class Collect(ExchangeCollect):
    """nbgrader's collector, which follows links and trusts the student's name in a folder's."""

    def _path_to_record(self, path: str) -> dict:
        try:
            record = super()._path_to_record(path)
        except Exception:  # a name with no time in it would end the run
            record = {"username": "unknown", "filename": Path(path).name, "timestamp": datetime.min}
        owner = owner_of(path) if self.check_owner else None
        return record | {"username": owner or record["username"]}

    def do_copy(self, src: str, dest: str, log: object = None) -> None:
        """Copy the notebook, the time and the secret, if they are regular files; nothing else."""
        target = Path(dest)
        target.mkdir(parents=True)
        notebook = f"{self.coursedir.assignment_id}.ipynb"
        limits = {notebook: MAX_BYTES, TIME: MAX_FILE_BYTES, SECRET: MAX_FILE_BYTES}
        for name, max_bytes in limits.items():
            try:
                (target / name).write_bytes(_read(Path(src), name, max_bytes))
            except UnsafePath as error:
                self.log.warning("%s: %s is not collected: %s", target.parent.name, name, error)


def owner_of(path: str) -> str | None:
    """The account that owns a student's folder; None for root and for our own account."""
    number = os.stat(path, follow_symlinks=False).st_uid
    if number in (0, os.getuid()):
        return None
    with suppress(KeyError):
        return pwd.getpwuid(number).pw_name
    return f"unknown-{number}"
