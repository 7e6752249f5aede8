"""Chapter 07, connections: its examples and the visible checks on them."""

from collections.abc import Callable

import numpy as np

from specdec_lib.lessons.ch07.computed import refused_in_turn, tree_speedup
from specdec_lib.lessons.checking.answers import committed, make_answered, make_reveal, truths_of
from specdec_lib.lessons.checking.examples import Different, expect, visible_check
from specdec_lib.lessons.checking.lending import read_only

__all__ = ["committed"]

# The pair that the whole chapter works on, and a draft that fits the same target badly.
P = read_only([0.45, 0.30, 0.15, 0.10])
Q = read_only([0.30, 0.45, 0.20, 0.05])
POOR = read_only([0.05, 0.15, 0.20, 0.60])
# A pair of which a second candidate may pass or not.
THREE_P, THREE_Q = np.array([0.3, 0.6, 0.1]), np.array([0.2, 0.05, 0.75])

# Trees of six draft tokens, by the parent of each; -1 is the text before.
TREE = [-1, -1, 0, 0, 1, 2]
SEEN = [[0], [1], [0, 2], [0, 3], [1, 4], [0, 2, 5]]  # by each node of TREE
SHAPES = {
    "chain of six": [-1, 0, 1, 2, 3, 4],
    "two by two": [-1, -1, 0, 0, 1, 1],
    "three short chains": [-1, -1, -1, 0, 1, 2],
    "one level of six": [-1, -1, -1, -1, -1, -1],
}

# The walk of the card: a token for each node of TREE, a coin, and what comes out with u = 0.5.
WALK_TOKENS = [1, 3, 0, 2, 0, 1]
WALK_R = read_only([0.7, 0.9, 0.5, 0.5, 0.4, 0.5])
WALKED = [3, 0, 1]

# How often draft token i is accepted on chat if the tokens before it were, by drafter. Measured
# from Figure 2 of the DSpark paper, whose curves are drawn as vectors (DSpark_paper.pdf in
# github.com/deepseek-ai/DeepSpec at afdfa7c), target Qwen3-4B, temperature 1.
POSITIONS = {
    "EAGLE-3": [0.534, 0.589, 0.642, 0.678, 0.709, 0.729, 0.733],
    "DFlash": [0.718, 0.648, 0.638, 0.661, 0.682, 0.692, 0.688],
    "DSpark": [0.735, 0.738, 0.740, 0.744, 0.758, 0.766, 0.761],
}
# The layers that draft a block of one to seven tokens.
LAYERS = {"EAGLE-3": [1, 2, 3, 4, 5, 6, 7], "DFlash": [5] * 7, "DSpark": [5] * 7}

# How likely the i-th of six candidates of a place is the accepted one, by draft.
ACCEPTED = {"good draft": refused_in_turn(P, Q, 6), "poor draft": refused_in_turn(P, POOR, 6)}


def flip() -> float:
    """The c from which the tree "two by two" is as fast as the chain of six, with draft Q."""
    chain, tree = (
        tree_speedup(SHAPES[name], refused_in_turn(P, Q, 2), 0.0)
        for name in ("chain of six", "two by two")
    )
    return (chain - tree) / (6 * tree - 2 * chain)


# The true values that predictions.toml does not hold.
TRUTHS = truths_of(
    __package__,
    prediction_07=sum(refused_in_turn(P, Q, 2)),
    prediction_07_b=flip(),
    prediction_07_c=float(1 + np.cumprod(POSITIONS["EAGLE-3"]).sum()),
)


answered = make_answered(__package__)
reveal = make_reveal(TRUTHS)


@visible_check
def check_one_hot_accept(function: Callable) -> None:
    """Token B of the pair accepted, and replaced twice; a target that is certain."""
    hint = "q is 1 on this token, so p/q is p: r = 0.25 is below p(B) = 0.30."
    expect(function, 1, P, 0.25, 0.7, gives=(1, True), hint=hint)
    asks = [
        ((1, True), "r = 0.5 is not below p(B) = 0.30, so B is rejected."),
        ((2, True), "Token C is right, but it isn't the draft's."),
        ((1, False), "B is rejected, so it has no share in the draw that replaces it."),
    ]
    hint = "Without B the target is [0.643, 0, 0.214, 0.143]."
    expect(function, 1, P, 0.5, 0.7, gives=(2, False), hint=hint, asks=asks)
    expect(function, 1, P, 0.5, 0.5, gives=(0, False), hint=hint)
    certain = np.array([0.0, 1.0, 0.0])
    hint = "The target wants token 1 for certain, and no other."
    expect(function, 1, certain, 0.9, 0.5, gives=(1, True), hint=hint)
    expect(function, 0, certain, 0.3, 0.5, gives=(1, False), hint=hint)


