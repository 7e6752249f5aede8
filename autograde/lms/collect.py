"""`autograde collect`: the zip of submissions that Canvas or Moodle gives, into the class's folder.

Canvas writes  NAME[_LATE]_USER_SUBMISSION_FILE.ipynb, and FILE-1.ipynb for a second attempt; if
students are anonymous  [LATE_]anon_LETTERS_SUBMISSION_FILE.ipynb (its lib/content_zipper.rb).
Moodle writes  FULL NAME_NUMBER_assignsubmission_file_/FILE.ipynb (or all of it in one name).
A student's folder is called after both, NAME-USER: the number tells people of one name apart, and
`autograde export` finds the row of the LMS's table by it.

Names of people and of files are the students' own. One that holds what the LMS writes between them
could be read as somebody else's too, so it is refused.

A submission may hold several notebooks. One that is called after the chapter is graded before any
other, however late the other is. A browser calls a second download FILE (1): it is the newer one.
"""

import itertools
import re
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from unicodedata import normalize
from zipfile import ZipFile, ZipInfo

from autograde.chapter import notebook_path
from autograde.files import cut, printable, write_if_changed
from autograde.lms.archives import files_of, open_zip, read, refusal

NUMBER = r"(?:0|[1-9]\d{0,19})"  # as the LMS writes it: the 02 that a chapter begins with is none
# What each LMS writes between a person's name and the file's.
BETWEEN = {
    "canvas": re.compile(rf"(?<!_LATE)_(?P<late>LATE_)?(?P<user>{NUMBER})_(?P<order>{NUMBER})_"),
    "moodle": re.compile(rf"_(?P<user>{NUMBER})_assignsubmission_file(?:_|$)"),
}
# The letters are Canvas's own; a late submission of somebody who is called Anon has none.
ANONYMOUS = re.compile(
    rf"(?P<late>LATE_)?anon_(?!LATE_)(?P<user>[A-Za-z0-9]{{1,20}})_(?P<order>{NUMBER})_"
)
MAX_FOLDER = 200  # bytes of a student's folder; file systems take 255, and some of them fewer
ATTEMPT = re.compile(r"-(\d{1,9})$")  # Canvas: the second attempt is FILE-1, the third FILE-2
DOWNLOAD = re.compile(r" ?\((\d{1,3})\)$")  # a browser: the second download is FILE (1)


@dataclass(frozen=True)
class Attempt:
    """One notebook of one student."""

    student: str  # the name of the folder
    called: str  # the same if names had no end
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
    late: list[str] = field(default_factory=list)
    shortened: list[str] = field(default_factory=list)  # folders whose name would be too long
    one_number: list[str] = field(default_factory=list)  # folders that may be one person's
    names: dict[str, str] = field(default_factory=dict)  # in the zip, of what is graded, by student
    refused: list[str] = field(default_factory=list)


def collect(archive: Path, kind: str, chapter: str, submitted: Path, attempts: Path) -> Collected:
    """Put everybody's latest notebook into SUBMITTED/STUDENT/CHAPTER/CHAPTER.ipynb.

    That is the latest of those called after the chapter, or if there is none, of all. The others,
    and a submission that is replaced, are kept in ATTEMPTS/STUDENT/CHAPTER/. `kind` is "canvas" or
    "moodle". The same zip twice changes nothing. A file that cannot be read, or whose name could be
    several people's, is refused with a line. Raises ValueError if the zip is none, or holds no
    notebook under a name of that LMS.
    """
    result = Collected()
    with open_zip(archive) as opened:
        files = files_of(opened)
        if not any(_readings(info.filename, kind, chapter) for info in files):
            raise ValueError(
                f"{archive}: no notebook in it has a name as {kind} writes them. "
                f"Is it the zip of all submissions, and from {kind}?"
            )
        given = list(_attempts(files, kind, chapter, result))
        for student, mine in _by_student(given, chapter).items():
            notebooks = list(_readable(opened, mine, result))
            try:
                if notebooks:
                    _place(student, chapter, notebooks, submitted, attempts, result)
            except OSError as error:
                result.refused.append(f"{student}: cannot be written ({error.strerror})")
    result.one_number += _with_one_number(submitted, result.students)
    return result


