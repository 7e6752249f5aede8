"""The draft of SmolLM2: a Llama with the tokens that the target writes most, and no others.

It learns from the pieces of writing.py. The loss is the cross-entropy with the target's most
probable tokens, and 1 - alpha with a weight that rises from 1 to 5. Prompts are read, but nothing
is learned at their positions: a draft never writes there. measure/own_text.py measures it.
"""

from functools import partial
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from transformers import LlamaForCausalLM

from specdec_lib.models.cut_vocabulary import D2T_FILE
from specdec_lib.models.llama import Llama
from specdec_lib.training import recipes
from specdec_lib.training.stages import TrainingLoss, load_trained, new_model, train
from specdec_lib.training.writing import Rows


def make_draft(target: Llama, text: Rows, epochs: float, work: Path, to: Path) -> None:
    """Train a draft in `work` on `text`, and write it to `to`; prints what its card is to say."""
    rows, size = len(text.tokens), recipes.SMOLLM2_DRAFT_SIZE.vocab
    d2t = most_written(text, target.vocab_size, size)
    draft, recipe = draft_from_target(target, d2t), recipes.smollm2_recipe(rows, epochs)
    name = f"draft-{rows}-{epochs:g}"
    if not (work / f"{name}.pt").exists():
        loss = loss_in(own_ids(d2t, target.vocab_size))
        train(draft, loss, recipe, work, name, partial(batch, text, recipe.batch))
    draft.load_state_dict(load_trained(work, name))
    draft.half().save_pretrained(to)
    np.save(to / D2T_FILE, d2t)
    print(f"{to}: {rows} rows, {recipe}")


def most_written(text: Rows, vocab_size: int, count: int) -> np.ndarray:
    """The `count` tokens that the target writes most: target ids, ascending, uint16.

    A token counts once where it stands, and with its probability wherever it could have stood.
    """
    counts = np.bincount(text.tokens.ravel(), minlength=vocab_size).astype(float)
    for tokens, logprobs in zip(text.top_tokens, text.top_logprobs, strict=True):
        np.add.at(counts, tokens, np.exp(logprobs.astype(np.float32)))
    counts[0] = np.inf  # what the draft reads for every token that it lacks
    order = np.argsort(-counts, kind="stable")
    return np.sort(order[:count]).astype(np.uint16)


def own_ids(d2t: np.ndarray, vocab_size: int) -> Tensor:
    """The draft's id of each of the target's tokens (V,); -1 where it has none."""
    ids = torch.full((vocab_size,), -1)
    ids[torch.from_numpy(d2t.astype(np.int64))] = torch.arange(len(d2t))
    return ids


def draft_from_target(target: Llama, d2t: np.ndarray) -> LlamaForCausalLM:
    """A draft whose embedding is the best linear image of the target's in its own width."""
    draft = new_model(recipes.SMOLLM2_DRAFT_SIZE)
    rows = target.embedding[torch.from_numpy(d2t.astype(np.int64))].float()
    left, sizes, _ = torch.linalg.svd(rows - rows.mean(0), full_matrices=False)
    image = (left * sizes)[:, : draft.config.hidden_size]
    with torch.no_grad():
        draft.get_input_embeddings().weight.copy_(image / image.std() * 0.02)
    return draft


def batch(text: Rows, size: int, step: int) -> Rows:
    """The rows of a step: every epoch goes through all of them in an order of its own."""
    epoch, place = divmod(step, max(1, len(text.tokens) // size))
    order = np.random.default_rng([recipes.SEED, epoch]).permutation(len(text.tokens))
    return text.take(order[place * size : (place + 1) * size])


def loss_in(ids: Tensor) -> TrainingLoss:
    """The loss of a draft whose `ids` are those of `own_ids`; it takes Rows."""

    def loss(draft: LlamaForCausalLM, text: Rows, share: float) -> Tensor:
        tokens = ids[text.tokens.astype(np.int64)].clamp(min=0)
        written = np.arange(tokens.shape[1]) >= text.written_from[:, None] - 1
        states = draft.model(input_ids=tokens, use_cache=False).last_hidden_state[written]
        return token_loss(draft.lm_head(states), text, written, ids, share)

    return loss


def token_loss(
    logits: Tensor, text: Rows, positions: np.ndarray, ids: Tensor, share: float
) -> Tensor:
    """The loss of `logits` (n, own tokens) at the n `positions` (rows, length) that are true."""
    top = ids[text.top_tokens[positions].astype(np.int64)]
    p = torch.from_numpy(text.top_logprobs[positions]).float().exp() * (top >= 0)
    log_q = logits.float().log_softmax(-1).gather(-1, top.clamp(min=0))
    alpha = torch.minimum(p, log_q.exp()).sum(-1).mean()
    return (1 + 4 * share) * (1 - alpha) - (p * log_q).sum(-1).mean()
