"""docs/design.md names the files of the grader that a submission passes on its way to a mark."""

import re
import sys
from pathlib import Path
from types import FrameType

import pytest
from classes.submitting import CHAPTER, hand_in, right, text

from autograde.course import GRADER, ROOT
from autograde.grading import cache, classroom
from autograde.grading.grade import grade_now, known_of
from autograde.intake import bounds
from autograde.sandbox import isolation

ROW = re.compile(r"^\| (`[^|]*`)? *\| (`.*?`) \|", re.MULTILINE)


def named_files() -> set[str]:
    """The files in the page's table, by their places in the grader."""
    room, files = "", set()
    for named_room, names in ROW.findall((ROOT / "docs" / "design.md").read_text(encoding="utf-8")):
        room = named_room.strip("`").removeprefix("autograde/") or room * (not named_room)
        files |= {room + name for name in re.findall(r"`(\w+\.py)`", names)}
    return files


@pytest.mark.slow
def test_the_page_names_the_files_on_the_way_of_a_mark(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(cache, "FOLDER", tmp_path / "cache")
    monkeypatch.setattr(bounds, "CPU_SECONDS", 60)  # to look on takes time too
    hand_in(tmp_path, "ada", text(right(speculative_step="def speculative_step(*_): return []")))
    known_of(CHAPTER)
    isolation.mode.cache_clear()  # it is decided once in a process
    files = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            files.add(frame.f_code.co_filename)

    (task,) = classroom.tasks_in(tmp_path, CHAPTER)
    sys.setprofile(note)
    try:
        result = classroom.result_of(task, grade_now).to_json()
    finally:
        sys.setprofile(None)
    assert result["reason"] is None and 0 < result["score"] < result["max_score"]
    programs = GRADER.glob("sandbox/inside/[a-z]*.py")  # of the student's process
    paths = [*programs, *(path for path in map(Path, files) if path.is_relative_to(GRADER))]
    walked = {path.relative_to(GRADER).as_posix() for path in paths}
    walked = {name for name in walked if not name.startswith("hidden_tests/")}
    assert walked == named_files() and len(walked) == 25
