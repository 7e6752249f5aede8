"""Speculative decoding of one text with one draft model: the whole algorithm, on real models.

A small draft model writes K tokens. The target reads all of them in one pass, accepts them up to
the first that it rejects, and adds one token of its own. So every pass of the target writes between
1 and K + 1 tokens, and their distribution is the target's: Leviathan et al. (2023), Algorithm 1.

As in the paper, p is a distribution of the target and q one of the draft model. Its gamma is K
here; V is the size of the vocabulary, and n the number of draft tokens in a block. The five steps
are those of the paper's algorithm, in its order. decoding/ has them for batches, other drafters and
trees, and a test compares the two token by token.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from specdec_lib.models.protocol import Cache, EosIds, Model, eos_ids
from specdec_lib.sampling import Choices, Warp


@dataclass
class Result:
    """What `generate` gives. The target made one pass for each block."""

    tokens: list[int] = field(default_factory=list)  # the new ones
    accepted: list[int] = field(default_factory=list)  # draft tokens, block by block


@torch.inference_mode()
def generate(
    target: Model,
    draft_model: Model,
    prompt: Sequence[int],
    k: int,
    max_new_tokens: int,
    warp: Warp,
    choices: Choices,
    eos_id: EosIds = None,
) -> Result:
    """The tokens after `prompt`: up to `max_new_tokens`, or up to an end, which is kept.

    `warp` holds the temperature. `choices` makes every random decision (sampling.py):
    `Uniforms([rng])` with the numbers of a generator, `Greedy()` at temperature 0. k = 0 is plain
    decoding. `eos_id` is a token that ends the text, or several.
    """
    result, room, ends = Result(), len(prompt) + max_new_tokens, eos_ids(eos_id)
    target_cache, draft_cache = target.new_cache(1, room), draft_model.new_cache(1, room)
    while len(result.tokens) < max_new_tokens and ends.isdisjoint(result.tokens):
        text = [*prompt, *result.tokens]
        n = min(k, max_new_tokens - len(result.tokens) - 1)  # a block adds one more
        choices.begin([n], [True])

        # 1. Sample n draft tokens, one after the other.
        drafted, q = draft(draft_model, draft_cache, text, n, warp, choices)

        # 2. Run the target once: p after the text, and after each draft token.
        p = read(target, target_cache, text + drafted, warp)[-n - 1 :]  # (n + 1, V)

        # 3. to 5. Accept draft tokens from the first on, and draw the token after them.
        accepted, token = verify(p, q, drafted, choices)
        result.tokens += up_to_end([*drafted[:accepted], token], ends)
        result.accepted.append(accepted)

        # Forget the rejected ones. No cache has read the new token yet.
        for cache in (target_cache, draft_cache):
            roll_back(cache, len(text) + accepted)
    return result


def draft(
    model: Model, cache: Cache, text: list[int], n: int, warp: Warp, choices: Choices
) -> tuple[list[int], list[Tensor]]:
    """`n` draft tokens after `text`, and for each the distribution (V,) that it was drawn from."""
    drafted, distributions = [], []
    for i in range(n):
        q = read(model, cache, text + drafted, warp)[-1]  # (V,)
        drafted.append(int(choices.draft(q[None], i)))
        distributions.append(q)
    return drafted, distributions


def verify(p: Tensor, q: list[Tensor], drafted: list[int], choices: Choices) -> tuple[int, int]:
    """How many of the `drafted` tokens are accepted, and the token that follows them.

    `p` (n + 1, V) are the target's distributions, and `q`, n of (V,), those of the draft model.
    """
    n = len(drafted)

    # 3. Accept token i if r_i < p_i / q_i, with a uniform number r_i, up to the first rejection.
    p_drafted, q_drafted = probability_of(drafted, p), probability_of(drafted, q)  # (1, n)
    r = choices.coins(p_drafted, q_drafted)  # (1, n)
    passed = (r * q_drafted < p_drafted)[0].tolist()
    accepted = [*passed, False].index(False)

    # 4. After a rejection, take away from p what the draft has covered already.
    rest = residual(p[accepted], q[accepted]) if accepted < n else p[n]  # (V,)

    # 5. One token from there: the correction, or after a whole block the bonus token.
    return accepted, int(choices.last(rest[None]))


def probability_of(tokens: list[int], distributions: Sequence[Tensor]) -> Tensor:
    """The probability (1, n) of each of `tokens` in the distribution (V,) at its place."""
    pairs = zip(distributions, tokens, strict=False)  # p has one row more
    return torch.tensor([[float(each[token]) for each, token in pairs]], dtype=torch.float64)


def residual(p: Tensor, q: Tensor) -> Tensor:
    """max(p - q, 0), divided by its sum, for p and q (V,): the distribution of a correction.

    If p <= q everywhere (rounding), fall back to p.
    """
    rest = (p - q).clamp(min=0)  # (V,)
    return rest / rest.sum() if rest.any() else p


def read(model: Model, cache: Cache, text: Sequence[int], warp: Warp) -> Tensor:
    """The distributions (t, V) after those t tokens of `text` that `cache` does not hold yet."""
    new = torch.tensor([text[int(cache.length) :]], device=model.device)  # (1, t)
    return warp(model.forward(new, cache)[0])  # (t, V)


def roll_back(cache: Cache, length: int) -> None:
    """Let `cache` forget what lies beyond the first `length` tokens."""
    cache.truncate(min(int(cache.length), length))


def up_to_end(tokens: list[int], ends: frozenset[int]) -> list[int]:
    """`tokens` up to the first of `ends`, which is kept; all of them if none is there."""
    ended = [i for i, token in enumerate(tokens, start=1) if token in ends]
    return tokens[: min(ended, default=None)]
