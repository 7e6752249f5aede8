"""The figures of chapter 08 on what was measured with the decoder that runs there.

Tables come from specdec_lib.measure.experiment as DataFrames, blocks from the library's decoder.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from specdec_lib.lessons.ch05.checks import conditional_rates
from specdec_lib.lessons.common.drawing import legend_below, named_rows, panels, picture
from specdec_lib.lessons.common.series import draw, in_words, series_figure, table
from specdec_lib.lessons.common.style import ACCEPTED, role, show

if TYPE_CHECKING:
    import pandas as pd

KINDS = {"accepted": "accepted", "corrected": "residual", "bonus": "target"}
COLUMNS = ["draft", "temperature", "alpha", "c", "K", "formula", "with v", "and prompt"]
MARKS = {
    "formula": ("x", {"color": "black", "markersize": 8}),
    "with v": ("|", {"color": "black", "markersize": 12}),
    "promised": ("o", {"color": "white", "markeredgecolor": "black"}),
    "measured": ("D", {"color": ACCEPTED}),
}


def results(rows: "pd.DataFrame", target: str) -> None:
    """The rows of a target that were run, as a table: what was promised, and what was measured."""
    mine = rows[(rows.target == target) & rows.measured.notna()]
    shown = mine[COLUMNS].copy()
    ends = zip(mine.measured, mine.low, mine.high, strict=True)
    shown["measured (quartiles)"] = ["{:.2f} ({:.2f} to {:.2f})".format(*each) for each in ends]
    table(shown.set_index("draft"), f"Target {target}, {' and '.join(mine.task.unique())}")


def beside_the_papers(
    rows: "pd.DataFrame", paper: Sequence[Any], chen: Sequence[Any], bench: Sequence[Any] = ()
) -> None:
    """Promised and measured speed-ups of the rows that were run, above those of the papers.

    `bench` has Spec-Bench's rows by device, of which the draft model's is drawn.
    """
    mine = rows[rows.measured.notna()]
    names = [f"{r.draft} on {r.target}, T = {r.temperature}" for r in mine.itertuples()]
    printed = _printed(paper, chen, bench)
    values = {
        "formula": mine.formula.tolist(),
        "with v": mine["with v"].tolist(),
        "promised": [*mine["and prompt"], *(row.expected for row in paper)],
        "measured": [*mine.measured, *printed.values()],
    }
    names += printed
    ax = picture("Your machine, and the papers below", size=(8.6, 1.2 + 0.29 * len(names)))
    y = named_rows(ax, names)
    ax.hlines(y[: len(mine)], mine.low, mine.high, color="black")
    for name, found in values.items():
        mark, look = MARKS[name]
        ax.plot(found, y[: len(found)], mark, label=name, **look)
    ax.axvline(1, color="black", linewidth=1)
    ax.axhline(y[len(mine)] + 0.5, color="black", linewidth=0.8, linestyle=":")
    ax.set_xlabel("times as fast as plain decoding")
    legend_below(ax, 4)
    told = (in_words(names[: len(each)], {name: each}) for name, each in values.items())
    show(ax.figure, f"Speed-ups on this machine, then the papers' printed ones. {'; '.join(told)}.")


def _printed(paper: Sequence[Any], chen: Sequence[Any], bench: Sequence[Any]) -> dict[str, float]:
    """The papers' measured speed-ups by name, those of `paper` first."""
    found = {f"{r.draft}, {r.task}, T = {r.temperature}": r.measured for r in paper}
    found |= {f"Chen: {r.benchmark}, {r.sampling}": r.speedup for r in chen}
    for row in (r for r in bench if r.method == "Draft model"):
        name = "Spec-Bench: Vicuna 7B, draft model"
        found |= {f"{name}, RTX 3090": row.rtx3090_speedup, f"{name}, A100": row.a100_speedup}
    return found


def against_hugging_face(rows: "pd.DataFrame") -> None:
    """The rows that were run over three baselines."""
    mine = rows[rows.measured.notna()]
    names = [f"{r.draft}\n{r.target}, T = {r.temperature}" for r in mine.itertuples()]
    values = {
        "over our plain decoding": mine.measured.tolist(),
        "over Hugging Face generate": mine["over generate"].tolist(),
        "over Hugging Face assisted": mine["over assisted"].tolist(),
    }
    size = max(8.2, 1.5 * len(mine)), 4.0
    look = {"kind": "bars", "roles": ("accepted", "draft", "excess"), "text": ".2f"}
    series_figure(
        "One decoder, three baselines", names, values, ylabel="times as fast", size=size, **look
    )


def alpha_beside_table_3(rows: "pd.DataFrame", paper: Sequence[Any]) -> None:
    """The acceptance rates of the first target's drafts, and those of the paper's Table 3.

    The costlier version of that target accepts what it accepts.
    """
    first = rows[rows.target == rows.target.iloc[0]]
    mine = first.pivot_table("alpha", ["task", "draft"], "temperature", sort=False)
    names = [f"{draft}, {task}" for task, draft in mine.index]
    left, right = panels(2, (9.0, 4.6), sharey=True)
    yours = {f"T = {t}": mine[t].tolist() for t in (0, 1)}
    theirs = {"T = 0": [r.greedy for r in paper], "T = 1": [r.sampled for r in paper]}
    told = draw(left, names, yours, kind="marks")
    draw(right, [f"{r.draft}, {r.target}" for r in paper], theirs, kind="marks")
    for ax, title in ((left, "Yours"), (right, "Table 3 of the paper")):
        ax.set(title=title, ylim=(0, 1))
        ax.tick_params(axis="x", rotation=90, labelsize=8)
    left.legend(loc="lower left")
    show(left.figure, f"Acceptance rates. {told}. Beside them Table 3 of the paper.")


