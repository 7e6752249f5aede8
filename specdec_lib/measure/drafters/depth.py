"""Chains and trees by depth and by candidate, over plain decoding: expected and measured.

The speed that is expected is what bare passes allow (bound.py); a decoder that is measured also
draws, judges and keeps tokens.
"""

from collections.abc import Mapping, Sequence

import torch

from specdec_lib.measure.core.held_out import prompts
from specdec_lib.measure.core.models import target
from specdec_lib.measure.core.pages import markdown
from specdec_lib.measure.core.runs import GREEDY, Prompts, plain, straight
from specdec_lib.measure.core.timing import Spread, on_prompts, ratios
from specdec_lib.measure.drafters.bound import (
    Draft,
    Expected,
    all_chances,
    decoder_of,
    drafts_for,
    expected,
    options,
    pass_costs,
)
from specdec_lib.models.llama import Llama
from specdec_lib.sampling import Warp

HEAD = (
    "draft", "setting", "tokens a block", "drafting", "verified", "v", "expected", "measured",
)  # fmt: skip
POOL = 300  # prompts to choose those from whose greedy text does not run in circles
TEXTS = 16  # that tokens a block are computed on


def table_for(model: Llama, warp: Warp, count: int, tokens: int, rounds: int) -> str:
    """Every option at this temperature: expected, and measured on `count` held-out prompts."""
    drafts = drafts_for(model)
    compared = options(drafts)
    texts = prompts_for(warp, max(count, TEXTS), tokens)
    found = all_chances(drafts, texts, tokens, warp)
    costs = pass_costs(model, drafts, compared)
    rows = [expected(option, found, costs) for option in compared]
    speeds = measured(rows, drafts, model, warp, texts[:count], tokens, rounds)
    return markdown(HEAD, [cells(row, speeds[row]) for row in by_speed(rows)])


def prompts_for(warp: Warp, count: int, tokens: int) -> Prompts:
    """Held-out prompts; at temperature 0 those whose text does not run in circles."""
    if warp != GREEDY:
        return prompts(count)
    return straight(plain(target(None, torch.float32), GREEDY, tokens), prompts(POOL), count)


def measured(
    rows: Sequence[Expected],
    drafts: Mapping[str, Draft],
    model: Llama,
    warp: Warp,
    texts: Prompts,
    tokens: int,
    rounds: int,
) -> dict[Expected, Spread]:
    """How many times as fast as plain decoding each of `rows` is, all of them interleaved."""
    decoders = {None: plain(model, warp, tokens)}
    decoders |= {row: decoder_of(row.option, drafts, model, warp, tokens) for row in rows}
    seconds = on_prompts(decoders, texts, rounds)
    return {row: ratios(seconds[None], seconds[row]) for row in rows}


def by_speed(rows: Sequence[Expected]) -> list[Expected]:
    """Draft by draft, that with the fastest option first; chains by K, then trees by nodes."""
    best = {name: max(r.speed for r in rows if r.option.draft == name) for name in names(rows)}
    return sorted(
        rows,
        key=lambda row: (
            -best[row.option.draft],
            row.option.draft,
            not row.option.is_chain,
            row.option.nodes,
        ),
    )


def names(rows: Sequence[Expected]) -> set[str]:
    """The drafts."""
    return {row.option.draft for row in rows}


def cells(row: Expected, speed: Spread) -> list[str]:
    """What the columns of HEAD show of a row."""
    return [
        row.option.draft,
        row.option.setting,
        f"{row.tokens:.2f}",
        f"{row.drafting:.3f}",
        str(1 + row.option.nodes),
        f"{row.verifying:.2f}",
        f"{row.speed:.2f}",
        str(speed),
    ]
