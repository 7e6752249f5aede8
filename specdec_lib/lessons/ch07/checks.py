"""Chapter 07, connections: its examples and the visible checks on them."""

import functools
from collections.abc import Callable

import numpy as np

from specdec_lib.lessons.ch07.computed import (
    refused_in_turn,
    shares_of,
    tree_speedup,
    typical_law,
)
from specdec_lib.lessons.ch07.models import plus_one, settling, two_back
from specdec_lib.lessons.common.answers import answering, committed, revealing, truths_of
from specdec_lib.lessons.common.examples import Different, expect, expect_value_error, visible_check
from specdec_lib.lessons.common.lending import fixed

__all__ = ["committed", "two_back"]

# The pair that the whole chapter works on, and a draft that fits the same target badly.
P = fixed([0.45, 0.30, 0.15, 0.10])
Q = fixed([0.30, 0.45, 0.20, 0.05])
POOR = fixed([0.05, 0.15, 0.20, 0.60])
# A pair of which a second candidate may pass or not.
THREE_P, THREE_Q = np.array([0.3, 0.6, 0.1]), np.array([0.2, 0.05, 0.75])

# The largest number below 1. A token that is nearly certain, and two that share what is left.
ALMOST_1 = 1 - 2.0**-53
TINY = 2.0**-48
NEARLY = fixed([TINY, 1 - 3 * TINY, 2 * TINY])

# Trees of six draft tokens, by the parent of each; -1 is the text before.
TREE = [-1, -1, 0, 0, 1, 2]
SHAPES = {
    "chain of six": [-1, 0, 1, 2, 3, 4],
    "two by two": [-1, -1, 0, 0, 1, 1],
    "three short chains": [-1, -1, -1, 0, 1, 2],
    "one level of six": [-1, -1, -1, -1, -1, -1],
}

# A draft vocabulary of three tokens in a target vocabulary of four: token 1 is not shared.
SMALL_DRAFT = fixed([0.5, 0.3, 0.2])
TO_TARGET = fixed([2, -1, 0])

# The walk of the card: a token for each node of TREE, a coin, and what comes out with u = 0.5.
WALK_TOKENS = [1, 3, 0, 2, 0, 1]
WALK_R = fixed([0.7, 0.9, 0.5, 0.5, 0.4, 0.5])
WALKED = [3, 0, 1]

# What the figure of Jacobi decoding is drawn from, with the target `two_back`.
PROMPT = [1]
GUESS = [2, 4, 1, 3, 0, 2, 4]

# The true values that predictions.toml does not hold.
TRUTHS = truths_of(
    __package__, prediction_07=sum(refused_in_turn(P, Q, 2)), prediction_07_b=8 * (1 - 0.75**5)
)


answered = answering(__package__)
reveal = revealing(TRUTHS)


def accepted_shares(accept: Callable) -> dict[str, list[float]]:
    """How likely each of six candidates is the accepted one, by the student's function, by draft.

    If the function is unwritten or fails, a line says so and the rule's own numbers come back.
    """
    drafts = {"good draft": Q, "poor draft": POOR}
    try:
        return {name: shares_of(accept, P, draft) for name, draft in drafts.items()}
    except Exception as error:  # whatever a half-written function does
        unwritten = isinstance(error, NotImplementedError)
        why = "is not written yet" if unwritten else f"cannot be used yet: {error!r}"
        print(f"Your multi_candidate_accept {why}. The numbers below are the rule's own.")
        return {name: refused_in_turn(P, draft, 6) for name, draft in drafts.items()}


def look(measured: dict[tuple[str, float], tuple[float, float]]) -> None:
    """Print the numbers of "What you may read elsewhere"; `measured` is that of the drafters."""
    for (name, temperature), (tokens, _) in measured.items():
        print(f"{name} at temperature {temperature:g}: {tokens:.2f} tokens a block")
    law = typical_law(P, Q, 0.09, 0.3)
    print("typical acceptance:", law, "in total variation", round(np.abs(law - P).sum() / 2, 3))
    chain, tree = SHAPES["chain of six"], SHAPES["two by two"]
    for c in (0.02, 0.2):
        speeds = (tree_speedup(each, refused_in_turn(P, Q, 2), c) for each in (chain, tree))
        print("c = {}: chain of six {:.2f}x, two by two {:.2f}x".format(c, *speeds))


