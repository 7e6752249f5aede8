#!/bin/sh
# torch 2.13.0: `torch.optim.Muon` orthogonalises its updates in bfloat16 whatever the parameters'
# dtype is, on a CPU too, and no argument changes it. On a processor without bfloat16 instructions
# an update takes many times as long as the same products in float32, and more than the rest of a
# training step of a small model. The updates also carry bfloat16's rounding into float64 parameters.
#
# Seen on 2026-11-28: every product in {torch.bfloat16} for parameters in float64. On an AMD EPYC with
# AVX2 and no bfloat16, an update of a matrix of 704 x 256 took 0.35 s, and its products in float32
# 0.02 s: 19 times as long. The factor is printed and depends on the processor.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet torch==2.13.0 numpy
"$folder/venv/bin/python" - <<'P'
import time

import torch
from torch.utils._python_dispatch import TorchDispatchMode


class Products(TorchDispatchMode):
    """The dtypes of all matrix products."""

    def __init__(self):
        super().__init__()
        self.dtypes = set()

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        if "mm" in str(function):
            self.dtypes |= {arg.dtype for arg in args if isinstance(arg, torch.Tensor)}
        return function(*args, **(kwargs or {}))


weight = torch.nn.Parameter(torch.randn(704, 256, dtype=torch.float64))
optimizer = torch.optim.Muon([weight], lr=0.02)
weight.grad = torch.randn_like(weight)
with Products() as products:
    optimizer.step()
print("products in", products.dtypes, "for parameters in", weight.dtype)


def seconds(work) -> float:
    """The least processor time of five calls."""
    times = []
    for _ in range(6):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times[1:])


def products_in_float32() -> None:
    x = torch.randn(256, 704)
    for _ in range(5):
        gram = x @ x.T
        x = torch.addmm(x, torch.addmm(gram, gram, gram), x) / 1e3


torch.set_num_threads(1)
ratio = seconds(optimizer.step) / seconds(products_in_float32)
print(f"an update takes {ratio:.1f} times as long as its products in float32 here")
assert products.dtypes == {torch.bfloat16}, "the behaviour has changed"
P
echo "torch 2.13.0 behaves as described"
