"""Puzzles of shuffled lines, some of them with a blank, after Parsons and Haden (2006)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

BLANK = "____"


@dataclass(frozen=True)
class Puzzle:
    """`lines` by letter as they are printed; a letter that is in no order is not needed.

    `orders` are those that run, `filled` what stands in the blank of a line, `why` what to say of a
    line that comes too early.
    """

    lines: Mapping[str, str]
    orders: Sequence[str]
    filled: Mapping[str, str]
    why: Mapping[str, str]
    solved: str

    def check(self, order: str, *blanks: str) -> None:
        """Say how far an order of the letters is right; then look at the blanks."""
        letters = [letter for letter in order.upper() if letter.isalpha()]
        if not letters:
            print("\n".join(f"{letter}  {line}" for letter, line in self.lines.items()))
            print("\nNothing is arranged yet. Write the letters in their order into `order`.")
            return
        right = max(_shared(letters, good) for good in self.orders)
        for letter in letters[:right]:
            print(self.lines[letter])
        if right < len(letters):
            why = self.why.get(letters[right], "Which line has to run before it?")
            print(f"Up to here it is right. Line {letters[right]} does not come next. {why}")
        elif right < len(self.orders[0]):
            print(f"Right so far. {len(self.orders[0]) - right} lines are still missing.")
        else:
            self._check_blanks(blanks)

    def _check_blanks(self, blanks: Sequence[str]) -> None:
        given = zip(self.filled.items(), blanks, strict=True)
        wrong = [letter for (letter, good), said in given if _bare(said) != _bare(good)]
        if wrong:
            print(f"The order is right. The blank in line {wrong[0]} is not: what is known there?")
        else:
            print(self.solved)


def _bare(code: str) -> str:
    return code.replace(" ", "")


def _shared(letters: Sequence[str], good: str) -> int:
    """How many letters agree from the first on."""
    pairs = zip(letters, good, strict=False)
    return next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(letters), len(good)))
