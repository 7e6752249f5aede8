"""A model as a function of the whole text, as the decoders that students write call it."""

from collections.abc import Callable, Sequence

import numpy as np
import torch

from specdec_lib.models.protocol import Model, common_prefix_length


def logits_of(model: Model, room: int = 512) -> Callable[[Sequence[int]], np.ndarray]:
    """A function that gives the logits (len(tokens), V) after each of `tokens`, in float64.

    The function keeps a KV cache. A call reads only what differs from the text of the call before
    it, and of a text that is known to the end it reads the last token again. So a decoder that
    hands over the whole text each time costs what one with a cache costs. A text has at most `room`
    tokens. What comes back is a view, which cannot be written to and which the next call changes.
    """
    cache, known = model.new_cache(1, room), list[int]()
    rows = np.empty((room, model.vocab_size))

    @torch.inference_mode()
    def logits(tokens: Sequence[int]) -> np.ndarray:
        same = min(common_prefix_length(known, tokens), len(tokens) - 1)
        cache.truncate(same)
        new = torch.tensor([list(tokens[same:])], device=model.device)
        rows[same : len(tokens)] = model.forward(new, cache)[0].double().cpu().numpy()
        known[:] = tokens
        found = rows[: len(tokens)]
        found.flags.writeable = False
        return found

    return logits
