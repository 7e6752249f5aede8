"""Muon (Jordan et al., 2024) in float32, with the numbers of torch.optim.Muon.

That one multiplies in bfloat16, which takes a processor without instructions for it 17 times as
long as float32 (AMD EPYC with AVX2, torch 2.13.0, 2026-11-28).
"""

from collections.abc import Iterable

import torch
from torch import Tensor

MOMENTUM = 0.95
A, B, C, ITERATIONS = 3.4445, -4.7750, 2.0315, 5  # of the polynomial, which is steepest at 0


class Float32Muon(torch.optim.Optimizer):
    """Nesterov's momentum, made nearly orthogonal; for matrices only."""

    def __init__(self, params: Iterable[Tensor], lr: float, weight_decay: float) -> None:
        super().__init__(params, {"lr": lr, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self) -> None:
        """Change every matrix by its own update."""
        for group in self.param_groups:
            for matrix in group["params"]:
                mean = self.state[matrix].setdefault("mean", torch.zeros_like(matrix))
                mean.lerp_(matrix.grad, 1 - MOMENTUM)
                update = orthogonalised(matrix.grad.lerp(mean, MOMENTUM))
                rows, columns = matrix.shape
                matrix.mul_(1 - group["lr"] * group["weight_decay"])
                matrix.add_(update, alpha=-group["lr"] * max(1, rows / columns) ** 0.5)


def orthogonalised(matrix: Tensor) -> Tensor:
    """The matrix with its singular values near 1, by Newton and Schulz."""
    if matrix.shape[0] > matrix.shape[1]:
        return orthogonalised(matrix.T).T
    x = matrix / matrix.norm().clamp(min=1e-7)
    for _ in range(ITERATIONS):
        gram = x @ x.T
        x = torch.addmm(x, torch.addmm(gram, gram, gram, beta=B, alpha=C), x, beta=A)
    return x
