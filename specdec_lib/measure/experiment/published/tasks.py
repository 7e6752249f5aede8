"""The papers' texts for published pairs, from the hub's data sets; else built-in ones, so called.

Leviathan et al. (2023) have English to German of WMT and CNN/DailyMail for T5, Chen et al. (2023)
XSum and HumanEval for a model that goes on with a text, Spec-Bench German to English of WMT14 and
CNN/DailyMail among its tasks for Vicuna. The data sets are read with `datasets` (the extra
`published`), at fixed commits, which hold Parquet files: version 4 and later runs no loading
scripts. The texts are the first ones of the test split, as many as are used, cut to CHARACTERS.
"""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, NamedTuple

from specdec_lib.assets import documents

CHARACTERS = 1500  # of a text
INDICES = range(144)  # of the test split
PIECE = 400  # characters of a built-in text
Say = Callable[[str], None]


class DataSet(NamedTuple):
    """A data set of the hub at a commit, and the path to the text in a row."""

    repository: str
    config: str | None
    revision: str
    path: tuple[str, ...]
    built_in: str = ".txt"  # the ending of the documents that stand in


class Task(NamedTuple):
    """Texts to go on with: `around` has the place of each."""

    name: str
    data: DataSet
    around: str


class Texts(NamedTuple):
    """The texts of a task under the name that its rows have."""

    name: str
    texts: list[str]


WMT14 = "wmt/wmt14", "de-en", "b199e406369ec1b7634206d3ded5ba45de2fe696"
ENGLISH, GERMAN = (DataSet(*WMT14, ("translation", language)) for language in ("en", "de"))
CNNDM = DataSet(
    "abisee/cnn_dailymail", "3.0.0", "96df5e686bee6baa90b8bee7c28b81fa3fa6223d", ("article",)
)
XSUM = DataSet("EdinburghNLP/xsum", None, "7d4d486c2f8ef850b1a11aead99b894ff3dd7da9", ("document",))
HUMAN_EVAL = DataSet(
    "openai/openai_humaneval", None, "7dce6050a7d6d172f3cc5c32aa97f52fa1a2e544", ("prompt",), ".py"
)
# The prefixes that T5 was trained with (Raffel et al., 2020, appendix D).
T5_TASKS = (
    Task("WMT14 EnDe", ENGLISH, "translate English to German: {}"),
    Task("CNNDM", CNNDM, "summarize: {}"),
)
# Vicuna's template from version 1.1 on: FastChat, docs/vicuna_weights_version.md.
CHAT = (
    "A chat between a curious user and an artificial intelligence assistant. The assistant gives "
    "helpful, detailed, and polite answers to the user's questions. USER: {} ASSISTANT:"
)
VICUNA_TASKS = (
    Task("WMT14 DeEn", GERMAN, CHAT.format("Translate German to English: {}")),
    Task("CNNDM", CNNDM, CHAT.format("Summarize: {}")),
)
CHEN_TASKS = (Task("HumanEval", HUMAN_EVAL, "{}"), Task("XSum", XSUM, "{}\n\nSummary:"))


def tasks_of(pair: str) -> tuple[Task, ...]:
    """The tasks of a published pair, by its name."""
    if "t5" in pair:
        return T5_TASKS
    return VICUNA_TASKS if pair == "vicuna" else CHEN_TASKS


def texts_of(task: Task, say: Say = print) -> Texts:
    """The texts of a task; those that come with the course if the hub's cannot be had."""
    try:
        found = list(rows_of(task.data))
    except Exception as error:  # datasets, its file systems and the network raise of all kinds
        reason = str(error) or type(error).__name__
        say(f"{task.data.repository} is not at hand ({reason[:200]}); built-in texts stand in")
        kind = "docs" if task.data.built_in == ".txt" else "code"
        return Texts(f"{kind}, {task.name}", wrapped(task, built_in(task.data.built_in)))
    return Texts(task.name, wrapped(task, found))


def rows_of(data: DataSet) -> Iterator[str]:
    """The texts at INDICES of the test split, cut to CHARACTERS: a row at a time, from the hub."""
    try:
        import datasets
    except ImportError as error:
        raise ImportError("it is read with `pip install -e .[published]`") from error
    rows = datasets.load_dataset(
        data.repository, data.config, split="test", revision=data.revision, streaming=True
    )
    for row in islice(rows, INDICES.start, INDICES.stop, INDICES.step):
        yield text_in(row, data.path)[:CHARACTERS]


def text_in(row: Any, path: tuple[str, ...]) -> str:
    """What stands at `path` in a row."""
    for name in path:
        row = row[name]
    return row


def built_in(ending: str) -> list[str]:
    """Pieces of the held-out documents whose names end so, spread over them."""
    texts = [each.text for each in documents() if each.name.endswith(ending)]
    starts = [(text, at) for text in texts for at in range(0, len(text) - PIECE, 4 * PIECE)]
    return [text[at : at + PIECE] for text, at in starts[: len(INDICES)]]


def wrapped(task: Task, texts: list[str]) -> list[str]:
    """The texts as the models are given them."""
    return [task.around.replace("{}", text) for text in texts]
