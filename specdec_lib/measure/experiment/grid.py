"""The paper's experiment on this machine: the columns of Leviathan et al. (2023), Tables 2 to 4.

Targets x drafts x temperature 0 and 1 x two tasks. For each: alpha on held-out text, c and v from
bare passes, K and the speed-up that the formula and the measured cost promise. The model drafts are
also run on code, by turns with plain decoding and with Hugging Face's two decoders. The
distribution of a cost-scaled target is the built-in one's, and so is its alpha.
"""

from functools import partial
from typing import Any

import pandas as pd
import torch

from specdec_lib.assets import ASSETS
from specdec_lib.measure import hugging
from specdec_lib.measure.compare import Decoder, compare, summary
from specdec_lib.measure.core.acceptance import Acceptance, acceptances, readers
from specdec_lib.measure.core.held_out import all_tokens, prompts
from specdec_lib.measure.core.runs import GREEDY, SAMPLED, plain, straight
from specdec_lib.measure.core.timing import interleaved
from specdec_lib.measure.experiment.costs import PROMPT_TOKENS, Found
from specdec_lib.measure.experiment.loops import Loop
from specdec_lib.measure.experiment.survey import BUILT_IN, Machine
from specdec_lib.theory import Costs, walltime_speedup

TASKS = {"code": ".py", "prose": ".txt"}
TIMED = "code"  # the task whose prompts are run
TEMPERATURES = {1: SAMPLED, 0: GREEDY}
POSITIONS = 8000  # of held-out text an acceptance rate
PROMPTS, TOKENS, ROUNDS = 3, 32, 2  # of the runs
POOL = 60  # prompts that greedy ones are chosen from
TRIAL = 8  # tokens after which Hugging Face's dtype is chosen
PLAIN, GENERATE, ASSISTED = "plain", "generate", "assisted"


def run(machine: Machine, loop: Loop) -> pd.DataFrame:
    """Every row of every target; those that were run have `measured` and its quartiles.

    `over generate` and `over assisted` are over Hugging Face's two decoders.
    """
    rows = promised(machine)
    for target in reversed(machine.targets):  # the costlier one first
        theirs = fastest_dtype(machine, target)
        for temperature in TEMPERATURES:
            found = (rows.target == target) & (rows.task == TIMED) & rows.draft.isin(machine.drafts)
            chosen = rows[found & (rows.temperature == temperature)]
            decoders = contestants(machine, loop, chosen, theirs)
            runs = compare(decoders, texts(machine, temperature), rounds=ROUNDS)
            for at, draft in chosen.draft.items():
                speeds = measured(runs, draft)
                rows.loc[at, list(speeds)] = list(speeds.values())
    return rows


def promised(machine: Machine) -> pd.DataFrame:
    """What the formula and the measured cost promise, with nothing run."""
    rates = acceptance_rates(machine.times(POSITIONS))
    return pd.DataFrame(
        row_of(target, draft, task, temperature, rate, machine.costs[target])
        for target in machine.targets
        for (task, draft), rate in rates.items()
        for temperature in TEMPERATURES
    )


def acceptance_rates(positions: int) -> dict[tuple[str, str], Acceptance]:
    """By task and draft, on `positions` held-out positions each; nothing is sampled."""
    (target, drafts), rates = readers(), {}
    for task, ending in TASKS.items():
        held = [text for text in all_tokens() if text.name.endswith(ending)]
        found = acceptances(target, drafts, held, positions)
        rates |= {(task, draft): rate for draft, rate in found.items()}
    return rates


def row_of(
    target: str, draft: str, task: str, temperature: int, rate: Acceptance, found: Found
) -> dict[str, Any]:
    """The promises of one setting; K is at least 1, so that there is a block.

    `formula` counts a verification as one pass, `with v` as measured. `and prompt` is what is left
    of that in a run of TOKENS tokens that reads a prompt, too.
    """
    alpha, costs = rate.alpha if temperature else rate.greedy, found.drafts[draft]
    flat = Costs(costs.c, dict.fromkeys(costs.v, 1.0))
    formula_k, k = (max(1, each.best_k(alpha)) for each in (flat, costs))
    with_v = costs.speedup(alpha, k)
    return {
        "target": target,
        "draft": draft,
        "task": task,
        "temperature": temperature,
        "alpha": alpha,
        "c": costs.c,
        "K": k,
        "formula": walltime_speedup(alpha, costs.c, formula_k),
        "its K": formula_k,
        "with v": with_v,
        "and prompt": (found.prompt + TOKENS) / (found.prompt + TOKENS / with_v),
    }


def contestants(
    machine: Machine, loop: Loop, rows: pd.DataFrame, theirs: hugging.Counted
) -> dict[str, Decoder]:
    """Plain decoding, the loop with the draft and K of each row, and Hugging Face's two.

    Assisted generation has the draft and K of the row that promises most.
    """
    best = rows.loc[rows["with v"].idxmax()]
    target, warp = machine.targets[best.target], TEMPERATURES[best.temperature]
    decoders = {PLAIN: plain(target, warp, TOKENS)}
    for row in rows.to_dict("records"):
        draft = machine.drafts[row["draft"]]
        decoders[row["draft"]] = loop.decoder(target, draft, row["K"], warp, TOKENS)
    folder = ASSETS / best.draft
    helper = hugging.Counted.of_folder(folder, machine.drafts[best.draft].dtype, machine.device)
    write = partial(hugging.generate, theirs, new_tokens=TOKENS, sample=bool(warp.temperature > 0))
    return decoders | {GENERATE: write, ASSISTED: partial(write, draft=helper, k=int(best.K))}


def fastest_dtype(machine: Machine, target: str) -> hugging.Counted:
    """The same target in transformers, in the dtype in which it generates faster here."""
    if machine.device.type != "cpu":
        return hugging.Counted.of_target(target, machine.targets[target].dtype, machine.device)
    models = [hugging.Counted.of_target(target, dtype) for dtype in (torch.float32, torch.bfloat16)]
    (prompt,) = prompts(1, PROMPT_TOKENS)
    tasks = {i: partial(hugging.generate, each, prompt, TRIAL) for i, each in enumerate(models)}
    seconds = interleaved(tasks, rounds=1)
    return models[min(seconds, key=lambda i: seconds[i])]


def texts(machine: Machine, temperature: int) -> list[list[int]]:
    """Held-out prompts; for greedy runs those after which the built-in target has no loops."""
    count, ending = machine.times(PROMPTS), TASKS[TIMED]
    if temperature:
        return prompts(count, PROMPT_TOKENS, ending)
    decoder = plain(machine.targets[BUILT_IN], GREEDY, TOKENS)
    return straight(decoder, prompts(max(POOL, count), PROMPT_TOKENS, ending), count)


def measured(runs: pd.DataFrame, name: str) -> dict[str, float]:
    """How many times as fast the decoder `name` was, by the baseline, with quartiles over plain."""
    over = {other: summary(runs, other).loc[name] for other in (PLAIN, GENERATE, ASSISTED)}
    return {
        "measured": over[PLAIN].speedup,
        "low": over[PLAIN].low,
        "high": over[PLAIN].high,
        "over generate": over[GENERATE].speedup,
        "over assisted": over[ASSISTED].speedup,
    }
