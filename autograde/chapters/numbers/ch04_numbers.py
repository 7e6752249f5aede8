"""Numbers of the hidden tests of chapter 04. The tests compute what they expect from them.

alpha is from 0 to 1, c is not below 0, and a token is a whole number below its vocabulary's size.
docs/instructor.md says how to change them.
"""

import numpy as np

# expected_accepted and expected_tokens: alpha and k. No two formulas agree on all of MEANS.
MEANS = [(0.5, 1), (0.5, 2), (0.25, 3), (0.7, 5), (0.9, 2), (0.3, 8), (0.95, 30), (0.834, 5)]
MEANS_ENDS = [  # alpha is 0 or 1, or k is 0; the last is neither
    *((0.0, 1), (0.0, 5), (1.0, 1), (1.0, 5), (1.0, 20), (0.7, 0), (0.0, 0), (1.0, 0)),
    (0.5, 3),
]

# walltime_speedup: alpha, c, k; then alpha, c, k and v above 0.
SPEEDUPS = [
    *((0.5, 0.1, 2), (0.7, 0.02, 8), (0.8, 0.05, 5), (0.75, 0.0, 3), (0.62, 0.02, 7)),
    (0.9, 0.3, 1),
]
SPEEDUPS_WITH_V = [  # v is not 1
    *((0.5, 0.1, 2, 1.3), (0.8, 0.05, 5, 2.0), (0.7, 0.0, 3, 1.25), (0.6, 0.2, 4, 0.9)),
]
SPEEDUPS_ENDS = [
    *((0.0, 0.1, 5, 1.0), (0.3, 0.1, 5, 1.0), (0.05, 0.3, 1, 1.0)),  # below 1
    *((1.0, 0.1, 5, 1.0), (1.0, 1.0, 4, 1.0)),  # all is accepted
    *((0.7, 0.1, 0, 1.0), (0.7, 0.1, 0, 1.25)),  # no draft token
]


def tied(alpha: float) -> tuple[float, float]:
    """alpha, and the c with which one draft token is as fast as two, on paper."""
    return alpha, alpha**2 / (1 + alpha - alpha**2)


# best_k: alpha, and c above 0. But for TIES no two K are equally fast.
BEST_UP_TO = 60  # k_max, above all best K
BEST = [
    *((0.7, 0.01), (0.7, 0.02), (0.7, 0.05), (0.7, 0.1), (0.7, 0.2)),  # one alpha, several c
    *((0.9, 0.02), (0.9, 0.2), (0.95, 0.02), (0.5, 0.1)),
]
NONE_PAYS_UP_TO = 20
NONE_PAYS = [  # alpha is not above c, but in one
    *((0.05, 0.3), (0.0, 0.1), (0.3, 0.31), (0.3, 0.29), (0.9, 1.0)),
]
TIES_UP_TO = 12
TIES = [
    *map(tied, (0.5, 0.25, 0.75, 0.375)),  # rounding puts the larger K first in one at least
    *((0.5, 0.5), (0.3, 0.3), (1.0, 1.0)),  # alpha is c: as fast as none
    (0.5, 0.1),  # no tie
]
K_MAX = [  # alpha, c, k_max, which is below the best K of most, equal to it, and above
    *((0.9, 0.01, 10), (0.9, 0.01, 1), (1.0, 0.1, 20)),
    *((0.7, 0.1, 3), (0.7, 0.1, 4), (0.7, 0.1, 50), (0.99, 0.001, 90)),
]

