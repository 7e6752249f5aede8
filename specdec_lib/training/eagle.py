"""The training of the built-in EAGLE head.

The head reads the states of the frozen target on the training text, and the target's own head reads
what it predicts. The loss is that of the draft models, `distillation`, and the smooth L1 distance
of the states. The paper takes 0.1 of the cross-entropy with the target's distribution and 1 of the
distance, on states with noise (Li et al., 2024).
"""

from collections.abc import Mapping
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from transformers import LlamaForCausalLM, LlamaModel

from specdec_lib.drafters.eagle import EagleWeights
from specdec_lib.models.checkpoint import layer_weights
from specdec_lib.training.recipes import EAGLE_RECIPE, EAGLE_SIZE, SEED, ModelSize
from specdec_lib.training.stages import TrainingLoss, distillation, train, trained_target

STATE_WEIGHT = 3.0  # of the distance; the total variation has 1


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


def train_eagle(folder: Path, device: torch.device) -> None:
    """Train the head on the states of the trained target."""
    target = trained_target(folder, device)
    torch.manual_seed(SEED)
    head = EagleHead(target.config.hidden_size, EAGLE_SIZE).to(device)
    train(head, loss_on(target), EAGLE_RECIPE, folder, "eagle")


def loss_on(target: LlamaForCausalLM) -> TrainingLoss:
    """The loss of the head on the states of `target`."""
    table = unit_scale(target.model.embed_tokens.weight)

    def loss(head: nn.Module, tokens: Tensor, share: float) -> Tensor:
        with torch.no_grad():
            states = target.model(input_ids=tokens, use_cache=False).last_hidden_state.float()
            p = target.lm_head(states[:, 1:]).float().softmax(-1)
        predicted = head(states[:, :-1], F.embedding(tokens[:, 1:], table))
        logits = target.lm_head(predicted).float()
        distance = F.smooth_l1_loss(predicted.float(), states[:, 1:])
        early = share < EAGLE_RECIPE.cross_entropy
        return distillation(p, logits, early) + STATE_WEIGHT * distance

    return loss


def unit_scale(embedding: Tensor) -> Tensor:
    """The embedding (V, width) with entries as large as the states': a mean square of 1."""
    return embedding / embedding.pow(2).mean().sqrt()


def eagle_weights(trained: Mapping[str, Tensor], embedding: Tensor) -> EagleWeights:
    """The drafter's weights, from those of a trained EagleHead.

    `fuse` takes over the scaling of `embedding` (`unit_scale`).
    """
    token = trained["token.weight"] / embedding.pow(2).mean().sqrt()
    layer = layer_weights(lambda name: trained[name.replace("model.layers", "body.layers")], 0)
    return EagleWeights(
        fuse=torch.cat((trained["state.weight"], token), 1),
        **vars(layer),
        norm=trained["body.norm.weight"],
        up=trained["up.weight"],
    )
