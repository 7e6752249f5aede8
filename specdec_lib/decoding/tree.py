"""A block of speculative decoding with a tree of draft tokens, of which one branch is kept.

Every node is judged as in Miao et al. (2024), "SpecInfer": its children one after the other, each
against what the ones before it have left of the target's distribution.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from specdec_lib.decoding.state import GenerationState, VerifiedBlock
from specdec_lib.decoding.verify import accepts, probability_of, require_finite_block, residual_rows
from specdec_lib.drafters.tree import ROOT_NODE, ModelTreeDrafter, TreeProposal
from specdec_lib.models.cache import Tree
from specdec_lib.sampling import RandomSource

# A function that verifies a tree, as `verify_tree` does.
TreeVerifier = Callable[[Tensor, TreeProposal, RandomSource], tuple[list[int], int, bool]]


def decode_tree(
    state: GenerationState,
    drafter: ModelTreeDrafter,
    depth: int,
    random_source: RandomSource,
    verifier: TreeVerifier,
) -> VerifiedBlock:
    """One block of a tree of at most `depth` levels; the steps are those of `decode_block`."""
    limits = state.draft_limits(depth)
    random_source.start_block([drafter.nodes(limits[0])], state.active)

    # 1. Draft.
    proposal = drafter.propose(state.sequences, limits, random_source)

    # 2. Score: one pass over all branches.
    nodes = torch.tensor([proposal.tokens], dtype=torch.long).to(state.target.device)
    tree = Tree.from_parents(proposal.parents, state.target.device)
    (p,), is_finite = state.score(nodes, tree=tree)
    require_finite_block(proposal.q, is_finite)

    # 3. Verify.
    path, next_token, has_bonus = verifier(p, proposal, random_source)
    pq = node_probabilities(p, proposal)

    # 4. Append. Keep of the cache only the branch, since rejected nodes lie in between.
    state.cache.keep_nodes(len(state.sequences[0]) - 1, [ROOT_NODE, *path])
    accepted_tokens = [proposal.tokens[node - 1] for node in path]
    n_appended = state.append(0, [*accepted_tokens, next_token])

    # 5. Roll back, if the text has ended within the branch.
    state.roll_back()
    has_bonus = has_bonus and n_appended > len(accepted_tokens)
    accepted_tokens = accepted_tokens[:n_appended]
    block = VerifiedBlock(proposal.tokens, accepted_tokens, next_token, n_appended, has_bonus, *pq)
    state.blocks[0].append(block)
    return block


def verify_tree(
    p: Tensor, proposal: TreeProposal, random_source: RandomSource
) -> tuple[list[int], int, bool]:
    """The accepted nodes from the root on, the token after them, and whether that is a bonus.

    `p` (1 + n, V) are the target's distributions after the text and after each node. A node's
    children are candidates for one position. The first is verified against p. Each rejection takes
    the candidate's q away from p, and leaves the residual for the next candidate or the correction.
    """
    path: list[int] = []
    next_dist, has_bonus = p[ROOT_NODE], True
    candidates = children(proposal, ROOT_NODE)
    while candidates:
        node = candidates.pop(0)
        token, q = proposal.tokens[node - 1], proposal.q[node - 1]
        p_token, q_token = next_dist[token].view(1, 1), q[token].view(1, 1)
        r = random_source.acceptance_uniforms(p_token, q_token, first=node - 1)
        if accepts(p_token, q_token, r).item():
            path.append(node)
            next_dist, has_bonus = p[node], True
            candidates = children(proposal, node)
        else:
            next_dist, has_bonus = residual_rows(next_dist[None], q[None])[0], False
    return path, int(random_source.next_token(next_dist[None])), has_bonus


def children(proposal: TreeProposal, node: int) -> list[int]:
    """The numbers of the nodes whose parent is `node`."""
    return [child for child, parent in enumerate(proposal.parents, start=1) if parent == node]


def node_probabilities(p: Tensor, proposal: TreeProposal) -> tuple[list[float], list[float]]:
    """The target's and the draft's probability of every node."""
    rows = (proposal.tokens, proposal.parents)
    tokens, parents = torch.tensor(rows, dtype=torch.long, device=p.device)
    at_nodes = (probability_of(tokens, probs) for probs in (p[parents], proposal.q))
    p_nodes, q_nodes = torch.stack(tuple(at_nodes)).tolist()
    return p_nodes, q_nodes
