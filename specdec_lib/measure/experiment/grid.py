"""The paper's experiment on this machine: the columns of Leviathan et al. (2023), Tables 2 to 4.

One target x its drafts x temperature 1 and 0, on held-out code or a chat model's answers. For each
row: alpha, c and v from bare passes, K and the speed-up that is promised, and the loop's own clock
over plain decoding. The greedy row that promises most comes first, beside Hugging Face's two
decoders. The distribution of the cost-scaled target is the built-in one's, and so is its alpha.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import pandas as pd

from specdec_lib.assets import ASSETS
from specdec_lib.measure.acceptance import Acceptance, acceptance, cached_reader, model_reader
from specdec_lib.measure.compare import Decoder, compare, summary
from specdec_lib.measure.costs import DraftCosts
from specdec_lib.measure.experiment.decoders import StudentDecoder
from specdec_lib.measure.experiment.identity import count_identical_texts
from specdec_lib.measure.experiment.survey import ExperimentMachine, pair_prompts
from specdec_lib.measure.hugging import AssistantSettings, CountedModel, hf_generate
from specdec_lib.measure.library_decoders import GREEDY, SAMPLED, plain
from specdec_lib.measure.models import target_dtypes
from specdec_lib.measure.own_text import written_texts
from specdec_lib.measure.prompts import EncodedDocument, encoded_documents, without_repetition
from specdec_lib.measure.timing import interleaved_times
from specdec_lib.progress import progress
from specdec_lib.sampling import Warp
from specdec_lib.theory import Costs, walltime_speedup

GRID_TOKENS = {"code": 32, "chat": 64}  # new ones after each prompt, by task
_WARPS = {1: SAMPLED, 0: GREEDY}  # by temperature
_POSITIONS = 8000  # of held-out text an acceptance rate
_PROMPTS = 6
_POOL = 60  # prompts that greedy ones are chosen from
_TRIAL_TOKENS = 8  # of a warm-up, and of the runs that choose Hugging Face's dtype
# The names of the decoders.
PLAIN_DECODER, LOOP, HF_GENERATE, HF_ASSISTED = "plain", "loop", "generate", "assisted"


def promised_rows(machine: ExperimentMachine) -> pd.DataFrame:
    """A row for each draft and temperature: what the formula and the measured cost promise."""
    target, rows = cached_reader(model_reader(machine.pair.target)), []
    for temperature, warp in _WARPS.items():
        texts = texts_of(machine, warp)
        for name, draft in progress(machine.drafts.items(), "drafts"):
            rate = acceptance(target, model_reader(draft), texts, machine.scaled(_POSITIONS))
            about = {"target": machine.name, "draft": name, "task": machine.task}
            rows.append(promised_row(about | {"temperature": temperature}, rate, machine.costs))
    return pd.DataFrame(rows)


def texts_of(machine: ExperimentMachine, warp: Warp) -> Sequence[EncodedDocument]:
    """What alpha is measured on: held-out code, or what a pair that chats answers."""
    tokens = GRID_TOKENS[machine.task]
    if machine.pair.is_chat:
        return written_texts(machine.pair, pair_prompts(machine.pair, _POOL), warp, tokens)
    return [text for text in encoded_documents() if text.name.endswith(".py")]


def promised_row(about: dict, rate: Acceptance, target_costs: DraftCosts) -> dict[str, Any]:
    """`about` one setting, and its promises; K is at least 1, so that there is a block.

    `v = 1` counts a verification as one pass and has a K of its own, `measured v` counts it as
    measured. `measured v + prompt` is the speed-up that remains where a prompt is read before the
    GRID_TOKENS tokens.
    """
    alpha = rate.alpha if about["temperature"] else rate.greedy
    costs, prompt = target_costs.by_draft[about["draft"]], target_costs.prompt
    tokens = GRID_TOKENS[about["task"]]
    flat_costs = Costs(costs.c, dict.fromkeys(costs.v, 1.0))
    flat_k, k = max(1, flat_costs.best_k(alpha)), max(1, costs.best_k(alpha))
    speedup = costs.speedup(alpha, k)
    return about | {
        "alpha": alpha,
        "c": costs.c,
        "K": k,
        "v = 1": walltime_speedup(alpha, costs.c, flat_k),
        "measured v": speedup,
        "measured v + prompt": (prompt + tokens) / (prompt + tokens / speedup),
    }


class Comparison(NamedTuple):
    """The loop beside Hugging Face, greedy, with the draft and K of `row`.

    `speeds` has a row a decoder (compare.summary, over plain), and `over` the loop's median and
    quartiles over each of the three others. `texts` counts the loop's texts (identity.py),
    `first_text` is one with its prompt, and `assistant` says how Hugging Face's assisted generation
    drafts.
    """

    row: pd.Series
    speeds: pd.DataFrame
    over: pd.DataFrame
    texts: dict[str, int]
    first_text: str
    hf_target: CountedModel
    hf_draft: CountedModel
    assistant: AssistantSettings


def compare_with_hugging_face(
    machine: ExperimentMachine, student: StudentDecoder, rows: pd.DataFrame
) -> Comparison:
    """The greedy row that promises most, by turns with plain decoding and Hugging Face's two."""
    row = rows.loc[rows[rows.temperature == 0]["measured v"].idxmax()]
    draft, k = machine.drafts[row.draft], int(row.K)
    hf_target = fastest_hf_target(machine)
    load = CountedModel.from_folder
    if machine.pair.is_chat:
        load = partial(CountedModel.from_cut_folder, vocab_size=draft.vocab_size)
    hf_draft = load(ASSETS / row.draft, dtype=draft.dtype, device=machine.device)
    models = student, (machine.target, draft), (hf_target, hf_draft), k
    chosen, warm_up = grid_prompts(machine, temperature=0), greedy_decoders(*models, _TRIAL_TOKENS)
    decoders = greedy_decoders(*models, GRID_TOKENS[machine.task])
    runs = compare(decoders, chosen, warm_up=warm_up)
    over = pd.DataFrame({name: summary(runs, name).loc[LOOP] for name in decoders}).T.drop(LOOP)
    written = _texts(runs, LOOP)
    texts = zip(chosen, written, _texts(runs, PLAIN_DECODER), strict=True)
    return Comparison(
        row,
        summary(runs, PLAIN_DECODER),
        over[["speedup", "low", "high"]],
        count_identical_texts(machine.target, texts),
        machine.pair.tokenizer.decode([*chosen[0], *written[0]]),
        hf_target,
        hf_draft,
        AssistantSettings.of(k),
    )


