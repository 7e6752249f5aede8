"""The encoder-decoder path on random weights: the mechanics, and identity with Hugging Face."""

from collections.abc import Sequence

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
    """Greedy text of the loop and of `generate`, after random sources; the finding in words."""
    target, draft = random_t5(3, seed=1), random_t5(1, seed=2)
    rng = np.random.default_rng(0)
    same = 0
    for length in range(5, 5 + SOURCES):
        source = rng.integers(1, VOCABULARY, length).tolist()
        same += written(loop, target, draft, source) == generated(target, source)
    return (
        f"T5 of random weights, whose text means nothing: {same} of {SOURCES} greedy texts of "
        f"{TOKENS} tokens by {loop.whose} loop are those of transformers"
    )


def written(
    loop: Loop,
    target: T5ForConditionalGeneration,
    draft: T5ForConditionalGeneration,
    source: Sequence[int],
) -> list[int]:
    """The tokens of the loop; the encoders read the source, once each."""
    large, small = EncoderDecoder(target, source), EncoderDecoder(draft, source)
    rng = np.random.default_rng(0)
    return loop.generate(large, small, large.prompt, K, TOKENS, 0.0, rng)


@torch.inference_mode()
def generated(target: T5ForConditionalGeneration, source: Sequence[int]) -> list[int]:
    """The tokens of transformers."""
    ids = torch.tensor([source])
    output = target.generate(ids, max_new_tokens=TOKENS, do_sample=False)
    return output[0, 1:].tolist()
