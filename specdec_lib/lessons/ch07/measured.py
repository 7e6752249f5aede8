"""The figures of chapter 07 that show measurements, and what formulas make of them."""

import numpy as np

from specdec_lib.lessons.ch07 import computed
from specdec_lib.lessons.common.drawing import (
    PAPER,
    bars,
    legend_below,
    picture,
    target_lines,
    token_axis,
    write_above,
)
from specdec_lib.lessons.common.style import DRAFT, RESIDUAL, TARGET, show
from specdec_lib.lessons.common.wording import by_token, listed
from specdec_lib.theory import expected_tokens, walltime_speedup


def drafters(measured: dict[tuple[str, float], tuple[float, float]], k: int) -> None:
    """Tokens a block of `k` and the share of repeated text, by (drafter, temperature)."""
    names = list(dict.fromkeys(name for name, _ in measured))
    ax = picture(f"Tokens a block on the built-in target, K = {k}", "tokens a block")
    parts = []
    for offset, temperature, dress in ((-0.2, 0.0, "target"), (0.2, 1.0, "residual")):
        x = np.arange(len(names)) + offset
        tokens, repeated = zip(*(measured[name, temperature] for name in names), strict=True)
        bars(ax, x, tokens, dress, 0.36, label=f"temperature {temperature:g}", text=".2f")
        for at, name, value, share in zip(x, names, tokens, repeated, strict=True):
            ax.text(at, 0.12, f"{share:.0%}", ha="center", bbox=PAPER | {"edgecolor": "black"})
            parts.append(
                f"{name} at temperature {temperature:g}: {value:.2f}, {share:.0%} repeated"
            )
    ax.axhline(1, color="black", linestyle="--", label="plain decoding")
    ax.set_xticks(range(len(names)), names)
    ax.set_xlabel("in the box: share of repeated 8-grams in what was written")
    ax.set_ylim(0, 1.35 * max(tokens for tokens, _ in measured.values()))
    ax.legend(loc="upper left", ncol=3)
    show(ax.figure, f"Tokens a block and share of repeated 8-grams. {'; '.join(parts)}.")


def early_exit(alphas: dict[int, float]) -> None:
    """Acceptance of the target's own first layers, and the best speed that follows from it."""
    layers, total = np.array(list(alphas)), max(alphas)
    values = np.array(list(alphas.values()))
    best = [
        max(walltime_speedup(alpha, e / total, k) for k in range(1, 9))
        for e, alpha in alphas.items()
    ]
    ax = picture("The first layers as a draft, without training for it", "alpha, measured")
    bars(ax, layers, values, "accepted", label="acceptance at temperature 1")
    told = zip(layers, values, best, strict=True)
    texts = (f"{a:.2f}\n" + (f"speed {s:.2f}x" if e < total else "the target") for e, a, s in told)
    write_above(ax, layers, values, texts)
    ax.set_xticks(layers, [f"{e} of {total}" for e in layers])
    ax.set_xlabel(
        "layers that draft; speed by the formula, best K, c = layers/all, head not counted"
    )
    ax.set_ylim(0, 1.35 * values.max())
    parts = [
        f"{e} layers: alpha {value:.3f}, at best {speed:.2f}x"
        for e, value, speed in zip(layers, values, best, strict=True)
        if e < total
    ]
    show(
        ax.figure,
        f"Early exit of the built-in target, which has {total} layers. {'; '.join(parts)}.",
    )


def shapes_compared(accepted: dict[str, list[float]], trees: dict[str, list[int]]) -> None:
    """Tokens a block of every tree of six nodes, for each draft."""
    ax = picture("Six draft tokens in four shapes", "tokens a block")
    parts = []
    for offset, (draft, shares), dress in zip(
        (-0.2, 0.2), accepted.items(), ("target", "draft"), strict=True
    ):
        tokens = [computed.tree_tokens(parents, shares) for parents in trees.values()]
        x = np.arange(len(trees)) + offset
        bars(ax, x, tokens, dress, 0.36, label=f"{draft}, first {shares[0]:.2f}", text=".2f")
        parts.append(f"{draft}: " + ", ".join(
            f"{name} {value:.3g}" for name, value in zip(trees, tokens, strict=True)))  # fmt: skip
    ax.set_xticks(range(len(trees)), [name.replace(" ", "\n", 1) for name in trees])
    ax.set_ylim(0, ax.get_ylim()[1] * 1.1)
    ax.legend(loc="upper right")
    show(ax.figure, f"Tokens a block, the last one included. {'; '.join(parts)}.")


