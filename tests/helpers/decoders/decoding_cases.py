"""Small models of dyadic probabilities, and a short call of the decoder, for its tests."""

from collections.abc import Sequence

import numpy as np
import torch
from decoders.tables import TableModel, TokenCache
from torch import Tensor

from specdec_lib.decoding.generate import speculative_generate
from specdec_lib.decoding.state import Generation, Settings
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.drafters.ngram import Counts
from specdec_lib.drafters.protocol import Drafter
from specdec_lib.sampling import RandomSource, Uniforms, Warp

V, EOS = 4, 3
GREEDY = Warp(0)


def dyadic_model(seed: int, dtype: torch.dtype = torch.float64) -> TableModel:
    """A model that looks at two tokens, with probabilities in sixteenths, some of them 0."""
    counts = np.random.default_rng(seed).multinomial(16, [0.3, 0.3, 0.3, 0.1], size=(V, V))
    return TableModel(torch.from_numpy(counts).to(dtype) / 16)


def certain_model(following: Sequence[int]) -> TableModel:
    """A model that is certain: token t is followed by following[t]."""
    return TableModel(torch.eye(len(following), dtype=torch.float64)[list(following)])


TARGET, DRAFT = dyadic_model(1), dyadic_model(2)
COUNTS = Counts(
    unigram=np.array([4, 2, 1, 1]),
    bigram=np.array([[0, 1, 3], [0, 2, 1], [1, 0, 2], [2, 2, 5]]),
    trigram=np.array([[1, 2, 1, 2], [1, 2, 0, 2], [2, 1, 1, 1]]),
)


def random_prompt(seed: int, length: int) -> list[int]:
    return np.random.default_rng([seed, length]).integers(V, size=length).tolist()


def uniforms(*seeds: int) -> Uniforms:
    return Uniforms([np.random.default_rng(seed) for seed in seeds])


def generate(
    prompts: Sequence[Sequence[int]],
    random_source: RandomSource,
    k: int = 3,
    count: int = 12,
    target: TableModel = TARGET,
    drafter: Drafter | None = None,
    **settings,
) -> Generation:
    drafter = drafter or ModelDrafter(DRAFT)
    return speculative_generate(
        target, drafter, prompts, k, Settings(count, **settings), random_source
    )


PROMPTS = [random_prompt(0, length) for length in (1, 2, 7, 3)]
COUNTING = certain_model([1, 2, 3, 4, 5, 6, 7, 0])


class CountingModel:
    """A model that notes the positions and tokens that each pass feeds to its first row."""

    def __init__(self, model: TableModel) -> None:
        self.model, self.passes = model, list[dict[int, int]]()

    def __getattr__(self, name: str) -> object:
        return getattr(self.model, name)

    def forward(self, tokens: Tensor, cache: TokenCache) -> Tensor:
        self.passes.append(dict(enumerate(tokens[0].tolist(), start=int(cache.length[0]))))
        return self.model.forward(tokens, cache)

    @property
    def positions(self) -> list[list[int]]:
        return [list(fed) for fed in self.passes]
