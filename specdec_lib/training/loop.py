"""One training loop for target, drafts and heads: seeded and resumable."""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from tqdm import tqdm

from specdec_lib.training.recipes import CONTEXT, SEED, Recipe

CHECKPOINT_EVERY = 50  # steps

# The loss of `model` on tokens (B, T) at a share 0..1 of the training, and what to show of it.
Loss = Callable[[nn.Module, Tensor, float], tuple[Tensor, dict[str, float]]]


def train(model: nn.Module, loss: Loss, recipe: Recipe, data: np.ndarray, folder: Path) -> None:
    """Train `model` in place on windows of `data`; go on from `folder`/last.pt if there is one.

    Writes last.pt: model, optimizers, step.
    """
    optimizers = _optimizers(model, recipe)
    first = _resume(model, optimizers, folder)
    device = next(model.parameters()).device
    bar = tqdm(range(first, recipe.steps), folder.name, initial=first, total=recipe.steps)
    for step in bar:
        _set_rates(optimizers, recipe.rate(step))
        tokens = torch.from_numpy(windows(data, recipe.batch, step)).to(device)
        with torch.autocast(device.type, torch.bfloat16):
            value, shown = loss(model, tokens, step / recipe.steps)
        value.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for optimizer in optimizers:
            optimizer.step()
            optimizer.zero_grad()
        bar.set_postfix(shown, refresh=False)
        if (step + 1) % CHECKPOINT_EVERY == 0 or step + 1 == recipe.steps:
            _save(model, optimizers, step + 1, folder)


def windows(data: np.ndarray, batch: int, step: int) -> np.ndarray:
    """The `batch` windows of step `step`: (batch, CONTEXT) int64.

    The starts are drawn from the seed and the step alone, so a resumed training sees what an
    uninterrupted one sees.
    """
    starts = np.random.default_rng([SEED, step]).integers(0, len(data) - CONTEXT, batch)
    return np.stack([data[start : start + CONTEXT] for start in starts]).astype(np.int64)


def _optimizers(model: nn.Module, recipe: Recipe) -> list[torch.optim.Optimizer]:
    """Muon for the matrices inside the layers, AdamW for everything else."""
    matrices, others = [], []
    for name, parameter in model.named_parameters():
        inside = parameter.ndim == 2 and "embed" not in name
        (matrices if inside else others).append(parameter)
    muon = torch.optim.Muon(matrices, lr=recipe.muon, weight_decay=0.01)
    adam = torch.optim.AdamW(others, lr=recipe.adam, betas=(0.9, 0.95), weight_decay=0.0)
    for group in muon.param_groups + adam.param_groups:
        group["full_rate"] = group["lr"]
    return [muon, adam]


def _set_rates(optimizers: list[torch.optim.Optimizer], factor: float) -> None:
    for optimizer in optimizers:
        for group in optimizer.param_groups:
            group["lr"] = group["full_rate"] * factor


def _resume(model: nn.Module, optimizers: list[torch.optim.Optimizer], folder: Path) -> int:
    """Load the last checkpoint of `folder` into its arguments; the steps that are done."""
    path = folder / "last.pt"
    if not path.exists():
        return 0
    saved = torch.load(path, weights_only=True)
    model.load_state_dict(saved["model"])
    for optimizer, state in zip(optimizers, saved["optimizers"], strict=True):
        optimizer.load_state_dict(state)
    return saved["step"]


def _save(
    model: nn.Module, optimizers: list[torch.optim.Optimizer], step: int, folder: Path
) -> None:
    """Write a checkpoint atomically."""
    folder.mkdir(parents=True, exist_ok=True)
    states = [optimizer.state_dict() for optimizer in optimizers]
    state = {"model": model.state_dict(), "optimizers": states, "step": step}
    torch.save(state, folder / "last.tmp")
    os.replace(folder / "last.tmp", folder / "last.pt")
