"""The stretched rotations against transformers, at the sizes of published models."""

import pytest
import torch
from transformers import LlamaConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

from specdec_lib.models.rotary import ORIGINAL, amplitude, frequencies

LLAMA31 = {
    "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
    ORIGINAL: 8192,
}  # fmt: skip
QWEN25 = {"rope_type": "yarn", "factor": 4.0, ORIGINAL: 32768}


@pytest.mark.parametrize(
    ("theta", "rope"),
    [
        (10000.0, {"rope_type": "linear", "factor": 8.0}),
        (500000.0, LLAMA31),
        (500000.0, LLAMA31 | {"factor": 32.0}),
        (1e6, QWEN25),
        (1e6, QWEN25 | {"attention_factor": 0.9, "truncate": False}),
        (1e4, QWEN25 | {"mscale": 0.7, "mscale_all_dim": 1.0, "beta_fast": 16, "beta_slow": 2}),
        (1e4, QWEN25 | {"factor": 1.0, ORIGINAL: 64}),
    ],
)
def test_the_frequencies_are_those_of_transformers(theta: float, rope: dict):
    config = LlamaConfig(
        hidden_size=4096, num_attention_heads=32, max_position_embeddings=131072,
        rope_parameters={"rope_theta": theta, **rope},
    )  # fmt: skip
    expected, scale = ROPE_INIT_FUNCTIONS[rope["rope_type"]](config)
    found = frequencies(128, theta, rope)
    torch.testing.assert_close(found, expected.double(), rtol=2e-6, atol=0)
    assert amplitude(rope) == pytest.approx(scale)


@pytest.mark.parametrize("rope", [{}, {"rope_type": "default"}, {"rope_type": "dynamic"}])
def test_nothing_is_stretched_by_default_nor_where_it_would_begin_after_the_end(rope: dict):
    expected = 10000.0 ** (-torch.arange(0, 64, 2, dtype=torch.float64) / 64)
    assert torch.equal(frequencies(64, 10000.0, rope), expected) and amplitude(rope) == 1
