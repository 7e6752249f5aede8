"""The paper's experiment on this machine: the columns of Leviathan et al. (2023), Tables 2 to 4.

Targets x drafts x temperature 0 and 1 x two tasks. For each: alpha on held-out text, c and v from
bare passes, K and the speed-up that the formula and the measured cost promise, and, if it is run
end to end, how many times as fast as plain decoding it was, with Hugging Face beside it. The
distribution of a cost-scaled target is the built-in one's, and so is its alpha.
"""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

from specdec_lib.assets import ASSETS, BUILT_IN_DRAFTS
from specdec_lib.device import name_of
from specdec_lib.drafters.lookup import lookup
from specdec_lib.measure.core.acceptance import (
    Acceptance,
    acceptances,
    model_reader,
    readers,
    remembered,
)
from specdec_lib.measure.core.held_out import all_tokens
from specdec_lib.measure.core.pages import markdown, write_table
from specdec_lib.measure.experiment import survey
from specdec_lib.measure.experiment.budget import ACCEPTANCE, RUNS, Part
from specdec_lib.measure.experiment.contest import Contest, Setting
from specdec_lib.measure.experiment.costs import EARLY_EXIT, LOOKUP, NGRAM, Found, exit_layer
from specdec_lib.measure.experiment.loops import LIBRARY, Loop
from specdec_lib.measure.experiment.machine import Machine
from specdec_lib.measure.experiment.results_file import Results, ResultsError, fresh_path
from specdec_lib.measure.experiment.rows import (
    HEAD,
    TEMPERATURES,
    Row,
    best,  # noqa: F401 (chapter 08 calls it here)
    cells,
    losing,  # noqa: F401 (chapter 08 calls it here)
    row_of,
    table,
)
from specdec_lib.measure.strategies import first_layers, lookup_reader
from specdec_lib.models.llama import Llama
from specdec_lib.models.scale import COSTS

TASKS = {"code": ".py", "prose": ".txt"}
TRIAL = 500  # positions that tell how long the others take
LEFT_OUT = ("and prompt", "at K = 4", "tokens a pass")  # of a page
PAGE_HEAD = tuple(name for name in HEAD if name not in LEFT_OUT)
TABLE = "the table of chapter 08"  # its name in a page


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
    for row in run_built_in(machine, loop):
        results.add(asdict(row))
        yield row


def run_built_in(machine: Machine, loop: Loop) -> Iterator[Row]:
    """The rows of the built-in target and of its costlier versions.

    Only costlier targets are run end to end on a CPU: on the built-in one nothing is gained. It is
    run where it stands alone, because no costlier one fits into the memory or the time.
    """
    with machine.budget.part(ACCEPTANCE) as part:
        rates = acceptance_rates(machine.effort.positions, part)
    waiting: list[Row] = []
    to_be_run = [name for name in machine.targets if name != "built-in"] or ["built-in"]
    for name in machine.targets:
        rows = promised(name, rates, machine.costs[name], machine.effort.tokens)
        chosen = to_run(rows, machine.whole_grid) if name in to_be_run else []
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
        share = part.share(len(rows) - number)
        yield run_row(contest, row, share, where)


def run_row(contest: Contest, row: Row, share: Part, where: str) -> Row:
    """A row, run end to end in its share of a part; with Hugging Face if the share has time."""
    setting = Setting(row.draft, row.k, TASKS[row.task], TEMPERATURES[row.temperature])
    outcome = contest.outcome(setting, share, where)
    over = f"plain in {name_of(contest.machine.best_plain(row.target).dtype)}"
    return replace(row, **outcome.to_json(), over=over)


def begin(machine: Machine, loop: Loop, path: Path | str | None = None) -> Results:
    """A new results file for this machine, by default named after the present time."""
    return Results(path or fresh_path(), loop.whose, machine.to_json())


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
