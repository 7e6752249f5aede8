"""The figures of chapter 03 about sampling, whole rules and whole texts, and its claim review."""

from collections.abc import Callable

import numpy as np

from specdec_lib.lessons.ch03.checks import DRAFT, GRID_P, GRID_Q, TARGET, P, Q
from specdec_lib.lessons.ch03.laws import (
    lenient,
    mixed_up,
    mixture,
    noise,
    plain_law,
    rule_law,
    text_law,
)
from specdec_lib.lessons.ch03.rules import (
    IMPOSTORS,
    SEEN,
    Named,
    Rule,
    coarse_coin,
    from_target,
    pick,
    right_rule,
    sampler_match,
)
from specdec_lib.lessons.common.drawing import (
    HOLLOW,
    drawn_from,
    legend_beside,
    named_rows,
    panels,
    picture,
    write_beside,
)
from specdec_lib.lessons.common.style import role, show

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


def whole_texts(target: np.ndarray, draft: np.ndarray, k: int, length: int) -> None:
    """The exact law of every text of `length` tokens: a right decoder, and one with a bug."""
    plain = plain_law(target, length).ravel()
    decoders = {
        "right": text_law(target, draft, k, length).ravel(),
        "bonus from the row before": text_law(target, draft, k, length, stale=True).ravel(),
    }
    top = 1.1 * max(plain.max(), *(law.max() for law in decoders.values()))
    row, texts = panels(2, (8.6, 3.9), sharey=True), []
    row[0].set_ylabel("by blocks of two")
    for ax, (name, law) in zip(row, decoders.items(), strict=True):
        distance = np.abs(law - plain).sum() / 2
        ax.plot([0, top], [0, top], color="black", linewidth=1)
        ax.plot(plain, law, "o", **HOLLOW)
        ax.set(xlim=(0, top), ylim=(0, top), xlabel="by the target alone")
        ax.set_title(f"{name}: TV {distance:.2g}")
        texts.append(f"{name}: total variation {distance:.2g}")
    show(
        row[0].figure,
        f"Probability of each of {len(plain)} texts of {length} tokens, by the target alone and by "
        f"blocks of {k}. {'; '.join(texts)}.",
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


@drawn_from("is_lossless")
def line_up(judge: Callable, p: np.ndarray, q: np.ndarray) -> None:
    """Every rule of ch03_rules with its exact distance to p (V,) and the student's verdict."""
    rules = (right_rule, sampler_match, *IMPOSTORS)
    verdicts = [judge(Named(rule), p.copy(), q.copy()) for rule in rules]
    errors = [float(np.abs(rule_law(rule, p, q) - p).sum() / 2) for rule in rules]
    ax = picture("The line-up: distance to the target, and your verdict", size=(8.4, 4.2))
    names = [
        f"{r.__name__}\n({SEEN[r.__name__]})" if r.__name__ in SEEN else r.__name__ for r in rules
    ]
    y = named_rows(ax, names)
    ax.barh(y, errors, 0.6, **role("excess"))
    said = ["lossless" if verdict else "impostor" for verdict in verdicts]
    told = [f"{error:.4g}  you: {word}" for error, word in zip(errors, said, strict=True)]
    write_beside(ax, errors, y, told)
    ax.set(xlabel="total variation, counted", xlim=(0, 1.45 * max(errors)))
    rows = zip(rules, errors, said, strict=True)
    text = "; ".join(f"{r.__name__} {e:.4g}, {word}" for r, e, word in rows)
    show(ax.figure, f"Total variation of each rule's law, counted, and your verdict: {text}.")


@drawn_from("total_variation")
def price_of_acceptance(distance: Callable, p: np.ndarray, q: np.ndarray) -> None:
    """Accepted share against the student's distance of the law, for two lossy knobs."""
    rate, most = float(np.minimum(p, q).sum()), float(np.abs(p - q).sum() / 2)
    ax = picture("What acceptance costs", "total variation of the law to p", size=(7.4, 3.8))
    ax.plot([rate, 1], [0, most], color="black", linewidth=1, label="cannot be cheaper")
    texts = []
    knobs = (
        ("lenience l", "o", lenient, (1, 0.9, 0.8, 0.7, 0.6)),
        ("ensemble weight w", "s", mixture, (0.9, 0.6, 0.3)),
    )
    for name, marker, knob, values in knobs:
        laws = [knob(p, q, value) for value in values]
        x = [share for _, share in laws]
        y = [distance(law.copy(), p.copy()) for law, _ in laws]
        ax.plot(x, y, marker, markersize=8, label=name, **HOLLOW)
        for value, a, b in zip(values, x, y, strict=True):
            side = (8, -12) if marker == "o" else (-10, 9)
            text = f"{name[-1]} = {value:g}"
            ax.annotate(text, (a, b), side, textcoords="offset points", ha=_align(marker))
            texts.append(f"{text}: accepted {a:.3g}, total variation {b:.3g}")
    ax.set(xlabel="accepted share", xlim=(rate - 0.03, 1.03))
    ax.legend(loc="upper left")
    show(ax.figure, f"Price of acceptance, by your function. {'; '.join(texts)}.")


@drawn_from("two_paths", "is_lossless")
def witnesses(paths: Callable, judge: Callable) -> None:
    """Print what the four witnesses of the claim say; the first two are the student's."""
    rng = np.random.default_rng(11)
    pairs = [rng.dirichlet(np.ones(8), 2) for _ in range(1000)]
    off = max(float(np.abs(sum(paths(p, q)) - p).max()) for p, q in pairs)
    _say("equation", f"your two paths add up to p within {off:.0e} on 1,000 pairs", off < 1e-12)
    kept = judge(Named(right_rule), GRID_P, GRID_Q)
    caught = sum(not judge(Named(rule), GRID_P, GRID_Q) for rule in IMPOSTORS)
    what = f"the rule in code is lossless: {kept}; impostors seen: {caught} of {len(IMPOSTORS)}"
    _say("code", what, bool(kept) and caught == len(IMPOSTORS))
    off = float(np.abs(text_law(TARGET, DRAFT, 2, 3) - plain_law(TARGET, 3)).max())
    _say("enumeration", f"27 texts of three tokens, every branch, off by {off:.0e}", off < 1e-12)
    seen, floor = _distance(_sample(right_rule, P, Q, DRAWS, rng), P), noise(P, DRAWS)
    what = f"{DRAWS:,} draws are {seen:.4f} from p, noise {floor:.4f}"
    _say("simulator", what, seen < 3 * floor)
    broken, _ = mixed_up(P, Q, np.eye(len(Q))[np.argmax(Q)])
    off = float(np.abs(broken - P).sum() / 2)
    print(f"without the first condition (drafts by argmax, full q) the law is off by TV {off:.3f}")


def _say(witness: str, what: str, holds: bool) -> None:
    print(f"{witness:12}{'holds' if holds else 'FAILS'}   {what}")


def _align(marker: str) -> str:
    return "left" if marker == "o" else "right"


def _sample(rule: Rule, p: np.ndarray, q: np.ndarray, draws: int, rng) -> np.ndarray:
    """`draws` tokens by a rule, its drafts drawn from q (V,)."""
    return rule(p, q, pick(q, rng.random(draws)), *rng.random((2, draws)))


def _distance(tokens: np.ndarray, p: np.ndarray) -> float:
    """Total variation of the frequencies of `tokens` to p (V,)."""
    return float(np.abs(np.bincount(tokens, minlength=len(p)) / len(tokens) - p).sum() / 2)
