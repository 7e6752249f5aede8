"""Numbers of the hidden tests of chapter 07. The tests compute what they expect from them.

Every row of a distribution sums to 1, and every coin and every uniform number is below 1. Where
nothing else is said no coin is at the bound that it is held against. docs/instructor.md says how to
change them.
"""

import numpy as np

from autograde.chapters.distributions import LARGEST, pairs
from autograde.chapters.expected.ch07_expected import summed, two_back
from specdec_lib.lessons.ch07.models import plus_one

# A target and a draft, which most cases use: of four tokens the draft understates 0 and 3, and
# overstates 1 and 2. A draft that understates all but the last one, and overstates that.
P = np.array([0.45, 0.30, 0.15, 0.10])
Q = np.array([0.30, 0.45, 0.20, 0.05])
POOR = np.array([0.05, 0.15, 0.20, 0.60])
# A pair whose second candidate may pass or not: after a rejection of token 2, token 0 has a ratio
# between 0.5 and 0.9.
WIDE, FAR = np.array([0.30, 0.60, 0.10]), np.array([0.20, 0.05, 0.75])
# Distributions of binary fractions, so that a coin can equal a bound.
HALF = np.array([0.5, 0.25, 0.25])
NONE_OF_0 = np.array([0.0, 0.5, 0.5])

# one_hot_accept: a token and coins on both sides of its p; the last is far above it.
ONE_HOT_COINS = [
    *((0, 0.0), (0, 0.44), (0, 0.46), (1, 0.29), (1, 0.31)),
    *((2, 0.14), (2, 0.16), (3, 0.09), (3, 0.11), (3, 0.99)),
]
ONE_HOT_COINS_U = 0.5
# A coin that rejects every token of P, then tokens and u that pick each of the others.
ONE_HOT_REJECTS = 0.95
ONE_HOT_REPLACES = [
    *((0, 0.5), (0, 0.6), (0, 0.9), (1, 0.6), (1, 0.7), (1, 0.9), (1, 0.0)),
    *((2, 0.5), (2, 0.6), (2, 0.95), (3, 0.49), (3, 0.51), (3, 0.99)),
]
ONE_HOT_LAWS = [P, Q, HALF, *(p for p, _ in pairs(2, 3, 5, 9, seed=31))]
# A token that is certain but for a residual so small that a number that is added would drown it:
# TINY times [1, 0, 2], whose cut is at 1/3.
TINY = 2.0**-48
NEARLY = np.array([TINY, 1 - 3 * TINY, 2 * TINY])
ONE_HOT_EDGES = [  # the token, p, r, u
    (1, [0.0, 1.0, 0.0], 0.9, 0.5),  # certain
    (1, [0.0, 1.0, 0.0], LARGEST, 0.5),
    (1, [0.0, LARGEST, 0.0], LARGEST, 0.5),  # nearly 1, and no other token has anything
    (0, [0.0, 1.0, 0.0], 0.0, 0.5),  # p = 0 and r = 0
    (2, [0.5, 0.5, 0.0], 0.0, 0.75),
    (0, HALF, 0.5, 0.25),  # r equals p
    (0, HALF, 0.5, 0.75),
    (1, HALF, 0.25, 0.0),
    (0, [0.5, 0.0, 0.5], 0.75, 0.0),  # u = 0 before a zero
    (1, NEARLY, 1 - 2 * TINY, 0.3),  # nearly certain, and rejected: u below the cut and above it
    (1, NEARLY, 1 - 2 * TINY, 0.3333333),
    (1, NEARLY, 1 - 2 * TINY, 0.5),
]

