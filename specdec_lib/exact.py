"""Exact probabilities of the outcomes of a random process: every branch is walked, none sampled.

Write the process as a function of a `Tape`, and let the tape make every random decision:

    >>> from specdec_lib import exact
    >>> def heads(tape: exact.Tape) -> int:
    ...     return tape.choose([0.5, 0.5]) + tape.choose([0.75, 0.25])
    >>> exact.distribution(heads)
    {0: 0.375, 1: 0.5, 2: 0.125}

The function is called once for every branch. The decoder is such a function too, since a tape makes
its choices (sampling.Choices):

    exact.distribution(
        lambda tape: speculative_generate(target, drafter, [prompt], 2, settings, tape).tokens[0]
    )

Lossless speculative decoding gives the distribution of plain decoding to rounding. The number of
branches grows with every token: small vocabularies and short texts only.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor


class Tape:
    """One branch of a random process: at each decision the outcome that `steps` names.

    Beyond the end of `steps` it is the first possible one. `weight` is the branch's probability.
    For a decoder of one row a tape is its choices: `begin`, `draft`, `coins`, `last`.
    """

    def __init__(self, steps: Sequence[int] = ()) -> None:
        self.steps, self.weight = steps, 1.0
        self.taken: list[int] = []  # at each decision, which of the possible outcomes
        self.widths: list[int] = []  # how many there were

    def choose(self, probabilities: Sequence[float]) -> int:
        """An index of `probabilities`, none that has probability 0. ValueError if there is none."""
        possible = [i for i, probability in enumerate(probabilities) if probability > 0]
        if not possible:
            raise ValueError(f"none of {list(map(float, probabilities))} is above 0")
        at = len(self.taken)
        self.taken.append(self.steps[at] if at < len(self.steps) else 0)
        self.widths.append(len(possible))
        outcome = possible[self.taken[-1]]
        self.weight *= float(probabilities[outcome])
        return outcome

    def next_steps(self) -> list[int] | None:
        """The branch that differs from this one as late as possible; None after the last."""
        for at in reversed(range(len(self.taken))):
            if self.taken[at] + 1 < self.widths[at]:
                return [*self.taken[:at], self.taken[at] + 1]
        return None

    def begin(self, limits: Sequence[int], running: Sequence[bool]) -> None:
        """Nothing is drawn ahead. ValueError unless there is one row."""
        if len(limits) != 1:
            raise ValueError(f"a tape decides for one row, and there are {len(limits)} prompts")

    def draft(self, q: Tensor, index: int) -> Tensor:
        """A branch for every token of positive probability."""
        return self.last(q)

    def coins(self, p: Tensor, q: Tensor, first: int = 0) -> Tensor:
        """A branch for r = 0, which accepts, and one for r = 1, which rejects.

        Nothing after a rejection is looked at, so it has no branches.
        """
        r = p.new_zeros(p.shape)
        for i, (p_i, q_i) in enumerate(zip(p[0].tolist(), q[0].tolist(), strict=True)):
            chance = min(1.0, p_i / q_i) if q_i else float(p_i > 0)
            if self.choose([chance, 1 - chance]) == 1:
                r[0, i] = 1
                break
        return r

    def last(self, probs: Tensor) -> Tensor:
        """A branch for every token of positive probability."""
        return probs.new_tensor([self.choose(probs[0].tolist())]).long()


def branches(process: Callable[[Any], Any], kind: type[Tape] = Tape) -> Iterator[tuple[Any, float]]:
    """What `process` returns on every branch, and its probability; it is handed tapes of `kind`."""
    steps: Sequence[int] | None = ()
    while steps is not None:
        tape = kind(steps)
        outcome = process(tape)
        yield outcome, tape.weight
        steps = tape.next_steps()


def distribution(process: Callable[[Any], Any], kind: type[Tape] = Tape) -> dict[Hashable, float]:
    """The probability of everything that `process` can return; a list counts as a tuple."""
    total: dict[Hashable, float] = {}
    for outcome, weight in branches(process, kind):
        key = tuple(outcome) if isinstance(outcome, list) else outcome
        total[key] = total.get(key, 0.0) + weight
    return total


def distance(one: Mapping[Hashable, float], other: Mapping[Hashable, float]) -> float:
    """The total variation between two distributions: 0 if they are equal, 1 if they are apart."""
    keys = one.keys() | other.keys()
    return sum(abs(one.get(key, 0.0) - other.get(key, 0.0)) for key in keys) / 2
