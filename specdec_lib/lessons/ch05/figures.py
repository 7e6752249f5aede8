"""The figures and tables of chapter 05: papers' rows, logs, reports, and rows of one's own.

Rows are the named tuples of the papers' tables. What a student's function is asked for is drawn as
it answers, even if it is wrong.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from specdec_lib.lessons.ch05 import computed
from specdec_lib.lessons.drawing import axes
from specdec_lib.lessons.drawing.series import draw_series, series_text, show_table
from specdec_lib.lessons.drawing.style import BAND, DRAFT_COLOUR, GREY, TARGET_COLOUR, show
from specdec_lib.lessons.drawing.tokens import box_style, draw_blocks, plain_box, token_outcomes
from specdec_lib.lessons.drawing.wording import comma_list
from specdec_lib.theory import expected_tokens

SAMPLES = 2000  # seeded blocks for each point of the one figure that samples
SQUARE = {"marker": "s", "color": TARGET_COLOUR, "markerfacecolor": "white", "markeredgewidth": 1.8}
DIAMOND = {"marker": "D", "color": "black"}


def six_blocks(accepted: Sequence[int], k: int) -> None:
    """Every draft token of some blocks as a box: accepted, rejected, or never judged."""
    title = f"{len(accepted)} blocks of {k} draft tokens; a dropped one was never judged"
    ax = axes.chart(title, size=(7.6, 3.2))
    names = [f"block {i + 1}" for i in range(len(accepted))]
    positions = [f"{i + 1}" for i in range(k)]
    blocks = [list(zip(token_outcomes(n, k), positions, strict=True)) for n in accepted]
    draw_blocks(ax, blocks, names)
    texts = [f"{name}: {n} accepted" for name, n in zip(names, accepted, strict=True)]
    show(
        ax.figure,
        f"{title}. {'; '.join(texts)}. A block that was stopped has one rejected token after the "
        "accepted ones; the rest of it was never judged.",
    )


@axes.uses_student_functions("alpha_from_blocks")
def estimated_alphas(alpha_from_blocks: Callable, k: int) -> None:
    """Seeded blocks of known alpha: what the student finds, and accepted / drafted."""
    truths = np.linspace(0.1, 0.9, 9).round(1)
    draws = [np.random.default_rng(seed).random((SAMPLES, k)) for seed in range(len(truths))]
    passed = [draw < alpha for draw, alpha in zip(draws, truths, strict=True)]
    blocks = [each.cumprod(axis=1).sum(axis=1).tolist() for each in passed]
    estimates = {
        "your function": [float(alpha_from_blocks(list(counts), k)) for counts in blocks],
        "accepted / drafted": [sum(counts) / (k * len(counts)) for counts in blocks],
    }
    title = f"Blocks of {k} made with a known alpha"
    ax = axes.chart(title, "estimate", size=(6.4, 3.8))
    ax.plot([0, 1], [0, 1], color="black", linewidth=1, label="the alpha they were made with")
    words = draw_series(ax, truths, estimates, kind="marks")
    ax.set(xlabel="alpha", ylim=(0, 1.02))
    ax.legend(loc="upper left")
    show(ax.figure, f"{title}, {SAMPLES} for each. Estimates by alpha: {words}.")


def expected_and_measured(rows: Sequence[Any]) -> None:
    """Tables 2 and 4: the interval of the formula, the printed value in it, the measured one."""
    title = "T5-XXL: what the formula expects, what the clock said"
    names = [computed.setting_name(row) for row in rows]
    measured = [row.measured for row in rows]
    marks = {"expected (printed)": [row.expected for row in rows], "measured": measured}
    ax, y = _marked_rows(title, names, marks, (7.6, 5.0))
    lows, highs = np.array([computed.rounding_interval(row.alpha, row.c, row.k) for row in rows]).T
    band = {"color": BAND, "edgecolor": GREY, "label": "formula, with the rounding"}
    ax.barh(y, highs - lows, 0.55, left=lows, zorder=1, **band)
    ax.set(xlim=(1.0, 3.7), xlabel="times as fast as plain decoding")
    axes.legend_below(ax)
    words = _by_row(names, {"formula from": lows, "to": highs} | marks)
    show(ax.figure, f"{title}. {words}.")


@axes.uses_student_functions("implied_alpha")
def implied_rates(implied_alpha: Callable, settings: Sequence[Any], loops: Sequence[Any]) -> None:
    """The alpha that each clock implies, by the student's function, beside the printed one."""
    names = [computed.setting_name(row) for row in settings]
    names += [f"Chen, {row.benchmark}, {row.sampling}" for row in loops]
    times = [(1 / row.measured, 1.0, row.c, row.k) for row in settings]
    times += [(row.speculative_ms, row.plain_ms, row.draft_ms, row.k) for row in loops]
    printed = [row.alpha for row in settings] + [float("nan")] * len(loops)
    implied = [float(implied_alpha(*timing)) for timing in times]
    marks = {"alpha (printed)": printed, "implied by your function": implied}
    title = "The acceptance rate that the clock implies"
    ax, y = _marked_rows(title, names, marks, (7.6, 5.6))
    ax.hlines(y, printed, implied, color=GREY, linewidth=1.5, zorder=1)
    for height in y[len(settings) :]:
        ax.text(0.02, height, "not printed", va="center", color="dimgrey")
    ax.set(xlim=(0, 1), xlabel="alpha")
    axes.legend_below(ax, 2)
    show(ax.figure, f"{title}. {_by_row(names, marks).replace('nan', 'not printed')}.")


