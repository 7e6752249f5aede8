"""Speculative decoding: a block of draft tokens for every pass of the target.

Leviathan et al. (2023), Algorithm 1; Chen et al. (2023), Algorithm 2. The tokens have the law of
plain decoding, and at temperature 0 they are the same tokens.
"""

import math
import operator
import time
from collections.abc import Sequence
from dataclasses import replace

import torch

from specdec_lib.decoding.state import (
    Block,
    Generation,
    Progress,
    Settings,
    check_request,
    drafted_in_text,
)
from specdec_lib.decoding.verify import Verdict, Verifier, check_finite, verify
from specdec_lib.drafters.adaptive import Fixed, Schedule
from specdec_lib.drafters.protocol import Drafter, OnTarget, Proposal
from specdec_lib.models.prefill import read_up_to
from specdec_lib.models.protocol import Cache, Model
from specdec_lib.sampling import Choices, Warp


@torch.inference_mode()
def speculative_generate(
    target: Model,
    drafter: Drafter,
    prompts: Sequence[Sequence[int]],
    k: int | Schedule,
    settings: Settings,
    choices: Choices,
    verifier: Verifier = verify,
) -> Generation:
    """Generate behind every prompt, all rows together, with blocks of up to `k` draft tokens.

    Between blocks, every row's last token is the one that the target has not read yet. A block
    drafts behind it, scores it and the draft in one pass, and keeps what is accepted and one token
    more. Raises ValueError where target and drafter do not fit together, where a prompt cannot be
    used and where logits are not finite.
    """
    schedule = k if hasattr(k, "record") else Fixed(operator.index(k))
    capacity = check_request(target, prompts, settings, choices, schedule.most)
    check_pair(target, drafter, capacity)
    progress = Progress(prompts, settings)
    generation = Generation(progress.written, [[] for _ in prompts])
    if not progress.running:
        return generation
    cache = read_prompts(target, drafter, prompts, settings.warp, capacity)
    start = time.perf_counter()
    while progress.running:
        blocks = decode_block(target, cache, drafter, progress, schedule.k, choices, verifier)
        generation.add(blocks)
        schedule.record([(block.accepted, len(block.drafted)) for block in blocks])
    generation.tokens, generation.seconds = progress.written, time.perf_counter() - start
    return generation


def read_prompts(
    target: Model, drafter: Drafter, prompts: Sequence[Sequence[int]], warp: Warp, capacity: int
) -> Cache:
    """The target's cache with all of `prompts` but their last tokens; the drafter begins there."""
    cache = target.new_cache(len(prompts), capacity)
    read_up_to(target, cache, prompts, leave=1)
    drafter.start(prompts, warp, capacity)
    if isinstance(drafter, OnTarget):
        drafter.follow(cache)
    return cache


def decode_block(
    target: Model,
    cache: Cache,
    drafter: Drafter,
    progress: Progress,
    k: int,
    choices: Choices,
    verifier: Verifier = verify,
) -> list[Block]:
    """Draft, score and keep one block in every row; returns what happened."""
    begun = time.perf_counter()
    limits = [min(k, left - 1) for left in progress.left]
    choices.begin(limits)
    proposal = drafter.propose(progress.sequences, limits, choices)
    drafted = time.perf_counter()
    tokens = torch.cat((progress.last_tokens(target.device), proposal.tokens), dim=1)
    logits = target.forward(tokens, cache)
    check_finite(logits, "target")
    counts = torch.tensor(proposal.limits, device=target.device)
    p = progress.settings.warp(logits)
    verdict = verifier(p, proposal.q, proposal.tokens, counts, choices)
    blocks = keep(progress, proposal, verdict)
    cache.truncate([length - 1 for length in progress.lengths])
    seconds = (drafted - begun, time.perf_counter() - drafted)
    return [replace(block, draft_seconds=seconds[0], verify_seconds=seconds[1]) for block in blocks]


def keep(progress: Progress, proposal: Proposal, verdict: Verdict) -> list[Block]:
    """Append to every row what was accepted and the token behind it."""
    blocks = []
    columns = [column.tolist() for column in (proposal.tokens, *verdict)]
    for row, (drafted, accepted, token, p, q) in enumerate(zip(*columns, strict=True)):
        if any(map(math.isnan, q)):
            raise ValueError("the drafter gave probabilities that are not finite: see its weights")
        kept = progress.add(row, [*drafted[:accepted], token])
        count = drafted_in_text(max(proposal.limits[row], 0), accepted, kept)
        drafted, p, q = drafted[:count], p[:count], q[:count]
        blocks.append(Block(drafted, min(accepted, kept), token, kept, p, q))
    return blocks


def check_pair(target: Model, drafter: Drafter | Model, capacity: int) -> None:
    """Raise ValueError where the drafter, or a draft model, cannot follow the target.

    They go on for `capacity` positions.
    """
    if drafter.vocab_size != target.vocab_size:
        raise ValueError(
            f"the target has {target.vocab_size} tokens and the drafter {drafter.vocab_size}: "
            "they must share one tokenizer"
        )
    if drafter.device != target.device:
        raise ValueError(
            f"the target is on {target.device} and the drafter on {drafter.device}: "
            "load both on one"
        )
    if drafter.max_length is not None and capacity > drafter.max_length:
        raise ValueError(
            f"the text needs {capacity} positions, and the drafter has {drafter.max_length}: "
            "shorten the prompt, ask for fewer tokens or choose another draft"
        )
