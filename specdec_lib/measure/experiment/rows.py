"""A row of the experiment: a target, a draft, a task and a temperature; and rows as a table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from specdec_lib.measure.core import interval
from specdec_lib.measure.core.interval import Rate
from specdec_lib.measure.core.runs import GREEDY, SAMPLED
from specdec_lib.measure.core.timing import Spread
from specdec_lib.measure.experiment.contest import CHEN_K
from specdec_lib.theory import Costs, expected_tokens, walltime_speedup

DISTURBED = "This run was disturbed ({why}): close other programs and run the cell again."
TEMPERATURES = {0: GREEDY, 1: SAMPLED}
HEAD = (
    "target", "draft", "task", "T", "alpha", "c", "K", "formula", "with v", "and prompt",
    "measured", "at K = 4", "tokens a pass",
)  # fmt: skip
LEFT = ("target", "draft", "task")  # columns of words


@dataclass(frozen=True)
class Row:
    """One setting. `formula` counts a verification as one pass, `expected` as measured.

    `expected` is E / (c K + v(K+1)) by the costs of this machine, over plain decoding where that is
    fastest; `with_prompt` is what is left of it in a run that reads a prompt, too. `empirical` is
    over the same plain decoding, `at_4` the same with K = 4, as Chen et al. had it; `over_hugging`
    and `over_assisted` are over Hugging Face's two, in the settings `hugging` and `assisted`. All
    have a median and quartiles, or are None if the setting was not run. `disturbed` says why the
    measured ones are not to be trusted. `tokens_a_block` counts the correction or bonus, as the
    formula promises; `tokens_a_pass` were counted. `alpha` is over `positions` positions, with the
    interval from `low` to `high`. `over` is the plain decoding that the speed-ups are over.
    `published` tells a pair of the hub, whose models are not in memory after its rows.
    """

    target: str
    draft: str
    task: str
    temperature: int
    alpha: float
    c: float
    k: int
    formula_k: int
    formula: float
    expected: float
    with_prompt: float
    expected_at_4: float
    tokens_a_block: float
    empirical: dict[str, float] | None = None
    at_4: dict[str, float] | None = None
    over_hugging: dict[str, float] | None = None
    over_assisted: dict[str, float] | None = None
    hugging: str | None = None
    assisted: str | None = None
    disturbed: str | None = None
    low: float | None = None
    high: float | None = None
    positions: int | None = None
    tokens_a_pass: float | None = None
    over: str | None = None
    published: bool = False

    @property
    def rate(self) -> str:
        """alpha in words, with no more digits than its interval allows."""
        return interval.shown(self.alpha, self.low, self.high)


def row_of(
    target: str, draft: str, task: str, temperature: int, rate: Rate, costs: Costs,
    prompt: float = 0, tokens: int = 1,
) -> Row:  # fmt: skip
    """What the formula and the measured cost promise; K is at least 1, so that there is a block.

    A run writes `tokens` tokens and reads a prompt, which takes `prompt` plain passes.
    """
    alpha = rate.value
    flat = Costs(costs.c, dict.fromkeys(costs.v, 1.0))
    formula_k, k = (max(1, each.best_k(alpha)) for each in (flat, costs))
    expected = costs.speedup(alpha, k)
    return Row(
        target, draft, task, temperature, alpha, costs.c, k, formula_k,
        formula=walltime_speedup(alpha, costs.c, formula_k),
        expected=expected,
        with_prompt=(prompt + tokens) / (prompt + tokens / expected),
        expected_at_4=costs.speedup(alpha, CHEN_K),
        tokens_a_block=expected_tokens(alpha, k),
        low=rate.low, high=rate.high, positions=rate.positions,
    )  # fmt: skip


def best(rows: Sequence[Row], temperature: int | None = None) -> Row:
    """The measured row with the largest median speed-up, of one temperature or of all.

    Of the built-in target and its costlier versions: the figures that follow run its models, and
    those of a published pair are no longer in memory. Raises ValueError if none was measured, as in
    a run that was stopped early.
    """
    wanted = TEMPERATURES if temperature is None else (temperature,)
    own = [row for row in rows if not row.published]
    measured = [row for row in own if row.empirical and row.temperature in wanted]
    if not measured:
        raise ValueError(
            f"of {len(rows)} rows none was measured end to end: let the experiment run to its end"
        )
    return max(measured, key=lambda row: row.empirical["median"])


def losing(rows: Sequence[Row]) -> str:
    """How many rows promise less than plain decoding, and the three that promise least."""
    below = sorted((row.expected, place) for place, row in enumerate(rows))
    below = [(each, rows[place]) for each, place in below if round(each, 2) < 1]
    head = f"{len(below)} of {len(rows)} settings promise less than plain decoding (1.00), even"
    lines = [f"{head}\nwith the best K above 0." + (" The lowest promises:" if below else "")]
    for expected, row in below[:3]:
        where = f"{row.draft} on {row.target}, {row.task}, T = {row.temperature}"
        lines.append(f"  {expected:.2f}  {where}")
    return "\n".join(lines)


def table(rows: Sequence[Row]) -> str:
    """The rows as text, a line each, and one more below a row whose run was disturbed.

    A column that no row fills is left out.
    """
    filled = [cells(row) for row in rows]
    kept = [at for at in range(len(HEAD)) if any(line[at] for line in filled)]
    widths = {at: max(len(line[at]) for line in (HEAD, *filled)) for at in kept}
    lines = [_line(HEAD, widths)]
    for row, line in zip(rows, filled, strict=True):
        lines.append(_line(line, widths))
        if row.disturbed:
            lines.append("  " + DISTURBED.format(why=row.disturbed))
    return "\n".join(lines)


def _line(texts: Sequence[str], widths: Mapping[int, int]) -> str:
    padded = [
        f"{texts[at]:<{width}}" if HEAD[at] in LEFT else f"{texts[at]:>{width}}"
        for at, width in widths.items()
    ]
    return "  ".join(padded).rstrip()


def cells(row: Row) -> list[str]:
    """What the columns of HEAD show of a row; empty where it was not run."""
    setting = row.target, row.draft, row.task, str(row.temperature)
    formula = f"{row.formula:.2f}, K {row.formula_k}"
    promises = f"{row.expected:.2f}", f"{row.with_prompt:.2f}"
    ends = shown(row.empirical), shown(row.at_4)
    passes = "" if row.tokens_a_pass is None else f"{row.tokens_a_pass:.2f}"
    return [*setting, row.rate, f"{row.c:.3f}", str(row.k), formula, *promises, *ends, passes]


def shown(measured: Mapping[str, float] | None) -> str:
    """A median with its quartiles; nothing if the setting was not run."""
    return "" if measured is None else str(Spread(**measured))
