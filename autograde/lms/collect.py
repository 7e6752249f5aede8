"""`autograde collect`: the zip of submissions that Canvas or Moodle gives, into the class's folder.

Canvas writes  NAME[_LATE]_USER_UPLOAD_FILE.ipynb, and FILE-1.ipynb for a second attempt; graded
anonymously, [LATE_]anon_CODE_UPLOAD_FILE.ipynb (its lib/content_zipper.rb; it leaves no _NUMBER_ in
a name).
Moodle writes  FULL NAME_NUMBER_assignsubmission_file_/FILE.ipynb (or all of it in one name).
A student's folder is called NAME-USER: the number tells people of one name apart, and `autograde
export` finds the row of the LMS's table by it. Whose an anonymous folder, anon_CODE, is only Canvas
knows. A file with another name is listed and not taken.
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

LONGEST = 150  # bytes of a name in a folder's; file systems take 255, and some of them fewer
FORMS = {
    # A code is five letters and digits (Canvas' lib/anonymity.rb). A chapter's own number is never
    # that of an upload, which does not begin with 0.
    "canvas": r"(?:(?P<late_code>LATE_)?(?P<code>anon_[A-Za-z0-9]{5})"
    r"|(?P<name>[^/]+?)_(?P<late>LATE_)?(?P<user>\d{1,20}))"
    r"_(?!CHAPTER)(?P<order>[1-9]\d{0,19})_(?P<file>[^/]+)\.ipynb",
    # If a person's own name has that in it too, nobody can tell whose the file is.
    "moodle": r"(?!(.*_assignsubmission_){2})(?P<name>[^/]+?)_(?P<user>\d{1,20})"
    r"_assignsubmission_file(_?/|_)(?P<file>.+)\.ipynb",
}
AGAIN = r"(-\d+)?( ?\(\d+\))?"  # Canvas's second attempt is FILE-1, a second download FILE (1)


@dataclass(frozen=True)
class Attempt:
    """One notebook of one student."""

    student: str  # the name of the folder
    before: str  # what the LMS wrote before the file's own name
    file: str  # that name, without .ipynb
    order: int  # grows with time
    late: bool
    info: zipfile.ZipInfo


@dataclass
class Collected:
    """What became of a zip."""

    names: dict[str, str] = field(default_factory=dict)  # by student, up to the file's own name
    late: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)


def collect(archive: Path, kind: str, chapter: str, submitted: Path) -> Collected:
    """Put everybody's latest notebook into SUBMITTED/STUDENT/CHAPTER/CHAPTER.ipynb.

    That is the latest of those called after the chapter, or if there is none, of all. The others
    stay in the zip. `kind` is "canvas" or "moodle". The same zip twice changes nothing. Raises
    UsageError if the zip is none, or holds no notebook under a name of that LMS.
    """
    result = Collected()
    try:
        with zipfile.ZipFile(archive) as opened:
            form = re.compile(FORMS[kind].replace("CHAPTER", re.escape(chapter)), re.DOTALL)
            attempts = list(_attempts(opened.infolist(), form, result))
            if not attempts:
                raise UsageError(f"{archive}: no notebook in it has a name that {kind} gives")
            for student, mine in _by_student(attempts, chapter).items():
                target = notebook_path(submitted / student, chapter)
                write_if_changed(target, _read(opened, mine[0]))
                result.names[student] = mine[0].before
                if mine[0].late:
                    result.late.append(student)
    except (zipfile.BadZipFile, zlib.error) as error:
        raise UsageError(
            f"{archive} is not a whole zip file ({error}): download it again"
        ) from None
    return result


def _attempts(
    files: Iterable[zipfile.ZipInfo], form: re.Pattern, result: Collected
) -> Iterator[Attempt]:
    """The notebooks with a name of this form; the others are refused with a line."""
    for info in files:
        found = form.fullmatch(info.filename)
        if found and info.file_size <= MAX_BYTES:
            yield _attempt(found, info)
        elif not info.is_dir():
            why = f"over {MAX_BYTES // 2**20} MB" if found else "no notebook with a name of the LMS"
            result.refused.append(f"{printable(info.filename)}: {why}")


def _attempt(found: re.Match, info: zipfile.ZipInfo) -> Attempt:
    parts = found.groupdict()
    before = info.filename[: found.start("file")]
    late = bool(parts.get("late") or parts.get("late_code"))
    return Attempt(_folder(parts), before, parts["file"], int(parts.get("order") or 0), late, info)


def _folder(parts: dict[str, str]) -> str:
    """The name of a student's folder: letters and digits of any script, hyphens, the number."""
    if parts.get("code"):
        return parts["code"]  # no hyphen: its end is not the number of a row
    name = re.sub(r"\W+", "-", parts["name"]).strip("-_") or "unnamed"
    short = name.encode()[:LONGEST].decode(errors="ignore")
    return f"{short}-{parts['user']}"


def _by_student(attempts: Iterable[Attempt], chapter: str) -> dict[str, list[Attempt]]:
    """Everybody's attempts, the one to grade first: after the chapter's name, then the latest."""

    def rank(each: Attempt) -> tuple:
        return _is_after(chapter, each.file), each.order, each.file

    students: dict[str, list[Attempt]] = {}
    for attempt in sorted(attempts, key=rank, reverse=True):
        students.setdefault(attempt.student, []).append(attempt)
    return dict(sorted(students.items()))


def _is_after(chapter: str, file: str) -> bool:
    return re.fullmatch(re.escape(chapter) + AGAIN, file.rpartition("/")[2]) is not None


def _read(archive: zipfile.ZipFile, attempt: Attempt) -> bytes:
    with archive.open(attempt.info) as file:
        return file.read(MAX_BYTES)  # no more is unpacked, whatever the zip says
