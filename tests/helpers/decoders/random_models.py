"""Small random models, for tests that need weights but no knowledge."""

import torch
from torch import Tensor
from transformers import (
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedModel,
    T5Config,
    T5ForConditionalGeneration,
)

from specdec_lib.drafters.eagle import HEAD_WIDTH, EagleWeights
from specdec_lib.drafters.medusa import MedusaHeads
from specdec_lib.models.llama import Llama

VOCAB = 48
ENDLESS = {"bos_token_id": None, "eos_token_id": None}


def seeded(kind: type[PreTrainedModel], config, seed: int) -> PreTrainedModel:
    """A model in float64 whose logits are far enough apart to have no ties."""
    torch.manual_seed(seed)
    return kind(config).double().eval()


def llama(seed: int = 0, layers: int = 2, kv_heads: int = 4, tied: bool = True) -> LlamaForCausalLM:
    config = LlamaConfig(
        vocab_size=VOCAB,
        hidden_size=32,
        num_hidden_layers=layers,
        num_attention_heads=4,
        num_key_value_heads=kv_heads,
        intermediate_size=48,
        max_position_embeddings=128,
        tie_word_embeddings=tied,
        initializer_range=0.2,
        **ENDLESS,
    )
    return seeded(LlamaForCausalLM, config, seed)


def gpt2(seed: int = 0, layers: int = 2) -> GPT2LMHeadModel:
    sizes = {"vocab_size": VOCAB, "n_embd": 32, "n_layer": layers, "n_head": 4, "n_positions": 128}
    return seeded(GPT2LMHeadModel, GPT2Config(**sizes, initializer_range=0.2, **ENDLESS), seed)


def t5(seed: int = 0, layers: int = 2) -> T5ForConditionalGeneration:
    """A T5 v1.1 of width 32, with a gated MLP, as many layers in the decoder as in the encoder.

    `generate` of transformers fails with other numbers of layers.
    """
    config = T5Config(
        vocab_size=VOCAB,
        d_model=32,
        d_kv=8,
        d_ff=48,
        num_heads=4,
        num_layers=layers,
        num_decoder_layers=layers,
        feed_forward_proj="gated-gelu",
        initializer_factor=3.0,
        tie_word_embeddings=False,
        decoder_start_token_id=0,
        pad_token_id=0,
        eos_token_id=None,
    )
    return seeded(T5ForConditionalGeneration, config, seed)


def medusa_heads(target: Llama, count: int = 3, rank: int = 2) -> MedusaHeads:
    """Heads that change the states of `target` at random."""
    width = target.shape.width
    return MedusaHeads(*random_tensors(target, (count, rank, width), (count, width, rank)))


def eagle_weights(target: Llama) -> EagleWeights:
    """A head that predicts the states of `target` at random."""
    width, w, mlp = target.shape.width, HEAD_WIDTH, 8
    layer = ((w,), (3 * w, w), (w, w), (w,), (2 * mlp, w), (w, mlp))
    return EagleWeights(*random_tensors(target, (w, 2 * width), *layer, (w,), (width, w)))


def random_tensors(target: Llama, *shapes: tuple[int, ...]) -> list[Tensor]:
    """Normal numbers of these shapes, such that a matrix keeps the size of what it multiplies."""
    generator = torch.Generator().manual_seed(0)
    numbers = [torch.randn(*shape, generator=generator, dtype=target.dtype) for shape in shapes]
    return [each / each.shape[-1] ** 0.5 if each.ndim > 1 else each for each in numbers]
