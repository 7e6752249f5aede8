"""The figures of chapter 03 that sample: how far many draws are from the target."""

from collections.abc import Callable, Sequence

import numpy as np

from specdec_lib.lessons.ch03.checks import ALARM, DRAWS, GRID_P, GRID_Q, P, Q
from specdec_lib.lessons.ch03.computed import chance_of_more, noise, rule_law, sampled
from specdec_lib.lessons.ch03.rules import (
    Named,
    Rule,
    coarse_coin,
    from_target,
    pick,
    right_rule,
)
from specdec_lib.lessons.common.drawing import (
    HOLLOW,
    drawn_from,
    legend_beside,
    picture,
    write_beside,
)
from specdec_lib.lessons.common.style import show

SEEDS = 40


def running_distance(p: np.ndarray, q: np.ndarray, seed: int = 3) -> None:
    """Total variation of growing samples to p (V,), by three samplers, and the noise floor."""
    sizes = np.geomspace(100, 1_000_000, 17).astype(int)
    rng = np.random.default_rng(seed)
    argmax = np.full(sizes[-1], int(np.argmax(q)))
    runs = {
        "the rule": ("o", _sample(right_rule, p, q, sizes[-1], rng)),
        "replaced from p": ("^", _sample(from_target, p, q, sizes[-1], rng)),
        "argmax draft": ("s", right_rule(p, q, argmax, *rng.random((2, sizes[-1])))),
    }
    ax = picture("How far a sample is from the target", "total variation", size=(7.4, 3.8))
    ax.plot(sizes, [noise(p, n) for n in sizes], "--", color="black", label="noise floor")
    texts = []
    for name, (marker, tokens) in runs.items():
        seen = [_distance(tokens[:n], p) for n in sizes]
        ax.plot(sizes, seen, marker, label=name, **HOLLOW)
        texts.append(f"{name}: {seen[0]:.3g} after {sizes[0]} draws, {seen[-1]:.3g} at the end")
    ax.set(xscale="log", yscale="log", xlabel="draws")
    legend_beside(ax)
    show(
        ax.figure,
        f"Total variation to the target over the number of draws, up to {sizes[-1]}. "
        f"{'; '.join(texts)}. The noise floor falls from {noise(p, sizes[0]):.3g} to "
        f"{noise(p, sizes[-1]):.3g}.",
    )


def draw_and_compare(draws: int = DRAWS, seed: int = 0) -> None:
    """Print the frequencies of `draws` tokens by the right rule on the pair, beside the target."""
    rng = np.random.default_rng(seed)
    drafts = pick(Q, rng.random(draws))
    tokens = right_rule(P, Q, drafts, *rng.random((2, draws)))
    seen = _distance(tokens, P)
    print("target  ", P)
    print("sample  ", np.round(np.bincount(tokens, minlength=4) / draws, 4))
    print(f"total variation {seen:.5f}; a perfect sampler shows {noise(P, draws):.5f} on average,")
    print(f"and {seen:.5f} or more in {chance_of_more(P, draws, seen):.0%} of all runs")
    kept = float(np.mean(tokens == drafts))
    print(f"the draft's own token: {kept:.4f}; exactly {np.minimum(P, Q).sum():.2f}")


def noise_hides_a_bug(p: np.ndarray, q: np.ndarray) -> None:
    """Total variation of repeated samples, by the right rule and by `coarse_coin`, as two rows."""
    _repeated((right_rule, coarse_coin), p, q)


@drawn_from("impostor", "is_lossless")
def your_impostor(impostor: Rule, judge: Callable) -> None:
    """Samples by the student's impostor beside those by the right rule, and the verdicts on it."""
    named = Named(impostor)
    said = "lossless" if judge(named, GRID_P.copy(), GRID_Q.copy()) else "impostor"
    alarm = sampled(impostor, GRID_P, GRID_Q, DRAWS, seed=0) > ALARM
    title = f"Sampling says {'impostor' if alarm else 'lossless'}, your is_lossless {said}"
    _repeated((right_rule, impostor), GRID_P, GRID_Q, title)


def _repeated(rules: Sequence[Rule], p: np.ndarray, q: np.ndarray, title: str = "") -> None:
    """A row of SEEDS samples for each rule, and above it the counted distance."""
    rng = np.random.default_rng(7)
    title = title or f"{SEEDS} samples of {DRAWS:,} draws each"
    ax, texts = picture(title, size=(7.4, 2.9)), []
    for y, rule in enumerate(rules):
        seen = [_distance(_sample(rule, p, q, DRAWS, rng), p) for _ in range(SEEDS)]
        exact = float(np.abs(rule_law(rule, p, q) - p).sum() / 2)
        ax.plot(seen, np.full(SEEDS, y), "o", color="black", markerfacecolor="none")
        ax.plot(exact, y + 0.32, "v", color="black", markersize=10)
        write_beside(ax, [exact], [y + 0.32], [f"counted: {exact:.3g}"])
        texts.append(
            f"{rule.__name__}: samples from {min(seen):.2g} to {max(seen):.2g}, counted {exact:.3g}"
        )
    ax.set_yticks(range(2), [rule.__name__ for rule in rules])
    ax.set(ylim=(-0.5, 1.7), xlabel="total variation to p", xlim=(-0.0001, None))
    show(ax.figure, f"{title}: total variation of {SEEDS} samples each. {'; '.join(texts)}.")


def _sample(rule: Rule, p: np.ndarray, q: np.ndarray, draws: int, rng) -> np.ndarray:
    """`draws` tokens by a rule, its drafts drawn from q (V,)."""
    return rule(p, q, pick(q, rng.random(draws)), *rng.random((2, draws)))


def _distance(tokens: np.ndarray, p: np.ndarray) -> float:
    """Total variation of the frequencies of `tokens` to p (V,)."""
    return float(np.abs(np.bincount(tokens, minlength=len(p)) / len(tokens) - p).sum() / 2)
