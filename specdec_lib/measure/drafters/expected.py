"""Tokens a block of chains and trees, computed on texts that the target wrote: no coin, no clock.

Given a text, every one of its tokens is accepted with a chance of its own. The target writes x with
p(x): with min(p, q)(x) by accepting it as a draft token, with the rest by correction. So of all x
in the text the share min(1, q/p) was accepted, whatever happened before; and how many blocks a text
takes on average is a sum over the places where blocks may begin. At temperature 0 the chance is 1
or 0. With several candidates it is the chance that one of them is accepted.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from specdec_lib.decoding.verify import probability_of, residual
from specdec_lib.measure.core.by_step import StateDrafter, proposed
from specdec_lib.models.cache import Hidden
from specdec_lib.models.llama import Llama
from specdec_lib.sampling import Warp

DEPTH = 8  # tokens that a chain drafts at most
CANDIDATES = 4  # for one place at most
ROWS = 32  # places of a text drafted for at once


class Written(NamedTuple):
    """A text of N new tokens that the target wrote, and what it made of every place."""

    ids: list[int]  # the prompt and the text
    start: int  # where the text begins
    p: Tensor  # (N, V): the target's distributions, before each token
    hidden: Hidden  # of all of `ids`

    @property
    def tokens(self) -> Tensor:
        """The text (N,)."""
        return torch.tensor(self.ids[self.start :])


# The distributions (N, DEPTH, V) that a drafter would have along a text: at [s, d] before token
# s + d, in a block that begins at token s and has drafted the text's own tokens so far. (N, 1, V)
# where it does not matter when the block began: at [s, 0] before token s.
Along = Callable[[Written], Tensor]
# The chances (texts, N, DEPTH, CANDIDATES) at [text, s, d, n - 1], with n candidates.
Chances = np.ndarray


def written(target: Llama, prompt: Sequence[int], text: Sequence[int]) -> Written:
    """What the built-in target makes of `text`, which it wrote after `prompt`."""
    ids, passes = [*prompt, *text], list[Hidden]()
    cache = target.new_cache(1, len(ids))
    logits = target.forward(torch.tensor([ids]), cache, observe=passes.append)[0]
    return Written(ids, len(prompt), Warp()(logits[len(prompt) - 1 : -1]), passes[0])


def along_model(draft: Llama) -> Along:
    """A draft model's: its distributions after the text, wherever the block began."""

    def read(text: Written) -> Tensor:
        logits = draft.forward(torch.tensor([text.ids]), draft.new_cache(1, len(text.ids)))[0]
        return Warp()(logits[text.start - 1 : -1])[:, None]

    return read


def along_states(drafter: StateDrafter) -> Along:
    """Those of a drafter on the target's states: they were read up to where the block begins."""

    def read(text: Written) -> Tensor:
        ids = text.ids + [0] * DEPTH  # what is drafted beyond the end is not looked at
        ends = torch.arange(text.start - 1, len(text.ids) - 1)
        parts = [proposed(drafter, text.hidden, ids, part, DEPTH) for part in ends.split(ROWS)]
        return torch.cat(parts)

    return read


def chances(texts: Sequence[Written], along: Along, greedy: bool) -> Chances:
    """The chances of every token of `texts`, all of one length.

    At temperature 1 candidates are drawn independently; if `greedy` they are the most probable.
    """
    return np.stack([chances_in(text, along(text), greedy) for text in texts])


def chances_in(text: Written, q: Tensor, greedy: bool) -> np.ndarray:
    """The chances (N, DEPTH, CANDIDATES) in one text; 0 beyond its end."""
    judge, tokens = (among_top if greedy else accepted), text.tokens
    found = torch.zeros(len(q), DEPTH, CANDIDATES, dtype=torch.float64)
    deep = min(DEPTH, len(q))
    known = [judge(text.p[d:], q[: len(q) - d, d], tokens[d:]) for d in range(deep)[: q.shape[1]]]
    for d in range(deep):
        found[: len(q) - d, d] = known[d] if q.shape[1] > 1 else known[0][d:]
    return found.numpy()


def accepted(p: Tensor, q: Tensor, tokens: Tensor) -> Tensor:
    """The chance (N, CANDIDATES) that each of `tokens` was one of 1, 2, ... draws from q.

    Candidates are judged one after the other, each against what the ones before it left of p.
    """
    p, q, own = p.double(), q.double(), tokens[:, None]
    rest, left, found = p, p.new_ones(len(p)), []
    for _ in range(CANDIDATES):
        both = torch.minimum(rest, q)
        found.append(left * probability_of(own, both[:, None])[:, 0])
        left = left * (1 - both.sum(-1)).clamp(min=0)
        rest = residual(rest, q)
    by_draft = torch.stack(found, -1).cumsum(-1)
    return (by_draft / probability_of(own, p[:, None])).clamp(max=1)


def among_top(p: Tensor, q: Tensor, tokens: Tensor) -> Tensor:
    """1 (N, CANDIDATES) where one of q's most probable 1, 2, ... tokens is the text's, else 0."""
    top = q.topk(min(CANDIDATES, q.shape[-1])).indices
    hits = (top == tokens[:, None]).double().cumsum(-1)
    return hits[:, [min(n, top.shape[1] - 1) for n in range(CANDIDATES)]]


def tokens_a_block(found: Chances, widths: Sequence[int]) -> float:
    """Tokens a block on average, with `widths[d]` candidates for the place d of a block."""
    levels = np.stack([found[:, :, d, n - 1] for d, n in enumerate(widths)], -1)
    texts, tokens, _ = levels.shape
    return float(texts * tokens / blocks(levels).sum())


def blocks(levels: np.ndarray) -> np.ndarray:
    """How many blocks each text takes on average; `levels` (B, N, D) are the chances.

    Counted from the end: a block accepts some tokens and adds the one after them. It drafts one
    token fewer than there are left.
    """
    texts, tokens, depth = levels.shape
    needed = np.zeros((texts, tokens + 1))
    for begin in reversed(range(tokens)):
        reached, after = np.ones(texts), np.ones(texts)
        drafted = min(depth, tokens - begin - 1)
        for d in range(drafted):
            chance = levels[:, begin, d]
            after = after + reached * (1 - chance) * needed[:, begin + d + 1]
            reached = reached * chance
        needed[:, begin] = after + reached * needed[:, begin + drafted + 1]
    return needed[:, 0]
