"""The speed figures: `python -m specdec_lib.measure.bench --json FILE`, in about five minutes.

Decoders take turns on the same held-out prompts, and a figure is the median of the ratios of their
times. The whole call is timed on both sides, the prefill included. All of it runs on the CPU.
"""

import argparse
import json
import tomllib
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd
import torch

from specdec_lib.device import processor
from specdec_lib.files import write_whole
from specdec_lib.measure.bench import chat, figures
from specdec_lib.measure.bench.figures import BEST_PLAIN, SPECULATIVE
from specdec_lib.measure.bench.memory import memory_overhead
from specdec_lib.measure.compare import summary
from specdec_lib.models.catalogue import SMOLLM2
from specdec_lib.models.published.fetch import is_fetched

_DATA = tomllib.loads(Path(__file__).with_name("figures.toml").read_text(encoding="utf-8"))
FIGURES, OVERHEADS = _DATA["figures"], _DATA["overheads"]


def main(arguments: list[str] | None = None) -> None:
    """Measure, print two tables and what was chosen, and write the JSON."""
    command = argparse.ArgumentParser("python -m specdec_lib.measure.bench", description=__doc__)
    command.add_argument("--json", type=Path, metavar="FILE", help="write the figures here")
    options = command.parse_args(arguments)
    runs = {name: figures.run_comparison(*key) for name, key in figures.COMPARISONS.items()}
    overheads = {"memory_overhead": memory_overhead()}
    if is_fetched():
        runs |= {name: chat.run_comparison(warp) for name, warp in chat.COMPARISONS.items()}
        overheads["smollm2_memory"] = memory_overhead(SMOLLM2)
    frames = {name: frame for name, (frame, _) in runs.items()}
    record = as_record(frames, overheads) | {
        "machine": f"{processor()}, torch {torch.__version__}, {date.today()}",
        "notes": [f"{name}: {note}" for name, (_, notes) in runs.items() for note in notes],
    }
    if not is_fetched():
        record["notes"].append(f"{SMOLLM2} is not here: `specdec fetch {SMOLLM2}` brings it")
    print(*printed_tables(record), record["machine"], *record["notes"], sep="\n")
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        write_whole(options.json, json.dumps(record, indent=2) + "\n")


def as_record(frames: Mapping[str, pd.DataFrame], overheads: Mapping[str, float]) -> dict[str, Any]:
    """Median and quartiles for each key of FIGURES, and the tokens a second behind them."""
    speeds = {name: summary(frame, BEST_PLAIN).tokens_per_second for name, frame in frames.items()}
    quartiles = {}
    for key, (name, other) in FIGURES.items():
        if name not in frames:
            continue
        speed = summary(frames[name], other).loc[SPECULATIVE]
        quartiles[key] = {"median": speed.speedup, "low": speed.low, "high": speed.high}
    return quartiles | {
        **overheads,
        "tokens_per_second": {name: series.to_dict() for name, series in speeds.items()},
    }


def printed_tables(record: Mapping[str, Any]) -> list[str]:
    """The figures with their quartiles, and the tokens a second behind them."""
    what = {key: f"{name}, over {other}" for key, (name, other) in FIGURES.items()} | OVERHEADS
    rows = {key: record[key] for key in what if key in record}
    figures = pd.DataFrame(
        {key: row if key in FIGURES else {"median": row} for key, row in rows.items()}
    ).T
    figures["what"] = pd.Series(what)
    speeds = pd.DataFrame(record["tokens_per_second"]).T
    return [
        figures.round(2).to_string(na_rep=""),
        f"\ntokens a second\n{speeds.round(1).to_string(na_rep='')}\n",
    ]


if __name__ == "__main__":
    main()
