"""Real blocks of the built-in pair, recorded for the lessons, which load no models.

`python -m specdec_lib.training.recording` writes lessons/data/recorded.json, in some minutes.
Every draft token in it was drawn from the draft's distribution at a context that the draft has
read, and judged by a target that has read the same. The file holds `runs`, block by block with what
decided each verdict, and `requests`: longer texts, of which it keeps only the accepted counts.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tqdm import tqdm

from specdec_lib.decoding.generate import speculative_generate, start_generation
from specdec_lib.decoding.speculative import decode_block
from specdec_lib.decoding.state import Generation, Settings, VerifiedBlock
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.files import write_whole
from specdec_lib.measure.prompts import prompts
from specdec_lib.measure.runs import SAMPLED, choices
from specdec_lib.models.pair import Pair
from specdec_lib.models.pairs import load_pair
from specdec_lib.sampling import Uniforms

PATH = Path(__file__).resolve().parents[1] / "lessons" / "data" / "recorded.json"
DRAFT = "base"
KS = (1, 2, 3, 4, 5, 6, 8, 12, 16)
PROMPT = 64  # tokens
PASSAGES, SEEDS, RUN = 4, 3, 40  # runs: passages, seeds for each, and least tokens of a run
REQUESTS, ROWS, REQUEST = 192, 64, 128  # requests: how many, how many at once, tokens of each
COLUMNS = ("drafted", "p", "q", "r", "accepted", "token")  # of a block of a run


@torch.inference_mode()
def run_of(pair: Pair, passage: int, seed: int, k: int) -> dict[str, Any]:
    """One run: whole blocks of `k` draft tokens after a passage, until RUN tokens are written."""
    prompt = prompts(PASSAGES, PROMPT)[passage]
    settings = Settings(RUN + k + 1, SAMPLED)  # enough that no block is cut short
    drafter = ModelDrafter(pair.draft)
    state = start_generation(
        pair.target, drafter, [prompt], settings, PROMPT + settings.max_new_tokens
    )
    drawn = Uniforms([np.random.default_rng([passage, seed, k])])
    blocks = []
    while len(state.new_tokens[0]) < RUN:
        (block,) = decode_block(state, drafter, k, drawn)
        blocks.append(block_record(block, drawn.r[0].tolist()))
    return {"passage": passage, "seed": seed, "k": k, "blocks": blocks}


def block_record(block: VerifiedBlock, coins: list[float]) -> list[Any]:
    """What was drafted and written, in the order of COLUMNS.

    p, q and r are those of the draft tokens up to the first rejection: the others are never judged.
    They have four digits, or as many more as the verdict needs to stay the same.
    """
    judged = min(block.n_accepted + 1, len(block.drafted))
    columns = [each[:judged] for each in (block.p, block.q, coins)]
    for digits in range(4, 18):
        p, q, r = ([float(f"{x:.{digits}g}") for x in column] for column in columns)
        if accepted_of(p, q, r) == block.n_accepted:
            break
    return [block.drafted, p, q, r, block.n_accepted, block.next_token]


def accepted_of(p: list[float], q: list[float], r: list[float]) -> int:
    """How many draft tokens pass, from the first: r q < p, as in decoding/verify.py."""
    verdicts = [coin * draft < target for target, draft, coin in zip(p, q, r, strict=True)]
    return [*verdicts, False].index(False)


def requests_of(pair: Pair, k: int) -> dict[str, Any]:
    """How many blocks each request took, and how many whole blocks had 0 to `k` tokens accepted."""
    pool, generations = prompts(REQUESTS, PROMPT), []
    for start in range(0, REQUESTS, ROWS):
        drawn = choices(SAMPLED, seed=1000 * k + start, rows=ROWS)
        settings, drafter = Settings(REQUEST, SAMPLED), ModelDrafter(pair.draft)
        rows = pool[start : start + ROWS]
        generations.append(speculative_generate(pair.target, drafter, rows, k, settings, drawn))
    return {
        "k": k,
        "blocks": [len(row) for each in generations for row in each.blocks],
        "accepted": blocks_by_accepted(generations, k),
    }


def blocks_by_accepted(generations: list[Generation], k: int) -> list[int]:
    """How many blocks had 0 to `k` tokens accepted; not the last of a text, which draft fewer."""
    blocks = [block for each in generations for row in each.blocks for block in row]
    whole = [block.n_accepted for block in blocks if len(block.drafted) == k]
    return np.bincount(whole, minlength=k + 1).tolist()


def pieces_of(pair: Pair, runs: list[dict[str, Any]], opening: list[list[int]]) -> dict[str, str]:
    """The text of every token that is shown, by its id."""
    blocks = [block for run in runs for block in run["blocks"]]
    used = {token for drafted, *_, last in blocks for token in [*drafted, last]}
    used |= {token for tokens in opening for token in tokens}
    return {str(token): pair.tokenizer.decode([token]) for token in sorted(used)}


def record(pair: Pair) -> dict[str, Any]:
    """All of the file."""
    settings = [(passage, seed) for passage in range(PASSAGES) for seed in range(SEEDS)]
    jobs = [(k, passage, seed) for k in KS for passage, seed in settings]
    runs = [run_of(pair, passage, seed, k) for k, passage, seed in tqdm(jobs, desc="runs")]
    opening = prompts(PASSAGES, PROMPT)
    return {
        "made_by": "python -m specdec_lib.training.recording",
        "pair": pair.label,
        "draft": DRAFT,
        "temperature": 1,
        "passages": opening,
        "columns": COLUMNS,
        "pieces": pieces_of(pair, runs, opening),
        "runs": runs,
        "request_tokens": REQUEST,
        "requests": [requests_of(pair, k) for k in tqdm(KS, desc="requests")],
    }


def main() -> None:
    """Write the file."""
    text = json.dumps(record(load_pair(draft=DRAFT)), separators=(",", ":"))
    write_whole(PATH, text + "\n")


if __name__ == "__main__":
    main()
