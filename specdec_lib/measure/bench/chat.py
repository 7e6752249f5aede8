"""What the bench compares on a published chat model: answers to questions."""

from collections.abc import Sequence
from functools import cache, partial

import pandas as pd
import torch

from specdec_lib.device import dtype_name
from specdec_lib.drafters.pair import drafter_of
from specdec_lib.measure.bench import figures
from specdec_lib.measure.compare import Decoder
from specdec_lib.measure.hugging import CountedModel
from specdec_lib.measure.library_decoders import GREEDY, SAMPLED, plain, speculative
from specdec_lib.measure.models import CPU, target_dtypes
from specdec_lib.measure.prompts import chat_questions, without_repetition
from specdec_lib.models.catalogue import SMOLLM2
from specdec_lib.models.smollm2 import DRAFT_MODEL, FOLDERS, load_smollm2
from specdec_lib.sampling import Warp

CHAT_TOKENS = 96  # of an answer

COMPARISONS = {"SmolLM2, T = 1": SAMPLED, "SmolLM2, greedy": GREEDY}

load_chat_pair = cache(partial(load_smollm2, None, CPU))


def run_comparison(warp: Warp) -> tuple[pd.DataFrame, list[str]]:
    """Plain, ours and, if greedy, Hugging Face's two by turns; and how each of them runs."""
    pair, chosen = load_chat_pair(torch.float32), long_answer_prompts(figures.BENCH_PROMPTS)
    ours = speculative(pair.target, drafter_of(pair), pair.k, warp, CHAT_TOKENS)
    in_each_dtype = partial(plain_decoders, warp)
    decoders = {
        figures.BEST_PLAIN: figures.fastest_decoder(in_each_dtype, chosen[0], CHAT_TOKENS),
        figures.SPECULATIVE: (f"float32, K = {pair.k}", ours),
    }
    if warp == GREEDY:
        # transformers drafts with models only.
        folder, vocab_size = FOLDERS[DRAFT_MODEL], pair.target.vocab_size
        load_draft = partial(CountedModel.from_cut_folder, folder, vocab_size)
        load = partial(figures.hf_target, SMOLLM2), cache(load_draft)
        decoders |= figures.hf_fastest(*load, DRAFT_MODEL, chosen[0], CHAT_TOKENS)
    return figures.by_turns(decoders, chosen)


def plain_decoders(warp: Warp, tokens: int) -> dict[str, Decoder]:
    """Our own plain decoding in every dtype."""
    targets = {dtype: load_chat_pair(dtype).target for dtype in target_dtypes()}
    return {dtype_name(dtype): plain(target, warp, tokens) for dtype, target in targets.items()}


@cache
def long_answer_prompts(count: int) -> Sequence[Sequence[int]]:
    """`count` questions whose greedy answer does not run in circles, nor end before CHAT_TOKENS.

    So all decoders write equally many tokens, and none after an end.
    """
    pair = load_chat_pair(torch.float32)
    answer = cache(plain(pair.target, GREEDY, CHAT_TOKENS, eos_id=pair.eos_id))
    prompts = [tuple(pair.start(pair.chat(question))) for question in chat_questions()]
    long = [prompt for prompt in prompts if len(answer(prompt).tokens[0]) == CHAT_TOKENS]
    return without_repetition(answer, long, count)
