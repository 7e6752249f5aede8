"""`autograde collect`: the zip of submissions that Canvas or Moodle gives, into the class's folder.

Canvas writes  NAME[_LATE]_USER_SUBMISSION_FILE.ipynb, and FILE-1.ipynb for a second attempt;
Moodle writes  FULL NAME_NUMBER_assignsubmission_file_/FILE.ipynb (or all of it in one name).
A student's folder is called after both, NAME-USER: the number tells people of one name apart, and
`autograde export` finds the row of the LMS's table by it.
"""

import re
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from autograde.files import write_if_changed
from autograde.lms.archives import Handed, files_of, open_zip, read
from autograde.reports.table import printable

CANVAS = re.compile(
    r"(?P<name>[^_/]+)_(?P<late>LATE_)?(?P<user>\d+)_(?P<order>\d+)_(?P<file>[^/]+)\.ipynb"
)
MOODLE = re.compile(r"(?P<name>[^/]+)_(?P<user>\d+)_assignsubmission_file_?[/_](?P<file>.+)\.ipynb")
FORMATS = {"canvas": CANVAS, "moodle": MOODLE}
ATTEMPT = re.compile(r"-(\d+)$")  # Canvas: the file's second attempt is FILE-1, its third FILE-2


@dataclass(frozen=True)
class Attempt:
    """One notebook of one student."""

    student: str  # the name of the folder
    order: tuple[int, int]  # grows with time
    late: bool
    handed: Handed


@dataclass
class Collected:
    """What became of a zip: one line a fact, for people to read."""

    taken: list[str] = field(default_factory=list)
    kept_apart: list[str] = field(default_factory=list)
    late: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)


def collect(archive: Path, kind: str, chapter: str, submitted: Path, attempts: Path) -> Collected:
    """Put everybody's latest notebook into SUBMITTED/STUDENT/CHAPTER/CHAPTER.ipynb.

    Other attempts, and a submission that is replaced, are kept in ATTEMPTS/STUDENT/CHAPTER/. `kind`
    is "canvas" or "moodle". The same zip twice changes nothing. Raises ValueError where the file is
    no zip, or holds no notebook under a name of that LMS.
    """
    result = Collected()
    with open_zip(archive) as opened:
        found = list(_attempts(files_of(opened), FORMATS[kind], result))
        if not found:
            raise ValueError(
                f"{archive}: no notebook in it has a name as {kind} writes them. "
                f"Is it the zip of all submissions, and from {kind}?"
            )
        for student, mine in _by_student(found).items():
            notebooks = [(each, read(opened, each.handed)) for each in mine]
            _place(student, chapter, notebooks, submitted, attempts, result)
    return result


def _attempts(files: Iterable[Handed], names: re.Pattern, result: Collected) -> Iterator[Attempt]:
    """The notebooks with a name that the LMS gave; the others are refused with a line."""
    for handed in files:
        match = names.fullmatch(handed.name)
        if handed.refused or match is None:
            why = handed.refused or "it is no notebook with a name as the LMS writes them"
            result.refused.append(f"{printable(handed.name)}: {why}")
            continue
        parts = match.groupdict()
        again = ATTEMPT.search(parts["file"])
        order = (int(parts.get("order") or 0), int(again[1]) if again else 0)
        student = f"{_folder_name(parts['name'])}-{parts['user']}"
        yield Attempt(student, order, bool(parts.get("late")), handed)


def _by_student(found: Iterable[Attempt]) -> dict[str, list[Attempt]]:
    """Everybody's attempts, the latest last."""
    students: dict[str, list[Attempt]] = {}
    for attempt in sorted(found, key=lambda each: (each.student, each.order)):
        students.setdefault(attempt.student, []).append(attempt)
    return students


def _place(
    student: str,
    chapter: str,
    notebooks: list[tuple[Attempt, bytes]],
    submitted: Path,
    attempts: Path,
    result: Collected,
) -> None:
    """The latest to where it is graded, what it replaces and the others to where they are kept."""
    kept = attempts / student / chapter
    *earlier, (latest, data) = notebooks
    target = submitted / student / chapter / f"{chapter}.ipynb"
    if target.is_file() and target.read_bytes() not in [content for _, content in notebooks]:
        number = len(list(kept.glob("replaced-*.ipynb"))) + 1
        kept.mkdir(parents=True, exist_ok=True)
        shutil.copy2(target, kept / f"replaced-{number}.ipynb")
        result.kept_apart.append(f"{student}: what was there before, as replaced-{number}")
    for number, (_, content) in enumerate(earlier, 1):
        write_if_changed(kept / f"attempt-{number}.ipynb", content)
        result.kept_apart.append(f"{student}: attempt {number}")
    write_if_changed(target, data)
    result.taken.append(student)
    if latest.late:
        result.late.append(student)


def _folder_name(name: str) -> str:
    """A person's name as the name of a folder: letters and digits of any script, and hyphens."""
    return re.sub(r"[^\w]+", "-", name).strip("-_") or "unnamed"
