"""A block of speculative decoding with a tree of draft tokens, of which one branch is kept.

Every node is judged as in Miao et al. (2024), "SpecInfer": its children one after the other, each
against what the ones before it have left of the target's distribution.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from specdec_lib.decoding.state import Block, Run
from specdec_lib.decoding.verify import accepts, finite_rows, require_finite, residual
from specdec_lib.device import Stopwatch
from specdec_lib.drafters.tree import ROOT_NODE, TreeDrafter, TreeProposal
from specdec_lib.models.cache import Tree
from specdec_lib.sampling import Choices

# Judges a tree by p (1 + n, V), as `walk` does.
Walk = Callable[[Tensor, TreeProposal, Choices], tuple[list[int], int, bool]]


def decode_tree(run: Run, drafter: TreeDrafter, depth: int, choices: Choices, judge: Walk) -> Block:
    """One block of a tree of at most `depth` levels; the steps are those of `decode_block`."""
    watch, limits = Stopwatch(run.target.device), run.limits(depth)
    watch.mark()
    choices.begin([drafter.nodes(limits[0])], run.running)

    # 1. Draft.
    proposal = drafter.propose(run.sequences, limits, choices)
    watch.mark()

    # 2. Score: one pass over all branches.
    nodes = torch.tensor([proposal.tokens], dtype=torch.long).to(run.target.device)
    tree = Tree.from_parents(proposal.parents, run.target.device)
    (p,), finite = run.score(nodes, tree=tree)
    sound = torch.stack((finite_rows(proposal.q).all(), finite.all())).tolist()
    for whose, each in zip(("drafter", "target"), sound, strict=True):
        require_finite(each, whose)

    # 3. Verify.
    path, token, bonus = judge(p, proposal, choices)
    judged = probabilities_of(p, proposal)
    watch.mark()

    # 4. Keep of the cache only the branch, since rejected nodes lie in between.
    run.cache.keep_nodes(len(run.sequences[0]) - 1, [ROOT_NODE, *path])
    accepted = [proposal.tokens[node - 1] for node in path]
    kept = run.add(0, [*accepted, token])

    # 5. Roll back, if the text has ended within the branch.
    run.roll_back()
    bonus, path = bonus and kept > len(accepted), accepted[:kept]
    block = Block(proposal.tokens, path, token, kept, bonus, *judged, *watch.seconds())
    run.blocks[0].append(block)
    return block


def walk(p: Tensor, proposal: TreeProposal, choices: Choices) -> tuple[list[int], int, bool]:
    """The accepted nodes from the root on, the token after them, and whether that is a bonus.

    `p` (1 + n, V) are the target's distributions after the text and after each node. A node's
    children are candidates for one position. Each is judged against what is left of p, and if it is
    rejected, its q is taken away from that. What is left in the end is the residual.
    """
    path, rest, bonus = [], p[ROOT_NODE], True
    candidates = children(proposal, ROOT_NODE)
    while candidates:
        node = candidates.pop(0)
        token, q = proposal.tokens[node - 1], proposal.q[node - 1]
        pair = rest[token].view(1, 1), q[token].view(1, 1)
        if accepts(*pair, choices.coins(*pair, first=node - 1)).item():
            path, rest, bonus = [*path, node], p[node], True
            candidates = children(proposal, node)
        else:
            rest, bonus = residual(rest[None], q[None])[0], False
    return path, int(choices.last(rest[None])), bonus


def children(proposal: TreeProposal, node: int) -> list[int]:
    """The numbers of the nodes whose parent is `node`."""
    return [child for child, parent in enumerate(proposal.parents, start=1) if parent == node]


def probabilities_of(p: Tensor, proposal: TreeProposal) -> tuple[list[float], list[float]]:
    """The target's and the draft's probability of every node."""
    tokens = torch.tensor(proposal.tokens, dtype=torch.long, device=p.device)[:, None]
    parents = torch.tensor(proposal.parents, dtype=torch.long, device=p.device)
    p_nodes, q_nodes = p[parents].gather(-1, tokens), proposal.q.gather(-1, tokens)
    p_read, q_read = torch.stack((p_nodes[:, 0], q_nodes[:, 0])).tolist()
    return p_read, q_read
