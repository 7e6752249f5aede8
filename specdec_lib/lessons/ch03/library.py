"""Hugging Face transformers' own acceptance code as rules: what a judge of rules can count.

The code is that of the installed transformers, by names that another version need not have. It
asks torch for chance in two places, `torch.rand_like` for the coin and `torch.multinomial` for the
token. Here `choices` decides both, so the library's code is asked about every branch, for any p and
q, and nothing is sampled.
"""

from collections.abc import Callable
from functools import lru_cache
from types import SimpleNamespace
from unittest import mock

import numpy as np

from specdec_lib import exact
from specdec_lib.errors import dependency_error
from specdec_lib.lessons.ch03.rules import Rule
from specdec_lib.sampling import softmax


def require_library() -> None:
    """Raise DependencyError unless the installed transformers answers when asked as it is below."""
    half = np.array([0.5, 0.5])
    try:
        for draws, rule in zip((3, 2), LIBRARY_RULES.values(), strict=True):
            rule(half, half, tape := exact.Tape())
            if len(tape.branch_taken) != draws:
                raise LookupError(f"it left {len(tape.branch_taken)} of {draws} draws to the tape")
    except Exception as error:  # of another version, whatever it may be
        raise dependency_error("transformers", error) from None


def drafted_by(draft: Callable) -> Rule:
    """The library's rule on the token and the logits of `draft(logits, choices)`."""

    def rule(p, q, choices):
        token, logits = draft(_log(q), choices)
        return by_library(p, token, np.asarray(logits, dtype=float), choices)

    return rule


def by_library(p: np.ndarray, token: int, logits: np.ndarray, choices: object) -> int:
    """The token that the library writes for the draft `token` and the reported `logits` (V,)."""
    import torch
    from transformers.generation import utils

    def rand_like(ratio: torch.Tensor) -> torch.Tensor:
        acceptance = min(1.0, float(ratio))
        coin = choices.choose([acceptance, 1 - acceptance])  # 0 accepts, and 2 below rejects
        return torch.full_like(ratio, 2.0 * coin)

    def multinomial(probs: torch.Tensor, num_samples: int) -> torch.Tensor:
        return torch.tensor([[choices.choose(probs.ravel().tolist())]])

    target = torch.as_tensor(_log(p)).expand(1, 2, -1)  # the second row is of a bonus
    draft = torch.as_tensor(logits)[None, None]
    with mock.patch.multiple(torch, rand_like=rand_like, multinomial=multinomial):
        written, _ = utils._speculative_sampling(torch.tensor([[token]]), draft, 1, target)
    return int(written[0, 0])


@lru_cache(100)  # a judge asks for every branch anew
def _candidate(logits: tuple[float, ...]) -> tuple[int, np.ndarray]:
    """The token and the logits (V,) of `SinglePositionMultiTokenCandidateGenerator`."""
    import torch
    from transformers import GenerationConfig
    from transformers.generation import candidate_generator as library

    generator = library.SinglePositionMultiTokenCandidateGenerator(
        Gemma4AssistantStandIn(np.array(logits)),
        torch.nn.Embedding(len(logits), 1),
        GenerationConfig(max_length=9),
    )
    target = SimpleNamespace(hidden_states=(torch.zeros(1, 1, 1),), shared_kv_states={})
    prefix = torch.zeros(1, 1, dtype=torch.long)
    tokens, reported = generator.get_candidates(prefix, {}, target, False, 0)
    return int(tokens[0, -1]), reported[0, 0].numpy()


LIBRARY_RULES = {
    "its rule, draft drawn from q": drafted_by(
        lambda logits, c: (c.choose(softmax(logits)), logits)
    ),
    "its rule, its own argmax draft": drafted_by(lambda logits, _: _candidate(tuple(logits))),
}


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
