"""Chapter 08: models that look two tokens back, and a generator; all see how they are used.

The models keep the protocol of specdec_lib/models/protocol.py, for one row.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

VOCAB = 4
SIXTEENTHS = 16
MAX_PASSES = 400  # of one model for one text; no right loop of a check or a test needs as many


class WatchedCache:
    """The tokens that one row holds; `cuts` are the lengths that truncate was called with."""

    def __init__(self, tokens: Sequence[int] = ()) -> None:
        self.code = f"lesson.WatchedCache({tokens!r})"  # as it is now, whatever becomes of it
        self.tokens = list(tokens)
        self.cuts: list[int] = []

    @property
    def length(self) -> Tensor:
        """How many tokens it holds (1,)."""
        return torch.tensor([len(self.tokens)])

    @property
    def trace(self) -> list[int]:
        """What was done with it, for telling wrong answers apart."""
        return list(self.cuts)

    def truncate(self, length: Tensor | Sequence[int] | int) -> None:
        """Forget every token from `length` on. ValueError if it does not hold so many."""
        new = int(torch.as_tensor(length).reshape(()))
        self.cuts.append(new)
        if not 0 <= new <= len(self.tokens):
            raise ValueError(f"row 0 holds {len(self.tokens)} positions and cannot be cut to {new}")
        del self.tokens[new:]

    def __repr__(self) -> str:
        return f"a cache of {len(self.tokens)} positions"


class ModelPass(NamedTuple):
    """One pass of a model: the tokens that it read, and all that its cache held after them."""

    name: str
    tokens: list[int]
    held: list[int]

    @property
    def start(self) -> int:
        """The position of the first token that it read."""
        return len(self.held) - len(self.tokens)


class WatchedModel:
    """The next token's distribution by the last two tokens: `table` (V, V, V).

    Before the text's first token stands a 0. `passes` has a ModelPass for each pass so far; two
    models may share the list. What a careful loop never does is among its `faults`: a token of the
    text is read twice, or there are more than `most` passes.
    """

    device = torch.device("cpu")
    dtype = torch.float64
    max_length = None
    code = ""  # a message makes it with the target (see pasting.py)

    def __init__(
        self,
        table: np.ndarray,
        name: str = "model",
        passes: list[ModelPass] | None = None,
        most: float = math.inf,
    ) -> None:
        self.logits = torch.as_tensor(table).log()
        self.vocab_size = self.logits.shape[-1]
        self.name, self.most, self.count = name, most, 0
        self.passes: list[ModelPass] = [] if passes is None else passes
        self.again: list[list[int]] = []  # beginnings of the text that were read a second time
        self._known: set[tuple[int, ...]] = set()

    def new_cache(self, batch: int = 1, capacity: int | None = None) -> WatchedCache:
        """An empty cache of one row. ValueError for more rows."""
        if batch != 1:
            raise ValueError(f"this model takes one row, not {batch}")
        return WatchedCache()

    def forward(self, tokens: Tensor, cache: WatchedCache) -> Tensor:
        """The logits (1, T, V) after each of `tokens` (1, T), which are appended to `cache`.

        Raises ValueError at a pass too many, so that a loop that cannot end is ended.
        """
        if self.count == MAX_PASSES:
            raise ValueError(
                f"the {self.name} was called more than {MAX_PASSES} times: does every block add "
                "its tokens to the text?"
            )
        self.count += 1
        start, new = len(cache.tokens), tokens[0].tolist()
        cache.tokens += new
        self.passes.append(ModelPass(self.name, new, list(cache.tokens)))
        for end in range(start + 1, len(cache.tokens) + 1):
            self._note(cache.tokens[:end])
        known = torch.tensor([0, *cache.tokens])
        return self.logits[known[start:-1], known[start + 1 :]][None]

    def _note(self, text: list[int]) -> None:
        if tuple(text) in self._known:
            self.again.append(text)
        self._known.add(tuple(text))

    @property
    def trace(self) -> list:
        """What was done wrong with it and what was read twice, for telling wrong answers apart."""
        return [*self.faults, *self.again]

    @property
    def faults(self) -> list[str]:
        """What was done wrong with it."""
        faults = {"read a token twice": self.again, "made too many passes": self.count > self.most}
        return [fault for fault, is_there in faults.items() if is_there]

    def __repr__(self) -> str:
        return self.name


class WatchedGenerator(np.random.Generator):
    """`np.random.default_rng(seed)`. A copy begins again."""

    def __init__(self, seed: int) -> None:
        super().__init__(np.random.PCG64(seed))
        self.seed, self.code = seed, f"np.random.default_rng({seed})"

    @property
    def drew(self) -> bool:
        """Whether any number was drawn."""
        return self.bit_generator.state != np.random.PCG64(self.seed).state

    def __deepcopy__(self, memo: dict) -> "WatchedGenerator":
        return WatchedGenerator(self.seed)

    def __repr__(self) -> str:
        return self.code


def model_tables(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Sixteenths for a target; for its draft halfway between these and others."""
    target = dyadic_table(seed)
    return target, (target + dyadic_table(seed + 500)) / 2


def dyadic_table(seed: int) -> np.ndarray:
    """A table (V, V, V) of sixteenths, some of them 0; every row has its own."""
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(np.ones(VOCAB), (VOCAB, VOCAB))
    return rng.multinomial(SIXTEENTHS, weights) / SIXTEENTHS
