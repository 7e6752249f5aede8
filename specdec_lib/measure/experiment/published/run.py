"""The rows of published pairs: what each promises, and what it measures, in the time there is.

What cannot be had (the hub gone, too little memory at any step, tokenizers that differ) is said,
and the next pair is taken.
"""

from collections.abc import Callable, Iterator
from dataclasses import asdict, replace

from specdec_lib.measure.core.memory import attempt, let_go
from specdec_lib.measure.experiment.budget import PUBLISHED, Part
from specdec_lib.measure.experiment.loops import Loop
from specdec_lib.measure.experiment.machine import Machine
from specdec_lib.measure.experiment.published.group import LONGEST, Group, loaded
from specdec_lib.measure.experiment.published.tasks import Task, Texts, tasks_of, texts_of
from specdec_lib.measure.experiment.rows import TEMPERATURES, Row, row_of

Say = Callable[[str], None]


def run_published(machine: Machine, loop: Loop, say: Say = print) -> Iterator[Row]:
    """The rows of all published pairs; the costlier built-in targets are let go before."""
    if not machine.published:
        return
    machine.release()
    # Fetched before the clock runs.
    found = {task: texts_of(task, say) for name in machine.published for task in tasks_of(name)}
    with machine.budget.part(PUBLISHED) as part:
        for number, name in enumerate(machine.published):
            mine = part.share(len(machine.published) - number)
            yield from rows_of_pair(machine, loop, name, found, mine, say)


def rows_of_pair(
    machine: Machine, loop: Loop, name: str, found: dict[Task, Texts], part: Part, say: Say
) -> Iterator[Row]:
    """The rows of one target with all its drafts: those that were run come last."""
    part.note(f"{name} is loaded")
    let_go()  # the pair before this one
    try:
        group = attempt(name, lambda: loaded(machine, name, loop), say)
    except (ValueError, OSError) as error:  # a PairError, or a folder that is not what it seems
        say(f"{name} is left out: {error}")
        return
    if group is None:
        return
    texts = {each.name: group.short(each.texts) for each in map(found.get, tasks_of(name))}
    for empty in [task for task, those in texts.items() if not those]:
        say(f"{name}: every text of {empty} is longer than {LONGEST} tokens")
        del texts[empty]
    promises = [
        row
        for number, task in enumerate(texts)
        # One half of the time is for what is promised, the other for what is run.
        for row in promised(group, task, texts[task], part.share(2 * len(texts) - number), say)
    ]
    yield from run_rows(group, promises, texts, part, say)


def promised(group: Group, task: str, texts: list[str], part: Part, say: Say) -> list[Row]:
    """The rows of a task with nothing run end to end: at temperature 1 first, draft by draft."""
    costs = attempt(f"{group.name}: its bare passes", group.costs, say)
    rows = []
    for number, (temperature, warp) in enumerate(sorted(TEMPERATURES.items(), reverse=True)):
        mine = part.share(len(TEMPERATURES) - number)
        what = f"{group.name}: {task} at temperature {temperature}"
        rates = costs and attempt(what, lambda w=warp, p=mine: group.rates(texts, w, p), say)
        rows += [
            replace(
                row_of(group.name, draft, task, temperature, rate, costs[draft]), published=True
            )
            for draft, rate in (rates or {}).items()
        ]
    return rows


def run_rows(
    group: Group, rows: list[Row], texts: dict[str, list[str]], part: Part, say: Say
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
        yield attempt(what, lambda r=row, c=chosen, p=mine: measured(group, r, c, p), say) or row
        last = part.used - before


def measured(group: Group, row: Row, texts: list[str], part: Part) -> Row:
    """A row, run end to end on `texts`."""
    warp = TEMPERATURES[row.temperature]
    outcome = group.outcome(row.draft, texts, row.k, warp, part)
    captured = group.captured(row.draft, texts, row.k, warp)
    return replace(
        row,
        **outcome.to_json(),
        captured=captured and asdict(captured),
        tokens_a_pass=group.tokens_a_pass(row.draft, texts, row.k, warp),
        over="plain decoding of the target",
    )
