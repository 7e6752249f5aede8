"""Limits of time: what they cost, and what the student reads about them."""

import re
from pathlib import Path

import pytest
from classes.sessions import call, session

from autograde.sandbox import isolation
from autograde.sandbox.isolation import BUBBLEWRAP, Isolation
from autograde.sandbox.session import (
    CallTimedOut,
    Cell,
    NotCalled,
    NotDefined,
    Session,
    StudentError,
)
from autograde.sandbox.student import Student
from autograde.sandbox.workers import Limits

ROOT = Path(__file__).resolve().parents[3]
SHORT = Limits(call_seconds=0.5)
ENDLESS = "while True: pass"
BURN = "import time\nend = time.process_time() + {}\nwhile time.process_time() < end: pass"


def reports_of(*sources: str, **settings: object) -> list[str]:
    """The text of the error of each cell, empty where there was none."""
    with session(*sources, **settings) as s:
        return [(report["error"] or {"text": ""})["text"] for report in s.reports.values()]


def test_a_call_that_waits_for_ever_is_stopped_by_the_clock():
    with session("import time\ndef f(): time.sleep(9e9)", limits=Limits(call_seconds=0.2)) as s:
        with pytest.raises(Exception, match="longer than 0.2 s"):
            call(s, "f", ())
        assert s.limited


@pytest.mark.isolation
def test_what_uses_up_its_processor_time_is_reported_as_timed_out(monkeypatch):
    """Threads do so before the clock says that the time is over."""
    monkeypatch.setattr(isolation, "chosen", lambda: Isolation(BUBBLEWRAP))
    limits = Limits(call_seconds=20.0, cpu_seconds=2)
    with session(f"def f():\n    {ENDLESS}", limits=limits) as s:
        with pytest.raises(CallTimedOut, match="used up 2 s of processors"):
            call(s, "f", ())
        assert s.limited


@pytest.mark.parametrize("page", ["student.md", "instructor.md"])
def test_the_guides_name_the_limits(page: str):
    text = " ".join((ROOT / "docs" / page).read_text(encoding="utf-8").split())
    for seconds in (Limits.extra_cell_seconds, Limits.total_seconds, Limits.call_seconds):
        assert re.search(rf"\b{seconds:g} s\b", text)


@pytest.mark.parametrize(
    "cell",
    [
        f"import os\n{ENDLESS}\ndef ratio(p): return p",
        "ratio = 1 / 0",
        "from nothing_of_that_name import ratio",
        "x = 1 +\nratio = 3",
        "async with nothing() as ratio: pass",
        "import os; os._exit(0)\nfor ratio in range(3): pass",
    ],
    ids=["stopped", "raised", "import", "no Python", "await", "ended"],
)
def test_a_cell_that_did_not_end_well_is_named_before_what_follows_from_it(cell: str):
    """In the next cell's error, in that of a function, and for a name that is missing."""
    said = f"the cell that defines `ratio` (which begins with `{cell.splitlines()[0]}`) "
    with session(cell, "again = ratio", "def f(): return ratio", seconds=0.5) as s:
        texts = [s.reports["cell-1"]["error"]["text"]]
        with pytest.raises(StudentError) as caught:
            call(s, "f", ())
        texts.append(str(caught.value))
        with pytest.raises(NotDefined) as missing:
            call(s, "ratio", ())
        texts.append(str(missing.value))
    for text in texts:
        assert text.startswith(said) and "is not defined" in text.removeprefix(said)
    how = texts[0].removeprefix(said).partition(", so ")[0]
    assert how == "was stopped after 0.5 s" or how.startswith(("ended with", "ended the Python"))


def test_no_cell_is_named_for_a_name_that_none_would_have_defined():
    with session("1 / 0\nother = 3", "ratio") as s:
        assert s.reports["cell-1"]["error"]["text"] == "name 'ratio' is not defined"


def test_an_exercise_that_needs_a_stopped_cell_says_so():
    cells = [Cell("extra-1", f"{ENDLESS}\nK = 2", 0.5), Cell("f", "def f(k=K): return k", 5.0)]
    with Session(cells, SHORT) as s, pytest.raises(NotDefined) as caught:
        call(s, "f", ())
    assert "defines `K` (which begins with `while True: pass`) was stopped" in str(caught.value)


HANGS_IF_ODD = "def f(x):\n    while x % 2: pass\n    return x"


def test_a_function_that_hangs_once_is_called_again_for_the_next_part():
    with session(HANGS_IF_ODD, limits=Limits(call_seconds=0.2)) as s:
        student = Student(s, {"f": ["x"]})
        for part in ("a", "b", "c"):
            s.part = part
            assert student.f(2) == 2
            with pytest.raises(Exception, match="longer than") as caught:
                student.f(1)
            assert caught.value.call == "f(x=1)"
            with pytest.raises(NotCalled) as skipped:
                student.f(4)
            said = "was not called, since `f(x=1)` above did not come back"
            assert skipped.value.what_happened == said
        s.part = "d"
        with pytest.raises(NotCalled):  # three times is enough
            student.f(2)
        assert [c.args for c in student.calls] == [(2,), (1,)] * 3
