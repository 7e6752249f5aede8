"""Whose code an error comes from, and what is said where another version of a library is here."""

import sys
from functools import partial
from importlib import metadata
from unittest.mock import Mock

import numpy as np
import pytest
import torch
from classes.chapter_cases import draw_figure, unwritten
from transformers.generation import utils

from specdec_lib.errors import dependency_error
from specdec_lib.lessons.ch03 import figures
from specdec_lib.lessons.ch03.lesson import P, Q
from specdec_lib.lessons.checking.blame import is_unwritten
from specdec_lib.lessons.checking.examples import Different, expect, visible_check
from specdec_lib.lessons.drawing.axes import uses_student_functions
from specdec_lib.measure.race.lanes import WrongFunction, call_student

NARROW = torch.ones(2, 2).to(torch.float8_e4m3fn)


def of_a_module(*args):
    torch.nn.Module()(1)  # torch's own stub of `forward`


def of_a_kernel(*args):
    NARROW.softmax(-1)  # raised inside the call


OF_TORCH = [of_a_module, of_a_kernel]


@pytest.mark.parametrize("function", [unwritten, *OF_TORCH])
def test_only_a_stub_of_their_own_is_an_unwritten_answer(function):
    with pytest.raises(NotImplementedError) as caught:
        function()
    assert is_unwritten(caught.value) is (function is unwritten)
    with pytest.raises(NotImplementedError if function is unwritten else WrongFunction):
        call_student("f", function, ())
    with pytest.raises(NotImplementedError if function is unwritten else Different):
        visible_check(lambda f: expect(f, 1, gives=2))(function)


def argmax_draft_law(p, q):
    return [][0]


def warp(*args):
    return argmax_draft_law(P, Q)


def test_a_figure_blames_the_function_that_stands_in_the_traceback(capsys):
    figures.argmax_draft(argmax_draft_law, P, Q)
    uses_student_functions("is_lossless", "warp")(lambda judge, warp: warp())(print, warp)
    said = "cannot be used yet: raised IndexError: list index out of range, at `return [][0]`\n"
    assert capsys.readouterr().out == f"Your argmax_draft_law {said}Your warp {said}"


@pytest.mark.parametrize("broken", [partial(np.reshape, P), partial(torch.ones, -1), None])
def test_a_figure_that_fails_by_itself_blames_nobody(broken, capsys, monkeypatch):
    monkeypatch.setattr(figures.axes, "chart", broken)
    draw_figure("03_lossless", "line_up")
    out = capsys.readouterr().out
    assert "returned may not fit: drawing it raised" in out and "Your" not in out


def patched(name: str, value: object = None):
    """Another version: `value` stands for a name of transformers' utils, or nothing does."""
    return lambda patch: patch.setattr(utils, name, value) if value else patch.delattr(utils, name)


DAMAGE = [
    lambda patch: patch.setitem(sys.modules, "transformers.generation", None),
    patched("_speculative_sampling"),
    patched("_speculative_sampling", lambda ids, logits, length, target, is_done: 0),
    patched("_speculative_sampling", lambda *args: torch.zeros(1, 1)),
    patched("_speculative_sampling", lambda *args: (torch.zeros(1, 1), 0)),  # by other coins
    patched("UniversalSpeculativeDecodingGenerator"),
    patched("UniversalSpeculativeDecodingGenerator", lambda **args: print),
]


@pytest.mark.parametrize("figure", ["library_on_trial", "library_repaired"])
@pytest.mark.parametrize("damage", DAMAGE)
def test_the_trial_says_which_transformers_it_needs(damage, figure, capsys, monkeypatch):
    pins = [each.partition(";")[0] for each in metadata.requires("specdec-course")]
    (wanted,) = {pin for pin in pins if pin.startswith("transformers==")}  # of several extras
    monkeypatch.setattr(metadata, "version", lambda name: "4.57.1")
    damage(monkeypatch)
    draw_figure("03_lossless", figure)
    out = capsys.readouterr().out.partition("about 10 s.\n")[2]  # what the trial says first
    assert out.startswith(f"This needs {wanted.replace('==', ' ')}, and transformers 4.57.1 is ")
    assert f"Run `pip install {wanted}`" in out and "cannot be used" not in out


def test_a_missing_library_is_told_and_a_fault_with_the_right_one_is_the_courses(monkeypatch):
    error, pinned = AttributeError("no such name"), metadata.version("transformers")
    assert dependency_error("transformers", error) is error
    monkeypatch.setattr(metadata, "version", Mock(side_effect=metadata.PackageNotFoundError))
    said = f"This needs transformers {pinned}, and no transformers is installed here (Attribute"
    assert str(dependency_error("transformers", error)).startswith(said)
