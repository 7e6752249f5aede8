"""Puzzles of shuffled lines, some of them with a blank, after Parsons and Haden (2006)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os.path import commonprefix

from specdec_lib.lessons.common.describing import describe

BLANK = "____"


@dataclass(frozen=True)
class Blank:
    """The blank of a line: `right`, or any other expression with the same values.

    Values are compared of `part`, which is the line around the blank, such as "min(k, ____)", with
    the names of each of `cases`.
    """

    right: str
    part: str
    cases: Sequence[Mapping[str, object]]

    def fault(self, said: str) -> str | None:
        """What is wrong with the expression `said`, in words; None if nothing is."""
        if not said.strip():
            return "it is empty"
        for case in self.cases:
            wanted, got = self._value(self.right, case), self._value(said, case)
            if got != wanted:
                names = ", ".join(f"{name} = {describe(value)}" for name, value in case.items())
                made = self.part.replace(BLANK, said)
                return f"with {names} it makes `{made}` {got}, and it should be {wanted}"
        return None

    def _value(self, said: str, case: Mapping[str, object]) -> str:
        """The value as text; of an expression that cannot be run the error."""
        try:
            return describe(eval(self.part.replace(BLANK, said), dict(case)))
        except Exception as error:  # whatever somebody writes into a blank
            return f"a {type(error).__name__} ({error})"


@dataclass(frozen=True)
class Puzzle:
    """`lines` by letter as they are printed; a letter that is in no order is not needed.

    `orders` are those that run, `blanks` stand in some of the lines, `why` is what to say of a line
    that comes too early.
    """

    lines: Mapping[str, str]
    orders: Sequence[str]
    blanks: Mapping[str, Blank]
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

    def _check_blanks(self, said: Sequence[str]) -> None:
        for (letter, blank), words in zip(self.blanks.items(), said, strict=True):
            if fault := blank.fault(words):
                print(f"The order is right. The blank in line {letter} is not: {fault}.")
                return
        print(self.solved)


def _shared(letters: Sequence[str], good: str) -> int:
    """How many letters agree from the first on."""
    return len(commonprefix([list(letters), list(good)]))
