"""Small random models, for tests that need weights but no knowledge."""

import torch
from data_files import table
from torch import Tensor
from transformers import (
    GPT2LMHeadModel,
    LlamaForCausalLM,
    PreTrainedModel,
    T5ForConditionalGeneration,
)

from specdec_lib.drafters.eagle import HEAD_WIDTH, EagleWeights
from specdec_lib.models.llama import Llama

VOCAB = 48
MODELS = table("decoders/models.toml")
ENDLESS = {"bos_token_id": None, "eos_token_id": None}


def seeded(kind: type[PreTrainedModel], seed: int, **fields: object) -> PreTrainedModel:
    """A model in float64 whose logits are far enough apart to have no ties."""
    torch.manual_seed(seed)
    config = kind.config_class
    fields = MODELS[config.__name__] | ENDLESS | fields
    return kind(config(vocab_size=VOCAB, **fields)).double().eval()


def llama(seed: int = 0, layers: int = 2, kv_heads: int = 4, tied: bool = True) -> LlamaForCausalLM:
    heads = {"num_key_value_heads": kv_heads, "tie_word_embeddings": tied}
    return seeded(LlamaForCausalLM, seed, num_hidden_layers=layers, **heads)


def gpt2(seed: int = 0, layers: int = 2) -> GPT2LMHeadModel:
    return seeded(GPT2LMHeadModel, seed, n_layer=layers)


def t5(seed: int = 0, layers: int = 2) -> T5ForConditionalGeneration:
    """As many layers in the decoder as in the encoder: with others transformers' generate fails."""
    return seeded(T5ForConditionalGeneration, seed, num_layers=layers, num_decoder_layers=layers)


def eagle_weights(target: Llama) -> EagleWeights:
    """A head that predicts the states of `target` at random."""
    width, w, mlp = target.shape.width, HEAD_WIDTH, 8
    layer = ((w,), (3 * w, w), (w, w), (w,), (2 * mlp, w), (w, mlp))
    shapes = ((w, 2 * width), *layer, (w,), (width, w))
    fuse, *layer_weights, norm, up = random_tensors(target, *shapes)
    return EagleWeights(*layer_weights, fuse=fuse, norm=norm, up=up)


def random_tensors(target: Llama, *shapes: tuple[int, ...]) -> list[Tensor]:
    """Normal numbers of these shapes, such that a matrix keeps the size of what it multiplies."""
    generator = torch.Generator().manual_seed(0)
    numbers = [torch.randn(*shape, generator=generator, dtype=target.dtype) for shape in shapes]
    return [each / each.shape[-1] ** 0.5 if each.ndim > 1 else each for each in numbers]
