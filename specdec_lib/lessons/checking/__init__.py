"""Checks of single calls and of words: the visible checks and the hidden tests share them.

The folder needs NumPy alone and nothing beside it, so another course can have a copy. The grader
uses two of its functions: `same` and `format_call`.
"""

from .answers import (
    committed,
    make_answered,
    make_reveal,
    quiz_letter,
    quizzes_of,
    require_guess,
    truths_of,
)
from .comparing import coerce_like, difference, is_close, same
from .describing import describe, distinct_texts, type_name
from .examples import (
    Different,
    Unwritten,
    check_examples,
    expect,
    expect_value_error,
    helpers_first,
    record_agreement,
    visible_check,
)
from .lending import CallLimitExceeded, ScriptedRandom, limit_calls, read_only
from .pasting import as_code, brief_call, format_call

__all__ = [
    "Different",
    "CallLimitExceeded",
    "ScriptedRandom",
    "Unwritten",
    "record_agreement",
    "make_answered",
    "as_code",
    "limit_calls",
    "brief_call",
    "committed",
    "describe",
    "difference",
    "expect",
    "expect_value_error",
    "read_only",
    "format_call",
    "helpers_first",
    "coerce_like",
    "is_close",
    "quiz_letter",
    "quizzes_of",
    "require_guess",
    "make_reveal",
    "same",
    "distinct_texts",
    "truths_of",
    "type_name",
    "visible_check",
    "check_examples",
]
