"""`autograde collect`: the zip of submissions that Canvas or Moodle gives, into the class's folder.

Canvas writes  NAME[_LATE]_USER_SUBMISSION_FILE.ipynb, and FILE-1.ipynb for a second attempt; if
students are anonymous  [LATE_]anon_LETTERS_SUBMISSION_FILE.ipynb (its lib/content_zipper.rb).
Moodle writes  FULL NAME_NUMBER_assignsubmission_file_/FILE.ipynb (or all of it in one name).
A student's folder is called after both, NAME-USER: the number tells people of one name apart, and
`autograde export` finds the row of the LMS's table by it.

A submission may hold several notebooks. One that is called after the chapter is graded before any
other, however late the other is. A browser calls a second download FILE (1): it is the newer one.
"""

import itertools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from unicodedata import normalize
from zipfile import ZipFile, ZipInfo

from autograde.chapter import notebook_path
from autograde.files import cut, printable, write_if_changed
from autograde.lms.archives import files_of, open_zip, read, refusal

_FILE = r"(?P<file>[^/]+)\.ipynb\Z"
# Every form of a name; the first that matches counts. What follows the number is the student's own
# name for a file, so the first number counts, but for Moodle's folders: there it is the last.
FORMS = {
    "canvas": [
        rf"(?P<late>LATE_)?(?P<name>anon)_(?!LATE_)(?P<user>[A-Za-z0-9]{{1,20}})"
        rf"_(?P<order>\d{{1,20}})_{_FILE}",
        rf"(?P<name>[^/]+?)_(?P<late>LATE_)?(?P<user>\d{{1,20}})_(?P<order>\d{{1,20}})_{_FILE}",
    ],
    "moodle": [
        r"(?P<name>[^/]+)_(?P<user>\d{1,20})_assignsubmission_file_?/(?P<file>.+)\.ipynb\Z",
        rf"(?P<name>[^/]+?)_(?P<user>\d{{1,20}})_assignsubmission_file_{_FILE}",
    ],
}
# What the LMS writes between a name and a file: somebody whose own name or file holds it is listed.
NUMBERS = {"canvas": re.compile(r"_\d+_\d{4,}(?=_)"), "moodle": re.compile("_assignsubmission_")}
MAX_FOLDER = 200  # bytes of a student's folder; file systems take 255, and some of them fewer
ATTEMPT = re.compile(r"-(\d{1,9})$")  # Canvas: the second attempt is FILE-1, the third FILE-2
DOWNLOAD = re.compile(r" ?\((\d{1,3})\)$")  # a browser: the second download is FILE (1)


@dataclass(frozen=True)
class Attempt:
    """One notebook of one student."""

    student: str  # the name of the folder
    name: str  # of the file, as the student called it, without .ipynb, Canvas's -N and (N)
    order: tuple[int, int, int]  # grows with time
    late: bool
    info: ZipInfo

    @property
    def file(self) -> str:
        """The file's name in the zip."""
        return PurePosixPath(self.info.filename).name


@dataclass
class Collected:
    """What became of a zip: one line a fact, for people to read."""

    students: list[str] = field(default_factory=list)  # with a notebook to grade
    kept_apart: list[str] = field(default_factory=list)
    called_otherwise: list[str] = field(default_factory=list)  # graded, and not under its name
    doubtful: list[str] = field(default_factory=list)  # taken, though the name is unusual
    late: list[str] = field(default_factory=list)
    one_number: list[str] = field(default_factory=list)  # folders that may be one person's
    names: dict[str, str] = field(default_factory=dict)  # in the zip, of what is graded, by student
    refused: list[str] = field(default_factory=list)


def collect(archive: Path, kind: str, chapter: str, submitted: Path, attempts: Path) -> Collected:
    """Put everybody's latest notebook into SUBMITTED/STUDENT/CHAPTER/CHAPTER.ipynb.

    That is the latest of those called after the chapter, or if there is none, of all. The others,
    and a submission that is replaced, are kept in ATTEMPTS/STUDENT/CHAPTER/. `kind` is "canvas" or
    "moodle". The same zip twice changes nothing. A file that cannot be read is refused with a line.
    Raises ValueError if the zip is none, or holds no notebook under a name of that LMS.
    """
    result = Collected()
    with open_zip(archive) as opened:
        files = files_of(opened)
        if not any(_parts(info.filename, kind) for info in files):
            raise ValueError(
                f"{archive}: no notebook in it has a name as {kind} writes them. "
                f"Is it the zip of all submissions, and from {kind}?"
            )
        given = list(_attempts(files, kind, result))
        for student, mine in _by_student(given, chapter).items():
            try:
                _place(opened, mine, chapter, submitted, attempts / student / chapter, result)
            except OSError as error:
                result.refused.append(f"{student}: cannot be written ({error.strerror})")
    result.one_number += _with_one_number(submitted, result.students)
    return result


def name_before_file(path: str, kind: str) -> str:
    """What the LMS wrote before the student's own file name in the zip: whose the file is."""
    return path.removesuffix(f"{_parts(path, kind)['file']}.ipynb")


