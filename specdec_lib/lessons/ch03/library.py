"""Hugging Face transformers' own acceptance code as rules: what a judge of rules can count.

The code is that of the installed transformers; the course pins 5.23.0. It asks torch for its random
numbers in two places, `torch.rand_like` for the coin and `torch.multinomial` for the token. A
rule's r takes the place of the first. Of the second the distribution is read, and u draws from it
by `pick`. So the library's code is asked about every pair of r and u, and nothing is sampled.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, lru_cache, partial
from types import SimpleNamespace
from unittest import mock

import numpy as np

from specdec_lib.lessons.ch03.rules import pick


def library_rule(p, q, tokens, r, u):
    """Hugging Face's `_speculative_sampling`, with the draft tokens that it is given."""
    return _by_library(p, _log(q), tokens, r, u)


def library_argmax(p, q, tokens, r, u):
    """The same with the token and the logits of `SinglePositionMultiTokenCandidateGenerator`."""
    token, logits = _candidate(tuple(q.tolist()))
    return _by_library(p, logits, np.full(np.shape(tokens), token), r, u)


def library_one_hot(p, q, tokens, r, u):
    """The same with that token, and with a q that is 1 on it: the repair."""
    token, _ = _candidate(tuple(q.tolist()))
    return _by_library(p, _log(np.eye(len(q))[token]), np.full(np.shape(tokens), token), r, u)


RULES = (library_rule, library_argmax, library_one_hot)


def version() -> str:
    """The version of transformers that is installed."""
    import transformers

    return transformers.__version__


def _by_library(p, logits, tokens, r, u) -> np.ndarray:
    """The tokens (N,) by the library: asked once for each draft token and each coin."""
    from transformers.generation.utils import _speculative_sampling

    known = partial(_one, _speculative_sampling, tuple(p.tolist()), tuple(logits.tolist()))
    keys = tokens + r  # a coin is below 1
    _, first, sizes = np.unique(keys, return_index=True, return_counts=True)
    groups = np.split(np.argsort(keys, kind="stable"), np.cumsum(sizes)[:-1])
    out = np.empty(len(u), dtype=int)
    for example, here in zip(first, groups, strict=True):
        kept, replacement = known(int(tokens[example]), float(r[example]))
        out[here] = tokens[example] if kept else pick(np.array(replacement), u[here])
    return out


@lru_cache(10_000)
def _one(
    library: Callable, p: tuple, logits: tuple, token: int, coin: float
) -> tuple[bool, tuple[float, ...]]:
    """Whether `library` accepts `token` with this coin, and what its last token is drawn from.

    p (V,) and the draft's logits (V,) are tuples: a judge asks the same more than once.
    """
    import torch

    target = torch.as_tensor(_log(np.array(p))).expand(1, 2, -1)  # the second row is of a bonus
    draft = torch.tensor(logits, dtype=torch.float64)
    with _numbers(coin) as drawn_from:
        _, accepted = library(torch.tensor([[token]]), draft[None, None], 1, target)
    return bool(accepted), tuple(drawn_from[0].ravel().tolist())


@contextmanager
def _numbers(coin: float) -> Iterator[list]:
    """Meanwhile torch's coins are `coin`; the list gets each distribution that it draws from."""
    import torch

    drawn_from = []

    def note(probs: torch.Tensor, num_samples: int) -> torch.Tensor:
        drawn_from.append(probs)
        return torch.zeros(len(probs), num_samples, dtype=torch.long)

    coins = mock.patch.object(torch, "rand_like", lambda ratio: torch.full_like(ratio, coin))
    with coins, mock.patch.object(torch, "multinomial", note):
        yield drawn_from


@cache
def _candidate(q: tuple[float, ...]) -> tuple[int, np.ndarray]:
    """The token that the library's generator drafts from q (V,), and the logits (V,) it reports."""
    import torch
    from transformers import GenerationConfig
    from transformers.generation import candidate_generator as library

    embedding = torch.nn.Embedding(len(q), 1)
    settings = GenerationConfig(max_length=9)
    generator = library.SinglePositionMultiTokenCandidateGenerator(
        Gemma4AssistantStandIn(_log(np.array(q)), GenerationConfig(num_assistant_tokens=1)),
        embedding,
        settings,
    )
    target = SimpleNamespace(hidden_states=(torch.zeros(1, 1, 1),), shared_kv_states={})
    prefix = torch.zeros(1, 1, dtype=torch.long)
    tokens, logits = generator.get_candidates(prefix, {}, target, False, 0)
    return int(tokens[0, -1]), logits[0, 0].numpy()


class Gemma4AssistantStandIn:
    """A draft model that gives the same logits (V,) always, by a name that the generator takes."""

    device = "cpu"

    def __init__(self, logits: np.ndarray, generation_config: object) -> None:
        self.logits, self.generation_config = logits, generation_config

    def __call__(self, **_: object) -> SimpleNamespace:
        import torch

        logits = torch.as_tensor(self.logits)[None, None]
        return SimpleNamespace(logits=logits, last_hidden_state=torch.zeros(1, 1, 1))


def _log(probs: np.ndarray) -> np.ndarray:
    """The logits (V,) of a distribution; minus infinity for what it rules out."""
    return np.log(probs, out=np.full(len(probs), -np.inf), where=probs > 0)
