"""A chapter's hidden tests for the grader: one pytest session in this process, which it may use."""

import os
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

import pytest

from autograde.course import AuthorError, Chapter, current_course
from autograde.hidden import plugin
from autograde.hidden.exercise import Case, Group
from autograde.hidden.material import material_of
from autograde.hidden.plugin import JUDGED, group_of
from autograde.sandbox.student import Student

Used = TypeVar("Used")
# What serves somebody who looks at a terminal costs half of the time of a session.
UNUSED = (
    "terminal", "logging", "capture", "cacheprovider", "faulthandler", "warnings", "debugging",
    "unraisableexception", "threadexception", "junitxml", "doctest", "skipping", "tmpdir",
    "pastebin", "setuponly", "stepwise", "monkeypatch", "recwarn", "unittest", "legacypath",
)  # fmt: skip


class HiddenTests:
    """The hidden tests of a chapter, in the order of the file, as pytest has collected them."""

    def __init__(self, chapter: str, items: list[pytest.Item]) -> None:
        self.chapter = chapter
        self.items = [item for item in items if group_of(item)]
        self.groups = [group_of(item) for item in self.items]
        self.cases: list[Case] = []  # of the run that goes on

    def require(self, exercises: Iterable[str]) -> None:
        """Raise AuthorError unless each of the exercises has a test."""
        tested = {group.exercise.name for group in self.groups}
        if missing := [name for name in exercises if name not in tested]:
            file = Chapter(self.chapter).tests.name
            raise AuthorError(f"{file}: {missing[0]} has points and no test. Write one for it.")

    def run_with(self, answers: Mapping[str, str]) -> list[Case]:
        """The cases of the exercises in `answers`, which take the solution's place; else all."""
        which = [i for i, g in enumerate(self.groups) if not answers or g.exercise.name in answers]
        with material_of(self.chapter).with_answers(answers) as student:
            return self.run(student, which)

    def groups_passed_by(self, answers: Mapping[str, str]) -> list[Group]:
        """The test groups of the exercises in `answers` of which these fail no case, by name.

        Other cases of a group run only if its first one is passed.
        """
        own = [i for i, group in enumerate(self.groups) if group.exercise.name in answers]
        first = {self.groups[i]: i for i in reversed(own)}
        with material_of(self.chapter).with_answers(answers) as student:
            cases = self.run(student, sorted(first.values()))
            passed = {case.group for case in cases if case.error is None}
            others = [i for i in own if self.groups[i] in passed and i not in first.values()]
            cases = self.run(student, others) if others else []
        failed = {case.group for case in cases if case.error is not None}
        return sorted(passed - failed, key=lambda group: group.name)

    def run(self, student: Student, which: Iterable[int] | None = None) -> list[Case]:
        """Every case, or those of some numbers, as it goes with the functions of `student`."""
        items = self.items if which is None else [self.items[i] for i in which]
        self.cases = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for item, following in zip(items, [*items[1:], None], strict=True):
                item.config.stash[JUDGED] = {self.chapter: student}
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        return self.cases


class _Use:
    """A plugin for one session: in place of pytest's own loop, `use` runs what it wants."""

    def __init__(self, chapter: str, use: Callable[[HiddenTests], Used]) -> None:
        self.chapter, self.use = chapter, use
        self.failures: list[str] = []
        self.tests: HiddenTests | None = None
        self.error: BaseException | None = None
        self.result: Used | None = None

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.failures.append(report.longreprtext)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self.tests = HiddenTests(self.chapter, session.items)
        try:
            self.result = self.use(self.tests)
        except BaseException as error:  # pytest would only print it
            self.error = error
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo
    ) -> pytest.TestReport:
        """pytest's report without keywords and trace: nobody reads them, and they take long."""
        outcome = "failed" if call.excinfo else "passed"
        return pytest.TestReport(item.nodeid, item.location, {}, outcome, None, call.when)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if hasattr(report, "case"):
            self.tests.cases.append(report.case)


def with_hidden_tests(chapter: str, use: Callable[[HiddenTests], Used]) -> Used:
    """What `use` gives, called with the hidden tests of a chapter inside a session of pytest.

    Raises what `use` raises, and AuthorError if there are no tests, or pytest cannot collect them.
    """
    file, session = Chapter(chapter).tests, _Use(chapter, use)
    if not file.is_file():
        place = file.relative_to(current_course().root).as_posix()
        raise AuthorError(
            f"{chapter}: nothing grades it: there is no {place}. Write a test for each exercise."
        )
    off = [word for name in UNUSED for word in ("-p", f"no:{name}")]
    root = f"--rootdir={current_course().root}"
    options = ["--disable-plugin-autoload", "-c", os.devnull, root, *off]
    code = pytest.main([*options, str(file)], [plugin, session])
    if session.error is not None:
        raise session.error
    if session.failures or session.tests is None:
        why = session.failures[0] if session.failures else f"it ended with {code!r}"
        raise AuthorError(f"pytest cannot collect {file.name}:\n{why}")
    return session.result


def require_tests(chapter: str, exercises: Iterable[str]) -> None:
    """Raise AuthorError unless each of the exercises of a chapter has a hidden test."""
    with_hidden_tests(chapter, lambda tests: tests.require(exercises))
