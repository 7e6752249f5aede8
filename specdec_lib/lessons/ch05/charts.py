"""The figures of chapter 05 on what was measured with the built-in models."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from specdec_lib.lessons.ch05.computed import RATE_EPS, SPEEDUP_EPS
from specdec_lib.lessons.drawing.axes import chart, legend_below, uses_student_functions
from specdec_lib.lessons.drawing.series import series_text, show_table
from specdec_lib.lessons.drawing.style import ACCEPTED_COLOUR, BAND, show
from specdec_lib.theory import expected_tokens


@uses_student_functions("alpha_from_blocks", "audit")
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
        verdict = audit(alpha, k, tokens, RATE_EPS, SPEEDUP_EPS)
        formula = expected_tokens(alpha, k)
        rows.append((kind, len(accepted), share, alpha, formula, tokens, verdict))
    show_table(rows, f"Your pair, K = {k}, temperature 1", columns)


@uses_student_functions("paired_speedup")
def timed_pairs(paired_speedup: Callable, plain: Sequence[float], fast: Sequence[float]) -> None:
    """The ratio of every timed text, their geometric mean by the student, and the quartiles."""
    mean = float(paired_speedup(list(plain), list(fast)))
    ratios = np.array(plain) / np.array(fast)
    texts = f"{len(ratios)} text{'s' * (len(ratios) > 1)}"
    ax = chart(f"{texts}, each timed with both decoders", "plain over speculative")
    low, high = np.quantile(ratios, (0.25, 0.75))
    spread = f"middle half of the texts: quartiles {low:.2f} and {high:.2f}"
    ax.axhspan(low, high, color=BAND, label=spread)
    x = np.arange(1, len(ratios) + 1)
    ax.plot(x, ratios, "o", color="black", label="one text")
    style = {"color": ACCEPTED_COLOUR, "linestyle": "--", "linewidth": 2}
    ax.axhline(mean, label=f"geometric mean, by your function: {mean:.2f}", **style)
    ax.axhline(1, color="black", linewidth=1)
    ax.set(xticks=x, xlabel="text", ylim=(0, 1.15 * max(*ratios, mean, 1)))
    legend_below(ax, 1)
    by_text = series_text(x, {"by text": ratios})
    words = f"Their geometric mean by your function is {mean:.3f}; {spread}."
    show(ax.figure, f"Plain over speculative seconds, {by_text}. {words}")
