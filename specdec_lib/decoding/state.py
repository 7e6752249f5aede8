"""A generation: its settings, the text so far, and the result."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import Tensor

from specdec_lib.decoding.verify import finite_rows
from specdec_lib.errors import SpecdecError
from specdec_lib.models.protocol import EosIds, Model, Texts, eos_ids, prefill
from specdec_lib.sampling import Warp


@dataclass(frozen=True)
class Settings:
    """How much to generate and from which distribution.

    A row ends with the first token of `eos_id`, which it keeps, or after `max_new_tokens`; `eos_id`
    is a set, also when it is given as one token or None. `on_tokens(row, tokens)` is called with
    what every block adds.
    """

    max_new_tokens: int
    warp: Warp = Warp()
    eos_id: EosIds = None
    on_tokens: Callable[[int, list[int]], None] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "eos_id", eos_ids(self.eos_id))  # the class is frozen
        if self.max_new_tokens < 0:
            raise SpecdecError(f"max_new_tokens is {self.max_new_tokens}; it must be 0 or more")


@dataclass(frozen=True)
class VerifiedBlock:
    """What one block did to one row. Nothing after the end of the text is in it."""

    drafted: list[int]  # the draft tokens that were verified: of a tree all nodes
    accepted_tokens: list[int]  # those that were accepted, in the order of the text
    next_token: int  # the correction or bonus
    n_appended: int  # tokens that the text grew by: without `next_token` if it ended before that
    has_bonus: bool  # `next_token` was appended, and no draft token was rejected in its place
    p: list[float]  # the target's probability of each of `drafted`
    q: list[float]  # the draft's

    @property
    def n_accepted(self) -> int:
        """How many draft tokens were accepted."""
        return len(self.accepted_tokens)


@dataclass
class Generation:
    """The result: the new tokens of every row, and the blocks that wrote them."""

    tokens: list[list[int]]
    blocks: list[list[VerifiedBlock]] = field(default_factory=list)  # of plain decoding: none
    target_passes: int = 0  # over the whole batch, without the prefill's
    seconds: float = 0.0  # without the prefill's


class GenerationState:
    """The rows of a generation by `target`; `active[b]` is False once row b has finished.

    Between two blocks the cache lacks just the last token of every row.
    """

    def __init__(self, target: Model, prompts: Texts, settings: Settings, capacity: int) -> None:
        self.target, self.settings = target, settings
        self.sequences = [list(prompt) for prompt in prompts]
        self.prompt_lengths = [len(prompt) for prompt in prompts]
        self.max_lengths = [length + settings.max_new_tokens for length in self.prompt_lengths]
        self.active = [settings.max_new_tokens > 0 for _ in prompts]
        self.blocks: list[list[VerifiedBlock]] = [[] for _ in prompts]
        self.target_passes = 0
        self.cache = target.new_cache(len(prompts), capacity)
        prefill(target, self.cache, prompts)

    @property
    def new_tokens(self) -> list[list[int]]:
        """The new tokens of every row."""
        rows = zip(self.sequences, self.prompt_lengths, strict=True)
        return [sequence[start:] for sequence, start in rows]

    def draft_limits(self, k: int) -> list[int]:
        """How many tokens each row may draft: one fewer than it has left; the block adds one."""
        rows = zip(self.sequences, self.max_lengths, self.active, strict=True)
        return [min(k, most - len(text) - 1) if active else 0 for text, most, active in rows]

    def score(self, drafted: Tensor | None = None, **forward_kwargs) -> tuple[Tensor, Tensor]:
        """The target's distributions (B, n + 1, V): after each row, and after each draft token.

        One pass over every row's last token and `drafted` (B, n); `forward_kwargs` go to the model.
        Also whether the logits of each row are finite (B,): look at that before the results.
        """
        self.target_passes += 1
        tokens = torch.tensor([sequence[-1:] for sequence in self.sequences])
        tokens = tokens.to(self.target.device, non_blocking=True)
        tokens = tokens if drafted is None else torch.cat((tokens, drafted), dim=1)
        logits = self.target.forward(tokens, self.cache, **forward_kwargs)
        return self.settings.warp(logits), finite_rows(logits).all(-1)

    def append(self, row: int, tokens: list[int]) -> int:
        """Append `tokens` to a row up to its length limit and its end; returns how many."""
        sequence, max_length = self.sequences[row], self.max_lengths[row]
        tokens = tokens[: max_length - len(sequence)]
        ends = [i for i, token in enumerate(tokens, start=1) if token in self.settings.eos_id]
        tokens = tokens[: min(ends, default=None)]
        sequence += tokens
        self.active[row] = len(sequence) < max_length and not ends
        if self.settings.on_tokens:
            self.settings.on_tokens(row, tokens)
        return len(tokens)

    def roll_back(self) -> None:
        """Let the cache forget what is not in the text."""
        self.cache.truncate([len(sequence) - 1 for sequence in self.sequences])

    def run(self, decode: Callable[[], object]) -> Generation:
        """The generation when all rows have finished; each call of `decode` writes a block."""
        start = time.perf_counter()
        while any(self.active):
            decode()
        seconds = time.perf_counter() - start
        return Generation(self.new_tokens, self.blocks, self.target_passes, seconds)
