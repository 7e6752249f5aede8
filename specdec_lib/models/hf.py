"""Any causal or encoder-decoder model of Hugging Face transformers, as protocol.py asks for it.

Rows of a batch run one after another, each with a cache of its own. In one padded pass, rows of
unequal length would have to be shifted against each other, and how a model takes the shift
(position ids, masks, relative positions) differs from architecture to architecture.

Tokens that are in the cache are never fed again: the positions of the new ones are read off the
cache, and a model that did not append exactly these is refused.

A cache is cut back to any length at any time, so every row keeps all positions of every layer, also
those that have left a sliding window (the mask hides them) or a convolution. transformers 5.23.0
has `activate_past_recording` for the same end, but its `crop` shortens what is kept to the window,
and two cuts without a pass between them would go wrong. A recurrent state (Mamba, RWKV, the linear
attention of Qwen3-Next) cannot be cut back there either: its `is_croppable` is False.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForSeq2SeqLM,
    DynamicCache,
    EncoderDecoderCache,
    PreTrainedConfig,
    PreTrainedModel,
)
from transformers.cache_utils import (
    Cache,
    DynamicLayer,
    DynamicSlidingWindowLayer,
    LinearAttentionLayer,
)
from transformers.modeling_outputs import BaseModelOutput

from specdec_lib.models.cache import Lengths
from specdec_lib.models.rotary import ORIGINAL

# The caches of layers that keep what a pass reads, or here do (`whole_cache`).
KEPT = {DynamicLayer, DynamicSlidingWindowLayer, LinearAttentionLayer}


class RowCaches(Lengths):
    """A transformers cache for every row, and what the encoder made for it (1, S, D), if any."""

    def __init__(
        self,
        rows: list[Cache],
        capacity: int | None,
        device: torch.device,
        encoded: Sequence[Tensor] | None = None,
    ) -> None:
        super().__init__(len(rows), capacity, device)
        self.rows = rows
        self.encoded: Sequence[Tensor | None] = encoded or [None] * len(rows)

    def truncate(self, length: Tensor | Sequence[int] | int) -> None:
        """Forget every position from `length` on: one number, or one for each row.

        Raises ValueError if a number is negative or above what its row holds.
        """
        before = self._held
        super().truncate(length)
        for row, held, new in zip(self.rows, before, self._held, strict=True):
            if new < held:
                cut(row, held - new)

    def odd_rows(self) -> list[int]:
        """The rows whose cache does not hold the positions that are counted here."""
        rows = enumerate(zip(self.rows, self._held, strict=True))
        return [number for number, (row, held) in rows if row.get_seq_length() != held]


def cut(cache: Cache, count: int) -> None:
    """Take the last `count` positions out of a cache, and nothing else."""
    if isinstance(cache, EncoderDecoderCache):
        cache.crop(-count)  # transformers 5: minus the number of positions to remove
        return
    for layer in cache.layers:
        if isinstance(layer, LinearAttentionLayer):  # of a convolution: inputs, in the last axis
            states = layer.conv_states.items()
            layer.conv_states = {number: state[..., :-count] for number, state in states}
        else:
            layer.crop(-count)


def whole_cache(config: PreTrainedConfig) -> DynamicCache:
    """An empty cache that keeps every position of every layer, for a decoder of this kind."""
    cache = DynamicCache(config=config)
    for number, layer in enumerate(cache.layers):
        if isinstance(layer, DynamicSlidingWindowLayer):
            cache.layers[number] = DynamicLayer()
    cache.activate_past_recording()
    return cache


class HuggingFace(ABC):
    """What both kinds share; B rows, T new tokens, V entries of the vocabulary.

    `vocab_size` counts the columns of the logits, which may be more than the tokenizer has
    entries. Raises ValueError if the model's cache cannot be cut back exactly.
    """

    def __init__(self, model: PreTrainedModel) -> None:
        refuse_uncroppable(model)
        self.model = model.eval()
        self.vocab_size: int = model.get_output_embeddings().weight.shape[0]
        self.max_length = longest_sequence(model)
        self.device, self.dtype = model.device, model.dtype

    def cut_vocabulary(self, size: int) -> None:
        """From now on, give only the first `size` columns of the logits.

        Raises ValueError if there are not so many.
        """
        if not 0 < size <= self.vocab_size:
            raise ValueError(f"the logits have {self.vocab_size} columns and cannot keep {size}")
        self.vocab_size = size

    # no_grad, since tensors made under inference_mode cannot be changed in place afterwards.
    @torch.no_grad()
    def forward(self, tokens: Tensor, cache: RowCaches) -> Tensor:
        """The logits (B, T, V) after each of `tokens` (B, T) long, which are appended to `cache`.

        Raises ValueError if `cache` has no room, or the model does not keep what it read.
        """
        cache.advance(tokens.shape[1])
        rows = zip(tokens[:, None], cache.rows, cache.encoded, strict=True)
        logits = torch.cat([self._row(*row) for row in rows])
        if not all(row.is_croppable for row in cache.rows):
            raise recurrent(self.model)
        if cache.odd_rows():
            raise ValueError(
                f"a model of type {self.model.config.model_type} did not add to its cache what it "
                "read, so it would have to read all again: choose a model that uses DynamicCache"
            )
        return logits[..., : self.vocab_size]

    def _capacity(self, wanted: int | None) -> int | None:
        return min(filter(None, (wanted, self.max_length)), default=None)

    @abstractmethod
    def _row(self, tokens: Tensor, past: Cache, encoded: Tensor | None) -> Tensor:
        """The logits (1, T, columns) of one row, `tokens` (1, T) after `past`."""


class Causal(HuggingFace):
    """A decoder-only model (AutoModelForCausalLM)."""

    def new_cache(self, batch: int = 1, capacity: int | None = None) -> RowCaches:
        """An empty cache of `batch` rows; without `capacity`, room for all that the model takes."""
        rows = [whole_cache(self.model.config) for _ in range(batch)]
        return RowCaches(rows, self._capacity(capacity), self.device)

    def _row(self, tokens: Tensor, past: Cache, encoded: Tensor | None) -> Tensor:
        return self.model(input_ids=tokens, past_key_values=past, use_cache=True).logits


class EncoderDecoder(HuggingFace):
    """An encoder-decoder model (AutoModelForSeq2SeqLM) and the source that it reads.

    The encoder runs once for each source, when the first cache for it is made: a draft that is not
    used costs nothing. Decoding starts from `prompt`, one token. A cache belongs to the sources
    that were set when it was made.
    """

    def __init__(self, model: PreTrainedModel, *sources: Sequence[int]) -> None:
        super().__init__(model)
        self.prompt: list[int] = [model.config.decoder_start_token_id]
        self.set_source(*sources)

    def set_source(self, *sources: Sequence[int]) -> None:
        """Take token ids to be read: one source for all rows, or one for each."""
        self.sources, self._encoded = sources, None

    @torch.no_grad()
    def encoded(self) -> list[Tensor]:
        """What the encoder makes of each source (1, S, D); it runs at the first call."""
        if self._encoded is None:
            encoder = self.model.get_encoder()
            ids = [torch.tensor([each], dtype=torch.long) for each in self.sources]
            self._encoded = [encoder(each.to(self.device)).last_hidden_state for each in ids]
        return self._encoded

    def new_cache(self, batch: int = 1, capacity: int | None = None) -> RowCaches:
        """An empty cache of `batch` rows, for the present sources.

        Raises ValueError if no source is set, or neither one nor `batch`.
        """
        if not self.sources:
            raise ValueError("an encoder-decoder model needs a text: call set_source(ids) first")
        if len(self.sources) not in (1, batch):
            raise ValueError(f"{batch} rows and {len(self.sources)} sources: set one source a row")
        encoded = self.encoded() * (batch if len(self.sources) == 1 else 1)
        rows = [EncoderDecoderCache(DynamicCache(), DynamicCache()) for _ in range(batch)]
        return RowCaches(rows, self._capacity(capacity), self.device, encoded)

    def _row(self, tokens: Tensor, past: Cache, encoded: Tensor | None) -> Tensor:
        return self.model(
            decoder_input_ids=tokens,
            encoder_outputs=BaseModelOutput(last_hidden_state=encoded),
            past_key_values=past,
            use_cache=True,
        ).logits


def load(
    folder: Path | str, device: torch.device | str = "cpu", dtype: torch.dtype = torch.float32
) -> Causal | EncoderDecoder:
    """Load a folder; its config tells the kind.

    Raises ValueError if the model's cache cannot be cut back, OSError if nothing is found.
    """
    seq2seq = AutoConfig.from_pretrained(folder).is_encoder_decoder
    auto = AutoModelForSeq2SeqLM if seq2seq else AutoModelForCausalLM
    model = auto.from_pretrained(folder, dtype=dtype).to(device)
    return EncoderDecoder(model) if seq2seq else Causal(model)


def longest_sequence(model: PreTrainedModel) -> int | None:
    """How many positions the decoder takes; None if positions are relative, as in T5.

    With longrope (Phi-3) that is the length from which on a longer text turns all its keys another
    way: those in the cache have been turned, so passes of other widths would differ there.
    """
    config = model.config.get_text_config(decoder=True)
    longest = getattr(config, "max_position_embeddings", None)
    rope = getattr(config, "rope_parameters", None) or {}
    if rope.get("rope_type") == "longrope":
        return rope[ORIGINAL]
    return longest if longest and longest > 0 else None  # XLNet says -1


def refuse_uncroppable(model: PreTrainedModel) -> None:
    """Raise ValueError unless every layer of `model` can keep its positions (`whole_cache`)."""
    if getattr(model, "_is_stateful", False):
        raise recurrent(model)
    kinds = {type(layer) for layer in DynamicCache(config=model.config).layers}
    odd = sorted(kind.__name__ for kind in kinds - KEPT)
    if odd:
        raise ValueError(
            f"a model of type {model.config.model_type} has layers whose cache is a "
            f"{', '.join(odd)}, which is not known here to be cut back exactly: choose a model "
            "with full or sliding attention"
        )


def recurrent(model: PreTrainedModel) -> ValueError:
    """What is said of a model that keeps a running state."""
    return ValueError(
        f"a model of type {model.config.model_type} keeps a running state, from which the last "
        "tokens cannot be taken out again: choose a model with attention in every layer"
    )
