"""Drafting a tree: several candidates for a position, and several after each of them."""

from collections.abc import Callable, Sequence
from itertools import accumulate
from operator import mul
from typing import NamedTuple

import torch
from torch import Tensor

from specdec_lib.models.cache import Tree
from specdec_lib.models.llama import Llama
from specdec_lib.models.protocol import Texts, prefill
from specdec_lib.sampling import RandomSource, Warp

ROOT_NODE = 0  # the text's last token; draft tokens are numbered from 1


class TreeProposal(NamedTuple):
    """A tree of n draft tokens; a parent precedes its children.

    Row i of `q` is the very distribution that token i was drawn from; for a token that was looked
    up and not drawn it is 1 on the token.
    """

    tokens: list[int]
    parents: list[int]  # the number of each token's parent: ROOT_NODE, or 1 + its index here
    q: Tensor  # (n, V)


class ModelTreeDrafter:
    """A draft model's trees, for one row: `widths[d]` candidates after every node of depth d.

    `rule` is "independent" (drawn from q each, the same token twice perhaps) or "top" (the most
    probable, not drawn at all).
    """

    def __init__(self, model: Llama, widths: Sequence[int], rule: str = "independent"):
        self.model, self.widths, self.candidates = model, tuple(widths), CANDIDATE_RULES[rule]
        self.vocab_size, self.max_length = model.vocab_size, model.max_length
        self.device = model.device

    def nodes(self, depth: int) -> int:
        """The tokens of a full tree of `depth` levels."""
        return sum(accumulate(self.widths[:depth], mul))

    def start(self, texts: Texts, warp: Warp, capacity: int) -> None:
        """Read the prompt, all but its last token."""
        self.warp = warp
        self.cache = self.model.new_cache(1, capacity)
        prefill(self.model, self.cache, texts)

    def propose(
        self, texts: Texts, limits: Sequence[int], random_source: RandomSource
    ) -> TreeProposal:
        """A tree of at most limits[0] levels after the one sequence.

        Each level takes one pass; the first reads what is new in the text.
        """
        (text,) = texts
        tokens, parents, q = list[int](), list[int](), list[Tensor]()
        level = [ROOT_NODE]
        for width in self.widths[: limits[0]]:
            logits, n_before = self._read(text, tokens, parents, level), len(tokens)
            for row, parent in zip(logits, level, strict=True):
                for token, row_q in self.candidates(row, self.warp, width, random_source, len(q)):
                    tokens.append(token)
                    parents.append(parent)
                    q.append(row_q)
            level = list(range(n_before + 1, len(tokens) + 1))
        self.cache.truncate(min(self.cache.longest, len(text)))
        rows = torch.stack(q) if q else torch.zeros(0, self.vocab_size, device=self.device)
        return TreeProposal(tokens, parents, rows)

    def _read(
        self, text: Sequence[int], drafted: list[int], parents: list[int], level: list[int]
    ) -> Tensor:
        """The logits (n, V) after each node of `level`; the cache holds those before it."""
        new, tree = text[self.cache.longest :], None
        if level != [ROOT_NODE]:
            new = drafted[level[0] - 1 :]
            tree = Tree.from_parents(parents, self.device, n_cached=level[0])
        tokens = torch.tensor([new], device=self.device)
        return self.model.forward(tokens, self.cache, tree=tree)[0, -len(level) :]


Candidates = list[tuple[int, Tensor]]  # tokens, each with the q (V,) that it was drawn from
CandidateRule = Callable[[Tensor, Warp, int, RandomSource, int], Candidates]


def independent(
    logits: Tensor, warp: Warp, width: int, random_source: RandomSource, index: int
) -> Candidates:
    """`width` draws from the warped distribution; the first is draft token `index`."""
    q = warp(logits)
    tokens = [random_source.draft_token(q[None], index + i) for i in range(width)]
    return [(token, q) for token in torch.cat(tokens).tolist()]


def top(
    logits: Tensor, warp: Warp, width: int, random_source: RandomSource, index: int
) -> Candidates:
    """The most probable tokens, whatever the warp is; each with a q of 1."""
    tokens = logits.topk(min(width, len(logits))).indices
    q = torch.zeros(len(tokens), len(logits), device=logits.device)
    return list(zip(tokens.tolist(), q.scatter_(-1, tokens[:, None], 1.0), strict=True))


CANDIDATE_RULES: dict[str, CandidateRule] = {
    "independent": independent,
    "top": top,
}
