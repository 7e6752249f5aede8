"""The EAGLE head of SmolLM2: a layer on the target's states, which drafts in a cut vocabulary.

It learns from the pieces of writing.py, which hold the states, and it learns two draft tokens: the
second reads the state that the head itself predicted, beside the true states before it, as in a
block ("training-time test" in EAGLE-3, Li et al., 2025, arXiv:2503.01840). The target's own head
reads the predicted states, and only its rows of the cut vocabulary, as in FR-Spec (Zhao et al.,
2025, arXiv:2502.14856). The loss is that of cut_draft.py; the distance of states is not in it.
"""

from functools import partial
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor
from transformers.cache_utils import DynamicCache

from specdec_lib.drafters.eagle import HEAD_FILE
from specdec_lib.models.cut_vocabulary import D2T_FILE
from specdec_lib.models.llama import Llama
from specdec_lib.training import recipes
from specdec_lib.training.cut_draft import batch, most_written, own_ids, token_loss
from specdec_lib.training.eagle import EagleHead, eagle_weights, unit_scale
from specdec_lib.training.export import write_tensors
from specdec_lib.training.stages import TrainingLoss, load_trained, train
from specdec_lib.training.writing import Rows


def make_head(target: Llama, text: Rows, epochs: float, work: Path, to: Path) -> None:
    """Train a head in `work` on `text`, and write it to `to`; prints what its card is to say."""
    rows, vocab_size = len(text.tokens), target.vocab_size
    d2t = most_written(text, vocab_size, recipes.SMOLLM2_DRAFT_SIZE.vocab)
    recipe = recipes.smollm2_recipe(rows, epochs, muon=0, adam=0.004)  # AdamW alone
    name = f"head-{rows}-{epochs:g}"
    torch.manual_seed(recipes.SEED)
    head = TwoStepHead(target.shape.width, recipes.SMOLLM2_HEAD_SIZE)
    if not (work / f"{name}.pt").exists():
        train(head, loss_in(target, d2t), recipe, work, name, partial(batch, text, recipe.batch))
    trained = load_trained(work, name)
    write_tensors(eagle_weights(trained, target.embedding.float()), to / HEAD_FILE)
    np.save(to / D2T_FILE, most_written(text, vocab_size, recipes.SMOLLM2_HEAD_VOCAB))
    print(f"{to}: {rows} rows, {recipe}")


class TwoStepHead(EagleHead):
    """The head as it is trained: both steps of all positions at once."""

    def both_steps(self, states: Tensor, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """The states that step 1 and step 2 predict, one position on, (B, T, width) each.

        Position t of step 2 reads what step 1 predicted from the position before.
        """
        embedded = self.token(tokens)
        cache = DynamicCache()
        first = self.predict(self.state(states) + embedded, cache)
        before = torch.cat((torch.zeros_like(first[:, :1]), first[:, :-1]), 1)
        return first, self.predict(self.state(before) + embedded, cache)

    def predict(self, x: Tensor, cache: DynamicCache) -> Tensor:
        """Predicted states for the inputs x (B, T, w); with a filled cache, those of step 2."""
        length, seen = x.shape[1], cache.get_seq_length()
        mask = torch.ones(length, length).tril(-1 if seen else 0)
        if seen:
            mask = torch.cat((mask, torch.eye(length)), 1)
        output = self.body(
            inputs_embeds=x,
            attention_mask=torch.where(mask > 0, 0.0, float("-inf"))[None, None],
            position_ids=torch.arange(length)[None],
            past_key_values=cache,
        )
        return self.up(output.last_hidden_state)


def loss_in(target: Llama, d2t: np.ndarray) -> TrainingLoss:
    """The loss of a TwoStepHead in the vocabulary `d2t`; it takes Rows."""
    ids, table = own_ids(d2t, target.vocab_size), unit_scale(target.embedding.float())
    head = target.embedding.float()[torch.from_numpy(d2t.astype(np.int64))]

    def loss(eagle: TwoStepHead, text: Rows, share: float) -> Tensor:
        states = torch.from_numpy(text.states[:, :-1]).float()
        tokens = torch.from_numpy(text.tokens[:, 1:].astype(np.int64))
        following = text._replace(
            top_tokens=text.top_tokens[:, 1:], top_logprobs=text.top_logprobs[:, 1:]
        )
        rows, slots = np.indices(tokens.shape)
        losses = []
        for step, predicted in enumerate(eagle.both_steps(states, F.embedding(tokens, table))):
            # Half of the positions teach step 1, the others step 2: the target's head costs most.
            # A row has another place in each epoch, so a position comes to teach both.
            learned = (slots >= text.written_from[:, None] - 2) & ((rows + slots) % 2 == step)
            logits = F.linear(predicted[learned], head)
            losses.append(token_loss(logits, following, learned, ids, share))
        return sum(losses)

    return loss
