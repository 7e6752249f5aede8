"""The one measurement: every decoder on every prompt, by turns, and nothing of the warm-up."""

from functools import partial

import pytest

from specdec_lib.decoding.state import Generation
from specdec_lib.measure.compare import compare, ratios, summary

PROMPTS = [[1], [1, 2]]


def decoders(order: list[str]):
    def run(name: str, passes: int, prompt: list[int]) -> Generation:
        order.append(name)
        return Generation([[7] * 4 * len(prompt)], target_passes=passes)

    return {"plain": partial(run, "plain", 4), "speculative": partial(run, "speculative", 2)}


def test_decoders_take_turns_after_one_turn_that_does_not_count():
    order: list[str] = []
    frame = compare(decoders(order), PROMPTS, rounds=2)
    assert order == ["plain", "speculative"] * 5
    assert frame.decoder.tolist() == ["plain", "speculative"] * 4
    assert frame.prompt.tolist() == [0] * 4 + [1] * 4
    assert frame.tokens.tolist() == [4] * 4 + [8] * 4
    assert frame.passes.tolist() == [4, 2] * 4


def test_the_first_prompt_runs_however_short_the_time_is():
    assert set(compare(decoders([]), PROMPTS, seconds=0).prompt) == {0}


def test_speeds_are_compared_turn_by_turn():
    frame = compare(decoders([]), PROMPTS)
    frame["seconds"] = [2.0, 1.0, 6.0, 2.0]
    assert ratios(frame, of="speculative", over="plain").tolist() == [2.0, 3.0]
    found = summary(frame, over="plain").loc["speculative"]
    assert found.tolist() == pytest.approx([12 / 3, 12 / 4, 2.5, 2.25, 2.75])
