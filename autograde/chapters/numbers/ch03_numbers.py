"""Numbers of the hidden tests of chapter 03. The tests compute what they expect from them.

A probability is not below 0, every distribution sums to 1, and p and q have as many tokens.
docs/instructor.md says how to change them.
"""

import numpy as np

from autograde.chapters.distributions import pairs
from specdec_lib.lessons.ch03.rules import (
    coarse_coin,
    from_target,
    one_coin,
    published_rule,
    right_rule,
)

# A target and a draft: each has more of two tokens, and the draft's favourite is one of its own.
P = np.array([0.45, 0.30, 0.15, 0.10])
Q = np.array([0.30, 0.45, 0.20, 0.05])
SAME_PAIRS = [(P, P.copy()), (np.array([0.0, 1.0, 0.0]), np.array([0.0, 1.0, 0.0]))]  # p is q
APART = (np.array([0.25, 0.75, 0.0]), np.array([0.0, 0.0, 1.0]))  # no token is shared
# Tokens with p alone 0, q alone 0 and both 0.
ZEROS = (np.array([0.0, 0.5, 0.5, 0.0]), np.array([0.0, 0.25, 0.0, 0.75]))

# total_variation, acceptance_rate and two_paths: pairs of p and q.
VARIATION_PAIRS = [(P, Q), (Q, P), *pairs(2, 5, 40, seed=31), ZEROS]
VARIATION_ENDS = [*SAME_PAIRS, APART]
RATE_PAIRS = [(P, Q), (Q, P), *pairs(2, 5, 40, seed=32)]
RATE_ENDS = [*SAME_PAIRS, APART, ZEROS]
ACCEPTED_PAIRS = [(P, Q), (Q, P), ZEROS, *pairs(2, 6, 30, seed=33)]
CORRECTED_PAIRS = [(P, Q), (Q, P), ZEROS, APART, *pairs(2, 6, 30, seed=34)]
PATHS_ENDS = [*SAME_PAIRS, APART, (P, Q)]

# argmax_draft_law: pairs of p and q. Here p is below q on the draft's favourite in most of them.
ARGMAX_PAIRS = [
    (P, Q),
    ([0.5, 0.5], [0.6, 0.4]),
    ([0.6, 0.4], [0.8, 0.2]),
    *pairs(3, 8, 8, 20, seed=36),
]
ARGMAX_ACCEPTED = [  # p is not below q on the draft's favourite
    ([0.6, 0.4], [0.55, 0.45]),
    ([0.1, 0.2, 0.7], [0.3, 0.3, 0.4]),  # the favourite is the last token
    (Q, P),
    ([0.25, 0.25, 0.5], [0.25, 0.25, 0.5]),  # equal
    ([1.0, 0.0], [1.0, 0.0]),  # equal, on one token
]
ARGMAX_EDGES = [
    ([0.2, 0.3, 0.5], [0.4, 0.4, 0.2]),  # two favourites
    ([0.5, 0.2, 0.3], [0.25, 0.375, 0.375]),  # two favourites further on
    ([0.0, 0.5, 0.5], [0.5, 0.25, 0.25]),  # p = 0 on the favourite
    ([0.0, 1.0, 0.0], [0.75, 0.0, 0.25]),  # q = 0 where p is 1
]

# warp: logits without ties; no top_p equals a mass that a token finds before it.
LOGITS = np.array([1.5, -0.5, 2.0, 0.25, 1.0, -2.0])
TEMPERATURES = [1.0, 0.5, 3.0, 0.01]  # above 0
SHIFTS = [0.0, 900.0, -900.0]  # added to all logits: exp overflows, or gives 0 throughout
ZERO_TEMPERATURE = [LOGITS, np.array([0.0, 3.0, 3.0]), np.array([-1.0, -2.0])]  # one has a tie
ZERO_STEPS = [(0.0,), (0, 2, 0.9)]  # the temperature 0, alone and with top_k and top_p
BELOW_ZERO = [-0.5, -1e-9]
FILTERS_AT = 1.0  # the temperature where one filter alone is looked at
TOP_K = [1, 2, 3, 5, 6, 0, None]  # some, all, no filter
TIED = np.array([-1.6, -1.2, -1.6, -1.6, -2.3])  # three equal ones in second place
TIED_TOP_K = [1, 2, 3]  # before the tie, and in it
SPREAD = np.array([-3.0, -0.92, -2.3, -1.39, -1.61])  # in no order; about 0.4 for the largest
TOP_P = [0.3, 0.55, 0.8, 0.9, 0.97, 0.01, 0.0, 1.0, 1.5, None]  # 1 to all tokens; no filter
EQUAL = np.full(4, 0.5)  # as many as a power of 2
EQUAL_TOP_P = [0.3, 0.2, 0.6, 0.5]  # some tokens stay, and not all
# The tokens, a power of 2, are equal, and top_p is a multiple of one's probability, below 1.
REACHED = [(4, 0.5), (4, 0.25), (4, 0.75), (2, 0.5)]
# Temperature, top_k and top_p: in another order, other tokens stay.
ORDERS = [
    (2.0, 4, 0.7),
    (0.5, 3, 0.9),
    (4.0, None, 0.5),
    (0.25, 3, 0.8),
    (1.0, 2, 0.6),
    (3.0, 3, 0.75),
]

# is_lossless: pairs whose ratios p/q, and the sums of whose residual from the left, are multiples
# of 1/64. Of GRID and SPLIT those of q/p, q - p, |p - q|, p and q are, too.
GRID = (np.array([0.375, 0.25, 0.125, 0.25]), np.array([0.1875, 0.5, 0.0625, 0.25]))
SPLIT = (np.array([0.125, 0.34375, 0.53125]), np.array([0.5, 0.25, 0.25]))  # one_coin is seen
TWO = (np.array([0.25, 0.75]), np.array([0.5, 0.5]))  # one_coin is exact, from_target is not
SAME = (TWO[0], TWO[0].copy())  # p is q: from_target is exact
# 64 p/q is a whole, odd number: a count in 32 squares is wrong.
ODD = (np.array([33 / 128, 0.5, 31 / 128]), np.array([0.5, 0.5, 0.0]))
# p and q are so near each other that coarse_coin is off by less than 0.001.
QUIET = (np.array([0.5, 0.25, 0.21875, 0.03125]), np.array([0.46875, 0.25, 0.21875, 0.0625]))
EXACT_PAIRS = [GRID, SPLIT]
JUDGED = [  # a rule that is exact on one pair is not on another
    (from_target, SAME),
    (from_target, TWO),
    (one_coin, TWO),
    (one_coin, SPLIT),
    (right_rule, ODD),
    (published_rule, ODD),
    (coarse_coin, ODD),
    (right_rule, QUIET),
]
COARSE_PAIRS = [QUIET]
ONE_CELL_PAIRS = [GRID, SPLIT, TWO]

# impostor: the seeds of its 200,000 samples: two, since the card says two. The solution hides.
SEEDS = [0, 1]
BIAS_SEEDS = [0]
