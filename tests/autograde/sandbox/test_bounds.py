"""What a worker sends costs the grader little: every frame, every function, every submission."""

import json
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from attacks import filling
from classes.sessions import call, session
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autograde.sandbox import remote
from autograde.sandbox.inside import wire
from autograde.sandbox.session import ProcessEnded

QUICK = {"deadline": None, "derandomize": True, "suppress_health_check": [HealthCheck.too_slow]}
MOST_MB, MOST_SECONDS = 600, 60  # of the grader, for one submission


@pytest.mark.parametrize(
    "item", [b"1,", b"[],", b'{"l":[]},', b'{"":0},', b"[" * 9 + b"]" * 9 + b","]
)
def test_a_frame_of_too_many_values_is_refused_before_they_are_made(item: bytes):
    body = b'{"value": {"l": [' + item * (2**24 // len(item) - 9) + b"0]}}"
    tracemalloc.start()
    try:
        with pytest.raises(wire.ProtocolError, match="values; 400,000 are allowed"):
            wire._parse(body)
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()


def test_an_array_of_bytes_is_bounded_by_its_numbers():
    with session("import numpy as np\ndef f(n): return np.zeros(n, bool)") as s:
        assert call(s, "f", (1_000_000,)).value.size == 1_000_000
        with pytest.raises(ProcessEnded, match="more than 1,000,000 numbers"):
            call(s, "f", (1_000_001,))


def test_what_a_function_returns_is_bounded_in_all_and_costs_no_other():
    with session("def f(): return 'a' * 6_000_000\ndef g(): return 'a' * 6_000_000") as s:
        assert len(call(s, "f", ()).value) == len(call(s, "f", ()).value) == 6_000_000
        with pytest.raises(ProcessEnded, match="takes more than 16 MiB"):
            call(s, "f", ())
        assert len(call(s, "g", ()).value) == 6_000_000


def test_a_function_may_return_as_much_text_as_it_likes_in_one_alphabet_only():
    """One sign of another alphabet makes a text of a whole frame four times as long in memory."""
    code = "def f(): return 'a' * 9_000_000 + '\\U0001f600'"
    with session(code) as s, pytest.raises(ProcessEnded, match="takes more than 16 MiB"):
        call(s, "f", ())


def test_uses_of_all_calls_of_a_function_are_bounded(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(remote, "MAX_USES_IN_ALL", 5)
    code = "def f(x):\n    return [x(), x()]\ng = f"
    with session(code) as s:
        for _ in range(2):
            assert call(s, "f", (lambda: 1,)).value == [1, 1]
        with pytest.raises(ProcessEnded, match="more than 5 uses"):
            call(s, "f", (lambda: 1,))
        assert call(s, "g", (lambda: 1,)).value == [1, 1]


def test_the_time_in_uses_is_bounded_over_all_calls_of_a_function(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(remote, "MAX_SECONDS_IN_ALL", 0.0)
    over = pytest.raises(ProcessEnded, match="has worked for more than 0 s")
    with session("def f(x):\n    return x()") as s, over:
        call(s, "f", (lambda: 1,))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=5)
    | st.dictionaries(st.sampled_from("ltdfxash") | st.text(max_size=3), inner, max_size=3),
    max_leaves=30,
)  # fmt: skip
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63) + 1, 2**63 - 1) | st.floats()
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
    lambda inner: st.lists(inner, max_size=5)
    | st.lists(inner, max_size=5).map(tuple)
    | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner, max_size=3),
    max_leaves=30,
)  # fmt: skip


def whole(value: object) -> bool:
    """Whether it is made of what `decode` makes, and of nothing else."""
    kinds = (int, float, bool, str, type(None), np.ndarray, wire.Opaque)
    if isinstance(value, list | tuple | dict):
        return all(map(whole, value.values() if isinstance(value, dict) else value))
    return type(value) in kinds or type(value).__name__ == "Tensor"


def reads_or_refuses(body: bytes) -> None:
    """A body is read as plain data or refused, and weighs no less than it takes."""
    tracemalloc.start()
    try:
        message = wire._parse(body)
        before = tracemalloc.get_traced_memory()[0]
        value = wire.decode(message.get("value"))
        taken = tracemalloc.get_traced_memory()[0] - before
        assert whole(value) and taken <= 4 * message.weight + 10_000
    except wire.ProtocolError:
        pass
    finally:
        tracemalloc.stop()


def reads_back(value: object) -> None:
    """What `encode` writes comes back as it was, one frame like another."""
    message = wire._parse(json.dumps({"value": wire.encode(value)}).encode())
    assert repr(wire.decode(message["value"])) == repr(value)


def fuzzed(examples: int) -> None:
    """Both properties on this many frames each, and the first on broken ones too."""
    many = settings(max_examples=examples, **QUICK)
    many(given(JSON.map(lambda value: json.dumps({"value": value}).encode()))(reads_or_refuses))()
    many(given(st.binary(max_size=200))(reads_or_refuses))()
    many(given(PLAIN)(reads_back))()


def test_any_frame_is_read_or_refused_within_its_weight():
    fuzzed(60)


@pytest.mark.slow
def test_any_frame_is_read_or_refused_within_its_weight_for_a_minute():
    fuzzed(3_000)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name == "texts" else [pytest.mark.slow])
        for name in filling.FILLING
    ],
)
def test_a_submission_costs_the_grader_little_memory_and_time(name: str):
    settings = os.environ | {"PYTHONPATH": str(Path(filling.__file__).parents[1])}
    command = [sys.executable, "-m", "attacks.filling", name]
    done = subprocess.run(command, env=settings, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    mb, seconds = map(float, done.stdout.split())
    print(f"{name}: {mb:.0f} MB, {seconds:.1f} s of CPU time")
    assert mb < MOST_MB and seconds < MOST_SECONDS
