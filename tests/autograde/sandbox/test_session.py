"""The worker: cells run, calls come back, and a crash costs only what crashed."""

import time

import numpy as np
import pytest
from attacks.inside import written
from classes.sessions import call, session
from classes.submitting import CHAPTER, right

from autograde.grade import grade_now
from autograde.sandbox.session import (
    CallTimedOut,
    Cell,
    NotDefined,
    ProcessEnded,
    Session,
    StudentError,
)
from autograde.sandbox.student import Student
from autograde.sandbox.workers import Limits, SandboxError


def test_call_brings_back_value_warnings_changes_and_sharing():
    code = (
        "import numpy as np, warnings\n"
        "def f(p, q):\n    p[0] = 9\n    warnings.warn('careful')\n    return q[1:]\n"
    )
    with session(code) as s:
        reply = call(s, "f", (np.ones(2), np.arange(3.0)))
    assert reply.value.tolist() == [1.0, 2.0]
    assert reply.warnings == ["careful"]
    assert reply.changed == [0]
    assert reply.shares


def test_errors_carry_name_text_line_and_another_cell():
    own = "# my helpers\n\ndef g():\n    return [][1]\n"
    cells = [Cell("extra-0", own, 5.0), Cell("f", "def f():\n    return [][1]", 5.0)]
    cells += [Cell("h", "def h():\n    return g()", 5.0), Cell("extra-3", "x = 1\nh()", 5.0)]
    happened = "raised IndexError: list index out of range"
    with Session(cells) as s:
        with pytest.raises(StudentError) as caught:
            call(s, "f", ())
        assert caught.value.what_happened == f"{happened} (line 2)"
        with pytest.raises(StudentError) as caught:
            call(s, "h", ())
        there = "line 4 of the cell that begins with `# my helpers`"
        assert caught.value.what_happened == f"{happened} ({there})"
        assert s.reports["extra-3"]["error"]["where"] == there


def test_missing_name_says_which_error_kept_it_out():
    with session("def f(:\n    pass") as s:
        assert s.reports["cell-0"]["error"]["name"] == "SyntaxError"
        with pytest.raises(NotDefined, match="f is not defined in the notebook"):
            call(s, "f", ())
    with Session([Cell("f", "1 / 0", 5.0)]) as s, pytest.raises(NotDefined, match="ZeroDivision"):
        call(s, "f", ())


@pytest.mark.parametrize(
    "killer, why",
    [
        ("while True: pass", "longer than"),
        ("import os; os._exit(0)", "ended the Python process"),
        # Where it is the first process of its namespace, the kernel lets it not end itself so.
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "|ended the Python process"),
        ("import sys; sys.setrecursionlimit(10**9)\ndef g(): g()\ng()", ""),  # differs by Python
    ],
)
def test_a_cell_that_ends_the_process_costs_only_itself(killer: str, why: str):
    with session("def f(): return 1", killer, "def h(): return 3", seconds=2.0) as s:
        assert (call(s, "f", ()).value, call(s, "h", ()).value) == (1, 3)
        text = (s.reports["cell-1"]["error"] or {"text": ""})["text"]
    assert any(word in text for word in why.split("|"))


def test_a_call_that_ends_the_process_costs_only_itself():
    code = "import os\ndef out(): os._exit(0)\ndef loop():\n    while True: pass\ndef f(): return 1"
    with session(code) as s:
        with pytest.raises(ProcessEnded):
            call(s, "out", ())
        with pytest.raises(CallTimedOut):
            call(s, "loop", ())
        start = time.monotonic()
        with pytest.raises(ProcessEnded, match="not called, since `loop` above did not come back"):
            call(s, "loop", ())
        assert time.monotonic() - start < 0.4
        assert call(s, "f", ()).value == 1
        assert s.limited


def test_a_sandbox_that_fails_later_on_is_not_the_students_fault(monkeypatch: pytest.MonkeyPatch):
    """The answer to the first hidden test ends the process, and another cannot be had."""
    ends = "import os\ndef acceptance_probability(p, q, token):\n    os._exit(0)"
    notebook = right(acceptance_probability=ends)
    whole, starts = Session._run_cells, []

    def run_cells(self: Session) -> bool:
        starts.append(self)
        if len(starts) > 1:
            raise SandboxError("no user namespace")
        return whole(self)

    monkeypatch.setattr(Session, "_run_cells", run_cells)
    with pytest.raises(SandboxError, match="no user namespace"):
        grade_now(notebook, CHAPTER)


