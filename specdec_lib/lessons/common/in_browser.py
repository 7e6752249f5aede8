"""An exercise checked in the student's own browser: its visible check, run by pytest in Pyodide."""

import contextlib
import importlib
import io
from collections.abc import Sequence
from pathlib import Path

import pytest

from specdec_lib.lessons.common.examples import Different, Unwritten
from specdec_lib.lessons.common.kinds import ARRAYS

PLAIN = "speculative_accept"  # the one exercise that can be checked without NumPy
TEST = """
from specdec_lib.lessons.common import in_browser


def test_the_visible_check():
    in_browser.check_answer()
"""
# What is loaded, cached and caught is left to the page; a module may be read again.
OPTIONS = ["-q", "-s", "--color=no", "--import-mode=importlib"]
OPTIONS += ["-p", "no:cacheprovider", "-p", "no:faulthandler"]
answer: dict = {}  # what the test reads: the exercise, its chapter's number, and the answers


class Report:
    """Remembers what pytest says of the one test."""

    def __init__(self) -> None:
        self.error: str | None = "the check did not run"

    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo) -> None:
        """Called by pytest after the set-up, the test and the tear-down."""
        if call.excinfo is not None:
            told = isinstance(call.excinfo.value, Different | Unwritten)  # written for students
            kind = "" if told else f"{call.excinfo.typename}: "
            self.error = f"{kind}{call.excinfo.value}"
        elif call.when == "call":
            self.error = None


def check(number: str, name: str, sources: Sequence[str], folder: str = "/tmp") -> dict:
    """Run the visible check of exercise `name` of chapter `number` on the code in `sources`.

    The last of `sources` is the answer, the others are what stands above it in the chapter. Returns
    {"passed": bool, "message": the error's text or what the check printed}.
    """
    answer.update(number=number, name=name, sources=list(sources))
    test = Path(folder) / "test_answer.py"
    test.write_text(TEST, encoding="utf-8")
    report = Report()
    with contextlib.redirect_stdout(io.StringIO()):  # what pytest says of itself
        pytest.main([*OPTIONS, "--rootdir", folder, "-c", "/dev/null", str(test)], plugins=[report])
    passed = report.error is None
    return {"passed": passed, "message": answer["printed"] if passed else report.error}


def check_answer() -> None:
    """The body of the test: define the answer, then call the chapter's check on it."""
    function = defined(answer["sources"], answer["name"])
    if answer["name"] != PLAIN and not has_numpy():
        raise RuntimeError(f"{answer['name']} needs NumPy, which could not be loaded")
    lesson = importlib.import_module(f"specdec_lib.lessons.ch{answer['number']}.checks")
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        getattr(lesson, f"check_{answer['name']}")(function)
    *calls, sentence = printed.getvalue().splitlines()
    answer["printed"] = "\n".join([sentence, *calls])


def defined(sources: Sequence[str], name: str) -> object:
    """What `name` is once all the code has run; what stands above may fail without NumPy."""
    *above, last = sources
    names: dict = {}
    for source in above:
        with contextlib.suppress(*(() if has_numpy() else (ImportError, NameError))):
            exec(source, names)
    exec(last, names)
    if name not in names:
        raise NameError(f"{name} is not defined: keep the function's name")
    return names[name]


def has_numpy() -> bool:
    """Whether there is a NumPy here."""
    return bool(ARRAYS)
