"""What every pair is: a target, its draft and their tokenizer; and what must fit into memory."""

from dataclasses import dataclass
from typing import Protocol

import torch

from specdec_lib.device import free_memory, name_of
from specdec_lib.models.catalogue import PairError
from specdec_lib.models.protocol import Model


class TextCodec(Protocol):
    """What is asked of a tokenizer: token ids of a text, and the text of token ids."""

    def encode(self, text: str) -> list[int]:
        """The token ids of `text`."""

    def decode(self, ids: list[int]) -> str:
        """The text of `ids`, with U+FFFD for bytes that are no character."""


@dataclass(frozen=True)
class Pair:
    """A target, its draft, and the tokenizer of both; `label` says in one line what they are.

    `tokenizer.encode(text)` gives token ids, `tokenizer.decode(ids)` text. `eos_id` ends a text,
    None if the tokenizer has no such token.
    """

    name: str
    target: Model
    draft: Model
    tokenizer: TextCodec
    label: str
    eos_id: int | None

    def prompt(self, text: str) -> list[int]:
        """The token ids that decoding starts from, to go on after `text`."""
        return self.tokenizer.encode(text)


def require_memory(parameters: int, dtype: torch.dtype, device: torch.device) -> None:
    """Raise PairError if `device` has less memory free than these weights take.

    Nothing is raised if the free memory cannot be known.
    """
    needed, free = parameters * dtype.itemsize, free_memory(device)
    if free is not None and needed > free:
        raise PairError(
            f"the weights take {needed / 1e9:.1f} GB as {name_of(dtype)}, and "
            f"{free / 1e9:.1f} GB are free on {device}. Choose a smaller pair, dtype="
            "torch.bfloat16, or a device with more memory"
        )


def in_words(value: float) -> str:
    """16.2 -> "a 16:1", 8.1 -> "an 8:1"."""
    whole = f"{value:.0f}"
    article = "an" if whole.startswith("8") or whole in ("11", "18") else "a"
    return f"{article} {whole}:1"
