"""A generation: its settings, the text so far, and the result."""

from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import Tensor

from specdec_lib.decoding.verify import finite_rows
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
            raise ValueError(f"max_new_tokens is {self.max_new_tokens}; it must be 0 or more")


@dataclass(frozen=True)
class Block:
    """What one block did to one row. Nothing after the end of the text is in it."""

    drafted: list[int]  # the draft tokens that were judged: of a tree all nodes
    path: list[int]  # those that were accepted, in the order of the text
    token: int  # the correction or bonus
    kept: int  # tokens that were added: the path and `token`, or the path if the text ended there
    bonus: bool  # `token` was added, and no draft token was rejected in its place
    p: list[float]  # the target's probability of each of `drafted`
    q: list[float]  # the draft's
    draft_seconds: float = 0.0  # of the whole batch
    verify_seconds: float = 0.0

    @property
    def accepted(self) -> int:
        """How many draft tokens were accepted."""
        return len(self.path)


@dataclass
class Generation:
    """The result: the new tokens of every row, and the blocks that wrote them."""

    tokens: list[list[int]]
    blocks: list[list[Block]] = field(default_factory=list)  # of plain decoding: none
    target_passes: int = 0  # over the whole batch, without the prefill's
    seconds: float = 0.0  # without the prefill's


class Run:
    """The texts of a generation by `target`; `running` says which of them have not ended.

    Between two blocks the cache lacks just the last token of every row.
    """

    def __init__(self, target: Model, prompts: Texts, settings: Settings, capacity: int) -> None:
        self.target, self.settings = target, settings
        self.sequences = [list(prompt) for prompt in prompts]
        self.starts = [len(prompt) for prompt in prompts]
        self.ends = [start + settings.max_new_tokens for start in self.starts]
        self.running = [settings.max_new_tokens > 0 for _ in prompts]
        self.blocks: list[list[Block]] = [[] for _ in prompts]
        self.passes = 0
        self.cache = target.new_cache(len(prompts), capacity)
        prefill(target, self.cache, prompts)

    @property
    def written(self) -> list[list[int]]:
        """The new tokens of every row."""
        return [text[start:] for text, start in zip(self.sequences, self.starts, strict=True)]

    def limits(self, k: int) -> list[int]:
        """How many tokens each row may draft: one fewer than it has left; the block adds one."""
        rows = zip(self.sequences, self.ends, self.running, strict=True)
        return [min(k, end - len(text) - 1) if running else 0 for text, end, running in rows]

    def score(self, drafted: Tensor | None = None, **how) -> tuple[Tensor, Tensor]:
        """The target's distributions (B, n + 1, V): after each row, and after each draft token.

        One pass over every row's last token and `drafted` (B, n); `how` goes to the model. Also
        whether the logits of each row are finite (B,): look at that before the results.
        """
        self.passes += 1
        tokens = torch.tensor([text[-1:] for text in self.sequences])
        tokens = tokens.to(self.target.device, non_blocking=True)
        tokens = tokens if drafted is None else torch.cat((tokens, drafted), dim=1)
        logits = self.target.forward(tokens, self.cache, **how)
        return self.settings.warp(logits), finite_rows(logits).all(-1)

    def add(self, row: int, tokens: list[int]) -> int:
        """Append `tokens` to a row, up to its limit and its end; how many were kept."""
        text, limit, eos_id = self.sequences[row], self.ends[row], self.settings.eos_id
        tokens = tokens[: limit - len(text)]
        ended = [i for i, token in enumerate(tokens, start=1) if token in eos_id]
        tokens = tokens[: min(ended, default=None)]
        text += tokens
        self.running[row] = len(text) < limit and not ended
        if self.settings.on_tokens:
            self.settings.on_tokens(row, tokens)
        return len(tokens)

    def roll_back(self) -> None:
        """Let the cache forget what is not in the text."""
        self.cache.truncate([len(text) - 1 for text in self.sequences])

    def result(self, seconds: float) -> Generation:
        """What came out so far, after `seconds`."""
        return Generation(self.written, self.blocks, self.passes, seconds)
