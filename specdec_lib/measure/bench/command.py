"""The speed figures, by the rules of honest measurement: `python -m specdec_lib.measure.bench`.

Decoders are interleaved on the same held-out prompts, and what is reported is the ratio of their
times, with its quartiles. Prompts whose greedy continuation runs in circles are left out of greedy
figures. The whole call is timed on both sides, the prefill included. If there is a CUDA device, the
figures of the GPU are measured too.
"""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter

import torch
from tqdm import tqdm

from specdec_lib.decoding.fixed_shape.compiled import MODES, first_line
from specdec_lib.measure.bench.figures import ALL, FIGURES, GPU_FIGURES, Value
from specdec_lib.measure.bench.record import here, machine, read, write
from specdec_lib.measure.bench.stability import report
from specdec_lib.measure.bench.tables import table, write_page
from specdec_lib.measure.bench.workbench import Workbench
from specdec_lib.measure.core.held_out import prompts

MODULE = "specdec_lib.measure.bench"
POOL = 300  # held-out prompts to choose from
PROMPTS, TOKENS = 8, 64  # prompts of a comparison, new tokens after each
NO_CUDA = "no CUDA device: GPU rows not measured"


def main(arguments: list[str] | None = None) -> int:
    """Measure, print the table, write the JSON and the page; returns the exit code."""
    command = parser()
    options = command.parse_args(arguments)
    if options.recorded:
        return show_recorded(options)
    try:
        keys = chosen(options.only)
    except ValueError as error:
        command.error(str(error))
    if options.choices:
        print(report(workbenches(None)[0], options.choices))
        return 0
    return measure(keys, options)


def measure(keys: Sequence[str], options: argparse.Namespace) -> int:
    """Measure and show what was asked for; 1 if a figure is missing."""
    benches = workbenches(None if options.compile == "no" else options.compile)
    values = measured(keys, benches, options.json)
    record = here(values, benches[-1].smaller)
    print(table(record))
    if options.markdown:
        write_page(options.markdown, record)
    absent = [] if torch.cuda.is_available() else [NO_CUDA]
    print("\n".join([*absent, machine(), f"class: {record.processor}", *benches[0].notes]))
    return 0 if len(values) == len(keys) else 1


def show_recorded(options: argparse.Namespace) -> int:
    """Show what was recorded, and write it into the page."""
    record = read(options.recorded)
    print(f"{record.machine} (class: {record.processor})\n{table(record)}")
    if options.markdown:
        write_page(options.markdown, record)
    return 0


def parser() -> argparse.ArgumentParser:
    """The options."""
    command = argparse.ArgumentParser(prog=f"python -m {MODULE}", description=__doc__)
    option = command.add_argument
    option("--json", type=Path, metavar="FILE", help="write the figures here")
    option("--markdown", type=Path, metavar="FILE", help="write the table into this page")
    what = "show a --json file; measure nothing"
    option("--recorded", type=Path, metavar="FILE", help=what)
    option("--only", nargs="*", metavar="KEY", help=f"of {', '.join(ALL)}")
    what = "make the choice of dtype, draft and K so often, and report how often it is the same"
    option("--choices", type=int, metavar="N", help=what)
    option("--compile", choices=("no", *MODES), default=MODES[0], help="layers on a GPU (default)")
    return command


def chosen(only: Sequence[str] | None) -> list[str]:
    """The figures to measure: `only` these, or all that this machine can.

    Raises ValueError if one of `only` is unknown, or needs a GPU where there is none.
    """
    unknown = set(only or ()) - set(ALL)
    if unknown:
        raise ValueError(f"no figure is called {', '.join(sorted(unknown))}")
    if torch.cuda.is_available():
        return list(only or ALL)
    if needing := sorted(set(only or ()) & set(GPU_FIGURES)):
        raise ValueError(f"{', '.join(needing)}: needs a CUDA device, and torch sees none here")
    return list(only or FIGURES)


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
    """The figures, each printed as it is there.

    Each is written to `path` at once, so that a stopped run leaves its figures. What goes wrong on
    a GPU (its memory, a capture, a compiler) is noted, and the others go on.
    """
    values: dict[str, Value] = {}
    seconds: dict[str, float] = {}
    notes = benches[0].notes
    with tqdm(keys) as bar:
        for key in bar:
            bar.set_description(key)
            start = perf_counter()
            try:
                values[key] = ALL[key].measure(benches[-1 if key in GPU_FIGURES else 0])
            except RuntimeError as error:
                if key in FIGURES:
                    raise
                notes.append(f"{key}: not measured: {first_line(error)}")
            seconds[key] = perf_counter() - start
            shown = ALL[key].shown(values[key]) if key in values else "not measured"
            bar.write(f"{key}: {shown}, in {seconds[key]:.0f} s")
            if path:
                write(path, here(values, benches[-1].smaller), notes, seconds)
    return values
