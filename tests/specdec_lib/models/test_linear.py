"""A product with fixed weights: what it gives, and which weights are packed in float16."""

import pytest
import torch
from torch import Tensor

from specdec_lib.assets import ASSETS
from specdec_lib.models.checkpoint import read_weights
from specdec_lib.models.linear import Linear, half_scale
from specdec_lib.models.scale import COSTS, grown

PACKS = torch.backends.quantized.engine in ("x86", "fbgemm")


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
@pytest.mark.parametrize("shape", [(1, 1), (3, 2)])
@pytest.mark.parametrize("size", [16, 1024])
@pytest.mark.parametrize("saved_in", [torch.float32, torch.float16])
def test_product_is_exact(dtype: torch.dtype, shape: tuple[int, int], size: int, saved_in):
    generator = torch.Generator().manual_seed(0)
    weight = torch.randn(size + 8, size, generator=generator).to(saved_in).to(dtype)
    x = torch.randn(*shape, size, generator=generator).to(dtype)
    expected, found = x.double() @ weight.double().T, Linear(weight)(x)
    assert found.shape == expected.shape and found.dtype == dtype
    error = (found.double() - expected).abs().max() / size
    assert error <= 4 * torch.finfo(dtype).eps


@pytest.mark.parametrize(
    "weight, packed",
    [
        (torch.randn(8, 8).half().float(), True),
        (torch.randn(8, 8).bfloat16().float(), True),
        (torch.zeros(2, 2), True),
        (torch.randn(8, 8).half().float() * 2.0**-20, True),
        (torch.tensor([[1.0, 1 / 3]]), False),
        (torch.tensor([[1.0, 1e5]]), False),  # above the largest float16
        (torch.tensor([[1.0, float("nan")]]), False),
        (torch.ones(2, 2, dtype=torch.float64), False),
    ],
)
def test_only_weights_that_lose_nothing_are_packed(weight: Tensor, packed: bool):
    assert (half_scale(weight) is not None) == (packed and PACKS)


def test_scaled_target_is_packed_as_its_source_is():
    weights = grown(read_weights(ASSETS / "target", "cpu", torch.float32), COSTS["40m"])
    weight = next(iter(weights.layers)).qkv
    assert (half_scale(weight) is not None) == PACKS
    x = torch.randn(3, weight.shape[1], generator=torch.Generator().manual_seed(0))
    expected = x.double() @ weight.double().T
    torch.testing.assert_close(Linear(weight)(x).double(), expected, rtol=0, atol=1e-5)
