"""Drafters that read the target's last hidden states, as eagle.py does."""

from copy import copy
from functools import partial

import torch
from torch import Tensor

from specdec_lib.models.cache import HiddenStates
from specdec_lib.models.linear import Linear
from specdec_lib.models.llama import Llama
from specdec_lib.models.protocol import Texts
from specdec_lib.sampling import Warp


class HiddenStateDrafter:
    """A drafter to which every pass of the target hands its last hidden states.

    It reads their first `width` columns: a target that was grown (models/scale.py) repeats every
    state of the original several times in a row. `head` reads as many. With `d2t`,
    which has the target's ids of a cut vocabulary, `head` gives the logits of these tokens alone.
    """

    def __init__(self, target: Llama, width: int, d2t: Tensor | None) -> None:
        self.target, self.device, self.width = target, target.device, width
        self.head = head_for(target, self.width, d2t)
        self.vocab_size, self.max_length = target.vocab_size, target.max_length
        self.hidden: HiddenStates | None = None  # of the passes since the latest proposal
        self.has_proposed = True

    def start(self, texts: Texts, warp: Warp, capacity: int) -> None:
        """Nothing to read: the target's passes hand over their states."""
        self.warp = warp

    def observe(self, hidden: HiddenStates) -> None:
        """Take the states of a pass; those of several passes over a long prompt are joined."""
        new = hidden._replace(states=hidden.states[..., : self.width])
        if not self.has_proposed:
            states = torch.cat((self.hidden.states, new.states), 1)
            new = HiddenStates(states, torch.cat((self.hidden.positions, new.positions), 1))
        self.hidden, self.has_proposed = new, False

    def latest_columns(self, texts: Texts) -> list[int]:
        """For each text the column of `hidden` with the state that gave its last token.

        The state at position len - 2: the last token has not been read yet. -1 after a prompt of
        one token. The next pass begins new columns.
        """
        self.has_proposed = True
        if self.hidden is None:
            return [-1] * len(texts)
        starts = self.hidden.positions[:, 0].tolist()
        return [len(text) - 2 - start for text, start in zip(texts, starts, strict=True)]


def with_hidden_state_hook(target: Llama, drafter: HiddenStateDrafter) -> Llama:
    """A copy of `target`, with the same weights, whose passes hand their states to `drafter`."""
    drafter.hidden, drafter.has_proposed = None, True
    hooked = copy(target)
    hooked.forward = partial(target.forward, observe=drafter.observe)
    return hooked


def head_for(target: Llama, width: int, d2t: Tensor | None) -> Linear:
    """The head of `target`, or its rows `d2t`.

    Of a grown target it is the original's head, which reads states of `width`.
    """
    if width == target.shape.width and d2t is None:
        return target.head
    copies = target.shape.width // width
    identity = torch.eye(width, target.shape.width, device=target.device, dtype=target.dtype)
    listed = slice(None) if d2t is None else d2t
    # Part by part, since the head of a large vocabulary is a large matrix.
    parts = [target.head(part)[:, listed] for part in identity.split(32)]
    return Linear((torch.cat(parts) * copies).T.contiguous())
