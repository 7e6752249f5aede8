"""Numbers of the hidden tests of chapter 02. The tests compute what they expect from them.

A probability is above 0 where nothing else is said, every row sums to 1, and every coin and every
uniform number is below 1. docs/instructor.md says how to change them.
"""

import numpy as np

from autograde.chapters.laws import LARGEST, pairs

# A target and a draft, which most cases use: of four tokens the draft understates 0 and 3, and
# overstates 1 and 2, of which 1 has the smaller ratio.
P = np.array([0.45, 0.30, 0.15, 0.10])
Q = np.array([0.30, 0.45, 0.20, 0.05])

# acceptance_probability: pairs of distributions; and -log2 of a draft's tiny probability, whose
# target has 2**-TINY: some ratios below 1, then one above 1 and one below.
RATIO_PAIRS = pairs(2, 5, 9, seed=11)
TINY = 40
TINY_BELOW_1 = [38, 39]
TINY_AROUND_1 = [42, 38]

# p and q with, for tokens 0 to 3: p alone 0, q alone 0, both 0, both above 0.
ZEROS_P = np.array([0.0, 0.75, 0.0, 0.25])
ZEROS_Q = np.array([0.5, 0.0, 0.0, 0.5])

# speculative_accept: for each draft token p, then q, then the coin.
BLOCK = [5, 2, 3]
ACCEPT_BY_RATIO = [
    ([0.5, 0.1, 0.6], [0.4, 0.5, 0.3], [0.7, 0.6, 0.1]),  # the second is rejected
    ([0.5, 0.6, 0.7], [0.4, 0.5, 0.3], [0.99, 0.98, 0.97]),  # the target has more of all
    ([0.1, 0.6, 0.7], [0.5, 0.5, 0.3], [0.9, 0.1, 0.1]),  # the first is rejected
    ([0.25, 0.2, 0.3], [0.5, 0.5, 0.4], [0.3, 0.2, 0.7]),  # small coins
    ([0.25, 0.2, 0.3], [0.5, 0.5, 0.4], [0.3, 0.45, 0.1]),  # a coin between p and p/q
    ([0.3, 0.2, 0.3], [0.5, 0.5, 0.4], [0.55, 0.38, 0.8]),  # the last is rejected
    ([0.02, 0.2, 0.3], [0.5, 0.5, 0.4], [0.05, 0.1, 0.1]),  # a ratio below 0.1: there is no floor
    ([0.01, 0.2, 0.3], [0.5, 0.5, 0.4], [0.015, 0.1, 0.8]),  # a rare token stays
    ([0.5, 0.6, 0.7], [0.4, 0.5, 0.3], [LARGEST, LARGEST, LARGEST]),
]
# The first rejection: draft tokens that all have the same p and q, and coins on both sides of p/q.
STOPS_BLOCK = [0, 1, 4, 3, 2, 5, 0, 1]
STOPS_P, STOPS_Q = 0.3, 0.5
STOPS = [
    [0.5, 0.9, 0.1, 0.1],
    [0.9, 0.1, 0.1, 0.1],
    [0.1, 0.1, 0.9, 0.1],
    [0.1, 0.1, 0.1, 0.1],
    [0.1] * 8,
]
# One token three times: p, q and coins of which one differs from place to place.
SAME_TOKEN = [1, 1, 1]
ROW_BY_ROW = [
    ([0.3, 0.3, 0.3], [0.5, 0.5, 0.5], [0.5, 0.9, 0.5]),
    ([0.3, 0.3, 0.3], [0.5, 0.5, 0.5], [0.1, 0.59, 0.61]),
    ([0.4, 0.1, 0.4], [0.5, 0.5, 0.5], [0.5, 0.5, 0.5]),
    ([0.3, 0.3, 0.3], [0.3, 0.6, 0.9], [0.4, 0.4, 0.4]),
    ([0.2, 0.4, 0.6], [0.2, 0.4, 0.9], [0.6, 0.6, 0.6]),
]
ZERO = np.array([0.0, 0.5, 0.5])
HALF = np.array([0.5, 0.25, 0.25])
ACCEPT_EDGES = [
    ([0, 1], [ZERO, HALF], [HALF, HALF], [0.0, 0.0]),  # p = 0, r = 0
    ([1, 0], [HALF, HALF], [[0.5, 0.0, 0.5], HALF], [0.9, 0.5]),  # q = 0
    ([1, 0], [HALF, ZERO], [HALF, ZERO], [0.9, 0.0]),  # p = q = 0
    ([1], [HALF], [[0.25, 0.5, 0.25]], [0.4999999]),  # just below the ratio
    ([1], [HALF], [[0.25, 0.5, 0.25]], [0.5000001]),  # just above the ratio
    ([1], [HALF], [[0.25, 0.5, 0.25]], [0.0]),
    ([], np.zeros((0, 3)), np.zeros((0, 3)), []),
]

