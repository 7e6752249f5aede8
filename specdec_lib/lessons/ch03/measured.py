"""The figures of chapter 03 that sample: how far many draws are from the target."""

import numpy as np

from specdec_lib.lessons.ch03.checks import P, Q
from specdec_lib.lessons.ch03.computed import noise, rule_law
from specdec_lib.lessons.ch03.rules import Rule, coarse_coin, from_target, pick, right_rule
from specdec_lib.lessons.common.drawing import HOLLOW, legend_beside, picture, write_beside
from specdec_lib.lessons.common.style import show

DRAWS = 200_000
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
    print("target  ", P)
    print("sample  ", np.round(np.bincount(tokens, minlength=4) / draws, 4))
    print(f"total variation {_distance(tokens, P):.4f}, expected noise {noise(P, draws):.4f}")
    kept = float(np.mean(tokens == drafts))
    print(f"the draft's own token: {kept:.4f}; exactly {np.minimum(P, Q).sum():.2f}")
    even = {v: noise(np.full(v, 1 / v), draws) for v in (8, 32, 1024, 32_000)}
    print("noise with even vocabularies:", ", ".join(f"{v:,}: {x:.4f}" for v, x in even.items()))


def noise_hides_a_bug(p: np.ndarray, q: np.ndarray) -> None:
    """Total variation of repeated samples, by the right rule and by `coarse_coin`, as two rows."""
    rng = np.random.default_rng(7)
    ax = picture(f"{SEEDS} samples of {DRAWS:,} draws each", size=(7.4, 2.7))
    rules, texts = (right_rule, coarse_coin), []
    for y, rule in enumerate(rules):
        seen = [_distance(_sample(rule, p, q, DRAWS, rng), p) for _ in range(SEEDS)]
        exact = float(np.abs(rule_law(rule, p, q) - p).sum() / 2)
        ax.plot(seen, np.full(SEEDS, y), "o", color="black", markerfacecolor="none")
        ax.plot(exact, y + 0.32, "v", color="black", markersize=10)
        write_beside(ax, [exact], [y + 0.32], [f"counted: {exact:.7g}"])
        texts.append(
            f"{rule.__name__}: samples from {min(seen):.2g} to {max(seen):.2g}, counted {exact:.7g}"
        )
    ax.set_yticks(range(2), [rule.__name__ for rule in rules])
    ax.set(ylim=(-0.5, 1.7), xlabel="total variation to p", xlim=(-0.0001, None))
    show(ax.figure, f"Total variation of {SEEDS} samples each. {'; '.join(texts)}.")


def _sample(rule: Rule, p: np.ndarray, q: np.ndarray, draws: int, rng) -> np.ndarray:
    """`draws` tokens by a rule, its drafts drawn from q (V,)."""
    return rule(p, q, pick(q, rng.random(draws)), *rng.random((2, draws)))


def _distance(tokens: np.ndarray, p: np.ndarray) -> float:
    """Total variation of the frequencies of `tokens` to p (V,)."""
    return float(np.abs(np.bincount(tokens, minlength=len(p)) / len(tokens) - p).sum() / 2)
