"""The figures of chapter 08 on what was measured with the decoder that runs there.

Rows, blocks and the like come from specdec_lib.measure; only their attributes are used.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from specdec_lib.lessons.ch05.checks import conditional_rates
from specdec_lib.lessons.common.drawing import (
    bars,
    legend_below,
    named_rows,
    panels,
    picture,
    write_above,
)
from specdec_lib.lessons.common.style import ACCEPTED, DRAFT, EXCESS, TARGET, role, show

KINDS = ("accepted", "corrected", "bonus")
BASELINES = (
    ("our plain decoding", "empirical", "accepted"),
    ("Hugging Face generate", "over_hugging", "draft"),
    ("Hugging Face assisted", "over_assisted", "excess"),
)
NO_HUGGING = (
    "Hugging Face was not run beside your decoder: the turns with plain decoding come first. The\n"
    "experiment's cell says why: most often no time was left, and with LONGER = 2 there is."
)
NOTHING = "Nothing was measured end to end yet: let the experiment's cell run to its end."


def beside_the_papers(
    rows: Sequence[Any], paper: Sequence[Any], chen: Sequence[Any], bench: Sequence[Any] = ()
) -> None:
    """Promised and measured speed-ups of the measured rows, above those of the papers.

    `bench` has Spec-Bench's rows by device, of which the draft model's is drawn.
    """
    mine = _measured(rows)
    own = [f"{r.draft} on {r.target}, {r.task}, T = {r.temperature}" for r in mine]
    printed = _printed(paper, chen, bench)
    names = own + [name for name, _ in printed]
    ax = picture("Your machine, and the papers below", size=(8.6, 1.2 + 0.29 * len(names)))
    y = named_rows(ax, names)
    promised = [r.with_prompt for r in mine] + [r.expected for r in paper]
    measured = [r.empirical["median"] for r in mine] + [value for _, value in printed]
    hollow = {"color": "white", "markeredgecolor": "black"}
    ax.plot(promised, y[: len(promised)], "o", label="promised", **hollow)
    ax.plot(measured, y, "D", color=ACCEPTED, label="measured")
    _formulas(ax, y, mine)
    ax.axvline(1, color="black", linewidth=1)
    ax.axhline(y[len(mine)] + 0.5, color="black", linewidth=0.8, linestyle=":")
    ax.set_xlabel("times as fast as plain decoding")
    legend_below(ax)
    lines = map(_in_words, own, mine)
    values = (f"{r.draft} {r.task} T = {r.temperature}: {r.measured}" for r in paper)
    says = f"Speed-ups on this machine: {'; '.join(lines)}. Below, the papers' printed values: "
    show(ax.figure, f"{says}{'; '.join(values)}.")


def _printed(
    paper: Sequence[Any], chen: Sequence[Any], bench: Sequence[Any]
) -> list[tuple[str, float]]:
    """The papers' measured speed-ups, each with its name, in the order of `paper` first."""
    found = [(f"{r.draft}, {r.task}, T = {r.temperature}", r.measured) for r in paper]
    found += [(f"Chen: {r.benchmark}, {r.sampling}", r.speedup) for r in chen]
    for row in (r for r in bench if r.method == "Draft model"):
        devices = {"RTX 3090": row.rtx3090_speedup, "A100": row.a100_speedup}
        found += [
            (f"Spec-Bench: Vicuna 7B, draft model, {device}", speedup)
            for device, speedup in devices.items()
        ]
    return found


def _formulas(ax: Axes, y: Sequence[float], mine: Sequence[Any]) -> None:
    """What the formulas promise for the measured rows, and the quartiles of these."""
    cross = {"color": DRAFT, "markersize": 9, "markeredgewidth": 2.5}
    bar = {"color": "black", "markersize": 12}
    for at, row in zip(y, mine, strict=False):
        ax.plot([row.empirical["low"], row.empirical["high"]], [at, at], color="black")
        ax.plot(row.formula, at, "x", **cross)
        ax.plot(row.expected, at, "|", **bar)
    ax.plot([], [], "x", label="formula, v = 1 (yours)", **cross)
    ax.plot([], [], "|", label="with v (yours)", **bar)


