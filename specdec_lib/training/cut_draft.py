"""The draft of SmolLM2: a Llama with the tokens that the target writes most, and no others.

It learns from the pieces of writing.py. The loss is the cross-entropy with the target's most
probable tokens, and 1 - alpha with a weight that rises from 1 to 5. Prompts are read, but nothing
is learned at their positions: a draft never writes there.
"""

import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor
from tqdm import tqdm, trange
from transformers import LlamaConfig, LlamaForCausalLM

from specdec_lib.models.cut_vocabulary import D2T_FILE, CutVocabulary
from specdec_lib.models.llama import Llama
from specdec_lib.training.muon import Float32Muon
from specdec_lib.training.recipes import (
    HELD_OUT_PIECES,
    HELD_OUT_ROWS,
    PIECE_ROWS,
    SEED,
    SMOLLM2_DRAFT_SIZE,
    Recipe,
    smollm2_recipe,
)
from specdec_lib.training.stages import descend, new_model, optimizers_of, save_whole, set_rates
from specdec_lib.training.writing import KINDS, Rows

WEIGHTS_FILE = "model.safetensors"
FIGURES_FILE = "figures.json"
SAVE_EVERY = 100  # steps
READING = 8  # held-out rows at once


def make_draft(
    target: Llama, text: Rows, epochs: float, work: Path, to: Path, begin: Path | None = None
) -> None:
    """Train a draft on `text` and write it with its figures to `to`; it goes on from `work`.

    It begins with the target's embedding, or as the draft in the folder `begin`, whose vocabulary
    it then keeps.
    """
    is_held_out = held_out(len(text.tokens))
    learned, kept_back = text.take(~is_held_out), text.take(is_held_out)
    d2t = np.load(begin / D2T_FILE) if begin else most_written(learned, target.vocab_size)
    draft = draft_from_folder(begin) if begin else draft_from_target(target, d2t)
    recipe = smollm2_recipe(len(learned.tokens), epochs)
    history = train_draft(draft, learned, kept_back, own_ids(d2t, target.vocab_size), recipe, work)
    save_draft(draft, d2t, to)
    model = CutVocabulary.from_folder(to, target.vocab_size, "cpu", torch.float32)
    figures = {"rows": len(learned.tokens), "recipe": asdict(recipe), "history": history}
    figures |= {"begun as": begin.name if begin else "the target's embedding"}
    figures |= {
        "parameters": draft.num_parameters(),
        "held out": measured(target, model, kept_back),
    }
    (to / FIGURES_FILE).write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


def held_out(rows: int) -> np.ndarray:
    """Which of the first `rows` rows are kept from training: (rows,) bool."""
    piece, place = np.divmod(np.arange(rows), PIECE_ROWS)
    return (piece < HELD_OUT_PIECES) & (place < HELD_OUT_ROWS)


def most_written(text: Rows, vocab_size: int) -> np.ndarray:
    """The tokens of the draft's vocabulary: target ids, ascending, uint16.

    A token counts once where it stands, and with its probability wherever it could have stood.
    """
    counts = np.bincount(text.tokens.ravel(), minlength=vocab_size).astype(float)
    for tokens, logprobs in zip(text.top_tokens, text.top_logprobs, strict=True):
        np.add.at(counts, tokens, np.exp(logprobs.astype(np.float32)))
    counts[0] = np.inf  # what the draft reads for every token that it lacks
    order = np.argsort(-counts, kind="stable")
    return np.sort(order[: SMOLLM2_DRAFT_SIZE.vocab]).astype(np.uint16)


def own_ids(d2t: np.ndarray, vocab_size: int) -> Tensor:
    """The draft's id of each of the target's tokens (V,); -1 where it has none."""
    ids = torch.full((vocab_size,), -1)
    ids[torch.from_numpy(d2t.astype(np.int64))] = torch.arange(len(d2t))
    return ids


def draft_from_target(target: Llama, d2t: np.ndarray) -> LlamaForCausalLM:
    """A draft whose embedding is the best linear image of the target's in its own width."""
    draft = new_model(SMOLLM2_DRAFT_SIZE)
    rows = target.embedding[torch.from_numpy(d2t.astype(np.int64))].float()
    left, sizes, _ = torch.linalg.svd(rows - rows.mean(0), full_matrices=False)
    image = (left * sizes)[:, : SMOLLM2_DRAFT_SIZE.width]
    with torch.no_grad():
        draft.get_input_embeddings().weight.copy_(image / image.std() * 0.02)
    return draft


def draft_from_folder(folder: Path) -> LlamaForCausalLM:
    """A draft that `save_draft` wrote, in float32."""
    draft = LlamaForCausalLM(LlamaConfig.from_pretrained(folder, dtype="float32"))
    draft.load_state_dict(load_file(folder / WEIGHTS_FILE), strict=False)  # the head is tied
    return draft.float()


