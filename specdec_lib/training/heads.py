"""The training of the drafters on the target's states: Medusa heads and an EAGLE head, together.

Both read the states of the frozen target on the training text, and the target's own head reads what
they predict. The loss is that of the draft models, `distillation`, and for EAGLE also the smooth L1
distance of the states. The papers' losses differ: Medusa takes the cross-entropy with the text's
tokens (Cai et al., 2024), EAGLE 0.1 of the cross-entropy with the target's distribution and 1 of
the distance, on states with noise (Li et al., 2024).
"""

from collections.abc import Mapping
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from transformers import LlamaForCausalLM, LlamaModel

from specdec_lib.drafters.eagle import EagleWeights
from specdec_lib.drafters.medusa import MedusaHeads
from specdec_lib.models.checkpoint import layer_weights
from specdec_lib.training.recipes import (
    EAGLE_SIZE,
    HEADS_RECIPE,
    MEDUSA_HEADS,
    MEDUSA_RANK,
    SEED,
    ModelSize,
)
from specdec_lib.training.stages import TrainingLoss, distillation, train, trained_target

STATE_WEIGHT = 3.0  # of the distance; the total variation has 1


class MedusaBlocks(nn.Module):
    """Residual blocks of low rank on the target's state, which at first change nothing."""

    def __init__(self, width: int) -> None:
        super().__init__()
        count, rank = MEDUSA_HEADS, MEDUSA_RANK
        self.down = nn.ModuleList(nn.Linear(width, rank, bias=False) for _ in range(count))
        self.up = nn.ModuleList(nn.Linear(rank, width, bias=False) for _ in range(count))
        for up in self.up:
            nn.init.zeros_(up.weight)

    def forward(self, states: Tensor) -> list[Tensor]:
        """States (B, T, width) -> what the target's head reads, (B, T, width), block by block."""
        pairs = zip(self.down, self.up, strict=True)
        return [states + up(F.silu(down(states))) for down, up in pairs]


class EagleHead(nn.Module):
    """A narrow Llama layer from states and tokens to states."""

    def __init__(self, width: int, shape: ModelSize) -> None:
        super().__init__()
        self.state = nn.Linear(width, shape.width, bias=False)
        self.token = nn.Linear(width, shape.width, bias=False)
        self.body = LlamaModel(shape.config())
        self.body.embed_tokens = nn.Identity()  # it reads states
        self.up = nn.Linear(shape.width, width, bias=False)
        nn.init.zeros_(self.up.weight)

    def forward(self, states: Tensor, tokens: Tensor) -> Tensor:
        """Predicted states, one position on, from states and the embeddings of the next tokens.

        (B, T, width) each.
        """
        x = self.state(states) + self.token(tokens)
        return self.up(self.body(inputs_embeds=x, use_cache=False).last_hidden_state)


class Drafters(nn.Module):
    """Both as one module, because they share the target's pass."""

    def __init__(self, width: int) -> None:
        super().__init__()
        torch.manual_seed(SEED)
        self.medusa, self.eagle = MedusaBlocks(width), EagleHead(width, EAGLE_SIZE)

    def forward(self, states: Tensor, tokens: Tensor) -> list[tuple[int, Tensor]]:
        """(i, predicted states (B, T - i, width)), i positions ahead; EAGLE's come last.

        `states` and the embedded `tokens` are those of T positions, (B, T, width) each.
        """
        medusa = [(i, block[:, :-i]) for i, block in enumerate(self.medusa(states), start=1)]
        return [*medusa, (1, self.eagle(states[:, :-1], tokens[:, 1:]))]


def train_heads(folder: Path, device: torch.device) -> None:
    """Train both on the states of the trained target."""
    target = trained_target(folder, device)
    drafters = Drafters(target.config.hidden_size).to(device)
    train(drafters, loss_on(target), HEADS_RECIPE, folder, "heads")


def loss_on(target: LlamaForCausalLM) -> TrainingLoss:
    """The loss of the drafters on the states of `target`."""
    table = unit_scale(target.model.embed_tokens.weight)

    def loss(drafters: nn.Module, tokens: Tensor, share: float) -> Tensor:
        with torch.no_grad():
            states = target.model(input_ids=tokens, use_cache=False).last_hidden_state.float()
            p = target.lm_head(states).float().softmax(-1)
        predicted = drafters(states, F.embedding(tokens, table))
        early = share < HEADS_RECIPE.cross_entropy
        logits = [(i, target.lm_head(head_states).float()) for i, head_states in predicted]
        losses = [distillation(p[:, i:], head_logits, early) for i, head_logits in logits]
        distance = F.smooth_l1_loss(predicted[-1][1].float(), states[:, 1:])  # EAGLE's
        return sum(losses) + STATE_WEIGHT * distance

    return loss


def unit_scale(embedding: Tensor) -> Tensor:
    """The embedding (V, width) with entries as large as the states': a mean square of 1."""
    return embedding / embedding.pow(2).mean().sqrt()


def medusa_weights(trained: Mapping[str, Tensor]) -> MedusaHeads:
    """The drafter's weights, from those of a checkpoint."""
    blocks = range(sum(name.startswith("medusa.down.") for name in trained))
    parts = (
        torch.stack([trained[f"medusa.{part}.{i}.weight"] for i in blocks])
        for part in ("down", "up")
    )
    return MedusaHeads(*parts)


def eagle_weights(trained: Mapping[str, Tensor], embedding: Tensor) -> EagleWeights:
    """As `medusa_weights`; the matrix takes over the scaling of `embedding` (`unit_scale`)."""
    token = trained["eagle.token.weight"] / embedding.pow(2).mean().sqrt()
    layer = layer_weights(
        lambda name: trained[name.replace("model.layers", "eagle.body.layers")], 0
    )
    return EagleWeights(
        fuse=torch.cat((trained["eagle.state.weight"], token), 1),
        **vars(layer),
        norm=trained["eagle.body.norm.weight"],
        up=trained["eagle.up.weight"],
    )
