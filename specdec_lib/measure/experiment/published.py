"""Published pairs of the hub: the same comparison on the papers' tasks, their figures beside it.

Any pair of `load_pair`, by transformers. The texts are the first ones of the test splits at fixed
commits, read with `datasets` (the extra `published`); where those cannot be had, built-in texts
stand in, and no paper's figure stands beside them.
"""

from collections.abc import Callable, Mapping
from functools import partial, reduce
from itertools import islice
from operator import getitem
from types import MappingProxyType
from typing import NamedTuple

import pandas as pd

from specdec_lib.assets import held_out_documents
from specdec_lib.decoding.state import Generation
from specdec_lib.device import default_device, free_memory
from specdec_lib.measure import hugging, papers
from specdec_lib.measure.compare import Decoder, compare, summary
from specdec_lib.measure.experiment import traces
from specdec_lib.measure.experiment.decoders import Loop
from specdec_lib.measure.experiment.grid import ASSISTED, GENERATE, LOOP, PLAIN
from specdec_lib.measure.runs import GREEDY, plain
from specdec_lib.models.catalogue import DOWNLOAD_LIMIT, PUBLISHED, PairError
from specdec_lib.models.pair import Pair
from specdec_lib.models.pairs import load_pair

K = 4
CHARACTERS = 1500  # of a text
# Prompts, and tokens after each: on a card, and on a processor.
ON_A_CARD, ON_A_PROCESSOR = (16, 128), (3, 48)


class Task(NamedTuple):
    """Texts of a data set of the hub, each to stand in the place that `around` has."""

    name: str
    repository: str
    config: str | None
    revision: str
    path: tuple[str, ...]  # to the text in a row
    around: str = "{}"


WMT14 = "wmt/wmt14", "de-en", "b199e406369ec1b7634206d3ded5ba45de2fe696"
CNNDM = "abisee/cnn_dailymail", "3.0.0", "96df5e686bee6baa90b8bee7c28b81fa3fa6223d", ("article",)
XSUM = "EdinburghNLP/xsum", None, "7d4d486c2f8ef850b1a11aead99b894ff3dd7da9", ("document",)
HUMAN_EVAL_AT = "7dce6050a7d6d172f3cc5c32aa97f52fa1a2e544"
HUMAN_EVAL = "openai/openai_humaneval", None, HUMAN_EVAL_AT, ("prompt",)
# Vicuna's template from version 1.1 on: FastChat, docs/vicuna_weights_version.md.
CHAT = (
    "A chat between a curious user and an artificial intelligence assistant. The assistant gives "
    "helpful, detailed, and polite answers to the user's questions. USER: {} ASSISTANT:"
)
TO_ENGLISH = "Translate German to English"
# By a part of a pair's name. T5's prefixes: Raffel et al. (2020), appendix D.
TASKS = {
    "vicuna": (
        Task("translation", *WMT14, ("translation", "de"), CHAT.format(f"{TO_ENGLISH}: {{}}")),
        Task("summary", *CNNDM, CHAT.format("Summarize: {}")),
    ),
    "flan-t5": (
        Task("EnDe", *WMT14, ("translation", "en"), "translate English to German: {}"),
        Task("CNNDM", *CNNDM, "summarize: {}"),
    ),
    "": (Task("HumanEval", *HUMAN_EVAL), Task("XSum", *XSUM, "{}\n\nSummary:")),
}


def load(name: str, draft: str, limit: float = DOWNLOAD_LIMIT) -> Pair:
    """The pair, after one question; PairError, before it, for more than `limit` gigabytes.

    PairError, too, if the card has too little room.
    """
    device, known = default_device(), PUBLISHED["pairs"].get(name)
    free = free_memory(device)
    if known and device.type == "cuda" and free is not None and free / 1e9 < known["card"] - 2:
        raise PairError(f"{name} is for cards of {known['card']} GB: choose a smaller pair")
    return load_pair(name, draft, limit=limit)


def tasks_of(name: str) -> tuple[Task, ...]:
    """The tasks of a pair."""
    return next(tasks for part, tasks in TASKS.items() if part in name)


