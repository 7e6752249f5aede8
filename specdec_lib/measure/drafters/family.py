"""Every drafter on the built-in target, as a table: `python -m specdec_lib.measure.drafters`.

Each runs with the K, or the shape of tree, that was fastest on a trial of three prompts. Then all
of them and plain decoding are interleaved on the same held-out prompts, at temperature 1. A drafter
that loses is in the table too. With `--target-cost` the target has the same distribution and costs
more (scale.py): the drafters that read its states and layers are made for it, and the drafts stay
as they are. Its added layers add nothing, so that an early exit keeps the alpha that it has on the
small target, and costs less beside it.

Alpha is the share of judged draft tokens that are accepted (theory.acceptance_from_counts). In a
tree several candidates share a position: there it is the share of judged levels at which one of
them is accepted, so it grows with their number and is no figure of the draft alone. Tokens a block
counts the correction or the bonus, c is the time of a draft step over that of a plain token, both
medians, and the lines are those of the drafter's file, or the verifier's, that are not blank.
"""

import argparse
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from tqdm import tqdm

from specdec_lib.assets import BUILT_IN_DRAFTS
from specdec_lib.decoding.state import Generation
from specdec_lib.device import name_of
from specdec_lib.measure.core.disturbance import tell_disturbance
from specdec_lib.measure.core.held_out import prompts
from specdec_lib.measure.core.models import dtypes, target
from specdec_lib.measure.core.pages import markdown, write_table
from specdec_lib.measure.core.runs import ROUNDS, SAMPLED, Decoder, Recorded, plain
from specdec_lib.measure.core.timing import Spread, on_prompts, ratios
from specdec_lib.measure.drafters.members import Member, Variant, family
from specdec_lib.models.pairs import cost_label
from specdec_lib.models.scale import COSTS
from specdec_lib.theory import acceptance_from_counts

PLAIN = "plain decoding"
TRIALS = 3  # prompts that choose a variant; acceptance on a single one would be luck
HEAD = ("drafter", "setting", "alpha", "tokens a block", "c", "speed over plain", "lines")


class Comparison(NamedTuple):
    """A drafter beside plain decoding: a line of the table."""

    name: str
    setting: str
    alpha: float
    tokens_a_block: float
    c: float  # seconds of a draft step over those of a plain token
    speed: Spread
    lines: int


def measured(
    members: Mapping[str, Member], baseline: Decoder, texts: Sequence[list[int]], rounds: int
) -> list[Comparison]:
    """Choose the variants on the first TRIALS texts, and compare on the others, `rounds` times."""
    with tqdm(members.items(), desc="settings") as bar:
        best = {name: fastest(member, texts[:TRIALS]) for name, member in bar}
    decoders = {PLAIN: Recorded(baseline)}
    decoders |= {name: Recorded(variant.decode) for name, variant in best.items()}
    seconds = on_prompts(decoders, texts[TRIALS:], rounds, warm_up=0)
    tell_disturbance(seconds[PLAIN])
    plainly = decoders[PLAIN].generations
    token = statistics.median(each.seconds / len(each.tokens[0]) for each in plainly)
    rows = []
    for name, member in members.items():
        speed = ratios(seconds[PLAIN], seconds[name])
        rows.append(row(name, member, best[name], decoders[name].generations, token, speed))
    return rows


def fastest(member: Member, texts: Sequence[list[int]]) -> Variant:
    """The variant that takes the shortest time after all of `texts` together."""
    variants = dict(enumerate(variant.decode for variant in member.variants))
    seconds = on_prompts(variants, texts, rounds=1)
    return member.variants[min(seconds, key=lambda number: sum(seconds[number]))]


def row(
    name: str,
    member: Member,
    variant: Variant,
    generations: Sequence[Generation],
    token: float,
    speed: Spread,
) -> Comparison:
    """The line of a member that ran as `variant`; a plain token takes `token` s."""
    blocks = [block for each in generations for block in each.blocks[0]]
    accepted, judged = acceptance_from_counts(
        [counts for each in generations for counts in judged_levels(each, variant.depth)]
    )
    return Comparison(
        name,
        variant.setting,
        accepted / max(judged, 1),
        sum(block.kept for block in blocks) / len(blocks),
        statistics.median(block.draft_seconds for block in blocks) / variant.depth / token,
        speed,
        lines_of(member.file),
    )


def judged_levels(generation: Generation, depth: int) -> list[tuple[int, int]]:
    """(accepted, drafted) levels of every block: in a chain its draft tokens, in a tree its depth.

    A tree has at most `depth` levels, and one fewer than there were tokens left.
    """
    left, levels = len(generation.tokens[0]), []
    for block in generation.blocks[0]:
        levels.append((block.accepted, min(depth, left - 1, len(block.drafted))))
        left -= block.kept
    return levels


def lines_of(file: str) -> int:
    """Its lines that are not blank."""
    with open(file, encoding="utf-8") as text:
        return sum(1 for line in text if line.strip())


def table(rows: Sequence[Comparison]) -> str:
    """Markdown, the fastest first."""
    ordered = sorted(rows, key=lambda row: -row.speed.median)
    return markdown(HEAD, map(cells, ordered))


def cells(row: Comparison) -> list[str]:
    """What the columns of HEAD show of a row."""
    figures = f"{row.alpha:.2f}", f"{row.tokens_a_block:.2f}", f"{row.c:.3f}", str(row.speed)
    return [row.name, row.setting, *figures, str(row.lines)]


def parser() -> argparse.ArgumentParser:
    """The options."""
    command = argparse.ArgumentParser(
        prog="python -m specdec_lib.measure.drafters",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    option = command.add_argument
    option("--prompts", type=int, default=8, help="prompts that count (8)")
    option("--tokens", type=int, default=64, help="new tokens a prompt (64)")
    option("--target-cost", choices=list(COSTS), help="make the target as costly as this")
    names = [name_of(dtype) for dtype in dtypes()]
    option("--dtype", choices=names, help=f"the target's ({names[0]})")
    option("--markdown", type=Path, metavar="FILE", help="write the table into this page")
    return command


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    options = parser().parse_args(arguments)
    model = target(options.target_cost, getattr(torch, options.dtype or name_of(dtypes()[0])))
    members = family(model, options.tokens)
    baseline = plain(model, SAMPLED, options.tokens)
    rows = measured(members, baseline, prompts(options.prompts + TRIALS), ROUNDS)
    print(table(rows))
    if options.target_cost:
        print(f"\nThe drafts: {cost_label(options.target_cost, *BUILT_IN_DRAFTS)}.")
    if options.markdown:
        write_table(options.markdown, table_name(options.target_cost), table(rows))
    return 0


def table_name(size: str | None) -> str:
    """The name of the table in a page."""
    return f"the drafters at the cost of {size}" if size else "the drafters on the built-in target"
