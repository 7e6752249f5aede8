"""A model as a function of the whole text, as the decoders that students write call it."""

from collections.abc import Callable, Sequence

import numpy as np
import torch

from specdec_lib.models.protocol import Model
from specdec_lib.text_stream import common_prefix_length


def logits_of(model: Model, capacity: int = 512) -> Callable[[Sequence[int]], np.ndarray]:
    """A function that gives the logits (len(tokens), V) after each of `tokens`, in float64.

    The function keeps a KV cache. A call reads only what differs from the text of the call before
    it, and of a text that is known to the end it reads the last token again. So a decoder that
    hands over the whole text each time costs what one with a cache costs. A text has 1 to
    `capacity` tokens. The result is a read-only view, which the next call changes.
    """
    cache, cached = model.new_cache(1, capacity), list[int]()
    rows = np.empty((capacity, model.vocab_size))

    @torch.inference_mode()
    def logits(tokens: Sequence[int]) -> np.ndarray:
        if not len(tokens):
            raise ValueError("the text is empty: give at least one token")
        prefix = min(common_prefix_length(cached, tokens), len(tokens) - 1)
        cache.truncate(prefix)
        del cached[prefix:]  # a pass that fails leaves the cache without its text
        new = torch.tensor([list(tokens[prefix:])], device=model.device)
        rows[prefix : len(tokens)] = model.forward(new, cache)[0].double().cpu().numpy()
        cached[:] = tokens
        view = rows[: len(tokens)]
        view.flags.writeable = False
        return view

    return logits
