"""What lies beside a notebook: when it was handed in, and the secret of a hub's exchange.

A student may have written both files, or put a link or a pipe in their place, and nbgrader opens
whatever is there. So here they are read as plain files alone. `nbgrader submit` writes the secret:
a hash of it is the name of the feedback page in the exchange, so that only this student can ask
for it.
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

TIME, SECRET = "timestamp.txt", "submission_secret.txt"
SMALL = 256  # bytes: nbgrader 0.9.6 writes 128 digits as a secret (exchange/submit.py)
YEARS = range(2000, 2200)  # near the first and the last year, a change of zone leaves the calendar


def time_of(folder: Path) -> datetime | None:
    """The time (UTC) in `folder`, STUDENT/CHAPTER at its end; None if there is none to be used."""
    with suppress(Exception):  # nbgrader's parser meets whatever a student's file holds
        time = parse_utc(_read(folder, TIME).decode().strip())
        return time if time.year in YEARS else None
    return None


def secret_of(folder: Path) -> str:
    """The secret in `folder`; if there is no usable one, a new one, which nobody knows."""
    with suppress(UnsafePath, UnicodeDecodeError):
        return _read(folder, SECRET).decode("ascii")
    return secrets.token_hex(64)


def _read(folder: Path, name: str, most: int = SMALL) -> bytes:
    return read_untrusted(folder.parents[1], Path(*folder.parts[-2:], name), most)


def keep(submitted: Path, graded: Path) -> None:
    """Write a time and a secret beside the graded notebook: nbgrader takes them on.

    Releasing feedback ends with an error at the first student without these files.
    """
    time = time_of(submitted)
    (graded / TIME).write_text(f"{time} UTC" if time else "")
    (graded / SECRET).write_text(secret_of(submitted))


def guard() -> None:
    """Have nbgrader and formgrader read times as `time_of` does. It has no setting for that."""
    CourseDirectory.get_existing_timestamp = _existing
    NbGraderAPI.get_submitted_timestamp = _submitted


def _existing(_: CourseDirectory, dest_path: str) -> datetime | None:
    return time_of(Path(dest_path).absolute())


def _submitted(self: NbGraderAPI, assignment_id: str, student_id: str) -> datetime | None:
    step = self.coursedir.submitted_directory
    return time_of(Path(self.coursedir.format_path(step, student_id, assignment_id)).absolute())


class Collect(ExchangeCollect):
    """nbgrader's, which follows links and believes a folder's name whose submission it is."""

    def _path_to_record(self, path: str) -> dict:
        try:
            record = super()._path_to_record(path)
        except Exception:  # a name with no time in it would end the run
            record = {"username": "unknown", "filename": Path(path).name, "timestamp": datetime.min}
        owner = owner_of(path) if self.check_owner else None
        return record | {"username": owner or record["username"]}

    def do_copy(self, src: str, dest: str, log: object = None) -> None:
        """Copy the notebook, the time and the secret, if they are plain files; nothing else."""
        target = Path(dest)
        target.mkdir(parents=True)
        notebook = f"{self.coursedir.assignment_id}.ipynb"
        for name, most in {notebook: MAX_BYTES, TIME: SMALL, SECRET: SMALL}.items():
            try:
                (target / name).write_bytes(_read(Path(src), name, most))
            except UnsafePath as unsafe:
                self.log.warning("%s: %s is not collected: %s", target.parent.name, name, unsafe)


def owner_of(path: str) -> str | None:
    """The account that a student's folder belongs to; None for root's and our own."""
    number = os.stat(path, follow_symlinks=False).st_uid
    if number in (0, os.getuid()):
        return None
    with suppress(KeyError):
        return pwd.getpwuid(number).pw_name
    return f"unknown-{number}"
