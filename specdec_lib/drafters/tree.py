"""Drafting a tree: several candidates for a position, and several after each of them."""

from collections.abc import Callable, Sequence
from functools import partial
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
        read = partial(self._read, text)
        tree = grow_tree(read, self.widths[: limits[0]], self.candidates, self.warp, random_source)
        self.cache.truncate(min(self.cache.longest, len(text)))
        return tree.proposal(self.vocab_size, self.device)

    def _read(self, text: Sequence[int], builder: "TreeBuilder", level: list[int]) -> Tensor:
        """The logits (n, V) after each node of `level`; the cache holds those before it."""
        if level == [ROOT_NODE]:
            tokens, tree = torch.tensor([text[self.cache.longest :]], device=self.device), None
        else:
            tokens, tree = builder.last_level(level, self.device)
        return self.model.forward(tokens, self.cache, tree=tree)[0, -len(level) :]


class TreeBuilder(NamedTuple):
    """A tree that is being drafted, level by level."""

    tokens: list[int]
    parents: list[int]
    q: list[Tensor]

    def add(self, token: int, parent: int, q: Tensor) -> int:
        """Append a node; returns its number."""
        self.tokens.append(token)
        self.parents.append(parent)
        self.q.append(q)
        return len(self.tokens)

    def last_level(self, level: list[int], device: torch.device) -> tuple[Tensor, Tree]:
        """The tokens (1, n) of the nodes of `level`, the last one, and their place in the tree."""
        tokens = torch.tensor([self.tokens[level[0] - 1 :]], device=device)
        return tokens, Tree.from_parents(self.parents, device, n_cached=level[0])

    def proposal(self, vocab_size: int, device: torch.device) -> TreeProposal:
        """The tree as it is."""
        q = torch.stack(self.q) if self.q else torch.zeros(0, vocab_size, device=device)
        return TreeProposal(self.tokens, self.parents, q)


def grow_tree(
    read: Callable[[TreeBuilder, list[int]], Tensor],
    widths: Sequence[int],
    candidates: "CandidateRule",
    warp: Warp,
    random_source: RandomSource,
) -> TreeBuilder:
    """A tree with `widths[d]` candidates after every node of depth d, grown level by level.

    `read` gives the logits (n, V) after each of the n nodes of the last level, first the root.
    """
    builder, level = TreeBuilder([], [], []), [ROOT_NODE]
    for width in widths:
        logits, parents, level = read(builder, level), level, []
        for row, parent in zip(logits, parents, strict=True):
            for token, q in candidates(row, warp, width, random_source, len(builder.q)):
                level.append(builder.add(token, parent, q))
    return builder


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
