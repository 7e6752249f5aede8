"""The model cards: what each model was made from, and how often the target accepts it."""

import platform
from collections.abc import Mapping, Sequence
from pathlib import Path

from torch import Tensor

from specdec_lib.assets import BUILT_IN_DRAFTS
from specdec_lib.measure.core.acceptance import Acceptance, acceptance, bits_per_byte, model_reader
from specdec_lib.measure.core.held_out import all_tokens
from specdec_lib.models.checkpoint import Shape, read_shape
from specdec_lib.models.llama import Llama
from specdec_lib.models.scale import parameters
from specdec_lib.training.corpus import Document
from specdec_lib.training.recipes import (
    CONTEXT,
    DRAFT_RECIPE,
    HEADS_RECIPE,
    TARGET_RECIPE,
    Recipe,
)

CARD = """\
---
license: psf-2.0
library_name: {library}
---

# stdlib-{name}

{about}

| | |
| --- | --- |
{rows}

Evaluated on `held_out.jsonl`, on the lines that the training text does not have too. Of a token
that is judged, the ones before it are the text's own. Data and evaluation text are under the
licence of the Python Software Foundation (PSF-2.0). Made by `python -m specdec_lib.training`.
"""
LLAMA = """\
A Llama of {count:,} parameters: {role}. Made for the course on speculative decoding. It goes
on with Python source in the style of the standard library, and is good for nothing else."""
HEAD = """\
{role}
Made for the course on speculative decoding; read by `specdec_lib/drafters/{name}.py`."""
ROLES = {
    "target": "the target",
    **{name: f"the {name} draft" for name in BUILT_IN_DRAFTS},
    "medusa": "Heads on the states of stdlib-target, of low rank: Medusa (Cai et al., 2024).",
    "eagle": "A narrow layer that predicts states of stdlib-target: EAGLE (Li et al., 2024).",
}
Rows = dict[str, str]  # of a card's table


def write_card(folder: Path, library: str, about: str, rows: Mapping[str, str]) -> None:
    """Write README.md in `folder`, whose name is the model's."""
    table = "\n".join(f"| {name} | {value} |" for name, value in rows.items())
    text = CARD.format(library=library, name=folder.name, about=about, rows=table)
    (folder / "README.md").write_text(text, encoding="utf-8")


def write_model_cards(assets: Path, corpus: list[Document]) -> None:
    """The cards of the target and the drafts in `assets`."""
    texts, names = all_tokens(assets), ("target", *BUILT_IN_DRAFTS)
    readers = {name: model_reader(Llama.from_folder(assets / name)) for name in names}
    for name, reader in readers.items():
        shape = read_shape(assets / name)
        count = parameters(shape) - shape.vocab_size * shape.width
        rows = shape_rows(shape) | data_rows(corpus)
        if name == "target":
            rows["training"] = steps_of(TARGET_RECIPE, "on the next token")
        else:
            rows["training"] = steps_of(DRAFT_RECIPE, "on the target's distributions")
            rows |= draft_rows(acceptance(readers["target"], reader, texts))
        rows["held-out loss"] = f"{bits_per_byte(reader, texts):.3f} bits a byte"
        about = LLAMA.format(count=count, role=ROLES[name])
        write_card(assets / name, "transformers", about, rows)


def shape_rows(shape: Shape) -> Rows:
    """The sizes of a model."""
    return {
        "width, layers, heads, MLP": f"{shape.width}, {shape.layers}, {shape.heads}, {shape.mlp}",
        "context": f"{CONTEXT} tokens, of a byte-level BPE of {shape.vocab_size:,}",
        "weights": "float16, one matrix for input and output embedding",
    }


def write_head_card(
    folder: Path, weights: Mapping[str, Tensor], corpus: list[Document], worth: Sequence[Acceptance]
) -> None:
    """The card of the head in `folder`; `worth` is that of its first, second, third token."""
    sizes = {name: " x ".join(map(str, each.shape)) for name, each in weights.items()}
    rows = {
        "parameters": f"{sum(each.numel() for each in weights.values()):,}",
        **sizes,
        "weights": "float16",
        **data_rows(corpus),
        "training": steps_of(HEADS_RECIPE, "on the target's distributions"),
        **head_rows(worth),
    }
    about = HEAD.format(role=ROLES[folder.name], name=folder.name)
    write_card(folder, "safetensors", about, rows)


def data_rows(corpus: list[Document]) -> Rows:
    """The training data."""
    megabytes = sum(len(document.text.encode()) for document in corpus) / 1e6
    held_out = sum(document.held_out for document in corpus)
    python = platform.python_version()
    return {
        "data": f"sources and documentation topics of CPython {python}, {megabytes:.1f} MB",
        "documents": f"{len(corpus):,}",
        "held out": f"{held_out:,} documents of these, by a hash of their name",
    }


def steps_of(recipe: Recipe, how: str) -> str:
    """The length of a training, and its loss."""
    return f"{recipe.steps:,} steps of {recipe.batch * CONTEXT:,} tokens, {how}"


def draft_rows(worth: Acceptance) -> Rows:
    """How often the target accepts a token of a draft model."""
    return {
        "acceptance by the target, temperature 1": f"{worth.alpha:.3f}",
        "the target's most probable token is the draft's": f"{worth.greedy:.3f}",
        "positions": f"{worth.positions:,}",
    }


def head_rows(worth: Sequence[Acceptance]) -> Rows:
    """How often the target accepts the first token of a head, the second, and so on."""
    rows = {"positions": f"{worth[0].positions:,}"}
    for step, each in enumerate(worth, start=1):
        rows[f"acceptance of token {step} by the target, temperature 1"] = f"{each.alpha:.3f}"
        rows[f"token {step}: the target's most probable is the head's"] = f"{each.greedy:.3f}"
    return rows
