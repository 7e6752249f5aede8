"""decoder.py, the algorithm on one screen: exact, and token by token what the engine writes."""

from collections.abc import Callable

import numpy as np
import pytest
from decoders.decoding_cases import COUNTING, CountingModel
from decoders.exact_drafters import CUT_DRAFT, DRAFT, EXACT, PROMPT, TARGET, autoregressive

from specdec_lib import decoder
from specdec_lib.decoding.generate import speculative_generate
from specdec_lib.decoding.state import Settings
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.exact import Tape, distribution, total_variation_distance
from specdec_lib.lessons.ch02 import lazy_uniforms
from specdec_lib.models.pairs import load_pair
from specdec_lib.sampling import Warp, random_source_for


def built_in() -> tuple:
    pair = load_pair()
    return pair.target, pair.draft, pair.tokenizer.encode("def add(a, b):\n    return a")


def cut_vocabulary() -> tuple:
    """The decoder sees q over the whole vocabulary; the engine drafts in the cut one."""
    return TARGET, CUT_DRAFT, PROMPT


@pytest.mark.parametrize("temperature", [0.0, 0.7, 1.0])
@pytest.mark.parametrize("k", [1, 5])
@pytest.mark.parametrize("models", [built_in, cut_vocabulary])
def test_it_writes_and_draws_what_the_engine_does(models: Callable, k: int, temperature: float):
    (target, draft, prompt), settings = models(), Settings(40, Warp(temperature))
    rng, engine_rng = np.random.default_rng(0), np.random.default_rng(0)
    result = decoder.generate(target, draft, prompt, k, 40, settings.warp, rng)
    drafter, source = ModelDrafter(draft), random_source_for(settings.warp, [engine_rng])
    expected = speculative_generate(target, drafter, [prompt], k, settings, source)
    assert result.tokens == expected.tokens[0]
    assert result.accepted == [block.n_accepted for block in expected.blocks[0]]
    assert rng.bit_generator.state == engine_rng.bit_generator.state


@pytest.mark.parametrize("k", [1, 2, pytest.param(3, marks=pytest.mark.slow)])
def test_the_distribution_is_the_targets(k: int):
    def run(tape: Tape) -> list[int]:
        rng = lazy_uniforms.LazyGenerator(tape)  # decides each comparison with a uniform number
        return decoder.generate(TARGET, DRAFT, PROMPT, k, 4, Warp(), rng).tokens

    assert total_variation_distance(distribution(run), autoregressive(TARGET, PROMPT, 4)) < EXACT


def test_each_pass_reads_only_what_is_new():
    target, draft = CountingModel(COUNTING), CountingModel(COUNTING)
    decoder.generate(target, draft, [1, 2, 3], 2, 7, Warp(0))
    assert target.positions == [[0, 1, 2, 3, 4], [5, 6, 7], [8]]
    # All is accepted, so the draft has not read its own last token when the next block begins.
    assert draft.positions == [[0, 1, 2], [3], [4, 5], [6]]