# residual_distribution: p and q.
RESIDUAL = [(P, Q), (Q, P), (np.array([0.5, 0.25, 0.25]), np.array([0.25, 0.75, 0.0]))]
RESIDUAL_PAIRS = pairs(2, 3, 5, 8, 17, 40, seed=5)
RESIDUAL_EDGES = [
    (P, P.copy()),
    (np.array([0.0, 1.0, 0.0]), np.array([0.0, 1.0, 0.0])),
    (np.array([0.25, 0.75, 0, 0]), np.array([0, 0, 0.5, 0.5])),  # nothing is shared
    (np.array([0.5, 0.5, 0.0]), np.array([0.0, 0.5, 0.5])),  # half is shared
    (np.array([0.5 + 2**-20, 0.5 - 2**-20]), np.array([0.5, 0.5])),  # nearly equal
]
RESIDUAL_FORMS = [(P, P.copy()), (P, Q)]

# correct_token: a uniform number that is given where the coin alone should decide; a coin that
# rejects the token of the smallest ratio of P and Q, uniform numbers for its replacement, and how
# far others are from the first cut of the residual, on both sides.
UNUSED_U = 0.9
REJECTING = 0.9
REPLACING = [0.0, 0.3, 0.45, 0.99]
BESIDE_A_CUT = [-0.01, 0.01]
CORRECT_PAIRS = [(P, Q), (Q, P), (P, P), *pairs(2, 3, 5, seed=23)]
CORRECT_EDGES = [  # p, q, the draft token, r, u
    (np.array([0.0, 0.5, 0.5]), HALF, 0, 0.0, 0.9),  # p = 0, r = 0
    (np.array([0.5, 0.0, 0.5]), HALF, 1, 0.0, 0.2),
    (HALF, np.array([0.5, 0.0, 0.5]), 1, 0.99, 0.2),  # q = 0
    (HALF, HALF, 2, 0.999, 0.1),
    (HALF, HALF, 2, LARGEST, 0.1),
    (HALF, np.array([0.25, 0.5, 0.25]), 1, 0.0, 0.9),  # r = 0
    (np.array([0.0, 0.5, 0.5]), HALF, 0, 0.9, 0.0),  # u = 0
    (np.array([0.5, 0.25, 0.25, 0]), np.array([0.25, 0, 0.25, 0.5]), 3, 0.9, 0.5),  # u at a cut
]

# speculative_step: the draft tokens, the rows of p (one more) and q, the coins, u.
FLAT = np.array([0.25, 0.25, 0.25, 0.25])
STEP_CORRECTS = [
    ([0, 1], [P, P, FLAT], [Q, Q], [0.5, 0.9], 0.8),
    ([1, 1], [P, P, FLAT], [Q, Q], [0.7, 0.1], 0.5),
    ([0, 2, 1], [P, Q, P, FLAT], [Q, P, Q], [0.9, 0.2, 0.7], 0.9),
    ([0, 0, 1], [P, Q, P, FLAT], [Q, P, Q], [0.9, 0.7, 0.1], 0.1),
    ([0, 0, 1], [P, Q, P, FLAT], [Q, P, Q], [0.9, 0.7, 0.1], 0.8),
]
BONUS_BLOCK = [0, 1]
STEP_BONUS = [  # row K of p, the coins of BONUS_BLOCK, u; in the last case a token is rejected
    ([0.0, 0.0, 1.0, 0.0], [0.5, 0.5], 0.5),
    ([0.0, 0.5, 0.0, 0.5], [0.5, 0.5], 0.6),
    (FLAT, [0.5, 0.5], 0.3),
    (Q, [0.5, 0.5], 0.96),
    (FLAT, [0.5, 0.9], 0.8),
]
# How many tokens of LONGEST_BLOCK are drafted, at most all of it; its tokens are accepted by the
# coin, and u picks from a last row that makes one token certain.
LONGER_BLOCKS = [3, 5]
LONGEST_BLOCK = [0, 3, 0, 3, 0]
ACCEPTING, CERTAIN_LAST, LAST_U = 0.9, [0.0, 0.0, 1.0, 0.0], 0.5
# Models of three tokens: row t follows token t, the last row follows the empty text.
TARGET = np.array([[0.5, 0.3, 0.2], [0.1, 0.6, 0.3], [0.25, 0.25, 0.5], [0.4, 0.4, 0.2]])
DRAFT = np.array([[0.3, 0.3, 0.4], [0.4, 0.2, 0.4], [0.25, 0.5, 0.25], [0.2, 0.3, 0.5]])
STEP_EDGES = [
    ([], [P], [], [], 0.5),
    ([], [FLAT], [], [], 0.99),
    ([0], [[0.0, 0.5, 0.5, 0.0], FLAT], [FLAT], [0.0], 0.9),  # p = 0, r = 0
    ([2], [P, FLAT], [P], [0.999], 0.1),  # equal models
    ([1], [FLAT, FLAT], [[0.5, 0.0, 0.25, 0.25]], [0.9], 0.3),  # q = 0
    ([1], [[0.5, 0.25, 0.25, 0.0], FLAT], [[0.25, 0.5, 0.25, 0.0]], [0.0], 0.3),  # r = 0
    ([0], [[0.0, 0.5, 0.5, 0.0], FLAT], [[0.5, 0.25, 0.25, 0.0]], [0.9], 0.0),  # u = 0
    ([2], [[0.49, 0.49, 0.01, 0.01], FLAT], [FLAT], [0.08], 0.9),  # a ratio below 0.1
    ([0], [P, FLAT], [Q], [LARGEST], 0.1),
]
