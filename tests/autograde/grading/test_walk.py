"""docs/design.md names the files of the grader that a submission passes on its way to a mark."""

import re
import sys
import threading
from pathlib import Path
from types import FrameType

from classes.submitting import CHAPTER, hand_in, right, text

from autograde.course import GRADER, ROOT
from autograde.grading import cache, classroom
from autograde.grading.grade import grade_now, known_of

ROW = re.compile(r"^\| (`[^|]*`)? *\| (`.*?`) \|", re.MULTILINE)


def named_files() -> set[str]:
    """The files in the page's table, by their places in the grader."""
    room, files = "", set()
    for named_room, names in ROW.findall((ROOT / "docs" / "design.md").read_text(encoding="utf-8")):
        room = named_room.strip("`").removeprefix("autograde/") or room * (not named_room)
        files |= {room + name for name in re.findall(r"`(\w+\.py)`", names)}
    return files


def test_the_page_names_the_files_on_the_way_of_a_mark(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(cache, "FOLDER", tmp_path / "cache")
    monkeypatch.setattr(classroom.Processes, "grade", lambda self, *args: grade_now(*args))
    hand_in(tmp_path, "ada", text(right(speculative_step="def speculative_step(*_): return []")))
    known_of(CHAPTER)
    files = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(GRADER):
            files.add(path.relative_to(GRADER).as_posix())

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        grades = classroom.grade_class(tmp_path, CHAPTER, workers=1)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    assert 0 < grades["ada"][CHAPTER]["score"] < grades["ada"][CHAPTER]["max_score"]
    inside = {
        path.relative_to(GRADER).as_posix() for path in GRADER.glob("sandbox/inside/[a-z]*.py")
    }
    walked = {name for name in files if not name.startswith("hidden_tests/")} | inside
    assert walked == named_files() and len(walked) == 25
