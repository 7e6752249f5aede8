"""The paper's experiment on this machine: the columns of Leviathan et al. (2023), Tables 2 to 4.

Targets x drafts x temperature 0 and 1 x two tasks. For each: alpha on held-out text, c and v from
bare passes, K and the speed-up that the formula and the measured cost promise, and, if it is run
end to end, how many times as fast as plain decoding it was, with Hugging Face beside it. The
distribution of a cost-scaled target is the built-in one's, and so is its alpha.
"""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from specdec_lib.assets import ASSETS, BUILT_IN_DRAFTS
from specdec_lib.device import name_of
from specdec_lib.drafters.lookup import lookup
from specdec_lib.measure.core import interval
from specdec_lib.measure.core.acceptance import (
    Acceptance,
    acceptances,
    model_reader,
    readers,
    remembered,
)
from specdec_lib.measure.core.held_out import all_tokens
from specdec_lib.measure.core.interval import Rate
from specdec_lib.measure.core.pages import markdown, write_table
from specdec_lib.measure.core.runs import GREEDY, SAMPLED
from specdec_lib.measure.core.timing import Spread
from specdec_lib.measure.experiment import published, survey
from specdec_lib.measure.experiment.budget import ACCEPTANCE, PUBLISHED, RUNS, Part
from specdec_lib.measure.experiment.contest import CHEN_K, Contest, Setting
from specdec_lib.measure.experiment.costs import EARLY_EXIT, LOOKUP, NGRAM, Found, exit_layer
from specdec_lib.measure.experiment.loops import LIBRARY, Loop
from specdec_lib.measure.experiment.machine import Machine
from specdec_lib.measure.experiment.results_file import Results, ResultsError, fresh_path
from specdec_lib.measure.quiet.runs import DISTURBED
from specdec_lib.measure.strategies import first_layers, lookup_reader
from specdec_lib.models.llama import Llama
from specdec_lib.models.scale import COSTS
from specdec_lib.theory import Costs, expected_tokens, walltime_speedup

TASKS = {"code": ".py", "prose": ".txt"}
PUBLISHED_PLAIN = "plain of the same pair"
TRIAL = 500  # positions that tell how long the others take
TEMPERATURES = {0: GREEDY, 1: SAMPLED}
HEAD = (
    "target", "draft", "task", "T", "alpha", "c", "K", "formula", "with v", "and prompt",
    "measured", "at K = 4", "tokens a pass", "over",
)  # fmt: skip
LEFT_OUT = ("and prompt", "at K = 4", "tokens a pass", "over")  # of a page
PAGE_HEAD = tuple(name for name in HEAD if name not in LEFT_OUT)
LINE = "{:11}{:14}{:14}{:>2}{:>16}{:>7}{:>4}{:>12}{:>8}{:>12}{:>22}{:>22}{:>15}  {}"
TABLE = "the table of chapter 08"  # its name in a page


