"""An answer of a published chat model, with all that chapter 02's decoder reads to write it.

At every place both models are cut to their MOST_PROBABLE tokens: the target that is sampled is the
cut one. Texts follow from the answer and the draft tokens of each block, so they are not stored.
"""

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

import specdec_lib
from specdec_lib.decoder import uniform_numbers, up_to_end, verify
from specdec_lib.errors import SpecdecError
from specdec_lib.models.catalogue import SMOLLM2
from specdec_lib.models.function import logits_of
from specdec_lib.models.pair import Pair
from specdec_lib.models.pairs import load_pair
from specdec_lib.models.smollm2 import CHAT_END, DRAFT_MODEL
from specdec_lib.sampling import Warp, sample_from

ANSWER_FILE = Path(specdec_lib.__file__).with_name("lessons") / "ch02" / "answer.npz"
# Chosen for its text among ANSWERS_TRIED: 16 at this temperature, of which 10 ended and were read,
# and 4 at temperature 1, of which one ended and made no sense.
QUESTION, SEED, ANSWERS_TRIED = "Why should I learn to cook? Give three short reasons.", 1, 20
K, TEMPERATURE = 3, 0.7
MOST_PROBABLE, MAX_TOKENS = 64, 128


def recorded_answer(pair: Pair, question: str, seed: int) -> dict[str, np.ndarray]:
    """The arrays of the file, in the pair's tokens: `drafted` (blocks, K), `accepted` (blocks,).

    Tokens and logits (blocks, K + 1, 64) are those before each draft token and after the last.
    SpecdecError if the answer does not end in MAX_TOKENS.
    """
    prompt = pair.start(pair.chat(question))
    target, draft = (logits_of(model, 2 * MAX_TOKENS) for model in (pair.target, pair.draft))
    rng, warp, end = np.random.default_rng(seed), Warp(TEMPERATURE), frozenset([CHAT_END])
    answer, drafted, accepted, p, q = (list[Any]() for _ in range(5))
    while end.isdisjoint(answer):
        if len(answer) >= MAX_TOKENS - K:  # a decoder would cut the next block short
            raise SpecdecError(f"no end in {MAX_TOKENS} tokens with seed {seed}: take another one")
        u_draft, r, u = uniform_numbers(K, warp, rng)
        block, q_block = list[int](), list[Tensor]()
        for i in range(K + 1):  # no decoder reads the last row; the chapter shows it
            q_block.append(cut(draft([*prompt, *answer, *block])[-1]))
            block += [sample_from(warp(q_block[i]), u_draft[i])] if i < K else []
        p_block = cut(target([*prompt, *answer, *block])[-K - 1 :])
        n, last = verify(warp(p_block), [warp(row) for row in q_block], block, r, u)
        p.append(p_block)
        q.append(torch.stack(q_block))
        drafted.append(block)
        accepted.append(n)
        answer += up_to_end([*block[:n], last], end)
    lists = {"prompt": prompt, "answer": answer, "drafted": drafted, "accepted": accepted}
    for name, blocks in (("target", p), ("draft", q)):
        logits, tokens = torch.stack(blocks).topk(MOST_PROBABLE)
        lists |= {f"{name}_tokens": tokens.numpy(), f"{name}_logits": logits.half().numpy()}
    return {name: np.array(values) for name, values in lists.items()}


def cut(logits: np.ndarray) -> Tensor:
    """`logits` (..., V) of the most probable tokens, as the file has them; -inf for the others.

    Less the largest, the logits that count are small, and float16 is exact to 0.001.
    """
    values, tokens = torch.tensor(logits).topk(MOST_PROBABLE)
    values -= values[..., :1].clone()
    rest = torch.full(logits.shape, -torch.inf, dtype=torch.float64)
    return rest.scatter(-1, tokens, values.half().double())


def answer_npz() -> bytes:
    """All of the file."""
    pair = load_pair(SMOLLM2, DRAFT_MODEL, device="cpu", dtype=torch.float32)
    arrays = recorded_answer(pair, QUESTION, SEED)
    names = ("prompt", "answer", "drafted", "target_tokens", "draft_tokens")
    used = np.unique(np.concatenate([arrays[name].ravel() for name in names]))
    arrays |= {name: np.searchsorted(used, arrays[name]).astype("u2") for name in names}
    about = {
        "made_by": "python -m specdec_lib.measure.recording answer",
        "pair": pair.label,
        "question": QUESTION,
        "answers_tried": ANSWERS_TRIED,
        "seed": SEED,
        "k": K,
        "temperature": TEMPERATURE,
        "count": MAX_TOKENS,
        "pieces": [pair.tokenizer.decode([token]) for token in used.tolist()],
    }
    data, text = io.BytesIO(), json.dumps(about).encode()
    np.savez_compressed(data, about=np.frombuffer(text, dtype="u1"), **arrays)
    return data.getvalue()
