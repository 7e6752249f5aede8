"""The figures of chapter 03 that sample: how far many draws are from the target."""

from collections.abc import Callable

import numpy as np

from specdec_lib.lessons.ch02.checks import P, Q
from specdec_lib.lessons.ch03 import computed, rules
from specdec_lib.lessons.ch03.forgery import ALARM, DRAWS, GRID_P, GRID_Q
from specdec_lib.lessons.common.distributions import distance_of, overlap, total_variation
from specdec_lib.lessons.common.drawing import (
    HOLLOW,
    drawn_from,
    legend_beside,
    log_log,
    picture,
    write_beside,
)
from specdec_lib.lessons.common.series import draw
from specdec_lib.lessons.common.style import show

SEEDS = 40


def running_distance(p: np.ndarray, q: np.ndarray, seed: int = 3) -> None:
    """Total variation of growing samples to p (V,), by three samplers, and the noise floor."""
    sizes = np.geomspace(100, 1_000_000, 9).astype(int)
    rng, argmax = np.random.default_rng(seed), np.full(sizes[-1], int(np.argmax(q)))
    runs = {
        "the rule": computed.sample(rules.right_rule, p, q, sizes[-1], rng),
        "replaced from p": computed.sample(rules.from_target, p, q, sizes[-1], rng),
        "argmax draft": rules.right_rule(p, q, argmax, *rng.random((2, sizes[-1]))),
    }
    floor = {"noise floor": [computed.noise(p, n) for n in sizes]}
    seen = {name: [distance_of(tokens[:n], p) for n in sizes] for name, tokens in runs.items()}
    title = "How far a sample is from the target"
    ax = picture(title, "total variation", size=(7.4, 3.8))
    words = draw(ax, sizes, floor | seen)
    log_log(ax, "draws")
    legend_beside(ax)
    show(ax.figure, f"{title}: total variation, by draws. {words}.")


def draw_and_compare(draws: int = DRAWS, seed: int = 0) -> None:
    """Print the frequencies of `draws` tokens by the right rule on the pair, beside the target."""
    rng = np.random.default_rng(seed)
    drafts = rules.pick(Q, rng.random(draws))
    tokens = rules.right_rule(P, Q, drafts, *rng.random((2, draws)))
    seen, floor = distance_of(tokens, P), computed.noise(P, draws)
    print("target  ", P)
    print("sample  ", np.round(np.bincount(tokens, minlength=4) / draws, 4))
    print(f"total variation {seen:.5f}; a perfect sampler shows {floor:.5f} on average,")
    print(f"and {seen:.5f} or more in {computed.chance_of_more(P, draws, seen):.0%} of all runs")
    kept = float(np.mean(tokens == drafts))
    print(f"the draft's own token: {kept:.4f}; exactly {overlap(P, Q):.2f}")


def noise_hides_a_bug(p: np.ndarray, q: np.ndarray) -> None:
    """Total variation of repeated samples, by the right rule and by `coarse_coin`, as two rows."""
    _repeated(f"{SEEDS} samples of {DRAWS:,} draws each", rules.coarse_coin, p, q)


@drawn_from("impostor", "is_lossless")
def your_impostor(impostor: rules.Rule, judge: Callable) -> None:
    """Samples by the student's impostor beside those by the right rule, and the verdicts on it."""
    said = "lossless" if judge(impostor, GRID_P, GRID_Q) else "impostor"
    tokens = computed.sample(impostor, GRID_P, GRID_Q, DRAWS, np.random.default_rng(0))
    sampling = "impostor" if distance_of(tokens, GRID_P) > ALARM else "lossless"
    title = f"Sampling says {sampling}, your is_lossless {said}"
    _repeated(title, impostor, GRID_P, GRID_Q)


def _repeated(title: str, other: rules.Rule, p: np.ndarray, q: np.ndarray) -> None:
    """A row of SEEDS samples by the right rule, one by the `other`, and the counted distances."""
    rng, told = np.random.default_rng(7), []
    ax = picture(title, size=(7.4, 2.9))
    for y, rule in enumerate((rules.right_rule, other)):
        samples = (computed.sample(rule, p, q, DRAWS, rng) for _ in range(SEEDS))
        seen = [distance_of(tokens, p) for tokens in samples]
        exact = total_variation(computed.counted(rule, p, q), p)
        ax.plot(seen, np.full(SEEDS, y), "o", linestyle="none", **HOLLOW)
        ax.plot(exact, y + 0.32, "v", color="black", markersize=10)
        write_beside(ax, [exact], [y + 0.32], [f"counted: {exact:.3g}"])
        told.append(
            f"{rule.__name__}: {SEEDS} samples from {min(seen):.2g} to {max(seen):.2g}, counted "
            f"{exact:.3g}"
        )
    ax.set_yticks((0, 1), [rules.right_rule.__name__, other.__name__])
    ax.set(ylim=(-0.5, 1.7), xlabel="total variation to p", xlim=(-0.0001, None))
    show(ax.figure, f"{title}. Total variation: {'; '.join(told)}.")
