"""The encoder-decoder path on random weights: the mechanics, and identity with Hugging Face."""

import numpy as np
import torch
from transformers import T5Config, T5ForConditionalGeneration

from specdec_lib.measure.experiment.loops import Loop
from specdec_lib.models.hf import EncoderDecoder

VOCABULARY, TOKENS, K = 64, 24, 4
SOURCES = 4


def random_t5(layers: int, seed: int, vocabulary: int = VOCABULARY) -> T5ForConditionalGeneration:
    """A T5 v1.1 of width 32 in float64, whose weights are random and its text without meaning.

    As many layers in the decoder as in the encoder: `generate` of transformers fails otherwise.
    """
    config = T5Config(
        vocab_size=vocabulary,
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
    torch.manual_seed(seed)
    return T5ForConditionalGeneration(config).double().eval()


def compare_random_t5(loop: Loop) -> str:
    """How many greedy texts of the loop are those of `generate`, after random sources, in words."""
    target, draft = random_t5(3, seed=1), random_t5(1, seed=2)
    rng, same = np.random.default_rng(0), 0
    for length in range(5, 5 + SOURCES):
        source = rng.integers(1, VOCABULARY, length).tolist()
        large, small = (EncoderDecoder(model, source) for model in (target, draft))
        mine = loop.generate(large, small, large.prompt, K, TOKENS, 0.0, rng)
        with torch.inference_mode():
            output = target.generate(torch.tensor([source]), max_new_tokens=TOKENS, do_sample=False)
        same += mine == output[0, 1:].tolist()
    return (
        f"T5 of random weights, whose text means nothing: {same} of {SOURCES} greedy texts of "
        f"{TOKENS} tokens by {loop.whose} loop are those of transformers"
    )