def _in_words(name: str, row: Any) -> str:
    """The four speed-ups of a measured row."""
    return (
        f"{name}: formula {row.formula:.2f}, with v {row.expected:.2f}, promised with the prompt "
        f"{row.with_prompt:.2f}, measured {row.empirical['median']:.2f}"
    )


def against_hugging_face(rows: Sequence[Any]) -> None:
    """The measured rows over three baselines, if there was time for Hugging Face's two."""
    mine = [row for row in _measured(rows) if row.over_hugging]
    if not mine:
        print(NO_HUGGING)
        return
    size = (max(8.2, 1.9 * len(mine)), 4.0)
    ax = picture("One decoder, three baselines", "times as fast", size=size)
    parts = [_over(ax, mine, number, *each) for number, each in enumerate(BASELINES)]
    ax.axhline(1, color="black", linewidth=1)
    ax.set_xticks(range(len(mine)), [_name(row, settings=True) for row in mine], fontsize=9)
    ax.set_xlim(-0.8, len(mine) - 0.2)
    legend_below(ax)
    show(ax.figure, f"Measured rows {', '.join(map(_name, mine))}: {'; '.join(parts)}.")


def _over(ax: Axes, mine: Sequence[Any], number: int, name: str, part: str, dress: str) -> str:
    """The bars over one baseline, where it was run; returns them in words."""
    found = [getattr(row, part) for row in mine]
    medians = [each["median"] for each in found]
    at = np.arange(len(mine)) + 0.27 * (number - 1)
    bars(ax, at, medians, dress, 0.25, label=f"over {name}", text=".2f")
    reach = [[m - e["low"] for m, e in zip(medians, found, strict=True)]]
    reach += [[e["high"] - m for m, e in zip(medians, found, strict=True)]]
    ax.errorbar(at + 0.07, medians, reach, fmt="none", color="black")
    return f"over {name}: {', '.join(f'{m:.2f}' for m in medians)}"


def _measured(rows: Sequence[Any]) -> list[Any]:
    """The rows that were run end to end. ValueError if there is none, as after an interrupt."""
    if not (mine := [row for row in rows if row.empirical]):
        raise ValueError(NOTHING)
    return mine


def _name(row: Any, settings: bool = False) -> str:
    """What a row is about; with `settings`, on lines of their own, what Hugging Face ran with."""
    setting = f"{row.task}, T = {row.temperature}"
    if not settings:
        return f"{row.draft} on {row.target}, {setting}"
    theirs = f"generate: {row.hugging}\nassisted: {row.assisted}"
    return f"{row.draft} on {row.target}\n{setting}\n{theirs}"


def alpha_beside_table_3(rows: Sequence[Any], paper: Sequence[Any]) -> None:
    """The acceptance rates of every target's drafts, and those of the paper's Table 3.

    The costlier versions of the first target accept what it accepts and are left out.
    """
    told = [row for row in rows if row.published or row.target == rows[0].target]
    found: dict[tuple[str, str, str], dict[int, Any]] = {}
    for row in told:
        found.setdefault((row.draft, row.target, row.task), {})[row.temperature] = row
    both = {", ".join(key): (each[0], each[1]) for key, each in found.items() if len(each) == 2}
    theirs = [(f"{r.draft}, {r.target}", r.greedy, r.sampled) for r in paper]
    mine = [(name, cold.alpha, warm.alpha) for name, (cold, warm) in both.items()]
    left, right = panels(2, (9.0, 4.6 + 0.1 * max(len(mine) - 14, 0)), sharey=True)
    for ax, title, listed in ((left, "Yours", mine), (right, "Table 3 of the paper", theirs)):
        _rates(ax, title, listed)
    _intervals(left, list(both.values()))
    left.legend(loc="lower left")
    words = "; ".join(f"{name}: {cold.rate} and {warm.rate}" for name, (cold, warm) in both.items())
    show(
        left.figure,
        f"Acceptance at temperature 0 and 1. {words}. Beside them Table 3 of the paper.",
    )


