"""Chains and trees by depth and by candidate, over plain decoding: expected and measured.

The speed that is expected is what bare passes allow (bound.py); a decoder that is measured also
draws, judges and keeps tokens. How many tokens a block brings is computed for both, so that a
speed that is measured holds no luck: what is timed is a block.
"""

from collections.abc import Mapping, Sequence

import torch

from specdec_lib.decoding.state import Generation
from specdec_lib.measure.core.disturbance import tell_disturbance
from specdec_lib.measure.core.held_out import prompts
from specdec_lib.measure.core.models import target
from specdec_lib.measure.core.pages import markdown
from specdec_lib.measure.core.runs import GREEDY, Prompts, Recorded, plain, straight
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
MEASURED = 2  # chains and as many trees of every draft, those that are expected to be fastest
SECONDS = 120.0  # that the decoders may take


def table_for(model: Llama, warp: Warp, count: int, tokens: int) -> str:
    """Every option at this temperature: expected, and the best ones measured on `count` prompts."""
    drafts = drafts_for(model)
    compared = options(drafts)
    texts = prompts_for(warp, max(count, TEXTS), tokens)
    found = all_chances(drafts, texts, tokens, warp)
    costs = pass_costs(model, drafts, compared)
    rows = by_speed([expected(option, found, costs) for option in compared])
    speeds = measured(promising(rows), drafts, model, warp, texts[:count], tokens)
    return markdown(HEAD, [cells(row, speeds.get(row)) for row in rows])


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
) -> dict[Expected, Spread]:
    """How many times as fast as plain decoding each of `rows` is, all of them interleaved.

    On each text that is the tokens of a block, as computed, over its time in plain tokens.
    """
    decoders = {None: Recorded(plain(model, warp, tokens))}
    decoders |= {row: Recorded(decoder_of(row.option, drafts, model, warp, tokens)) for row in rows}
    on_prompts(decoders, texts, rounds=1, seconds=SECONDS)
    blocks = {key: seconds_a_block(each.generations[1:]) for key, each in decoders.items()}
    tell_disturbance(blocks[None])
    return {
        row: ratios([row.tokens * token for token in blocks[None]], blocks[row]) for row in rows
    }


def seconds_a_block(generations: Sequence[Generation]) -> list[float]:
    """Of each generation, without its prefill; in plain decoding a block is a token."""
    return [each.seconds / each.target_passes for each in generations]


def promising(rows: Sequence[Expected]) -> list[Expected]:
    """Of every draft the chains and the trees, MEASURED each, that are expected to be fastest."""
    kinds: dict[tuple[str, bool], list[Expected]] = {}
    for row in sorted(rows, key=lambda row: -row.speed):
        kinds.setdefault((row.option.draft, row.option.is_chain), []).append(row)
    return [row for kind in kinds.values() for row in kind[:MEASURED]]


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


def cells(row: Expected, speed: Spread | None) -> list[str]:
    """What the columns of HEAD show of a row."""
    return [
        row.option.draft,
        row.option.setting,
        f"{row.tokens:.2f}",
        f"{row.drafting:.3f}",
        str(1 + row.option.nodes),
        f"{row.verifying:.2f}",
        f"{row.speed:.2f}",
        str(speed or ""),
    ]