@visible_check
def check_one_hot_accept(function: Callable) -> None:
    """Token B of the pair accepted, and replaced twice; a certain token, and the boundary."""
    expect(function, 1, P, 0.25, 0.7, gives=(1, True), hint="q is 1 on this token, so p/q is p.")
    hint = "Without B the target is [0.643, 0, 0.214, 0.143]."
    expect(function, 1, P, 0.5, 0.7, gives=(2, False), hint=hint)
    expect(function, 1, P, 0.5, 0.5, gives=(0, False), hint=hint)
    certain = np.array([0.0, 1.0, 0.0])
    hint = "A token that is certain is always accepted."
    expect(function, 1, certain, 0.9, 0.5, gives=(1, True), hint=hint)
    hint = "No other token has any probability: p is a hair less than 1 by rounding."
    expect(function, 1, certain * ALMOST_1, ALMOST_1, 0.5, gives=(1, True), hint=hint)
    hint = (
        "Token 1 is only nearly certain, and r is not below its p. The others have a little, in "
        "the ratio 1 to 2: divide by their sum and add nothing."
    )
    expect(function, 1, NEARLY, 1 - 2 * TINY, 0.3, gives=(0, False), hint=hint)
    hint = "r < p is strict: p of token 0 is 0, and r may be 0."
    expect(function, 0, certain, 0.0, 0.5, gives=(1, False), hint=hint)


@visible_check
def check_jacobi_decode(function: Callable) -> None:
    """A counting target after a wrong guess, a right one, none and a long one; the figure's."""
    passes = (
        "The passes give [1, 6, 6], [1, 2, 7], [1, 2, 3] and once more [1, 2, 3]; the one that "
        "changes nothing counts."
    )
    for prompt, guess, gives, hint in (
        ([0], [5, 5, 3], ([1, 2, 3], 4), passes),
        ([0], [1, 2, 3], ([1, 2, 3], 1), "One pass confirms it."),
        ([3, 7], [], ([], 1), "An empty guess takes one pass."),
        ([0], [50] * 20, (list(range(1, 21)), 21), "One place a pass: 20 places, 21 passes."),
    ):
        target = settling(plus_one, prompt, guess)
        expect(function, target, prompt, guess, gives=gives, hint=hint)
    target, gives = settling(two_back, PROMPT, GUESS), ([2, 0, 0, 2, 1, 3, 2], 4)
    hint = "All places are renewed from the same pass."
    expect(function, target, PROMPT, GUESS, gives=gives, hint=hint)
    hint = "This target looks at the last two tokens: every pass reads the whole prompt."
    target = settling(two_back, [1, 2], [4, 4])
    expect(function, target, [1, 2], [4, 4], gives=([0, 0], 3), hint=hint)


@visible_check
def check_multi_candidate_accept(function: Callable) -> None:
    """One candidate, two, three of a poor draft, none that is accepted, and the boundary."""
    coins = np.array([0.7, 0.9])
    hint = "For token B r q = 0.7 x 0.45 = 0.315, which is not below 0.30."
    expect(function, [0], P, Q, coins[:1], 0.5, gives=0, hint="r q = 0.21 is below 0.45.")
    expect(function, [1], P, Q, coins[:1], 0.5, gives=0, hint=hint)
    hint = "After the rejection the residual is [0.75, 0, 0, 0.25]; for token D r q = 0.045."
    expect(function, [1, 3], P, Q, coins, 0.5, gives=3, hint=hint)
    hint = "Both rejected: the residual of [0.75, 0, 0, 0.25] and q is [0.692, 0, 0, 0.308]."
    expect(function, [1, 2], P, Q, coins, 0.7, gives=3, hint=hint)
    hint = "Each candidate has its own coin: 0.7 x 0.45 rejects B. Then A is accepted."
    expect(function, [1, 0], P, Q, np.array([0.7, 0.5]), 0.9, gives=0, hint=hint)
    hint = "B is rejected twice, and q comes off twice: [0.75, 0, 0, 0.25], [0.692, 0, 0, 0.308]."
    expect(function, [1, 1], P, Q, np.array([0.9, 0.1]), 0.72, gives=3, hint=hint)
    hint = "The residuals are [0.727, 0.273, 0, 0] and then [0.847, 0.153, 0, 0]."
    coins = np.array([0.5, 0.5])
    expect(function, [3, 2], P, POOR, coins, 0.9, gives=1, hint=hint)
    hint = "For token A r q = 0.5 x 0.2, with its own coin; what is wanted of it then is 0.154."
    coins = np.array([0.9, 0.5])
    expect(function, [2, 0], THREE_P, THREE_Q, coins, 0.5, gives=0, hint=hint)
    hint = "r q < residual is strict: nothing of token 0 is wanted, and r may be 0."
    p, q = np.array([0.0, 0.5, 0.5]), np.array([0.5, 0.25, 0.25])
    expect(function, [0], p, q, np.array([0.0]), 0.9, gives=2, hint=hint)


@visible_check
def check_tree_attention_mask(function: Callable) -> None:
    """A chain, one level, the tree of the figure, and no node."""
    chain = [list(range(i + 1)) for i in range(4)]
    expect_mask(function, [-1, 0, 1, 2], chain, "A chain is the causal mask.")
    expect_mask(function, [-1, -1], [[0], [1]], "Siblings do not see each other.")
    sees = [[0], [1], [0, 2], [0, 3], [1, 4], [0, 2, 5]]
    expect_mask(function, TREE, sees, "Node 5 sees its parent 2, and that one's parent 0.")
    expect_mask(function, [], [], "Without nodes the mask has the shape (0, 0).")


