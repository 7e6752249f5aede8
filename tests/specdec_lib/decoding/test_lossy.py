"""The lossy rules: the exact distribution of each, in formulas and in the decoder."""

from pathlib import Path

import numpy as np
import pytest
import torch
from decoders.exact_drafters import DRAFT, EXACT, PROMPT, TARGET, V, table
from torch import Tensor

from specdec_lib import cli, cli_generate
from specdec_lib.decoding.generate import plain_generate, speculative_generate
from specdec_lib.decoding.state import Settings
from specdec_lib.decoding.variants.block_verification import verify_whole_block
from specdec_lib.decoding.variants.lossy import LossyGreedyLenience, LossyLenience, LossyTypical
from specdec_lib.decoding.verify import Verifier, verify
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.exact import Tape, distribution, one_token
from specdec_lib.lessons.ch03.computed import lenient
from specdec_lib.lessons.ch07.computed import typical_law
from specdec_lib.sampling import Greedy, Uniforms, Warp

LOSSY = {
    "lenience": LossyLenience(0.5),
    "greedy lenience": LossyGreedyLenience(0.5),
    "typical acceptance": LossyTypical(),
}
each = pytest.mark.parametrize("rule", LOSSY.values(), ids=LOSSY)


def pairs() -> list[tuple[Tensor, Tensor]]:
    """Distributions of target and draft; some of their entries are 0."""
    p, q = (table(seed).logits.exp().view(-1, V) for seed in (1, 2))
    return list(zip(p, q, strict=True))


def greedy_lenient_distribution(p: Tensor, q: Tensor, lenience: float) -> Tensor:
    """What passes keeps its q; the best token takes the rest."""
    kept = torch.where(p >= lenience * p.max(), q, 0.0)
    kept[p.argmax()] += 1 - kept.sum()
    return kept


@pytest.mark.parametrize("rule", [verify, verify_whole_block, LossyLenience(1.0)])
def test_a_rule_that_is_exact_gives_up_nothing(rule: Verifier):
    for p, q in pairs():
        found = one_token(rule, p, q)
        torch.testing.assert_close(found.distribution, p, rtol=0, atol=EXACT)
        assert found.distance < EXACT
        assert found.accepted == pytest.approx(torch.minimum(p, q).sum().item(), abs=EXACT)


@pytest.mark.parametrize("lenience", [0.1, 0.5, 0.9])
def test_lenience_has_the_distribution_of_its_formula_and_keeps_its_bound(lenience: float):
    for p, q in pairs():
        found = one_token(LossyLenience(lenience), p, q)
        expected, accepted = lenient(p.numpy(), q.numpy(), lenience)
        np.testing.assert_allclose(found.distribution, expected, rtol=0, atol=EXACT)
        assert found.accepted == pytest.approx(accepted, abs=EXACT)
        assert (found.distribution <= p / lenience + EXACT).all()


@pytest.mark.parametrize("lenience", [0.3, 0.7, 1.0])
def test_greedy_lenience_has_the_distribution_of_its_formula(lenience: float):
    for p, q in pairs():
        found = one_token(LossyGreedyLenience(lenience), p, q).distribution
        expected = greedy_lenient_distribution(p, q, lenience)
        torch.testing.assert_close(found, expected, rtol=0, atol=EXACT)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.09, 0.3), (0.5, 0.8)])
def test_typical_acceptance_has_the_distribution_of_its_formula(epsilon: float, delta: float):
    for p, q in pairs():
        found = one_token(LossyTypical(epsilon, delta), p, q).distribution
        expected = typical_law(p.numpy(), q.numpy(), epsilon, delta)
        np.testing.assert_allclose(found, expected, rtol=0, atol=EXACT)


@each
def test_the_decoder_writes_what_the_distribution_says_and_that_is_not_the_targets(rule: Verifier):
    def run(tape: Tape):
        made = speculative_generate(
            TARGET, ModelDrafter(DRAFT), [PROMPT], 2, Settings(3), tape, rule
        )
        return made.tokens[0][:1]

    last = tuple(PROMPT[-2:])
    found = one_token(rule, TARGET.logits[last].exp(), DRAFT.logits[last].exp())
    walked = distribution(run)
    expected = pytest.approx(found.distribution.tolist(), abs=EXACT)
    assert [walked.get((token,), 0.0) for token in range(V)] == expected
    assert found.distance > 0.01


def generated(rule: Verifier, seed: int, settings: Settings) -> list[list[int]]:
    """Tokens after three prompts, from the draft that stops when it is unsure."""
    prompts = [[1], [2, 0, 1], [0, 1]]
    choices = Uniforms([np.random.default_rng([seed, row]) for row in range(3)])
    drafter = ModelDrafter(DRAFT, stop_below=0.4)
    return speculative_generate(TARGET, drafter, prompts, 3, settings, choices, rule).tokens


def test_a_greedy_lenience_of_1_writes_greedy_text_with_a_draft_that_is_drawn():
    prompts, greedy = [[1], [2, 0, 1], [0, 1]], Settings(12, Warp(0))
    expected = plain_generate(TARGET, prompts, greedy, Greedy()).tokens
    assert generated(LossyGreedyLenience(1.0), 0, Settings(12)) == expected


@each
def test_all_of_them_accept_more(rule: Verifier):
    settings, prompts = Settings(40), [[1, 2, 1]]

    def passes(verifier: Verifier) -> int:
        choices, drafter = Uniforms([np.random.default_rng(3)]), ModelDrafter(DRAFT)
        return speculative_generate(
            TARGET, drafter, prompts, 3, settings, choices, verifier
        ).target_passes

    assert passes(rule) < passes(verify)


@pytest.mark.parametrize("kind", [LossyLenience, LossyGreedyLenience])
@pytest.mark.parametrize("lenience", [0.0, 1.5, float("nan")])
def test_a_lenience_outside_its_range_is_refused(kind: type, lenience: float):
    with pytest.raises(ValueError, match="it must be above 0 and at most 1"):
        kind(lenience)


def test_they_are_labelled_and_the_command_has_none():
    for rule in LOSSY.values():
        assert type(rule).__name__.startswith("Lossy") and rule.__doc__.startswith("LOSSY. ")
    for module in (cli, cli_generate):
        assert "lossy" not in Path(module.__file__).read_text(encoding="utf-8")
