"""Small random models in Hugging Face folders, for tests that need weights but no knowledge."""

import torch
from transformers import LlamaConfig, LlamaForCausalLM

VOCAB = 48


def llama(seed: int = 0, layers: int = 2, kv_heads: int = 4, tied: bool = True) -> LlamaForCausalLM:
    """A Llama of width 32 in float64."""
    torch.manual_seed(seed)
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
        bos_token_id=None,
        eos_token_id=None,
    )
    return LlamaForCausalLM(config).double().eval()
