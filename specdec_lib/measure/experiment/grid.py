"""The paper's experiment on this machine: the columns of Leviathan et al. (2023), Tables 2 to 4.

One target x its drafts x temperature 1 and 0, on held-out code. For each row: alpha, c and v from
bare passes, K and the speed-up that is promised, and the loop's own clock over plain decoding. The
distribution of the cost-scaled target is the built-in one's, and so is its alpha.
"""

from functools import partial
from typing import Any

import pandas as pd

from specdec_lib.measure.acceptance import Acceptance, acceptance, cached_reader, model_reader
from specdec_lib.measure.compare import summary
from specdec_lib.measure.costs import DraftCosts
from specdec_lib.measure.experiment.decoders import StudentDecoder
from specdec_lib.measure.experiment.survey import ExperimentMachine
from specdec_lib.measure.library_decoders import GREEDY, SAMPLED, plain
from specdec_lib.measure.prompts import encoded_documents, prompts, without_repetition
from specdec_lib.measure.race.lanes import LaneMaker, student_lane
from specdec_lib.measure.race.turns import PLAIN_LANE, run_lanes
from specdec_lib.models.protocol import Model
from specdec_lib.progress import progress
from specdec_lib.theory import Costs, walltime_speedup

GRID_TOKENS = 24  # new ones after each prompt
_WARPS = {1: SAMPLED, 0: GREEDY}  # by temperature
_POSITIONS = 8000  # of held-out text an acceptance rate
_PROMPTS, _PROMPT_TOKENS = 5, 16
_POOL = 60  # prompts that greedy ones are chosen from


def measure_rows(
    machine: ExperimentMachine, student: StudentDecoder, positions: int = _POSITIONS
) -> pd.DataFrame:
    """A row for each draft and temperature: what is promised, tokens a pass, and the clock."""
    promised, figures = promised_rows(machine, positions), []
    for temperature, warp in _WARPS.items():
        rows = promised[promised.temperature == temperature]
        batches = [[prompt] for prompt in grid_prompts(machine, temperature)]
        _, runs = run_lanes(_lanes(machine, student, rows), batches, warp, GRID_TOKENS)
        figures.append(loop_figures(summary(runs, PLAIN_LANE).drop(PLAIN_LANE)))
    return promised.join(pd.concat(figures))


def promised_rows(machine: ExperimentMachine, positions: int = _POSITIONS) -> pd.DataFrame:
    """A row for each draft and temperature: what the formula and the measured cost promise."""
    target, rows = cached_reader(model_reader(machine.pair.target)), []
    texts = [text for text in encoded_documents() if text.name.endswith(".py")]
    rates = {
        name: acceptance(target, model_reader(draft), texts, positions)
        for name, draft in progress(machine.drafts.items(), "drafts")
    }
    for temperature in _WARPS:
        for name, rate in rates.items():
            about = {"target": machine.name, "draft": name, "task": "code"}
            rows.append(promised_row(about | {"temperature": temperature}, rate, machine.costs))
    return pd.DataFrame(rows)


def promised_row(about: dict, rate: Acceptance, target_costs: DraftCosts) -> dict[str, Any]:
    """`about` one setting, and its promises; K is at least 1, so that there is a block.

    `v = 1` counts a verification as one pass and has a K of its own, `measured v` counts it as
    measured.
    """
    alpha = rate.alpha if about["temperature"] else rate.greedy
    costs = target_costs.by_draft[about["draft"]]
    flat_costs = Costs(costs.c, dict.fromkeys(costs.v, 1.0))
    flat_k, k = max(1, flat_costs.best_k(alpha)), max(1, costs.best_k(alpha))
    return about | {
        "alpha": alpha,
        "c": costs.c,
        "K": k,
        "v = 1": walltime_speedup(alpha, costs.c, flat_k),
        "measured v": costs.speedup(alpha, k),
    }


def _lanes(
    machine: ExperimentMachine, student: StudentDecoder, rows: pd.DataFrame
) -> dict[Any, tuple[Model, LaneMaker]]:
    """Plain decoding, and the loop with the draft and K of each of `rows`, by its index."""
    loops = {
        index: student_lane(student.generate, machine.drafts[row.draft], int(row.K))
        for index, row in rows.iterrows()
    }
    plain_lane = {PLAIN_LANE: partial(plain, batch=True)}
    return {name: (machine.target, make) for name, make in {**plain_lane, **loops}.items()}


def loop_figures(speeds: pd.DataFrame) -> pd.DataFrame:
    """What was measured of the loop in `speeds` (compare.summary), by the names of the table."""
    names = {"tokens_per_pass": "tokens per pass", "speedup": "clock", "low": "low", "high": "high"}
    return speeds[list(names)].rename(columns=names)


def grid_prompts(machine: ExperimentMachine, temperature: int) -> list[list[int]]:
    """Held-out prompts; for greedy runs those after which the pair's target has no loops."""
    if temperature:
        return prompts(_PROMPTS, _PROMPT_TOKENS, ".py")
    decoder = plain(machine.pair.target, GREEDY, GRID_TOKENS)
    return without_repetition(decoder, prompts(_POOL, _PROMPT_TOKENS, ".py"), _PROMPTS)
