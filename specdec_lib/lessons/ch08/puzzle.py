"""The optional puzzle of chapter 08: one block of the loop, two of its lines with a blank."""

from specdec_lib.lessons.common.puzzle import BLANK, Blank, Puzzle

# As they are printed. One line is not needed.
LINES = {
    "A": "    q.append(warp(feed(draft, draft_cache, text + drafted)[:, -1:]))",
    "B": "rollback(draft_cache, min(int(draft_cache.length[0]), len(text) - 1))",
    "C": f"p = warp(feed(target, target_cache, text + drafted)[:, {BLANK}:])",
    "D": "for u_i in u_draft:",
    "E": "rollback(draft_cache, 0)",
    "F": "text += drafted[:int(count)] + [int(token)]",
    "G": f"n = min(k, {BLANK})",
    "H": "    drafted.append(int(sample_rows(q[-1][0], torch.tensor([u_i]))))",
    "I": "rollback(target_cache, len(text) - 1)",
    "J": "u_draft, r, u = rng.random(n), rng.random(n), rng.random()",
    "K": "count, token = verify_block(p, torch.cat(q, 1), *as_tensors(drafted, r, u))",
    "L": "drafted, q = [], []",
}
ORDERS = ("GJLDAHCKFIB", "GLJDAHCKFIB", "GJLDAHCKFBI", "GLJDAHCKFBI")
BLANKS = {
    "G": Blank(
        "left - 1",
        f"min(k, {BLANK})",
        [
            {"k": 4, "left": left, "text": [7, 1, 2], "end": 3 + left, "max_new_tokens": 9}
            for left in (9, 3, 1)
        ],
    ),
    "C": Blank(
        "-n - 1",
        f"rows[{BLANK}:]",
        [
            {"rows": list(range(length)), "n": n, "drafted": [3] * n, "k": 4}
            for length, n in ((5, 4), (9, 4), (3, 2), (1, 0))
        ],
    ),
}

WHY = {
    "E": "Line E throws away all that the draft has read: it would read the prompt once a block.",
    "F": "Which tokens join the text is not known before the block is judged.",
    "I": "How far to go back depends on the text, which does not hold this block yet.",
    "B": "How far to go back depends on the text, which does not hold this block yet.",
    "C": "The target reads the block once the whole of it is drafted.",
    "J": "How many numbers are drawn depends on n.",
}
SOLVED = (
    "That is a block. Around it stands `while len(text) < end`; your function also stops at "
    "eos_id, draws nothing at temperature 0, and goes on if n is 0."
)


def check_puzzle(order: str, blank_g: str, blank_c: str) -> None:
    """Say how far an order of the lines, such as "GJ", is right; then look at the two blanks."""
    Puzzle(LINES, ORDERS, BLANKS, WHY, SOLVED).check(order, blank_g, blank_c)
