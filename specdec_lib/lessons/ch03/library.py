"""Hugging Face transformers' own acceptance code as rules: what a judge of rules can count.

The code is that of the installed transformers; the course pins 5.23.0. It asks torch for its random
numbers in two places, `torch.rand_like` for the coin and `torch.multinomial` for the token. A
rule's r takes the place of the first. Of the second the distribution is read, and u draws from it
by `pick`. So the library's code is asked about every pair of r and u, and nothing is sampled.
"""

from collections.abc import Callable
from functools import lru_cache
from types import SimpleNamespace
from unittest import mock

import numpy as np

from specdec_lib.lessons.common.distributions import pick


def library_rule(p, q, tokens, r, u):
    """Hugging Face's `_speculative_sampling`, with the draft tokens that it is given."""
    return _by_library(p, _log(q), tokens, r, u)


def library_argmax(p, q, tokens, r, u):
    """The same with the token and the logits of `SinglePositionMultiTokenCandidateGenerator`."""
    token, logits = _candidate(q)
    return _by_library(p, logits, np.full(np.shape(tokens), token), r, u)


def library_one_hot(p, q, tokens, r, u):
    """The same with that token, and with a q that is 1 on it: the repair."""
    token, _ = _candidate(q)
    return _by_library(p, _log(np.eye(len(q))[token]), np.full(np.shape(tokens), token), r, u)


RULES = (library_rule, library_argmax, library_one_hot)


def _by_library(p, logits, tokens, r, u) -> np.ndarray:
    """The tokens (N,) by the library: asked once for each draft token and each coin."""
    from transformers.generation.utils import _speculative_sampling

    pair = tuple(p.tolist()), tuple(logits.tolist())
    keys, out = tokens + r, tokens.copy()  # a coin is below 1
    _, first, sizes = np.unique(keys, return_index=True, return_counts=True)
    groups = np.split(np.argsort(keys, kind="stable"), np.cumsum(sizes)[:-1])
    for i, here in zip(first, groups, strict=True):
        drawn = _replacement(_speculative_sampling, *pair, int(tokens[i]), float(r[i]))
        if drawn:
            out[here] = pick(np.array(drawn), u[here])
    return out


@lru_cache(10_000)  # a judge asks the same more than once
def _replacement(
    library: Callable, p: tuple, logits: tuple, token: int, coin: float
) -> tuple[float, ...]:
    """What `library` draws from (V,) in place of `token`; nothing if it accepts with this coin."""
    import torch

    drawn_from = []

    def multinomial(probs: torch.Tensor, num_samples: int) -> torch.Tensor:
        drawn_from.extend(probs.ravel().tolist())
        return torch.zeros(len(probs), num_samples, dtype=torch.long)

    target = torch.as_tensor(_log(np.array(p))).expand(1, 2, -1)  # the second row is of a bonus
    draft = torch.tensor(logits, dtype=torch.float64)[None, None]
    coins = {"rand_like": lambda ratio: torch.full_like(ratio, coin), "multinomial": multinomial}
    with mock.patch.multiple(torch, **coins):
        _, accepted = library(torch.tensor([[token]]), draft, 1, target)
    return () if accepted else tuple(drawn_from)


def _candidate(q: np.ndarray) -> tuple[int, np.ndarray]:
    """The token that the library's generator drafts from q (V,), and the logits (V,) it reports."""
    import torch
    from transformers import GenerationConfig
    from transformers.generation import candidate_generator as library

    generator = library.SinglePositionMultiTokenCandidateGenerator(
        Gemma4AssistantStandIn(_log(q)),
        torch.nn.Embedding(len(q), 1),
        GenerationConfig(max_length=9),
    )
    target = SimpleNamespace(hidden_states=(torch.zeros(1, 1, 1),), shared_kv_states={})
    prefix = torch.zeros(1, 1, dtype=torch.long)
    tokens, logits = generator.get_candidates(prefix, {}, target, False, 0)
    return int(tokens[0, -1]), logits[0, 0].numpy()


class Gemma4AssistantStandIn:
    """A draft model that always gives the same logits (V,), by a name that the generator takes."""

    device, generation_config = "cpu", SimpleNamespace(num_assistant_tokens=1)

    def __init__(self, logits: np.ndarray) -> None:
        self.logits = logits

    def __call__(self, **_: object) -> SimpleNamespace:
        import torch

        logits = torch.as_tensor(self.logits)[None, None]
        return SimpleNamespace(logits=logits, last_hidden_state=None)


def _log(probs: np.ndarray) -> np.ndarray:
    """The logits (V,) of a distribution; minus infinity for what it rules out."""
    return np.log(probs, out=np.full(len(probs), -np.inf), where=probs > 0)
