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
import stat
import zipfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from unicodedata import category, normalize

from autograde.chapter import notebook_path
from autograde.files import cut, printable, write_if_changed
from autograde.submission import MAX_BYTES

MAX_FILES = 20_000
MAX_FOLDER = 200  # bytes of a student's folder; file systems take 255, and some of them fewer
CONTROLS = ("Cc", "Zl", "Zp")  # and no others: many names hold marks that join or part letters

_FILE = r"(?P<file>[^/]+)\.ipynb\Z"
# Every form of a name; the first that matches counts.
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
# What the LMS writes between a name and a file. If it is there twice, a person's or a file's own
# name holds it, and nobody can tell whose the file is.
NUMBERS = {"canvas": re.compile(r"_\d+_\d{4,}(?=_)"), "moodle": re.compile("_assignsubmission_")}
ATTEMPT = re.compile(r"-(\d{1,9})$")  # Canvas: the second attempt is FILE-1, the third FILE-2
DOWNLOAD = re.compile(r" ?\((\d{1,3})\)$")  # a browser: the second download is FILE (1)

# What is said of a zip.
LATE, OTHER_NAME, KEPT = "late", "graded under another file name", "kept apart"
REFUSED = "refused"


@dataclass(frozen=True)
class Attempt:
    """One notebook of one student."""

    student: str  # the name of the folder
    name: str  # of the file, as the student called it, without .ipynb, Canvas's -N and (N)
    order: tuple[int, ...]  # grows with time
    late: bool
    info: zipfile.ZipInfo

    @property
    def file(self) -> str:
        """The file's name in the zip."""
        return PurePosixPath(self.info.filename).name


@dataclass
class Collected:
    """What became of a zip."""

    names: dict[str, str] = field(default_factory=dict)  # in the zip, of what is graded, by student
    said: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))


def collect(archive: Path, kind: str, chapter: str, submitted: Path, attempts: Path) -> Collected:
    """Put everybody's latest notebook into SUBMITTED/STUDENT/CHAPTER/CHAPTER.ipynb.

    That is the latest of those called after the chapter, or if there is none, of all. The others,
    and a submission that is replaced, are kept in ATTEMPTS/STUDENT/CHAPTER/. `kind` is "canvas" or
    "moodle". The same zip twice changes nothing. A file that cannot be read, or whose name does not
    tell whose it is, is refused with a line. Raises ValueError if the zip is none, or holds no
    notebook under a name of that LMS.
    """
    result = Collected()
    with _opened(archive) as opened:
        files = [info for info in opened.infolist() if not info.filename.endswith("/")]
        if len(files) > MAX_FILES:
            raise ValueError(f"{archive}: {len(files)} files; at most {MAX_FILES} are read")
        if not any(_parts(info.filename, kind) for info in files):
            raise ValueError(
                f"{archive}: no notebook in it has a name as {kind} writes them. "
                f"Is it the zip of all submissions, and from {kind}?"
            )
        for student, mine in _by_student(_attempts(files, kind, result), chapter).items():
            try:
                _place(opened, mine, chapter, submitted, attempts / student / chapter, result)
            except OSError as error:
                result.said[REFUSED].append(f"{student}: cannot be written ({error.strerror})")
    return result


def name_before_file(path: str, kind: str) -> str:
    """What the LMS wrote before the student's own file name in the zip: whose the file is."""
    return path.removesuffix(f"{_parts(path, kind)['file']}.ipynb")


def _opened(path: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(path)
    except (zipfile.BadZipFile, NotImplementedError, UnicodeDecodeError):
        raise ValueError(f"{path} is not a zip file; take the one that the LMS gives") from None


def _parts(path: str, kind: str) -> dict[str, str] | None:
    """The person's name and number, and the file, in a notebook's path; None if it has no such."""
    found = next(filter(None, (re.match(form, path) for form in FORMS[kind])), None)
    return found and found.groupdict()


def _attempts(files: Iterable[zipfile.ZipInfo], kind: str, result: Collected) -> Iterator[Attempt]:
    """The notebooks with a name that the LMS gave; the others are refused with a line."""
    for info in files:
        parts, why = _parts(info.filename, kind), _refusal(info)
        if not why and not parts:
            why = "it is no notebook with a name as the LMS writes them"
        if not why and len(NUMBERS[kind].findall(info.filename)) > 1:
            why = "doubtful: check in the LMS who submitted it, and put it there by hand"
        if why:
            result.said[REFUSED].append(f"{printable(info.filename)}: {why}")
        else:
            yield _attempt(parts, kind == "canvas", info)


def _refusal(info: zipfile.ZipInfo) -> str | None:
    """Why a file is not taken out of the zip; None if it is. Nothing of it has been read yet."""
    path = PurePosixPath(info.filename.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or any(":" in part for part in path.parts[:1]):
        return "its name leads out of the folder"
    if any(category(letter) in CONTROLS for letter in info.filename):
        return "its name has control characters"
    if stat.S_IFMT(info.external_attr >> 16) not in (0, stat.S_IFREG):
        return "it is a link or another special file"
    if info.flag_bits & 1:
        return "it is encrypted"
    if info.file_size > MAX_BYTES:
        return f"it would be {info.file_size / 2**20:.0f} MB, over {MAX_BYTES // 2**20} MB"
    return None


def _attempt(parts: dict[str, str], canvas: bool, info: zipfile.ZipInfo) -> Attempt:
    """The attempt with the `parts` of a file's name. Moodle itself adds no -N to a name."""
    again = ATTEMPT.search(parts["file"])
    name = ATTEMPT.sub("", parts["file"]) if canvas else PurePosixPath(parts["file"]).name
    numbers = [int(found[1]) if found else 0 for found in (again, DOWNLOAD.search(name))]
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
    archive: zipfile.ZipFile,
    mine: list[Attempt],
    chapter: str,
    submitted: Path,
    aside: Path,
    result: Collected,
) -> None:
    """Put one student's first readable notebook where it is graded, and the others into `aside`.

    One notebook is in memory at a time.
    """
    for attempt in mine:
        student = attempt.student
        try:
            data = _read(archive, attempt.info)
        except ValueError as error:
            result.said[REFUSED].append(str(error))
            continue
        if student in result.names:
            result.said[KEPT].append(f"{student}: {attempt.file}, as {_keep(aside, data)}")
            continue
        target = notebook_path(submitted / student, chapter)
        if target.is_file() and target.read_bytes() != data:
            _keep(aside, target.read_bytes())
        write_if_changed(target, data)
        result.names[student] = attempt.info.filename
        if attempt.late:
            result.said[LATE].append(student)
        if attempt.name != chapter:
            line = f"there is no readable {chapter}.ipynb, so {attempt.file} is graded"
            result.said[OTHER_NAME].append(f"{student}: {line}")


def _read(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """The file's bytes. Raises ValueError, which names the file, if they cannot be read."""
    try:
        with archive.open(info) as file:
            data = file.read(MAX_BYTES + 1)
    except Exception as error:  # damaged bytes meet zipfile and every decompressor that it calls
        raise ValueError(
            f"{info.filename}: cannot be read ({error}); take the zip from the LMS again"
        ) from None
    if len(data) > info.file_size:
        raise ValueError(f"{info.filename}: it holds more than the zip says")
    return data


def _keep(folder: Path, content: bytes) -> str:
    """The name under which `content` is kept: attempt-1, or the next that holds nothing else."""
    for number in itertools.count(1):
        file = folder / f"attempt-{number}.ipynb"
        if not file.exists() or file.read_bytes() == content:
            write_if_changed(file, content)
            return file.stem
