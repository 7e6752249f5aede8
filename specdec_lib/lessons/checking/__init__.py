"""Checks of single calls and of words: the visible checks and the hidden tests share them.

The folder needs NumPy alone and nothing beside it, so another course can have a copy. The grader
uses two of its functions: `same` and `format_call`.
"""

from .answers import committed, make_answered, make_reveal, quizzes_of, truths_of
from .comparing import difference, is_close, same
from .describing import describe
from .examples import (
    Different,
    Unwritten,
    check_examples,
    expect,
    expect_value_error,
    helpers_first,
    visible_check,
)
from .lending import CallLimitExceeded, ScriptedRandom, limit_calls, read_only
from .pasting import as_code, format_call
from .tables import check_of, expect_tables

__all__ = [
    "CallLimitExceeded", "Different", "ScriptedRandom", "Unwritten", "as_code", "check_examples",
    "check_of", "committed", "describe", "difference", "expect", "expect_tables",
    "expect_value_error", "format_call", "helpers_first", "is_close", "limit_calls",
    "make_answered", "make_reveal", "quizzes_of", "read_only", "same", "truths_of", "visible_check",
]  # fmt: skip
