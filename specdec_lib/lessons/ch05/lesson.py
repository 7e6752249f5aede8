"""Chapter 05, results: its examples, the visible checks on them, and the predictions."""

import numpy as np

from specdec_lib.lessons.checking.answers import committed, make_answered, make_reveal, truths_of
from specdec_lib.lessons.checking.tables import check_of

__all__ = ["committed"]

# Six blocks of four draft tokens each: how many of them were accepted.
BLOCKS = [4, 0, 2, 4, 1, 3]
EXAMPLE_K = 4
LOG, RATES = ([70, 55, 42], 87), np.array([70 / 87, 55 / 70, 42 / 55])  # llama.cpp 24536

# The root of 1 + a + ... + a^4 = 21.3 / 7.52, the block of Chen et al.
CHEN_ALPHA = 0.7111764615568964

TRUTHS = truths_of(__package__)

answered = make_answered(__package__)
reveal = make_reveal(TRUTHS)

check_alpha_from_blocks = check_of(globals(), "alpha_from_blocks")
check_audit = check_of(globals(), "audit")
check_implied_alpha = check_of(globals(), "implied_alpha")
check_read_log = check_of(globals(), "read_log")
check_diagnose = check_of(globals(), "diagnose")
