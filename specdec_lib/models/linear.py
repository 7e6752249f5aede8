"""A matrix product with fixed weights, on a CPU with half the bytes where nothing is lost.

A product of a few rows takes as long as reading the weights, so the bytes count. Published weights
have 16 bits a number. FBGEMM (Khudia et al., 2021, arXiv:2101.05615) reads float16 and widens each
number to float32 inside the processor: the numbers and the sums are those of float32, and half the
bytes are read. Everything else is torch's own product.
"""

import math
from collections.abc import Callable
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor

CACHED = 32_768  # weights, 128 kB in float32: with a copy of each they stay in a core's own cache


class Linear:
    """x (..., in) -> x W^T + b (..., out), for a weight W (out, in) and a bias b (out,), if any."""

    def __init__(self, weight: Tensor, bias: Tensor | None = None) -> None:
        self.size, self.bias = len(weight), bias
        self.weight: Tensor | None = None  # of a product that reads it as it is
        scale = half_scale(weight)
        if scale is not None:
            scaled = weight if scale == 1 else weight * scale
            halved = torch.ops.quantized.linear_prepack_fp16(scaled, None)
            self.product = partial(_halved_product, halved=halved, back=1 / scale, bias=bias)
        else:
            self.weight = weight
            self.product = partial(F.linear, weight=weight, bias=bias)

    def __call__(self, x: Tensor) -> Tensor:
        """The product, for any number of rows."""
        return self.product(x)

    def cut(self, size: int) -> None:
        """From now on, give only the first `size` outputs. ValueError if there are fewer."""
        if not 0 < size <= self.size:
            raise ValueError(f"the product has {self.size} outputs and cannot keep {size}")
        if size < self.size:
            self.product, self.size = partial(_first_of, product=self.product, size=size), size


def _first_of(x: Tensor, product: Callable[[Tensor], Tensor], size: int) -> Tensor:
    return product(x)[..., :size]


def _halved_product(
    x: Tensor, halved: torch.ScriptObject, back: float, bias: Tensor | None
) -> Tensor:
    y = torch.ops.quantized.linear_dynamic_fp16(x, halved)
    y = y if back == 1 else y.mul_(back)
    return y if bias is None else y.add_(bias)


def half_scale(weight: Tensor) -> float | None:
    """The power of two by which float16 holds this float32 weight; None if nothing does.

    None too where this machine does not multiply such matrices. float16 may round a number by no
    more than float32 rounds the largest one: weights that were saved in 16 bits pass with 1, and
    weights that were trained in float32 do not pass. float16 has fewer digits below 2^-14, so a
    matrix of small numbers, as a scaled model's are, is raised until its largest is just below
    2^15. In float32 that is exact, and so is the way back.
    """
    if weight.device.type != "cpu" or weight.dtype != torch.float32:
        return None
    if torch.backends.quantized.engine not in ("x86", "fbgemm"):
        return None
    least, most = weight.aminmax()
    largest = torch.maximum(-least, most)
    if fits_half(weight, largest):
        return 1.0
    if not largest.isfinite():
        return None
    scale = 2.0 ** (15 - math.frexp(float(largest))[1])
    return scale if fits_half(weight, largest, scale) else None


def fits_half(weight: Tensor, largest: Tensor, scale: float = 1.0) -> bool:
    """Whether float16 rounds no number by more than float32 rounds the largest, all times `scale`.

    The numbers are looked at in parts that the processor's cache holds, up to the first that does
    not fit: with copies of a whole matrix this was most of the time of loading a model.
    """
    limit = largest * scale * torch.finfo(torch.float32).eps

    def fits(part: Tensor) -> bool:
        part = part * scale
        return bool(part.half().float().sub_(part).abs_().max() <= limit)

    return all(map(fits, weight.flatten().split(CACHED)))
