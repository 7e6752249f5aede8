"""What a generation has written so far, row by row, and when a row is done."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from specdec_lib.models.protocol import Model
from specdec_lib.sampling import Choices, Greedy, Warp

OnTokens = Callable[[int, list[int]], None]


@dataclass(frozen=True)
class Settings:
    """How much to generate and from which distribution.

    A row ends with `eos_id`, which it keeps, or after `max_new_tokens`. `on_tokens(row, tokens)` is
    called with what every block adds.
    """

    max_new_tokens: int
    warp: Warp = Warp()
    eos_id: int | None = None
    on_tokens: OnTokens | None = None

    def __post_init__(self) -> None:
        if self.max_new_tokens < 0:
            raise ValueError(f"max_new_tokens is {self.max_new_tokens}; it must be 0 or more")


@dataclass(frozen=True)
class Block:
    """What one block did to one row.

    Where the text ended inside the block, what stands behind the end is not in it.
    """

    drafted: list[int]  # the draft tokens that counted
    accepted: int  # how many of them, from the first
    token: int  # the correction, or the bonus
    kept: int  # tokens that were added: accepted + 1, or accepted where the text ended before
    p: list[float]  # the target's probability of each draft token
    q: list[float]  # the draft's
    draft_seconds: float = 0.0  # of the whole batch
    verify_seconds: float = 0.0

    @property
    def bonus(self) -> bool:
        """Whether everything was accepted and `token` came on top."""
        return self.accepted == len(self.drafted) < self.kept


@dataclass
class Generation:
    """What came out: the new tokens of every row, and the blocks that made them."""

    tokens: list[list[int]]
    blocks: list[list[Block]] = field(default_factory=list)
    target_passes: int = 0  # over the whole batch, without the prompts'
    seconds: float = 0.0  # without the prompts'

    def add(self, blocks: Sequence[Block]) -> None:
        """Note a pass of the target, and the block of every row that was not done."""
        for written, block in zip(self.blocks, blocks, strict=True):
            written += [block] if block.kept else []
        self.target_passes += 1


class Progress:
    """The sequences of a generation, which grow until they end."""

    def __init__(self, prompts: Sequence[Sequence[int]], settings: Settings) -> None:
        self.settings = settings
        self.prompts = [len(prompt) for prompt in prompts]
        self.sequences = [list(prompt) for prompt in prompts]
        self.left = [settings.max_new_tokens] * len(prompts)

    @property
    def running(self) -> bool:
        """Whether any row is not done."""
        return any(self.left)

    @property
    def lengths(self) -> list[int]:
        """How many tokens every row has, its prompt included."""
        return [len(sequence) for sequence in self.sequences]

    def last_tokens(self, device: torch.device) -> Tensor:
        """The last token of every row (B, 1): the only one that the target has not read."""
        return torch.tensor([sequence[-1:] for sequence in self.sequences], device=device)

    @property
    def written(self) -> list[list[int]]:
        """The new tokens of every row."""
        return [
            sequence[prompt:] for sequence, prompt in zip(self.sequences, self.prompts, strict=True)
        ]

    def add(self, row: int, tokens: list[int]) -> int:
        """Append `tokens` to a row, up to its limit and its end; how many were kept."""
        tokens = tokens[: self.left[row]]
        eos = self.settings.eos_id
        ended = eos is not None and eos in tokens
        if ended:
            tokens = tokens[: tokens.index(eos) + 1]
        self.sequences[row] += tokens
        self.left[row] = 0 if ended else self.left[row] - len(tokens)
        if tokens and self.settings.on_tokens:
            self.settings.on_tokens(row, tokens)
        return len(tokens)


def drafted_in_text(drafted: int, accepted: int, kept: int) -> int:
    """How many of a block's `drafted` tokens are in it, after `kept` tokens were added.

    Where the text ended among the `accepted` ones, nothing behind that was judged.
    """
    return drafted if kept > accepted else kept


def check_request(
    model: Model,
    prompts: Sequence[Sequence[int]],
    settings: Settings,
    choices: Choices,
    k: int = 0,
) -> int:
    """The positions that a cache needs for these prompts, with blocks of `k` draft tokens.

    Raises ValueError where a prompt is empty, too long or no text of this model, and where the
    choices are greedy and the temperature is not.
    """
    if isinstance(choices, Greedy) and settings.warp.temperature:
        raise ValueError(
            f"choices are Greedy and the temperature is {settings.warp.temperature}: take Uniforms"
        )
    check_prompts(prompts, model.vocab_size)
    longest = max(len(prompt) for prompt in prompts)
    # Rows of a batch draft as many tokens as the one with most left: room for k at a row's end.
    spare = k if len(prompts) > 1 else 0
    needed = longest + settings.max_new_tokens + spare
    if model.max_length is not None and needed > model.max_length:
        batch = f" and, in a batch, {spare} for its drafts" if spare else ""
        raise ValueError(
            f"{longest} tokens of prompt, {settings.max_new_tokens} new ones{batch} need {needed} "
            f"positions, and the model has {model.max_length}: shorten the prompt or ask for fewer"
        )
    return needed


def check_prompts(prompts: Sequence[Sequence[int]], vocab_size: int) -> None:
    """Raise ValueError where there is no prompt, or one is empty or holds unknown tokens."""
    if not len(prompts):
        raise ValueError("there is no prompt; give a list of lists of token ids")
    for row, prompt in enumerate(prompts):
        if not len(prompt):
            raise ValueError(f"prompt {row} is empty; give at least one token")
        strange = [token for token in prompt if not 0 <= token < vocab_size]
        if strange:
            raise ValueError(
                f"prompt {row} has token {strange[0]}, and the model knows 0 to "
                f"{vocab_size - 1}: encode it with this model's tokenizer"
            )
