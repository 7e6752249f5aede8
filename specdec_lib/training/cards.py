"""The model cards: what each model was made from, and what it is worth."""

import platform
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from specdec_lib.assets import BUILT_IN_DRAFTS
from specdec_lib.measure.core.acceptance import acceptance, bits_per_byte, model_reader
from specdec_lib.measure.core.held_out import all_tokens
from specdec_lib.models.checkpoint import read_shape
from specdec_lib.models.llama import Llama
from specdec_lib.models.scale import parameters
from specdec_lib.training.corpus import Document, digest
from specdec_lib.training.recipes import CONTEXT, DRAFT_RECIPE, TARGET_RECIPE, Recipe

CARD = """\
---
license: psf-2.0
library_name: transformers
---

# {name}

A Llama of {parameters:,} parameters: {role}. Made for the course on speculative decoding. It goes
on with Python source in the style of the standard library, and is good for nothing else.

| | |
| --- | --- |
| width, layers, heads, MLP | {shape.width}, {shape.layers}, {shape.heads}, {shape.mlp} |
| context | {context} tokens, of a byte-level BPE of {shape.vocab_size:,} |
| weights | float16, one matrix for input and output embedding |
{data}
| training | {steps:,} steps of {tokens:,} tokens, {how} |
{worth}

{closing}
"""
DATA = """\
| data | sources and documentation topics of CPython {python}, {megabytes:.1f} MB |
| documents | {documents:,}, digest {digest} |
| held out | {held_out:,} documents of these, by a hash of their name |"""
CLOSING = """\
Evaluated on `held_out.jsonl`, on the lines that the training text does not have too. Data and
evaluation text are under the licence of the Python Software Foundation (PSF-2.0). Made by
`python -m specdec_lib.training`."""
ROLES = {"target": "the target"} | {name: f"the {name} draft" for name in BUILT_IN_DRAFTS}


def write_cards(assets: Path, corpus: list[Document]) -> None:
    """README.md for every model in `assets`."""
    for name, worth in evaluate(assets).items():
        text = card(name, assets / name, corpus, worth)
        (assets / name / "README.md").write_text(text, encoding="utf-8")


def evaluate(assets: Path) -> dict[str, dict[str, float]]:
    """Bits a byte of every model and the acceptance of every draft, on novel lines only."""
    texts = all_tokens(assets)
    readers = {name: model_reader(Llama.from_folder(assets / name)) for name in ROLES}
    worth = {name: {"bits_per_byte": bits_per_byte(read, texts)} for name, read in readers.items()}
    for name in BUILT_IN_DRAFTS:
        worth[name] |= asdict(acceptance(readers["target"], readers[name], texts))
    return worth


def card(name: str, folder: Path, corpus: list[Document], worth: Mapping[str, float]) -> str:
    """The card of one model; `worth` is what `evaluate` gives."""
    shape, is_target = read_shape(folder), name == "target"
    recipe: Recipe = TARGET_RECIPE if is_target else DRAFT_RECIPE
    how = "on the next token" if is_target else "on the target's distributions"
    return CARD.format(
        name=f"stdlib-{name}",
        role=ROLES[name],
        parameters=parameters(shape) - shape.vocab_size * shape.width,
        shape=shape,
        context=CONTEXT,
        data=data_rows(corpus),
        steps=recipe.steps,
        tokens=recipe.batch * CONTEXT,
        how=how,
        worth="\n".join(rows(worth)),
        closing=CLOSING,
    )


def data_rows(corpus: list[Document]) -> str:
    """What was learned from, as rows of a card's table."""
    return DATA.format(
        python=platform.python_version(),
        documents=len(corpus),
        megabytes=sum(len(document.text.encode()) for document in corpus) / 1e6,
        digest=digest(corpus),
        held_out=sum(document.held_out for document in corpus),
    )


def rows(worth: Mapping[str, float]) -> list[str]:
    """The evaluation as rows of the card's table."""
    lines = [f"| held-out loss | {worth['bits_per_byte']:.3f} bits a byte |"]
    if "alpha" in worth:
        lines += [
            f"| acceptance by the target, temperature 1 | {worth['alpha']:.3f} |",
            f"| the target's most probable token is the draft's | {worth['greedy']:.3f} |",
            f"| positions | {worth['positions']:,} |",
        ]
    return lines
