"""A small SPEED-Bench: `python -m specdec_lib.measure.speedbench`.

Four kinds of text (core/kinds.py) in batches of 1 to 64 requests, plain and speculative decoding by
turns, at temperature 1. For each it gives tokens a second of the batch, milliseconds a token of the
median request, the speed-up, and tokens a block. Speed-ups are geometric means of paired rounds
with 95% intervals by Student's t; tokens a block have theirs from resampling the requests.

A batch is static: all its requests begin together, and one that is done waits for the others. Run
it with nothing else on the machine. The time is a budget: batches that do not fit are left out, and
that is said.
"""

import argparse
import json
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import torch

from specdec_lib.assets import BUILT_IN_DRAFTS
from specdec_lib.device import leave_cores, processor_class, processor_name
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.files import write_whole
from specdec_lib.measure.core import models
from specdec_lib.measure.core.kinds import KINDS
from specdec_lib.measure.core.pages import markdown, write_table
from specdec_lib.measure.speedbench.picture import picture
from specdec_lib.measure.speedbench.serving import Row, measure, ways
from specdec_lib.models.scale import COSTS

PROGRAM = "python -m specdec_lib.measure.speedbench"
BATCHES = (1, 2, 4, 8, 16, 32, 64)
RECORDED = Path(__file__).with_name("recorded.json")
PLACE = "throughput and latency"
HEAD = (
    *("text", "batch", "tokens a block", "tokens/s, plain", "tokens/s", "ms a token, plain"),
    *("ms a token", "times as fast", "rounds"),
)


def parser() -> argparse.ArgumentParser:
    """The options."""
    command = argparse.ArgumentParser(
        prog=PROGRAM, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    option = command.add_argument
    option("--seconds", type=float, default=300, help="for all that is measured (300)")
    option("--batches", type=int, nargs="+", default=BATCHES, help="requests at once (1 to 64)")
    option("--target-cost", choices=list(COSTS), default="40m", help="what the target costs (40m)")
    option("--draft", choices=BUILT_IN_DRAFTS, default="small", help="the draft model (small)")
    option("--k", type=int, default=2, help="draft tokens in a block (2)")
    option("--tokens", type=int, default=16, help="new tokens a request (16)")
    option("--json", type=Path, metavar="FILE", help="write every figure")
    option("--markdown", type=Path, metavar="FILE", help="write the table into this page")
    option("--figure", type=Path, metavar="FILE.svg", help="draw the curve")
    option("--recorded", type=Path, metavar="FILE", help="measure nothing: read such a JSON file")
    return command


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure or read, print, write; the exit code is 1 if no batch fitted into the time."""
    options = parser().parse_args(arguments)
    require(options)
    record = json.loads(options.recorded.read_text("utf-8")) if options.recorded else made(options)
    rows = rows_of(record)
    if not rows:
        print("No batch fitted into the time: give more --seconds.")
        return 1
    print(f"{about(record)}\n\n{table(rows)}")
    if options.json:
        write_whole(options.json, json.dumps(record, indent=1) + "\n")
    if options.markdown:
        write_table(options.markdown, PLACE, f"{about(record)}\n\n{table(rows)}")
    if options.figure:
        write_whole(options.figure, picture(rows, about(record)))
    return 0


def require(options: argparse.Namespace) -> None:
    """SystemExit, with the option, for the first that cannot be."""
    for name in ("seconds", "k", "tokens"):
        if getattr(options, name) <= 0:
            raise SystemExit(f"--{name} is {getattr(options, name)}; give a number above 0")
    if min(options.batches) < 1:
        raise SystemExit(f"--batches has {min(options.batches)}; a batch has 1 request or more")


def made(options: argparse.Namespace) -> dict[str, Any]:
    """The record of a new measurement."""
    threads, batches = leave_cores(), sorted(set(options.batches))
    target = models.target(options.target_cost, torch.float32)
    both = ways(target, ModelDrafter(models.draft(options.draft)), options.k)
    texts = {kind: make(max(batches[-1], BATCHES[-1])) for kind, make in KINDS.items()}
    rows = measure(both, texts, batches, options.tokens, options.seconds)
    settings = {name: getattr(options, name) for name in ("target_cost", "draft", "k", "tokens")}
    machine = {"processor": processor_name(), "class": processor_class(), "threads": threads}
    return {
        "made_by": PROGRAM,
        "date": f"{date.today()}",
        **machine,
        "settings": settings,
        "rows": [rounded(row) for row in rows],
    }


def rounded(row: Row) -> dict[str, Any]:
    """A row as it is written, its measured numbers with four digits."""

    def few(value: Any) -> Any:
        if isinstance(value, tuple):
            return [few(each) for each in value]
        return float(f"{value:.4g}") if isinstance(value, float) else value

    return {name: few(value) for name, value in row._asdict().items()}


def rows_of(record: dict[str, Any]) -> list[Row]:
    """The rows of a record."""
    intervals = ("speedup", "tokens_a_block")
    return [
        Row(**{name: tuple(each) if name in intervals else each for name, each in row.items()})
        for row in record["rows"]
    ]


def recorded(path: Path = RECORDED) -> tuple[list[Row], str]:
    """The rows of a file, and what they were measured with."""
    record = json.loads(path.read_text("utf-8"))
    return rows_of(record), about(record)


def about(record: dict[str, Any]) -> str:
    """The pair and the machine in a line."""
    used, threads = record["settings"], record["threads"]
    return (
        f"Target at the {used['target_cost'].upper()} cost, {used['draft']} draft, "
        f"K = {used['k']}, {used['tokens']} new tokens; {record['processor']} "
        f"({record['class']}), {threads} thread{'s' * (threads > 1)}, {record['date']}"
    )


def table(rows: Sequence[Row]) -> str:
    """Markdown, by kind and batch."""
    return markdown(HEAD, map(cells, sorted(rows, key=lambda row: list(KINDS).index(row.kind))))


def cells(row: Row) -> list[str]:
    """What the columns of HEAD show of a row."""
    block, ratio = (
        f"{v:.2f} ({a:.2f} to {b:.2f})" for v, a, b in (row.tokens_a_block, row.speedup)
    )
    speeds = f"{row.plain_tokens_a_second:.0f}", f"{row.tokens_a_second:.0f}"
    times = f"{row.plain_ms:.1f}", f"{row.ms:.1f}"
    return [row.kind, str(row.batch), block, *speeds, *times, ratio, str(row.rounds)]