def _marked_rows(
    title: str, names: Sequence[str], marks: Mapping[str, Sequence[float]], size: tuple
) -> tuple[Axes, np.ndarray]:
    """Squares and diamonds on named rows: the axes, and the heights of the rows."""
    ax = axes.chart(title, size=size)
    y = axes.label_rows(ax, names)
    for (label, values), style in zip(marks.items(), (SQUARE, DIAMOND), strict=True):
        ax.plot(values, y, linestyle="none", markersize=7, label=label, **style)
    return ax, y


def _by_row(names: Sequence[str], columns: Mapping[str, Sequence[float]]) -> str:
    """The values of every row in words."""
    rows = dict(zip(names, zip(*columns.values(), strict=True), strict=True))
    return series_text(list(columns), rows).replace("\n", ", ")


def two_orders() -> None:
    """The same slowing machine, timed one side after the other, and by turns; geometric means."""
    sides, parts = axes.panels(2, (8.6, 3.6), ylabel="seconds per run", sharey=True), []
    runs = np.arange(1, 2 * computed.N_RUNS + 1)
    places = {"all plain runs first": np.split(runs, 2), "taking turns": (runs[::2], runs[1::2])}
    for ax, (name, (first, second)) in zip(sides, places.items(), strict=True):
        plain, fast = computed.drifting_seconds(interleaved=name == "taking turns")
        ax.plot(first, plain, "o", color=TARGET_COLOUR, label="plain")
        ax.plot(second, fast, "D", color=DRAFT_COLOUR, label="speculative")
        parts.append(f"{name}: {np.exp(np.mean(np.log(plain / fast))):.2f} times as fast")
        ax.set_title(parts[-1].capitalize())
        ax.set(ylim=(0, 1.9), xlabel="run, in the order of the clock", xticks=runs[::4])
    sides[0].legend(loc="upper left")
    message = f"A method that is {computed.GAIN} times as fast, timed {'; timed '.join(parts)}"
    show(ax.figure, f"{message}. The machine becomes {computed.DRIFT:.0%} slower over the runs.")


