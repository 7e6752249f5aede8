"""Numbers of the hidden tests of chapter 01. The tests compute what they expect from them.

Tokens are below V where nothing else is said, and every uniform number is in [0, 1). A seed makes a
model that looks at all tokens before a position. docs/instructor.md says how to change them.
"""

import numpy as np

from autograde.chapters.distributions import LARGEST

V = 6  # at least 6: the cases below use tokens 0 to 5

# draft_block: the draft's seed; prefix and one uniform number for each token that is drafted. The
# first block has one token, the others more; numbers from NOT_MODIFIED on test the prefix too.
DRAFT_SEED = 3
BLOCKS = [
    ([3], [0.4]),
    ([0, 5], [0.2, 0.95, 0.5]),
    ([1, 1, 4], [0.9, 0.1, 0.6, 0.3]),
    ([2, 0, 3, 1], [0.75, 0.5, 0.99, 0.01, 0.35, 0.8]),
]
NOT_MODIFIED = BLOCKS[1:3]
# A draft with the same distribution everywhere, and the number that draws every token.
EDGE_PREFIX, EDGE_K = [2, 1], 2
DRAFT_EDGES = [
    ([0.0, 0.5, 0.5], 0.0),  # u = 0, first token impossible
    ([0.5, 0.5, 0.0], LARGEST),  # u just below 1, last token impossible
    ([0.25, 0.25, 0.5], 0.5),  # u is the sum of the first two
    ([0.0, 0.0, 1.0], 0.3),  # a certain token
]

# score_block: the target's seed; prefix and draft tokens, two or more of each but for one prefix.
SCORE_SEED = 7
SCORED = [
    ([4, 1], [2, 3, 0, 1]),
    ([0, 3, 3, 5, 2, 1], [4, 4]),
    ([2, 2, 2], [1, 0, 5, 5, 3, 2]),
    ([5], [0, 1, 2]),
]
ONE_PASS = SCORED[:3]
SCORE_EDGES = [([3], [1]), ([3], [5, 0]), ([0, 0], [0]), ([1, 4, 2], []), ([2], [])]

# greedy_prefix: the draft tokens and the target's choices, one more. Each choice has the
# probability HEIGHT, or each of HEIGHTS, which are above 0.3, the rest is spread over the others.
HEIGHT = 0.5
HEIGHTS = [0.9, 0.34]
PREFIX_COUNTS = [  # behind the first that is not the target's choice none is either
    ([2, 3, 0, 1], [2, 3, 0, 4, 1]),
    ([2, 3, 0, 1], [2, 3, 0, 1, 5]),
    ([1], [1, 1]),
    ([5, 0], [5, 1, 0]),
    ([5, 5, 5, 5, 5, 5], [5, 5, 5, 5, 5, 5, 0]),
]
PREFIX_STOPS = [  # behind the first that is not the target's choice some are, in most cases
    ([2, 3, 0, 1], [2, 4, 0, 1, 5]),
    ([2, 3, 0, 1], [5, 3, 0, 1, 5]),
    ([2, 3, 0, 1], [2, 3, 5, 1, 5]),
    ([4, 0, 4, 0], [4, 1, 4, 1, 4]),
    ([1, 2, 3], [0, 1, 2, 3]),
]
# Rows with two, four and two equal probabilities, the largest; draft tokens of which some are one
# of these and not the first of them.
TIE = np.array([[0.1, 0.4, 0.4, 0.1], [0.25, 0.25, 0.25, 0.25], [0.0, 0.5, 0.0, 0.5]])
TIED = [[1, 0], [2, 0], [1, 3], [1, 0, 1], [1, 0, 3]]
PREFIX_EDGES = [  # as many choices as draft tokens, many more, and no draft tokens
    ([0, 1], [0, 1]),
    ([0, 1], [0, 1, 2, 3, 4, 5]),
    ([], [3]),
]

# greedy_speculative_decode: the target's seed, the lengths of a text after which the draft chooses
# another token than the target, the prompt, k, the number of new tokens.
NEVER, ALWAYS, EVERY_SECOND = (), range(100), range(0, 100, 2)
DECODES = [
    (21, ALWAYS, [1, 2], 3, 7),
    (22, NEVER, [0], 4, 10),
    (23, (4, 7, 8, 13), [5, 3], 4, 12),
    (24, (3, 6), [2, 2, 4], 1, 8),  # k = 1
    (25, EVERY_SECOND, [3], 5, 11),
    (26, (9,), [4, 0, 1], 7, 15),  # a long block
    (27, (5, 9, 13), [1], 5, 14),  # the draft is off at its last token
]
# Seed, prompt and k where no token is asked for, with and without an eos.
NOTHING = (42, [1, 2], 3)
NOTHING_EOS = [None, 1]
# Where eos stands: a seed to begin with, the lengths at which the draft is off, the place of eos
# among the new tokens, from 0 on. eos is the token that the target writes there; if it writes that
# token before, another seed is taken. A place is below EOS_COUNT and may be in a later block.
EOS_PROMPT, EOS_K, EOS_COUNT = [1, 3], 4, 12
EOS_PLACES = [
    (31, NEVER, 1),  # inside a block
    (32, NEVER, 0),  # the first token
    (33, NEVER, 4),  # the bonus
    (34, (4,), 2),  # the correction: the draft is off behind the prompt and 2 tokens
    (35, NEVER, 7),  # inside the second block
    (36, NEVER, 3),  # the last draft token
    (37, ALWAYS, 3),  # with a poor draft
]
# A target that writes token 1, and token 0 where the text has the length that is given second; the
# tokens are 0, 1 and 2. The prompt, that length, eos.
PLAIN_K, PLAIN_COUNT = 4, 8
PLAIN_EOS = [
    ([1, 2], 4, 0),  # eos is token 0, and in the text
    ([0, 1], 5, 0),  # eos in the prompt too
    ([0], 50, 0),  # eos in the prompt only
    ([2, 0], 4, 2),  # eos is another token, which the target does not write
    ([1], 3, 1),  # eos at once
]
# The seed, the prompt and k of texts with a limit; the limits, some of them below k and some above
# k + 1; the lengths at which the draft is off.
LIMITED = (41, [2, 5], 4)
LIMITS = [1, 2, 3, 4, 5, 6, 9]
LIMITS_OFF = [NEVER, (5,)]
