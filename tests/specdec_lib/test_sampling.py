"""From logits to distributions, and from uniform numbers to tokens."""

import numpy as np
import pytest
import torch
from data_files import table
from torch import Tensor
from transformers.generation.logits_process import (
    LogitsProcessorList,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)

from specdec_lib.sampling import Uniforms, Warp, sample_from

F64 = torch.float64
SAMPLING = table("sampling.toml")


@pytest.mark.parametrize("row", SAMPLING["drawn"], ids=lambda row: str(row["probs"]))
def test_inverse_cdf(row: dict):
    found = {u: sample_from(np.array(row["probs"]), float(u)) for u in row["tokens"]}
    assert found == row["tokens"]


def test_no_mass_at_all_is_an_error():
    with pytest.raises(ValueError, match="no positive entry"):
        sample_from(np.zeros(3), 0.5)


def test_a_random_number_before_the_first_block_is_an_error():
    probs = torch.full((1, 2), 0.5)
    with pytest.raises(ValueError, match="call start_block"):
        Uniforms([np.random.default_rng(0)]).acceptance_uniforms(probs, probs)


def random_logits(seed: int, *shape: int) -> Tensor:
    return 3 * torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=F64)


@pytest.mark.parametrize("warp", [Warp(0), Warp(0, top_k=2, top_p=0.1)])
def test_temperature_0_is_one_hot_on_the_first_of_the_largest(warp: Warp):
    logits = torch.tensor([[1.0, 3.0, 3.0, 2.0], [0.0, 0.0, 0.0, 0.0], [-5.0, -9.0, -7.0, -5.0]])
    assert warp(logits).tolist() == [[0, 1, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0]]


@pytest.mark.parametrize("warp", [Warp(), Warp(0), Warp(0.5), Warp(0.5, top_k=3, top_p=0.8)])
@pytest.mark.parametrize(
    ("dtype_in", "dtype_out"),
    [
        (torch.float16, torch.float32),
        (torch.bfloat16, torch.float32),
        (torch.float32, torch.float32),
        (torch.float64, torch.float64),
    ],
)
def test_half_precision_comes_back_in_float32(
    dtype_in: torch.dtype, dtype_out: torch.dtype, warp: Warp
):
    logits = random_logits(1, 2, 3, 8).to(dtype_in)
    probs = warp(logits)
    assert probs.dtype == dtype_out and probs.shape == logits.shape
    # Nothing is computed in half precision: it is as if the logits had been wider all along.
    assert torch.equal(probs, warp(logits.to(dtype_out)))


@pytest.mark.parametrize("k, tokens", [(1, [2]), (2, [0, 1, 2]), (3, [0, 1, 2]), (9, [0, 1, 2, 3])])
def test_top_k_keeps_the_k_most_probable_and_what_ties_with_them(k: int, tokens: list[int]):
    probs = Warp(top_k=k)(torch.tensor([2.0, 2.0, 8.0, 1.0]).log())
    assert probs.nonzero()[:, 0].tolist() == tokens


@pytest.mark.parametrize("dtype", [torch.float32, F64])
@pytest.mark.parametrize("top_p, tokens", SAMPLING["top_p"].items())
def test_top_p_that_is_reached_exactly_is_reached_and_the_first_of_equals_are_kept(
    top_p: str, tokens: list[int], dtype: torch.dtype
):
    logits = torch.tensor([0, 1, 1, 0, 1, 1], dtype=dtype).log()
    assert Warp()(logits).tolist() == [0, 0.25, 0.25, 0, 0.25, 0.25]  # exact, whatever the machine
    probs = Warp(top_p=float(top_p))(logits)
    assert probs.nonzero()[:, 0].tolist() == tokens
    assert probs[tokens].tolist() == pytest.approx([1 / len(tokens)] * len(tokens))


@pytest.mark.parametrize("temperature", [0.3, 1.0, 1.8])
@pytest.mark.parametrize("top_k", [None, 1, 3, 40, 5000])
@pytest.mark.parametrize("top_p", [0.05, 0.5, 0.95, 1.0])
def test_transformers_gives_the_same(temperature: float, top_k: int | None, top_p: float):
    logits = random_logits(4, 12, 100)
    theirs = LogitsProcessorList([TemperatureLogitsWarper(temperature)])
    theirs += [TopKLogitsWarper(top_k)] if top_k else []
    theirs += [TopPLogitsWarper(top_p)] if top_p < 1 else []
    expected = theirs(None, logits).softmax(-1)
    probs = Warp(temperature, top_k, top_p)(logits)
    assert torch.equal(probs > 0, expected > 0)
    assert torch.allclose(probs, expected, rtol=1e-12, atol=0)