def three_orders(k: int) -> None:
    """The same right and wrong positions in three orders, cut into the blocks of a decoder."""
    title = f"{computed.RIGHT} right positions of {computed.PATTERN}, in three orders"
    ax = axes.chart(title, size=(8.4, 2.8))
    parts, names = [], []
    for y, (name, order) in zip((2, 1, 0), computed.orderings().items(), strict=True):
        blocks, at = computed.greedy_blocks(order, k), 0
        for block in blocks:
            for x, kind in enumerate(block, at):
                plain_box(ax, x + 0.07, y, 0.86, kind)
            at += len(block)
            ax.plot([at, at], [y - 0.42, y + 0.42], color="black", linewidth=2)
        summary = f"{len(blocks)} blocks, {len(order) / len(blocks):.2f} tokens each"
        names.append(f"{name}\n{summary}")
        parts.append(f"{name}: {summary}")
    axes.label_rows(ax, names)
    ax.set(xlim=(0, len(order)), xlabel="position in the text; a line ends a block")
    ax.grid(visible=False)
    axes.legend_below(ax, handles=axes.swatches(map(box_style, ("accepted", "rejected", "bonus"))))
    alpha = sum(order) / len(order)
    summary = f"The formula gives {expected_tokens(alpha, k):.2f} at alpha {alpha:g} and K = {k}"
    show(ax.figure, f"Blocks of {k} over the same acceptances. {'; '.join(parts)}. {summary}.")


@axes.uses_student_functions("audit")
def audit_rows(audit: Callable, rows: Sequence[Any]) -> None:
    """What each row of Tables 2 and 4 needs, what its alpha allows, and the student's verdict."""
    title = "T5-XXL: the tokens per block that each row needs"
    ax = axes.chart(title, size=(8.4, 5.0))
    names = [computed.setting_name(row) for row in rows]
    needed = [computed.needed_tokens(row) for row in rows]
    formula = [expected_tokens(row.alpha + computed.RATE_EPS, row.k) for row in rows]
    most = [computed.most_tokens(row.alpha + computed.RATE_EPS, row.k) for row in rows]
    pairs = zip(rows, needed, strict=True)
    verdicts = [audit(row.alpha, row.k, n, computed.RATE_EPS, error) for row, (n, error) in pairs]
    y, tokens = axes.label_rows(ax, names), [n for n, _ in needed]
    least = [n - error for n, error in needed]
    ax.barh(y, formula, 0.6, color=BAND, edgecolor=GREY, label="the formula")
    rest = np.subtract(most, formula)
    ax.barh(y, rest, 0.6, left=formula, color="white", edgecolor=GREY, label="the best order")
    ax.hlines(y, least, tokens, color="black", linewidth=2)
    label = "needed (line: down to the least that the rounding allows)"
    ax.plot(tokens, y, linestyle="none", label=label, **DIAMOND)
    for height, verdict in zip(y, verdicts, strict=True):
        ax.text(5.85, height, f"{verdict}", va="center")
    bars = "bars: with the largest alpha that rounds to the printed one"
    ax.set(xlim=(1, 6.6), xticks=range(1, 6), xlabel=f"tokens per block; {bars}")
    axes.legend_below(ax, 1)
    columns = {"needed": tokens, "with the rounding": least, "the formula": formula}
    by_row = _by_row(names, columns | {"the best order": most})
    words = ", ".join(map("{}: {}".format, names, verdicts))
    count = verdicts.count("nothing")
    show(ax.figure, f"Unexplained by your function: {count}. {words}. {by_row}.")


@axes.uses_student_functions("audit")
def judged_logs(audit: Callable, rows: Sequence[Any]) -> None:
    """The student's verdict on rows of logs, if what they print were alpha, and two ratios."""
    columns = ("row", "K", "printed", "tokens per block", "most with this alpha", "verdict")
    cells = []
    for row in rows:
        verdict = audit(row.printed, row.k, *row[3:])
        ratios = (row.tokens - 1) / row.k, row.tokens / (row.k + 1)
        cells.append((*row[:4], computed.most_tokens(row.printed, row.k), verdict, *ratios))
    show_table(cells, columns=(*columns, "(tokens - 1) / K", "tokens / (K + 1)"))


