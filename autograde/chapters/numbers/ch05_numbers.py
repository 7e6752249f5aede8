"""Numbers of the hidden tests of chapter 05. The tests compute what they expect from them.

A count of accepted tokens is from 0 to the block's length where nothing else is said, and a time is
above 0. docs/instructor.md says how to change them.
"""

from autograde.chapters.expected.ch05_expected import drawn_counts

# alpha_from_blocks: the accepted tokens of each block, and the length of the blocks.
BLOCKS = [
    ([4, 0, 2, 4, 1, 3], 4),  # the chapter's six blocks
    ([0, 1, 0, 2, 0], 5),  # no whole block
    ([1], 3),
    ([0, 0, 0, 4], 5),
    *(drawn_counts(blocks, k, seed=blocks) for blocks, k in ((7, 3), (30, 5), (200, 8))),
]
# Some blocks, or all, are whole, or could not be shorter.
WHOLE_BLOCKS = [([3, 3], 3), ([3, 3, 0], 3), ([1, 0, 1, 1], 1), ([0, 0], 1), ([5, 1, 5], 5)]
NOTHING_ACCEPTED = [([0], 1), ([0, 0, 0], 4)]  # k is at least 1
NOTHING_JUDGED = [([], 4), ([], 1)]  # no block
IMPOSSIBLE_COUNTS = [([2, 5], 4), ([5, 0, 0, 0, 0], 4), ([-1, 3], 4)]  # above k, or below 0
LIMITS = [([2, 4], 4), ([0, 3], 4)]  # with k among them, and with 0

# operations_factor: alpha and k of a draft that costs nothing; the first six are the paper's.
TABLE_1 = [(0.6, 2), (0.7, 3), (0.8, 2), (0.8, 5), (0.9, 2), (0.9, 10), (0.35, 4)]
FREE = 0.0  # the c_hat of such a draft
# alpha, c_hat above 0, and k.
DRAFT_OPERATIONS = [(0.5, 0.25, 2), (0.8, 0.007, 7), (0.62, 0.02, 5), (0.9, 1.0, 3), (0.75, 0.5, 1)]
OPERATIONS_ENDS = [
    (0.0, 0.1, 4),  # alpha = 0
    (1.0, 0.1, 4),  # alpha = 1
    (1.0, 0.0, 7),  # alpha = 1, c_hat = 0
    (0.7, 0.3, 0),  # K = 0
    (0.0, 0.0, 3),  # alpha = 0, c_hat = 0
    (0.5, 2.0, 3),  # c_hat above 1
]

# implied_alpha: alpha above 0 and below 1, the times of a target pass and of a draft step, and k.
# In one the draft's time is 0, in one k is 1.
IMPLIED = [
    (0.5, 5.0, 1.0, 2),
    (0.8, 14.1, 1.8, 4),
    (0.35, 1.0, 0.02, 7),
    (0.62, 0.03, 0.001, 5),
    (0.05, 2.0, 0.25, 3),
    (0.97, 2.0, 0.0, 8),
    (0.7, 1.0, 0.5, 1),
]
# Chen et al.: a target pass and a draft step in ms, and k; and ms a token, with which a block of
# these steps brings more than 1 and less than k + 1 tokens.
CHEN_STEPS = (14.1, 1.8, 4)
CHEN_TIMES = [7.52, 7.0, 5.73]
SPEEDUPS = [(0.75, 0.02, 7), (0.53, 0.04, 3)]  # alpha, c and k, where a target pass takes UNIT
UNIT = 1.0
END_STEPS = [(5.0, 1.0, 2), (14.1, 1.8, 4), (1.0, 0.11, 7)]  # target, draft, k: alpha is 0 or 1
NEAR_STEPS = (14.1, 1.8, 4)
NEAR = 5e-11  # tokens beyond an end: below 1e-9, and more than rounding
# Target, draft and k; times a token that are too long (the first two) and too short for them; and
# some alpha next to each end, of which the nearest is 5 to 20 millionths from it.
REFUSED_STEPS = (5.0, 1.0, 2)
REFUSED_TIMES = [8.0, 7.1, 2.0, 2.3]
NEXT_TO_ENDS = [0.01, 0.99, 5e-6, 1 - 5e-6]

# acceptance_by_class: a label for each token, of two tokens, of four, of eight: with a power of 2
# every mean is exact. Equal labels do not all stand together.
LABELS = ["name", "space", "name", "space", "space", "space"]
VERDICTS = [[1, 1, 0, 1, 1, 0], [0, 1, 1, 0, 0, 0], [1, 0, 1, 1, 1, 0]]  # 0 or 1 a token
MANY_LABELS = ["a"] * 8 + ["b", "c"] * 4 + ["d"] * 2
MANY_VERDICTS = [1, 0, 0, 0, 0, 0, 0, 0] + [1, 0, 1, 0, 1, 1, 0, 1] + [0, 1]
ALL_OR_NOTHING = [  # verdicts and labels; each has a label of which nothing was accepted
    ([0, 0], ["x", "x"]),
    ([1, 0, 0, 1], ["x", "y", "y", "x"]),
    ([0], ["rare"]),  # one token
    ([1, 0, 0], ["", "x", "x"]),  # an empty label
]
UNEQUAL_LISTS = [([1, 0], ["x"]), ([1], ["x", "y"]), ([], ["x"]), ([1, 1, 1], [])]
EQUAL_LISTS = [([1], ["x"]), ([], [])]  # one token, and none

# paired_speedup: seconds of the baseline and of the speculative runs. The ratios differ, but in one
# there is one pair.
RATIOS = [
    ([2.0, 8.0], [1.0, 1.0]),
    ([1.0, 1.0, 1.0], [0.5, 0.8, 0.4]),
    ([3.0, 1.5, 0.9, 2.2], [1.1, 1.0, 0.8, 0.7]),
    ([4.0], [2.5]),
]
CANCELLING = [  # the product of the ratios is 1, or some of them cancel
    ([2.0, 1.0], [1.0, 2.0]),
    ([1.0, 8.0, 1.0], [2.0, 1.0, 4.0]),
    ([10.0, 0.1, 27.0], [1.0, 1.0, 1.0]),
    ([2.0, 1.0, 1.0], [1.0, 2.0, 8.0]),
]
UNEQUAL_TEXTS = [
    ([1.0, 1.0], [1.25, 1.6]),  # slower
    ([100.0, 1.0], [50.0, 1.0]),  # one long text
    ([1.0, 100.0, 2.0], [2.0, 80.0, 0.8]),  # a long text in the middle
]
# The ratio of all pairs, and their number: a product of so many is more or less than a float holds.
MANY_PAIRS = [(8.0, 2000), (0.125, 2000), (1.5, 3000)]
WITHOUT_PARTNER = [([], []), ([1.0, 2.0], [1.0]), ([1.0], [1.0, 2.0]), ([], [1.0])]
FEW_PAIRS = [([3.0], [1.5]), ([3.0, 1.0], [1.5, 0.5])]
