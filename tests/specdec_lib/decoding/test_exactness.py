"""The distribution of speculative decoding is the target's: enumerated, so to rounding.

Every branch of the decoder is walked on models of three tokens, with every drafter and with a
mistake in each (exact_drafters.py); and mistakes that are easily made in drafting or judging
are shown to change the distribution.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import torch
from decoders.exact_drafters import (
    DRAFT,
    EXACT,
    NO_DRAFTERS,
    PROMPT,
    ROWS,
    TARGET,
    Llamas,
    autoregressive,
    plain_distribution,
)
from decoders.tables import TableModel
from torch import Tensor
from torch.nn.functional import one_hot

from specdec_lib import drafters
from specdec_lib.decoding import verify
from specdec_lib.decoding.generate import plain_generate, speculative_generate
from specdec_lib.decoding.state import Settings
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.drafters.protocol import Drafter
from specdec_lib.exact import Tape, distribution, total_variation_distance
from specdec_lib.models.protocol import EosIds
from specdec_lib.sampling import Greedy, Warp

N = 4
PLAIN, FILTER = Warp(), Warp(top_k=2)
SIZES = [(name, size) for name, row in ROWS.items() for size in row.sizes]


@pytest.fixture(scope="module")
def plain(llamas: Llamas) -> Callable[[str, int], dict]:
    """The distribution of plain decoding under the target of a row, walked once for each length."""
    distributions = {}

    def find(name: str, count: int) -> dict:
        target = ROWS[name].target_of(llamas)
        if (target, count) not in distributions:
            distributions[target, count] = plain_distribution(target, PROMPT, count)
        return distributions[target, count]

    return find


@pytest.mark.parametrize(("name", "size"), SIZES)
def test_the_distribution_is_the_targets(llamas: Llamas, plain, name: str, size):
    actual = distribution(ROWS[name].decoder(llamas, size))
    assert total_variation_distance(actual, plain(name, ROWS[name].count)) < EXACT


@pytest.mark.parametrize("name", ROWS)
def test_a_mistake_in_the_drafter_is_seen(llamas: Llamas, plain, name: str):
    row = ROWS[name]._replace(count=min(ROWS[name].count, 3))
    actual = distribution(row.decoder(llamas, row.sizes[-1], wrong=True))
    assert total_variation_distance(actual, plain(name, row.count)) > 0.01


@pytest.mark.parametrize(("name", "size"), SIZES)
def test_at_temperature_0_the_text_is_that_of_plain_decoding(llamas: Llamas, name: str, size):
    row, settings = ROWS[name], Settings(24, Warp(0))
    drafter = row.make(llamas, size) if row.is_tree else row.make(llamas)
    expected = plain_generate(row.target_of(llamas), [PROMPT], settings, Greedy())
    made = row.written(llamas, drafter, size, settings, Greedy())
    assert made.tokens == expected.tokens and made.target_passes <= 24


def test_no_drafter_is_left_out():
    files = {path.name for path in Path(drafters.__file__).parent.glob("*.py")}
    assert {row.file for row in ROWS.values()} == files - NO_DRAFTERS


def test_plain_decoding_on_a_table_has_the_distribution_that_the_table_says(llamas: Llamas, plain):
    assert total_variation_distance(plain("model", N), autoregressive(TARGET, PROMPT, N)) < EXACT


def decoder(
    drafter: Drafter,
    k: int,
    warp: Warp = PLAIN,
    prompt: Sequence[int] = PROMPT,
    eos_id: EosIds = None,
    count: int = N,
) -> Callable[[Tape], list[int]]:
    """A function from a random source to the new tokens."""
    settings = Settings(count, warp, eos_id)

    def run(random_source: Tape) -> list[int]:
        return speculative_generate(TARGET, drafter, [prompt], k, settings, random_source).tokens[0]

    return run


def warped(warp: Warp) -> TableModel:
    """The target with its distributions warped."""
    return TableModel(warp(TARGET.logits))


@pytest.mark.parametrize("prompt", [[0], [2, 0], [1, 2, 0, 1, 2]])
def test_the_distribution_is_the_targets_for_prompts_of_every_length(prompt: list[int]):
    actual = distribution(decoder(ModelDrafter(DRAFT), 2, prompt=prompt, count=3))
    assert total_variation_distance(actual, autoregressive(TARGET, prompt, 3)) < EXACT


@pytest.mark.parametrize("name", ["model", "bigram"])
@pytest.mark.parametrize(
    "warp",
    [Warp(0.5), Warp(2.0), Warp(top_k=2), Warp(top_p=0.7), Warp(1.5, 2, 0.9)],
    ids=["cold", "hot", "top-k", "top-p", "all three"],
)
def test_the_distribution_is_the_warped_targets(name: str, warp: Warp):
    actual = distribution(decoder(ROWS[name].make(), 2, warp, count=3))
    assert total_variation_distance(actual, autoregressive(warped(warp), PROMPT, 3)) < EXACT


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("ends", [0, 2, np.int64(1), [0], (0, 2), (1, 7), (0, 1, 2), ()])
def test_the_distribution_ends_with_the_first_end_wherever_it_is_in_a_block(k: int, ends: EosIds):
    """A prompt holds ends that do not count, and 7 is beyond the vocabulary."""
    whole, listed = autoregressive(TARGET, PROMPT, 3), list(ends) if np.ndim(ends) else [ends]
    expected: dict[tuple[int, ...], float] = {}
    for tokens, weight in whole.items():
        end = next((i for i, token in enumerate(tokens, start=1) if token in listed), 3)
        expected[tokens[:end]] = expected.get(tokens[:end], 0.0) + weight
    actual = distribution(decoder(ModelDrafter(DRAFT), k, eos_id=ends, count=3))
    assert actual.keys() == expected.keys()
    assert max(abs(actual[key] - expected[key]) for key in expected) < EXACT


class ArgmaxDraft(Tape):
    """Drafts the most probable token and reports the whole q."""

    def draft_token(self, q, index):
        return q.argmax(-1)


class MatchThenResample(Tape):
    """Has the branches of `matches`."""

    def acceptance_uniforms(self, p, q):
        return super().acceptance_uniforms(p, torch.ones_like(q))


class RatioSwapped(Tape):
    """Has the branches of `swapped`."""

    def acceptance_uniforms(self, p, q):
        return super().acceptance_uniforms(q, p.clamp(min=1e-300))


class OneCoin(Tape):
    """Judges every token with the same uniform number, as a loop that seeds itself does."""

    def acceptance_uniforms(self, p, q):
        return torch.full_like(p, 0.4963)


class FilteredUnsaid(Tape):
    """Draws the draft token from the warped distribution; the q beside it is as it was."""

    def draft_token(self, q, index):
        return super().draft_token(FILTER(q.log()), index)


class Unfiltered(ModelDrafter):
    """Knows nothing of the warp."""

    def start(self, texts, warp, capacity):
        super().start(texts, PLAIN, capacity)


class Filtered(ModelDrafter):
    """Warps by itself, whatever is asked."""

    def start(self, texts, warp, capacity):
        super().start(texts, FILTER, capacity)


class OneHotQ(ModelDrafter):
    """Draws its tokens and says that they were certain."""

    def propose(self, texts, limits, random_source):
        proposal = super().propose(texts, limits, random_source)
        return proposal._replace(q=one_hot(proposal.tokens, proposal.q.shape[-1]).to(proposal.q))


class UnsureDropped(ModelDrafter):
    """Ends before the first token of which it is unsure."""

    def propose(self, texts, limits, random_source):
        proposal = super().propose(texts, limits, random_source)
        chosen = proposal.q.gather(-1, proposal.tokens[..., None])[0, :, 0]
        n_sure = int((chosen >= 0.4).long().cumprod(-1).sum())
        return proposal._replace(limits=[min(n_sure, *proposal.limits)])


def matches(p: Tensor, q: Tensor, r: Tensor) -> Tensor:
    """A sample of p is the draft token. A rejection draws from the residual anyway."""
    return r < p


def swapped(p: Tensor, q: Tensor, r: Tensor) -> Tensor:
    """The draft token is accepted with probability q/p."""
    return r * p < q


def target_again(p: Tensor, q: Tensor) -> Tensor:
    return p


def absolute_difference(p: Tensor, q: Tensor) -> Tensor:
    difference = (p - q).abs()
    return difference / difference.sum(-1, keepdim=True)


def draft_again(p: Tensor, q: Tensor) -> Tensor:
    """The rejected position is drawn from the draft; the bonus, if q is 0, from the target."""
    return torch.where(q.sum(-1, keepdim=True) > 0, q, p)


RIGHT = verify.next_distribution


def bonus_from_draft(p: Tensor, q: Tensor, count: Tensor, limits: Tensor) -> Tensor:
    whole = q.shape[1] > 0 and bool(count == limits)
    return q[:, -1] if whole else RIGHT(p, q, count, limits)


def stale_bonus(p: Tensor, q: Tensor, count: Tensor, limits: Tensor) -> Tensor:
    whole = q.shape[1] > 0 and bool(count == limits)
    return p[:, -2] if whole else RIGHT(p, q, count, limits)


class Mutant(NamedTuple):
    """One mistake: in the drafter, the random source, a function of verify.py, or the warp.

    `asked` is the warp that was asked for, `warp` the one that the decoder gets.
    """

    drafter: Callable[[], Drafter] = lambda: ModelDrafter(DRAFT)
    tape: type[Tape] = Tape
    function: tuple[str, Callable] | None = None
    warp: Warp = PLAIN
    asked: Warp = PLAIN


MUTANTS = {
    "argmax draft with the full q": Mutant(tape=ArgmaxDraft),
    "match, then resample": Mutant(tape=MatchThenResample, function=("accepts", matches)),
    "ratio swapped": Mutant(tape=RatioSwapped, function=("accepts", swapped)),
    "one coin for all": Mutant(tape=OneCoin),
    "filtered draft, raw q": Mutant(
        lambda: Unfiltered(DRAFT), FilteredUnsaid, warp=FILTER, asked=FILTER
    ),
    "filtered draft, raw target": Mutant(lambda: Filtered(DRAFT), asked=FILTER),
    "low-confidence token dropped": Mutant(lambda: UnsureDropped(DRAFT)),
    "residual equal to p": Mutant(function=("residual_rows", target_again)),
    "residual |p - q|": Mutant(function=("residual_rows", absolute_difference)),
    "no correction": Mutant(function=("residual_rows", draft_again)),
    "bonus from q": Mutant(function=("next_distribution", bonus_from_draft)),
    "stale bonus row": Mutant(function=("next_distribution", stale_bonus)),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_the_enumeration_sees_the_mistake(name: str, monkeypatch: pytest.MonkeyPatch):
    mutant = MUTANTS[name]
    if mutant.function:
        monkeypatch.setattr(verify, *mutant.function)
    actual = distribution(decoder(mutant.drafter(), 2, mutant.warp, count=3), mutant.tape)
    assert total_variation_distance(actual, autoregressive(warped(mutant.asked), PROMPT, 3)) > 0.01


def next_token_distribution(model: TableModel) -> Tensor:
    """The model's distribution (V,) after the prompt."""
    return PLAIN(model.forward(torch.tensor([PROMPT]), model.new_cache()))[0, -1]


def acceptance(drafter: Drafter) -> float:
    """The probability that the first draft token of a text is accepted."""

    def run(random_source: Tape) -> list[int]:
        settings = Settings(2)
        written = speculative_generate(TARGET, drafter, [PROMPT], 1, settings, random_source)
        return [written.blocks[0][0].n_accepted]

    return distribution(run)[1,]


def test_a_draft_is_accepted_as_often_as_both_distributions_overlap():
    """A q that is called certain stays exact, and costs acceptance: only this shows it."""
    p, q = (next_token_distribution(model) for model in (TARGET, DRAFT))
    assert acceptance(ModelDrafter(DRAFT)) == pytest.approx(float(torch.minimum(p, q).sum()))
    assert acceptance(OneHotQ(DRAFT)) == pytest.approx(float((p * q).sum()))
    certain = distribution(decoder(OneHotQ(DRAFT), 2, count=3))
    assert total_variation_distance(certain, autoregressive(TARGET, PROMPT, 3)) < EXACT