def test_the_submission_as_a_whole_has_a_limit():
    loops = ["while True: pass"] * 50
    start = time.monotonic()
    with (
        session(*loops, seconds=0.3, total_seconds=2.0) as s,
        pytest.raises((ProcessEnded, NotDefined)),
    ):
        call(s, "f", ())
    assert time.monotonic() - start < 10
    assert s.limited


def test_memory_and_output_are_bounded():
    with session("x = bytearray(3 * 2**30)", "print('x' * 10**8)", "def f(): return 1") as s:
        assert s.reports["cell-0"]["error"]["text"] == "it needed more than 2 GiB of memory"
        assert len(s.reports["cell-1"]["printed"]) < 30_000
        assert call(s, "f", ()).value == 1


FILLING = "kept = []\nwhile True:\n    kept.append(bytearray(2**24))"


def test_a_memory_full_of_small_things_costs_only_its_own_cell():
    """Nothing is left then, not even for the description of an error."""
    full = "kept = []\nwhile True:\n    kept.append([0])"
    with session(full, "def f(): return 1", limits=Limits(memory_mib=256)) as s:
        assert s.dead_cells == {"cell-0": "needed more than 0.25 GiB of memory"}
        assert call(s, "f", ()).value == 1


def test_a_list_without_an_end_costs_only_its_own_cell():
    small = Limits(memory_mib=256)
    call_fills = f"def g():\n    {FILLING.replace(chr(10), chr(10) + '    ')}"
    with session(FILLING, "def f(): return len(bytearray(2**26))", call_fills, limits=small) as s:
        assert call(s, "f", ()).value == 2**26
        with pytest.raises(StudentError) as caught:
            call(s, "g", ())
    assert s.dead_cells == {"cell-0": "needed more than 0.25 GiB of memory"}
    assert "raised MemoryError: a notebook may use 0.25 GiB (line 4" in caught.value.what_happened


@pytest.mark.parametrize(
    "source",
    [
        "%time x = 3",
        "%%capture out\nx = 3",
        "get_ipython().run_line_magic('load_ext', 'autoreload')\nx = 3",
        "x = 3\nx?",
        "try:\n    input('name? ')\nexcept RuntimeError:\n    x = 3",
        "import matplotlib\nx = 3 if matplotlib.get_backend().lower() == 'agg' else 0",
    ],
)
def test_notebook_habits_do_no_harm(source: str):
    with session(source) as s:
        assert s.reports["cell-0"]["error"] is None
        assert s.value("x") == 3


def test_stub_comes_back_as_itself():
    stub = "def f(): raise NotImplementedError('f: not written yet')"
    with session(stub) as s, pytest.raises(NotImplementedError, match="f: not written yet"):
        Student(s, {}).f()


FORGED = written("json.dumps(BODY).encode()").replace("NAME", "f")


@pytest.mark.parametrize(
    "body",
    [
        {"error": "text"},
        {"error": {"name": 5, "text": ["x"], "line": "last"}},
        {"value": 1, "changed": 3, "warnings": 4},
        {"value": 1, "changed": [9], "warnings": [], "shares": 1},
        {"ask": {"of": 0}},
        {"missing": [1]},
        {},
    ],
)
def test_an_answer_of_no_known_form_ends_the_call_and_nothing_else(body: dict):
    refused = pytest.raises((ProcessEnded, NotDefined, StudentError))
    with session(FORGED.replace("BODY", repr(body))) as s, refused:
        call(s, "f", ())


def test_a_forged_report_of_a_cell_has_the_types_of_a_report():
    code = FORGED.replace("BODY", "{'error': 3, 'printed': {'a': 1}}") + "f()"
    with session(code) as s:
        report = s.reports["cell-0"]
    parts = {"name": "Exception", "text": "", "line": None, "cell": None, "where": ""}
    assert report == {"error": parts, "printed": ""}


def test_text_that_no_file_could_hold_is_repaired():
    with session("print('a\\ud800b')", "def f(): raise ValueError('\\udfff')") as s:
        assert s.reports["cell-0"]["printed"] == "a?b\n"
        with pytest.raises(StudentError) as caught:
            call(s, "f", ())
    assert str(caught.value) == "?"