def train_draft(
    draft: LlamaForCausalLM, text: Rows, kept_back: Rows, ids: Tensor, recipe: Recipe, work: Path
) -> dict[int, float]:
    """Train in place; the alpha on `kept_back` after every SAVE_EVERY steps and at the end."""
    optimizers = optimizers_of(draft, recipe, Float32Muon)
    parts = [draft, *optimizers]
    history = resumed(parts, recipe, work)
    for step in (bar := trange(max(history, default=0), recipe.steps, desc="draft")):
        set_rates(optimizers, recipe.rate(step))
        share, rows = step / recipe.steps, batch_rows(len(text.tokens), recipe.batch, step)
        cross_entropy, alpha = compared(draft, text.take(rows), ids)
        descend(cross_entropy + (1 + 4 * share) * (1 - alpha), draft, optimizers)
        bar.set_postfix(alpha=alpha.item(), refresh=False)
        if (step + 1) % SAVE_EVERY == 0 or step + 1 == recipe.steps:
            history[step + 1] = held_out_alpha(draft, kept_back, ids)
            tqdm.write(f"{step + 1} steps: alpha {history[step + 1]:.3f} on held-out rows")
            states = [part.state_dict() for part in parts]
            save_whole((asdict(recipe), history, states), work / "draft.pt")
    return history


def resumed(parts: list, recipe: Recipe, work: Path) -> dict[int, float]:
    """Put an earlier training's states into `parts`; its history. Raises ValueError."""
    path = work / "draft.pt"
    if not path.exists():
        return {}
    saved, history, states = torch.load(path, weights_only=True)
    if saved != asdict(recipe):
        raise ValueError(f"{path} is from a training of another length: move it away")
    for part, state in zip(parts, states, strict=True):
        part.load_state_dict(state)
    return history


def batch_rows(rows: int, batch: int, step: int) -> np.ndarray:
    """The rows of a step: every epoch goes through all of them in an order of its own."""
    epoch, place = divmod(step, max(1, rows // batch))
    order = np.random.default_rng([SEED, epoch]).permutation(rows)
    return order[place * batch : (place + 1) * batch]


def compared(draft: LlamaForCausalLM, text: Rows, ids: Tensor) -> tuple[Tensor, Tensor]:
    """Cross-entropy in nats, and alpha, of the draft with the target's most probable tokens.

    Means over the positions behind the prompts. What the draft lacks counts as 0.
    """
    tokens = ids[text.tokens.astype(np.int64)].clamp(min=0)
    places = written_places(text)
    states = draft.model(input_ids=tokens, use_cache=False).last_hidden_state[places]
    top = ids[text.top_tokens[places].astype(np.int64)]
    p = torch.from_numpy(text.top_logprobs[places]).float().exp() * (top >= 0)
    log_q = draft.lm_head(states).log_softmax(-1).gather(-1, top.clamp(min=0))
    alpha = torch.minimum(p, log_q.exp()).sum(-1).mean()
    return -(p * log_q).sum(-1).mean(), alpha


def written_places(text: Rows) -> np.ndarray:
    """Where the next token is the target's own: (rows, ROW_LENGTH) bool."""
    return np.arange(text.tokens.shape[1]) >= text.written_from[:, None] - 1


@torch.no_grad()
def held_out_alpha(draft: LlamaForCausalLM, text: Rows, ids: Tensor) -> float:
    """The mean alpha over the rows."""
    batches = np.array_split(np.arange(len(text.tokens)), -(-len(text.tokens) // READING))
    alphas = [compared(draft, text.take(rows), ids)[1].item() * len(rows) for rows in batches]
    return sum(alphas) / len(text.tokens)


def save_draft(draft: LlamaForCausalLM, d2t: np.ndarray, to: Path) -> None:
    """Write the folder that CutVocabulary.from_folder reads, in float16."""
    to.mkdir(parents=True, exist_ok=True)
    weights = {name: value.half() for name, value in draft.state_dict().items()}
    del weights["lm_head.weight"]  # it is the embedding
    save_file(weights, to / WEIGHTS_FILE, metadata={"format": "pt"})
    draft.config.dtype = "float16"
    draft.config.save_pretrained(to)
    np.save(to / D2T_FILE, d2t)


def measured(target: Llama, draft: CutVocabulary, text: Rows) -> dict[str, dict[str, float]]:
    """By kind of text: the figures of the draft's card, exact on the written positions."""
    by_kind: dict[str, list[dict[str, Tensor]]] = {}
    for row in tqdm(range(len(text.tokens)), desc="held-out rows"):
        by_kind.setdefault(KINDS[text.kind[row]], []).append(
            row_figures(target, draft, text.take(np.array([row])))
        )
    return {
        kind: {name: torch.cat([row[name] for row in rows]).mean().item() for name in rows[0]}
        | {"positions": sum(len(row["acceptance, T = 1"]) for row in rows)}
        for kind, rows in by_kind.items()
    }


def row_figures(target: Llama, draft: CutVocabulary, text: Rows) -> dict[str, Tensor]:
    """The same of one row, position by position."""
    tokens, places = torch.from_numpy(text.tokens.astype(np.int64)), written_places(text)
    length = tokens.shape[1]
    p, q = (model.forward(tokens, model.new_cache(1, length))[places] for model in (target, draft))
    figures = {
        f"acceptance, T = {T:g}": torch.minimum((p / T).softmax(-1), (q / T).softmax(-1)).sum(-1)
        for T in (1.0, 0.7)
    }
    figures["acceptance, greedy"] = (p.argmax(-1) == q.argmax(-1)).float()
    figures["outside the vocabulary"] = 1 - p.softmax(-1)[:, draft.d2t].sum(-1)
    return figures
