"""Acceptance on text that a pair's target writes itself, by kind of prompt and temperature.

The target writes at the temperature of the row, and target and draft read it (acceptance.py).
`python -m specdec_lib.measure.own_text` measures both drafts of the fetched pair in some minutes.
"""

from collections.abc import Sequence
from itertools import product

import numpy as np
import pandas as pd

from specdec_lib.assets import held_out_documents
from specdec_lib.drafters.eagle import Eagle
from specdec_lib.files import write_whole
from specdec_lib.measure import acceptance, prompts
from specdec_lib.measure.library_decoders import plain
from specdec_lib.measure.prompts import EncodedDocument, Prompts
from specdec_lib.models.catalogue import SMOLLM2
from specdec_lib.models.pair import Pair
from specdec_lib.models.pairs import load_pair
from specdec_lib.models.smollm2 import FOLDERS
from specdec_lib.progress import progress
from specdec_lib.sampling import Warp

ACCEPTANCE_FILES = {name: folder / "acceptance.json" for name, folder in FOLDERS.items()}
KINDS, TEMPERATURES = ("chat", "free", "code"), (1, 0.7, 0)
_PROMPTS, _TOKENS = 24, 96  # of a kind, and new tokens after each
_FIRST_WORDS, _FIRST_LINES = 2, 12  # of a question, of a source


def own_prompts(pair: Pair, kind: str, count: int) -> list[list[int]]:
    """At most `count` prompts of a kind.

    `chat`: questions. `free`: their first words, after which the target asks what it likes. `code`:
    the first lines of held-out sources.
    """
    if kind == "code":
        sources = [each.text for each in held_out_documents() if each.name.endswith(".py")]
        lines = [source.splitlines(keepends=True)[:_FIRST_LINES] for source in sources[:count]]
        return [pair.start("".join(beginning)) for beginning in lines]
    questions = prompts.chat_questions()[:count]
    if kind == "chat":
        return [pair.start(pair.chat(question)) for question in questions]
    system = pair.chat(questions[0]).partition(questions[0])[0]
    words = [question.split()[:_FIRST_WORDS] for question in questions]
    return [pair.start(system + opening) for opening in dict.fromkeys(map(" ".join, words))]


def written_texts(pair: Pair, starts: Prompts, warp: Warp, tokens: int) -> list[EncodedDocument]:
    """What the target writes after `starts`, in one batch: these tokens are the novel ones.

    Empty texts are left out, and greedy ones that run in circles.
    """
    write = plain(pair.target, warp, tokens, batch=True, eos_id=pair.eos_id)
    return [
        EncodedDocument("", [*start, *new], [False] * len(start) + [True] * len(new))
        for start, new in zip(starts, write(starts).tokens, strict=True)
        if new and (warp.temperature or prompts.repeated_share(new) <= prompts.MAX_REPEATED_SHARE)
    ]


def draft_reader(pair: Pair, warp: Warp = Warp()) -> acceptance.Reader:
    """The distributions of what drafts for `pair`; of an EAGLE head for a block's first token."""
    if pair.head:
        return acceptance.eagle_reader(Eagle.from_folder(pair.target, pair.head), warp)
    return acceptance.model_reader(pair.draft, warp)


def acceptance_figures(pair: Pair, texts: Sequence[EncodedDocument], warp: Warp) -> dict:
    """The mean of sum min(p, q) over all novel positions, and the quartiles of the texts' means.

    `outside` is the target's mean probability of the tokens that the draft never proposes.
    ValueError without texts.
    """
    if not texts:
        raise ValueError("no text to measure: each is empty or repeats itself; use more prompts")
    q, draft_at_1, rows = draft_reader(pair, warp), draft_reader(pair), []
    for text in progress(texts, "texts"):
        p = acceptance.cached_reader(acceptance.model_reader(pair.target, warp))
        accepted = acceptance.acceptance(p, q, [text])
        outside = acceptance.acceptance(p, lambda ids: (draft_at_1(ids) == 0).float(), [text])
        rows.append((accepted.positions, accepted.alpha, outside.alpha))
    positions, alphas, outsides = np.transpose(rows)
    alpha, outside = np.average([alphas, outsides], axis=1, weights=positions)
    low, high = np.quantile(alphas, [0.25, 0.75])
    counts = {"texts": len(rows), "positions": int(positions.sum())}
    return {"acceptance": alpha, "low": low, "high": high, "outside": outside} | counts


def acceptance_table(pair: Pair, count: int = _PROMPTS, tokens: int = _TOKENS) -> pd.DataFrame:
    """A row for each kind of text, code alone if the pair does not chat, and each temperature."""
    rows, kinds = [], KINDS if pair.is_chat else KINDS[-1:]
    for kind, temperature in product(kinds, TEMPERATURES):
        warp = Warp(temperature)
        texts = written_texts(pair, own_prompts(pair, kind, count), warp, tokens)
        figures = acceptance_figures(pair, texts, warp)
        rows.append({"kind": kind, "temperature": temperature} | figures)
    return pd.DataFrame(rows)


def card_rows(table: pd.DataFrame) -> list[str]:
    """The table in Markdown, as it stands on a card."""
    return [
        "| text | temperature | acceptance | outside | positions |",
        "| --- " * 5 + "|",
        *(
            f"| {row.kind} | {row.temperature:g} | {row.acceptance:.3f} | {row.outside:.3f} | "
            f"{row.positions:,} |"
            for row in table.itertuples()
        ),
    ]


def main() -> None:
    """Measure the fetched pair, print a table for each draft, and write it beside the draft."""
    for draft, file in ACCEPTANCE_FILES.items():
        table = acceptance_table(load_pair(SMOLLM2, draft, device="cpu"))
        print(draft, *card_rows(table), sep="\n")
        write_whole(file, table.to_json(orient="records", indent=1) + "\n")


if __name__ == "__main__":
    main()
