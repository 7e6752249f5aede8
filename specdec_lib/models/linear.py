"""A matrix product with fixed weights, on a CPU in the layout that oneDNN is fastest with."""

import ctypes
import platform

import torch
import torch.nn.functional as F
from torch import Tensor

# oneDNN reads a large packed matrix faster for four rows than for one or two (measured: 4.5 ms
# against 5.6 ms for 71M bfloat16 weights), so fewer rows are filled up. Plain decoding gains by it.
ROWS = 4
LARGE = 1_000_000  # weights: from here on a product takes its time for reading them
# A call of oneDNN costs 15 us whatever it multiplies. Below this many float32 weights the ordinary
# product of one row, 3 to 15 us, is done sooner (drafts of one or two layers by a third).
SMALL = 300_000


class Linear:
    """x (..., in) -> x W^T (..., out), for a weight W (out, in).

    In float32 and bfloat16 on x86, W is packed once by oneDNN; a verification of K+1 tokens
    then costs little more than a pass over one, where the unpacked product costs up to three.
    Small float32 matrices stay as they are.
    """

    def __init__(self, weight: Tensor) -> None:
        small = weight.dtype == torch.float32 and weight.numel() < SMALL
        self.packed = can_pack(weight) and not small
        self.weight = (
            torch.ops.mkldnn._reorder_linear_weight(weight, ROWS) if self.packed else weight
        )
        self.fill = self.packed and weight.numel() >= LARGE

    def __call__(self, x: Tensor) -> Tensor:
        """The product, for any number of rows."""
        if not self.packed:
            return F.linear(x, self.weight)
        rows = x.shape[:-1].numel()
        if not self.fill or rows >= ROWS:
            return _product(x, self.weight)
        filled = F.pad(x.reshape(rows, -1), (0, 0, 0, ROWS - rows))
        return _product(filled, self.weight)[:rows].view(*x.shape[:-1], -1)


def _product(x: Tensor, packed: Tensor) -> Tensor:
    return torch.ops.mkldnn._linear_pointwise(x, packed, None, "none", [], "")


def can_pack(weight: Tensor) -> bool:
    """Whether oneDNN has a packed layout for this weight on this machine."""
    if weight.device.type != "cpu" or platform.machine().lower() not in ("x86_64", "amd64"):
        return False
    if not torch.backends.mkldnn.is_available():
        return False
    if weight.dtype == torch.bfloat16:
        return torch.ops.mkldnn._is_mkldnn_bf16_supported()
    return weight.dtype == torch.float32


def return_freed_memory() -> None:
    """Give what has been freed back to the system, if the C library can (glibc).

    glibc keeps freed blocks of up to 32 MB. Between packed matrices those of the unpacked ones stay
    holes: at 234M a third of all memory.
    """
    if platform.libc_ver()[0] == "glibc":
        ctypes.CDLL(None).malloc_trim(0)
