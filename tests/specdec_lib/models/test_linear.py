"""A product with fixed weights: what it gives, and in which layout its weights are kept."""

import math
from collections.abc import Iterator

import pytest
import torch
from decoders.live_memory import Live

from specdec_lib.assets import ASSETS
from specdec_lib.models.checkpoint import read_weights
from specdec_lib.models.linear import Linear, half_scale
from specdec_lib.models.scale import COSTS, grown

MULTIPLIES_HALVES = torch.backends.quantized.engine in ("x86", "fbgemm")


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (3, 2), (1, 64)])
@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("saved_in", [torch.float32, torch.float16])
@pytest.mark.parametrize("biased", [False, True])
def test_a_product_is_the_product_however_its_weights_are_kept(
    dtype: torch.dtype, shape: tuple[int, int], large: bool, saved_in: torch.dtype, biased: bool
):
    generator = torch.Generator().manual_seed(0)
    weight = torch.randn(1024 if large else 24, 1024 if large else 16, generator=generator)
    weight = weight.to(saved_in)
    x = torch.randn(*shape, weight.shape[1], generator=generator)
    bias = torch.randn(len(weight), generator=generator).to(dtype) if biased else None
    expected = x.to(dtype).double() @ weight.to(dtype).double().T + (bias if biased else 0)
    found = Linear(weight.to(dtype), bias)(x.to(dtype))
    assert found.shape == expected.shape and found.dtype == dtype
    scale = weight.shape[1] ** 0.5
    torch.testing.assert_close(
        found.double() / scale, expected / scale, rtol=0, atol=4 * torch.finfo(dtype).eps * scale
    )


@pytest.mark.parametrize(
    "weight, kept",
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
def test_only_weights_that_lose_nothing_are_kept_in_float16(weight: torch.Tensor, kept: bool):
    assert (half_scale(weight) is not None) == (kept and MULTIPLIES_HALVES)


def halved_by(weight: torch.Tensor) -> float | None:
    """`half_scale` by its definition, with the whole matrix at once."""

    def fits(weight: torch.Tensor) -> bool:
        rounded = (weight.half().float() - weight).abs().max()
        return bool(rounded <= torch.finfo(torch.float32).eps * weight.abs().max())

    largest = float(weight.abs().max())
    scale = 2.0 ** (15 - math.frexp(largest)[1]) if math.isfinite(largest) else 0.0
    return 1.0 if fits(weight) else scale if scale and fits(weight * scale) else None


def matrices() -> Iterator[torch.Tensor]:
    """Our models', one of a grown one, and random ones with one other number near their end."""
    for model in ("target", "base", "small"):
        for layer in read_weights(ASSETS / model, "cpu", torch.float32).layers:
            yield from (layer.qkv, layer.out, layer.gate_up, layer.down)
    grown_up = grown(read_weights(ASSETS / "target", "cpu", torch.float32), COSTS["40m"])
    yield from (layer.gate_up for layer in grown_up.layers)
    random = torch.randn(200, 200, generator=torch.Generator().manual_seed(0))
    for saved_in in (torch.float16, torch.bfloat16, torch.float32):
        for exponent in (-140, -120, -40, -14, 0, 13, 40, 126):
            weight = random.to(saved_in).float() * 2.0**exponent
            for other in (0.0, 1e-44, 1 / 3, 65519.0, 65520.0, 3e38, float("inf"), float("nan")):
                weight[-2, -1] = other
                yield weight
                yield weight.T


def test_a_weight_in_parts_is_judged_as_it_is_whole():
    found = [half_scale(weight) for weight in matrices()]
    if not MULTIPLIES_HALVES:
        assert set(found) == {None}
        return
    assert found == [halved_by(weight) for weight in matrices()]
    assert {None, 1.0} < set(found)


def test_a_weight_is_judged_without_a_copy_of_it():
    weight = torch.randn(512, 1024).bfloat16().float() * 2.0**-20
    with Live() as live:
        assert (half_scale(weight) is not None) == MULTIPLIES_HALVES
    assert live.most < 2 * weight.nbytes  # its own memory counts, seen through its parts


def test_a_scaled_target_is_kept_in_float16_as_its_source_is():
    grown_up = grown(read_weights(ASSETS / "target", "cpu", torch.float32), COSTS["234m"])
    weight = next(iter(grown_up.layers)).qkv
    assert (half_scale(weight) is not None) == MULTIPLIES_HALVES
    x = torch.randn(3, weight.shape[1], generator=torch.Generator().manual_seed(0))
    expected = x.double() @ weight.double().T
    torch.testing.assert_close(Linear(weight)(x).double(), expected, rtol=0, atol=1e-5)