@dataclass(frozen=True)
class Row:
    """One setting. `formula` counts a verification as one pass, `expected` as measured.

    `expected` is the bound E / (c K + v(K+1)) of this machine, over plain decoding where that is
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


def acceptance_rates(positions: int, part: Part) -> dict[tuple[str, str], Acceptance]:
    """By task and draft, on up to `positions` held-out positions each; nothing is sampled."""
    target, drafts = readers()
    vocabulary = Llama.from_folder(ASSETS / "target").vocab_size
    drafts[LOOKUP] = lookup_reader(partial(lookup, max_ngram=NGRAM), vocabulary)
    drafts[EARLY_EXIT] = remembered(model_reader(first_layers(exit_layer())))
    by_draft = {}
    for number, (task, end) in enumerate(TASKS.items()):
        texts = [text for text in all_tokens() if text.name.endswith(end)]
        mine = part.share(len(TASKS) - number)

        def rates(most: int, task: str = task, texts: Sequence = texts) -> dict[str, Acceptance]:
            found = {}
            for name, draft in drafts.items():
                part.note(f"{name} on {task}")
                found |= acceptances(target, {name: draft}, texts, most)
            return found

        found = rates(min(TRIAL, positions))
        most = affordable(positions, mine, task)
        found = rates(most) if most > TRIAL else found
        by_draft |= {(task, name): rate for name, rate in found.items()}
    return by_draft


def affordable(positions: int, part: Part, task: str) -> int:
    """How many of `positions` fit into what is left, after TRIAL of them."""
    fitting = int(TRIAL * part.left / part.used) if part.used else positions
    most = min(positions, max(fitting, TRIAL))
    if most < positions:
        part.leave_out(f"{positions - most:,} of {positions:,} positions of {task}")
    return most


def promised(
    name: str, rates: Mapping[tuple[str, str], Acceptance], costs: Found, tokens: int
) -> list[Row]:
    """The rows of one target, with nothing run end to end; a run writes `tokens` tokens."""
    return [
        row_of(
            name, draft, task, temperature, found.rate(temperature), costs.drafts[draft],
            costs.prompt, tokens,
        )
        for (task, draft), found in rates.items()
        for temperature in TEMPERATURES
    ]  # fmt: skip


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


def to_run(rows: Sequence[Row], everything: bool) -> list[Row]:
    """The rows that are run end to end: the best model draft at each temperature, or all of them.

    Drafts that are no models are left out: the student's loop drives models. Temperature 1 is
    first, since the last ones are left out where the time is short.
    """
    models = [row for row in rows if row.draft in BUILT_IN_DRAFTS]
    if everything:
        return sorted(models, key=lambda row: -row.temperature)
    return [
        max((row for row in models if row.temperature == t), key=lambda row: row.expected)
        for t in reversed(TEMPERATURES)
    ]


def run(machine: Machine, loop: Loop, results: Results) -> Iterator[Row]:
    """Every row of every target, the measured ones last; each is in `results` when it comes out."""
    for row in chain(run_built_in(machine, loop), run_published(machine, loop)):
        results.add(asdict(row))
        yield row


def run_built_in(machine: Machine, loop: Loop) -> Iterator[Row]:
    """The rows of the built-in target and of its costlier versions.

    Only costlier targets are run end to end on a CPU: on the built-in one nothing is gained.
    """
    with machine.budget.part(ACCEPTANCE) as part:
        rates = acceptance_rates(machine.effort.positions, part)
    waiting: list[Row] = []
    for name in machine.targets:
        rows = promised(name, rates, machine.costs[name], machine.effort.tokens)
        chosen = [] if name == "built-in" else to_run(rows, machine.whole_grid)
        yield from (row for row in rows if row not in chosen)
        waiting += chosen
    with machine.budget.part(RUNS) as part:
        yield from run_rows(machine, loop, waiting, part)


def run_rows(machine: Machine, loop: Loop, rows: Sequence[Row], part: Part) -> Iterator[Row]:
    """Rows end to end, the first one always; those for which no time is left come as they are."""
    contests = {name: Contest(machine, name, loop) for name in machine.targets}
    for number, row in enumerate(rows):
        contest = contests[row.target]
        where = f"{row.draft} on {row.target}, {row.task}, T = {row.temperature}"
        if number and not part.fits(contest.least_seconds(), f"the run of {where}"):
            yield row
            continue
        setting = Setting(row.draft, row.k, TASKS[row.task], TEMPERATURES[row.temperature])
        sides = {}
        if part.fits(contest.least_seconds(hugging=True), f"Hugging Face beside {where}"):
            sides = contest.sides(setting, part)
        outcome = contest.outcome(setting, sides, part.share(len(rows) - number))
        over = f"plain in {name_of(machine.best_plain(row.target).dtype)}"
        yield replace(row, **outcome.to_json(), over=over)


def run_published(machine: Machine, loop: Loop) -> Iterator[Row]:
    """The rows of the published pairs, all of them end to end; alpha is counted on blocks."""
    if not machine.published:
        return
    with machine.budget.part(PUBLISHED) as part:
        for name, draft, contest in published.contests(machine, loop, part):
            yield from run_pair(name, draft, contest)


def run_pair(name: str, draft: str, contest: published.PublishedContest) -> Iterator[Row]:
    """The rows of one published pair."""
    for task, texts in contest.tasks().items():
        costs = contest.costs(texts[0])
        for temperature, warp in TEMPERATURES.items():
            row = row_of(name, draft, task, temperature, contest.alpha(texts, warp), costs)
            outcome = contest.outcome(texts, row.k, warp).to_json()
            yield replace(row, **outcome, published=True, over=PUBLISHED_PLAIN)


def begin(machine: Machine, loop: Loop, path: Path | str | None = None) -> Results:
    """A new results file for this machine, by default named after the present time."""
    return Results(path or fresh_path(), loop.whose, machine.to_json())


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


def table(rows: Sequence[Row]) -> str:
    """The rows as text, a line each, and one more below a row whose run was disturbed."""
    lines = [LINE.format(*HEAD).rstrip()]
    for row in rows:
        lines.append(LINE.format(*cells(row)).rstrip())
        if row.disturbed:
            lines.append("  " + DISTURBED.format(why=row.disturbed))
    return "\n".join(lines)


def cells(row: Row) -> list[str]:
    """What the columns of HEAD show of a row; "at K = 4" and what follows only if it was run."""
    setting = row.target, row.draft, row.task, str(row.temperature)
    figures = (
        row.rate,
        f"{row.c:.3f}",
        str(row.k),
        f"{row.formula:.2f}, K {row.formula_k}",
    )
    promises = f"{row.expected:.2f}", f"{row.with_prompt:.2f}"
    ends = shown(row.empirical), shown(row.at_4)
    passes = "" if row.tokens_a_pass is None else f"{row.tokens_a_pass:.2f}"
    return [*setting, *figures, *promises, *ends, passes, row.over or ""]


def shown(measured: Mapping[str, float] | None) -> str:
    """A median with its quartiles; nothing if the setting was not run."""
    return "" if measured is None else str(Spread(**measured))


def page_table(content: Mapping[str, Any]) -> str:
    """The rows of a results file that have a draft model and a costlier target, as Markdown."""
    rows = [Row(**each) for each in content["rows"]]
    kept = [row for row in rows if row.draft in BUILT_IN_DRAFTS and row.target in COSTS]
    places = [HEAD.index(name) for name in PAGE_HEAD]
    return markdown(PAGE_HEAD, ([cells(row)[at] for at in places] for row in kept))


def main(arguments: list[str] | None = None) -> int:
    """Measure everything, print the table, leave the JSON; returns the exit code."""
    options = parser().parse_args(arguments)
    machine = survey.look()
    try:
        results = begin(machine, LIBRARY, options.json)
    except (FileExistsError, ResultsError) as error:
        print(error, file=sys.stderr)
        return 2
    rows: dict[str, list[Row]] = {}
    for row in run(machine, LIBRARY, results):
        rows.setdefault(row.target, []).append(row)
    for name, of_target in rows.items():
        print(f"\nTarget {name}\n{table(of_target)}")
    print(f"\n{results.path}")
    if options.markdown:
        write_table(options.markdown, TABLE, page_table(results.content))
    return 0


def parser() -> argparse.ArgumentParser:
    """The options."""
    command = argparse.ArgumentParser(
        prog="python -m specdec_lib.measure.experiment", description=__doc__
    )
    option = command.add_argument
    option("--json", type=Path, metavar="FILE", help="the results file (a new name)")
    option("--markdown", type=Path, metavar="FILE", help="write the table into this page")
    return command
