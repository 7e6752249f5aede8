"""Visible checks whose examples are data: checks.toml of a chapter, a table for each call.

`call` has the arguments. They, `gives` and the values of `asks` are Python expressions over the
names of lesson.py. All else is as in `expect`. Instead of `gives` a table may say why the call is
an `error`, and `judge` names a comparer of the lesson that stands in for `expect`.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from . import examples
from .answers import read_tables


def check_of(lesson: dict[str, Any], name: str, *helpers: Callable) -> Callable[[Callable], None]:
    """The visible check of the function `name`, `helpers` as in `helpers_first`.

    `lesson` is `globals()` of the chapter's lesson.py.
    """

    def check(function: Callable) -> None:
        expect_tables(function, lesson, name)

    check.__name__ = f"check_{name}"
    check.__doc__ = f"The calls of {name} in checks.toml, in their order."
    return examples.visible_check(examples.helpers_first(*helpers)(check))


def expect_tables(function: Callable, lesson: dict[str, Any], name: str) -> None:
    """Make the calls of `name` one by one; raises Different for the first that is wrong.

    Every run makes all values anew, so none sees what an earlier one has changed.
    """

    def value(expression: str) -> Any:
        return eval(compile(expression, __file__, "eval"), lesson)

    def asked(wrong: str, question: str, *others: Sequence[str]) -> tuple:
        return value(wrong), question, *((value(f"({call},)"), value(v)) for call, v in others)

    for table in map(dict, _checks(lesson["__package__"])[name]):
        args = value(f"[{table.pop('call')}]")
        if "error" in table:
            examples.expect_value_error(function, *args, why=table["error"])
            continue
        expect = lesson[table.pop("judge")] if "judge" in table else examples.expect
        if "asks" in table:
            table["asks"] = [asked(*ask) for ask in table["asks"]]
        expect(function, *args, **table | {"gives": value(table["gives"])})


_checks = cache(lambda chapter: read_tables(chapter, "checks.toml"))
