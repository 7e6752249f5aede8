"""Exact numbers of chapter 02: what the student's function and other rules put out."""

from collections.abc import Callable, Hashable, Sequence

import numpy as np

from specdec_lib import exact
from specdec_lib.lessons.ch02 import lazy_uniforms, models
from specdec_lib.lessons.checking.examples import Different
from specdec_lib.lessons.checking.lending import limit_calls
from specdec_lib.lessons.data.distributions import normalised_residual

RULES = (
    "accept everything",
    "accept only where p >= q",
    "draw the correction from p",
    "draft again until one passes",
    "the rule of this chapter",
)


def single_position(step: Callable) -> Callable:
    """A step of one draft token: from (p, q, token, r, u) to its first token, and if it stayed."""

    def position(p: np.ndarray, q: np.ndarray, token: int, r: float, u: float) -> tuple:
        first, *more = step([token], np.array([p, p]), q[None], np.array([r]), u)
        return first, first == token and (bool(more) or r * q[token] < p[token])

    return position


def exact_paths(position: Callable, p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """The mass (2, V) of the tokens of `position` (p, q, token, r, u) if the draft comes from `q`.

    Row 0 is the mass that comes by acceptance, row 1 by correction. Nothing is sampled: a tape
    decides what every comparison with r or u says.
    """

    def one(tape: exact.Tape) -> tuple[int, bool]:
        token, rng = tape.choose(q.tolist()), lazy_uniforms.LazyGenerator(tape)
        out, accepted = position(p, q, token, rng.random(), rng.random())
        return int(out), bool(accepted)

    mass = np.zeros((2, len(p)))
    for (token, accepted), weight in exact.distribution(one).items():
        mass[0 if accepted else 1, token] += weight
    return mass


def paths(rule: str, p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """What a rule of RULES puts out (2, V): by acceptance, and instead of rejected tokens.

    `p` and `q` (V,) are distributions that overlap and differ. The two rows together sum to 1.
    Raises KeyError if there is no such rule.
    """
    overlap, lacking = np.minimum(p, q), normalised_residual(p, q)
    accepted, replacement = {
        "accept everything": (q, p),
        "accept only where p >= q": (np.where(p >= q, q, 0.0), lacking),
        "draw the correction from p": (overlap, p),
        "draft again until one passes": (overlap, overlap / overlap.sum()),
        "the rule of this chapter": (overlap, lacking),
    }[rule]
    return np.array([accepted, (1 - accepted.sum()) * replacement])


MAX_RUNS = 10_000
_MAX_CALLS = 100  # calls of a model for one text, more than any right decoder makes
WHY = "does every block add its tokens to the text?"


def lent_models() -> tuple[Callable, Callable]:
    """The small target and draft; a loop that does not end is ended."""
    target = limit_calls(_MAX_CALLS, models.target_logits, "the target", WHY)
    return target, limit_calls(10 * _MAX_CALLS, models.draft_logits, "the draft", WHY)


def every_text_of(sample: Callable, k: int, count: int) -> dict[Hashable, float]:
    """The exact probability of every text of `count` tokens that `sample` writes after A.

    Nothing is sampled: a tape decides what every comparison with a random number says. ValueError
    after so many runs that the function cannot be right.
    """
    runs = 0

    def text(tape: exact.Tape) -> tuple[int, ...]:
        nonlocal runs
        runs += 1
        if runs > MAX_RUNS:
            raise ValueError(f"it has more than {MAX_RUNS:,} branches; a right one has far fewer")
        rng = lazy_uniforms.LazyGenerator(tape)
        return tuple(map(int, sample(*lent_models(), [0], k, count, models.TEMPERATURE, rng)))

    return exact.distribution(text)


def plain_text_law(row: Callable, prompt: list[int], count: int) -> dict[Hashable, float]:
    """The same of plain decoding after `prompt`; `row(tokens)` is the next distribution (V,)."""

    def text(tape: exact.Tape) -> tuple[int, ...]:
        tokens = list(prompt)
        for _ in range(count):
            tokens.append(tape.choose(row(tokens).tolist()))
        return tuple(tokens[len(prompt) :])

    return exact.distribution(text)


def decoded_blocks(
    sample: Callable, target: Callable, draft: Callable, prompt: Sequence[int], *options: object
) -> list[tuple[list[int], list[int], int]]:
    """What every call of the target judged and what was written after it: (drafted, written, n).

    `sample` is called with the models and `options`. Its calls of the draft since the last one of
    the target say how many draft tokens a block has. Last comes how many of them were accepted: all
    written but one, which a decoder without a bonus token lacks.
    """
    starts: list[int] = []
    drafts: list[list[int]] = []
    waiting = 0  # calls of the draft since the last one of the target

    def watched_draft(tokens: Sequence[int]) -> np.ndarray:
        nonlocal waiting
        waiting += 1
        return draft(tokens)

    def watched_target(tokens: Sequence[int]) -> np.ndarray:
        nonlocal waiting
        start, waiting = len(tokens) - waiting, 0
        starts.append(start - len(prompt))
        drafts.append(list(tokens[start:]))
        return target(tokens)

    out = list(sample(watched_target, watched_draft, list(prompt), *options))
    if not starts:
        raise Different("it never calls the target.")
    ends = [*starts[1:], len(out)]
    news = [out[a:b] for a, b in zip(starts, ends, strict=True)]
    return [(d, new, len(new) - (new != d)) for d, new in zip(drafts, news, strict=True)]
