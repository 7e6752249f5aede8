"""What the hidden tests of chapter 07 expect, in exact fractions, and the targets that they lend.

A float is taken for the fraction that it is, so no sum and no quotient is rounded. The rules are
those of the cards: Leviathan et al. (2023), section 2.3, Miao et al. (SpecInfer, 2023) for several
candidates and the tree, Santilli et al. (2023) for Jacobi decoding.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import accumulate

import numpy as np

Exact = list[Fraction]


def exact(numbers: Sequence[float]) -> Exact:
    """The numbers as the fractions that they are."""
    return [Fraction(float(each)) for each in numbers]


def over_its_sum(masses: Exact) -> Exact:
    """Masses, not all 0, as a distribution."""
    whole = sum(masses)
    return [each / whole for each in masses]


def residual(p: Exact, q: Exact) -> Exact:
    """What a rejection leaves of p; p itself where nothing is left."""
    missing = [max(a - b, Fraction(0)) for a, b in zip(p, q, strict=True)]
    return over_its_sum(missing) if any(missing) else p


def drawn(masses: Exact, u: float) -> int:
    """The token that u picks: the first whose cumulative sum is above u, or the last with mass."""
    sums = list(accumulate(masses))
    above = [t for t, whole in enumerate(sums) if whole > Fraction(u)]
    return above[0] if above else max(t for t, mass in enumerate(masses) if mass > 0)


def without(p: Exact, token: int) -> Exact:
    """p without one token, not divided."""
    return [Fraction(0) if t == token else mass for t, mass in enumerate(p)]


def others(p: np.ndarray, token: int) -> list[float]:
    """The distribution of the other tokens (V,), of which one is above 0."""
    return [float(each) for each in over_its_sum(without(exact(p), token))]


def one_hot(token: int, p: np.ndarray, r: float, u: float) -> tuple[int, bool]:
    """The certain token and True, or its replacement and False."""
    whole = exact(p)
    rest = without(whole, token)
    if Fraction(r) < whole[token] or not any(rest):
        return token, True
    return drawn(over_its_sum(rest), u), False


def residuals(p: np.ndarray, q: np.ndarray, rejections: int) -> list[Exact]:
    """p, and what each of so many rejections leaves of it."""
    left = [exact(p)]
    for _ in range(rejections):
        left.append(residual(left[-1], exact(q)))
    return left


def candidate(candidates: list[int], p: np.ndarray, q: np.ndarray, r: Sequence, u: float) -> int:
    """The token that comes out of the candidates."""
    place = taken(candidates, p, q, r)
    if place is not None:
        return candidates[place]
    return drawn(residuals(p, q, len(candidates))[-1], u)


def taken(candidates: list[int], p: np.ndarray, q: np.ndarray, r: Sequence) -> int | None:
    """The place of the first candidate that is accepted, or None."""
    left, draft = residuals(p, q, len(candidates)), exact(q)
    accepted = (
        i for i, x in enumerate(candidates) if Fraction(float(r[i])) * draft[x] < left[i][x]
    )
    return next(accepted, None)


def one_level(nodes: int) -> list[int]:
    """The parents of a tree of so many children of the text."""
    return [-1] * nodes


def walk(
    parents: list[int], tokens: list[int], p: np.ndarray, q: np.ndarray, r: np.ndarray, u: float
) -> list[int]:
    """What a walk down the tree writes; p and q are (N + 1, V), r is (N,)."""
    written, node = [], -1
    while True:
        children = [i for i, parent in enumerate(parents) if parent == node]
        asked = [tokens[i] for i in children]
        rows = p[node + 1], q[node + 1], [r[i] for i in children]
        place = taken(asked, *rows)
        if place is None:
            return [*written, candidate(asked, *rows, u)]
        node = children[place]
        written.append(tokens[node])


def two_back(seed: int, vocab_size: int = 5) -> Callable[[list[int]], list[int]]:
    """A target that looks at the last two tokens, from a random table."""
    after = np.random.default_rng(seed).integers(0, vocab_size, (vocab_size, vocab_size)).tolist()

    def target_greedy(tokens: list[int]) -> list[int]:
        return [after[b][t] for b, t in zip([0, *tokens], tokens, strict=False)]

    return target_greedy


def summed(tokens: list[int]) -> list[int]:
    """A target that looks at the whole text: the sum of it, plus one, modulo 7."""
    return [int(s + 1) % 7 for s in np.cumsum(tokens)]


def trajectory(target: Callable, prompt: list[int], guess: list[int]) -> list[list[int]]:
    """The guess and what every pass makes of it, until nothing changes.

    Place i of a pass is what the target writes after the prompt and the first i tokens of the pass
    before, each asked by itself.
    """
    steps = [list(guess)]
    while len(steps) < 2 or steps[-1] != steps[-2]:
        before = steps[-1]
        steps.append([target([*prompt, *before[:i]])[-1] for i in range(len(guess))])
    return steps


def ancestors(parents: list[int]) -> list[list[int]]:
    """What each node sees: itself and whom one meets from it towards the text, in order."""
    sees = []
    for node in range(len(parents)):
        sees.append([])
        while node >= 0:
            sees[-1].insert(0, node)
            node = parents[node]
    return sees


def mapped(q: Sequence[float], ids: Sequence[int], size: int) -> np.ndarray:
    """The draft's distribution over the target's tokens (size,)."""
    pairs = list(zip(exact(q), ids, strict=True))
    masses = [sum((m for m, i in pairs if i == token), Fraction(0)) for token in range(size)]
    return np.array([float(each) for each in over_its_sum(masses)])


def mean_experts(n_tokens: int, n_experts: int, active: int) -> float:
    """Experts read on average: one more token finds the share that is left over new."""
    read = Fraction(0)
    for _ in range(n_tokens):
        read += active * (1 - read / n_experts)
    return float(read)
