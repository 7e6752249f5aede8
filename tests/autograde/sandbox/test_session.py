"""The worker: cells run, calls come back, and what ends a process or its time costs only itself."""

import re
import subprocess
import sys
import time
from itertools import chain, repeat
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
from attacks.protocol import frame_writer
from classes.sessions import session
from classes.submitting import CHAPTER, right
from data_files import table

from autograde.grading.grade import grade_now
from autograde.sandbox import workers
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

ENDLESS = "while True: pass"
SESSIONS = table("sessions.toml")


def test_call_brings_back_value_warnings_changes_and_sharing():
    code = (
        "import numpy as np, warnings\n"
        "def f(p, q):\n    p[0] = 9\n    warnings.warn('careful')\n    return q[1:]\n"
    )
    with session(code) as s:
        reply = s.call("f", (np.ones(2), np.arange(3.0)))
    assert reply.value.tolist() == [1.0, 2.0]
    assert (reply.warnings, reply.mutated_args, reply.shares_memory) == (["careful"], [0], True)


def test_an_error_carries_its_name_text_and_line():
    cells = [Cell("extra-0", "# my helpers\ndef g():\n    return [][1]", 5.0)]
    cells += [Cell("f", "def f():\n    return [][1]", 5.0), Cell("h", "def h(): g()", 5.0)]
    with Session(cells) as s:
        for name, where in (("f", "line 2"), ("h", "line 3 of another cell")):
            with pytest.raises(StudentError) as caught:
                s.call(name, ())
            happened = f"raised IndexError: list index out of range ({where})"
            assert caught.value.what_happened == happened


@pytest.mark.parametrize("killer, why", SESSIONS["killers"].items())
def test_a_cell_that_ends_the_process_costs_only_itself(killer: str, why: str):
    with session("def f(): return 1", killer, "def h(): return 3", seconds=2.0) as s:
        assert (s.call("f", ()).value, s.call("h", ()).value) == (1, 3)
        assert re.search(why, s.reports["cell-1"]["error"]["text"])


def test_a_call_that_ends_the_process_costs_only_itself():
    code = "import os\ndef out(): os._exit(0)\ndef wait():\n    import time; time.sleep(9e9)"
    with session(code, "def f(): return 1", limits=Limits(call_seconds=0.3)) as s:
        with pytest.raises(ProcessEnded):
            s.call("out", ())
        assert not s.timed_out
        with pytest.raises(CallTimedOut, match="longer than 0.3 s"):
            s.call("wait", ())
        assert s.call("f", ()).value == 1 and s.timed_out


def test_a_function_that_hangs_once_is_called_again_for_the_next_part():
    code = "def f(x):\n    while x % 2: pass\n    return x"
    with session(code, limits=Limits(call_seconds=0.2)) as s:
        student = Student(s, {"f": ["x"]})
        for s.group in ("a", "b"):
            assert student.f(2) == 2
            with pytest.raises(CallTimedOut) as caught:
                student.f(1)
            assert caught.value.called == (student.f, (1,))
            with pytest.raises(CallTimedOut) as again:
                student.f(4)
            assert again.value is caught.value


def test_the_submission_as_a_whole_has_a_limit():
    start = time.monotonic()
    with (
        session(*[ENDLESS] * 50, seconds=0.3, limits=Limits(total_seconds=2.0)) as s,
        pytest.raises((ProcessEnded, NotDefined)),
    ):
        s.call("f", ())
    assert time.monotonic() - start < 10
    assert s.timed_out


def test_memory_and_output_are_bounded():
    """Of a memory full of small things nothing is left, not even for an error's description."""
    small = "kept = []\nwhile True:\n    kept.append([0])"
    with session(small, "print('x' * 10**8)", limits=Limits(memory_mib=256)) as s:
        assert s.disabled_cells == {"cell-0": "needed more than 0.25 GiB of memory"}
        assert len(s.reports["cell-1"]["printed"]) < 30_000


def test_a_sandbox_that_fails_later_on_is_not_the_students_fault(monkeypatch: pytest.MonkeyPatch):
    """The answer to the first hidden test ends the process, and another cannot be had."""
    ends = "import os\ndef acceptance_probability(p, q, token):\n    os._exit(0)"
    first = workers.start_worker(Limits(), isolated=False)
    starts = Mock(side_effect=chain([first], repeat(SandboxError("no user namespace"))))
    monkeypatch.setattr(workers, "start_worker", starts)
    with pytest.raises(SandboxError, match="no user namespace"):
        grade_now(right(acceptance_probability=ends), CHAPTER)


@pytest.mark.parametrize("start, reason", SESSIONS["starts"].items())
def test_a_worker_that_does_not_become_ready_is_ended(start: str, reason: str, monkeypatch):
    monkeypatch.setattr(workers, "READY_SECONDS", 2.0)
    with pytest.raises(SandboxError, match=reason):
        workers.Worker([sys.executable, "-c", start])


def test_what_a_worker_writes_to_its_errors_before_it_is_ready_stops_nothing():
    ready = "sys.stdout.buffer.write(b'\\0\\0\\0\\2{}'); sys.stdout.flush(); sys.stdin.read()"
    start = f"import sys; sys.stderr.write('x' * 200_000); {ready}"
    workers.Worker([sys.executable, "-c", start]).end()


FORGED = frame_writer("json.dumps(BODY).encode()").replace("NAME", "f")
ANSWER = {"value": 1, "mutated_args": [], "warnings": [], "shares_memory": 1, "torch_calls": 0}
ANSWER |= {"host_syncs": []}


@pytest.mark.parametrize(
    "body",
    [
        *({}, [], {"error": "text"}, {"missing": [1]}, {"ask": {"of": 0}}, {"ask": None}),
        {"error": {"name": 5, "text": ["x"], "line": "last", "cell": 3}},
        *(ANSWER | part for part in ({"mutated_args": [9]}, {"torch_calls": float("inf")})),
        ANSWER | {"value": {"a": ["bool", [10**7, 0], ""]}},
        ANSWER | {"value": {"h": [7, True, []]}},
    ],
)
def test_an_answer_of_no_known_form_ends_the_call_and_nothing_else(body: object):
    refused = pytest.raises((ProcessEnded, NotDefined, StudentError))
    with session(FORGED.replace("BODY", repr(body).replace("inf", "9e999"))) as s, refused:
        s.call("f", ())


def test_text_that_no_file_could_hold_is_repaired():
    with session("print('a\\ud800b')", "def f(): raise ValueError('\\udfff')") as s:
        assert s.reports["cell-0"]["printed"] == "a?b\n"
        with pytest.raises(StudentError) as caught:
            s.call("f", ())
    assert str(caught.value) == "?"


STARTED = """
import os
from autograde.sandbox import workers
worker = workers.start_worker(workers.Limits(total_seconds=1.0), isolated=False)
worker.connection.send({"do": "cell", "source": "while True: pass", "key": ""})
print(worker.popen.pid, flush=True)
os._exit(1)  # as if it was killed
"""


def test_without_a_sandbox_a_worker_ends_when_the_grader_is_killed():
    said = subprocess.run([sys.executable, "-c", STARTED], capture_output=True, text=True).stdout
    status, until = Path(f"/proc/{said.strip()}/stat"), time.monotonic() + 20
    while status.exists() and status.read_text().split()[2] != "Z":
        assert time.monotonic() < until
        time.sleep(0.02)
