"""The rows of published pairs: what each promises, and what it measures, in the time there is.

What cannot be had (the hub gone, too little memory at any step, tokenizers that differ) is said,
and the next pair is taken.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

import torch

from specdec_lib.measure.experiment.budget import PUBLISHED, Part
from specdec_lib.measure.experiment.loops import Loop
from specdec_lib.measure.experiment.machine import Machine, let_go
from specdec_lib.measure.experiment.published.group import LONGEST, Group, loaded
from specdec_lib.measure.experiment.published.tasks import Task, Texts, tasks_of, texts_of
from specdec_lib.measure.experiment.rows import TEMPERATURES, Row, row_of
from specdec_lib.models.catalogue import gigabytes

Say = Callable[[str], None]
# A PairError, a folder that is not what it seems, too little memory.
LEFT_OUT = (ValueError, OSError, torch.OutOfMemoryError)


def run_published(machine: Machine, loop: Loop, say: Say = print) -> Iterator[Row]:
    """The rows of all published pairs; the costlier built-in targets are let go before.

    The first pair is always run. A further one is, if it can be loaded in the time that is left,
    judged by how long a gigabyte of the last one took.
    """
    if not machine.published:
        return
    machine.release()
    # Fetched before the clock runs.
    found = {task: texts_of(task, say) for name in machine.published for task in tasks_of(name)}
    with machine.budget.part(PUBLISHED) as part:
        a_gigabyte = 0.0
        for number, name in enumerate(machine.published):
            size = gigabytes(name)
            if number and not part.fits(a_gigabyte * size, f"the pair {name}"):
                continue
            mine, before = part.share(len(machine.published) - number), part.used
            group = group_of(machine, loop, name, mine, say)
            a_gigabyte = (part.used - before) / size
            try:
                if group:
                    yield from rows_of_pair(group, found, mine, say)
            except torch.OutOfMemoryError as error:
                say(f"{name}: the rest is left out: {error}")
            group = None  # before the next one is loaded


def group_of(machine: Machine, loop: Loop, name: str, part: Part, say: Say) -> Group | None:
    """One target with all its drafts; None, and a line that says why, if it cannot be had."""
    part.note(f"{name} is loaded")
    let_go()  # the pair before this one
    try:
        return loaded(machine, name, loop)
    except LEFT_OUT as error:
        say(f"{name} is left out: {error}")
        return None


def rows_of_pair(group: Group, found: dict[Task, Texts], part: Part, say: Say) -> Iterator[Row]:
    """The rows of one target with all its drafts: those that were run come last."""
    name = group.name
    texts = {each.name: group.short(each.texts) for each in map(found.get, tasks_of(name))}
    for empty in [task for task, those in texts.items() if not those]:
        say(f"{name}: every text of {empty} is longer than {LONGEST} tokens")
        del texts[empty]
    yield from run_rows(group, promised(group, texts, part), texts, part)


def promised(group: Group, texts: dict[str, list[str]], part: Part) -> list[Row]:
    """The rows with nothing run end to end: temperature 1 of every task first.

    The first setting is always looked at, and those that still fit. One half of the time is for
    what is promised, the other for what is run.
    """
    costs, rows, last = group.costs(), [], 0.0
    settings = [(t, task) for t in sorted(TEMPERATURES, reverse=True) for task in texts]
    for number, (temperature, task) in enumerate(settings):
        what = f"{group.name}: {task} at temperature {temperature}"
        if number and not part.fits(last, what):
            continue
        before, mine = part.used, part.share(2 * len(settings) - number)
        rates = group.rates(texts[task], TEMPERATURES[temperature], mine)
        last = part.used - before
        rows += [
            replace(
                row_of(group.name, draft, task, temperature, rate, costs[draft]), published=True
            )
            for draft, rate in rates.items()
        ]
    return rows


def run_rows(
    group: Group, rows: list[Row], texts: dict[str, list[str]], part: Part
) -> Iterator[Row]:
    """Rows end to end, those that promise most first; those without time come as they are."""
    last = 0.0
    for number, row in enumerate(sorted(rows, key=lambda each: -each.expected)):
        what = f"the run of {row.draft} on {row.target}, {row.task}, T = {row.temperature}"
        if number and not part.fits(last, what):
            yield row
            continue
        before, mine = part.used, part.share(len(rows) - number)
        chosen = texts[row.task][: group.machine.effort.prompts]
        yield measured(group, row, chosen, mine)
        last = part.used - before


def measured(group: Group, row: Row, texts: list[str], part: Part) -> Row:
    """A row, run end to end on `texts`."""
    warp = TEMPERATURES[row.temperature]
    outcome = group.outcome(row.draft, texts, row.k, warp, part)
    return replace(
        row,
        **outcome.to_json(),
        tokens_a_pass=group.tokens_a_pass(row.draft, texts, row.k, warp),
        over="plain decoding of the target",
    )