def _with_one_number(submitted: Path, collected: Iterable[str]) -> Iterator[str]:
    """A line for each number that several folders end with: who has changed names has two."""
    folders: dict[str, list[str]] = {}
    for path in sorted(submitted.iterdir() if submitted.is_dir() else ()):
        folders.setdefault(path.name.rpartition("-")[2], []).append(path.name)
    for number in dict.fromkeys(student.rpartition("-")[2] for student in collected):
        if len(folders[number]) > 1:
            yield " and ".join(folders[number])


def _attempts(
    files: Iterable[ZipInfo], kind: str, chapter: str, result: Collected
) -> Iterator[Attempt]:
    """The notebooks with a name that the LMS gave; the others are refused with a line."""
    for info in files:
        readings, why = _readings(info.filename, kind, chapter), refusal(info)
        if len(readings) == 1 and not why:
            yield _attempt(readings[0], kind == "canvas", info)
        else:
            why = why or (_whose(readings, chapter) if readings else _NO_NAME)
            result.refused.append(f"{printable(info.filename)}: {why}")


_NO_NAME = "it is no notebook with a name as the LMS writes them"


def _whose(readings: list[dict[str, str]], chapter: str) -> str:
    """Who the file may be of, and how the person who looked it up goes on by hand."""
    people = " or ".join(f"{each['name']}, number {each['user']}" for each in readings)
    places = " or ".join(
        str(notebook_path(Path("course", "submitted", _student(each)), chapter))
        for each in readings
    )
    return (
        f"its name can be read as that of {printable(people)}. Look in the LMS whose it is, and "
        f"put the file there by hand, as {places}. It is then graded like the others; give its "
        "feedback page back by hand too"
    )


def _readings(path: str, kind: str, chapter: str) -> list[dict[str, str]]:
    """Every way to read a notebook's path in the zip: a person's name and number, and the file.

    Moodle writes a folder for each student, whose name is then read without the file's.
    """
    folder, slash, file = path.partition("/")
    if not path.endswith(".ipynb") or (slash and kind == "canvas"):
        return []
    readings = _anonymous(path) if kind == "canvas" else []
    # One may begin with the character that ends another.
    for start in [match.start() for match in re.finditer("_", folder)]:
        found = BETWEEN[kind].match(folder, start)
        name, rest = folder[:start], folder[found.end() :] if found else ""
        if name and found and (slash or rest != ".ipynb"):
            readings.append(found.groupdict() | {"name": name, "file": file if slash else rest})
    once = {(each["user"], each.get("order"), each["file"]): each for each in reversed(readings)}
    return [each for each in reversed(once.values()) if not _splits(each, chapter)]


def name_before_file(path: str, kind: str, chapter: str) -> str:
    """What the LMS wrote before the student's own file name in the zip: whose the file is."""
    (reading,) = _readings(path, kind, chapter)
    return path.removesuffix(reading["file"])


def _anonymous(path: str) -> list[dict[str, str]]:
    """A name read as one that Canvas gives the file of an anonymous student, if it can be."""
    found = ANONYMOUS.match(path)
    rest = path[found.end() :] if found else ".ipynb"
    return [found.groupdict() | {"name": "anon", "file": rest}] if rest != ".ipynb" else []


def _splits(reading: dict[str, str], chapter: str) -> bool:
    """Whether a reading takes the number that the chapter's own name begins with for Canvas's."""
    name = reading["file"].removesuffix(".ipynb")
    return ATTEMPT.sub("", f"{reading.get('order')}_{name}") == chapter


