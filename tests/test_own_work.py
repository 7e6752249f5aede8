"""A function of the library that answers an exercise is no answer: in the worker it raises."""

import importlib

import pytest
from test_session import call, session

from autograde.grading.classroom import chapters
from autograde.grading.engine import grade, own_work_of
from autograde.intake import release_of
from autograde.sandbox.launch import Limits
from autograde.sandbox.session import StudentError
from autograde.submissions import filled, solutions_of

NAME = "specdec_lib.theory.expected_tokens"
LIBRARY = """
import torch
from specdec_lib.decoding.verify import residual


def residual_distribution(p, q):
    rows = (torch.from_numpy(array)[None] for array in (p, q))
    return residual(*rows)[0].numpy()
"""


@pytest.mark.parametrize(
    "how",
    [
        "from specdec_lib.theory import expected_tokens as f",
        "import specdec_lib.theory as t\nf = t.expected_tokens",
    ],
)
def test_a_closed_function_says_that_the_work_is_to_be_ones_own(how: str):
    message = f"{NAME} answers this exercise; .* your own work"
    closing = session(how, limits=Limits(own_work=(NAME,)))
    with closing as s, pytest.raises(StudentError, match=message):
        call(s, "f", (0.5, 2))


def test_what_is_not_closed_is_open():
    code = "from specdec_lib.theory import walltime_speedup as f"
    with session(code, limits=Limits(own_work=("specdec_lib.nothing.at_all",))) as s:
        assert call(s, "f", (0.0, 0.0, 1)).value == 1.0


@pytest.mark.parametrize("chapter", chapters())
def test_every_closed_name_is_a_function_of_the_library(chapter: str):
    for name in own_work_of(chapter):
        module, _, function = name.rpartition(".")
        assert callable(getattr(importlib.import_module(module), function))


def test_the_librarys_residual_earns_nothing_and_says_why():
    chapter = "02_rejection_sampling"
    answers = solutions_of(chapter) | {"residual_distribution": LIBRARY}
    result = grade(filled(release_of(chapter), answers), chapter)
    exercise = result.exercises["residual_distribution"]
    assert exercise.score == 0 and "your own work" in exercise.messages[0]
