"""Muon (Jordan et al., 2024) in float32.

torch.optim.Muon multiplies in bfloat16. A processor without instructions for it takes 17 times as
long for that as for float32 (AMD EPYC with AVX2, torch 2.13.0, 2026-11-28).
"""

from collections.abc import Iterable

import torch
from torch import Tensor

# The polynomial of torch.optim.Muon: it is steepest at 0.
A, B, C, ITERATIONS = 3.4445, -4.7750, 2.0315, 5


class Float32Muon(torch.optim.Optimizer):
    """Nesterov's momentum, made nearly orthogonal; for matrices only."""

    def __init__(
        self, params: Iterable[Tensor], lr: float, weight_decay: float, momentum: float = 0.95
    ) -> None:
        super().__init__(params, {"lr": lr, "weight_decay": weight_decay, "momentum": momentum})

    @torch.no_grad()
    def step(self) -> None:
        """Change every matrix by its own update."""
        for group in self.param_groups:
            for matrix in group["params"]:
                mean = self.state[matrix].setdefault("mean", torch.zeros_like(matrix))
                mean.lerp_(matrix.grad, 1 - group["momentum"])
                update = orthogonalised(matrix.grad.lerp(mean, group["momentum"]))
                rows, columns = matrix.shape
                matrix.mul_(1 - group["lr"] * group["weight_decay"])
                matrix.add_(update, alpha=-group["lr"] * max(1, rows / columns) ** 0.5)


def orthogonalised(matrix: Tensor) -> Tensor:
    """The matrix (rows, columns) with its singular values near 1, by Newton and Schulz."""
    if matrix.shape[0] > matrix.shape[1]:
        return orthogonalised(matrix.T).T
    x = matrix / matrix.norm().clamp(min=1e-7)
    for _ in range(ITERATIONS):
        gram = x @ x.T
        x = torch.addmm(x, torch.addmm(gram, gram, gram, beta=B, alpha=C), x, beta=A)
    return x