# jacobi_decode: a target, a prompt and a guess. Some settle early and some only at the end, one of
# them in a pass more than it has places.
JACOBI = [
    (two_back(8), [1], [0, 0, 0, 0, 0, 0, 0]),
    (two_back(19), [1], [2, 4, 1, 3, 0, 2, 4]),
    (two_back(10), [3, 2], [1, 1, 1, 1]),
    (two_back(49), [2, 0, 4, 1], [1, 2, 3, 4, 0, 1, 2, 3]),
    (two_back(12), [4, 4, 4], [3, 0]),
    (summed, [3], [0, 0, 0, 0, 0]),
    (summed, [1, 5], [6, 5, 4, 3, 2, 1]),
    (plus_one, [0], [5, 5, 3]),
]
# Prompts and guesses for the target that counts: more than 32 passes in one, more than 16 in all.
JACOBI_LONG = [([0], [50] * 20), ([7, 2], [0] * 33), ([3], list(range(40, 0, -1)))]
JACOBI_EDGES = [
    ([4], []),
    ([4, 9], []),
    ([4, 9], [10, 11, 12]),  # right
    ([4, 9], [10]),
    ([4, 9], [0]),
    ([0], [1, 2, 9]),  # the last is wrong
    ([0], [9, 2, 3]),  # the first is wrong
]

# multi_candidate_accept: candidates, their coins and u. One is accepted, and u picks another token
# from p and from every residual, so that a draw in its place is seen.
IN_TURN = [
    ([0], [0.99], 0.99),
    ([1], [0.6], 0.0),
    ([2], [0.7], 0.0),
    ([1, 2], [0.6, 0.1], 0.0),
    ([1, 0], [0.9, 0.99], 0.99),
    ([1, 3], [0.7, 0.9], 0.0),
    ([1, 1, 0], [0.7, 0.1, 0.9], 0.99),
    ([2, 1, 3], [0.9, 0.2, 0.5], 0.0),
    ([1, 2, 2, 3], [0.7, 0.1, 0.1, 0.99], 0.0),
]
IN_TURN_POOR = [  # the same with the draft POOR
    ([3, 3, 1], [0.5, 0.5, 0.9], 0.0),
    ([3, 2, 1], [0.5, 0.5, 0.9], 0.0),
    ([3, 2], [0.1, 0.9], 0.0),
    ([2, 0], [0.8, 0.9], 0.99),
    ([2, 2, 3], [0.7, 0.1, 0.1], 0.0),
]
# With WIDE and FAR: the coin of another place would judge otherwise. u draws where all are
# rejected.
OWN_COINS = [
    ([2, 0], [0.9, 0.5], 0.5),
    ([2, 0], [0.5, 0.9], 0.5),
    ([2, 2, 0], [0.9, 0.1, 0.5], 0.5),  # rejected twice, a token takes q off twice
    ([2, 0, 0], [0.9, 0.8, 0.1], 0.5),
    ([0, 2], [0.99, 0.99], 0.5),
]
# All are rejected; u lies close to a cut of the last residual, on either side.
ALL_REJECTED = [
    ([1], [0.7], 0.74),
    ([1], [0.7], 0.76),
    ([1, 2], [0.7, 0.5], 0.68),
    ([1, 2], [0.7, 0.5], 0.70),
    ([1, 1], [0.9, 0.1], 0.72),
    ([2, 1, 1], [0.9, 0.5, 0.5], 0.60),
    ([2, 1, 1], [0.9, 0.5, 0.5], 0.65),
    ([2, 1, 1, 2], [0.9, 0.5, 0.5, 0.5], 0.53),
]
CANDIDATE_LAWS = [  # p, q and how many candidates; three of four tokens take a second
    (P, Q, 1),
    (P, Q, 2),
    (P, POOR, 2),
    (Q, P, 2),
    (P, P, 2),
    (P, Q, 3),
    (HALF, np.array([0.25, 0.75, 0.0]), 3),
    (WIDE, FAR, 2),
    (WIDE, FAR, 3),
    *((p, q, 2) for p, q in pairs(3, seed=41)),
    *((p, q, 3) for p, q in pairs(3, seed=43)),
]
CANDIDATE_EDGES = [  # candidates, p, q, coins, u
    ([], P, Q, [], 0.5),
    ([], P, Q, [], 0.95),
    ([0], NONE_OF_0, HALF, [0.0], 0.9),  # p = 0 and r = 0
    ([0, 0], NONE_OF_0, HALF, [0.0, 0.0], 0.0),
    ([2], HALF, HALF, [LARGEST], 0.0),  # equal models
    ([2, 0], HALF, HALF, [LARGEST, 0.0], 0.0),
    ([1], HALF, [0.25, 0.5, 0.25], [0.5], 0.5),  # r q equals the residual
    ([1], HALF, [0.25, 0.5, 0.25], [0.4999999], 0.99),  # just below it
    ([1, 0], [0.25, 0.75], [0.75, 0.25], [0.99, 0.99], 0.0),  # the first is accepted
    ([0, 0], [0.25, 0.75], [0.75, 0.25], [0.9, 0.0], 0.0),  # the residual is 0, and r is 0
    ([0], [1.0, 0.0], [0.0, 1.0], [0.99], 0.5),  # q = 0
]

