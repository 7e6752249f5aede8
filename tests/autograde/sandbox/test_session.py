"""The worker: cells run, calls come back, and what ends a process or its time costs only itself."""

import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from attacks.inside import written
from classes.sessions import session
from classes.submitting import CHAPTER, right

from autograde.grade import grade_now
from autograde.sandbox import isolation, workers
from autograde.sandbox.isolation import BUBBLEWRAP, Isolation
from autograde.sandbox.session import (
    CallTimedOut,
    Cell,
    NotCalled,
    NotDefined,
    ProcessEnded,
    Session,
    StudentError,
)
from autograde.sandbox.student import Student
from autograde.sandbox.workers import Limits, SandboxError

ENDLESS = "while True: pass"


def test_call_brings_back_value_warnings_changes_and_sharing():
    code = (
        "import numpy as np, warnings\n"
        "def f(p, q):\n    p[0] = 9\n    warnings.warn('careful')\n    return q[1:]\n"
    )
    with session(code) as s:
        reply = s.call("f", (np.ones(2), np.arange(3.0)))
    assert reply.value.tolist() == [1.0, 2.0]
    assert (reply.warnings, reply.changed, reply.shares) == (["careful"], [0], True)


def test_errors_carry_name_text_line_and_another_cell():
    own = "# my helpers\n\ndef g():\n    return [][1]\n"
    cells = [Cell("extra-0", own, 5.0), Cell("f", "def f():\n    return [][1]", 5.0)]
    cells += [Cell("h", "def h():\n    return g()", 5.0), Cell("extra-3", "x = 1\nh()", 5.0)]
    there = "line 4 of the cell that begins with `# my helpers`"
    with Session(cells) as s:
        for name, where in (("f", "line 2"), ("h", there)):
            with pytest.raises(StudentError) as caught:
                s.call(name, ())
            happened = "raised IndexError: list index out of range"
            assert caught.value.what_happened == f"{happened} ({where})"
        assert s.reports["extra-3"]["error"]["where"] == there


@pytest.mark.parametrize(
    "killer, why",
    [
        (ENDLESS, "longer than"),
        ("import os; os._exit(0)", "ended the Python process"),
        # Where it is the first process of its namespace, the kernel lets it not end itself so.
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "|ended the Python process"),
        ("import sys; sys.setrecursionlimit(10**9)\ndef g(): g()\ng()", ""),  # differs by Python
        ("x = bytearray(3 * 2**30)", "it needed more than 2 GiB of memory"),
    ],
)
def test_a_cell_that_ends_the_process_costs_only_itself(killer: str, why: str):
    with session("def f(): return 1", killer, "def h(): return 3", seconds=2.0) as s:
        assert (s.call("f", ()).value, s.call("h", ()).value) == (1, 3)
        text = (s.reports["cell-1"]["error"] or {"text": ""})["text"]
    assert any(word in text for word in why.split("|"))


def test_a_call_that_ends_the_process_costs_only_itself():
    code = "import os\ndef out(): os._exit(0)\ndef wait():\n    import time; time.sleep(9e9)"
    with session(code, "def f(): return 1", limits=Limits(call_seconds=0.3)) as s:
        with pytest.raises(ProcessEnded):
            s.call("out", ())
        assert not s.limited
        with pytest.raises(CallTimedOut, match="longer than 0.3 s"):
            s.call("wait", ())
        assert s.call("f", ()).value == 1 and s.limited


def test_a_function_that_hangs_once_is_called_again_for_the_next_part():
    code = "def f(x):\n    while x % 2: pass\n    return x"
    with session(code, limits=Limits(call_seconds=0.2)) as s:
        student = Student(s, {"f": ["x"]})
        for s.part in ("a", "b"):
            assert student.f(2) == 2
            with pytest.raises(CallTimedOut) as caught:
                student.f(1)
            assert caught.value.call == "f(x=1)"
            with pytest.raises(NotCalled, match=r"since `f\(x=1\)` above did not come back"):
                student.f(4)
        assert [c.args for c in student.calls] == [(2,), (1,)] * 2


def test_the_submission_as_a_whole_has_a_limit():
    start = time.monotonic()
    with (
        session(*[ENDLESS] * 50, seconds=0.3, limits=Limits(total_seconds=2.0)) as s,
        pytest.raises((ProcessEnded, NotDefined)),
    ):
        s.call("f", ())
    assert time.monotonic() - start < 10
    assert s.limited


@pytest.mark.isolation
def test_what_uses_up_its_processor_time_is_reported_as_timed_out(monkeypatch):
    """Threads do so before the clock says that the time is over."""
    monkeypatch.setattr(isolation, "chosen", lambda: Isolation(BUBBLEWRAP))
    limits = Limits(call_seconds=20.0, cpu_seconds=2)
    with session(f"def f():\n    {ENDLESS}", limits=limits) as s:
        with pytest.raises(CallTimedOut, match="used up 2 s of processors"):
            s.call("f", ())
        assert s.limited


