"""The paper's experiment on this machine: the columns of Leviathan et al. (2023), Tables 2 to 4.

Targets x drafts x temperature 0 and 1 x two tasks. For each: alpha on held-out text, c and v from
bare passes, K and the speed-up that the formula and the measured cost promise, and, if it is run
end to end, how many times as fast as plain decoding it was, with Hugging Face beside it. The
distribution of a cost-scaled target is the built-in one's, and so is its alpha.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from tqdm import tqdm

from specdec_lib import assets
from specdec_lib.assets import ASSETS, BUILT_IN_DRAFTS
from specdec_lib.drafters.early_exit import EarlyExit
from specdec_lib.drafters.lookup import PromptLookup, lookup
from specdec_lib.drafters.ngram import Counts, NgramDrafter
from specdec_lib.drafters.protocol import Drafter
from specdec_lib.measure.core import held_out
from specdec_lib.measure.core.acceptance import (
    NGRAMS,
    Acceptance,
    acceptances,
    model_reader,
    readers,
    remembered,
)
from specdec_lib.measure.core.costs import K_MAX, costs_by_draft, pass_task
from specdec_lib.measure.core.pages import markdown, write_table
from specdec_lib.measure.core.runs import GREEDY, SAMPLED
from specdec_lib.measure.core.timing import Spread
from specdec_lib.measure.experiment import published, survey
from specdec_lib.measure.experiment.contest import CHEN_K, Contest
from specdec_lib.measure.experiment.loops import LIBRARY, Loop
from specdec_lib.measure.experiment.machine import Machine
from specdec_lib.measure.experiment.results_file import Results, ResultsError, fresh_path
from specdec_lib.measure.strategies import first_layers, lookup_reader
from specdec_lib.models.checkpoint import read_shape
from specdec_lib.models.llama import Llama
from specdec_lib.models.protocol import prefill
from specdec_lib.models.scale import COSTS
from specdec_lib.sampling import Greedy
from specdec_lib.theory import Costs, expected_tokens, walltime_speedup

TASKS = {"code": ".py", "prose": ".txt"}
LOOKUP, EARLY_EXIT = "prompt lookup", "early exit"
NGRAM = 3  # tokens that prompt lookup looks for at most
TEMPERATURES = {0: GREEDY, 1: SAMPLED}
HEAD = ("draft", "task", "T", "alpha", "c", "K", "formula", "with v", "measured", "at K = 4")
PAGE_HEAD = ("target", *HEAD[:-1])
TABLE = "the table of chapter 08"  # its name in a page


@dataclass(frozen=True)
class Row:
    """One setting. `formula` counts a verification as one pass, `expected` as measured.

    `empirical` is over plain decoding by the same forward pass, `at_4` the same with K = 4, as Chen
    et al. had it; `over_hugging` and `over_assisted` are over Hugging Face's two. All have a median
    and quartiles, or are None if the setting was not run. `tokens_a_block` counts the
    correction or bonus.
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
    expected_at_4: float
    tokens_a_block: float
    empirical: dict[str, float] | None = None
    at_4: dict[str, float] | None = None
    over_hugging: dict[str, float] | None = None
    over_assisted: dict[str, float] | None = None


def acceptance_rates(positions: int) -> dict[tuple[str, str], Acceptance]:
    """By task and draft, on `positions` held-out positions each; nothing is sampled."""
    target, drafts = readers()
    vocabulary = Llama.from_folder(ASSETS / "target").vocab_size
    drafts[LOOKUP] = lookup_reader(partial(lookup, max_ngram=NGRAM), vocabulary)
    drafts[EARLY_EXIT] = remembered(model_reader(first_layers(exit_layer())))
    tokenizer = assets.tokenizer()
    by_draft = {}
    with tqdm(total=len(TASKS), desc="acceptance rates", leave=False, disable=None) as bar:
        for task, end in TASKS.items():
            chosen = [each for each in assets.documents() if each.name.endswith(end)]
            texts = [held_out.encoded(each, tokenizer) for each in chosen]
            rates = acceptances(target, drafts, texts, positions)
            by_draft |= {(task, name): rate for name, rate in rates.items()}
            bar.update()
    return by_draft


def exit_layer() -> int:
    """Where the early exit leaves the built-in target: after half of its layers."""
    return read_shape(ASSETS / "target").layers // 2


def costs_on(machine: Machine, target: Llama) -> tuple[dict[str, Costs], float]:
    """c and v of every draft beside `target`, and the seconds of a plain pass."""
    steps = {name: pass_task(draft, 1) for name, draft in machine.drafts.items()}
    for name, drafter in other_drafters(target).items():
        steps[name] = step_task(drafter, target)
    return costs_by_draft(target, steps, K_MAX, machine.effort.passes)


def other_drafters(target: Llama) -> dict[str, Drafter]:
    """The drafters that are no model of their own."""
    counts = Counts.load(ASSETS / "ngrams.npz")
    ngrams = {name: NgramDrafter(counts, order, target.device) for name, order in NGRAMS.items()}
    return ngrams | {
        LOOKUP: PromptLookup(target.vocab_size, target.device, NGRAM),
        EARLY_EXIT: EarlyExit(target, exit_layer()),
    }


