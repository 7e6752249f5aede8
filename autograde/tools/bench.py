"""What grading costs, compared with plain nbgrader: `python -m autograde.tools.bench`.

Costs are marginal: the difference between a class of 60 and one of 10, so that what is done once a
run does not count. Submissions are right, half right and wrong in turn, no two of them equal and
none in the cache. CPU seconds are those of all processes. A ratio is given for CPU and for wall
time with one worker, and the smaller of the two is the headline.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from tqdm import tqdm

from autograde.build.release import release_into
from autograde.chapter import ROOT
from autograde.files import write_json
from autograde.tools import plain_nbgrader
from autograde.tools.samples import GRADABLE, write_class
from specdec_lib.measure.core.pages import markdown, write_table

CHAPTER = "02_rejection_sampling"
SIZES = (10, 60)
STARTS = 5  # of a student's process, for each submission of a class: one alone is soon over
SESSIONS = """
from autograde.grade import limits_of
from autograde.sandbox.session import Session
for _ in range({number}):
    Session([], limits_of({chapter!r})).__enter__().__exit__()
"""
GOALS = {
    "engine_vs_nbgrader": 10,
    "with_nbgrader_pass": 5,
    "submissions_per_core_minute": 500,
    "isolation_ms": 15,
}
AT_MOST = "isolation_ms"  # of the others more is better
TABLE = "the figures of grading"  # its name in a page
WORDS = {
    "engine_vs_nbgrader": "engine over plain nbgrader",
    "with_nbgrader_pass": "engine and nbgrader's own pass over plain nbgrader",
    "submissions_per_core_minute": "submissions a core-minute, engine",
    "isolation_ms": "isolation, ms of CPU time a submission",
    "engine": "engine",
    "nbgrader_pass": "nbgrader's own pass over its results",
    "baseline": "plain nbgrader",
    "isolation": "start and end of a student's process",
}


def main(arguments: list[str] | None = None) -> int:
    """Measure, print, write the JSON; returns the exit code."""
    parser = argparse.ArgumentParser("python -m autograde.tools.bench", description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here")
    parser.add_argument("--markdown", type=Path, metavar="PAGE", help="write the table into it")
    parser.add_argument("--chapter", default=CHAPTER, metavar="NAME", help=f"default {CHAPTER}")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="specdec-bench-") as folder:
        figures = figures_of(marginal_costs(Path(folder), options.chapter))
    print("\n".join(lines(figures)))
    if options.json:
        machine = (
            f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
        )
        write_json(options.json, {"machine": machine, "chapter": options.chapter} | figures)
    if options.markdown:
        write_table(options.markdown, TABLE, table(figures))
    return 0


def run(arguments: tuple[str, ...], folder: Path = ROOT, course: Path | None = None) -> np.ndarray:
    """CPU and wall seconds (2,) of this Python with `arguments`, in `folder` and on one thread.

    Raises RuntimeError with the end of its output if it fails.
    """
    settings = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    settings |= {"SPECDEC_COURSE": str(course)} if course else {}
    done = subprocess.run(
        [sys.executable, "-m", "autograde.tools.costs", sys.executable, *arguments],
        cwd=folder, env=settings, text=True, capture_output=True,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"{' '.join(arguments)[:200]} failed:\n{done.stderr[-2000:]}")
    return np.array(json.loads(done.stdout))


def marginal_costs(folder: Path, chapter: str) -> dict[str, np.ndarray]:
    """CPU and wall seconds (2,) a submission, by what is measured.

    That is the engine, nbgrader's pass over its results, plain nbgrader (`baseline`), and starting
    and ending a student's process (`isolation`).
    """
    totals: dict[str, list[np.ndarray]] = {}
    with tqdm(total=4 * len(SIZES), desc="grading bench", unit="class") as bar:
        for size in SIZES:
            for name, measure in measurements(folder / str(size), chapter, size).items():
                bar.set_postfix_str(f"{name}, {size}")
                totals.setdefault(name, []).append(measure())
                bar.update()
    more = SIZES[1] - SIZES[0]
    return {name: (large - small) / more for name, (small, large) in totals.items()}


def measurements(folder: Path, chapter: str, size: int) -> dict[str, Callable[[], np.ndarray]]:
    """What to run for a class of one size, in this order."""
    ours, plain = folder / "ours", folder / "plain"
    write_class(ours / "submitted", [chapter], size, GRADABLE, salt=str(folder))
    release_into(ours, [chapter])
    plain_nbgrader.write_course(plain, chapter, ours / "submitted")
    run(("-m", "nbgrader", "generate_assignment", chapter), plain)
    grade = ("-m", "autograde", "grade", str(ours / "submitted"), "--workers", "1")
    nbgrader = ("-m", "nbgrader", "autograde", chapter)
    sessions = SESSIONS.format(number=STARTS * size, chapter=chapter)
    return {
        "engine": lambda: run(grade),
        "nbgrader_pass": lambda: run(nbgrader, course=ours),
        "baseline": lambda: run(nbgrader, plain),
        "isolation": lambda: run(("-c", sessions)) / STARTS,
    }


def figures_of(costs: dict[str, np.ndarray]) -> dict:
    """The figures: ratios by CPU and by wall time, and the smaller of the two as the headline."""
    engine = costs["engine"]
    ratios = {
        "engine_vs_nbgrader": costs["baseline"] / engine,
        "with_nbgrader_pass": costs["baseline"] / (engine + costs["nbgrader_pass"]),
    }
    return {
        **{name: float(ratio.min()) for name, ratio in ratios.items()},
        "submissions_per_core_minute": float(60 / engine[0]),
        "isolation_ms": float(1000 * costs["isolation"][0]),
        "cpu": {name: float(ratio[0]) for name, ratio in ratios.items()},
        "wall": {name: float(ratio[1]) for name, ratio in ratios.items()},
        "ms_a_submission": {
            name: dict(zip(("cpu", "wall"), (1000 * cost).round(1).tolist(), strict=True))
            for name, cost in costs.items()
        },
    }


def lines(figures: dict) -> list[str]:
    """The figures as a table, with the goals."""
    printed = [f"{'figure':28} {'measured':>9} {'goal':>9}"]
    for name, goal in GOALS.items():
        most = "at most " if name == AT_MOST else ""
        printed.append(f"{name:28} {figures[name]:9.1f} {most + str(goal):>9}")
    for name, cost in figures["ms_a_submission"].items():
        printed.append(
            f"  {name}: {cost['cpu']:.0f} ms CPU, {cost['wall']:.0f} ms wall a submission"
        )
    for kind in ("cpu", "wall"):
        ratios = ", ".join(f"{name} {ratio:.1f}" for name, ratio in figures[kind].items())
        printed.append(f"  by {kind}: {ratios}")
    return printed


def table(figures: dict) -> str:
    """The same as tables in Markdown: the figures with their goals, and what a submission costs."""
    rows = []
    for name, goal in GOALS.items():
        value, most = figures[name], name == AT_MOST
        met = value <= goal if most else value >= goal
        row = (WORDS[name], f"{value:.1f}", f"{'at most ' if most else ''}{goal}")
        rows.append((*row, "met" if met else "missed"))
    costs = [
        (WORDS[name], f"{cost['cpu']:.0f}", f"{cost['wall']:.0f}")
        for name, cost in figures["ms_a_submission"].items()
    ]
    return "\n\n".join(
        (
            markdown(("figure", "measured", "hoped for", ""), rows),
            markdown(("a submission", "CPU, ms", "wall, ms"), costs),
        )
    )


if __name__ == "__main__":
    sys.exit(main())
