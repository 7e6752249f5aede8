"""The calls in messages: each runs in the notebook, or says in angle brackets what no cell has."""

import ast
import inspect

import pytest
from classes.chapter_cases import EXERCISES, cases_with, check_of, functions_of

from specdec_lib.lessons.checking import examples
from specdec_lib.lessons.checking.comparing import difference
from specdec_lib.lessons.checking.examples import Different

# The grader lends models of its own to every call of these: no notebook can make them.
LENT = {"score_block", "greedy_speculative_decode", "draft_block", "speculative_sample"}


def call_in(message: str, name: str) -> str:
    """The first call of `name` in a message; empty if there is none that is code."""
    text = message[message.find(f"{name}(") :] if f"{name}(" in message else ""
    for end in (at for at, letter in enumerate(text, 1) if letter == ")"):
        try:
            ast.parse(text[:end], mode="eval")
        except SyntaxError:
            continue
        return text[:end]
    return ""


def pasted(chapter: str, call: str) -> object:
    """What a cell with this call gives below the right solutions, or the ValueError."""
    try:
        return eval(call, dict(functions_of(chapter)))
    except ValueError as refused:
        return type(refused)


def messages(chapter: str, name: str) -> list[tuple[str, object]]:
    """What the check says if one call after the other gives None, and what it should give."""
    right, found = functions_of(chapter)[name], []

    def late(*args):
        made.append(0)
        if len(made) <= len(found):
            return right(*args)
        try:
            should.append(right(*args))
        except ValueError as refused:
            should.append(type(refused))

    late.__name__, late.__signature__ = name, inspect.signature(right)
    while True:
        made, should = [], []
        try:
            check_of(chapter, name)(late)
        except Different as wrong:
            found.append((str(wrong), should[-1]))
        except AttributeError:  # of a gradient through None
            assert name == "distillation_loss"
            return found
        else:
            return found


@pytest.mark.parametrize("chapter, name", EXERCISES)
def test_each_call_of_a_visible_check_runs_again_and_gives_the_same(chapter, name, monkeypatch):
    # Calls are counted from one run of a check.
    monkeypatch.setattr(examples, "RERUN_LIMITS", (0, 0.0))
    said = messages(chapter, name)
    assert said
    for message, should in said:
        call = call_in(message, name)
        assert call and len(call) < 350, message
        again = pasted(chapter, call)
        same = again is should or difference(again, should, form=False) is None
        assert same or name == "repair", message  # which is asked about every branch of a tape


@pytest.mark.parametrize("chapter, name", EXERCISES)
def test_each_call_of_the_grader_runs_or_says_what_no_notebook_has(chapter, name):
    half = (
        f"made = []\ndef {name}(*args):\n    made.append(0)\n    if len(made) % 2: raise KeyError"
    )
    (cases,) = cases_with(chapter, {name: half})
    errors = {case.error for case in cases if f"{name}(" in str(case.error)}
    calls = {call_in(error, name) for error in errors} - {""}
    for call in calls:
        pasted(chapter, call)
    assert bool(calls) is (name not in LENT)
    assert all("<" in error for error in errors if not call_in(error, name))
