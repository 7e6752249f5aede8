"""Speculative decoding with a tree of draft tokens, of which one branch is kept.

Every node is judged as in Miao et al. (2024), "SpecInfer": its children one after the other, each
against what the ones before it have left of the target's distribution.
"""

import time
from collections.abc import Sequence

import torch
from torch import Tensor

from specdec_lib.decoding.speculative import check_pair
from specdec_lib.decoding.state import Block, Generation, Progress, Settings, check_request
from specdec_lib.decoding.verify import check_finite, residual
from specdec_lib.drafters.tree import TreeDrafter, TreeProposal
from specdec_lib.models.cache import KVCache, Tree
from specdec_lib.models.llama import Llama
from specdec_lib.models.prefill import read_up_to
from specdec_lib.sampling import LAST, Choices


@torch.inference_mode()
def tree_generate(
    target: Llama,
    drafter: TreeDrafter,
    prompt: Sequence[int],
    depth: int,
    settings: Settings,
    choices: Choices,
) -> Generation:
    """Generate behind `prompt`, a batch of one row, with trees of at most `depth` levels.

    Raises ValueError as speculative_generate does, and where the model has no room for the tree
    behind the text.
    """
    capacity = check_request(target, [prompt], settings, choices) + drafter.nodes(depth)
    check_room(target, capacity, drafter.nodes(depth))
    check_pair(target, drafter, capacity)
    progress = Progress([prompt], settings)
    generation = Generation(progress.written, [[]])
    if not progress.running:
        return generation
    cache = target.new_cache(1, capacity)
    read_up_to(target, cache, [prompt], leave=1)
    drafter.start(prompt, settings.warp, capacity, cache)
    start = time.perf_counter()
    while progress.running:
        generation.add([decode_tree(target, cache, drafter, progress, depth, choices)])
    generation.tokens, generation.seconds = progress.written, time.perf_counter() - start
    return generation


def decode_tree(
    target: Llama,
    cache: KVCache,
    drafter: TreeDrafter,
    progress: Progress,
    depth: int,
    choices: Choices,
) -> Block:
    """Draft a tree, score it in one pass, keep one branch; returns what happened."""
    begun = time.perf_counter()
    (sequence,), levels = progress.sequences, min(depth, progress.left[0] - 1)
    choices.begin([drafter.nodes(levels)])
    proposal = drafter.propose(sequence, levels, choices)
    drafted = time.perf_counter()
    tokens = torch.tensor([[sequence[-1], *proposal.tokens]], device=target.device)
    tree = Tree.of(proposal.parents, target.device)
    logits = target.forward(tokens, cache, tree=tree)
    check_finite(logits, "target")
    p = progress.settings.warp(logits[0])
    path, token = walk(p, proposal, choices)
    cache.keep(len(sequence) - 1, [0, *path])
    kept = progress.add(0, [*(proposal.tokens[node - 1] for node in path), token])
    cache.truncate(progress.lengths[0] - 1)
    seconds = (drafted - begun, time.perf_counter() - drafted)
    return Block(proposal.tokens, min(len(path), kept), token, kept, *judged(p, proposal), *seconds)


def walk(p: Tensor, proposal: TreeProposal, choices: Choices) -> tuple[list[int], int]:
    """The nodes that are kept, from the root on, and the token behind them.

    `p` (1 + n, V) are the target's distributions behind the text and behind each node. A node's
    children are candidates for one position: each is accepted against what is left of p, and a
    rejected one takes its q away from that. What is left in the end is the residual.
    """
    node, path, rest = 0, [], p[0]
    remaining = [i for i, parent in enumerate(proposal.parents) if parent == node]
    while remaining:
        child = remaining.pop(0)
        token, q = proposal.tokens[child], proposal.q[child]
        if choices.accept(rest[token].view(1, 1), q[token].view(1, 1), first=child).item():
            node, rest = child + 1, p[child + 1]
            path.append(node)
            remaining = [i for i, parent in enumerate(proposal.parents) if parent == node]
        else:
            rest = residual(rest[None], q[None])[0]
    return path, int(choices.draw(rest[None], LAST))


def judged(p: Tensor, proposal: TreeProposal) -> tuple[list[float], list[float]]:
    """The target's and the draft's probability of every node."""
    tokens = torch.tensor(proposal.tokens, dtype=torch.long, device=p.device)[:, None]
    parents = torch.tensor(proposal.parents, dtype=torch.long, device=p.device)
    p_nodes, q_nodes = p[parents].gather(-1, tokens), proposal.q.gather(-1, tokens)
    return p_nodes[:, 0].tolist(), q_nodes[:, 0].tolist()


def check_room(target: Llama, capacity: int, nodes: int) -> None:
    """Raise ValueError where the text and a tree of `nodes` need more than the model has."""
    if capacity > target.max_length:
        raise ValueError(
            f"the text and a tree of {nodes} tokens need {capacity} positions, and the model has "
            f"{target.max_length}: shorten the prompt, ask for fewer tokens or draft a smaller tree"
        )
