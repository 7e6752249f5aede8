"""What a draft can be worth that does not see the text's last token, whatever its size.

A Medusa head reads the state that gave the last token, and not the token. Its one q has to serve
every token x that the target may have drawn there. The best that it can be is the q of the largest
E_x[sum_y min(p(y | x), q(y))], x drawn from the target: the acceptance rate of Leviathan et al.
(2023), Theorem 3.5, averaged over what the head does not know.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from specdec_lib.drafters.hidden import at
from specdec_lib.drafters.medusa import Heads
from specdec_lib.measure.core.acceptance import windows
from specdec_lib.measure.core.held_out import Tokens
from specdec_lib.models.cache import Hidden, KVCache, Tree
from specdec_lib.models.llama import Llama
from specdec_lib.sampling import Warp

TOKENS = 128  # the likeliest x that are looked at, as if the target drew no other
HALVINGS = 40  # of the interval in which the level of `best_unseen` is looked for


class Unseen(NamedTuple):
    """Acceptance rates after a token that is not seen, averaged over the tokens it may be."""

    best: float  # of the best draft there is
    head: float  # of the first Medusa head
    positions: int


def acceptance_unseen(
    target: Llama, heads: Heads, texts: Sequence[Tokens], most: int = 400
) -> Unseen:
    """Both rates at temperature 1, on at most `most` novel positions of held-out text."""
    totals, positions = torch.zeros(2, dtype=torch.float64), 0
    room = min(TOKENS, target.vocab_size)
    for ids, judged in windows(texts, most):
        cache = target.new_cache(1, len(ids) + room)
        tokens, passes = torch.tensor([ids], device=target.device), list[Hidden]()
        p = Warp()(target.forward(tokens, cache, observe=passes.append)[0])
        states = passes[0].states
        inside = judged[(judged > 0) & (judged + room <= cache.capacity)].tolist()
        for end in reversed(inside):  # what is read after an end hides the text from there on
            weights, after = distributions_after(target, cache, ids[:end], p[end - 1])
            q = Warp()(target.head(heads(at(states, [end - 1]), 1)))[0, 0]
            for i, draft in enumerate((best_unseen(after, weights), q)):
                totals[i] += weights @ torch.minimum(after, draft).sum(-1)
        positions += len(inside)
    return Unseen(*(totals / positions).tolist(), positions)


def distributions_after(
    target: Llama, cache: KVCache, text: list[int], p: Tensor
) -> tuple[Tensor, Tensor]:
    """The weights (M,) of the likeliest next tokens, and what the target gives after each (M, V).

    `p` (V,) is the target's distribution after `text`, which `cache` holds. All are read in one
    pass, as children of the text's last token.
    """
    weights, tokens = p.topk(min(TOKENS, len(p)))
    cache.truncate(len(text) - 1)
    fed = torch.cat((tokens.new_tensor(text[-1:]), tokens))[None]
    tree = Tree.of([0] * len(tokens), target.device)
    rows = Warp()(target.forward(fed, cache, tree=tree)[0, 1:])
    return weights.double() / weights.sum(), rows.double()


def best_unseen(p: Tensor, weights: Tensor) -> Tensor:
    """The q (V,) of the largest sum_x weights(x) sum_y min(p(y | x), q(y)), for p (M, V).

    Mass on y is worth the weight of all x with p(y | x) > q(y), which falls as q(y) grows. At the
    best q it is worth the same everywhere: q(y) is a quantile of p(y | x), of one level for all y,
    and the level is the one at which these sum to 1.
    """
    ordered, places = p.sort(dim=0)
    above = 1 - weights[places].cumsum(0)  # the weight of the x beyond each
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        level = (low + high) / 2
        low, high = (level, high) if quantile(ordered, above, level).sum() > 1 else (low, level)
    more, less = (quantile(ordered, above, level) for level in (low, high))
    between = (1 - less.sum()) / (more.sum() - less.sum()).clamp(min=torch.finfo(p.dtype).tiny)
    return less + between * (more - less)  # where the two differ, any q between is as good


def quantile(ordered: Tensor, above: Tensor, level: float) -> Tensor:
    """For each column of `ordered` (M, V) the least that has no more than `level` above it.

    0 where all of the column may be above.
    """
    if level >= 1:
        return torch.zeros_like(ordered[0])
    first = (above > level).sum(0).clamp(max=len(ordered) - 1)
    return ordered.gather(0, first[None])[0]