def _parts(path: str, kind: str) -> dict[str, str] | None:
    """The person's name and number, and the file, in a notebook's path; None if it has no such."""
    found = next(filter(None, (re.match(form, path) for form in FORMS[kind])), None)
    return found and found.groupdict()


def _attempts(files: Iterable[ZipInfo], kind: str, result: Collected) -> Iterator[Attempt]:
    """The notebooks with a name that the LMS gave; the others are refused with a line."""
    for info in files:
        parts, why = _parts(info.filename, kind), refusal(info)
        if why or not parts:
            why = why or "it is no notebook with a name as the LMS writes them"
            result.refused.append(f"{printable(info.filename)}: {why}")
            continue
        attempt = _attempt(parts, kind == "canvas", info)
        if len(NUMBERS[kind].findall(info.filename)) > 1:
            result.doubtful.append(f"{attempt.student}: {info.filename}")
        yield attempt


def _attempt(parts: dict[str, str], canvas: bool, info: ZipInfo) -> Attempt:
    """The attempt with the `parts` of a file's name. Moodle itself adds no -N to a name."""
    again = ATTEMPT.search(parts["file"])
    name = ATTEMPT.sub("", parts["file"]) if canvas else PurePosixPath(parts["file"]).name
    download = DOWNLOAD.search(name)
    numbers = [int(found[1]) if found else 0 for found in (again, download)]
    order = int(parts.get("order") or 0), *numbers
    return Attempt(_student(parts), DOWNLOAD.sub("", name), order, bool(parts.get("late")), info)


def _student(parts: dict[str, str]) -> str:
    """The name of a student's folder; the number at its end stays if the name is too long.

    The name is letters and digits of any script, and hyphens. However an accent is written, as a
    part of its letter or after it, the folder is the same.
    """
    name = re.sub(r"[^\w]+", "-", normalize("NFC", parts["name"])).strip("-_") or "unnamed"
    number = f"-{parts['user']}"
    return cut(name, MAX_FOLDER - len(number)) + number


def _by_student(attempts: Iterable[Attempt], chapter: str) -> dict[str, list[Attempt]]:
    """Everybody's attempts, the one to grade first: after the chapter's name, then the latest."""
    students: dict[str, list[Attempt]] = {}
    first = sorted(attempts, key=lambda each: (each.name == chapter, each.order), reverse=True)
    for attempt in first:
        students.setdefault(attempt.student, []).append(attempt)
    return dict(sorted(students.items()))


def _place(
    archive: ZipFile,
    mine: list[Attempt],
    chapter: str,
    submitted: Path,
    aside: Path,
    result: Collected,
) -> None:
    """Put one student's first readable notebook where it is graded, and the others into `aside`."""
    graded = None
    for attempt in mine:
        try:
            data = read(archive, attempt.info)
        except ValueError as error:
            result.refused.append(str(error))
            continue
        if graded:
            kept = f"{attempt.file}, as {_keep(aside, data)}"
            result.kept_apart.append(f"{attempt.student}: {kept}")
        else:
            graded = attempt
            _grade_this(data, notebook_path(submitted / attempt.student, chapter), aside)
    if graded:
        _tell(graded, chapter, len(mine), result)


def _grade_this(data: bytes, target: Path, aside: Path) -> None:
    """Write what is graded; what it replaces is kept."""
    if target.is_file() and target.read_bytes() != data:
        _keep(aside, target.read_bytes())
    write_if_changed(target, data)


def _tell(graded: Attempt, chapter: str, among: int, result: Collected) -> None:
    """The lines on what is graded of one student."""
    result.students.append(graded.student)
    result.names[graded.student] = graded.info.filename
    if graded.name != chapter:
        line = f"there is no readable {chapter}.ipynb, so {graded.file} is graded"
        result.called_otherwise.append(f"{graded.student}: {line}")
    elif graded.order[-1] and among > 1:
        line = f"{graded.file} is graded, since a browser numbers later downloads"
        result.called_otherwise.append(f"{graded.student}: {line}")
    if graded.late:
        result.late.append(graded.student)


def _keep(folder: Path, content: bytes) -> str:
    """The name under which `content` is kept: attempt-1, or the next that holds nothing else."""
    for number in itertools.count(1):
        file = folder / f"attempt-{number}.ipynb"
        if not file.exists() or file.read_bytes() == content:
            write_if_changed(file, content)
            return file.stem


def _with_one_number(submitted: Path, collected: Iterable[str]) -> Iterator[str]:
    """A line for each number that several folders end with: who has changed names has two."""
    folders: dict[str, list[str]] = {}
    for path in sorted(submitted.iterdir() if submitted.is_dir() else ()):
        folders.setdefault(path.name.rpartition("-")[2], []).append(path.name)
    for number in dict.fromkeys(student.rpartition("-")[2] for student in collected):
        if len(folders[number]) > 1:
            yield " and ".join(folders[number])
