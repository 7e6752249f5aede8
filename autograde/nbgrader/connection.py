"""One connection to nbgrader's gradebook for a whole run of `nbgrader autograde`.

nbgrader opens its gradebook nine times for each submission, and asks for every cell by itself. Each
time the tables are examined and the queries compiled anew: that was half the time of its pass.
"""

from collections.abc import Iterable, Mapping
from types import SimpleNamespace
from typing import Any

from alembic.config import Config
from alembic.script import ScriptDirectory
from nbgrader import api, dbutil
from nbgrader.api import (
    BaseCell,
    Comment,
    Grade,
    Gradebook,
    GradeCell,
    MissingEntry,
    SourceCell,
    TaskCell,
)
from nbgrader.converters import autograde as converter
from nbgrader.preprocessors import latesubmissions, overwritekernelspec

# The modules that open it under this name, in the midst of other work.
USERS = (converter, latesubmissions, overwritekernelspec)


class OpenGradebook(Gradebook):
    """A gradebook that stays connected. Closing it ends the session, and so every lock."""

    def close(self) -> None:
        self.db.remove()

    def disconnect(self) -> None:
        """Close it as nbgrader does."""
        super().close()


_open: dict[tuple[str, str], OpenGradebook] = {}
_sources: dict[tuple[str, ...], "Rows"] = {}


def opened(url: str, course_id: str = "default_course", authenticator: None = None) -> Gradebook:
    """The gradebook at `url`, which stays connected until `disconnect`."""
    if (url, course_id) not in _open:
        _open[url, course_id] = OpenGradebook(url, course_id, authenticator)
    return _open[url, course_id]


def disconnect() -> None:
    """Forget all that was opened: until the next run somebody may put another file there."""
    _sources.clear()
    while _open:
        _open.popitem()[1].disconnect()


def share() -> None:
    """Have nbgrader itself use `opened` and `newest_revision`. It has no setting for that."""
    for module in USERS:
        module.Gradebook = opened
    api.get_alembic_version = newest_revision


def newest_revision() -> str:
    """The newest revision of nbgrader's tables, which a new gradebook is marked with.

    nbgrader asks a process `alembic` for it, which takes 3 seconds and must be on the PATH.
    """
    config = Config()
    config.set_main_option("script_location", dbutil.ALEMBIC_DIR)
    return ScriptDirectory.from_config(config).get_current_head()


class Rows:
    """Some rows of a gradebook by their cell's name, for code that asks a gradebook for each."""

    def __init__(self, **kinds: Iterable[tuple[str, Any]]) -> None:
        self._kinds = {kind: dict(rows) for kind, rows in kinds.items()}
        self.db = SimpleNamespace(commit=lambda: None)  # left to whoever has read the rows

    def _find(self, kind: str, name: str) -> Any:
        if name not in self._kinds[kind]:
            raise MissingEntry(f"no such {kind}: {name}")
        return self._kinds[kind][name]

    def find_source_cell(self, name: str, *_: str) -> SourceCell:
        return self._find("source", name)

    def find_graded_cell(self, name: str, *_: str) -> GradeCell | TaskCell:
        return self._find("graded", name)

    def find_grade(self, name: str, *_: str) -> Grade:
        return self._find("grade", name)

    def find_comment(self, name: str, *_: str) -> Comment:
        return self._find("comment", name)


def source_rows(place: Mapping[str, str]) -> Rows:
    """The instructor's cells of the notebook at `place`, read once a run."""
    names = (place["db_url"], place["notebook"], place["assignment"])
    if names not in _sources:
        with opened(place["db_url"]) as gradebook:
            notebook = gradebook.find_notebook(*names[1:])
            cells = {
                kind: gradebook.db.query(kind).filter(kind.notebook_id == notebook.id).all()
                for kind in (SourceCell, GradeCell, TaskCell)
            }
            gradebook.db.expunge_all()  # they are read after the session
        source, *graded = ([(cell.name, cell) for cell in each] for each in cells.values())
        _sources[names] = Rows(source=source, graded=graded[0] + graded[1])
    return _sources[names]


def mark_rows(gradebook: Gradebook, place: Mapping[str, str]) -> Rows:
    """The marks and comments of the submitted notebook at `place`, in the gradebook's session."""
    names = (place["notebook"], place["assignment"], place["student"])
    notebook = gradebook.find_submission_notebook(*names)
    grade, comment = (
        gradebook.db.query(BaseCell.name, kind)
        .join(BaseCell, BaseCell.id == kind.cell_id)
        .filter(kind.notebook_id == notebook.id)
        for kind in (Grade, Comment)
    )
    return Rows(grade=grade, comment=comment)
