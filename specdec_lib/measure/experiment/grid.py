"""The paper's experiment on this machine: the columns of Leviathan et al. (2023), Tables 2 to 4.

One target x three drafts x temperature 1 and 0, on held-out code. For each row: alpha, c and v from
bare passes, K and the speed-up that is promised, and the loop's own clock over plain decoding. The
greedy row that promises most comes first, beside Hugging Face's two decoders. The distribution of
the cost-scaled target is the built-in one's, and so is its alpha.
"""

from functools import partial
from typing import Any, NamedTuple

import pandas as pd

from specdec_lib.assets import ASSETS
from specdec_lib.decoding.state import Generation
from specdec_lib.measure import hugging
from specdec_lib.measure.acceptance import Acceptance, acceptances, model_reader, remembered
from specdec_lib.measure.compare import Decoder, compare, summary
from specdec_lib.measure.experiment.costs import PROMPT_TOKENS, Found
from specdec_lib.measure.experiment.decoders import Loop
from specdec_lib.measure.experiment.identity import verdicts
from specdec_lib.measure.experiment.survey import Machine
from specdec_lib.measure.models import dtypes
from specdec_lib.measure.prompts import all_tokens, prompts
from specdec_lib.measure.runs import GREEDY, SAMPLED, plain, straight
from specdec_lib.measure.timing import interleaved
from specdec_lib.sampling import Warp
from specdec_lib.theory import Costs, walltime_speedup

TASK, ENDING = "code", ".py"
TEMPERATURES = {1: SAMPLED, 0: GREEDY}
POSITIONS = 8000  # of held-out text an acceptance rate
PROMPTS, TOKENS = 6, 32
POOL = 60  # prompts that greedy ones are chosen from
TRIAL = 8  # tokens of a warm-up, and of the runs that choose Hugging Face's dtype
PLAIN, LOOP, GENERATE, ASSISTED = "plain", "loop", "generate", "assisted"


def promised(machine: Machine) -> pd.DataFrame:
    """A row for each draft and temperature: what the formula and the measured cost promise."""
    texts = [text for text in all_tokens() if text.name.endswith(ENDING)]
    target = remembered(model_reader(machine.built_in))
    drafts = {name: model_reader(draft) for name, draft in machine.drafts.items()}
    rates = acceptances(target, drafts, texts, machine.times(POSITIONS))
    return pd.DataFrame(
        row_of(machine.size, draft, temperature, rate, machine.found)
        for temperature in TEMPERATURES
        for draft, rate in rates.items()
    )


def row_of(
    target: str, draft: str, temperature: int, rate: Acceptance, found: Found
) -> dict[str, Any]:
    """The promises of one setting; K is at least 1, so that there is a block.

    `v = 1` counts a verification as one pass and has a K of its own, `measured v` counts it as
    measured. `measured v + prompt` is what is left of that where TOKENS tokens come after a prompt.
    """
    alpha, costs = rate.alpha if temperature else rate.greedy, found.drafts[draft]
    flat = Costs(costs.c, dict.fromkeys(costs.v, 1.0))
    flat_k, k = (max(1, each.best_k(alpha)) for each in (flat, costs))
    with_v = costs.speedup(alpha, k)
    return {
        "target": target,
        "draft": draft,
        "task": TASK,
        "temperature": temperature,
        "alpha": alpha,
        "c": costs.c,
        "K": k,
        "v = 1": walltime_speedup(alpha, costs.c, flat_k),
        "measured v": with_v,
        "measured v + prompt": (found.prompt + TOKENS) / (found.prompt + TOKENS / with_v),
    }


class Meeting(NamedTuple):
    """The loop beside Hugging Face, greedy, with the draft and K of `row`.

    `speeds` has a row a decoder (compare.summary, over plain), and `over` the loop's median and
    quartiles over each of the three others. `texts` counts the loop's texts by identity.verdicts,
    and `drafting` says how Hugging Face's assisted generation drafts.
    """

    row: pd.Series
    speeds: pd.DataFrame
    over: pd.DataFrame
    texts: dict[str, int]
    theirs: hugging.Counted
    helper: hugging.Counted
    drafting: hugging.Drafting


