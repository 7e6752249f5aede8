"""The best draft that does not see the last token, and what the built-in heads are beside it."""

import re

import pytest
import torch
from decoders.exact_drafters import EXACT, tiny_llama
from decoders.random_models import medusa_heads

from specdec_lib.assets import ASSETS
from specdec_lib.drafters.medusa import load_heads
from specdec_lib.measure.core import held_out
from specdec_lib.models.llama import Llama
from specdec_lib.training.ceiling import acceptance_unseen, best_unseen

IDS = [0, 1, 2, 2, 0, 1, 1, 2, 0, 2]


def worth(q: torch.Tensor, p: torch.Tensor, weights: torch.Tensor) -> float:
    """sum_x weights(x) sum_y min(p(y | x), q(y))."""
    return float(weights @ torch.minimum(p, q).sum(-1))


def drawn(*shape: int, seed: int) -> torch.Tensor:
    """Distributions, some of their entries 0."""
    generator = torch.Generator().manual_seed(seed)
    weights = torch.rand(*shape, generator=generator, dtype=torch.float64)
    weights = weights.where(weights > 0.2, 0) + 1e-9
    return weights / weights.sum(-1, keepdim=True)


@pytest.mark.parametrize("seed", range(5))
def test_no_other_draft_is_worth_more(seed: int):
    p, weights = drawn(4, 3, seed=seed), drawn(4, seed=seed + 10)
    best = best_unseen(p, weights)
    assert best.sum() == pytest.approx(1, abs=EXACT) and (best >= 0).all()
    steps = torch.arange(101, dtype=torch.float64) / 100
    grid = torch.cartesian_prod(steps, steps)
    grid = grid[grid.sum(-1) <= 1]
    others = torch.cat((grid, 1 - grid.sum(-1, keepdim=True)), -1).clamp(min=0)
    values = [worth(q, p, weights) for q in (*others, *p, weights @ p)]
    assert worth(best, p, weights) >= max(values) - EXACT
    assert worth(best, p, weights) <= max(values) + 0.02  # the grid comes this near


def test_on_pairs_worked_out_by_hand():
    certain = torch.eye(2, dtype=torch.float64)
    half = torch.tensor([0.5, 0.5], dtype=torch.float64)
    assert worth(best_unseen(certain, half), certain, half) == pytest.approx(0.5)
    uneven = torch.tensor([0.75, 0.25], dtype=torch.float64)
    assert best_unseen(certain, uneven).tolist() == pytest.approx([1, 0])  # all on the likelier one
    assert best_unseen(certain[:1], torch.ones(1).double()).tolist() == pytest.approx([1, 0])


def test_it_is_averaged_over_the_tokens_that_the_target_may_draw(tmp_path):
    target = tiny_llama(tmp_path, seed=1)
    heads, passes, expected = medusa_heads(target), [], torch.zeros(2).double()
    logits = target.forward(torch.tensor([IDS]), target.new_cache(), observe=passes.append)
    p = logits[0].softmax(-1)
    novel = [False, True, False, True, True, False, True, True, True, True]
    ends = [2, 3, 5, 6, 7, 8]  # their next token is novel, and a state gave theirs
    for end in ends:
        texts = torch.tensor([[*IDS[:end], token] for token in range(3)])
        after = target.forward(texts, target.new_cache(3))[:, -1].softmax(-1)
        q = target.head(heads(passes[0].states[:, end - 1], 1))[0, 0].softmax(-1)
        for i, draft in enumerate((best_unseen(after, p[end - 1]), q)):
            expected[i] += worth(draft, after, p[end - 1]) / len(ends)
    unseen = acceptance_unseen(target, heads, [held_out.Tokens("a", IDS, novel, [1] * 10)])
    assert unseen.positions == len(ends)
    assert unseen[:2] == pytest.approx(expected.tolist(), abs=1e-10)


@pytest.mark.slow
def test_the_card_says_what_is_measured():
    target = Llama.from_folder(ASSETS / "target")
    unseen = acceptance_unseen(target, load_heads(target), held_out.all_tokens())
    card = (ASSETS / "medusa" / "README.md").read_text(encoding="utf-8")
    (said,) = re.findall(r"accepted (0\.\d+) of the time,\nthe first head (0\.\d+)", card)
    assert unseen[:2] == pytest.approx([float(rate) for rate in said], abs=2e-3)
