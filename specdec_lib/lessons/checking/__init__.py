"""Checks of single calls and of words: the visible checks and the hidden tests share them.

The folder needs NumPy alone and nothing beside it, so another course can have a copy. The grader
uses two of its functions: `same` and `format_call`.
"""

from .answers import (
    answering,
    committed,
    letter_of,
    quizzes_of,
    require_guess,
    revealing,
    truths_of,
)
from .comparing import difference, in_form_of, is_close, same
from .describing import describe, told_apart, type_name
from .examples import (
    Different,
    Unwritten,
    agrees,
    expect,
    expect_value_error,
    helpers_first,
    visible_check,
    worked,
)
from .lending import NoEnd, Numbers, at_most, fixed
from .pasting import as_code, brief_call, format_call

__all__ = [
    "Different",
    "NoEnd",
    "Numbers",
    "Unwritten",
    "agrees",
    "answering",
    "as_code",
    "at_most",
    "brief_call",
    "committed",
    "describe",
    "difference",
    "expect",
    "expect_value_error",
    "fixed",
    "format_call",
    "helpers_first",
    "in_form_of",
    "is_close",
    "letter_of",
    "quizzes_of",
    "require_guess",
    "revealing",
    "same",
    "told_apart",
    "truths_of",
    "type_name",
    "visible_check",
    "worked",
]
