"""Steps of fixed shape: the tokens of the eager decoders from the same numbers."""

import numpy as np
import pytest

from specdec_lib.decoding.fixed_shape.graph import graph_generate, spare
from specdec_lib.decoding.fixed_shape.step import Step
from specdec_lib.decoding.generate import plain_generate, speculative_generate
from specdec_lib.decoding.state import Settings
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.models.llama import Llama
from specdec_lib.sampling import Warp, choices_for
from specdec_lib.theory import acceptance_from_counts

PROMPTS = [[5, 9], [7, 1, 2, 3, 4, 5, 6, 8], [1, 2, 3]]
COUNT = 25


def generators(count: int) -> list[np.random.Generator]:
    return [np.random.default_rng(row) for row in range(count)]


def eager(models: tuple[Llama, Llama], prompts: list[list[int]], k: int, settings: Settings):
    target, draft = models
    choices = choices_for(settings.warp, generators(len(prompts)))
    if not k:
        return plain_generate(target, prompts, settings, choices)
    return speculative_generate(target, ModelDrafter(draft), prompts, k, settings, choices)


@pytest.mark.parametrize("temperature", [0.0, 0.8])
@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("k", [0, 1, 4])
def test_the_tokens_are_those_of_the_eager_path(models, k: int, rows: int, temperature: float):
    warp, prompts = Warp(temperature, top_k=20), PROMPTS[-rows:]
    made = graph_generate(*models, prompts, k, Settings(COUNT, warp), generators(rows))
    # With k more to write, the eager path drafts k tokens in every block that counts here.
    expected = eager(models, prompts, k, Settings(COUNT + k, warp))
    assert made.tokens == [tokens[:COUNT] for tokens in expected.tokens]
    for found, known in zip(made.blocks, expected.blocks, strict=True):
        for one, other in zip(found[:-1], known[: len(found) - 1], strict=k > 0):
            assert (one.drafted, one.path, one.token) == (other.drafted, other.path, other.token)
            assert one.bonus == other.bonus
            assert [*one.p, *one.q] == pytest.approx([*other.p, *other.q])


@pytest.mark.parametrize("k", [0, 3])
def test_a_row_ends_with_its_end_of_text_and_the_others_go_on(models, k: int):
    plain = eager(models, PROMPTS, 0, Settings(COUNT, Warp(0))).tokens
    eos = plain[0][6]
    settings = Settings(COUNT, Warp(0), eos_id=eos)
    made = graph_generate(*models, PROMPTS, k, settings, [])
    assert made.tokens == eager(models, PROMPTS, k, settings).tokens
    assert made.tokens[0][-1] == eos


@pytest.mark.parametrize("decode", [graph_generate, eager], ids=["fixed shapes", "eager"])
@pytest.mark.parametrize("count", [COUNT, 6, 3])
def test_what_stands_after_the_end_of_a_text_is_in_no_block(models, decode, count: int):
    target, _ = models
    plain = eager(models, PROMPTS[:1], 0, Settings(COUNT, Warp(0))).tokens[0]
    # Seven tokens with the end of text: 5 of the first block, and of the second two draft tokens.
    settings = Settings(count, Warp(0), eos_id=plain[6])
    if decode is graph_generate:
        made = graph_generate(target, target, PROMPTS[:1], 4, settings, [])
    else:
        made = eager((target, target), PROMPTS[:1], 4, settings)
    assert sum(block.kept for block in made.blocks[0]) == min(count, 7)
    # The draft is the target: all that was judged was accepted.
    accepted, judged = acceptance_from_counts(
        [(b.accepted, len(b.drafted)) for b in made.blocks[0]]
    )
    assert accepted == judged > 0
    ended = made.blocks[0][-1]
    assert ended.drafted[: ended.kept] == made.tokens[0][-ended.kept :][: len(ended.drafted)]


def test_plain_decoding_needs_no_draft_and_nothing_is_made_of_nothing(models):
    target, _ = models
    settings = Settings(COUNT, Warp(0))
    expected = eager(models, PROMPTS[:1], 0, settings).tokens
    assert graph_generate(target, None, PROMPTS[:1], 0, settings, []).tokens == expected
    assert graph_generate(*models, PROMPTS, 2, Settings(0), generators(3)).tokens == [[], [], []]


def test_a_row_does_not_outgrow_its_goal_by_more_than_a_block(models):
    target, _ = models
    step = Step(target, target, rows=3, capacity=8 + 10 + spare(4), k=4, warp=Warp(0))
    step.begin(PROMPTS, max_new_tokens=10)
    for _ in range(20):
        step()
    assert (step.length < step.goal + 5).all() and (step.length >= step.goal).all()


def test_what_cannot_be_drafted_is_refused(models):
    with pytest.raises(ValueError, match="needs prompts of at least two tokens"):
        graph_generate(*models, [[1]], 2, Settings(4), generators(1))
    with pytest.raises(ValueError, match="need 138 positions, and the drafter has 128"):
        graph_generate(*models, [[1, 2]], 2, Settings(130), generators(1))
    with pytest.raises(ValueError, match="prompt 0 is empty"):
        graph_generate(*models, [[]], 0, Settings(4), generators(1))
