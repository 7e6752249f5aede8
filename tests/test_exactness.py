"""The law of speculative decoding is the target's: enumerated, so to rounding.

Every branch of the decoder is walked on lookup-table models, with every drafter; and ten mistakes
that are easily made are shown to change the law.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import pytest
import torch
from tape import Tape, autoregressive, distance, law
from torch import Tensor

from specdec_lib.decoding import verify
from specdec_lib.decoding.progress import Settings
from specdec_lib.decoding.speculative import speculative_generate
from specdec_lib.drafters.adaptive import MeasuredCost, Schedule
from specdec_lib.drafters.lookup import PromptLookup
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.drafters.ngram import Counts, NgramDrafter
from specdec_lib.drafters.protocol import Drafter
from specdec_lib.models.table import TableModel
from specdec_lib.sampling import LAST, Warp
from specdec_lib.theory import Costs

V, N = 3, 4
PROMPT = [1, 2, 1]
EXACT = 1e-12
PLAIN = Warp()


def table(seed: int, dtype: torch.dtype = torch.float64) -> TableModel:
    """A model that looks at two tokens; some of its probabilities are 0."""
    generator = torch.Generator().manual_seed(seed)
    weights = torch.rand(V, V, V, generator=generator, dtype=dtype)
    weights[weights < 0.15] = 0
    return TableModel(weights / weights.sum(-1, keepdim=True))


TARGET, DRAFT = table(1), table(2)
COUNTS = Counts(
    unigram=np.array([4, 2, 1]),
    bigram=np.array([[0, 1, 3], [0, 2, 1], [1, 0, 2], [2, 2, 5]]),
    trigram=np.array([[1, 2, 1, 2], [1, 2, 0, 1], [2, 1, 1, 1]]),
)
DRAFTERS: dict[str, Callable[[], Drafter]] = {
    "model": lambda: ModelDrafter(DRAFT),
    "model, stops when unsure": lambda: ModelDrafter(DRAFT, stop_below=0.4),
    "unigram": lambda: NgramDrafter(COUNTS, 1),
    "bigram": lambda: NgramDrafter(COUNTS, 2),
    "trigram": lambda: NgramDrafter(COUNTS, 3),
    "prompt lookup": lambda: PromptLookup(V),
    "the target itself": lambda: ModelDrafter(TARGET),
}


def decoder(
    drafter: Drafter,
    k: int | Schedule,
    warp: Warp = PLAIN,
    prompt: Sequence[int] = PROMPT,
    eos_id: int | None = None,
    count: int = N,
) -> Callable[[Tape], Sequence[int]]:
    """A function from choices to the new tokens."""
    settings = Settings(count, warp, eos_id)

    def run(choices: Tape) -> Sequence[int]:
        return speculative_generate(TARGET, drafter, [prompt], k, settings, choices).tokens[0]

    return run


def warped(warp: Warp) -> TableModel:
    """The target with its distributions warped."""
    return TableModel(warp(TARGET.logits))


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("name", DRAFTERS)
def test_the_law_is_the_targets(name: str, k: int):
    found = law(decoder(DRAFTERS[name](), k))
    assert distance(found, autoregressive(TARGET, PROMPT, N)) < EXACT


@pytest.mark.parametrize("prompt", [[0], [2, 0], [1, 2, 0, 1, 2]])
def test_the_law_is_the_targets_for_prompts_of_every_length(prompt: list[int]):
    found = law(decoder(ModelDrafter(DRAFT), 3, prompt=prompt))
    assert distance(found, autoregressive(TARGET, prompt, N)) < EXACT


@pytest.mark.parametrize("name", ["model", "bigram", "prompt lookup"])
@pytest.mark.parametrize(
    "warp",
    [Warp(0.5), Warp(2.0), Warp(top_k=2), Warp(top_p=0.7), Warp(1.5, 2, 0.9)],
    ids=["cold", "hot", "top-k", "top-p", "all three"],
)
def test_the_law_is_the_warped_targets(name: str, warp: Warp):
    found = law(decoder(DRAFTERS[name](), 2, warp))
    assert distance(found, autoregressive(warped(warp), PROMPT, N)) < EXACT


def test_the_law_is_the_targets_where_k_is_chosen_from_what_was_seen():
    costs = Costs(c=0.2, v={1: 1.0, 2: 1.1, 3: 1.2, 4: 1.3})
    drafter = ModelDrafter(DRAFT)

    def run(choices: Tape) -> Sequence[int]:
        return decoder(drafter, MeasuredCost(costs, alpha=0.5, trust=2))(choices)

    assert distance(law(run), autoregressive(TARGET, PROMPT, N)) < EXACT


@pytest.mark.parametrize("k", [1, 3])
def test_the_law_ends_with_the_end_of_sequence_wherever_it_falls_in_a_block(k: int):
    whole = autoregressive(TARGET, PROMPT, N)
    expected: dict[tuple[int, ...], float] = {}
    for tokens, weight in whole.items():
        end = tokens.index(0) + 1 if 0 in tokens else N
        expected[tokens[:end]] = expected.get(tokens[:end], 0.0) + weight
    found = law(decoder(ModelDrafter(DRAFT), k, eos_id=0))
    assert found.keys() == expected.keys()
    assert max(abs(found[key] - expected[key]) for key in expected) < EXACT


class ArgmaxDraft(Tape):
    """Drafts the most probable token and reports the whole q."""

    def draw(self, probs, index):
        return super().draw(probs, index) if index == LAST else probs.argmax(-1)


class MatchThenResample(Tape):
    """Accepts where a sample of p is the draft token, and then draws from the residual anyway."""

    def accept(self, p, q):
        return super().accept(p, torch.ones_like(q))


class RatioSwapped(Tape):
    """Accepts with q/p."""

    def accept(self, p, q):
        return super().accept(q, p.clamp(min=1e-300))


class UnsureDropped(ModelDrafter):
    """Throws the token away that made it stop."""

    def propose(self, sequences, limits, choices):
        proposal = super().propose(sequences, limits, choices)
        chosen = proposal.q.gather(-1, proposal.tokens[..., None])[0, :, 0]
        kept = int((chosen >= self.stop_below).long().cumprod(-1).sum())
        return proposal._replace(limits=[min(kept, *proposal.limits)])


class ShiftedQ(ModelDrafter):
    """Reports for each token the distribution of another position."""

    def propose(self, sequences, limits, choices):
        proposal = super().propose(sequences, limits, choices)
        return proposal._replace(q=proposal.q.roll(1, dims=1))


def target_again(p: Tensor, q: Tensor) -> Tensor:
    return p


def absolute_difference(p: Tensor, q: Tensor) -> Tensor:
    rest = (p - q).abs()
    return rest / rest.sum(-1, keepdim=True)


def draft_again(p: Tensor, q: Tensor) -> Tensor:
    """The rejected position is drawn from the draft; the bonus, where q is 0, from the target."""
    return torch.where(q.sum(-1, keepdim=True) > 0, q, p)


RIGHT = verify.next_distribution


def bonus_from_draft(p: Tensor, q: Tensor, count: Tensor, limits: Tensor) -> Tensor:
    whole = q.shape[1] > 0 and bool(count == limits)
    return q[:, -1] if whole else RIGHT(p, q, count, limits)


def stale_bonus(p: Tensor, q: Tensor, count: Tensor, limits: Tensor) -> Tensor:
    whole = q.shape[1] > 0 and bool(count == limits)
    return p[:, -2] if whole else RIGHT(p, q, count, limits)


class Mutant(NamedTuple):
    """One mistake: in the drafter, in the choices, or in a function of verify.py."""

    drafter: Callable[[], Drafter] = lambda: ModelDrafter(DRAFT)
    tape: type[Tape] = Tape
    function: tuple[str, Callable] | None = None


MUTANTS = {
    "argmax draft with the full q": Mutant(tape=ArgmaxDraft),
    "match, then resample": Mutant(tape=MatchThenResample),
    "ratio swapped": Mutant(tape=RatioSwapped),
    "low-confidence token dropped": Mutant(lambda: UnsureDropped(DRAFT, stop_below=0.4)),
    "q of another position": Mutant(lambda: ShiftedQ(DRAFT)),
    "residual equal to p": Mutant(function=("residual", target_again)),
    "residual |p - q|": Mutant(function=("residual", absolute_difference)),
    "no correction": Mutant(function=("residual", draft_again)),
    "bonus from q": Mutant(function=("next_distribution", bonus_from_draft)),
    "stale bonus row": Mutant(function=("next_distribution", stale_bonus)),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_the_enumeration_sees_the_mistake(name: str, monkeypatch: pytest.MonkeyPatch):
    mutant = MUTANTS[name]
    if mutant.function:
        monkeypatch.setattr(verify, *mutant.function)
    found = law(decoder(mutant.drafter(), 2, count=3), mutant.tape)
    assert distance(found, autoregressive(TARGET, PROMPT, 3)) > 0.01
