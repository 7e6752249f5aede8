"""What every pair is: a target, its draft and the tokenizer of both."""

from dataclasses import dataclass
from typing import Any

import torch

from specdec_lib.device import free_memory, name_of
from specdec_lib.models.catalogue import PairError
from specdec_lib.models.protocol import Model


@dataclass(frozen=True)
class Pair:
    """A target, its draft and the tokenizer of both; `label` describes them in one line.

    `eos_id` ends a text; it is None if the tokenizer has no such token.
    """

    name: str
    target: Model
    draft: Model
    tokenizer: Any  # encode(text) gives token ids, decode(ids) gives text
    label: str
    eos_id: int | None

    def prompt(self, text: str) -> list[int]:
        """The token ids that decoding starts from, to continue `text`.

        An encoder-decoder model gets the text as its source, and starts from a token of its own.
        """
        ids = self.tokenizer.encode(text)
        if not hasattr(self.target, "set_source"):
            return ids
        for model in (self.target, self.draft):
            model.set_source(ids)
        return self.target.prompt


def require_memory(parameters: int, dtype: torch.dtype, device: torch.device) -> None:
    """Raise PairError if the weights take more memory than is free on `device`."""
    needed, free = parameters * dtype.itemsize, free_memory(device)
    if free is not None and needed > free:
        raise PairError(
            f"the weights take {needed / 1e9:.1f} GB in {name_of(dtype)}, and "
            f"{free / 1e9:.1f} GB are free on {device}"
        )
