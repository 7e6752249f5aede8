"""The speed figures, by the rules of honest measurement: `python -m specdec_lib.measure.bench`.

Decoders take turns on the same held-out prompts, and what is reported is the ratio of their times,
with its quartiles. Prompts whose greedy continuation runs in circles are left out of greedy
figures. The whole call is timed on both sides, the prompt's pass included. Where there is a CUDA
device, the figures of the GPU are measured too.
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import date
from pathlib import Path
from types import MappingProxyType

import torch
from tqdm import tqdm

from specdec_lib.decoding.fixed_shape.compiled import MODES, first_line
from specdec_lib.files import write_whole
from specdec_lib.measure.bench.figures import FIGURES, GPU_FIGURES, Value
from specdec_lib.measure.bench.workbench import Workbench
from specdec_lib.measure.core.held_out import prompts
from specdec_lib.measure.core.timing import Spread
from specdec_lib.measure.doctor.doctor import processor_name

PROGRAM = "python -m specdec_lib.measure.bench"
POOL = 300  # held-out prompts to choose from
ALL = FIGURES | GPU_FIGURES
NO_CUDA = "no CUDA device: GPU rows not measured"


def main(arguments: list[str] | None = None) -> int:
    """Measure, print the table, write the JSON; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m specdec_lib.measure.bench", description=__doc__
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here")
    parser.add_argument("--only", nargs="*", metavar="KEY", help=f"of {', '.join(ALL)}")
    parser.add_argument("--prompts", type=int, default=8, help="prompts a comparison (8)")
    parser.add_argument("--tokens", type=int, default=64, help="new tokens a prompt (64)")
    parser.add_argument(
        "--compile", choices=("no", *MODES), default=MODES[0], help="layers on a GPU (default)"
    )
    options = parser.parse_args(arguments)
    try:
        bench = workbench(options.only, options.prompts, options.tokens)
    except ValueError as error:
        parser.error(str(error))
    bench.mode = None if options.compile == "no" else options.compile
    keys = options.only or here(bench)
    found = measured(keys, bench, options.json)
    print(table(found, bench.smaller))
    print("\n".join([*([] if bench.card else [NO_CUDA]), machine(), *bench.notes]))
    return 0 if len(found) == len(keys) else 1


def workbench(only: Sequence[str] | None, prompts_each: int, tokens: int) -> Workbench:
    """What figures are measured with. ValueError where one of `only` is unknown or needs a GPU."""
    unknown = set(only or ()) - set(ALL)
    if unknown:
        raise ValueError(f"no figure is called {', '.join(sorted(unknown))}")
    card = torch.device("cuda") if torch.cuda.is_available() else None
    needing = sorted(set(only or ()) & set(GPU_FIGURES))
    if needing and card is None:
        raise ValueError(f"{', '.join(needing)}: needs a CUDA device, and torch sees none here")
    return Workbench(prompts(POOL), prompts_each, tokens, card=card)


def here(bench: Workbench) -> Sequence[str]:
    """The figures that this machine can measure."""
    return list(ALL if bench.card else FIGURES)


def measured(keys: Sequence[str], bench: Workbench, path: Path | None) -> dict[str, Value]:
    """The figures; each is written to `path` at once, so that a stopped run leaves its figures.

    What goes wrong on a GPU (its memory, a capture, a compiler) is noted, and the others go on.
    """
    found: dict[str, Value] = {}
    with tqdm(keys) as shown:
        for key in shown:
            shown.set_description(key)
            try:
                found[key] = ALL[key].measure(bench)
            except RuntimeError as error:
                if key not in GPU_FIGURES:
                    raise
                bench.notes.append(f"{key}: not measured: {first_line(error)}")
            if path:
                write(path, found, bench.notes, bench.smaller)
    return found


def table(found: Mapping[str, Value], smaller: Mapping[str, str] = MappingProxyType({})) -> str:
    """Figure, value and goal, a line each; `smaller` are the sizes that others have stood in for.

    A figure of another size than the goal's has no verdict.
    """
    lines = [f"{'figure':28} {'measured':24} {'goal':8} "]
    for key, value in found.items():
        figure = ALL[key]
        shown = str(value) if isinstance(value, Spread) else f"{value:.2f}"
        goal = "" if figure.goal is None else f"{'at most' if figure.most else ''} {figure.goal:g}"
        verdict = {True: "met", False: "missed", None: ""}[figure.met(value)]
        what, used = figure.what, smaller.get(figure.size, figure.size)
        if used != figure.size:
            verdict, what = "", f"{what} (at the {used} cost: no room for {figure.size})"
        lines.append(f"{key:28} {shown:24} {goal.strip():12} {verdict:7} {what}")
    return "\n".join(lines)


def write(
    path: Path,
    found: Mapping[str, Value],
    notes: list[str],
    smaller: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """The figures as JSON, and beside them the notes and the machine as text.

    `gpu_sizes` are the model sizes that were measured, by the sizes that the figures name.
    """
    values = {k: asdict(v) if isinstance(v, Spread) else v for k, v in found.items()}
    least = [values.get(f"share_of_bound_{kind}") for kind in ("greedy", "sampled")]
    if None not in least:
        values["share_of_bound"] = min(least)
    sizes = {size: values.get(f"gpu_{size}_vs_hf_assisted") for size in ("1b", "7b")}
    if None not in sizes.values():
        values["gpu_vs_hf_assisted"] = sizes
    if smaller:
        values["gpu_sizes"] = dict(smaller)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, json.dumps(values, indent=2) + "\n")
    write_whole(path.with_suffix(".notes.txt"), "\n".join([machine(), *notes]) + "\n")


def machine() -> str:
    """What the figures were measured on."""
    name, threads = processor_name(), torch.get_num_threads()
    card = f", {torch.cuda.get_device_name()}" if torch.cuda.is_available() else ""
    return f"{name}, {threads} threads{card}, torch {torch.__version__}, {date.today()}"