# prompt_lookup: tokens and k.
LATEST = [  # all but one have three earlier occurrences, with other tokens behind them
    ([4, 5, 6, 9, 5, 6], 3),
    ([1, 2, 7, 1, 2, 8, 1, 2, 9, 1, 2], 1),
    ([1, 7, 1, 8, 1, 9, 1], 2),
    ([3, 0, 5, 3, 0, 3, 0, 4, 3, 0], 2),
    ([0, 0, 1, 0, 2, 0], 2),
]
LONGEST = [  # with max_ngram: a shorter suffix stands later than a longer one, and more often
    ([1, 2, 3, 7, 2, 3, 8, 2, 3, 5, 3, 9, 1, 2, 3], 1, 3),
    ([1, 2, 3, 7, 2, 3, 8, 2, 3, 5, 3, 9, 1, 2, 3], 1, 2),
    ([1, 2, 3, 7, 2, 3, 8, 2, 3, 5, 3, 9, 1, 2, 3], 1, 1),
    ([1, 2, 3, 4, 7, 9, 2, 3, 4, 8, 2, 3, 4, 6, 1, 2, 3, 4], 1, 3),
    ([1, 2, 3, 4, 7, 9, 2, 3, 4, 8, 2, 3, 4, 6, 1, 2, 3, 4], 1, 4),
    ([5, 6, 9, 4, 6], 2, 3),  # only the suffix of one token is found
    ([5, 9, 5], 2, 10),  # max_ngram is more than the text has
]
FOLLOWING = [
    ([7, 7, 7], 2),  # an occurrence that overlaps the suffix; fewer than k follow
    ([7, 7, 7, 7, 7, 7], 3),
    ([1, 2, 1, 2, 1, 2], 4),
    ([5, 6, 5], 8),
    ([3, 1, 4, 1, 5, 9, 2, 6, 3, 1, 4], 4),  # more than k follow
    ([3, 1, 4, 1, 5, 9, 2, 6, 3, 1, 4], 2),
    ([3, 1, 4, 1, 5, 9, 2, 6, 3, 1, 4], 50),
    ([2, 4, 2, 6, 6, 6, 6, 2, 5, 2], 3),  # the latest of several has fewer than k behind it
]
NOTHING = [  # the last token stands nowhere else, or k is 0; two have something to find
    *(([1, 2, 3], 2), ([], 3), ([4], 3), ([9, 9, 8], 3), ([1, 2, 1, 2], 0)),
    *(([1, 2, 1, 2], 1), ([0, 5, 0], 2)),
]

# bigram_probs: tokens and the size of their vocabulary.
TEXT = [0, 1, 2, 0, 1, 1, 3, 0, 1, 2, 2, 0]  # one pair occurs more than once
BIGRAMS = [
    *(([0, 1, 0, 1, 1], 2), (TEXT, 4), (TEXT, 6), ([2, 0, 2, 0, 2, 1], 3), ([1, 1, 1, 1, 0], 2)),
]
ONCE = [0, 1, 2, 0, 3, 1, 1, 4]  # no pair occurs twice: who counts each pair once is right here
ONCE_SIZE = 5
SMOOTHINGS = [0.5, 0.01, 3.0, 1.0]  # above 0
BIGRAMS_EDGES = [  # with the smoothing: rows without mass if it is 0, and texts without a pair
    *(([0, 1], 2, 0.0), (ONCE, 6, 0.0), ([], 3, 1.0), ([2], 3, 0.0), ([2], 3, 1.0)),
    *(([3, 3], 4, 0.0), ([0, 1, 1], 2, 0.0)),
]


def logits(*shape: int, seed: int, step: float = 0.25) -> np.ndarray:
    """Random logits, multiples of `step`: bfloat16 holds those of 0.25 exactly."""
    return step * np.random.default_rng(seed).integers(-10, 11, shape).astype(float)


# distillation_loss: logits of the target and of the draft.
LOG_P, LOG_Q = np.array([[-0.8, -1.2, -1.9, -2.3]]), np.array([[-1.2, -0.8, -1.6, -3.0]])
LOSSES = [  # at one position
    (LOG_P, LOG_Q),
    (LOG_P + 2.5, LOG_Q - 4.0),  # shifted
    (LOG_P, LOG_P + 1.0),  # equal
    (np.array([[40.0, 0.0, 0.0]]), np.array([[0.0, 40.0, 0.0]])),  # nothing is shared
    (logits(1, 5, seed=1), logits(1, 5, seed=2)),
    (logits(1, 40, seed=3), logits(1, 40, seed=4)),
]
SHAPES = [(2, 3), (3, 3), (4, 7), (1, 9, 3), (3, 2, 5), (2, 6, 11)]  # several positions
POSITIONS = [(logits(*s, seed=sum(s)), logits(*s, seed=sum(s) + 100)) for s in SHAPES]
# Other steps for the draft, so that no p equals its q: the loss has no gradient there.
GRADIENTS = [
    (LOG_P, LOG_Q),
    (logits(3, 4, seed=5), logits(3, 4, seed=6, step=0.3)),
    (logits(2, 3, 5, seed=7), logits(2, 3, 5, seed=8, step=0.3)),
]
# Held by bfloat16 exactly; a loss in bfloat16 is off by more than 1e-6.
NARROW = [(logits(*s, seed=11), logits(*s, seed=12)) for s in [(6, 8), (2, 5, 16), (3, 300)]]
