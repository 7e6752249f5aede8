"""Any causal or encoder-decoder model of Hugging Face transformers, by the protocol of protocol.py.

The rows of a batch run one after another, each with a cache of its own. In one padded pass, rows of
unequal length would have to be shifted against each other, and how a model takes the shift
(position ids, masks, relative positions) differs from architecture to architecture.

A row's cache is a DynamicCache that keeps every position of every layer, so it can be cut back to
any length at any time. The mask then limits a sliding window: with the layers that transformers
makes for a window, two cuts without a pass between them would go wrong. A recurrent state (Mamba,
RWKV, linear attention) or a convolution cannot be cut back, so such models are refused.
"""

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
from transformers.cache_utils import DynamicLayer, DynamicSlidingWindowLayer
from transformers.modeling_outputs import BaseModelOutput

from specdec_lib.models.cache import Lengths

RowCache = DynamicCache | EncoderDecoderCache


class RowCaches(Lengths):
    """A transformers cache for every row, and its encoded source (1, S, D), if any."""

    def __init__(
        self,
        rows: list[RowCache],
        capacity: int | None,
        device: torch.device,
        encoded: list[Tensor | None],
    ) -> None:
        super().__init__(len(rows), capacity, device)
        self.rows, self.encoded = rows, encoded

    def truncate(self, length: Tensor | Sequence[int] | int) -> None:
        """Forget every position from `length` on, as in protocol.py."""
        before = self.lengths
        super().truncate(length)
        for row, held, new in zip(self.rows, before, self.lengths, strict=True):
            if new < held:
                row.crop(new - held)  # transformers 5: minus the number of positions to remove


class Causal:
    """A decoder-only model (AutoModelForCausalLM).

    `vocab_size` is the number of columns of the logits, which may be more than the tokenizer has
    tokens; a smaller number cuts the others off. Raises ValueError if the cache of the model cannot
    be cut back exactly.
    """

    def __init__(self, model: PreTrainedModel) -> None:
        require_attention(model)
        self.model = model.eval()
        self.vocab_size: int = model.get_output_embeddings().weight.shape[0]
        self.max_length = longest_sequence(model.config.get_text_config(decoder=True))
        self.device, self.dtype = model.device, model.dtype

    def new_cache(self, batch: int = 1, capacity: int | None = None) -> RowCaches:
        """An empty cache of `batch` rows; without `capacity`, room for all that the model takes."""
        rows = [DynamicCache() for _ in range(batch)]
        return RowCaches(rows, self._room(capacity), self.device, [None] * batch)

    # no_grad, since tensors made under inference_mode cannot be changed in place afterwards.
    @torch.no_grad()
    def forward(self, tokens: Tensor, cache: RowCaches) -> Tensor:
        """The logits (B, T, V) after each of `tokens` (B, T) long, which are appended to `cache`.

        Raises ValueError if `cache` has no room, or the model does not use it.
        """
        cache.advance(tokens.shape[1])
        rows = zip(tokens[:, None], cache.rows, cache.encoded, strict=True)
        logits = torch.cat([self._row(*row) for row in rows])
        if [row.get_seq_length() for row in cache.rows] != cache.lengths:
            kind = self.model.config.model_type
            raise ValueError(f"a model of type {kind} does not use a DynamicCache: choose another")
        return logits[..., : self.vocab_size]

    def _row(self, tokens: Tensor, past: RowCache, encoded: Tensor | None) -> Tensor:
        """The logits (1, T, columns) of one row, `tokens` (1, T) after `past`."""
        return self.model(input_ids=tokens, past_key_values=past, use_cache=True).logits

    def _room(self, capacity: int | None) -> int | None:
        return min(filter(None, (capacity, self.max_length)), default=None)


class EncoderDecoder(Causal):
    """An encoder-decoder model (AutoModelForSeq2SeqLM) and the sources that it reads.

    Decoding starts from `prompt`, one token. The encoder runs when the first cache for a source is
    made, so an unused draft costs nothing. A cache keeps the sources that it was made for.
    """

    def __init__(self, model: PreTrainedModel, *sources: Sequence[int]) -> None:
        super().__init__(model)
        self.prompt: list[int] = [model.config.decoder_start_token_id]
        self.set_source(*sources)

    def set_source(self, *sources: Sequence[int]) -> None:
        """Set the token ids to read: one source for all rows, or one for each."""
        self.sources, self._encoded = sources, None

    @torch.no_grad()
    def encoded(self) -> list[Tensor]:
        """The encoder's output for each source (1, S, D); it runs at the first call."""
        if self._encoded is None:
            encoder = self.model.get_encoder()
            ids = [torch.tensor([each], device=self.device) for each in self.sources]
            self._encoded = [encoder(each).last_hidden_state for each in ids]
        return self._encoded

    def new_cache(self, batch: int = 1, capacity: int | None = None) -> RowCaches:
        """An empty cache of `batch` rows for the present sources.

        Raises ValueError unless there is one source, or one for each row.
        """
        if len(self.sources) not in (1, batch):
            raise ValueError(f"{len(self.sources)} sources for {batch} rows: call set_source first")
        encoded = self.encoded() * (batch if len(self.sources) == 1 else 1)
        rows = [EncoderDecoderCache(DynamicCache(), DynamicCache()) for _ in range(batch)]
        return RowCaches(rows, self._room(capacity), self.device, encoded)

    def _row(self, tokens: Tensor, past: RowCache, encoded: Tensor | None) -> Tensor:
        return self.model(
            decoder_input_ids=tokens,
            encoder_outputs=BaseModelOutput(last_hidden_state=encoded),
            past_key_values=past,
            use_cache=True,
        ).logits


def load(
    folder: Path | str, device: torch.device | str = "cpu", dtype: torch.dtype = torch.float32
) -> Causal | EncoderDecoder:
    """The model in a folder. Raises ValueError if its cache cannot be cut back."""
    seq2seq = AutoConfig.from_pretrained(folder).is_encoder_decoder
    auto = AutoModelForSeq2SeqLM if seq2seq else AutoModelForCausalLM
    model = auto.from_pretrained(folder, dtype=dtype).to(device)
    return EncoderDecoder(model) if seq2seq else Causal(model)


def longest_sequence(config: PreTrainedConfig) -> int | None:
    """The number of positions that a decoder takes; None if positions are relative, as in T5."""
    return getattr(config, "max_position_embeddings", None)


def require_attention(model: PreTrainedModel) -> None:
    """Raise ValueError unless every layer of `model` is attention with keys and values."""
    kinds = {type(layer) for layer in DynamicCache(config=model.config).layers}
    if getattr(model, "_is_stateful", False) or kinds - {DynamicLayer, DynamicSlidingWindowLayer}:
        raise ValueError(
            f"a model of type {model.config.model_type} keeps a state that cannot be cut back: "
            "choose one with attention in every layer"
        )