@visible_check
def check_multi_candidate_accept(function: Callable) -> None:
    """One candidate, two, three of a poor draft, none that is accepted, and the boundary."""
    coins = np.array([0.7, 0.9])
    expect(function, [0], P, Q, coins[:1], 0.5, gives=0, hint="r q = 0.21 is below 0.45.")
    hint = "B is rejected, as r q = 0.315 is not below 0.30. The draw is from [0.75, 0, 0, 0.25]."
    asks = [
        (1, "For token B r q = 0.7 x 0.45 = 0.315, which is not below 0.30."),
        (
            2,
            "p has less of token C than q, so C has no share in the draw: it is from the residual.",
        ),
    ]
    expect(function, [1], P, Q, coins[:1], 0.8, gives=3, hint=hint, asks=asks)
    asks = [(3, "Is the draw from the residual of one rejection, divided by its sum?")]
    expect(function, [1], P, Q, coins[:1], 0.72, gives=0, hint=hint, asks=asks)
    hint = "After the rejection the residual is [0.75, 0, 0, 0.25]; for token D r q = 0.045."
    expect(function, [1, 3], P, Q, coins, 0.5, gives=3, hint=hint)
    hint = "Both rejected: the residual of [0.75, 0, 0, 0.25] and q is [0.692, 0, 0, 0.308]."
    expect(function, [1, 2], P, Q, coins, 0.7, gives=3, hint=hint)
    hint = "Each candidate has its own coin: 0.7 x 0.45 rejects B. Then A is accepted."
    expect(function, [1, 0], P, Q, np.array([0.7, 0.5]), 0.9, gives=0, hint=hint)
    hint = "B is rejected twice, and q comes off twice: [0.75, 0, 0, 0.25], [0.692, 0, 0, 0.308]."
    expect(function, [1, 1], P, Q, np.array([0.9, 0.1]), 0.72, gives=3, hint=hint)
    hint = "For token A r q = 0.5 x 0.2, with its own coin; what is wanted of it then is 0.154."
    coins = np.array([0.9, 0.5])
    expect(function, [2, 0], THREE_P, THREE_Q, coins, 0.5, gives=0, hint=hint)


@visible_check
def check_tree_attention_mask(function: Callable) -> None:
    """A chain, one level, the tree of the figure, and no node."""
    for parents, sees, hint in (
        (
            [-1, 0, 1, 2],
            [[0], [0, 1], [0, 1, 2], [0, 1, 2, 3]],
            "In a chain each node sees all nodes before it, as in the causal mask.",
        ),
        ([-1, -1], [[0], [1]], "Siblings do not see each other."),
        (TREE, SEEN, "Node 5 sees its parent 2, and that one's parent 0."),
        ([], [], "Without nodes the mask has the shape (0, 0)."),
    ):
        mask = np.zeros((len(parents), len(parents)), dtype=bool)
        for node, seen in enumerate(sees):
            mask[node, seen] = True
        expect(function, parents, gives=mask, hint=hint)
    kind = np.asarray(function([-1])).dtype
    if kind.kind != "b":
        raise Different(f"tree_attention_mask([-1]) holds {kind}; a mask is True or False.")


