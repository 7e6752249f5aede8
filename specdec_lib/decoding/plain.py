"""Plain decoding: one pass of the target for every token."""

import time
from collections.abc import Sequence

import torch

from specdec_lib.decoding.state import Generation, Progress, Settings, check_request
from specdec_lib.decoding.verify import check_finite
from specdec_lib.models.prefill import read_up_to
from specdec_lib.models.protocol import Model
from specdec_lib.sampling import LAST, Choices


@torch.inference_mode()
def plain_generate(
    target: Model, prompts: Sequence[Sequence[int]], settings: Settings, choices: Choices
) -> Generation:
    """Generate behind every prompt, all rows together, and return the new tokens.

    Raises ValueError where a prompt is empty, too long or holds unknown tokens, and where the
    target's logits are not finite.
    """
    capacity = check_request(target, prompts, settings, choices)
    progress = Progress(prompts, settings)
    if not progress.running:
        return Generation(progress.written)
    cache = target.new_cache(len(prompts), capacity)
    read_up_to(target, cache, prompts, leave=1)
    passes, start = 0, time.perf_counter()
    while progress.running:
        choices.begin([min(left - 1, 0) for left in progress.left])
        logits = target.forward(progress.last_tokens(target.device), cache)[:, -1]
        tokens = choices.draw(settings.warp(logits), LAST).tolist()
        check_finite(logits, "target")
        for row, token in enumerate(tokens):
            progress.add(row, [token])
        cache.truncate([length - 1 for length in progress.lengths])
        passes += 1
    seconds = time.perf_counter() - start
    return Generation(progress.written, target_passes=passes, seconds=seconds)
