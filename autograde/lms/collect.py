"""`autograde collect`: extract a zip of submissions of Canvas or Moodle into the class's folder.

Canvas writes  NAME[_LATE]_USER_UPLOAD_FILE.ipynb, and FILE-1.ipynb for a second attempt; graded
anonymously, [LATE_]anon_CODE_UPLOAD_FILE.ipynb (its lib/content_zipper.rb; it leaves no _NUMBER_ in
a name).
Moodle writes  FULL NAME_NUMBER_assignsubmission_file_/FILE.ipynb (or all of it in one name).
A student's folder is called NAME-USER: the number distinguishes people of one name, and `autograde
export` finds the row of the LMS's table by it. Only Canvas knows who is behind an anonymous folder,
anon_CODE. Files with other names are skipped and listed.
"""

import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from autograde.course import UsageError, notebook_path
from autograde.intake.files import printable, write_if_changed
from autograde.intake.submission import MAX_BYTES

MAX_NAME_BYTES = 150  # of a person's name in a folder's; file systems allow 255, some of them fewer
_FILE_NAMES = {
    # A code is five letters and digits (Canvas' lib/anonymity.rb). A chapter's own number is never
    # that of an upload, which does not begin with 0.
    "canvas": r"(?:(?P<late_code>LATE_)?(?P<code>anon_[A-Za-z0-9]{5})"
    r"|(?P<name>[^/]+?)_(?P<late>LATE_)?(?P<user>\d{1,20}))"
    r"_(?!CHAPTER)(?P<order>[1-9]\d{0,19})_(?P<file>[^/]+)\.ipynb",
    # If a person's own name contains that too, the student of the file is ambiguous.
    "moodle": r"(?!(.*_assignsubmission_){2})(?P<name>[^/]+?)_(?P<user>\d{1,20})"
    r"_assignsubmission_file(_?/|_)(?P<file>.+)\.ipynb",
}
_COPY_SUFFIX = (
    r"(-\d+)?( ?\(\d+\))?"  # Canvas's second attempt is FILE-1, a second download FILE (1)
)


@dataclass(frozen=True)
class Attempt:
    """One notebook of one student."""

    student: str  # the name of the folder
    prefix: str  # of the LMS, before the file's own name
    file: str  # the file's own name, without .ipynb
    order: int  # grows with time
    late: bool
    info: zipfile.ZipInfo


@dataclass
class Collection:
    """The students of a zip, those who were late, and the files that were refused."""

    prefixes: dict[str, str] = field(default_factory=dict)  # of the LMS's file names, by student
    late: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)


def collect_submissions(archive: Path, lms: str, chapter: str, submitted: Path) -> Collection:
    """Extract every student's latest notebook to SUBMITTED/STUDENT/CHAPTER/CHAPTER.ipynb.

    That is the latest one with the chapter's name, or if there is none, the latest of all. `lms` is
    "canvas" or "moodle". Raises UsageError if the zip is broken or has no notebook of that LMS.
    """
    result = Collection()
    try:
        with zipfile.ZipFile(archive) as opened:
            pattern = _FILE_NAMES[lms].replace("CHAPTER", re.escape(chapter))
            attempts = list(_attempts(opened.infolist(), re.compile(pattern, re.DOTALL), result))
            if not attempts:
                files = ", ".join(result.refused[:5]) or "no file"
                raise UsageError(
                    f"{archive}: no notebook in it has a name that {lms} gives. Download all "
                    f"submissions of the assignment from {lms}. In it: {files}"
                )
            for student, (latest, *_) in _by_student(attempts, chapter).items():
                target = notebook_path(submitted / student, chapter)
                write_if_changed(target, _read(opened, latest))
                result.prefixes[student] = latest.prefix
                if latest.late:
                    result.late.append(student)
    except (zipfile.BadZipFile, zlib.error) as error:
        raise UsageError(
            f"{archive} is not a whole zip file ({error}): download it again"
        ) from None
    return result


def _attempts(
    files: Iterable[zipfile.ZipInfo], pattern: re.Pattern, result: Collection
) -> Iterator[Attempt]:
    """The notebooks whose names match the pattern; the others are added to `result.refused`."""
    for info in files:
        match = pattern.fullmatch(info.filename)
        if match and info.file_size <= MAX_BYTES:
            yield _attempt(match, info)
        elif not info.is_dir():
            limit = f"over {MAX_BYTES // 2**20} MB"
            reason = limit if match else "no notebook with a name of the LMS"
            result.refused.append(f"{printable(info.filename)}: {reason}")


def _attempt(match: re.Match, info: zipfile.ZipInfo) -> Attempt:
    parts = match.groupdict()
    prefix = info.filename[: match.start("file")]
    late = bool(parts.get("late") or parts.get("late_code"))
    return Attempt(_folder(parts), prefix, parts["file"], int(parts.get("order") or 0), late, info)


def _folder(parts: dict[str, str]) -> str:
    """The name of a student's folder: letters and digits of any script, hyphens, the number."""
    if parts.get("code"):
        return parts["code"]  # no hyphen: its end is not the number of a row
    name = re.sub(r"\W+", "-", parts["name"]).strip("-_") or "unnamed"
    short = name.encode()[:MAX_NAME_BYTES].decode(errors="ignore")
    return f"{short}-{parts['user']}"


def _by_student(attempts: Iterable[Attempt], chapter: str) -> dict[str, list[Attempt]]:
    """Every student's attempts, the one to grade first: by the chapter's name, then the time."""

    def priority(attempt: Attempt) -> tuple[bool, int, str]:
        return _is_named_after(chapter, attempt.file), attempt.order, attempt.file

    students: dict[str, list[Attempt]] = {}
    for attempt in sorted(attempts, key=priority, reverse=True):
        students.setdefault(attempt.student, []).append(attempt)
    return dict(sorted(students.items()))


def _is_named_after(chapter: str, file: str) -> bool:
    return re.fullmatch(re.escape(chapter) + _COPY_SUFFIX, file.rpartition("/")[2]) is not None


def _read(archive: zipfile.ZipFile, attempt: Attempt) -> bytes:
    with archive.open(attempt.info) as file:
        return file.read(MAX_BYTES)  # whatever size the zip declares
