"""decoder.py, the algorithm on one screen: exact, and token by token what the engine writes."""

import numpy as np
import pytest
from decoders.decoding_cases import COUNTING, CountingModel
from decoders.exact_drafters import DRAFT, EXACT, PROMPT, TARGET, autoregressive

from specdec_lib import decoder
from specdec_lib.decoding.generate import speculative_generate
from specdec_lib.decoding.state import Settings
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.exact import Tape, distance, distribution
from specdec_lib.models.pairs import load_pair
from specdec_lib.sampling import Warp, choices_for


@pytest.mark.parametrize("temperature", [0.0, 0.7, 1.0])
@pytest.mark.parametrize("k", [1, 5])
def test_on_the_built_in_pair_it_writes_and_draws_what_the_engine_does(k: int, temperature: float):
    pair, settings = load_pair(), Settings(40, Warp(temperature))
    prompt = pair.tokenizer.encode("def add(a, b):\n    return a")
    one, other = (np.random.default_rng(0) for _ in range(2))
    choices, others = (choices_for(settings.warp, [rng]) for rng in (one, other))
    found = decoder.generate(pair.target, pair.draft, prompt, k, 40, settings.warp, choices)
    drafter = ModelDrafter(pair.draft)
    expected = speculative_generate(pair.target, drafter, [prompt], k, settings, others)
    assert found.tokens == expected.tokens[0]
    assert found.accepted == [block.accepted for block in expected.blocks[0]]
    assert one.bit_generator.state == other.bit_generator.state


@pytest.mark.parametrize("k", [1, 2, pytest.param(3, marks=pytest.mark.slow)])
def test_the_distribution_is_the_targets(k: int):
    def run(tape: Tape) -> list[int]:
        return decoder.generate(TARGET, DRAFT, PROMPT, k, 4, Warp(), tape).tokens

    assert distance(distribution(run), autoregressive(TARGET, PROMPT, 4)) < EXACT


def test_each_pass_reads_only_what_is_new():
    target, draft = CountingModel(COUNTING), CountingModel(COUNTING)
    decoder.generate(target, draft, [1, 2, 3], 2, 7, Warp(0), choices_for(Warp(0), []))
    assert target.positions == [[0, 1, 2, 3, 4], [5, 6, 7], [8]]
    # All is accepted, so the draft has not read its own last token when the next block begins.
    assert draft.positions == [[0, 1, 2], [3], [4, 5], [6]]
