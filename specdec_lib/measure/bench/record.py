"""A run of the bench as a JSON file: its figures, their spreads, and what it ran on."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import NamedTuple

import torch

from specdec_lib.device import processor_class, processor_name
from specdec_lib.files import write_whole
from specdec_lib.measure.bench.figures import FIGURES, Value
from specdec_lib.measure.core.timing import Picked, Spread


class Record(NamedTuple):
    """The figures, and what they were measured on."""

    values: Mapping[str, Value]
    processor: str  # its class (device.processor_class)
    machine: str


def here(values: Mapping[str, Value]) -> Record:
    """`values` as a record of this process."""
    return Record(values, processor_class(), machine())


def machine() -> str:
    """What the figures were measured on."""
    name, threads = processor_name(), torch.get_num_threads()
    return f"{name}, {threads} threads, torch {torch.__version__}, {date.today()}"


def write(path: Path, record: Record, notes: list[str], seconds: Mapping[str, float]) -> None:
    """The record as JSON, and beside it the machine and the notes as text.

    `spreads` hold what a figure was picked from, `seconds` how long each took to measure.
    """
    picked = {k: dict(v.among) for k, v in record.values.items() if isinstance(v, Picked)}
    data = {key: as_data(value) for key, value in record.values.items()}
    data |= summaries(data) | {
        "class": record.processor,
        "machine": record.machine,
        "spreads": picked,
        "seconds": {key: round(each, 1) for key, each in seconds.items()},
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, json.dumps(data, indent=2) + "\n")
    head = [record.machine, f"class: {record.processor}"]
    write_whole(path.with_suffix(".notes.txt"), "\n".join([*head, *notes]) + "\n")


def as_data(value: Value) -> float | dict[str, float]:
    """A figure as JSON has it."""
    if isinstance(value, Picked):
        return value.value
    return asdict(value) if isinstance(value, Spread) else value


def summaries(data: Mapping[str, object]) -> dict[str, object]:
    """What is read off several figures together, as far as they are there."""
    least = [data.get(f"share_of_bound_{kind}") for kind in ("greedy", "sampled")]
    return {} if None in least else {"share_of_bound": min(least)}


def read(path: Path) -> Record:
    """The record of a file that `write` made."""
    data = json.loads(path.read_text(encoding="utf-8"))
    spreads = data.get("spreads", {})
    values = {key: as_value(data[key], spreads.get(key)) for key in FIGURES if key in data}
    return Record(values, data["class"], data["machine"])


def as_value(figure: float | dict[str, float], among: dict[str, float] | None) -> Value:
    """The opposite of `as_data`, with what the figure was picked `among`."""
    if among is not None:
        return Picked(figure, among)
    return Spread(**figure) if isinstance(figure, dict) else figure
