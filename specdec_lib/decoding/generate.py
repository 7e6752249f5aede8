"""Generate text with a target: plainly, with a chain of draft tokens, or with a tree of them."""

import operator
from collections.abc import Sequence
from functools import partial

import torch

from specdec_lib.decoding import checks
from specdec_lib.decoding.speculative import decode_block
from specdec_lib.decoding.state import Generation, GenerationState, Settings
from specdec_lib.decoding.tree import TreeVerifier, decode_tree, verify_tree
from specdec_lib.decoding.verify import require_finite
from specdec_lib.drafters.hidden import HiddenStateDrafter, with_hidden_state_hook
from specdec_lib.drafters.protocol import Drafter
from specdec_lib.drafters.tree import ModelTreeDrafter
from specdec_lib.errors import SpecdecError
from specdec_lib.models.llama import Llama
from specdec_lib.models.protocol import Model, Texts
from specdec_lib.sampling import RandomSource


@torch.inference_mode()
def plain_generate(
    target: Model, prompts: Texts, settings: Settings, random_source: RandomSource
) -> Generation:
    """Generate after every prompt, all rows together, with one pass of the target for every token.

    Raises SpecdecError if a prompt is empty, too long or holds unknown tokens, and if the target's
    logits are not finite.
    """
    capacity = checks.required_capacity(target, prompts, settings, random_source)
    state = GenerationState(target, prompts, settings, capacity)
    return state.run(partial(plain_step, state, random_source))


def plain_step(state: GenerationState, random_source: RandomSource) -> None:
    """One pass of the target, and the token that it gives to every active row."""
    random_source.start_block([0] * len(state.active), state.active)
    p, is_finite = state.score()
    next_tokens = random_source.next_token(p[:, -1])
    require_finite(bool(is_finite.all()), "target")
    for row, token in enumerate(next_tokens.tolist()):
        if state.active[row]:
            state.append(row, [token])
    state.roll_back()


@torch.inference_mode()
def speculative_generate(
    target: Model,
    drafter: Drafter,
    prompts: Texts,
    k: int,
    settings: Settings,
    random_source: RandomSource,
) -> Generation:
    """Generate after every prompt, all rows together, with blocks of up to `k` draft tokens.

    Raises SpecdecError if k is below 1, if target and drafter do not fit together, if a prompt
    cannot be used and if logits are not finite.
    """
    k = operator.index(k)
    if k < 1:
        raise SpecdecError(f"k is {k}; a block drafts at least 1 token (plain decoding drafts 0)")
    capacity = checks.required_capacity(target, prompts, settings, random_source, k)
    state = start_generation(target, drafter, prompts, settings, capacity)
    return state.run(partial(decode_block, state, drafter, k, random_source))


@torch.inference_mode()
def tree_generate(
    target: Llama,
    drafter: ModelTreeDrafter,
    prompt: Sequence[int],
    depth: int,
    settings: Settings,
    random_source: RandomSource,
    verifier: TreeVerifier = verify_tree,
) -> Generation:
    """Generate after `prompt`, a batch of one row, with trees of at most `depth` levels.

    Raises SpecdecError as speculative_generate does, and if the model has no room for the tree
    after the text.
    """
    if depth < 1:
        raise SpecdecError(f"depth is {depth}; a tree has at least 1 level")
    n_nodes = drafter.nodes(depth)
    capacity = checks.required_capacity(target, [prompt], settings, random_source) + n_nodes
    checks.check_capacity(f"the text and a tree of {n_nodes} tokens", capacity, target, "target")
    state = start_generation(target, drafter, [prompt], settings, capacity)
    return state.run(partial(decode_tree, state, drafter, depth, random_source, verifier))


def start_generation(
    target: Model,
    drafter: Drafter | ModelTreeDrafter,
    prompts: Texts,
    settings: Settings,
    capacity: int,
) -> GenerationState:
    """The target and the drafter at the ends of `prompts`. SpecdecError if the two do not fit."""
    checks.check_pair(target, drafter, capacity)
    if isinstance(drafter, HiddenStateDrafter):
        target = with_hidden_state_hook(target, drafter)
    state = GenerationState(target, prompts, settings, capacity)
    drafter.start(prompts, settings.warp, capacity)
    return state
