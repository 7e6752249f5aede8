"""Exact probabilities of the outcomes of a random process: every branch is walked, none sampled.

Write the process as a function of a `Tape`, and let the tape make every random decision:

    >>> from specdec_lib import exact
    >>> def heads(tape: exact.Tape) -> int:
    ...     return tape.choose([0.5, 0.5]) + tape.choose([0.75, 0.25])
    >>> exact.distribution(heads)
    {0: 0.375, 1: 0.5, 2: 0.125}

The function is called once for every branch. The decoder is such a function too, since a tape is a
random source (sampling.RandomSource). The number of branches grows with every token: small
vocabularies and short texts only.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor

Process = Callable[[Any], Any]  # called with a tape
MAX_BRANCHES, MAX_DRAWS = 100_000, 1_000  # of a process, and of each of its branches


class Tape:
    """One branch of a random process: at each decision the outcome that `path` names.

    Beyond the end of `path` it is the first possible one. `weight` is the branch's probability.
    For a decoder of one row a tape is its random source (sampling.RandomSource).
    """

    def __init__(self, path: Sequence[int] = ()) -> None:
        self.path, self.weight = path, 1.0
        self.branch_taken: list[int] = []  # at each decision, which of the possible outcomes
        self.branch_count: list[int] = []  # how many there were

    def choose(self, probabilities: Sequence[float]) -> int:
        """An index of `probabilities`, none that has probability 0. ValueError if they are none."""
        chances = list(map(float, probabilities))
        if not (abs(sum(chances) - 1) < 1e-6 and min(chances) > -1e-6):  # float32 rounds
            raise ValueError(f"{chances} are no probabilities, which are at least 0 and sum to 1")
        possible = [i for i, chance in enumerate(chances) if chance > 0]
        depth = len(self.branch_taken)
        branch = self.path[depth] if depth < len(self.path) else 0
        if depth == MAX_DRAWS:
            raise ValueError(f"over {MAX_DRAWS:,} draws in a branch: the process may draw for ever")
        if branch >= len(possible):
            raise ValueError("the process's runs differ: let `choose` make every random draw")
        self.branch_taken.append(branch)
        self.branch_count.append(len(possible))
        outcome = possible[branch]
        self.weight *= chances[outcome]
        return outcome

    def next_path(self) -> list[int] | None:
        """The branch that differs from this one as late as possible; None after the last."""
        for depth in reversed(range(len(self.branch_taken))):
            branch = self.branch_taken[depth] + 1
            if branch < self.branch_count[depth]:
                return [*self.branch_taken[:depth], branch]
        return None

    def start_block(self, n_drafts: Sequence[int], active: Sequence[bool]) -> None:
        """Nothing is drawn ahead. ValueError unless there is one row."""
        if len(n_drafts) != 1:
            raise ValueError(f"a tape decides for one row, and there are {len(n_drafts)} prompts")

    def draft_token(self, q: Tensor, index: int) -> Tensor:
        """A branch for every token of positive probability."""
        return self.next_token(q)

    def acceptance_uniforms(self, p: Tensor, q: Tensor, first: int = 0) -> Tensor:
        """A branch for r = 0, which accepts, and one for r = 1, which rejects.

        Nothing after a rejection is looked at, so it has no branches.
        """
        r = p.new_zeros(p.shape)
        for i, (p_i, q_i) in enumerate(zip(p[0].tolist(), q[0].tolist(), strict=True)):
            acceptance = min(1.0, p_i / q_i) if q_i else float(p_i > 0)
            if self.choose([acceptance, 1 - acceptance]) == 1:
                r[0, i] = 1
                break
        return r

    def next_token(self, probs: Tensor) -> Tensor:
        """A branch for every token of positive probability."""
        return probs.new_tensor([self.choose(probs[0].tolist())]).long()


def branches(process: Process, tape_type: type[Tape] = Tape) -> Iterator[tuple[Any, float]]:
    """What `process` returns on every branch, and its probability. ValueError: MAX_BRANCHES."""
    path: Sequence[int] = ()
    for _ in range(MAX_BRANCHES):
        tape = tape_type(path)
        outcome = process(tape)
        yield outcome, tape.weight
        path = tape.next_path()
        if path is None:
            return
    raise ValueError(f"there are over {MAX_BRANCHES:,} branches: the process may draw for ever")


def distribution(process: Process, tape_type: type[Tape] = Tape) -> dict[Hashable, float]:
    """The probability of everything that `process` can return; a list counts as a tuple."""
    total: dict[Hashable, float] = {}
    for outcome, weight in branches(process, tape_type):
        key = tuple(outcome) if isinstance(outcome, list) else outcome
        total[key] = total.get(key, 0.0) + weight
    return total


def total_variation_distance(p: Mapping[Hashable, float], q: Mapping[Hashable, float]) -> float:
    """Half the L1 distance of two distributions: 0 if equal, 1 if their supports are disjoint."""
    outcomes = p.keys() | q.keys()
    return sum(abs(p.get(outcome, 0.0) - q.get(outcome, 0.0)) for outcome in outcomes) / 2
