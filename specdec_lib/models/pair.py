"""A target and its draft as one value, and whether the two fit into memory."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from specdec_lib.device import dtype_name, free_memory
from specdec_lib.models.catalogue import PairError
from specdec_lib.models.protocol import Model
from specdec_lib.models.tokenizer import chat_prompt
from specdec_lib.text_stream import TextStream


@dataclass(frozen=True)
class Pair:
    """A target, its draft and the tokenizer of both; `label` describes them in one line.

    Each token of `eos_id` ends a text: the tokenizer's end, and those of generation_config.json.
    """

    name: str
    target: Model
    draft: Model
    tokenizer: Any  # of transformers, or a FileTokenizer
    label: str
    eos_id: frozenset[int]
    k: int = 4  # draft tokens in a block, where nobody asks for another number
    head: Path | None = None  # the folder of an EAGLE head that drafts in the draft model's place

    @property
    def has_source(self) -> bool:
        """Whether the models read a text, as encoder-decoders do, and write one of their own."""
        return hasattr(self.target, "set_source")

    def start(self, text: str) -> list[int]:
        """Make `text` the source of both models if they have one; returns the prompt's token ids.

        Encoder-decoders read the source, and start from a token of their own. Any other model
        starts from the tokens of `text`, and nothing is set.
        """
        ids = self.tokenizer.encode(text)
        if not self.has_source:
            return ids
        for model in (self.target, self.draft):
            model.set_source(ids)
        return self.target.prompt

    @property
    def is_chat(self) -> bool:
        """Whether the tokenizer has a chat template, so that the target answers questions."""
        return bool(self.tokenizer.chat_template)

    def chat(self, question: str) -> str:
        """`question` as the prompt of a chat model: the text after which it answers.

        Raises PairError if the tokenizer has no chat template.
        """
        if not self.is_chat:
            raise PairError(f"{self.name} has no chat template: it continues texts")
        return chat_prompt(self.tokenizer, question)

    def stream(self, prompt_ids: Sequence[int]) -> TextStream:
        """The text that is written after `prompt_ids`, token by token."""
        context = () if self.has_source else prompt_ids
        return TextStream(self.tokenizer.backend_tokenizer, context)


def require_memory(needed: int, dtype: torch.dtype, device: torch.device) -> None:
    """Raise PairError if `needed` bytes of weights in `dtype` are more than is free on `device`."""
    free = free_memory(device)
    if free is not None and needed > free:
        raise PairError(
            f"the weights take {needed / 1e9:.1f} GB in {dtype_name(dtype)}, and "
            f"{free / 1e9:.1f} GB are free on {device}: choose a smaller pair, or free some memory"
        )
