"""The speed figures, by the rules of honest measurement: `python -m specdec_lib.measure.bench`.

Decoders are interleaved on the same held-out prompts, and what is reported is the ratio of their
times, with its quartiles. Prompts whose greedy continuation runs in circles are left out of greedy
figures. The whole call is timed on both sides, the prefill included. If there is a CUDA device, the
figures of the GPU are measured too; if llama.cpp is installed, ours are held against it.
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import date
from pathlib import Path
from types import MappingProxyType

import torch
from tqdm import tqdm

from specdec_lib.decoding.fixed_shape.compiled import MODES, first_line
from specdec_lib.device import processor_name
from specdec_lib.files import write_whole
from specdec_lib.measure.bench.figures import FIGURES, GPU_FIGURES, PEER_FIGURES, Value
from specdec_lib.measure.bench.workbench import Workbench
from specdec_lib.measure.core.held_out import prompts
from specdec_lib.measure.core.pages import markdown, write_table
from specdec_lib.measure.core.timing import Spread
from specdec_lib.measure.peers.llama_cpp import INSTALL, installed

PROGRAM = "python -m specdec_lib.measure.bench"
POOL = 300  # held-out prompts to choose from
PROMPTS, TOKENS = 8, 64  # prompts of a comparison, new tokens after each
ALL = FIGURES | PEER_FIGURES | GPU_FIGURES
NO_CUDA = "no CUDA device: GPU rows not measured"
NO_PEERS = (
    f"llama.cpp is not installed: its rows not measured; {INSTALL} compiles it, with a C++ "
    "compiler, in four minutes on two cores"
)
TABLE = "the figures of the bench"  # its name in a page
HEAD = ("figure", "measured", "hoped for", "")
NOTHING: Mapping[str, str] = MappingProxyType({})


def main(arguments: list[str] | None = None) -> int:
    """Measure, print the table, write the JSON and the page; returns the exit code."""
    command = parser()
    options = command.parse_args(arguments)
    if options.recorded:
        show(*read(options.recorded), options.markdown)
        return 0
    try:
        keys = chosen(options.only)
    except ValueError as error:
        command.error(str(error))
    mode = None if options.compile == "no" else options.compile
    benches = workbenches(mode)
    values = measured(keys, benches, options.json)
    show(values, benches[-1].smaller, options.markdown)
    print("\n".join([*absent(), machine(), *benches[0].notes]))
    return 0 if len(values) == len(keys) else 1


def parser() -> argparse.ArgumentParser:
    """The options."""
    command = argparse.ArgumentParser(prog=PROGRAM, description=__doc__)
    option = command.add_argument
    option("--json", type=Path, metavar="FILE", help="write the figures here")
    option("--markdown", type=Path, metavar="FILE", help="write the table into this page")
    option("--recorded", type=Path, metavar="FILE", help="show a --json file, measure nothing")
    option("--only", nargs="*", metavar="KEY", help=f"of {', '.join(ALL)}")
    option("--compile", choices=("no", *MODES), default=MODES[0], help="layers on a GPU (default)")
    return command


def chosen(only: Sequence[str] | None) -> list[str]:
    """The figures to measure: `only` these, or all that this machine can.

    Raises ValueError if one of `only` is unknown, needs a GPU or needs what is not installed.
    """
    unknown = set(only or ()) - set(ALL)
    if unknown:
        raise ValueError(f"no figure is called {', '.join(sorted(unknown))}")
    left_out: set[str] = set()
    for figures, here, why in (
        (GPU_FIGURES, torch.cuda.is_available(), "needs a CUDA device, and torch sees none here"),
        (PEER_FIGURES, installed(), f"needs llama.cpp: {INSTALL}"),
    ):
        needing = sorted(set(only or ()) & set(figures))
        if needing and not here:
            raise ValueError(f"{', '.join(needing)}: {why}")
        left_out |= set() if here else set(figures)
    return list(only or (key for key in ALL if key not in left_out))


def absent() -> list[str]:
    """A line on each kind of figures that this machine cannot measure."""
    found = {NO_CUDA: torch.cuda.is_available(), NO_PEERS: installed()}
    return [line for line, here in found.items() if not here]


def workbenches(mode: str | None) -> list[Workbench]:
    """What figures are measured with: the CPU, then the GPU if there is one; the notes are one."""
    cpu = Workbench(prompts(POOL), PROMPTS, TOKENS)
    if not torch.cuda.is_available():
        return [cpu]
    card = torch.device("cuda")
    return [cpu, replace(cpu, device=card, captured=True, mode=mode, smaller={})]


def measured(
    keys: Sequence[str], benches: Sequence[Workbench], path: Path | None
) -> dict[str, Value]:
    """The figures; each is written to `path` at once, so that a stopped run leaves its figures.

    What goes wrong on a GPU (its memory, a capture, a compiler) or in llama.cpp is noted, and the
    others go on.
    """
    values: dict[str, Value] = {}
    notes = benches[0].notes
    with tqdm(keys) as bar:
        for key in bar:
            bar.set_description(key)
            try:
                values[key] = ALL[key].measure(benches[-1 if key in GPU_FIGURES else 0])
            except RuntimeError as error:
                if key in FIGURES:
                    raise
                notes.append(f"{key}: not measured: {first_line(error)}")
            if path:
                write(path, values, notes, benches[-1].smaller)
    return values


def show(values: Mapping[str, Value], smaller: Mapping[str, str], page: Path | None) -> None:
    """Print the table, and write it into `page`."""
    print(table(values, smaller))
    if page:
        write_table(page, TABLE, markdown(HEAD, rows(values, smaller)))


def table(values: Mapping[str, Value], smaller: Mapping[str, str] = NOTHING) -> str:
    """Figure, value and goal, a line each; `smaller` are sizes in place of those without room."""
    lines = [f"{'figure':28} {'measured':24} {'goal':12} "]
    for key, (what, shown, goal, verdict) in zip(values, rows(values, smaller), strict=True):
        lines.append(f"{key:28} {shown:24} {goal:12} {verdict:7} {what}")
    return "\n".join(lines)


def rows(
    values: Mapping[str, Value], smaller: Mapping[str, str] = NOTHING
) -> list[tuple[str, str, str, str]]:
    """The cells of every figure: what it is, its value, its goal, the verdict."""
    sizes = {key: ALL[key].size for key in values}
    return [ALL[key].cells(values[key], smaller.get(sizes[key], sizes[key])) for key in values]


def write(
    path: Path, values: Mapping[str, Value], notes: list[str], smaller: Mapping[str, str] = NOTHING
) -> None:
    """The figures as JSON, and beside them the notes and the machine as text.

    `gpu_sizes` are the model sizes that were measured, by the sizes that the figures name.
    """
    data = {k: asdict(v) if isinstance(v, Spread) else v for k, v in values.items()}
    least = [data.get(f"share_of_bound_{kind}") for kind in ("greedy", "sampled")]
    if None not in least:
        data["share_of_bound"] = min(least)
    sizes = {size: data.get(f"gpu_{size}_vs_hf_assisted") for size in ("1b", "7b")}
    if None not in sizes.values():
        data["gpu_vs_hf_assisted"] = sizes
    if smaller:
        data["gpu_sizes"] = dict(smaller)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, json.dumps(data, indent=2) + "\n")
    write_whole(path.with_suffix(".notes.txt"), "\n".join([machine(), *notes]) + "\n")


def read(path: Path) -> tuple[dict[str, Value], dict[str, str]]:
    """The figures of a file that `write` made, and the sizes that others have stood in for."""
    data = json.loads(path.read_text(encoding="utf-8"))
    values = {key: data[key] for key in ALL if key in data}
    return {k: Spread(**v) if isinstance(v, dict) else v for k, v in values.items()}, data.get(
        "gpu_sizes", {}
    )


def machine() -> str:
    """What the figures were measured on."""
    name, threads = processor_name(), torch.get_num_threads()
    card = f", {torch.cuda.get_device_name()}" if torch.cuda.is_available() else ""
    return f"{name}, {threads} threads{card}, torch {torch.__version__}, {date.today()}"
