"""Real blocks of the built-in pair, recorded for the lessons, which load no models; some minutes.

Every draft token was drawn from the draft's distribution at a context that the draft has read, and
judged by a target that has read the same. The file holds `runs`, block by block with what decided
each verdict, and `requests`: longer texts, of which it keeps only the accepted counts.
"""

import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tqdm import tqdm

import specdec_lib
from specdec_lib.decoding.generate import speculative_generate, start_generation
from specdec_lib.decoding.speculative import decode_block
from specdec_lib.decoding.state import Generation, Settings, VerifiedBlock
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.measure.library_decoders import SAMPLED, seeded_generators
from specdec_lib.measure.prompts import prompts
from specdec_lib.models.pair import Pair
from specdec_lib.models.pairs import load_pair
from specdec_lib.sampling import Uniforms

BLOCKS_FILE = Path(specdec_lib.__file__).with_name("lessons") / "data" / "recorded.json"
RECORDED_DRAFT = "base"
_KS = (1, 2, 3, 4, 5, 6, 8, 12, 16)
_PROMPT_TOKENS = 64
_PASSAGES, _SEEDS = 4, 3  # runs: passages, and seeds for each
_RUN_TOKENS = 40  # at least
_REQUESTS, _BATCH, _REQUEST_TOKENS = 192, 64, 128  # requests: how many, and how many at once
_COLUMNS = ("drafted", "p", "q", "r", "accepted", "token")  # of a block of a run


@torch.inference_mode()
def recorded_run(pair: Pair, passage: int, seed: int, k: int) -> dict[str, Any]:
    """One run: whole blocks of `k` draft tokens after a passage, until _RUN_TOKENS are written."""
    prompt = prompts(_PASSAGES, _PROMPT_TOKENS)[passage]
    settings = Settings(_RUN_TOKENS + k + 1, SAMPLED)  # enough that no block is cut short
    drafter = ModelDrafter(pair.draft)
    capacity = _PROMPT_TOKENS + settings.max_new_tokens
    state = start_generation(pair.target, drafter, [prompt], settings, capacity)
    random_source = Uniforms([np.random.default_rng([passage, seed, k])])
    blocks = []
    while len(state.new_tokens[0]) < _RUN_TOKENS:
        (block,) = decode_block(state, drafter, k, random_source)
        blocks.append(block_record(block, random_source.r[0].tolist()))
    return {"passage": passage, "seed": seed, "k": k, "blocks": blocks}


def block_record(block: VerifiedBlock, uniforms: list[float]) -> list[Any]:
    """What was drafted and written, in the order of _COLUMNS.

    p, q and r are those of the draft tokens up to the first rejection: the others are never judged.
    They have four digits, or as many more as the verdict needs to stay the same.
    """
    judged = min(block.n_accepted + 1, len(block.drafted))
    columns = [column[:judged] for column in (block.p, block.q, uniforms)]
    for digits in range(4, 18):
        p, q, r = ([float(f"{x:.{digits}g}") for x in column] for column in columns)
        passes = [r_i * q_i < p_i for p_i, q_i, r_i in zip(p, q, r, strict=True)]
        if [*passes, False].index(False) == block.n_accepted:  # r q < p, as in decoding/verify.py
            break
    return [block.drafted, p, q, r, block.n_accepted, block.next_token]


def request_counts(pair: Pair, k: int) -> dict[str, Any]:
    """How many blocks each request took, and how many whole blocks had 0 to `k` tokens accepted."""
    pool, generations = prompts(_REQUESTS, _PROMPT_TOKENS), []
    settings, drafter = Settings(_REQUEST_TOKENS, SAMPLED), ModelDrafter(pair.draft)
    for start in range(0, _REQUESTS, _BATCH):
        random_source = Uniforms(seeded_generators(1000 * k + start, _BATCH))
        rows = pool[start : start + _BATCH]
        generations.append(
            speculative_generate(pair.target, drafter, rows, k, settings, random_source)
        )
    return {
        "k": k,
        "blocks": [len(row) for generation in generations for row in generation.blocks],
        "accepted": blocks_by_accepted(generations, k),
    }


def blocks_by_accepted(generations: list[Generation], k: int) -> list[int]:
    """How many blocks had 0 to `k` tokens accepted; not the last of a text, which draft fewer."""
    rows = [row for generation in generations for row in generation.blocks]
    whole = [block.n_accepted for row in rows for block in row if len(block.drafted) == k]
    return np.bincount(whole, minlength=k + 1).tolist()


def token_texts(
    pair: Pair, runs: list[dict[str, Any]], passages: list[list[int]]
) -> dict[str, str]:
    """The text of every token that is shown, by its id."""
    blocks = [block for run in runs for block in run["blocks"]]
    shown = {token for drafted, *_, last in blocks for token in [*drafted, last]}
    shown |= {token for tokens in passages for token in tokens}
    return {str(token): pair.tokenizer.decode([token]) for token in sorted(shown)}


def blocks_json() -> str:
    """All of the file."""
    pair, passages = load_pair(draft=RECORDED_DRAFT), prompts(_PASSAGES, _PROMPT_TOKENS)
    jobs = list(product(_KS, range(_PASSAGES), range(_SEEDS)))
    runs = [recorded_run(pair, passage, seed, k) for k, passage, seed in tqdm(jobs, desc="runs")]
    content = {
        "made_by": "python -m specdec_lib.measure.recording blocks",
        "pair": pair.label,
        "draft": RECORDED_DRAFT,
        "temperature": 1,
        "passages": passages,
        "columns": _COLUMNS,
        "pieces": token_texts(pair, runs, passages),
        "runs": runs,
        "request_tokens": _REQUEST_TOKENS,
        "requests": [request_counts(pair, k) for k in tqdm(_KS, desc="requests")],
    }
    return json.dumps(content, separators=(",", ":"))
