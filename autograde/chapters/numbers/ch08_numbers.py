"""Numbers of the hidden tests of chapter 08. The tests compute what they expect from them.

A probability is in sixteenths or another fraction that a float holds exactly, every distribution
sums to 1, and every coin and every uniform number is below 1. A seed may be any whole number from
0 on; two tests that have the same seed have the same models. docs/instructor.md says how to change
them.
"""

from autograde.chapters.distributions import LARGEST

# rollback: the positions that the cache holds, and the length. Each length is from 1 on and at
# least once 2, 3 and more below the positions.
CUTS = [(14, 11), (9, 2), (6, 5), (3, 1), (40, 17)]
QUIET = [(14, 14), (1, 1), (0, 0), (8, 7)]  # as many as there are, but for the last: one fewer
# Too long by one and by more, below 0, on an empty cache, and all of them negative; the last is 0.
REFUSED = [(5, 6), (5, 12), (5, -1), (0, 1), (7, -7), (5, 0)]

# verify_block: a seed, rows and K of random blocks. One row with one draft token, one with more,
# then more rows with several draft tokens each.
BLOCKS = [(0, 1, 1), (1, 1, 4), (2, 6, 2), (3, 12, 3), (4, 5, 6), (5, 30, 4)]
TOKEN_BLOCKS = [(100, 1, 1), (101, 1, 4), (102, 6, 2), (103, 12, 3), (104, 5, 6), (105, 30, 4)]
FLOAT32 = (77, 40, 3)  # in single precision, with many rows
WORK_SEED, WORK_K = 9, 3
WORK_ROWS = [2, 64]  # few and many

# Single rows: p, one list more than there are draft tokens, then q, drafted, r and u.
EVEN = [0.5, 0.25, 0.25]
# Token 1 is rejected, and the residual is TINY times [1, 0, 2]: half precision loses it.
TINY = 2.0**-13
SMALL = ([[0.5 + TINY, 0.25 - 3 * TINY, 0.25 + 2 * TINY], EVEN], [EVEN], [1], [1 - 2 * TINY])
# The same with a residual that single precision loses; its cut is at 1/3.
TINIEST = 2.0**-48
FINE = (
    [[0.5 + TINIEST, 0.25 - 3 * TINIEST, 0.25 + 2 * TINIEST], EVEN],
    [EVEN],
    [1],
    [1 - 4 * TINIEST],
)
EDGES = [
    ([[0.25, 0.5, 0.25], EVEN], [EVEN], [0], [0.5], 0.5),  # both sides equal: rejected
    ([[0.0, 0.5, 0.5], EVEN], [EVEN], [0], [0.0], 0.75),  # p is 0 and r is 0
    ([[0.0, 0.5, 0.5], EVEN], [[0.0, 0.25, 0.75]], [0], [0.0], 0.1),  # p and q are 0
    ([EVEN, [0.0, 0.0, 1.0]], [[0.0, 0.5, 0.5]], [0], [LARGEST], 0.5),  # q is 0 and p is not
    ([EVEN, [0.25, 0.25, 0.5]], [EVEN], [0], [LARGEST], 0.6),  # p is q
    # p is q, at a token that is impossible, as the last one is not
    ([[0.0, 0.5, 0.5], EVEN], [[0.0, 0.5, 0.5]], [0], [0.5], 0.6),
    # u just below 1, and the last token has no residual
    ([[0.75, 0.25, 0.0], EVEN], [EVEN], [2], [0.0], LARGEST),
    ([EVEN, [0.25, 0.25, 0.5]], [EVEN], [1], [0.1], 0.5),  # u on a boundary of the bonus row
    ([[0.25, 0.25, 0.5]], [], [], [], 0.6),  # no draft token
    (*SMALL, 0.2),  # u below 1/3
    (*SMALL, 0.4),  # u between 1/3 and the share in p of the first token
    (*FINE, 0.4),
    (*FINE, 0.3333333),  # u just below the cut: nothing was added
    (*FINE, 0.33333334),  # u just above it: a law in double precision
    # a rejected token after an accepted one
    (
        [[0.5, 0.25, 0.25], [0.0, 0.5, 0.5], [0.0, 1.0, 0.0]],
        [EVEN, EVEN],
        [0, 0],
        [0.9, 0.9],
        0.2,
    ),
]

# speculative_generate: seeds of a target, a draft, a prompt and the generator. K is 1 to 5 and a
# prompt has 1 to 4 tokens, by turns with the seed.
TOKENS = 10  # that are asked for, where nothing else is said
SAMPLED = list(range(22))  # many, so that each wrong text shows in one
WHOLE = [28, 29, 30]
GREEDY = list(range(8))
# A seed and a temperature above 0 that is not 1. On the later five a draft judged by what it gave
# before its temperature writes another text, on (342, 0.5) and (94, 2.0) so does half precision.
TEMPERATURES = [(1, 0.5), (2, 2.0), (3, 0.75), (4, 1.5)]
TEMPERATURES += [(342, 0.5), (85, 0.75), (98, 1.5), (94, 2.0), (116, 0.25)]
# Seeds with what else is asked for: every token as eos, 1 and a few tokens, none after prompts of
# 1 to 4 tokens, eos in the prompt, and blocks longer than what is left.
ENDS = [
    *({"seed": seed, "eos": seed % 4} for seed in range(10)),
    *({"seed": 20 + n, "tokens": n, "k": 4} for n in (1, 2, 3, 5)),
    *({"seed": 24 + n, "tokens": 0} for n in range(4)),
    {"seed": 30, "prompt": [2], "eos": 2, "k": 3},
    {"seed": 31, "prompt": [0, 1, 0, 1], "eos": 1, "k": 3},
    {"seed": 32, "k": 12, "tokens": 6},
    {"seed": 33, "k": 12, "tokens": 7, "temperature": 0.0, "eos": 3},
]
READING = [40, 41, 42, 43, 44, 45]
READING_TOKENS = 14  # enough for several whole blocks in one of the texts
