"""Hints open one after the other."""

import __future__

import linecache
from collections.abc import Callable

import pytest
from classes.chapter_cases import CHAPTERS, lesson_of

from autograde.submission import release_of
from specdec_lib.lessons.common.hints import hints_from


def defined(source: str) -> Callable:
    """The function that a cell defines, with its source to look at."""
    file, names = f"<{hash(source)}>", {}
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    exec(compile(source, file, "exec", __future__.annotations.compiler_flag), names)
    return next(value for value in names.values() if getattr(value, "__code__", None))


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_stub_shows_one_hint_also_if_it_has_given_lines(chapter: str):
    cells = {cell.id: cell.source for cell in release_of(chapter).cells}
    for name in lesson_of(chapter).HINTS:
        assert repr(lesson_of(chapter).hints(defined(cells[name]))).count("Hint ") == 1, name


def test_later_hints_open_after_a_first_own_line():
    begun = defined("def f(p):\n    # Your code: about 2 lines.\n    x = 1\n    return x\n")
    opened = hints_from({"f": ("first", "second", "third & last")})(begun)._repr_html_()
    assert opened.count("<details>") == 3 and "third &amp; last" in opened
