"""The training loop, and the first two trainings: the target on text, the drafts on the target."""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.optim.lr_scheduler import LambdaLR
from tqdm import trange
from transformers import LlamaForCausalLM

from specdec_lib.measure.models import target_dtypes
from specdec_lib.training.recipes import (
    CONTEXT_LENGTH,
    DRAFT_RECIPE,
    DRAFT_SIZES,
    SEED,
    TARGET_RECIPE,
    TARGET_SIZE,
    ModelSize,
    Recipe,
)

# The loss of a model on a batch, tokens (B, T) or what `batch_at` gave, at a share 0..1.
TrainingLoss = Callable[[nn.Module, Any, float], Tensor]
SAVE_EVERY = 50  # steps


def train(
    model: nn.Module,
    loss: TrainingLoss,
    recipe: Recipe,
    folder: Path,
    name: str,
    batch_at: Callable[[int], Any] | None = None,
) -> None:
    """Train `model` in place, and save it as `name`.pt in `folder`.

    It learns from `batch_at(step)`, by default windows of `folder`/train.npy. A training that was
    stopped goes on from the state that `name`.state has, at most SAVE_EVERY steps back.
    """
    device, state = next(model.parameters()).device, folder / f"{name}.state"
    if batch_at is None:
        data = np.load(folder / "train.npy")
        batch_at = partial(training_batch, data, recipe.batch, device)
    fast = device.type != "cpu" or torch.bfloat16 in target_dtypes()
    optimizers = optimizers_of(model, recipe)
    schedules = [LambdaLR(optimizer, recipe.rate) for optimizer in optimizers]
    parts = [model, *optimizers, *schedules]
    for step in (bar := trange(resumed(parts, state), recipe.steps, desc=name)):
        with torch.autocast(device.type, torch.bfloat16, enabled=fast):
            value = loss(model, batch_at(step), step / recipe.steps)
        value.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for optimizer, schedule in zip(optimizers, schedules, strict=True):
            optimizer.step()
            optimizer.zero_grad()
            schedule.step()
        bar.set_postfix(loss=value.item(), refresh=False)
        if (step + 1) % SAVE_EVERY == 0:
            save_whole((step + 1, [part.state_dict() for part in parts]), state)
    save_whole(model.state_dict(), folder / f"{name}.pt")
    state.unlink(missing_ok=True)


def resumed(parts: list, state: Path) -> int:
    """Put what was saved into model and optimizers; the number of steps that they have done."""
    if not state.exists():
        return 0
    step, states = torch.load(state, weights_only=True)
    for part, saved in zip(parts, states, strict=True):
        part.load_state_dict(saved)
    return step


def save_whole(content: object, path: Path) -> None:
    """Write `content` for torch.load; what was there stands until the new file is whole."""
    torch.save(content, path.with_suffix(".new"))
    os.replace(path.with_suffix(".new"), path)


def training_batch(data: np.ndarray, batch: int, device: torch.device, step: int) -> Tensor:
    """The windows of step `step`: (batch, CONTEXT_LENGTH) int64, drawn from the seed."""
    starts = np.random.default_rng([SEED, step]).integers(0, len(data) - CONTEXT_LENGTH, batch)
    rows = np.stack([data[start : start + CONTEXT_LENGTH] for start in starts]).astype(np.int64)
    return torch.from_numpy(rows).to(device)


def optimizers_of(model: nn.Module, recipe: Recipe) -> list[torch.optim.Optimizer]:
    """Muon for all matrices but the embedding, AdamW for everything else.

    AdamW for all if the recipe gives Muon a rate of 0.
    """
    matrices, others = [], []
    for name, parameter in model.named_parameters():
        inside = parameter.ndim == 2 and "embed" not in name
        (matrices if inside and recipe.muon else others).append(parameter)
    # Muon computes in bfloat16, which takes a processor without instructions for it 17 times as
    # long as float32 would (AMD EPYC with AVX2, torch 2.13.0, 2026-11-28).
    adam = torch.optim.AdamW(others, lr=recipe.adam, betas=(0.9, 0.95), weight_decay=0.0)
    if not matrices:
        return [adam]
    return [torch.optim.Muon(matrices, lr=recipe.muon, weight_decay=0.01), adam]


def new_model(shape: ModelSize) -> LlamaForCausalLM:
    """A Llama of this shape with seeded random weights."""
    torch.manual_seed(SEED)
    return LlamaForCausalLM(shape.config())


def load_trained(folder: Path, name: str) -> dict[str, Tensor]:
    """The weights that `train` saved."""
    return torch.load(folder / f"{name}.pt", weights_only=True)


def train_target(folder: Path, device: torch.device) -> None:
    """Train the target on next tokens."""
    train(new_model(TARGET_SIZE).to(device), next_token_loss, TARGET_RECIPE, folder, "target")


def next_token_loss(model: nn.Module, tokens: Tensor, share: float) -> Tensor:
    """Mean cross-entropy of the next token, in nats; tokens (B, T)."""
    logits = model(input_ids=tokens, use_cache=False).logits[:, :-1]
    return F.cross_entropy(logits.flatten(0, 1).float(), tokens[:, 1:].flatten())


def trained_target(folder: Path, device: torch.device) -> LlamaForCausalLM:
    """The trained target, frozen."""
    target = new_model(TARGET_SIZE).to(device).eval().requires_grad_(False)
    target.load_state_dict(load_trained(folder, "target"))
    return target


def train_drafts(folder: Path, device: torch.device) -> None:
    """Distil the drafts from the trained target, all of them together: they share its passes."""
    target = trained_target(folder, device)

    def loss(models: nn.Module, tokens: Tensor, share: float) -> Tensor:
        with torch.no_grad():
            p = target(input_ids=tokens, use_cache=False).logits.float().softmax(-1)
        early = share < DRAFT_RECIPE.cross_entropy
        logits = [model(input_ids=tokens, use_cache=False).logits for model in models.values()]
        return sum(distillation(p, draft_logits.float(), early) for draft_logits in logits)

    drafts = nn.ModuleDict({name: new_model(shape) for name, shape in DRAFT_SIZES.items()})
    train(drafts.to(device), loss, DRAFT_RECIPE, folder, "drafts")


def distillation(p: Tensor, logits: Tensor, early: bool) -> Tensor:
    """A draft's loss against the target's p (B, T, V).

    While it is `early` this is the cross-entropy, whose gradient is large far from p. Later it is
    the total variation, which is 1 - alpha (Leviathan et al., Corollary 3.6).
    """
    log_q = logits.log_softmax(-1)
    if early:
        return -(p * log_q).sum(-1).mean()
    return 1 - torch.minimum(p, log_q.exp()).sum(-1).mean()