def step_task(drafter: Drafter, target: Llama) -> Callable[[], object]:
    """One draft token of a drafter, after a held-out prompt, as a task that can be timed."""
    prompts = held_out.prompts(1)
    capacity = len(prompts[0]) + 1
    cache = target.new_cache(1, capacity)
    prefill(target, cache, prompts)
    drafter.start(prompts, GREEDY, capacity, cache)
    return lambda: drafter.propose(prompts, [1], Greedy())


def promised(
    name: str, rates: Mapping[tuple[str, str], Acceptance], costs: Mapping[str, Costs]
) -> list[Row]:
    """The rows of one target, with nothing run end to end."""
    return [
        row_of(name, draft, task, temperature, alpha, costs[draft])
        for (task, draft), rate in rates.items()
        for temperature, alpha in ((0, rate.greedy), (1, rate.alpha))
    ]


def row_of(target: str, draft: str, task: str, temperature: int, alpha: float, costs: Costs) -> Row:
    """What the formula and the measured cost promise; K is at least 1, so that there is a block."""
    flat = Costs(costs.c, dict.fromkeys(costs.v, 1.0))
    formula_k, k = (max(1, each.best_k(alpha)) for each in (flat, costs))
    return Row(
        target, draft, task, temperature, alpha, costs.c, k, formula_k,
        formula=walltime_speedup(alpha, costs.c, formula_k),
        expected=costs.speedup(alpha, k),
        expected_at_4=costs.speedup(alpha, CHEN_K),
        tokens_a_block=expected_tokens(alpha, k),
    )  # fmt: skip


def to_run(rows: Sequence[Row], everything: bool) -> list[Row]:
    """The rows that are run end to end: the best model draft at each temperature, or all of them.

    Drafts that are no models are left out: the student's loop drives models.
    """
    models = [row for row in rows if row.draft in BUILT_IN_DRAFTS]
    if everything:
        return models
    return [
        max((row for row in models if row.temperature == t), key=lambda row: row.expected)
        for t in TEMPERATURES
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
    rates = acceptance_rates(machine.effort.positions)
    for name, target in machine.targets.items():
        costs, _ = costs_on(machine, target)
        rows = promised(name, rates, costs)
        chosen = [] if name == "built-in" else to_run(rows, machine.whole_grid)
        yield from (row for row in rows if row not in chosen)
        contest = Contest(machine, name, target, loop)
        for row in chosen:
            warp = TEMPERATURES[row.temperature]
            outcome = contest.outcome(row.draft, row.k, TASKS[row.task], warp)
            yield replace(row, **outcome.to_json())


def run_published(machine: Machine, loop: Loop) -> Iterator[Row]:
    """The rows of the published pairs, all of them end to end; alpha is counted on blocks."""
    for name, draft, contest in published.contests(machine, loop):
        for task, texts in contest.tasks().items():
            costs = contest.costs(texts[0])
            for temperature, warp in TEMPERATURES.items():
                alpha = contest.alpha(texts, warp)
                row = row_of(name, draft, task, temperature, alpha, costs)
                yield replace(row, **contest.outcome(texts, row.k, warp).to_json())


def begin(machine: Machine, loop: Loop, path: Path | str | None = None) -> Results:
    """A new results file for this machine, by default named after the present time."""
    return Results(path or fresh_path(), loop.whose, machine.to_json())


def best(rows: Sequence[Row], temperature: int | None = None) -> Row:
    """The measured row with the largest median speed-up, of one temperature or of all.

    Raises ValueError if none was measured, as in a run that was stopped early.
    """
    wanted = TEMPERATURES if temperature is None else (temperature,)
    measured = [row for row in rows if row.empirical and row.temperature in wanted]
    if not measured:
        raise ValueError(
            f"of {len(rows)} rows none was measured end to end: let the experiment run to its end"
        )
    return max(measured, key=lambda row: row.empirical["median"])


def table(rows: Sequence[Row]) -> str:
    """The rows as text, a line each."""
    line = "{:14}{:7}{:>2}{:>7}{:>7}{:>4}{:>12}{:>8}{:>22}{:>22}"
    lines = [line.format(*HEAD)]
    for row in rows:
        *before, formula, with_v, measured, at_4 = cells(row)
        formula = f"{formula}, K {row.formula_k}"
        lines.append(line.format(*before, formula, with_v, measured, at_4))
    return "\n".join(lines)


def cells(row: Row) -> list[str]:
    """What the columns of HEAD show of a row."""
    figures = f"{row.alpha:.3f}", f"{row.c:.3f}", str(row.k), f"{row.formula:.2f}"
    ends = shown(row.empirical), shown(row.at_4)
    return [row.draft, row.task, str(row.temperature), *figures, f"{row.expected:.2f}", *ends]


def shown(measured: Mapping[str, float] | None) -> str:
    """A median with its quartiles; nothing if the setting was not run."""
    return "" if measured is None else str(Spread(**measured))


def page_table(content: Mapping[str, Any]) -> str:
    """The rows of a results file that have a draft model and a costlier target, as Markdown."""
    rows = [Row(**each) for each in content["rows"]]
    kept = [row for row in rows if row.draft in BUILT_IN_DRAFTS and row.target in COSTS]
    return markdown(PAGE_HEAD, ([row.target, *cells(row)[:-1]] for row in kept))


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