def _attempt(parts: dict[str, str], canvas: bool, info: ZipInfo) -> Attempt:
    """The attempt with the `parts` of a file's name. Moodle itself adds no -N to a name."""
    name = PurePosixPath(parts["file"]).name.removesuffix(".ipynb")
    again = ATTEMPT.search(name)
    name = ATTEMPT.sub("", name) if canvas else name
    download = DOWNLOAD.search(name)
    numbers = [int(found[1]) if found else 0 for found in (again, download)]
    called = f"{_folder_name(parts['name'])}-{parts['user']}"
    order, name = (int(parts.get("order") or 0), *numbers), DOWNLOAD.sub("", name)
    return Attempt(_student(parts), called, name, order, bool(parts.get("late")), info)


def _student(parts: dict[str, str]) -> str:
    """The name of a student's folder; the number at its end stays if the name is too long."""
    number = f"-{parts['user']}"
    return cut(_folder_name(parts["name"]), MAX_FOLDER - len(number)) + number


def _by_student(attempts: Iterable[Attempt], chapter: str) -> dict[str, list[Attempt]]:
    """Everybody's attempts, the one to grade last: after the chapter's name, by time."""
    students: dict[str, list[Attempt]] = {}
    for attempt in sorted(attempts, key=lambda each: (each.name == chapter, each.order)):
        students.setdefault(attempt.student, []).append(attempt)
    return dict(sorted(students.items()))


def _readable(
    archive: ZipFile, mine: Iterable[Attempt], result: Collected
) -> Iterator[tuple[Attempt, bytes]]:
    """The attempts with their bytes; one that is damaged is refused with a line."""
    for attempt in mine:
        try:
            yield attempt, read(archive, attempt.info)
        except ValueError as error:
            result.refused.append(str(error))


def _place(
    student: str,
    chapter: str,
    notebooks: list[tuple[Attempt, bytes]],
    submitted: Path,
    attempts: Path,
    result: Collected,
) -> None:
    """Put the last where it is graded, what it replaces and the others where they are kept."""
    target = notebook_path(submitted / student, chapter)
    aside = _put_aside(notebooks, target, attempts / student / chapter)
    result.kept_apart += [f"{student}: {what}, as {file.stem}" for what, file in aside]
    latest, data = notebooks[-1]
    write_if_changed(target, data)
    result.students.append(student)
    result.names[student] = latest.info.filename
    if latest.called != student:
        result.shortened.append(f"{student}: the name in the zip is {latest.called}")
    if latest.name != chapter:
        line = f"there is no readable {chapter}.ipynb, so {latest.file} is graded"
        result.called_otherwise.append(f"{student}: {line}")
    elif latest.order[-1] and len(notebooks) > 1:
        line = f"{latest.file} is graded, since a browser numbers later downloads"
        result.called_otherwise.append(f"{student}: {line}")
    if latest.late:
        result.late.append(student)


def _put_aside(
    notebooks: list[tuple[Attempt, bytes]], target: Path, folder: Path
) -> list[tuple[str, Path]]:
    """Keep in `folder` what `target` held and all notebooks but the last; returns what is where."""
    aside = []
    if target.is_file() and target.read_bytes() not in [content for _, content in notebooks]:
        copy = _keep(folder, "replaced", target.read_bytes())
        shutil.copystat(target, copy)
        aside.append(("what was there before", copy))
    for attempt, content in notebooks[:-1]:
        aside.append((attempt.file, _keep(folder, "attempt", content)))
    return aside


def _keep(folder: Path, kind: str, content: bytes) -> Path:
    """Where `content` is kept: KIND-1.ipynb, or the next number that holds nothing else."""
    for number in itertools.count(1):
        file = folder / f"{kind}-{number}.ipynb"
        if not file.exists() or file.read_bytes() == content:
            write_if_changed(file, content)
            return file


def _folder_name(name: str) -> str:
    """A person's name as the name of a folder: letters and digits of any script, and hyphens.

    However an accent is written, as a part of its letter or after it, the folder is the same.
    """
    return re.sub(r"[^\w]+", "-", normalize("NFC", name)).strip("-_") or "unnamed"
