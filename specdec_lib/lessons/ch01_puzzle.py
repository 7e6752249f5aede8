"""The puzzle of chapter 01: the decoding loop, its lines shuffled, two of them with a blank.

After Parsons and Haden (2006). Nothing here is graded.
"""

BLANK = "____"

# As they are printed. One line is not needed.
LINES = {
    "A": "        drafted.append(int(np.argmax(q)))",
    "B": "    n = greedy_prefix(drafted, p)",
    "C": "    while len(drafted) < ____:",
    "D": "return written",
    "E": "    written.append(int(np.argmax(p[____])))",
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
FILLED = {"C": "k", "E": "n"}

WHY = {
    "G": "Line G says that the whole draft is accepted. That is for the target to say.",
    "E": "The target's token stands behind the accepted ones, and its row is known by then.",
    "D": "The text is returned when it is long enough, not after one block.",
    "J": "The target reads the block once the whole of it is drafted.",
}


def check_puzzle(order: str, blank_c: str, blank_e: str) -> None:
    """Say how far an order of the lines, such as "KI", is right; then look at the two blanks."""
    letters = [letter for letter in order.upper() if letter.isalpha()]
    if not letters:
        print("\n".join(f"{letter}  {line}" for letter, line in LINES.items()))
        print("\nNothing is arranged yet. Write the letters in their order into `order`.")
        return
    right = max(_shared(letters, list(good)) for good in ORDERS)
    for letter in letters[:right]:
        print(LINES[letter])
    if right < len(letters):
        wrong = letters[right]
        why = WHY.get(wrong, "Which line has to run before it?")
        print(f"Up to here it is right. Line {wrong} does not come next. {why}")
    elif right < len(ORDERS[0]):
        print(f"Right so far. {len(ORDERS[0]) - right} lines are still missing.")
    else:
        _check_blanks({"C": blank_c, "E": blank_e})


def _check_blanks(given: dict[str, str]) -> None:
    wrong = [letter for letter in FILLED if given[letter].strip() != FILLED[letter]]
    if wrong:
        print(f"The order is right. The blank in line {wrong[0]} is not: what is known there?")
    else:
        print("That is the loop. It writes whole blocks; your function also stops at two ends.")


def _shared(letters: list[str], good: list[str]) -> int:
    """How many letters agree from the first on."""
    pairs = zip(letters, good, strict=False)
    return next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(letters), len(good)))
