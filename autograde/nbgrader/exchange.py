"""The exchange of a JupyterHub: what students hand in comes from it, their feedback goes back.

`nbgrader submit` writes a secret into the student's own copy and into what is handed in. A hash of
it is the name of the page in the exchange, so that only this student can ask for it.
"""

import os
import pwd
import re
from contextlib import suppress
from glob import glob
from pathlib import Path

from nbgrader.exchange.default import ExchangeCollect, ExchangeReleaseFeedback

from autograde.files import Trap, read_untrusted
from autograde.nbgrader import timestamps
from autograde.submission import MAX_BYTES as NOTEBOOK_BYTES

NAME = "submission_secret.txt"
MAX_BYTES = 256
SECRET = re.compile(rb"[0-9a-f]{32,256}")  # nbgrader 0.9.6 writes 128 digits (exchange/submit.py)


def secret_of(folder: Path) -> bytes | None:
    """The secret in `folder`, STUDENT/CHAPTER at its end; None if there is no usable one.

    A student may have written the file: it must be a regular one with hexadecimal digits alone.
    """
    with suppress(Trap, FileNotFoundError):
        data = read_untrusted(folder.parents[1], Path(*folder.parts[-2:], NAME), MAX_BYTES)
        return data if SECRET.fullmatch(data) else None
    return None


def keep(submitted: Path, graded: Path) -> None:
    """Copy the secret of a submission into the graded folder; nbgrader takes it on from there."""
    secret = secret_of(submitted)
    if secret is not None:
        (graded / NAME).write_bytes(secret)


class Collect(ExchangeCollect):
    """nbgrader's, which follows links and believes a folder's name whose submission it is."""

    def _path_to_record(self, path: str) -> dict:
        record = super()._path_to_record(path)
        owner = owner_of(path)
        if self.check_owner and owner not in (0, os.getuid(), _uid(record["username"])):
            self.log.warning("%s is taken as its owner's, whatever its name says", path)
            record["username"] = _name(owner)
        return record

    def do_copy(self, src: str, dest: str, log: object = None) -> None:
        """Copy the notebook, the time and the secret, if they are plain files; nothing else."""
        source, target = Path(src), Path(dest)
        target.mkdir(parents=True)
        notebook = f"{self.coursedir.assignment_id}.ipynb"
        sizes = {notebook: NOTEBOOK_BYTES, timestamps.NAME: timestamps.MAX_BYTES, NAME: MAX_BYTES}
        for name, most in sizes.items():
            try:
                data = read_untrusted(source.parent, Path(source.name, name), most)
                (target / name).write_bytes(data)
            except Trap as trap:
                self.log.warning("%s: %s is not collected: %s", target.parent.name, name, trap)


def owner_of(path: str) -> int:
    """The number of the account that a path belongs to."""
    return os.stat(path, follow_symlinks=False).st_uid


def _uid(name: str) -> int | None:
    """The number of an account; None if there is none of that name."""
    try:
        return pwd.getpwnam(name).pw_uid
    except KeyError:
        return None


def _name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"unknown-{uid}"


class ReleaseFeedback(ExchangeReleaseFeedback):
    """nbgrader's, which ends with an error at the first student whose files are incomplete."""

    def copy_files(self) -> None:
        """Release the pages of all who handed in through the exchange, and name the others."""
        excluded = self.coursedir.student_id_exclude
        others = [folder for folder in map(Path, glob(self.src_path)) if not _came_here(folder)]
        for folder in others:
            self.log.warning(
                "%s: no feedback is released: what was handed in has no usable %s and %s, so it "
                "did not come through the exchange",
                *(folder.parent.name, timestamps.NAME, NAME),
            )
        names = (excluded, *(folder.parent.name for folder in others))
        self.coursedir.student_id_exclude = ",".join(filter(None, names))
        try:
            super().copy_files()
        finally:  # formgrader uses the same settings again
            self.coursedir.student_id_exclude = excluded


def _came_here(folder: Path) -> bool:
    """Whether a feedback folder has all that nbgrader needs to release its page."""
    return secret_of(folder.absolute()) is not None and (folder / timestamps.NAME).is_file()
