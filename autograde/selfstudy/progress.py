"""How far one is: every chapter with its points and parts, and what to do next."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from autograde.report.feedback import points, to_read
from autograde.report.sections import Section, sections_of
from autograde.result import Exercise, Result
from autograde.selfstudy.copies import FOLDER, Copy, empty_answers, is_begun, title_of
from autograde.submission import Refused

TEMPLATES = Path(__file__).with_name("templates")
NOT_BEGUN, UNMARKED, CHANGED = "not begun", "not marked yet", "changed since it was marked"
LIMITED, GONE = "a time limit decided", "its notebook is gone"


@dataclass(frozen=True)
class Row:
    """One chapter: what state it is in, "" if its marks are those of what is there.

    `empty` are its written answers in which nothing was written.
    """

    chapter: str
    state: str
    result: Result | None
    empty: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        return title_of(self.chapter)

    @property
    def points(self) -> str:
        """Its points, of how many."""
        if self.result is None:
            return ""
        return f"{points(self.result.score)} of {points(self.result.max_score)}"

    @property
    def parts(self) -> tuple[int, int]:
        """How many parts of its exercises are right, of how many."""
        exercises = self.exercises.values()
        return sum(e.passed for e in exercises), sum(len(e.behaviours) for e in exercises)

    @property
    def exercises(self) -> dict[str, Exercise]:
        return self.result.exercises if self.result else {}

    @property
    def next(self) -> str:
        """The first exercise that is not right, "" if all are."""
        wrong = (n for n, e in self.exercises.items() if e.note or e.passed < len(e.behaviours))
        return next(wrong, "")

    @property
    def written(self) -> str:
        """How many written answers are empty, and how many there are to compare."""
        names = self.result.pending if self.result else []
        empty = sum(name in self.empty for name in names)
        there = len(names) - empty
        counts = [(empty, "to write"), (there, "to compare with the course's")]
        return ", ".join(f"{n} answer{'s' * (n > 1)} {what}" for n, what in counts if n)

    @property
    def again(self) -> list[Section]:
        """The sections to read again, each once."""
        known = sections_of(self.chapter)
        found = (to_read(name, each, known) for name, each in self.exercises.items())
        return list(dict.fromkeys(section for section in found if section))


def row_of(copy: Copy) -> Row:
    """The row of a chapter. A notebook that cannot be read says why in its state."""
    key, result = copy.stored()
    try:
        notebook = copy.read()
    except FileNotFoundError:
        return Row(copy.chapter, GONE if result else NOT_BEGUN, result)
    except (OSError, Refused) as error:
        return Row(copy.chapter, f"cannot be read: {error}", result)
    if result is None:
        return Row(copy.chapter, UNMARKED if is_begun(notebook, copy.chapter) else NOT_BEGUN, None)
    if key != copy.key(notebook):
        return Row(copy.chapter, CHANGED, result, empty_answers(notebook))
    return Row(copy.chapter, LIMITED if result.limited else "", result, empty_answers(notebook))


def table(rows: Iterable[Row]) -> list[str]:
    """The rows as lines for a terminal, in columns."""
    cells = [("chapter", "points", "parts", "")]
    for row in rows:
        right, all_of_them = row.parts
        parts = f"{right} of {all_of_them}" if row.result else ""
        again = "; ".join(section.title for section in row.again)
        notes = [row.state, row.next and f"next: {row.next}", again and f"read again: {again}"]
        notes.append(row.written)
        cells.append((row.chapter, row.points, parts, ". ".join(filter(None, notes))))
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ("  ".join(map(str.ljust, line, widths)) for line in cells)
    return [line.rstrip() for line in lines]


def progress_page(rows: list[Row]) -> str:
    """The page over all chapters, as HTML; its links lead to the pages beside it."""
    folders = [TEMPLATES, TEMPLATES.parents[1] / "report" / "templates" / "feedback_page"]
    jinja = Environment(
        autoescape=True, undefined=StrictUndefined, loader=FileSystemLoader(folders)
    )
    jinja.filters["points"] = points
    marked = [row for row in rows if row.result]
    return jinja.get_template("progress_page.html.j2").render(
        rows=rows,
        marked=marked,
        score=sum(row.result.score for row in marked),
        max_score=sum(row.result.max_score for row in marked),
    )


def write_progress(work: Path, rows: list[Row]) -> Path:
    """Write the page to `work/marks/`; returns its path."""
    path = work / FOLDER / "progress.html"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(progress_page(rows), encoding="utf-8")
    return path