# tree_attention_mask: the parent of each node, which is listed before it. Chains and branches, then
# trees in which a node must not see one that is listed before it, then the smallest and a deep one.
UPWARDS = [
    *([-1, 0, 1], [-1, 0, 1, 2, 3, 4], [-1, -1, 0, 0, 1, 2], [-1, 0, 0, 2, 3], [-1, -1, 1, 2, 3]),
]
OTHER_BRANCHES = [
    [-1, -1, -1, -1],
    [-1, -1, 0, 1, 0, 1],
    [-1, 0, 0, 0],
    [-1, -1, 1, 0, 2, 3, 2],
    [-1, 0, -1, 2, 1, 3, 5, 4],
    *([int(np.random.default_rng(seed).integers(-1, i)) for i in range(12)] for seed in (3, 4)),
]
MASK_EDGES = [[], [-1], [-1, -1], [-1, *range(63)]]

# walk_tree: rows of p and q for three tokens, all different, so that a row too far is seen. In the
# test of the law row 0 follows the text and row t + 1 follows token t.
ROWS_P = np.array([[0.3, 0.6, 0.1], [0.5, 0.2, 0.3], [0.1, 0.3, 0.6], [0.2, 0.5, 0.3]])
ROWS_Q = np.array([[0.2, 0.05, 0.75], [0.3, 0.6, 0.1], [0.6, 0.3, 0.1], [0.3, 0.2, 0.5]])
# The tokens of children of the text, a coin for each, and u.
ONE_LEVEL = [
    ([0], [0.5], 0.1),
    ([2], [0.1], 0.5),
    ([2], [0.9], 0.5),
    ([2, 0], [0.9, 0.5], 0.5),
    ([2, 0], [0.5, 0.9], 0.5),
    ([2, 2, 0], [0.9, 0.1, 0.5], 0.3),
    ([2, 0, 1], [0.9, 0.99, 0.9], 0.3),
    ([2, 2], [0.9, 0.2], 0.1),
    ([0, 2], [0.99, 0.1], 0.95),
]
DOWNWARDS = [  # parents, tokens, coins, u
    ([-1, 0, 1], [0, 0, 2], [0.5, 0.5, 0.5], 0.4),
    ([-1, 0, 1], [0, 1, 2], [0.5, 0.9, 0.1], 0.4),
    ([-1, 0, 1], [2, 0, 2], [0.9, 0.1, 0.1], 0.4),
    ([-1, -1, 0, 1], [2, 1, 0, 2], [0.9, 0.5, 0.1, 0.2], 0.6),
    ([-1, -1, 0, 0, 1, 1], [0, 1, 1, 0, 2, 2], [0.9, 0.9, 0.9, 0.9, 0.1, 0.1], 0.2),
    ([-1, -1, 0, 0, 1, 1], [2, 0, 1, 0, 1, 0], [0.9, 0.6, 0.1, 0.1, 0.9, 0.2], 0.75),
    ([-1, 0, 0, 2, 1], [1, 1, 0, 2, 0], [0.9, 0.9, 0.2, 0.4, 0.1], 0.9),
    ([-1, -1, 1, 0, 2, 3], [2, 0, 0, 1, 2, 1], [0.9, 0.2, 0.5, 0.1, 0.3, 0.1], 0.5),
    # The second child is accepted, and the coin of its child is not the next one in the list.
    ([-1, -1, 0, 1], [2, 0, 1, 0], [0.9, 0.5, 0.1, 0.9], 0.6),
    ([-1, -1, 0, 0, 1], [2, 0, 1, 1, 0], [0.9, 0.5, 0.9, 0.9, 0.1], 0.9),
]
WALK_LAWS = [[-1, -1], [-1, 0], [-1, -1, 0], [-1, 0, 0]]  # parents of at most three nodes
WALK_EDGES = [
    ([], [], [], 0.1),
    ([], [], [], 0.5),
    ([-1], [0], [0.1], 0.6),  # a leaf
    ([-1, 0, 1, 2], [1, 0, 2, 1], [0.5, 0.1, 0.1, 0.1], 0.9),  # a long chain
    ([-1, -1, 0, 1], [1, 1, 0, 2], [0.5, 0.5, 0.1, 0.1], 0.1),  # twins, of which one is accepted
    ([-1, -1, 0, 1], [2, 2, 0, 2], [0.9, 0.0, 0.1, 0.1], 0.2),  # twins, both rejected
]

