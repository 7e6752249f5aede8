"""Published pairs of the hub: the same comparison on the papers' tasks, their figures beside it.

Any pair of `load_pair`, by transformers. It has run on a processor with small models, and not on a
card yet. The texts are the first ones of the test splits at fixed commits, read with `datasets`
(the extra `published`); where those cannot be had, built-in texts stand in.
"""

from collections.abc import Callable
from functools import partial, reduce
from itertools import islice
from operator import getitem
from typing import NamedTuple

import pandas as pd

from specdec_lib.assets import documents
from specdec_lib.decoding.state import Generation
from specdec_lib.measure import hugging, papers
from specdec_lib.measure.compare import Decoder, compare
from specdec_lib.measure.core.runs import GREEDY, plain
from specdec_lib.measure.experiment.grid import ASSISTED, GENERATE, PLAIN, measured
from specdec_lib.measure.experiment.loops import Loop
from specdec_lib.models.pairs import Pair, load_pair

K = 4
CHARACTERS = 1500  # of a text
LOOP = "loop"


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


def rows(loop: Loop, name: str, draft: str, prompts: int = 16, tokens: int = 128) -> pd.DataFrame:
    """A row for each task of a pair, greedy; it is loaded after a question with its gigabytes.

    `tokens` tokens are written after each of `prompts` prompts. `measured` is the loop over plain
    decoding, `printed` the speed-up in the paper's table. `tokens a pass` counts every pass of the
    target, the prompt's too.
    """
    pair, found = load_pair(name, draft), []
    decoders = decoders_of(pair, loop, tokens)
    for task in next(tasks for part, tasks in TASKS.items() if part in name):
        runs = compare(decoders, texts_of(task, prompts))
        mine = runs[runs.decoder == LOOP]
        row = {"target": name, "draft": draft, "task": task.name, "temperature": 0, "K": K}
        row["tokens a pass"] = mine.tokens.sum() / mine.passes.sum()
        found.append(row | measured(runs, LOOP) | {"printed": printed(name, draft, task.name)})
    return pd.DataFrame(found)


def decoders_of(pair: Pair, loop: Loop, tokens: int) -> dict[str, Decoder]:
    """Plain decoding, the loop, and Hugging Face's two, each after a text.

    An encoder-decoder's text is read in the timed call, by ours as by theirs.
    """
    target, draft = (hugging.Counted(each.model) for each in (pair.target, pair.draft))
    write = partial(hugging.generate, target, new_tokens=tokens)
    encode, small = pair.tokenizer.encode, pair.draft
    return {
        PLAIN: counted(plain(pair.target, GREEDY, tokens), pair.prompt, target),
        LOOP: counted(loop.decoder(pair.target, small, K, GREEDY, tokens), pair.prompt, target),
        GENERATE: counted(write, encode, target),
        ASSISTED: counted(partial(write, draft=draft, k=K), encode, target),
    }


def counted(
    decode: Decoder, encode: Callable[[str], list[int]], target: hugging.Counted
) -> Callable[[str], Generation]:
    """`decode` after a text, which `encode` makes token ids of, with the target's passes."""

    def run(text: str) -> Generation:
        before = target.passes
        tokens = decode(encode(text)).tokens
        return Generation(tokens, target_passes=target.passes - before)

    return run


def texts_of(task: Task, count: int) -> list[str]:
    """`count` texts of a task, cut to CHARACTERS; built-in ones if they cannot be had."""
    try:
        import datasets

        where = task.repository, task.config
        found = datasets.load_dataset(*where, split="test", revision=task.revision, streaming=True)
        texts = [reduce(getitem, task.path, row) for row in islice(found, count)]
    except Exception as error:  # datasets, its file systems and the network raise of all kinds
        print(f"{task.name}: built-in texts stand in ({type(error).__name__}: {error})"[:200])
        texts = [each.text[: CHARACTERS // 4] for each in documents()][:count]
    return [task.around.replace("{}", text[:CHARACTERS]) for text in texts]


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
