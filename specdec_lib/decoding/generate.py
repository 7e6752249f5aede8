"""Generate text with a target: plainly, with a chain of draft tokens, or with a tree of them."""

import operator
import time
from collections.abc import Sequence

import torch

from specdec_lib.decoding.checks import check_block, check_pair, check_request, check_room
from specdec_lib.decoding.speculative import decode_block
from specdec_lib.decoding.state import Generation, Run, Settings
from specdec_lib.decoding.tree import Walk, decode_tree, walk
from specdec_lib.decoding.verify import Verifier, require_finite, verify
from specdec_lib.drafters.hidden import HiddenStateDrafter, with_hidden_state_hook
from specdec_lib.drafters.protocol import Drafter
from specdec_lib.drafters.tree import TreeDrafter
from specdec_lib.models.llama import Llama
from specdec_lib.models.protocol import Model, Texts
from specdec_lib.sampling import Choices


@torch.inference_mode()
def plain_generate(
    target: Model, prompts: Texts, settings: Settings, choices: Choices
) -> Generation:
    """Generate after every prompt, all rows together, with one pass of the target for every token.

    Raises UsageError if a prompt is empty, too long or holds unknown tokens, and if the target's
    logits are not finite.
    """
    run = Run(target, prompts, settings, check_request(target, prompts, settings, choices))
    begun = time.perf_counter()
    while any(run.running):
        plain_step(run, choices)
    return run.result(time.perf_counter() - begun)


def plain_step(run: Run, choices: Choices) -> None:
    """One pass of the target, and the token that it gives to every running row."""
    choices.begin([0] * len(run.running), run.running)
    p, finite = run.score()
    read = torch.stack((finite.long(), choices.last(p[:, -1])), 1).tolist()
    require_finite(all(sound for sound, _ in read), "target")
    for row, (_, token) in enumerate(read):
        if run.running[row]:
            run.add(row, [token])
    run.roll_back()


@torch.inference_mode()
def speculative_generate(
    target: Model,
    drafter: Drafter,
    prompts: Texts,
    k: int,
    settings: Settings,
    choices: Choices,
    verifier: Verifier = verify,
) -> Generation:
    """Generate after every prompt, all rows together, with blocks of up to `k` draft tokens.

    Raises UsageError if k is below 1, if target and drafter do not fit together, if a prompt cannot
    be used and if logits are not finite.
    """
    k = operator.index(k)
    check_block(k)
    capacity = check_request(target, prompts, settings, choices, k)
    run = start_run(target, drafter, prompts, settings, capacity)
    begun = time.perf_counter()
    while any(run.running):
        decode_block(run, drafter, k, choices, verifier)
    return run.result(time.perf_counter() - begun)


@torch.inference_mode()
def tree_generate(
    target: Llama,
    drafter: TreeDrafter,
    prompt: Sequence[int],
    depth: int,
    settings: Settings,
    choices: Choices,
    judge: Walk = walk,
) -> Generation:
    """Generate after `prompt`, a batch of one row, with trees of at most `depth` levels.

    Raises UsageError as speculative_generate does, and if the model has no room for the tree
    after the text.
    """
    nodes = drafter.nodes(depth)
    capacity = check_request(target, [prompt], settings, choices) + nodes
    check_room(f"the text and a tree of {nodes} tokens", capacity, target, "target")
    run = start_run(target, drafter, [prompt], settings, capacity)
    begun = time.perf_counter()
    while any(run.running):
        decode_tree(run, drafter, depth, choices, judge)
    return run.result(time.perf_counter() - begun)


def start_run(
    target: Model,
    drafter: Drafter | TreeDrafter,
    prompts: Texts,
    settings: Settings,
    capacity: int,
) -> Run:
    """The target and the drafter at the ends of `prompts`. UsageError if the two do not fit."""
    check_pair(target, drafter, capacity)
    if isinstance(drafter, HiddenStateDrafter):
        target = with_hidden_state_hook(target, drafter)
    run = Run(target, prompts, settings, capacity)
    drafter.start(prompts, settings.warp, capacity)
    return run
