"""The puzzle of chapter 01: the decoding loop, its lines shuffled, two of them with a blank.

Nothing here is graded.
"""

from specdec_lib.lessons.common.puzzle import BLANK, Blank, Puzzle

# As they are printed. One line is not needed.
LINES = {
    "A": "        drafted.append(int(np.argmax(q)))",
    "B": "    n = greedy_prefix(drafted, p)",
    "C": f"    while len(drafted) < {BLANK}:",
    "D": "return written",
    "E": f"    written.append(int(np.argmax(p[{BLANK}])))",
    "F": "    drafted = []",
    "G": "    n = len(drafted)",
    "H": "    prefix = [*prompt, *written]",
    "I": "while len(written) < max_new_tokens:",
    "J": "    p = score_block(target_model, prefix, drafted)",
    "K": "written = []",
    "L": "        q = draft_model([*prefix, *drafted])",
    "M": "    written += drafted[:n]",
}
ORDERS = ("KIHFCLAJBMED", "KIFHCLAJBMED")
BLANKS = {
    "C": Blank(
        "k",
        f"len(drafted) < {BLANK}",
        [{"drafted": [2] * length, "k": 3, "max_new_tokens": 8} for length in (2, 3, 4)],
    ),
    "E": Blank(
        "n",
        f"p[{BLANK}]",
        [
            {"p": ["row 0", "row 1", "row 2", "row 3"], "n": n, "drafted": [5, 6, 7], "k": 3}
            for n in (1, 3)
        ],
    ),
}

WHY = {
    "G": "Line G says that the whole draft is accepted. That is for the target to say.",
    "E": "The target's token comes after the accepted ones, and its row is known by then.",
    "D": "The text is returned when it is long enough, not after one block.",
    "J": "The target reads the block once the whole of it is drafted.",
}
SOLVED = "That is the loop. It writes whole blocks; your function also stops at two ends."


def check_puzzle(order: str, blank_c: str, blank_e: str) -> None:
    """Say how far an order of the lines, such as "KI", is right; then look at the two blanks."""
    Puzzle(LINES, ORDERS, BLANKS, WHY, SOLVED).check(order, blank_c, blank_e)
