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

import numpy as np
import torch
from torch import Tensor

from specdec_lib.models.protocol import Cache, EosIds, Model, eos_ids
from specdec_lib.sampling import Warp, sample_from


@dataclass
class Continuation:
    """What `generate` returns. The target made one pass for each block."""

    tokens: list[int] = field(default_factory=list)  # the new tokens
    accepted: list[int] = field(default_factory=list)  # draft tokens per block, also after eos_id


@torch.inference_mode()
def generate(
    target: Model,
    draft_model: Model,
    prompt: Sequence[int],
    k: int,
    max_new_tokens: int,
    warp: Warp = Warp(),
    rng: np.random.Generator | None = None,
    eos_id: EosIds = None,
) -> Continuation:
    """Generate at most `max_new_tokens` tokens after `prompt`; stop after `eos_id` (inclusive).

    `warp` holds the temperature, and all random numbers come from `rng`, by default one without a
    seed. k = 0 is plain decoding. `eos_id` is a token that ends the text, or several.
    """
    result = Continuation()
    stop_tokens = eos_ids(eos_id)
    rng = rng or np.random.default_rng()
    capacity = len(prompt) + max_new_tokens
    target_cache = target.new_cache(1, capacity)
    draft_cache = draft_model.new_cache(1, capacity)
    while len(result.tokens) < max_new_tokens and stop_tokens.isdisjoint(result.tokens):
        text = [*prompt, *result.tokens]
        n = min(k, max_new_tokens - len(result.tokens) - 1)  # a block adds one more
        u_draft, r, u_next = uniform_numbers(n, warp, rng)

        # 1. Sample n draft tokens, one after the other.
        drafted, q = draft_tokens(draft_model, text, draft_cache, u_draft, warp)

        # 2. Run the target once: p after the text, and after each draft token.
        logits = logits_after(target, text + drafted, target_cache)
        p = warp(logits[-n - 1 :]).cpu()  # (n + 1, V)

        # 3. to 5. Accept draft tokens from the first on, and sample the token after them.
        n_accepted, next_token = verify(p, q, drafted, r, u_next)
        result.tokens += up_to_end([*drafted[:n_accepted], next_token], stop_tokens)
        result.accepted.append(n_accepted)

        # Roll back: forget the rejected ones. The draft model has not read its last token yet.
        length = len(text) + n_accepted
        target_cache.truncate(length)
        draft_cache.truncate(min(length, int(draft_cache.length)))
    return result


def uniform_numbers(
    n: int, warp: Warp, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, float]:
    """What a block draws from [0, 1), in this order, used or not; at temperature 0 nothing.

    n numbers for the draft tokens, n numbers r that accept them, and one for the token after them.
    """
    if warp.temperature == 0:  # each distribution stands on one token, which any number picks
        return np.zeros(n), np.zeros(n), 0.0
    return rng.random(n), rng.random(n), rng.random()


def draft_tokens(
    model: Model, text: list[int], cache: Cache, u: np.ndarray, warp: Warp
) -> tuple[list[int], list[Tensor]]:
    """A draft token after `text` for each number of `u` (n,), and the q (V,) that it is from."""
    drafted, q = [], []
    for u_i in u:
        logits = logits_after(model, text + drafted, cache)
        q.append(warp(logits[-1]).cpu())
        drafted.append(sample_from(q[-1], u_i))
    return drafted, q


def verify(
    p: Tensor, q: list[Tensor], drafted: list[int], r: np.ndarray, u: float
) -> tuple[int, int]:
    """How many of the n `drafted` tokens are accepted, and the token that follows them.

    `p` (n + 1, V) are the target's distributions, and `q`, n of (V,), those of the draft model.
    """
    # 3. Accept token i if r_i < p_i / q_i, up to the first rejection.
    n_accepted = 0
    for i, token in enumerate(drafted):
        if r[i] * float(q[i][token]) >= float(p[i, token]):
            break
        n_accepted += 1

    # 4. After a rejection, take away from p what the draft has covered already.
    rejected = n_accepted < len(drafted)
    next_dist = residual(p[n_accepted], q[n_accepted]) if rejected else p[n_accepted]  # (V,)

    # 5. One token from there: the correction, or after a whole block the bonus token.
    return n_accepted, sample_from(next_dist, u)


def residual(p: Tensor, q: Tensor) -> Tensor:
    """max(p - q, 0), divided by its sum, for p and q (V,): the distribution of a correction.

    If p <= q everywhere (rounding), fall back to p.
    """
    excess = (p - q).clamp(min=0)  # (V,)
    return excess / excess.sum() if excess.any() else p


def logits_after(model: Model, text: list[int], cache: Cache) -> Tensor:
    """The logits (t, V) after those t tokens of `text` that `cache` does not hold yet."""
    new_tokens = torch.tensor([text[int(cache.length) :]], device=model.device)  # a batch: (1, t)
    return model.forward(new_tokens, cache)[0]


def up_to_end(tokens: list[int], stop_tokens: frozenset[int]) -> list[int]:
    """`tokens` up to the first that ends a text (inclusive); all of them if none does."""
    ends = [i for i, token in enumerate(tokens, start=1) if token in stop_tokens]
    return tokens[: min(ends, default=None)]
