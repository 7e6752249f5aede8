"""A T5's decoder in passes of fixed shape, on the tensors of a transformers model.

transformers starts every kernel of a pass from the host, and its caches grow. Here a pass takes a
cache of fixed shapes and a source of fixed room, so that a CUDA graph can hold it. The products and
norms are the modules of transformers themselves: no number is copied, and only attention is written
anew. The encoder stays what it is: it runs once a source.

T5 knows no positions but distances (Raffel et al., 2020, section 2.1; transformers 5.23.0,
`T5Attention`), so a text may stand anywhere in a cache. Here it begins twice: the first token, in
slot 0, is seen by none but itself, since a step of fixed shape drafts after two tokens.
"""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from specdec_lib.models.cache import FixedCache, Held
from specdec_lib.models.hf import EncoderDecoder

FAMILY = "t5"


class Source:
    """Keys and values of a source in every layer, and what hides the room behind it."""

    def __init__(self, layers: int, heads: int, width: int, room: int, like: Tensor) -> None:
        self.keys = like.new_zeros(layers, 1, heads, room, width)
        self.values = torch.zeros_like(self.keys)
        self.mask = like.new_full((1, 1, 1, room), float("-inf"))
        self.length = 0

    def begin(self, length: int) -> None:
        """Let passes see the first `length` positions. ValueError if there is no room for them."""
        room = self.mask.shape[-1]
        if length > room:
            raise ValueError(f"a source of {length} tokens, and there is room for {room}: cut it")
        self.mask.fill_(float("-inf"))[..., :length] = 0
        self.length = length

    def store(self, layer: int, keys: Tensor, values: Tensor) -> None:
        """Keep keys and values (1, heads, S, width) of a layer."""
        self.keys[layer, :, :, : self.length] = keys
        self.values[layer, :, :, : self.length] = values


class T5Decoder:
    """The decoder of a T5 as graph.py asks for it; all rows of a cache read one source.

    `read` sets the source, outside of a graph; then texts begin with `prompt`. Raises ValueError
    for other models, and for float16, in which transformers computes a part in float32.
    """

    max_length = None  # distances from 128 on are all alike

    def __init__(self, whole: EncoderDecoder, room: int) -> None:
        """`room` is of the longest source, in tokens."""
        config = whole.model.config
        if not self.takes(whole):
            raise ValueError(
                f"a model of type {config.model_type} in {whole.dtype} is not captured: only "
                f"{FAMILY} is, and not in torch.float16"
            )
        self.whole, self.config, self.stack = whole, config, whole.model.decoder
        self.vocab_size, self.device, self.dtype = whole.vocab_size, whole.device, whole.dtype
        self.prompt = 2 * whole.prompt
        self.bias = distances(self.stack.block[0].layer[0].SelfAttention)
        size = (len(self.stack.block), config.num_heads, config.d_kv)
        self.source = Source(*size, room, like=self.bias)

    @staticmethod
    def takes(whole: EncoderDecoder) -> bool:
        """Whether this is a T5, in a dtype in which every part is computed."""
        return whole.model.config.model_type == FAMILY and whole.dtype != torch.float16

    @torch.no_grad()
    def read(self, ids: Sequence[int]) -> None:
        """Make `ids` the source: the encoder runs, and every layer's keys and values are kept."""
        self.whole.set_source(ids)
        (encoded,) = self.whole.encoded()
        self.source.begin(len(ids))
        for number, block in enumerate(self.stack.block):
            attention = block.layer[1].EncDecAttention
            parts = (self._heads(each(encoded)) for each in (attention.k, attention.v))
            self.source.store(number, *parts)

    def new_fixed_cache(self, batch: int, capacity: int) -> FixedCache:
        """An empty cache of fixed shapes."""
        heads, width = self.config.num_heads, self.config.d_kv
        size = (len(self.stack.block), batch, capacity, heads, width)
        return FixedCache(*size, self.device, self.dtype)

    @torch.no_grad()
    def forward(self, tokens: Tensor, cache: FixedCache, run: None = None) -> Tensor:
        """The logits (B, T, V) after each of `tokens` (B, T) long, which are appended to `cache`.

        `run` is for Llamas, whose layers are compiled. ValueError if no source was read.
        """
        if not self.source.length:
            raise ValueError("an encoder-decoder needs a text: call read(ids) first")
        slots = cache.advance(tokens.shape[1])
        x, bias = self.stack.embed_tokens(tokens), self._bias(cache, slots)
        for number, block in enumerate(self.stack.block):
            x = x + self._of_text(block.layer[0], x, bias, cache.held(number), slots)
            x = x + self._of_source(block.layer[1], x, number)
            x = block.layer[2](x)
        x = self.stack.final_layer_norm(x)
        if self.config.scale_decoder_outputs:
            x = x * self.config.d_model**-0.5
        return self.whole.model.lm_head(x)[..., : self.vocab_size]

    def _of_text(
        self, layer: nn.Module, x: Tensor, bias: Tensor, held: Held, slots: Tensor
    ) -> Tensor:
        """What a layer's attention to the text before adds to x (B, T, width)."""
        own, normed = layer.SelfAttention, layer.layer_norm(x)
        new = (each(normed).unflatten(-1, (-1, self.config.d_kv)) for each in (own.k, own.v))
        keys, values = held.store(slots, *new)
        return self._mixed(own, normed, keys, values, bias)

    def _of_source(self, layer: nn.Module, x: Tensor, number: int) -> Tensor:
        """What a layer's attention to the source adds to x (B, T, width)."""
        source, normed = self.source, layer.layer_norm(x)
        keys, values = (
            each[number].expand(len(x), -1, -1, -1) for each in (source.keys, source.values)
        )
        return self._mixed(layer.EncDecAttention, normed, keys, values, source.mask)

    def _mixed(
        self, own: nn.Module, normed: Tensor, keys: Tensor, values: Tensor, bias: Tensor
    ) -> Tensor:
        """Attention whose scores are not scaled, and to which `bias` is added."""
        queries = self._heads(own.q(normed))
        mixed = F.scaled_dot_product_attention(queries, keys, values, attn_mask=bias, scale=1.0)
        return own.o(mixed.transpose(1, 2).flatten(2))

    def _heads(self, x: Tensor) -> Tensor:
        """(B, T, heads d) -> (B, heads, T, d)."""
        return x.unflatten(-1, (-1, self.config.d_kv)).transpose(1, 2)

    def _bias(self, cache: FixedCache, slots: Tensor) -> Tensor:
        """What is added to the scores (B, heads, T, S): by distance, and -inf where hidden."""
        there, own = torch.arange(cache.readable, device=slots.device), slots[:, :, None]
        distance = (own - there).clamp(0, len(self.bias) - 1)
        bias = F.embedding(distance, self.bias).permute(0, 3, 1, 2)
        hidden = (there > own) | ((there == 0) & (own > 0))
        return bias.masked_fill(hidden[:, None], float("-inf")).contiguous()


def distances(attention: nn.Module) -> Tensor:
    """The bias (N, heads) of each distance to a token before; all beyond are as the last."""
    last = attention.relative_attention_max_distance
    with torch.no_grad():
        row = attention.compute_bias(1, last + 1, past_seen_tokens=last)  # (1, heads, 1, N)
    return row[0, :, 0].flip(-1).T.contiguous()
