"""The enumerator that students can use: its example, its branches, and what it refuses."""

import doctest

import pytest
import torch
from decoders.tables import TableModel

from specdec_lib import exact
from specdec_lib.decoding.generate import plain_generate
from specdec_lib.decoding.state import Settings


def test_the_example_of_the_docstring():
    assert doctest.testmod(exact) == (0, 3)


def test_every_branch_is_walked_once_and_what_is_impossible_never():
    def walk(tape: exact.Tape) -> list[int]:
        first = tape.choose([0.5, 0.0, 0.5])
        return [first, tape.choose([0.25, 0.75])] if first else [first]

    walked = list(exact.branches(walk))
    assert walked == [([0], 0.5), ([2, 0], 0.125), ([2, 1], 0.375)]
    assert exact.distribution(walk) == {(0,): 0.5, (2, 0): 0.125, (2, 1): 0.375}


def test_what_cannot_be_counted_is_refused():
    for chances in ([float("nan"), 0], [], [3, 1], [1.5, -0.5]):
        with pytest.raises(ValueError, match="are no probabilities"):
            exact.Tape().choose(chances)
    for draws, said in ((20, "100,000 branches"), (2_000, "1,000 draws")):
        with pytest.raises(ValueError, match=said):
            exact.distribution(lambda tape, n=draws: [tape.choose([0.5, 0.5]) for _ in range(n)])


def test_a_tape_of_one_row_refuses_two_prompts():
    model = TableModel(torch.full((2, 2), 0.5))
    with pytest.raises(ValueError, match="one row"):
        plain_generate(model, [[0], [1]], Settings(2), exact.Tape())