@visible_check
def check_walk_tree(function: Callable) -> None:
    """The card's walk, a chain to its end, rows and coins by node, rejected children, no tree."""
    rows = [np.tile(each, (len(TREE) + 1, 1)) for each in (P, Q)]
    hint = "Nodes 1 and 4 are accepted by rows 0 and 2, and row 5 gives the last token."
    expect(function, TREE, WALK_TOKENS, *rows, WALK_R, 0.5, gives=WALKED, hint=hint)
    hint = "Node 1 is accepted, row 2 accepts its child, node 2, and row 3 gives the last token."
    asks = [([0, 0, 2], "Is the row that of the level? Row 2 judges the children of node 1.")]
    five = np.array([P, P, Q, P, Q]), np.array([Q, Q, P, Q, P])
    arguments = ([-1, -1, 1, 1], [1, 0, 1, 0], *five, np.array([0.9, 0.5, 0.9, 0.6]), 0.92)
    expect(function, *arguments, gives=[0, 1, 3], hint=hint, asks=asks)
    p, q = np.array([P, Q, P, Q]), np.array([Q, P, Q, P])
    hint = "Rows 0, 1 and 2 accept a node each, and the last token comes from the leaf's row, 3."
    arguments = ([-1, 0, 1], [0, 0, 3], p, q, np.array([0.5, 0.5, 0.5]), 0.7)
    expect(function, *arguments, gives=[0, 0, 3, 1], hint=hint)
    hint = "The children of node 0 are judged by row 1 of p and q: there r[1] rejects node 1."
    arguments = ([-1, 0], [0, 0], p[:3], q[:3], np.array([0.5, 0.8]), 0.8)
    expect(function, *arguments, gives=[0, 2], hint=hint)
    hint = "Both are rejected: the draw is from what is left, [0.692, 0, 0, 0.308]."
    arguments = ([-1, -1, 0], [1, 2, 0], p, q, np.array([0.7, 0.5, 0.0]), 0.7)
    expect(function, *arguments, gives=[3], hint=hint)
    hint = "The coin belongs to the node: r[2] judges node 2, whatever its level is."
    arguments = ([-1, -1, 1], [1, 0, 1], p, np.array([Q, P, Q, P]), np.array([0.9, 0.9, 0.6]), 0.1)
    expect(function, *arguments, gives=[0, 1, 0], hint=hint)
    hint = "Node 3 is the child of node 1, and r[3] judges it; node 2 is never reached."
    five = np.array([P, Q, Q, P, P]), np.array([Q, P, P, Q, Q])
    arguments = ([-1, -1, 0, 1], [1, 0, 2, 0], *five, np.array([0.9, 0.9, 0.1, 0.9]), 0.8)
    expect(function, *arguments, gives=[0, 2], hint=hint)
    hint = "Node 0 is rejected and node 1 accepted, its twin: the walk goes on at node 1, not 2."
    arguments = ([-1, -1, -1, 0, 1, 2], [2, 0, 0, 1, 1, 2])
    rows = [np.tile(each, (7, 1)) for each in (THREE_P, THREE_Q)]
    arguments = (*arguments, *rows, np.array([0.9, 0.5, 0.1, 0.1, 0.9, 0.9]), 0.5)
    expect(function, *arguments, gives=[0, 1, 1], hint=hint)
    hint = "A tree without nodes writes one token, drawn from p[0]."
    expect(function, [], [], P[None], Q[None], np.array([]), 0.5, gives=[1], hint=hint)


@visible_check
def check_tokens_from_positions(function: Callable) -> None:
    """The card's three positions, none, a certain one, one that is never accepted, and EAGLE-3."""
    hint = "The products are 0.8, 0.8 x 0.5 = 0.4 and 0.4 x 0.5 = 0.2; the target adds a token."
    asks = [
        (
            2.8,
            "Is it the sum of the rates? Each rate holds only if all tokens before are accepted.",
        ),
        (1.4, "The target's own token counts, too."),
        (2.176, "Is it one mean rate for every position? Each position has its own."),
        (3.2, "Draft token i counts only if it is accepted itself."),
    ]
    expect(function, [0.8, 0.5, 0.5], gives=2.4, hint=hint, asks=asks)
    expect(function, [], gives=1.0, hint="Without a draft token the target writes its own token.")
    expect(function, [1.0, 1.0], gives=3.0, hint="Both draft tokens are kept, and the bonus.")
    hint = "A token counts only if all before it are accepted, and the first never is."
    expect(function, [0.0, 0.9], gives=1.0, hint=hint)
    hint = "Every position has its own rate: multiply along the block, do not average."
    expect(function, [0.5, 0.9, 0.1], gives=1.995, hint=hint)
