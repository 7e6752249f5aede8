"""The two trainings: the target on text, the drafts on the target's distributions."""

from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from transformers import LlamaForCausalLM

from specdec_lib.training.loop import train
from specdec_lib.training.recipes import (
    DRAFT_RECIPE,
    DRAFTS,
    SEED,
    TARGET,
    TARGET_RECIPE,
    ModelSize,
)


def new_model(shape: ModelSize) -> LlamaForCausalLM:
    """A Llama of this shape with seeded random weights."""
    torch.manual_seed(SEED)
    return LlamaForCausalLM(shape.config())


def train_target(folder: Path, device: torch.device) -> None:
    """Train the target on next tokens, into `folder`/target."""
    model = new_model(TARGET).to(device)
    train(model, next_token_loss, TARGET_RECIPE, np.load(folder / "train.npy"), folder / "target")


def next_token_loss(
    model: nn.Module, tokens: Tensor, share: float
) -> tuple[Tensor, dict[str, float]]:
    """Mean cross-entropy of the next token, in nats; tokens (B, T)."""
    logits = model(input_ids=tokens, use_cache=False).logits[:, :-1]
    loss = F.cross_entropy(logits.flatten(0, 1).float(), tokens[:, 1:].flatten())
    return loss, {"nats": loss.item()}


def trained_target(folder: Path, device: torch.device) -> LlamaForCausalLM:
    """The trained target of `folder`, frozen."""
    target = new_model(TARGET).to(device).eval().requires_grad_(False)
    target.load_state_dict(torch.load(folder / "target" / "last.pt", weights_only=True)["model"])
    return target


class Drafts(nn.Module):
    """All drafts as one module, so that they share the target's pass."""

    def __init__(self) -> None:
        super().__init__()
        self.models = nn.ModuleDict({name: new_model(shape) for name, shape in DRAFTS.items()})

    def forward(self, tokens: Tensor) -> dict[str, Tensor]:
        """The logits (B, T, V) of each draft."""
        return {
            name: model(input_ids=tokens, use_cache=False).logits
            for name, model in self.models.items()
        }


def train_drafts(folder: Path, device: torch.device) -> None:
    """Distil the drafts from the trained target, into `folder`/drafts."""
    target = trained_target(folder, device)

    def loss(drafts: nn.Module, tokens: Tensor, share: float) -> tuple[Tensor, dict[str, float]]:
        with torch.no_grad():
            p = target(input_ids=tokens, use_cache=False).logits.float().softmax(-1)
        losses, shown = [], {}
        for name, logits in drafts(tokens).items():
            early = share < DRAFT_RECIPE.cross_entropy
            divergence, alpha = distillation(p, logits.float(), early)
            losses.append(divergence)
            shown[name] = alpha.item()
        return torch.stack(losses).sum(), shown

    data = np.load(folder / "train.npy")
    train(Drafts().to(device), loss, DRAFT_RECIPE, data, folder / "drafts")


def distillation(p: Tensor, logits: Tensor, early: bool) -> tuple[Tensor, Tensor]:
    """A draft's loss against the target's p (B, T, V), and its acceptance rate.

    Where it is `early` the cross-entropy, whose gradient is large far from p, then the total
    variation, which is 1 - alpha itself (Leviathan et al., Corollary 3.6).
    """
    log_q = logits.log_softmax(-1)
    alpha = torch.minimum(p, log_q.exp()).sum(-1).mean()
    if early:
        return -(p * log_q).sum(-1).mean(), alpha
    return 1 - alpha, alpha
