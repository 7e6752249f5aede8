"""What a Medusa head lacks: `python -m specdec_lib.training.ablation`.

The first head in four forms, trained side by side for a short while on the same text: of low and of
full rank, with a vocabulary head of its own as in the paper (Cai et al., 2024), and with the token
that it does not see, as in Hydra (Ankner et al., 2024). Printed is the mean acceptance rate over
the last steps of the training. It needs the trained target; resumable, as the trainings.
"""

import argparse
import json
import sys
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from specdec_lib.training import recipes
from specdec_lib.training.heads import frozen_target, scaled_table
from specdec_lib.training.loop import train
from specdec_lib.training.processes import run
from specdec_lib.training.recipes import SEED
from specdec_lib.training.stages import distillation

LAST = 60  # steps that are averaged
NAME = "ablation"  # of the folder


class Form(nn.Module):
    """A residual block on the target's state, which at first changes nothing."""

    def __init__(self, head: Tensor, rank: int, token: bool = False, own: bool = False) -> None:
        super().__init__()
        width = head.shape[1]
        self.token = token
        self.down = nn.Linear(width * (1 + token), rank, bias=False)
        self.up = nn.Linear(rank, width, bias=False)
        nn.init.zeros_(self.up.weight)
        # Called so because it is trained as an embedding is (loop.py).
        self.embed = nn.Parameter(head.detach().clone()) if own else None

    def forward(self, states: Tensor, tokens: Tensor, head: Tensor) -> Tensor:
        """Logits (B, T, V) from states and embedded tokens (B, T, width), by `head` (V, width)."""
        x = torch.cat((states, tokens), -1) if self.token else states
        x = states + self.up(F.silu(self.down(x)))
        return F.linear(x, head if self.embed is None else self.embed)


class Forms(nn.Module):
    """All of them, so that they share the target's pass."""

    def __init__(self, head: Tensor) -> None:
        super().__init__()
        torch.manual_seed(SEED)
        width = head.shape[1]
        self.forms = nn.ModuleDict(
            {
                "a sixth of the rank": Form(head, width // 6),
                "full rank": Form(head, width),
                "full rank and a vocabulary head of its own": Form(head, width, own=True),
                "a sixth of the rank and the last token": Form(head, width // 6, token=True),
            }
        )

    def forward(self, states: Tensor, tokens: Tensor, head: Tensor) -> dict[str, Tensor]:
        """The logits of each after the tokens that follow the states."""
        pairs = states[:, :-1], tokens[:, 1:]
        return {name: form(*pairs, head) for name, form in self.forms.items()}


def train_forms(folder: Path, device: torch.device) -> None:
    """Train them on the states of the trained target, into `folder`/ablation."""
    target, data = frozen_target(folder, device), np.load(folder / "train.npy")
    head = target.lm_head.weight
    table = scaled_table(target.model.embed_tokens.weight)

    def loss(forms: nn.Module, tokens: Tensor, share: float) -> tuple[Tensor, dict[str, float]]:
        with torch.no_grad():
            states = target.model(input_ids=tokens, use_cache=False).last_hidden_state.float()
            p = F.linear(states, head).float().softmax(-1)[:, 1:]
        losses = {
            name: distillation(p, logits.float(), share < recipes.ABLATION_RECIPE.cross_entropy)
            for name, logits in forms(states, F.embedding(tokens, table), head).items()
        }
        shown = {name: alpha.item() for name, (_, alpha) in losses.items()}
        return torch.stack([each for each, _ in losses.values()]).sum(), shown

    train(Forms(head).to(device), loss, recipes.ABLATION_RECIPE, data, folder / NAME)


def last_means(log: Path) -> dict[str, float]:
    """The mean of every figure of `log` over the last LAST steps."""
    steps = [json.loads(line) for line in log.read_text().splitlines()][-LAST:]
    return {name: float(np.mean([step[name] for step in steps])) for name in steps[0]}


def main(arguments: list[str] | None = None) -> int:
    """Train, and print the acceptance rates."""
    parser = argparse.ArgumentParser(
        prog="python -m specdec_lib.training.ablation", description=__doc__
    )
    parser.add_argument("--folder", type=Path, default=Path("build/training"))
    options = parser.parse_args(arguments)
    run(train_forms, options.folder)
    for name, alpha in last_means(options.folder / NAME / "log.jsonl").items():
        if name != "step":
            print(f"{name}: {alpha:.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
