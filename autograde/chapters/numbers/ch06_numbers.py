"""Numbers of the hidden tests of chapter 06. The tests compute what they expect from them.

alpha and c are from 0 to 1, a coin is from 0 to below 1, and the length of a block is a whole
number from 0. docs/instructor.md says how to change them.
"""

import numpy as np

from autograde.chapters.distributions import LARGEST

# simulate_block: the coins of blocks at STOPS_ALPHA. In most of them a coin passes after one that
# fails, and no coin equals alpha.
STOPS_ALPHA = 0.7
STOPS = [
    [0.2, 0.6, 0.9, 0.1, 0.3],
    [0.9, 0.1, 0.1, 0.1],  # the first fails
    [0.1, 0.9, 0.1, 0.1],
    [0.1, 0.2, 0.3, 0.9],  # the last fails
    [0.9, 0.9, 0.9],  # all fail
    [0.1, 0.8, 0.1, 0.8, 0.1, 0.1, 0.1],
]
# One block of rising coins, and alphas that lie between them, one each.
RISING = [0.1, 0.2, 0.3, 0.4, 0.9]
ALPHAS = [0.05, 0.15, 0.25, 0.35, 0.45, 0.95]
# The length of a block and alpha: a block of PASSING coins is accepted whole, and not if its last
# coin is FAILING.
WHOLE = [(1, 0.5), (2, 0.5), (5, 0.5), (9, 0.5), (9, 0.41)]
PASSING, FAILING = 0.4, 0.99
BLOCK_EDGES = [  # alpha and the coins
    (0.5, [0.25, 0.5, 0.25]),  # a coin equals alpha
    (0.0, [0.0, 0.0]),
    (1.0, [LARGEST, LARGEST, 0.0]),
    (0.5, [0.0, 0.0, LARGEST]),
    (0.7, []),  # an empty block
    (np.float64(0.5), [0.25, 0.75]),  # NumPy's kind of number
]

# simulate_decode: blocks of DECODE_K coins of STREAM at DECODE_ALPHA. No coin equals alpha, some
# blocks are accepted whole and some not at all, and a right run takes at most 100 blocks.
DECODE_ALPHA, DECODE_C, DECODE_K = 0.75, 0.125, 4
STREAM = [
    *(0.25, 0.5, 0.875, 0.125),  # 2 are accepted
    *(0.8, 0.1, 0.2, 0.3),  # none
    *(0.5, 0.1, 0.6, 0.4),  # all
    *(0.7, 0.9, 0.0, 0.0),  # 1
    *(0.1, 0.2, 0.3, 0.9),  # 3
]
# n_tokens, so that STREAM is long enough. Some are met exactly, and UNCUT are exceeded.
COUNTS = [1, 3, 4, 9, 11, 15]
UNCUT = [2, 5, 8, 10, 12]
TIMES = [(0.0, 4), (0.125, 4), (0.5, 4), (0.25, 2), (1.0, 1)]  # c and K
TIME_TOKENS = 9
DRAWS = [
    (4, 9),
    (2, 9),
    (4, 3),
    (5, 12),
]  # K and n_tokens; in some block a coin fails before the last
DRAWS_C = 0.25
SEEDED = [(1, 0.6, 3), (2, 0.9, 8), (3, 0.3, 5)]  # the seed of a real generator, alpha and K
SEEDED_C, SEEDED_TOKENS = 0.25, 50
DECODE_EDGES = [  # alpha, K, n_tokens and the coins, enough for the run
    (0.75, 4, 0, []),  # nothing is wanted
    (0.0, 4, 3, [0.1] * 12),
    (1.0, 4, 10, [LARGEST] * 8),  # n_tokens are met exactly
    (1.0, 4, 11, [LARGEST] * 12),  # and exceeded
    (0.75, 0, 9, []),  # plain decoding
    (np.float64(0.5), np.int64(2), np.int64(3), [0.1, 0.2]),  # NumPy's kinds of numbers
]
EDGES_C = 0.25

