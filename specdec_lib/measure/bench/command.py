"""The speed figures, by the rules of honest measurement: `python -m specdec_lib.measure.bench`.

Decoders are interleaved on the same held-out prompts, and what is reported is the ratio of their
times, with its quartiles. Prompts whose greedy continuation runs in circles are left out of greedy
figures. The whole call is timed on both sides, the prefill included. All of it runs on the CPU.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

from tqdm import tqdm

from specdec_lib.measure.bench.figures import FIGURES, Value
from specdec_lib.measure.bench.record import here, machine, read, write
from specdec_lib.measure.bench.tables import table, write_page
from specdec_lib.measure.bench.workbench import Workbench
from specdec_lib.measure.core.held_out import prompts

MODULE = "specdec_lib.measure.bench"
POOL = 300  # held-out prompts to choose from
PROMPTS, TOKENS = 8, 64  # prompts of a comparison, new tokens after each


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
    return measure(keys, options)


def measure(keys: Sequence[str], options: argparse.Namespace) -> int:
    """Measure and show what was asked for; returns the exit code."""
    bench = Workbench(prompts(POOL), PROMPTS, TOKENS)
    record = here(measured(keys, bench, options.json))
    print(table(record))
    if options.markdown:
        write_page(options.markdown, record)
    print("\n".join([machine(), f"class: {record.processor}", *bench.notes]))
    return 0


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
    option("--only", nargs="*", metavar="KEY", help=f"of {', '.join(FIGURES)}")
    return command


def chosen(only: Sequence[str] | None) -> list[str]:
    """The figures to measure: `only` these, or all. ValueError if one of `only` is unknown."""
    unknown = set(only or ()) - set(FIGURES)
    if unknown:
        raise ValueError(f"no figure is called {', '.join(sorted(unknown))}")
    return list(only or FIGURES)


def measured(keys: Sequence[str], bench: Workbench, path: Path | None) -> dict[str, Value]:
    """The figures, each printed as it is there.

    Each is written to `path` at once, so that a stopped run leaves its figures.
    """
    values: dict[str, Value] = {}
    seconds: dict[str, float] = {}
    with tqdm(keys) as bar:
        for key in bar:
            bar.set_description(key)
            start = perf_counter()
            values[key] = FIGURES[key].measure(bench)
            seconds[key] = perf_counter() - start
            bar.write(f"{key}: {FIGURES[key].shown(values[key])}, in {seconds[key]:.0f} s")
            if path:
                write(path, here(values), bench.notes, seconds)
    return values