def blocks_compared(p: np.ndarray, q: np.ndarray, most: int) -> None:
    """Accepted draft tokens of token and block verification, and how far what comes out is off."""
    beta = float(np.minimum(p, q).sum())
    counts = np.arange(1, most + 1)
    token = [expected_tokens(beta, int(k)) - 1 for k in counts]
    block = [computed.block_accepted(p, q, int(k)) for k in counts]
    law, _ = computed.block_law(p, q, 3)
    off = float(np.abs(law - computed.outer([p] * 4)).max())
    ax = picture("Accepted draft tokens of a block, two verifiers", "accepted")
    bars(ax, counts - 0.2, token, "target", 0.36, label="token by token", text=".2f")
    bars(ax, counts + 0.2, block, "residual", 0.36, label="the block as a whole", text=".2f")
    ax.set_xticks(counts, [f"K = {k}" for k in counts])
    ax.set_xlabel(f"all cases added up for K = 3: no sequence is off by more than {off:.0e}")
    ax.set_ylim(0, 1.2 * max(block))
    ax.legend(loc="upper left")
    show(
        ax.figure,
        f"Accepted draft tokens for K = 1 to {most}. Token by token: {listed(token)}; the block "
        f"as a whole: {listed(block)}. For K = 3 the distribution is off by {off:.0e} at most.",
    )


def typical(p: np.ndarray, q: np.ndarray, epsilon: float, delta: float) -> None:
    """The distribution of one candidate under typical acceptance, beside target and draft."""
    law = computed.typical_law(p, q, epsilon, delta)
    distance = float(np.abs(law - p).sum() / 2)
    threshold = min(epsilon, delta * float(np.exp((p * np.log(p)).sum())))
    title = f"Typical acceptance: {distance:.2f} from the target in total variation"
    ax, x = picture(title, "probability"), np.arange(len(p))
    bars(ax, x - 0.2, q, "draft", width=0.36)
    bars(ax, x + 0.2, law, "excess", width=0.36, label="the distribution that comes out")
    target_lines(ax, p)
    write_above(ax, x + 0.2, np.maximum(law, p), (f"{mass:.2f}" for mass in law))
    ax.axhline(threshold, color="black", linestyle=":", label=f"threshold on p, {threshold:.3f}")
    token_axis(ax, len(p), top=max(p.max(), q.max(), law.max()))
    legend_below(ax)
    show(
        ax.figure,
        f"It gives {by_token(law)}; the draft {by_token(q)}; the target {by_token(p)}, all of it "
        f"above the threshold {threshold:.3f}. The total variation from the target is "
        f"{distance:.3g}.",
    )


def sum_or_maximum(alpha: float, k: int) -> None:
    """Speed against c for a draft in K steps, in one, and during the verification."""
    c = np.linspace(0.0, 0.3, 61)
    tokens = expected_tokens(alpha, k)
    curves = {
        "while the target verifies, 90% foreseen": [
            computed.overlapped_speedup(tokens, x, k, hit=0.9) for x in c
        ],
        "K draft tokens in one step": [tokens / (x + 1) for x in c],
        "one draft step a token": [walltime_speedup(alpha, x, k) for x in c],
    }
    ax = picture(f"The same draft, paid for in three ways (alpha = {alpha:g}, K = {k})", "speed")
    for (name, values), line, colour in zip(
        curves.items(), ("-.", "--", "-"), (RESIDUAL, TARGET, DRAFT), strict=True
    ):
        ax.plot(c, values, line, color=colour, linewidth=2.2, label=name)
    ax.axhline(1, color="black", linewidth=1)
    ax.set(xlabel="c, a draft step in target passes", xlim=(0, 0.3), ylim=(0, tokens * 1.1))
    ax.legend(loc="lower left")
    at = [0, 20, 40]
    parts = [f"{name}: " + listed(values[i] for i in at) for name, values in curves.items()]
    show(ax.figure, f"Speed at c = {listed(c[at])}. {'; '.join(parts)}.")


def batches(alpha: float, c: float, k: int, free: int) -> None:
    """The roofline's gain of a chain of k against how many requests share a pass."""
    sizes = 2 ** np.arange(0, 10)
    tokens = expected_tokens(alpha, k)
    gain = [computed.batched_speedup(tokens, c, k, int(b), free) for b in sizes]
    ax = picture("Where the batch eats the gain", "speed over plain decoding")
    ax.plot(sizes, gain, "o-", color=TARGET, linewidth=2.2)
    for b, value in zip(sizes, gain, strict=True):
        ax.annotate(f"{value:.2f}", (b, value), xytext=(6, 9), textcoords="offset points",
                    ha="center", bbox=PAPER)  # fmt: skip
    ax.axhline(1, color="black", linewidth=1)
    edge = free / (k + 1)
    ax.axvline(edge, color="black", linestyle=":")
    ax.annotate(f"{edge:.0f} requests x {k + 1} tokens\nfill the free {free}", (edge, 0.25),
                xytext=(-6, 0), textcoords="offset points", ha="right")  # fmt: skip
    ax.set_xscale("log", base=2)
    ax.set_xticks(sizes, [str(b) for b in sizes])
    ax.set(xlabel=f"requests at once; alpha = {alpha:g}, c = {c:g}, K = {k}", ylim=(0, 4))
    parts = [f"{b}: {value:.2f}" for b, value in zip(sizes, gain, strict=True)]
    show(
        ax.figure,
        f"Speed over plain decoding by the roofline, by requests at once. {', '.join(parts)}. From "
        f"{edge:.0f} requests on the pass over a block costs more.",
    )