# mixture_quantile: laws of the blocks of a request, from 0 blocks on. Each sums to 1, and the three
# first have quantiles of their own at most shares. Where a share is met exactly, all numbers are
# sums of powers of 2, so that no sum is rounded.
EASY, HARD, SLOW = [0, 0.5, 0.25, 0.25], [0, 0, 0, 0.5, 0.25, 0.25], [0, 0, 0, 0, 0, 0, 0.5, 0.5]
LIKE_EASY = [0, 0.25, 0.5, 0.25]  # at 2 blocks as many are finished as of EASY
CERTAIN = [0, 1.0]
EVEN = [0.5, 0.5]
TOGETHER = [  # two laws, with the weights EVEN, and a share
    ([EASY, HARD], 0.99),
    ([EASY, HARD], 0.7),
    ([EASY, HARD], 0.3),
    ([EASY, SLOW], 0.8),
    ([HARD, EASY], 0.9),
    ([HARD, SLOW], 0.6),
    ([EASY, LIKE_EASY], 0.7),  # that both kinds are finished is less likely than the share
]
WEIGHED = [  # laws, weights that are not equal, and a share
    ([EASY, HARD], [0.75, 0.25], 0.7),
    ([EASY, HARD], [0.25, 0.75], 0.7),
    ([EASY, HARD, SLOW], [0.5, 0.375, 0.125], 0.9),
    ([EASY, HARD, SLOW], [0.96875, 0.0, 0.03125], 0.95),
    ([SLOW, EASY], [0.0078125, 0.9921875], 0.99),
    ([EASY, SLOW], [0.9375, 0.0625], 0.99),
]
MIXTURE_EDGES = [
    ([EASY, HARD], [0.5, 0.5], 0.5),  # exactly the share
    ([EASY, HARD], [0.5, 0.5], 0.75),
    ([EASY, SLOW], [0.5, 0.5], 0.75),  # with the fewest blocks of the share, and a gap after them
    ([HARD], [1.0], 0.75),  # one kind
    ([HARD], [1.0], 0.76),
    ([CERTAIN, HARD], [0.25, 0.75], 0.25),  # laws of other lengths
    ([HARD, CERTAIN], [0.25, 0.75], 0.99),
    ([[0.5, 0.5], CERTAIN], [0.5, 0.5], 0.25),  # no block at all
]

# lockstep_tokens: alpha, K and the rows, of which there are several in WAITS.
WAITS = [
    *((0.5, 1, 2), (0.8, 5, 2), (0.8, 5, 8), (0.8, 2, 4)),
    *((0.95, 10, 16), (0.3, 3, 3), (0.99, 4, 64)),
]
ALONE = [(0.8, 5), (0.6, 2), (0.3, 8), (0.95, 20), (0.5, 1)]  # alpha and K
LOCKSTEP_EDGES = [
    *((0.0, 5, 4), (1.0, 5, 4), (1.0, 3, 1), (0.7, 0, 4), (0.0, 0, 1), (0.7, 1, 3)),
    (np.float64(0.5), np.int64(2), np.int64(2)),
]

# choose_k: of each load the seed, its phases (requests, their mean gap in ms, tokens of each) and
# alpha. "heavy" and "poor" meet the measured costs of short texts, with eight rows: plain decoding
# nearly falls behind. "light" meets the same costs, and few rows run. The others meet the computed
# costs of the small GPU: in a rush plain decoding nearly falls behind, and in waves long answers in
# the calm alternate with a rush.
LOADS = {
    "heavy": (21, [(120, 261, 32)], 0.7),
    "poor": (22, [(120, 261, 32)], 0.3),
    "light": (23, [(60, 4000, 32)], 0.7),
    "rush": (24, [(200, 5.5, 16)], 0.7),
    "waves": (25, [(30, 900, 64), (120, 5, 16)] * 2, 0.7),
    "other waves": (26, [(40, 900, 80), (200, 5.2, 16)], 0.7),
}
# Requests that wait, and rows that are free for them: no more than wait. At FULL_ALPHA one row
# alone is faster with drafts.
FULL = [(0, 0), (1, 1), (9, 0), (4, 2), (40, 7)]
FULL_ALPHA = 0.7
TAKEN_IN = [(12, 4), (1, 1), (7, 2), (15, 1)]  # who wait and who run: 16 at most in all
# Tokens in each cache, so many that 16 rows are faster with drafts at LONG_ALPHA; who wait and who
# run, 16 or more in all.
MUCH_TEXT, LONG_ALPHA = 4000, 0.8
LONG_FULL = [(0, 16), (12, 4), (30, 16)]
NEVER_RIGHT = [("long", 0, 1), ("much text", 4, 4)]  # the costs, who wait and who run; alpha is 0
# The ms of one row by K, from 0 on, and alpha. The shortest step, and the step of the most tokens
# in a ms if only whole blocks counted, have less than 0.85 times the most tokens in a ms.
ONE_ROW_COSTS = [
    ([10.0, 9.8, 10.2, 10.4, 10.6, 10.8, 11.0], 0.9),  # the shortest step has a draft token
    ([10.0, 10.1, 10.2, 10.3, 10.4, 10.5, 10.6, 10.7, 10.8], 0.6),  # draft tokens take little time
]
