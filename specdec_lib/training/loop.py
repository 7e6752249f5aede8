"""One training loop for target and drafts: seeded, resumable, over one or several processes."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel
from tqdm import tqdm

from specdec_lib.training.recipes import CONTEXT, SEED, Recipe

CHECKPOINT_EVERY = 50  # steps

# The loss of `model` on tokens (B, T) at a share 0..1 of the training, and what to log of it.
Loss = Callable[[nn.Module, Tensor, float], tuple[Tensor, dict[str, float]]]


def train(model: nn.Module, loss: Loss, recipe: Recipe, data: np.ndarray, folder: Path) -> None:
    """Train `model` in place on windows of `data`; go on from `folder`/last.pt if there is one.

    Writes last.pt (model, optimizers, step) and log.jsonl. Called in every process of the group.
    """
    optimizers = _optimizers(model, recipe)
    first = _resume(model, optimizers, folder)
    device = next(model.parameters()).device
    parallel = DistributedDataParallel(model) if dist.get_world_size() > 1 else model
    steps = range(first, recipe.steps)
    for step in tqdm(steps, initial=first, total=recipe.steps, disable=dist.get_rank() > 0):
        _set_rates(optimizers, recipe.rate(step))
        tokens = torch.from_numpy(windows(data, recipe.batch, step)).to(device)
        with torch.autocast(device.type, torch.bfloat16):
            value, shown = loss(parallel, tokens, step / recipe.steps)
        value.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for optimizer in optimizers:
            optimizer.step()
            optimizer.zero_grad()
        if dist.get_rank() == 0:
            _record(model, optimizers, step + 1, recipe, shown, folder)


def windows(data: np.ndarray, batch: int, step: int) -> np.ndarray:
    """This process's share of the `batch` windows of step `step`: (share, CONTEXT) int64.

    The starts are drawn from the seed and the step alone, so a resumed training sees what an
    uninterrupted one sees, whatever the number of processes.
    """
    starts = np.random.default_rng([SEED, step]).integers(0, len(data) - CONTEXT, batch)
    mine = starts[dist.get_rank() :: dist.get_world_size()]
    return np.stack([data[start : start + CONTEXT] for start in mine]).astype(np.int64)


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
    if dist.get_rank() == 0:
        _cut_log(folder / "log.jsonl", saved["step"])
    return saved["step"]


def _cut_log(log: Path, steps: int) -> None:
    """Take out the steps that are done again."""
    lines = log.read_text().splitlines(keepends=True)
    log.write_text("".join(lines[:steps]))


def _record(
    model: nn.Module,
    optimizers: list[torch.optim.Optimizer],
    step: int,
    recipe: Recipe,
    shown: dict[str, float],
    folder: Path,
) -> None:
    """Log the step, and from time to time write a checkpoint whole."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "log.jsonl").open("a") as log:
        log.write(json.dumps({"step": step} | {k: round(v, 4) for k, v in shown.items()}) + "\n")
    if step % CHECKPOINT_EVERY and step != recipe.steps:
        return
    state = {
        "model": model.state_dict(),
        "optimizers": [optimizer.state_dict() for optimizer in optimizers],
        "step": step,
    }
    torch.save(state, folder / "last.tmp")
    os.replace(folder / "last.tmp", folder / "last.pt")