def _rates(ax: Axes, title: str, listed: Sequence[tuple[str, float, float]]) -> None:
    x = np.arange(len(listed))
    ax.plot(x - 0.1, [cold for _, cold, _ in listed], "s", color=DRAFT, label="T = 0")
    ax.plot(x + 0.1, [warm for *_, warm in listed], "o", color=TARGET, label="T = 1")
    ax.set(title=title, ylim=(0, 1))
    ax.set_xticks(x, [name for name, *_ in listed], rotation=90, fontsize=8)


def _intervals(ax: Axes, pairs: Sequence[tuple[Any, Any]]) -> None:
    """The intervals of rates that were resampled."""
    for x, pair in enumerate(pairs):
        for shift, row in zip((-0.1, 0.1), pair, strict=True):
            if row.low is not None:
                ax.plot([x + shift] * 2, [row.low, row.high], color="black", linewidth=1)


def engineering(versions: Sequence[Any]) -> None:
    """Versions of one decoder over plain decoding, with quartiles."""
    ax = picture("Same rule, three ways of working between the passes", size=(7.6, 3.4))
    y = named_rows(ax, [each.name for each in versions])
    medians = [each.speedup.median for each in versions]
    quartiles = np.array([[each.speedup.low, each.speedup.high] for each in versions])
    lines = ax.plot(quartiles.T, [y, y], color="black")
    lines[0].set_label("quartiles")
    ax.plot(medians, y, "D", color=ACCEPTED, markersize=8, label="median")
    write_above(ax, medians, y, (f"{median:.2f}" for median in medians), gap=8, fontsize=9)
    ax.axvline(1, color="black", linewidth=1)
    ax.set_xlabel("times as fast as plain decoding")
    legend_below(ax, 2)
    told = "; ".join(f"{each.name}: {each.speedup}" for each in versions)
    show(ax.figure, f"Speed over plain decoding. {told}.")


def fates(block: Any) -> tuple[int, int, int]:
    """Tokens of a block that were accepted, corrected and bonus."""
    added = block.kept > block.accepted
    return min(block.accepted, block.kept), int(added and not block.bonus), int(block.bonus)


def blocks_over_time(blocks: Sequence[Any]) -> None:
    """Tokens of each block of one text, by fate."""
    ax = picture(f"Tokens a block, {len(blocks)} blocks of one text", "tokens", size=(8.2, 3.2))
    x, base = np.arange(1, len(blocks) + 1), np.zeros(len(blocks))
    counts = np.array([fates(block) for block in blocks])
    for i, (kind, dress) in enumerate(zip(KINDS, ("accepted", "residual", "target"), strict=True)):
        ax.bar(x, counts[:, i], 0.8, base, **role(dress) | {"label": kind})
        base = base + counts[:, i]
    mean = float(base.mean())
    ax.axhline(mean, color="black", linestyle="--", label=f"mean {mean:.2f}")
    ax.set_xlabel("block")
    legend_below(ax, 4)
    listed = ", ".join(f"{int(total)}" for total in base)
    show(ax.figure, f"Tokens of each block: {listed}. Mean {mean:.2f}.")


def timeline(blocks: Sequence[Any], most: int = 12) -> None:
    """The draft and verify times of the first blocks, one after the other."""
    shown = list(blocks[:most])
    ax = picture("Where the time of a block goes", size=(8.2, 2.6))
    now, parts = 0.0, []
    for number, block in enumerate(shown, 1):
        for seconds, name, y in (
            (block.draft_seconds, "draft", 0),
            (block.verify_seconds, "target", 1),
        ):
            ax.barh(y, 1e3 * seconds, 0.6, 1e3 * now, **role(name) | {"label": None})
            now += seconds
        both = f"{1e3 * block.draft_seconds:.1f} and {1e3 * block.verify_seconds:.1f} ms"
        parts.append(f"block {number}: {both}")
    ax.set_yticks([0, 1], ["draft", "verify"])
    ax.set_xlabel("milliseconds from the first block on")
    ax.grid(axis="x")
    show(ax.figure, f"Drafting and verifying, by block. {'; '.join(parts)}.")


