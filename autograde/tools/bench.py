"""What grading costs, held against plain nbgrader: `python -m autograde.tools.bench`.

Costs are marginal: the difference between a class of 60 and one of 10, so that what is done once a
run does not count. Submissions are right, half right and wrong in turn, no two of them equal and
none in the cache. CPU seconds are those of all processes. A ratio is given for CPU and for wall
time with one worker, and the smaller of the two is the headline.
"""

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import nbformat
from tqdm import tqdm

from autograde.build.release import release_into
from autograde.files import write_json
from autograde.submission import is_demo
from autograde.tools import baseline
from autograde.tools.costs import Cost, machine, run
from autograde.tools.samples import GRADABLE, write_large_class

PROGRAM = "python -m autograde.tools.bench"
CHAPTER = "02_rejection_sampling"
SIZES = (10, 60)
STARTS = 5  # of a student's process, for each submission of a class: one alone is soon over
SESSIONS = """
from autograde.tools.bench import CHAPTER
from autograde.grade import limits_of
from autograde.sandbox.session import Session
for _ in range({number}):
    Session([], limits_of(CHAPTER)).__enter__().__exit__()
"""
NBGRADER = ("-m", "nbgrader")
GOALS = {
    "engine_vs_nbgrader": 10,
    "with_nbgrader_pass": 4,
    "submissions_per_core_minute": 500,
    "isolation_ms": 15,
}


def main(arguments: list[str] | None = None) -> int:
    """Measure, print, write the JSON; returns the exit code."""
    parser = argparse.ArgumentParser(prog=PROGRAM, description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here")
    parser.add_argument("--chapter", default=CHAPTER, metavar="NAME", help=f"default {CHAPTER}")
    parser.add_argument("--class", type=int, dest="size", metavar="N", help="only: a class of N")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="specdec-bench-") as folder:
        if options.size:
            found = large_class(Path(folder), options.chapter, options.size)
        else:
            found = ratios(marginal_costs(Path(folder), options.chapter))
    print("\n".join(lines(found)))
    if options.json:
        write_json(options.json, {"machine": machine(), "chapter": options.chapter} | found)
    return 0


# --- the ratios -----------------------------------------------------------------------------


def marginal_costs(folder: Path, chapter: str) -> dict[str, Cost]:
    """Seconds a submission: of the engine, of nbgrader's pass over its results, of the baseline.

    `isolation` is what starting and ending a student's process takes.
    """
    totals: dict[str, list[Cost]] = {}
    with tqdm(total=4 * len(SIZES), desc="grading bench", unit="class") as bar:
        for size in SIZES:
            for name, measure in _measurements(folder / str(size), chapter, size):
                bar.set_postfix_str(f"{name}, {size}")
                totals.setdefault(name, []).append(measure())
                bar.update()
    steps = SIZES[1] - SIZES[0]
    return {name: (large - small) / steps for name, (small, large) in totals.items()}


def _measurements(folder: Path, chapter: str, size: int) -> list[tuple[str, Callable[[], Cost]]]:
    """What to run for a class of one size, in this order."""
    ours, plain = folder / "ours", folder / "plain"
    write_large_class(ours / "submitted", [chapter], size, GRADABLE, salt=str(folder))
    release_into(ours, [chapter])
    _prepare_baseline(plain, chapter, ours / "submitted")
    course = {"SPECDEC_COURSE": str(ours)}
    grade = ("-m", "autograde", "grade", str(ours / "submitted"), "--workers", "1")
    return [
        ("engine", lambda: run(grade)),
        ("nbgrader_pass", lambda: run((*NBGRADER, "autograde", chapter), environment=course)),
        ("baseline", lambda: run((*NBGRADER, "autograde", chapter), plain)),
        ("isolation", lambda: run(("-c", SESSIONS.format(number=STARTS * size))) / STARTS),
    ]


def _prepare_baseline(course: Path, chapter: str, submitted: Path) -> None:
    """The same submissions in a plain course, their demonstrations left out too."""
    baseline.write_course(course, chapter)
    run((*NBGRADER, "generate_assignment", chapter), course)
    for path in submitted.glob(f"*/{chapter}/{chapter}.ipynb"):
        notebook = nbformat.read(path, as_version=4)
        notebook.cells = [cell for cell in notebook.cells if not is_demo(cell)]
        target = course / "submitted" / path.relative_to(submitted)
        target.parent.mkdir(parents=True)
        nbformat.write(notebook, target)


def ratios(costs: dict[str, Cost]) -> dict:
    """The figures: ratios by CPU and by wall time, and the smaller of the two as the headline."""
    engine, both = costs["engine"], costs["engine"] + costs["nbgrader_pass"]
    found: dict = {
        "engine_vs_nbgrader": min(costs["baseline"].over(engine)),
        "with_nbgrader_pass": min(costs["baseline"].over(both)),
        "submissions_per_core_minute": 60 / engine.cpu,
        "isolation_ms": 1000 * costs["isolation"].cpu,
    }
    by_kind = {
        "engine_vs_nbgrader": costs["baseline"].over(engine),
        "with_nbgrader_pass": costs["baseline"].over(both),
    }
    found["cpu"] = {name: ratio[0] for name, ratio in by_kind.items()}
    found["wall"] = {name: ratio[1] for name, ratio in by_kind.items()}
    found["ms_a_submission"] = {name: cost.milliseconds() for name, cost in costs.items()}
    return found


def lines(found: dict) -> list[str]:
    """The figures as a table, with the goals."""
    if "by_size" in found:
        return [str(row) for row in found["by_size"]]
    table = [f"{'figure':28} {'measured':>9} {'goal':>9}"]
    for name, goal in GOALS.items():
        most = "at most " if name == "isolation_ms" else ""
        table.append(f"{name:28} {found[name]:9.1f} {most + str(goal):>9}")
    for name, cost in found["ms_a_submission"].items():
        table.append(f"  {name}: {cost['cpu']:.0f} ms CPU, {cost['wall']:.0f} ms wall a submission")
    return [*table, f"  by CPU: {_shown(found['cpu'])}", f"  by wall: {_shown(found['wall'])}"]


def _shown(values: dict[str, float]) -> str:
    return ", ".join(f"{name} {value:.1f}" for name, value in values.items())


# --- a large class --------------------------------------------------------------------------


def large_class(folder: Path, chapter: str, students: int) -> dict:
    """Time and memory of classes of a quarter, a half and the whole of so many students."""
    rows = []
    for size in (students // 4, students // 2, students):
        submitted = folder / str(size)
        write_large_class(submitted, [chapter], size, GRADABLE, salt=str(submitted))
        cost = run(("-m", "autograde", "grade", str(submitted)))
        rows.append({"students": size, "memory_mib": cost.memory_mib} | cost.seconds())
    return {"by_size": rows}


if __name__ == "__main__":
    sys.exit(main())
