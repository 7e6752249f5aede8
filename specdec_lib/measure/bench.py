"""The speed figures, by the rules of honest measurement: `python -m specdec_lib.measure.bench`.

Decoders take turns on the same held-out prompts, and what is reported is the ratio of their times,
with its quartiles. Prompts whose greedy continuation runs in circles are left out of greedy
figures. The whole call is timed on both sides, the prompt's pass included.
"""

import argparse
import json
import platform
import sys
from dataclasses import asdict
from datetime import date
from pathlib import Path

import torch
from tqdm import tqdm

from specdec_lib.measure.figures import FIGURES, Value
from specdec_lib.measure.held_out import prompts
from specdec_lib.measure.timing import Spread
from specdec_lib.measure.workbench import Workbench

PROGRAM = "python -m specdec_lib.measure.bench"
POOL = 300  # held-out prompts to choose from


def main(arguments: list[str] | None = None) -> int:
    """Measure, print the table, write the JSON; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m specdec_lib.measure.bench", description=__doc__
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here")
    parser.add_argument("--only", nargs="*", metavar="KEY", help=f"of {', '.join(FIGURES)}")
    parser.add_argument("--prompts", type=int, default=8, help="prompts a comparison (8)")
    parser.add_argument("--tokens", type=int, default=64, help="new tokens a prompt (64)")
    options = parser.parse_args(arguments)
    unknown = set(options.only or ()) - set(FIGURES)
    if unknown:
        parser.error(f"no figure is called {', '.join(sorted(unknown))}")
    bench = Workbench(prompts(POOL), options.prompts, options.tokens)
    found = {}
    with tqdm(options.only or FIGURES) as keys:
        for key in keys:
            keys.set_description(key)
            found[key] = FIGURES[key].measure(bench)
            if options.json:  # every time, so that a measurement that is stopped leaves its figures
                write(options.json, found, bench.notes)
    print(table(found))
    print("\n".join([machine(), *bench.notes]))
    return 0


def table(found: dict[str, Value]) -> str:
    """Figure, value and goal, a line each."""
    lines = [f"{'figure':28} {'measured':24} {'goal':8} "]
    for key, value in found.items():
        figure = FIGURES[key]
        shown = str(value) if isinstance(value, Spread) else f"{value:.2f}"
        goal = "" if figure.goal is None else f"{'at most' if figure.most else ''} {figure.goal:g}"
        verdict = {True: "met", False: "missed", None: ""}[figure.met(value)]
        lines.append(f"{key:28} {shown:24} {goal.strip():12} {verdict:7} {figure.what}")
    return "\n".join(lines)


def write(path: Path, found: dict[str, Value], notes: list[str]) -> None:
    """The figures as JSON, and beside them the notes and the machine as text."""
    values = {k: asdict(v) if isinstance(v, Spread) else v for k, v in found.items()}
    least = [values.get(f"share_of_bound_{kind}") for kind in ("greedy", "sampled")]
    if None not in least:
        values["share_of_bound"] = min(least)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(values, indent=2) + "\n", encoding="utf-8")
    path.with_suffix(".notes.txt").write_text(
        "\n".join([machine(), *notes]) + "\n", encoding="utf-8"
    )


def machine() -> str:
    """What the figures were measured on."""
    names = Path("/proc/cpuinfo")
    lines = names.read_text().splitlines() if names.exists() else []
    model = next((line.split(": ")[1] for line in lines if line.startswith("model name")), "")
    name, threads = model or platform.machine(), torch.get_num_threads()
    return f"{name}, {threads} threads, torch {torch.__version__}, {date.today()}"


if __name__ == "__main__":
    sys.exit(main())