def greedy_decoders(
    student: StudentDecoder, ours: Sequence, theirs: Sequence, k: int, tokens: int
) -> dict[str, Decoder]:
    """Plain decoding, the loop and Hugging Face's two, with a target and its draft each."""
    generate = partial(hf_generate, theirs[0], new_tokens=tokens)
    return {
        PLAIN_DECODER: plain(ours[0], GREEDY, tokens),
        LOOP: student.decoder(*ours, k, GREEDY, tokens),
        HF_GENERATE: generate,
        HF_ASSISTED: partial(generate, draft=theirs[1], k=k),
    }


def _texts(runs: pd.DataFrame, name: str) -> list[list[int]]:
    """What a decoder wrote after each prompt."""
    return [generation.tokens[0] for generation in runs[runs.decoder == name].generation]


def measure_rows(
    machine: ExperimentMachine, student: StudentDecoder, rows: pd.DataFrame, first: Comparison
) -> pd.DataFrame:
    """`rows` with tokens a pass and the clock; `first` has run already, the others do now."""
    figures = [loop_figures(first.speeds.loc[[LOOP]]).set_axis([first.row.name])]
    for temperature, warp in _WARPS.items():
        missing = rows[(rows.temperature == temperature) & (rows.index != first.row.name)]
        decoders = _decoders_by_row(machine, student, missing, warp, GRID_TOKENS[machine.task])
        warm_up = _decoders_by_row(machine, student, missing, warp, _TRIAL_TOKENS)
        runs = compare(decoders, grid_prompts(machine, temperature), warm_up=warm_up)
        figures.append(loop_figures(summary(runs, PLAIN_DECODER).drop(PLAIN_DECODER)))
    return rows.join(pd.concat(figures))


def _decoders_by_row(
    machine: ExperimentMachine, student: StudentDecoder, rows: pd.DataFrame, warp: Warp, tokens: int
) -> dict[Any, Decoder]:
    """Plain decoding, and the loop with the draft and K of each of `rows`, by its index."""
    decoders: dict[Any, Decoder] = {PLAIN_DECODER: plain(machine.target, warp, tokens)}
    for index, row in rows.iterrows():
        draft = machine.drafts[row.draft]
        decoders[index] = student.decoder(machine.target, draft, int(row.K), warp, tokens)
    return decoders


def loop_figures(speeds: pd.DataFrame) -> pd.DataFrame:
    """What was measured of the loop in `speeds` (compare.summary), by the names of the table."""
    names = {"tokens_per_pass": "tokens per pass", "speedup": "clock", "low": "low", "high": "high"}
    return speeds[list(names)].rename(columns=names)


def fastest_hf_target(machine: ExperimentMachine) -> CountedModel:
    """The same target in transformers, in the dtype in which it generates faster here."""
    if machine.device.type != "cpu":
        return CountedModel.from_size(machine.name, machine.target.dtype, machine.device)
    models = [CountedModel.from_size(machine.name, dtype) for dtype in target_dtypes()]
    (prompt,) = pair_prompts(machine.pair, 1)
    tasks = {model: partial(hf_generate, model, prompt, _TRIAL_TOKENS) for model in models}
    seconds = interleaved_times(tasks, rounds=1)
    return min(models, key=lambda model: seconds[model])


def grid_prompts(machine: ExperimentMachine, temperature: int) -> list[list[int]]:
    """Held-out prompts; for greedy runs those after which the pair's target has no loops."""
    count = machine.scaled(_PROMPTS)
    if temperature:
        return pair_prompts(machine.pair, count)
    decoder = plain(machine.pair.target, GREEDY, GRID_TOKENS[machine.task])
    return without_repetition(decoder, pair_prompts(machine.pair, max(_POOL, count)), count)
