"""A matrix product with fixed weights; on a CPU it reads half the bytes where that is exact.

A product of a few rows takes as long as reading the weights. The shipped weights have 16 bits a
number. FBGEMM (Khudia et al., 2021, arXiv:2101.05615) reads float16 and widens each number to
float32 inside the processor: the numbers and the sums are those of float32. In all other cases the
product is torch's own.
"""

import math
import warnings
from collections.abc import Callable
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor

# Weights from which two threads gain on one: waking them takes longer than a smaller product.
SHARED_FROM = 400_000
FIT_BLOCK = 32_768  # weights, 128 kB in float32: with a copy of each they fit in a core's own cache


class Linear:
    """x (..., in) -> x W^T (..., out), for a weight W (out, in)."""

    def __init__(self, weight: Tensor) -> None:
        scale = float16_scale(weight)
        self.bytes_per_weight = weight.element_size() if scale is None else 2  # in memory
        self.inverse_scale = 1 / (scale or 1)
        if scale is None:
            self.product = partial(F.linear, weight=weight)
        else:
            self.product = packed_product(weight if scale == 1 else weight * scale)

    def __call__(self, x: Tensor) -> Tensor:
        """The product, for any number of rows."""
        y = self.product(x)
        return y if self.inverse_scale == 1 else y.mul_(self.inverse_scale)


def packed_product(weight: Tensor) -> Callable[[Tensor], Tensor]:
    """x -> x W^T for a float32 weight W (out, in) that float16 holds, in FBGEMM's own order.

    torch has two calls of the same kernel. One shares a product out among threads, and takes longer
    to begin than the other, which is deprecated, and says so at its first call.
    """
    if weight.numel() >= SHARED_FROM:
        packed = torch.ops.quantized.linear_prepack_fp16(weight, None)
        return partial(torch.ops.quantized.linear_dynamic_fp16, W_prepack=packed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        packed = torch.fbgemm_pack_gemm_matrix_fp16(weight)
        product = partial(
            torch.fbgemm_linear_fp16_weight_fp32_activation, packed_weight=packed, bias=None
        )
        product(weight.new_zeros(1, weight.shape[1]))
    return product


def float16_scale(weight: Tensor) -> float | None:
    """The power of two that makes this float32 weight fit in float16; None if there is none.

    None too where torch has no such product. float16 may round a number by no more than float32
    rounds the largest one: weights that were saved in 16 bits pass with 1, and weights that were
    trained in float32 do not pass. float16 has fewer digits below 2^-14, so a matrix of small
    numbers, as a scaled model's are, is multiplied until its largest is just below 2^15. In float32
    that is exact, and so is the way back.
    """
    if weight.device.type != "cpu" or weight.dtype != torch.float32:
        return None
    if torch.backends.quantized.engine not in ("x86", "fbgemm"):
        return None
    minimum, maximum = weight.aminmax()
    largest = torch.maximum(-minimum, maximum)
    if fits_float16(weight, largest):
        return 1.0
    scale = 2.0 ** (15 - math.frexp(float(largest))[1])
    return scale if fits_float16(weight, largest, scale) else None


def fits_float16(weight: Tensor, largest: Tensor, scale: float = 1.0) -> bool:
    """Whether float16 rounds no number by more than float32 rounds the largest, all times `scale`.

    It works block by block in the processor's cache, and stops at the first block that does not
    fit: copies of the whole matrix would take most of the time of loading a model.
    """
    limit = largest * scale * torch.finfo(torch.float32).eps

    def fits(block: Tensor) -> bool:
        block = block * scale
        return bool(block.half().float().sub_(block).abs_().max() <= limit)

    return all(map(fits, weight.flatten().split(FIT_BLOCK)))