def engineering(versions: "pd.DataFrame") -> None:
    """Versions of one decoder over plain decoding, with quartiles."""
    ends = {"median, and quartiles": list(zip(versions.low, versions.high, strict=True))}
    series_figure(
        "Same rule, three ways of working between the passes",
        list(versions.index),
        {"median, and quartiles": versions.speedup.tolist()},
        ylabel="times as fast as plain",
        kind="bars",
        roles=("accepted",),
        ends=ends,
        text=".2f",
    )


def fates(block: Any) -> tuple[int, int, int]:
    """Tokens of a block that were accepted, corrected and bonus."""
    added = block.kept > block.accepted
    return min(block.accepted, block.kept), int(added and not block.bonus), int(block.bonus)


def blocks_over_time(blocks: Sequence[Any]) -> None:
    """Tokens of each block of one text, by fate."""
    ax = picture(f"Tokens a block, {len(blocks)} blocks of one text", "tokens", size=(8.2, 3.2))
    x, base = np.arange(1, len(blocks) + 1), np.zeros(len(blocks))
    for counts, (kind, dress) in zip(
        np.transpose([*map(fates, blocks)]), KINDS.items(), strict=True
    ):
        ax.bar(x, counts, 0.8, base, **role(dress) | {"label": kind})
        base = base + counts
    mean = float(base.mean())
    ax.axhline(mean, color="black", linestyle="--", label=f"mean {mean:.2f}")
    ax.set_xlabel("block")
    legend_below(ax, 4)
    listed = ", ".join(f"{int(total)}" for total in base)
    show(ax.figure, f"Tokens of each block: {listed}. Mean {mean:.2f}.")


def timeline(blocks: Sequence[Any], most: int = 12) -> None:
    """The draft and verify times of the first blocks, one after the other."""
    times = np.array([[1e3 * b.draft_seconds, 1e3 * b.verify_seconds] for b in blocks[:most]])
    ends = times.cumsum().reshape(times.shape)
    ax = picture("Where the time of a block goes", size=(8.2, 2.6))
    for column, name in enumerate(("draft", "target")):
        starts = ends[:, column] - times[:, column]
        ax.barh(column, times[:, column], 0.6, starts, **role(name) | {"label": None})
    ax.set_yticks([0, 1], ["draft", "verify"])
    ax.set_xlabel("milliseconds from the first block on")
    ax.grid(axis="x")
    told = in_words(range(1, len(times) + 1), {"draft": times[:, 0], "verify": times[:, 1]})
    show(ax.figure, f"Milliseconds by block. {told}.")


def by_position(counts: Sequence[tuple[int, int]], k: int) -> None:
    """Acceptance by position in the block, given that the earlier ones were accepted."""
    whole = [accepted for accepted, drafted in counts if drafted == k]
    rates, judged = zip(*conditional_rates(whole, k), strict=True)
    errors = [(r * (1 - r) / n) ** 0.5 if n else 0.0 for r, n in zip(rates, judged, strict=True)]
    ends = [(rate - error, rate + error) for rate, error in zip(rates, errors, strict=True)]
    ax = picture(f"Where a position was reached: {len(whole)} blocks of {k}", "share accepted")
    places = [f"position {i}\n{n} judged" for i, n in enumerate(judged, 1)]
    words = "share, with its standard error"
    told = draw(ax, places, {words: rates}, kind="marks", ends={words: ends})
    ax.set(xlim=(-0.5, k - 0.5), ylim=(0, 1))
    ax.legend(loc="lower left")
    show(ax.figure, f"Acceptance by position. {told}.")


def by_class(found: Mapping[str, tuple[float, float, int]]) -> None:
    """Acceptance by class of token on held-out code, at both temperatures."""
    cold, warm, counts = zip(*found.values(), strict=True)
    names = [f"{name}\n{count} tokens" for name, count in zip(found, counts, strict=True)]
    values = {"T = 0": cold, "T = 1": warm}
    look = {"ylabel": "alpha", "size": (7.6, 3.6), "kind": "bars", "roles": ("draft", "target")}
    series_figure("Accepted by kind of token, base draft, held-out code", names, values, **look)


def batches(served: "pd.DataFrame") -> None:
    """Tokens a second, the median request and the last one, by batch and K."""
    axes, told = panels(3, (9.4, 3.6)), []
    for ax, column in zip(axes, ("tokens a second", "median request", "last request"), strict=True):
        found = served.pivot(index="batch", columns="K", values=column)
        ways = {f"K = {k}" if k else "plain": found[k].tolist() for k in found}
        told.append(f"{column}: {draw(ax, found.index, ways)}")
        ax.set(title=column, xlabel="requests in a batch")
        ax.set_xticks(found.index)
        ax.set_ylim(bottom=0)
    for ax in axes[1:]:
        ax.set_ylabel("seconds")
    axes[0].legend()
    show(axes[0].figure, f"By batch and K. {'; '.join(told)}.")