def expect_mask(
    function: Callable, parents: list[int], sees: list[list[int]], hint: str = "", form: bool = True
) -> None:
    """Raise Different unless row i of `function(parents)` is true at the nodes `sees[i]` alone.

    Without `form`, 1 and 0 will do, in nested lists too.
    """
    wanted = np.array([[j in row for j in range(len(sees))] for row in sees], dtype=bool)
    wanted = wanted.reshape(len(sees), len(sees))
    returned: list = []

    @functools.wraps(function)
    def watched(parents: list[int]) -> object:
        returned.append(function(parents))
        return returned[-1]

    try:
        expect(watched, parents, gives=wanted.astype(int), hint=hint, form=form)
    except Different as wrong:
        raise Different(f"{wrong} {_first_wrong_row(returned, wanted)}".strip()) from None
    if form and returned[-1].dtype != bool:
        raise Different(
            f"tree_attention_mask({parents}) holds {returned[-1].dtype}; a mask is True or False."
        )


def _first_wrong_row(returned: list, wanted: np.ndarray) -> str:
    got = returned[-1] if returned else None
    if not isinstance(got, np.ndarray) or got.shape != wanted.shape:
        return ""
    row = next((i for i, seen in enumerate(wanted) if not np.array_equal(got[i], seen)), None)
    if row is None:
        return ""
    there, should = (np.flatnonzero(mask[row]).tolist() for mask in (got, wanted))
    return f"Row {row} is true at {there}; it should be at {should}."


@visible_check
def check_walk_tree(function: Callable) -> None:
    """The card's walk, a chain to its end, rows and coins by node, rejected children, no tree."""
    rows = [np.tile(each, (len(TREE) + 1, 1)) for each in (P, Q)]
    hint = "Node 0 is rejected, node 1 accepted; its child, node 4, is judged against p again."
    expect(function, TREE, WALK_TOKENS, *rows, WALK_R, 0.5, gives=WALKED, hint=hint)
    p, q = np.array([P, Q, P, Q]), np.array([Q, P, Q, P])
    hint = "At a leaf the last token comes from the leaf's own row of p, row node + 1."
    arguments = ([-1, 0, 1], [0, 0, 3], p, q, np.array([0.5, 0.5, 0.5]), 0.7)
    expect(function, *arguments, gives=[0, 0, 3, 1], hint=hint)
    hint = "The children of node 0 are judged by row 1 of p and q: there node 1 is rejected."
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
    hint = "The children are tried in the order of the list, whichever the target likes best."
    arguments = ([-1, -1], [3, 0], p, q, np.array([0.5, 0.5]), 0.5)
    expect(function, *arguments, gives=[3, 1], hint=hint)
    hint = "A tree without nodes writes one token, drawn from p[0]."
    expect(function, [], [], P[None], Q[None], np.array([]), 0.5, gives=[1], hint=hint)


@visible_check
def check_map_draft(function: Callable) -> None:
    """The card's example, two draft tokens of one target token, and nothing that is shared."""
    hint = "Put 0.5 on token 2 and 0.2 on token 0, then divide by 0.7."
    gives = np.array([0.2, 0.0, 0.5, 0.0]) / 0.7
    expect(function, SMALL_DRAFT, TO_TARGET, 4, gives=gives, hint=hint)
    gives = np.array([0.0, 0.625, 0.375])
    hint = "Two draft tokens stand for target token 1: their masses add."
    arguments = (np.array([0.25, 0.2, 0.25, 0.3]), np.array([1, -1, 1, 2]), 3)
    expect(function, *arguments, gives=gives, hint=hint)
    arguments = (np.array([0.5, 0.5]), np.array([-1, -1]), 3)
    why = "no mass is shared, so nothing can be drafted"
    expect_value_error(function, *arguments, why=why)
    arguments = (np.array([1.0, 0.0]), np.array([-1, 2]), 4)
    expect_value_error(function, *arguments, why=why)
    hint = "A little is shared: divided by its sum it is 1."
    arguments = (np.array([0.999, 0.001]), np.array([-1, 1]), 2)
    expect(function, *arguments, gives=np.array([0.0, 1.0]), hint=hint)


@visible_check
def check_expected_experts(function: Callable) -> None:
    """One token, two, five, none, a model that uses all its experts, and a large one."""
    hint = "One token reads the experts that it chooses."
    expect(function, 1, 8, 2, gives=2.0, hint=hint)
    hint = "The second token also chooses 2 of 8; on average 0.5 of them were chosen already."
    expect(function, 2, 8, 2, gives=3.5, hint=hint)
    hint = "An expert is left out by one token with 0.75, and by all five with 0.75^5 = 0.237."
    expect(function, 5, 8, 2, gives=8 * (1 - 0.75**5), hint=hint)
    expect(function, 0, 8, 2, gives=0.0, hint="No token chooses no expert.")
    expect(function, 3, 4, 4, gives=4.0, hint="Every token chooses all four.")
    hint = "Two tokens of 8 among 128: on average they share half an expert."
    expect(function, 2, 128, 8, gives=15.5, hint=hint)
