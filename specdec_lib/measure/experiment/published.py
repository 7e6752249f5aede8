"""Published pairs of the hub: the same comparison on the papers' tasks, their figures beside it.

Any pair of the hub, by transformers. The texts are the first ones of the test splits at fixed
commits, read with `datasets` (the extra `published`); where those cannot be had, built-in texts
stand in, and no paper's figure stands beside them.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import partial, reduce
from itertools import islice
from operator import getitem
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from specdec_lib.assets import held_out_documents
from specdec_lib.decoding.state import Generation
from specdec_lib.device import default_device, free_memory
from specdec_lib.measure.compare import Decoder, compare, ratios, summary
from specdec_lib.measure.experiment import contest, grid
from specdec_lib.measure.experiment.decoders import StudentDecoder
from specdec_lib.measure.hugging import AssistantSettings, CountedModel
from specdec_lib.measure.library_decoders import GREEDY, plain
from specdec_lib.measure.papers import paper_table
from specdec_lib.measure.timing import PassRecorder
from specdec_lib.models.catalogue import DOWNLOAD_LIMIT, PUBLISHED, PairError, require_known
from specdec_lib.models.pair import Pair
from specdec_lib.models.pairs import load_pair

PUBLISHED_K = 4
_CHARACTERS = 1500  # of a text
# Prompts, and tokens after each: on a card, and on a processor.
ON_A_CARD, ON_A_PROCESSOR = (16, 128), (3, 48)


class HubTask(NamedTuple):
    """Texts of a data set of the hub, each to stand in the place that `around` has."""

    name: str
    repository: str
    config: str | None
    revision: str
    path: list[str]  # to the text in a row
    around: str


# The tasks by a part of a pair's name; tasks.json also says where their wording is from.
_DATA = json.loads(Path(__file__).with_name("tasks.json").read_text(encoding="utf-8"))
TASKS = {name: tuple(HubTask(**task) for task in tasks) for name, tasks in _DATA["tasks"].items()}


def load_published_pair(name: str, draft: str, limit: float = DOWNLOAD_LIMIT) -> Pair:
    """The pair, loaded after one question.

    PairError before the question: over `limit` gigabytes, too small a card, or no pair of the hub.
    """
    if "/" not in name and not Path(name).is_dir():
        require_known("pair of the hub", name, (*PUBLISHED["pairs"], "OWNER/NAME"))
    device, known = default_device(), PUBLISHED["pairs"].get(name)
    free = free_memory(device)
    if known and device.type == "cuda" and free is not None and free / 1e9 < known["card"] - 2:
        raise PairError(f"{name} is for cards of {known['card']} GB: choose a smaller pair")
    return load_pair(name, draft, limit=limit)


def measure_tasks(
    student: StudentDecoder,
    name: str,
    draft: str,
    limit: float = DOWNLOAD_LIMIT,
    pair: Pair | None = None,
    size: tuple[int, int] | None = None,
) -> pd.DataFrame:
    """A row for each task of a published pair, greedy, which is loaded after one question.

    `size` is how many prompts, and tokens after each; `pair` is one that is there already.

    `clock` is the loop over plain decoding, `printed` the speed-up in the paper's table. `tokens
    per pass` counts every pass of the target, the prompt's too. All decoders write as many tokens
    as plain decoding until one of the pair's ends, so the loop need not know the ends. `assisted`
    says how Hugging Face's assisted generation drafts.
    """
    pair = pair or load_published_pair(name, draft, limit)
    rows, is_on_card = [], pair.target.device.type == "cuda"
    count, tokens = size or (ON_A_CARD if is_on_card else ON_A_PROCESSOR)
    for task in next(tasks for part, tasks in TASKS.items() if part in name):
        texts, from_hub = task_texts(task, count)
        decoders = decoders_of(pair, student, plain_lengths(pair, texts, tokens))
        figures = _loop_figures(compare(decoders, texts))
        paper = printed_speedup(name, draft, task.name) if from_hub else None
        row = {"target": name, "draft": draft, "task": task.name, "temperature": 0}
        rows.append(row | {"K": PUBLISHED_K} | figures | {"printed": paper})
    return pd.DataFrame(rows)


def _loop_figures(runs: pd.DataFrame) -> dict[str, float | str]:
    """The loop's speed in `runs`, over its plain decoding and over Hugging Face's two."""
    loop, assisted = contest.SPEEDUPS["the loop"]
    return {
        **grid.loop_figures(summary(runs, contest.SAME_PASS)).loc[loop],
        "over generate": ratios(runs, loop, contest.THEIRS).median(),
        "over assisted": ratios(runs, loop, assisted).median(),
        "assisted": str(AssistantSettings.of(PUBLISHED_K)),
    }


def plain_lengths(pair: Pair, texts: list[str], tokens: int) -> dict[str, int]:
    """How many tokens plain decoding writes after each text: up to an end, `tokens` at most."""
    decode = plain(pair.target, GREEDY, tokens, eos_id=pair.eos_id)
    return {text: len(decode(pair.start(text)).tokens[0]) for text in texts}


def decoders_of(
    pair: Pair, student: StudentDecoder, lengths: Mapping[str, int]
) -> dict[str, Decoder]:
    """Hugging Face's loop and the student's, with drafts and without, after a text of `lengths`.

    They write as many tokens as it has for the text. An encoder-decoder's text is read in the timed
    call, by ours as by theirs.
    """
    ours = {contest.SAME_PASS: (pair.target, pair.draft)}
    theirs = tuple(CountedModel(each.model, each.vocab_size) for each in (pair.target, pair.draft))
    lanes = contest.loop_lanes(student, theirs, ours, PUBLISHED_K)

    def decode(name: str, text: str) -> Generation:
        target, make = lanes[name]
        is_ours, recorder = name.startswith(contest.SAME_PASS), PassRecorder(target)
        start = pair.start(text) if is_ours else pair.tokenizer.encode(text)
        generation = make(recorder, GREEDY, lengths[text])([start])
        return replace(generation, target_passes=len(recorder.passes))

    return {name: partial(decode, name) for name in lanes}


def task_texts(task: HubTask, count: int) -> tuple[list[str], bool]:
    """`count` texts of a task, cut to _CHARACTERS, and True; or built-in ones, and False."""
    from_hub = True
    try:
        texts = _hub_texts(task, count)
    except Exception as error:  # datasets, its file systems and the network raise of all kinds
        print(f"{task.name}: built-in texts stand in ({type(error).__name__}: {error})"[:200])
        texts = [document.text[: _CHARACTERS // 4] for document in held_out_documents()][:count]
        from_hub = False
    return [task.around.replace("{}", text[:_CHARACTERS]) for text in texts], from_hub


def _hub_texts(task: HubTask, count: int) -> list[str]:
    """The first `count` texts of a task's test split."""
    import datasets

    rows = datasets.load_dataset(
        task.repository, task.config, split="test", revision=task.revision, streaming=True
    )
    return [reduce(getitem, task.path, row) for row in islice(rows, count)]


def printed_speedup(name: str, draft: str, task: str) -> float | None:
    """The greedy speed-up that a paper prints for this task, None if there is none."""
    if "vicuna" in name:
        tasks = paper_table("spec_bench_tasks")
        (row,) = (row for row in tasks if row.method == "Draft model")
        return getattr(row, task)
    for row in paper_table("leviathan_2_4"):
        same_draft = draft.endswith(row.draft.removeprefix("T5-"))
        if row.temperature == 0 and row.task == task and same_draft:
            return row.measured
    for row in paper_table("chen_1"):
        if row.sampling == "greedy" and row.benchmark == task:
            return row.speedup
    return None
