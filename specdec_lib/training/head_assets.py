"""The heads of a finished training as assets: a file of weights and a card each."""

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from specdec_lib.assets import ASSETS
from specdec_lib.drafters.eagle import BUILT_IN_HEAD, Eagle, load_head, save_head
from specdec_lib.drafters.medusa import BUILT_IN_HEADS, Medusa, load_heads, save_heads
from specdec_lib.measure.core.acceptance import Acceptance
from specdec_lib.measure.core.by_step import acceptance_by_step
from specdec_lib.measure.core.held_out import all_tokens
from specdec_lib.models.llama import Llama
from specdec_lib.training.cards import CLOSING, data_rows
from specdec_lib.training.corpus import Document
from specdec_lib.training.heads import eagle_weights, medusa_weights
from specdec_lib.training.recipes import CONTEXT, HEADS_RECIPE

CARD = """\
---
license: psf-2.0
library_name: safetensors
---

# {name}

{role}
Made for the course on speculative decoding; read by {reader}.

| | |
| --- | --- |
| parameters | {parameters:,} |
{shapes}
| weights | float16 |
{data}
| training | {steps:,} steps of {tokens:,} tokens, on the target's distributions |
{worth}
| positions | {positions:,} |

The tokens before the one that is judged are the text's own.
{closing}
"""
ROLES = {
    "medusa": "Heads on the states of stdlib-target, of low rank: Medusa (Cai et al., 2024).",
    "eagle": "A narrow layer that predicts states of stdlib-target: EAGLE (Li et al., 2024).",
}


def export_heads(folder: Path, assets: Path, corpus: list[Document]) -> None:
    """Write both heads and their cards, beside the target in `assets`."""
    saved = torch.load(folder / "heads" / "last.pt", weights_only=True)
    trained, steps = saved["model"], saved["step"]
    target = Llama.from_folder(assets / "target")
    files = [assets / path.relative_to(ASSETS) for path in (BUILT_IN_HEADS, BUILT_IN_HEAD)]
    save_heads(medusa_weights(trained), files[0])
    save_head(eagle_weights(trained, target.embedding), files[1])
    kept = load_heads(target, files[0]), load_head(target, files[1])
    texts = all_tokens(assets)
    for file, kind, weights in zip(files, (Medusa, Eagle), kept, strict=True):
        worth = acceptance_by_step(target, kind(target, weights), texts)
        text = card(file.parent.name, weights._asdict(), corpus, steps, worth)
        (file.parent / "README.md").write_text(text, encoding="utf-8")


def card(
    name: str,
    weights: dict[str, Tensor],
    corpus: list[Document],
    steps: int,
    worth: Sequence[Acceptance],
) -> str:
    """The card of a head after `steps`; `worth` is what its first, second, third token are."""
    return CARD.format(
        name=f"stdlib-{name}",
        role=ROLES[name],
        reader=f"`specdec_lib/drafters/{name}.py`",
        parameters=sum(each.numel() for each in weights.values()),
        shapes="\n".join(f"| {key} | {sizes(each)} |" for key, each in weights.items()),
        data=data_rows(corpus),
        steps=steps,
        tokens=HEADS_RECIPE.batch * CONTEXT,
        worth="\n".join(rows(worth)),
        positions=worth[0].positions,
        closing=CLOSING,
    )


def sizes(weight: Tensor) -> str:
    """(3, 64, 384) -> "3 x 64 x 384"."""
    return " x ".join(str(size) for size in weight.shape)


def rows(worth: Sequence[Acceptance]) -> list[str]:
    """The evaluation as rows of the card's table."""
    lines = []
    for step, each in enumerate(worth, start=1):
        lines += [
            f"| acceptance of token {step} by the target, temperature 1 | {each.alpha:.3f} |",
            f"| token {step}: the target's most probable is the head's | {each.greedy:.3f} |",
        ]
    return lines