@axes.uses_student_functions("alpha_from_blocks", "audit")
def own_rows(
    alpha_from_blocks: Callable, audit: Callable, blocks: Mapping[str, Sequence[int]], k: int
) -> None:
    """A row for each kind of text, rounded as a paper would, with the student's verdict.

    `blocks` has by kind the accepted counts of its blocks of `k`.
    """
    columns = ("text", "blocks", "accepted / drafted", "alpha", "formula", "tokens per block")
    columns += ("verdict",)
    rows = []
    for kind, accepted in blocks.items():
        alpha = round(float(alpha_from_blocks(list(accepted), k)), 2)
        share, tokens = np.mean(accepted) / k, round(float(np.mean(accepted)) + 1, 1)
        verdict = audit(alpha, k, tokens, computed.RATE_EPS, computed.SPEEDUP_EPS)
        rows.append((kind, len(accepted), share, alpha, expected_tokens(alpha, k), tokens, verdict))
    show_table(rows, f"Your pair, K = {k}, temperature 1", columns)


@axes.uses_student_functions("read_log")
def read_logs(read_log: Callable, logs: Sequence[Any]) -> None:
    """The shares of all blocks that logs print, and the student's rates of the blocks left."""
    titles = "The log: of all blocks", "Yours: of the blocks that got there"
    sides, parts = axes.panels(2, (8.8, 3.8), ylabel="accepted", sharey=True), []
    for row, (colour, dash, marker) in zip(logs, axes.LINE_STYLES, strict=True):
        accepted = list(map(float, row.accepted_at.split()))
        tokens, rates = read_log(accepted, row.blocks)
        label = f"{row.name}: {tokens:.2f} tokens per block"
        for ax, values in zip(sides, (np.divide(accepted, row.blocks), rates), strict=True):
            ax.plot(range(1, len(values) + 1), values, dash + marker, color=colour, label=label)
        parts.append(f"{label}, rates {comma_list(rates)}")
    for ax, title in zip(sides, titles, strict=True):
        ax.set(title=title, xlabel="position in the block", ylim=(0, 1.05))
    axes.legend_below(sides[0], 1)
    show(ax.figure, f"Rates of the blocks that got there, by your function. {'; '.join(parts)}.")


@axes.uses_student_functions("diagnose")
def diagnosed(diagnose: Callable, reports: Sequence[Any]) -> None:
    """Reports, what each of the three ideals would give, and the student's diagnosis: a table."""
    columns = ("report", "your function", "tokens", "K", "target_ms", "draft_ms", "verify_ms")
    columns += ("speed-up", "all accepted", "free draft", "plain pass", "assumed")
    cells = []
    for name, *run, assumed in reports:
        tokens, k, target, draft, verify = run
        blocks = [(tokens, draft, verify), (k + 1, draft, verify), (tokens, 0, verify)]
        speeds = [n * target / (k * c + v) for n, c, v in [*blocks, (tokens, draft, target)]]
        cells.append((name, diagnose(*run), *run, *speeds, assumed))
    show_table(cells, columns=columns)


def from_tokens_to_clock(row: Any) -> None:
    """The waterfall from tokens per block to the clock of a row: drafting, by shape; the rest."""
    title = f"{row.who}: from tokens per block to the clock"
    ax = axes.chart(title, size=(7.6, 2.9))
    ax.set_xlabel("times as fast")
    speeds = {"a block takes one pass": row.tokens}
    speeds[f"{row.steps} draft steps"] = row.tokens / (1 + row.steps * row.c)
    words = axes.waterfall(ax, speeds | {"a longer pass, and the rest": row.speedup}, row.speedup)
    show(ax.figure, f"{title}. {words}.")
