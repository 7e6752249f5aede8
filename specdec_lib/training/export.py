"""The finished models in specdec_lib/models/assets/: weights, text, n-gram counts, an EAGLE head.

The models' cards, README.md in each folder, are written by hand: test_assets.py says which of their
figures are no longer true.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from safetensors.torch import save_file
from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

from specdec_lib.assets import ASSETS
from specdec_lib.drafters.eagle import BUILT_IN_EAGLE, EagleWeights
from specdec_lib.models.llama import Llama
from specdec_lib.training.corpus import END_OF_TEXT, VOCAB_SIZE, LibraryDocument, library_documents
from specdec_lib.training.eagle import eagle_weights
from specdec_lib.training.recipes import CONTEXT_LENGTH, DRAFT_SIZES, TARGET_SIZE, ModelSize
from specdec_lib.training.stages import load_trained

HELD_OUT_BYTES = 380_000  # of held-out text
BIGRAM_FOLLOWERS, TRIGRAM_FOLLOWERS = 24, 6  # of each context
MIN_COUNT = 3  # times that a context with its follower was seen


def export_assets(folder: Path, assets: Path) -> None:
    """Write all of the assets, from the finished trainings in `folder`."""
    save_model(load_trained(folder, "target"), TARGET_SIZE, folder, assets / "target")
    drafts = load_trained(folder, "drafts")
    for name, shape in DRAFT_SIZES.items():
        prefix = f"{name}."
        weights = {k.removeprefix(prefix): v for k, v in drafts.items() if k.startswith(prefix)}
        save_model(weights, shape, folder, assets / name)
    save_held_out(library_documents(), assets / "held_out.jsonl")
    save_counts(np.load(folder / "train.npy"), assets / "ngrams.npz")
    export_eagle(folder, assets)


def save_model(weights: dict[str, torch.Tensor], shape: ModelSize, folder: Path, to: Path) -> None:
    """Write a Hugging Face folder with the tokenizer, in float16."""
    model = LlamaForCausalLM(shape.config())
    model.load_state_dict(weights)
    model.half().save_pretrained(to)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_file=str(folder / "tokenizer.json"),
        bos_token=END_OF_TEXT,
        eos_token=END_OF_TEXT,
        model_max_length=CONTEXT_LENGTH,
    )
    tokenizer.save_pretrained(to)


def export_eagle(folder: Path, assets: Path) -> None:
    """Write the EAGLE head beside the target in `assets`."""
    weights, target = load_trained(folder, "eagle"), Llama.from_folder(assets / "target")
    path = assets / BUILT_IN_EAGLE.relative_to(ASSETS)
    write_tensors(eagle_weights(weights, target.embedding), path)


def save_held_out(corpus: list[LibraryDocument], path: Path) -> None:
    """Write whole held-out documents, tests last, with the lines that training text has too."""
    training = [document.text.split("\n") for document in corpus if not document.held_out]
    training_lines = {line for lines in training for line in lines}
    held_out = [document for document in corpus if document.held_out]
    size, entries = 0, []
    for document in sorted(held_out, key=lambda document: document.is_test):
        lines = document.text.split("\n")
        size += len(document.text.encode())
        if size > HELD_OUT_BYTES:
            break
        seen = [number for number, line in enumerate(lines) if line in training_lines]
        entry = {"name": document.name, "text": document.text, "seen": seen}
        entries.append(json.dumps(entry, ensure_ascii=False))
    path.write_text("\n".join(entries) + "\n", encoding="utf-8")


def save_counts(tokens: np.ndarray, path: Path) -> None:
    """Write how often tokens occur, and how often the frequent ones follow one and two others."""
    tokens = tokens.astype(np.int64)
    unigram = np.bincount(tokens, minlength=VOCAB_SIZE)
    bigram = most_frequent(np.stack((tokens[:-1], tokens[1:])), BIGRAM_FOLLOWERS)
    trigram = most_frequent(np.stack((tokens[:-2], tokens[1:-1], tokens[2:])), TRIGRAM_FOLLOWERS)
    np.savez_compressed(path, unigram=unigram, bigram=bigram, trigram=trigram)


def most_frequent(columns: np.ndarray, followers: int) -> np.ndarray:
    """(context..., token, count) of the `followers` most frequent tokens after each context."""
    *context, _ = names = [*range(len(columns))]
    counts = pd.DataFrame(columns.T).groupby(names).size().reset_index(name="count")
    counts = counts[counts["count"] >= MIN_COUNT]
    by_count = counts.sort_values("count", ascending=False, kind="stable")
    frequent = by_count.sort_values(context, kind="stable").groupby(context).head(followers)
    return frequent.to_numpy(np.uint32)


def write_tensors(weights: EagleWeights, path: Path) -> None:
    """Write `weights` as float16 to a safetensors file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    tensors = vars(weights).items()
    save_file({name: tensor.half().contiguous() for name, tensor in tensors}, path)