def rows(
    loop: Loop, pair: Pair, name: str, draft: str, size: tuple[int, int] | None = None
) -> pd.DataFrame:
    """A row for each task of a pair, greedy; `size` is how many prompts, and tokens after each.

    `clock` is the loop over plain decoding, `printed` the speed-up in the paper's table. `tokens
    per pass` counts every pass of the target, the prompt's too. All decoders write as many tokens
    as plain decoding until one of the pair's ends, so the loop need not know the ends. `assisted`
    says how Hugging Face's assisted generation drafts.
    """
    found, lengths = [], dict[str, int]()
    prompts, tokens = size or (ON_A_CARD if on_a_card(pair) else ON_A_PROCESSOR)
    decoders = decoders_of(pair, loop, tokens, lengths)
    for task in tasks_of(name):
        texts, real = texts_of(task, prompts)
        lengths |= lengths_of(pair, texts, tokens)
        runs = compare(decoders, texts)
        row = {"target": name, "draft": draft, "task": task.name, "temperature": 0, "K": K}
        mine = {each: summary(runs, each).loc[LOOP] for each in (PLAIN, GENERATE, ASSISTED)}
        row |= {"tokens per pass": mine[PLAIN].tokens_per_pass, "clock": mine[PLAIN].speedup}
        row |= {"low": mine[PLAIN].low, "high": mine[PLAIN].high}
        row |= {f"over {each}": mine[each].speedup for each in (GENERATE, ASSISTED)}
        row |= {ASSISTED: str(hugging.Drafting.of(K))}
        found.append(row | {"printed": printed(name, draft, task.name) if real else None})
    return pd.DataFrame(found)


def on_a_card(pair: Pair) -> bool:
    """Whether the pair runs on a GPU."""
    return pair.target.device.type == "cuda"


def lengths_of(pair: Pair, texts: list[str], tokens: int) -> dict[str, int]:
    """How many tokens plain decoding writes after each text: up to an end, `tokens` at most."""
    decode = plain(pair.target, GREEDY, tokens, eos_id=pair.eos_id)
    return {text: len(decode(pair.start(text)).tokens[0]) for text in texts}


def decoders_of(
    pair: Pair, loop: Loop, tokens: int, lengths: Mapping[str, int] = MappingProxyType({})
) -> dict[str, Decoder]:
    """Plain decoding, the loop, and Hugging Face's two, each after a text.

    They write as many tokens as `lengths` has for the text, or else `tokens`. An encoder-decoder's
    text is read in the timed call, by ours as by theirs.
    """
    target, draft = (
        hugging.Counted(each.model, each.vocab_size) for each in (pair.target, pair.draft)
    )
    ours, encode = pair.start, pair.tokenizer.encode

    def theirs(count: int, **how) -> Decoder:
        return partial(hugging.generate, target, new_tokens=count, **how)

    makers = {
        PLAIN: (ours, partial(plain, pair.target, GREEDY)),
        LOOP: (ours, partial(loop.decoder, pair.target, pair.draft, K, GREEDY)),
        GENERATE: (encode, theirs),
        ASSISTED: (encode, partial(theirs, draft=draft, k=K)),
    }
    return {
        name: after(read, make, lambda text: lengths.get(text, tokens))
        for name, (read, make) in makers.items()
    }


def after(
    encode: Callable, decoder: Callable[[int], Decoder], count: Callable[[str], int]
) -> Callable[[str], Generation]:
    """The decoder of `count(text)` tokens after a text, which `encode` makes token ids of."""

    def run(text: str) -> Generation:
        return decoder(count(text))(encode(text))

    return run


def texts_of(task: Task, count: int) -> tuple[list[str], bool]:
    """`count` texts of a task, cut to CHARACTERS, and True; or built-in ones, and False."""
    real = True
    try:
        import datasets

        where = task.repository, task.config
        found = datasets.load_dataset(*where, split="test", revision=task.revision, streaming=True)
        texts = [reduce(getitem, task.path, row) for row in islice(found, count)]
    except Exception as error:  # datasets, its file systems and the network raise of all kinds
        print(f"{task.name}: built-in texts stand in ({type(error).__name__}: {error})"[:200])
        texts, real = [each.text[: CHARACTERS // 4] for each in held_out_documents()][:count], False
    return [task.around.replace("{}", text[:CHARACTERS]) for text in texts], real


def printed(name: str, draft: str, task: str) -> float | None:
    """The greedy speed-up that a paper prints for this task, None if there is none."""
    if "vicuna" in name:
        (row,) = (r for r in papers.table("spec_bench_tasks") if r.method == "Draft model")
        return getattr(row, task)
    rows = [r for r in papers.table("leviathan_2_4") if r.temperature == 0 and r.task == task]
    found = [r.measured for r in rows if draft.endswith(r.draft.removeprefix("T5-"))]
    chen = papers.table("chen_1")
    found += [r.speedup for r in chen if r.sampling == "greedy" and r.benchmark == task]
    return found[0] if found else None


def readable(loop: Loop, pair: Pair, name: str) -> dict:
    """One text of the pair for the widget, after the first text of its second task."""
    (text,), _ = texts_of(tasks_of(name)[-1], 1)
    return traces.picture(loop, pair, pair.start(text), GREEDY, text[-200:])
