"""Every branch of a random process, one after the other, with its probability.

A `Tape` makes a decoder's choices: at each it takes the branch that its path names, and beyond the
path's end the first. `law` runs a decoder once for every path and adds up what came out.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import torch
from torch import Tensor

from specdec_lib.models.table import TableModel


class Tape:
    """Choices of a batch of one row, along one path."""

    def __init__(self, path: Sequence[int]) -> None:
        self.path, self.weight = path, 1.0
        self.taken: list[int] = []
        self.sizes: list[int] = []

    def begin(self, counts: Sequence[int]) -> None:
        """Nothing is drawn ahead."""

    def draw(self, probs: Tensor, index: int) -> Tensor:
        """A branch for every token of positive probability."""
        return torch.tensor([self.branch(probs[0].tolist())])

    def accept(self, p: Tensor, q: Tensor, first: int = 0) -> Tensor:
        """A branch for accepted, one for rejected; what stands behind a rejection has none."""
        verdicts = torch.zeros_like(p, dtype=torch.bool)
        for i, (p_i, q_i) in enumerate(zip(p[0].tolist(), q[0].tolist(), strict=True)):
            chance = min(1.0, p_i / q_i) if q_i else float(p_i > 0)
            if self.branch([chance, 1 - chance]) == 1:
                break
            verdicts[0, i] = True
        return verdicts

    def branch(self, probabilities: Sequence[float]) -> int:
        """The outcome on this path; its probability goes into `weight`."""
        possible = [i for i, probability in enumerate(probabilities) if probability > 0]
        at = len(self.taken)
        self.taken.append(self.path[at] if at < len(self.path) else 0)
        self.sizes.append(len(possible))
        outcome = possible[self.taken[-1]]
        self.weight *= probabilities[outcome]
        return outcome

    def next_path(self) -> list[int] | None:
        """The path that differs as late as possible; None after the last."""
        for at in reversed(range(len(self.taken))):
            if self.taken[at] + 1 < self.sizes[at]:
                return [*self.taken[:at], self.taken[at] + 1]
        return None


def branches(
    run: Callable[[Tape], Sequence[int]], tape: Callable[[Sequence[int]], Tape] = Tape
) -> Iterator[tuple[tuple[int, ...], float]]:
    """What `run` returned on every path, and the path's probability."""
    path: list[int] | None = []
    while path is not None:
        choices = tape(path)
        outcome = tuple(run(choices))
        yield outcome, choices.weight
        path = choices.next_path()


def law(run: Callable[[Tape], Sequence[int]], tape: Callable[..., Tape] = Tape) -> Counter:
    """The exact probability of everything that `run` can return."""
    total: Counter = Counter()
    for outcome, weight in branches(run, tape):
        total[outcome] += weight
    return total


def autoregressive(model: TableModel, prompt: Sequence[int], count: int) -> Counter:
    """The law of `count` tokens behind `prompt`: the product of the model's distributions."""
    laws: Counter = Counter({(): 1.0})
    for _ in range(count):
        longer: Counter = Counter()
        for tokens, weight in laws.items():
            known = torch.tensor([[*prompt, *tokens]])
            probs = model.forward(known, model.new_cache())[0, -1].exp().tolist()
            for token, probability in enumerate(probs):
                if probability > 0:
                    longer[(*tokens, token)] += weight * probability
        laws = longer
    return laws


def distance(one: Counter, other: Counter) -> float:
    """The total variation between two laws."""
    return sum(abs(one[key] - other[key]) for key in one.keys() | other.keys()) / 2
