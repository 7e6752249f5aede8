"""The text of tokens that come one after the other."""

from collections.abc import Sequence
from copy import copy

from tokenizers import Tokenizer
from tokenizers.decoders import DecodeStream


class TextStream:
    """Incremental decoding: what every token adds to the text after `prompt`, special tokens too.

    A character comes with the token that completes it. All tokens are decoded together, since a
    tokenizer may drop the first space of a text.
    """

    def __init__(self, tokenizer: Tokenizer, prompt: Sequence[int] = ()) -> None:
        self.tokenizer, self.stream = tokenizer, DecodeStream(skip_special_tokens=False)
        self.pending: list[int] = []  # tokens of a character that is not complete yet
        for token in prompt:  # DecodeStream(prompt) would repeat one that ends within a character
            self.add(token)

    def add(self, token: int) -> str:
        """The text that `token` completes; empty if its character is not complete yet."""
        self.pending.append(token)
        try:
            piece = self.stream.step(self.tokenizer, token)
        except Exception:  # tokenizers has no class for it: bytes that change the text before them
            self.stream = DecodeStream(skip_special_tokens=False)
            piece = self.stream.step(self.tokenizer, self.pending)
        if piece:
            self.pending.clear()
        return piece or ""

    def flush(self) -> str:
        """The text of a last character that was not completed: a replacement sign, or nothing."""
        return self.tokenizer.decode(self.pending, skip_special_tokens=False)

    def fork(self) -> "TextStream":
        """Another stream that goes on from here."""
        other = copy(self)
        other.stream, other.pending = copy(self.stream), list(self.pending)
        return other


def common_prefix_length(a: Sequence[int], b: Sequence[int]) -> int:
    """How many tokens two texts share from the beginning."""
    pairs = enumerate(zip(a, b, strict=False))
    return next((i for i, (x, y) in pairs if x != y), min(len(a), len(b)))