def test_memory_and_output_are_bounded():
    """Of a memory full of small things nothing is left, not even for an error's description."""
    small = "kept = []\nwhile True:\n    kept.append([0])"
    large = "def g():\n    kept = []\n    while True: kept.append(bytearray(2**24))"
    with session(small, large, "print('x' * 10**8)", limits=Limits(memory_mib=256)) as s:
        assert s.dead_cells == {"cell-0": "needed more than 0.25 GiB of memory"}
        assert len(s.reports["cell-2"]["printed"]) < 30_000
        with pytest.raises(StudentError) as caught:
            s.call("g", ())
    assert "raised MemoryError: a notebook may use 0.25 GiB (line 3" in caught.value.what_happened


def test_a_sandbox_that_fails_later_on_is_not_the_students_fault(monkeypatch: pytest.MonkeyPatch):
    """The answer to the first hidden test ends the process, and another cannot be had."""
    ends = "import os\ndef acceptance_probability(p, q, token):\n    os._exit(0)"
    whole, starts = workers.start, []

    def start(*arguments: object, **settings: object) -> object:
        starts.append(1)
        if len(starts) > 1:
            raise SandboxError("no user namespace")
        return whole(*arguments, **settings)

    monkeypatch.setattr(workers, "start", start)
    with pytest.raises(SandboxError, match="no user namespace"):
        grade_now(right(acceptance_probability=ends), CHAPTER)


FORGED = written("json.dumps(BODY).encode()").replace("NAME", "f")
ANSWER = {"value": 1, "changed": [], "warnings": [], "shares": 1, "operators": 0, "waits": []}


@pytest.mark.parametrize(
    "body",
    [
        *({}, {"error": "text"}, {"missing": [1]}, {"ask": {"of": 0}}, {"error": None}),
        {"error": {"name": 5, "text": ["x"], "line": "last", "cell": 3}},
        *(
            ANSWER | part
            for part in ({"changed": [9]}, {"warnings": 4}, {"operators": float("inf")})
        ),
        ANSWER | {"value": {"a": ["bool", [10**7, 0], ""]}},
    ],
)
def test_an_answer_of_no_known_form_ends_the_call_and_nothing_else(body: dict):
    refused = pytest.raises((ProcessEnded, NotDefined, StudentError))
    with session(FORGED.replace("BODY", repr(body).replace("inf", "9e999"))) as s, refused:
        s.call("f", ())


def test_text_that_no_file_could_hold_is_repaired():
    with session("print('a\\ud800b')", "def f(): raise ValueError('\\udfff')") as s:
        assert s.reports["cell-0"]["printed"] == "a?b\n"
        with pytest.raises(StudentError) as caught:
            s.call("f", ())
    assert str(caught.value) == "?"


@pytest.mark.parametrize(
    "cell",
    [
        f"import os\n{ENDLESS}\ndef ratio(p): return p",
        "ratio = 1 / 0",
        "from nothing_of_that_name import ratio",
        "x = 1 +\nratio = 3",
        "import os; os._exit(0)\nfor ratio in range(3): pass",
    ],
    ids=["stopped", "raised", "import", "no Python", "ended"],
)
def test_a_cell_that_did_not_end_well_is_named_before_what_follows_from_it(cell: str):
    """In the next cell's error, in that of a function, and for a name that is missing."""
    said = f"the cell that defines `ratio` (which begins with `{cell.splitlines()[0]}`) "
    with session(cell, "again = ratio", "def f(): return ratio", seconds=0.5) as s:
        texts = [s.reports["cell-1"]["error"]["text"]]
        for name in ("f", "ratio"):
            with pytest.raises((StudentError, NotDefined)) as caught:
                s.call(name, ())
            texts.append(str(caught.value))
    for text in texts:
        assert text.startswith(said) and "is not defined" in text.removeprefix(said)
    how = texts[0].removeprefix(said).partition(", so ")[0]
    assert how == "was stopped after 0.5 s" or how.startswith(("ended with", "ended the Python"))


STARTED = """
import os
from autograde.sandbox.isolation import OWN, TRIAL, Isolation
worker = Isolation(OWN).start(TRIAL)
worker.link.send({"do": "cell", "source": "while True: pass", "key": ""})
print(worker.popen.pid, flush=True)
os._exit(1)  # as if it was killed
"""


def test_without_a_sandbox_a_worker_ends_when_the_grader_is_killed():
    said = subprocess.run([sys.executable, "-c", STARTED], capture_output=True, text=True).stdout
    status, until = Path(f"/proc/{said.strip()}/stat"), time.monotonic() + 20
    while status.exists() and status.read_text().split()[2] != "Z":
        assert time.monotonic() < until
        time.sleep(0.02)