# map_draft: q, the target id of each draft token, and the size of the target's vocabulary. First
# all are shared, then some are not, then two draft tokens have one id.
MOVED = [
    ([0.5, 0.3, 0.2], [2, 0, 1], 3),
    ([0.5, 0.3, 0.2], [1, 2, 0], 3),
    ([0.1, 0.9], [3, 1], 5),
    ([0.25, 0.75], [5, 0], 6),
    ([0.1, 0.2, 0.3, 0.4], [0, 1, 2, 3], 4),
]
SHARED = [
    ([0.5, 0.3, 0.2], [2, -1, 0], 4),
    ([0.5, 0.25, 0.25], [-1, 1, 2], 3),
    ([0.9, 0.1], [-1, 0], 3),
    ([0.2, 0.2, 0.2, 0.4], [3, -1, -1, 1], 4),
    ([0.5, 0.125, 0.375], [-1, 4, 0], 5),
    ([0.999, 0.001], [-1, 1], 2),  # little is shared
]
ADDED = [
    ([0.25, 0.25, 0.5], [1, 1, 0], 2),
    ([0.1, 0.2, 0.3, 0.4], [2, 2, 2, 0], 3),
    ([0.25, 0.2, 0.25, 0.3], [1, -1, 1, 2], 3),
    ([0.2, 0.3, 0.1, 0.4], [0, -1, 0, -1], 2),
]
NOTHING_SHARED = [
    ([0.5, 0.5], [-1, -1], 3),
    ([1.0, 0.0], [-1, 2], 4),  # an id without mass
    ([0.0, 0.6, 0.4], [1, -1, -1], 2),
]
ONE_SHARED = [([1.0, 0.0], [2, -1], 4), ([0.0, 0.6, 0.4], [-1, 1, -1], 2)]
MAP_FORMS = [([0.25, 0.75], [0, 1], 2), ([0.5, 0.25, 0.25], [0, -1, 2], 3)]

# expected_experts: tokens, experts, and how many of them each token chooses: above 1 token and
# below all experts in the first list.
EXPERTS = [
    *((2, 8, 2), (3, 8, 2), (5, 8, 2), (4, 128, 8), (5, 256, 8), (64, 64, 6), (9, 4, 1), (2, 4, 3)),
]
EXPERTS_EDGES = [
    *((0, 8, 2), (0, 4, 4), (1, 8, 2), (1, 256, 8), (6, 5, 5), (3, 1, 1), (400, 8, 2)),
]