def beside_hugging_face(machine: Machine, loop: Loop, rows: pd.DataFrame) -> Meeting:
    """The greedy row that promises most, by turns with plain decoding and Hugging Face's two."""
    row = best(rows, temperature=0)
    draft, k = machine.drafts[row.draft], int(row.K)
    theirs = fastest_dtype(machine)
    helper = hugging.Counted.of_folder(ASSETS / row.draft, draft.dtype, machine.device)

    def four(tokens: int) -> dict[str, Decoder]:
        write = partial(hugging.generate, theirs, new_tokens=tokens)
        return {
            PLAIN: Keeping(plain(machine.target, GREEDY, tokens)),
            LOOP: Keeping(loop.decoder(machine.target, draft, k, GREEDY, tokens)),
            GENERATE: write,
            ASSISTED: partial(write, draft=helper, k=k),
        }

    chosen, decoders = texts(machine, 0), four(TOKENS)
    runs = compare(decoders, chosen, warm_up=four(TRIAL))
    written = zip(chosen, decoders[LOOP].texts, decoders[PLAIN].texts, strict=True)
    over = {name: summary(runs, name).loc[LOOP] for name in (PLAIN, GENERATE, ASSISTED)}
    over = pd.DataFrame(over).T[["speedup", "low", "high"]]
    found = verdicts(machine.target, written)
    drafting = hugging.Drafting.of(k)
    return Meeting(row, summary(runs, PLAIN), over, found, theirs, helper, drafting)


class Keeping:
    """A decoder that keeps the texts it writes."""

    def __init__(self, decode: Decoder) -> None:
        self.decode, self.texts = decode, list[list[int]]()

    def __call__(self, prompt: list[int]) -> Generation:
        """Decode after `prompt`."""
        found = self.decode(prompt)
        self.texts.append(found.tokens[0])
        return found


def best(rows: pd.DataFrame, temperature: int) -> pd.Series:
    """The row of this temperature that the measured cost promises most."""
    return rows.loc[rows[rows.temperature == temperature]["measured v"].idxmax()]


def run(machine: Machine, loop: Loop, rows: pd.DataFrame, first: Meeting) -> pd.DataFrame:
    """`rows` with tokens a pass and the clock; `first` has run already, the others do now."""
    rows = rows.copy()
    fill(rows, first.row.name, first.speeds.loc[LOOP])
    for temperature, warp in TEMPERATURES.items():
        left = rows[(rows.temperature == temperature) & rows.clock.isna()]
        decoders, short = (lanes(machine, loop, left, warp, tokens) for tokens in (TOKENS, TRIAL))
        speeds = summary(compare(decoders, texts(machine, temperature), warm_up=short), PLAIN)
        for at in left.index:
            fill(rows, at, speeds.loc[at])
    return rows


def lanes(
    machine: Machine, loop: Loop, rows: pd.DataFrame, warp: Warp, tokens: int
) -> dict[Any, Decoder]:
    """Plain decoding, and the loop with the draft and K of each of `rows`, by its index."""
    return {PLAIN: plain(machine.target, warp, tokens)} | {
        at: loop.decoder(machine.target, machine.drafts[row.draft], int(row.K), warp, tokens)
        for at, row in rows.iterrows()
    }


def fill(rows: pd.DataFrame, at: int, speed: pd.Series) -> None:
    """Write what was measured of one decoder into its row."""
    names = {"tokens_per_pass": "tokens per pass", "speedup": "clock", "low": "low", "high": "high"}
    for measured, column in names.items():
        rows.loc[at, column] = speed[measured]


def fastest_dtype(machine: Machine) -> hugging.Counted:
    """The same target in transformers, in the dtype in which it generates faster here."""
    load = hugging.Counted.of_target
    if machine.device.type != "cpu":
        return load(machine.size, machine.target.dtype, machine.device)
    models = [load(machine.size, dtype) for dtype in dtypes()]
    (prompt,) = prompts(1, PROMPT_TOKENS)
    tasks = {i: partial(hugging.generate, each, prompt, TRIAL) for i, each in enumerate(models)}
    seconds = interleaved(tasks, rounds=1)
    return models[min(seconds, key=lambda i: seconds[i])]


def texts(machine: Machine, temperature: int) -> list[list[int]]:
    """Held-out prompts; for greedy runs those after which the built-in target has no loops."""
    count = machine.times(PROMPTS)
    if temperature:
        return prompts(count, PROMPT_TOKENS, ENDING)
    decoder = plain(machine.built_in, GREEDY, TOKENS)
    return straight(decoder, prompts(max(POOL, count), PROMPT_TOKENS, ENDING), count)
