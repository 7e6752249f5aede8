"""Any causal or encoder-decoder model of Hugging Face transformers, by the protocol of protocol.py.

The rows of a batch run one after another, each with a cache of its own. In one padded pass, rows of
unequal length would have to be shifted against each other, and how a model takes the shift
(position ids, masks, relative positions) differs from architecture to architecture.

A row's cache is a DynamicCache that keeps every position of every layer, so it can be cut back to
any length at any time. The mask then limits a sliding window: with the layers that transformers
makes for a window, two cuts without a pass between them would go wrong. A recurrent state (Mamba,
RWKV, linear attention) or a convolution cannot be cut back, so such models are refused. Where the
rotary factors of a position depend on how long the text becomes, a text ends before they change.
"""

from collections.abc import Sequence

import torch
from torch import Tensor
from transformers import DynamicCache, EncoderDecoderCache, PreTrainedConfig, PreTrainedModel
from transformers.cache_utils import DummyLayer, DynamicLayer, DynamicSlidingWindowLayer
from transformers.modeling_outputs import BaseModelOutput
from transformers.models.auto.modeling_auto import MODEL_FOR_MASKED_LM_MAPPING_NAMES

from specdec_lib.device import without_cudnn_attention
from specdec_lib.models.cache import RaggedCache
from specdec_lib.models.catalogue import PairError

RowCache = DynamicCache | EncoderDecoderCache
# Layers that keep every position, and those that read another layer's keys (Gemma 3n and 4).
EXACT_LAYERS = {DynamicLayer, DynamicSlidingWindowLayer, DummyLayer}


class RowCaches(RaggedCache):
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
        old = self.length_on_cpu
        super().truncate(length)
        for row, before, after in zip(self.rows, old, self.length_on_cpu, strict=True):
            if after < before:
                row.crop(after - before)  # transformers 5: minus the number of positions to remove


class Causal:
    """A decoder-only model (AutoModelForCausalLM).

    `vocab_size` is the number of columns of the logits, which may be more than the tokenizer has
    tokens; set to a smaller number, it cuts the others off. `why_max_length` says why `max_length`
    is less than the model takes, if so. Raises PairError if the cache of the model cannot be cut
    back exactly, or the model reads later tokens too.
    """

    def __init__(self, model: PreTrainedModel) -> None:
        require_attention(model)
        require_causal(model)
        self.model = model.eval()
        self.vocab_size: int = model.get_output_embeddings().weight.shape[0]
        self.max_length, self.why_max_length = longest_sequence(
            model.config.get_text_config(decoder=True)
        )
        self.device, self.dtype = model.device, model.dtype

    def new_cache(self, batch: int = 1, capacity: int | None = None) -> RowCaches:
        """An empty cache of `batch` rows; without `capacity`, room for all that the model takes."""
        rows = [DynamicCache() for _ in range(batch)]
        return RowCaches(rows, self._capacity(capacity), self.device, [None] * batch)

    # no_grad, since tensors made under inference_mode cannot be changed in place afterwards.
    @torch.no_grad()
    @without_cudnn_attention()
    def forward(self, tokens: Tensor, cache: RowCaches) -> Tensor:
        """The logits (B, T, V) after each of `tokens` (B, T) long, which are appended to `cache`.

        Raises ValueError if `cache` has no room, PairError if the model does not use it.
        """
        cache.advance(tokens.shape[1])
        rows = zip(tokens[:, None], cache.rows, cache.encoded, strict=True)
        logits = torch.cat([self._row(*row) for row in rows])
        if [row.get_seq_length() for row in cache.rows] != cache.length_on_cpu:
            kind = self.model.config.model_type
            raise PairError(f"a model of type {kind} does not use a DynamicCache: choose another")
        return logits[..., : self.vocab_size]

    def _row(self, tokens: Tensor, past: RowCache, encoded: Tensor | None) -> Tensor:
        """The logits (1, T, columns) of one row, `tokens` (1, T) after `past`."""
        return self.model(input_ids=tokens, past_key_values=past, use_cache=True).logits

    def _capacity(self, wanted: int | None) -> int | None:
        return min(filter(None, (wanted, self.max_length)), default=None)


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
    @without_cudnn_attention()
    def encoded(self) -> list[Tensor]:
        """The encoder's output for each source (1, S, D); it runs at the first call."""
        if self._encoded is None:
            encoder = self.model.get_encoder()
            rows = [torch.tensor([source], device=self.device) for source in self.sources]
            self._encoded = [encoder(ids).last_hidden_state for ids in rows]
        return self._encoded

    def new_cache(self, batch: int = 1, capacity: int | None = None) -> RowCaches:
        """An empty cache of `batch` rows for the present sources.

        Raises ValueError unless there is one source, or one for each row.
        """
        if len(self.sources) not in (1, batch):
            raise ValueError(f"{len(self.sources)} sources for {batch} rows: call set_source first")
        encoded = self.encoded() * (batch if len(self.sources) == 1 else 1)
        rows = [EncoderDecoderCache(DynamicCache(), DynamicCache()) for _ in range(batch)]
        return RowCaches(rows, self._capacity(capacity), self.device, encoded)

    def _row(self, tokens: Tensor, past: RowCache, encoded: Tensor | None) -> Tensor:
        return self.model(
            decoder_input_ids=tokens,
            encoder_outputs=BaseModelOutput(last_hidden_state=encoded),
            past_key_values=past,
            use_cache=True,
        ).logits


def longest_sequence(config: PreTrainedConfig) -> tuple[int | None, str]:
    """For how many positions a decoder is exact, and why the model takes more, if it does.

    None if positions are relative, as in T5. With the types "longrope" and "dynamic" of rotary
    factors a pass beyond a limit gives other factors to all positions, those in the cache too.
    """
    longest = getattr(config, "max_position_embeddings", None) or 0
    rope = getattr(config, "rope_parameters", None) or {}
    # One dictionary for all layers, or one for each type of layer.
    for factors in [rope, *(value for value in rope.values() if isinstance(value, dict))]:
        kind = factors.get("rope_type", "")
        if kind == "longrope":
            longest = min(longest, factors["original_max_position_embeddings"])
        if kind in ("longrope", "dynamic"):
            return longest, f", where its rotary factors, of type {kind!r}, change"
    return (longest if longest > 0 else None), ""  # XLNet says -1


def require_attention(model: PreTrainedModel) -> None:
    """Raise PairError unless every layer of `model` is attention with keys and values."""
    kinds = {type(layer) for layer in DynamicCache(config=model.config).layers}
    if getattr(model, "_is_stateful", False) or kinds - EXACT_LAYERS:
        raise PairError(
            f"a model of type {model.config.model_type} keeps a state that cannot be cut back: "
            "choose one with attention in every layer"
        )


def require_causal(model: PreTrainedModel) -> None:
    """Raise PairError if `model` reads the tokens after a position too, as BERT does."""
    config, text = model.config, model.config.get_text_config(decoder=True)
    masked = config.model_type in MODEL_FOR_MASKED_LM_MAPPING_NAMES
    one_way = any(getattr(config, name, False) for name in ("is_decoder", "is_encoder_decoder"))
    if masked and not one_way or getattr(text, "use_bidirectional_attention", 0) in (True, "all"):
        raise PairError(
            f"a model of type {config.model_type} reads the tokens after a position too: choose a "
            "causal one"
        )