def by_position(counts: Sequence[tuple[int, int]], k: int) -> None:
    """Acceptance by position in the block, given that the earlier ones were accepted."""
    whole = [accepted for accepted, drafted in counts if drafted == k]
    rates, tried = zip(*conditional_rates(whole, k), strict=True)
    pairs = list(zip(rates, tried, strict=True))
    errors = [(rate * (1 - rate) / n) ** 0.5 if n else 0.0 for rate, n in pairs]
    ax = picture(f"Where a position was reached: {len(whole)} blocks of {k}", "share accepted")
    x, words = np.arange(1, k + 1), "share, with its standard error"
    ax.errorbar(x, rates, errors, fmt="o", color="black", capsize=4, label=words)
    ax.set_xticks(x, [f"{i}\n{n} judged" for i, n in zip(x, tried, strict=True)])
    ax.set_xlabel("position in the block")
    ax.set_ylim(0, 1)
    ax.legend(loc="lower left")
    told = "; ".join(f"position {i}: {rate:.3f} of {n}" for i, (rate, n) in enumerate(pairs, 1))
    show(ax.figure, f"Acceptance by position. {told}.")


def by_class(found: Mapping[str, tuple[float, float, int]]) -> None:
    """Acceptance by class of token on held-out code, at both temperatures."""
    ax = picture("Accepted by kind of token, base draft, held-out code", "alpha", size=(7.6, 3.6))
    x = np.arange(len(found))
    bars(ax, x - 0.2, [cold for cold, _, _ in found.values()], "draft", 0.38, label="T = 0")
    bars(ax, x + 0.2, [warm for _, warm, _ in found.values()], "target", 0.38, label="T = 1")
    ax.set_xticks(x, [f"{name}\n{count} tokens" for name, (_, _, count) in found.items()])
    ax.set_ylim(0, 1)
    legend_below(ax, 2)
    told = "; ".join(f"{n}, {c} tokens: {a:.3f} and {b:.3f}" for n, (a, b, c) in found.items())
    show(ax.figure, f"Acceptance by class at temperature 0 and 1. {told}.")


def batches(served: Sequence[Any]) -> None:
    """Tokens a second and the time of a request, by batch and K; K = 0 is plain decoding."""
    left, right = panels(2, (9.0, 3.8))
    looks = (("black", "o", "-"), (ACCEPTED, "D", "--"), (EXCESS, "^", ":"), (DRAFT, "s", "-."))
    ks = list(dict.fromkeys(each.k for each in served))
    for k, look in zip(ks, looks, strict=False):
        _served(left, right, [each for each in served if each.k == k], look)
    left.set_title("Tokens a second, whole batch")
    right.set_title("Seconds a request")
    for inside, words in (("white", "median request"), ("black", "slowest request")):
        mark = {"marker": "o", "linestyle": "none", "color": "black", "markerfacecolor": inside}
        right.plot([], [], label=words, **mark)
    right.legend()
    for ax in (left, right):
        ax.set_xlabel("requests in a batch")
        ax.set_xticks(sorted({each.batch for each in served}))
        ax.set_ylim(bottom=0)
    left.legend()
    show(left.figure, f"By batch and K. {'; '.join(map(_served_in_words, served))}.")


def _served(left: Axes, right: Axes, rows: Sequence[Any], look: tuple[str, str, str]) -> None:
    """The lines of one K in both pictures."""
    colour, marker, line = look
    x, dress = [each.batch for each in rows], {"color": colour, "marker": marker}
    left.plot(x, [r.tokens_a_second for r in rows], linestyle=line, label=_way(rows[0]), **dress)
    right.plot(x, [r.slowest for r in rows], linestyle=line, **dress)
    hollow = {"linestyle": "none", "markerfacecolor": "white"}
    right.plot(x, [r.latency for r in rows], **dress, **hollow)


def _way(row: Any) -> str:
    return f"K = {row.k}" if row.k else "plain"


def _served_in_words(row: Any) -> str:
    return (
        f"batch {row.batch}, {_way(row)}: {row.tokens_a_second:.0f} tokens/s, {row.gain:.2f} times "
        f"plain, median {row.latency:.2f} s, slowest {row.slowest:.2f} s"
    )
