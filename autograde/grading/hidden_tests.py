"""A chapter's hidden tests: collected by pytest once in a process, run on every submission."""

import os
import warnings
from functools import cache
from itertools import zip_longest
from pathlib import Path

import pytest
from _pytest.config import _prepareconfig  # as in pytest-xdist: pytest has no public name for it

from autograde.grading.marks import Case, Marks, exercise_of
from autograde.sandbox.remote import Student

# No configuration, no plugins, no output: each of them costs time in every case and tells nobody.
QUIET = ["--disable-plugin-autoload", "--assert=plain", "-c", os.devnull, "--strict-markers"]
UNUSED = (
    *("skipping", "terminal", "logging", "doctest", "cacheprovider", "capture", "warnings"),
    *("unraisableexception", "threadexception", "faulthandler"),
    *("setuponly", "setupplan", "unittest"),
)


class HiddenTests:
    """The collected cases of the file `tests`. Raises RuntimeError where there are none."""

    def __init__(self, tests: Path) -> None:
        self.tests, self.marks = tests, Marks()
        plugins = [argument for name in UNUSED for argument in ("-p", f"no:{name}")]
        arguments = [*QUIET, *plugins, "--rootdir", str(tests.parent), str(tests)]
        config = _prepareconfig(arguments, [self.marks])
        config._do_configure()
        self.session = pytest.Session.from_config(config)
        config.hook.pytest_sessionstart(session=self.session)
        self.items = self.session.perform_collect()
        if self.session.testsfailed or not self.items:
            raise RuntimeError(f"the hidden tests in {tests} could not be collected")

    def run(self, student: Student, exercise: str | None = None) -> list[Case]:
        """Every case, or those of one exercise, in the file's order, by pytest's own protocol.

        After the last item nothing of a fixture is left, whatever its scope. Raises RuntimeError
        where a fixture fails.
        """
        items = [i for i in self.items if exercise is None or exercise_of(i) == exercise]
        self.marks.turn_to(student)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for item, following in zip_longest(items, items[1:]):
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if len(self.marks.cases) != len(items):
            raise RuntimeError(f"some of the hidden tests in {self.tests} did not run")
        return self.marks.cases


@cache
def hidden_tests(tests: Path) -> HiddenTests:
    """The collected tests of a file, the same ones for every submission of this process."""
    return HiddenTests(tests)


def run_hidden_tests(tests: Path, student: Student) -> list[Case]:
    """Every case of the file `tests`, in the file's order. Raises RuntimeError where none ran."""
    try:
        return hidden_tests(tests).run(student)
    except BaseException:
        hidden_tests.cache_clear()  # what was interrupted half-way is not used again
        raise
