"""What the tests of the chapters share: the solutions' functions, and what each figure draws."""

import contextlib
import importlib
import inspect
import io
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pandas as pd

from autograde.course import Chapter, chapter_names
from autograde.grading.grade import known_of
from autograde.grading.result import Exercise
from autograde.hidden.collected import with_hidden_tests
from autograde.hidden.exercise import Case
from autograde.hidden.material import material_of
from autograde.intake.submission import release_of
from autograde.tools.gates import judged
from specdec_lib.drafters.lookup import lookup
from specdec_lib.lessons.ch00 import lesson as ch00
from specdec_lib.lessons.ch01 import lesson as ch01
from specdec_lib.lessons.ch01.models import TARGET, text
from specdec_lib.lessons.ch02 import lesson as ch02
from specdec_lib.lessons.ch03 import lesson as ch03
from specdec_lib.lessons.ch04 import lesson as ch04
from specdec_lib.lessons.ch05 import lesson as ch05
from specdec_lib.lessons.ch07 import lesson as ch07
from specdec_lib.measure import gap, papers
from specdec_lib.measure.strategies import DraftMeasurement
from specdec_lib.theory import Costs

LESSONS = Path(ch00.__file__).parents[1]
CHAPTERS = chapter_names()


def text_of(chapter: str) -> str:
    """The chapter's source."""
    return Chapter(chapter).source.read_text(encoding="utf-8")


def functions_of(chapter: str) -> dict[str, Callable]:
    """The solution's functions by name, with all else that the notebook's cells define."""
    return material_of(chapter).solved.namespace


def visible_message(chapter: str, exercise: str, code: str) -> str:
    """What the cell that checks an exercise says of the answer `code`; empty if it passes."""
    own = material_of(chapter).solved
    names = own.namespace | {exercise: own.defined(exercise, code)}
    (check,) = (cell for cell in release_of(chapter).cells if cell.id == f"test_{exercise}")
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            exec(check.source, names)
        except Exception as error:
            return str(error) or type(error).__name__
    return ""


def cases_with(chapter: str, *answers: Mapping[str, str]) -> list[list[Case]]:
    """For each of these sets of answers in the solution's place, the cases of its exercises.

    All are judged in one session of pytest. An empty set stands for every exercise of the solution.
    """
    return with_hidden_tests(chapter, lambda tests: [tests.run_with(each) for each in answers])


def judge_each(chapter: str, *answers: Mapping[str, str]) -> list[dict[str, Exercise]]:
    """What each of these sets of answers gets in the solution's place, in one session of pytest."""
    known_of(chapter)  # it has a session of its own
    return with_hidden_tests(chapter, lambda tests: [judged(tests, **each) for each in answers])


def lesson_of(chapter: str) -> ModuleType:
    """The module of the chapter's checks."""
    return importlib.import_module(f"specdec_lib.lessons.ch{chapter[:2]}.lesson")


def check_of(chapter: str, exercise: str) -> Callable:
    """The visible check of an exercise."""
    return getattr(lesson_of(chapter), f"check_{exercise}")


# The chapter and the name of each answer, and of those that are checked in the notebook.
ANSWERS = [(chapter, name) for chapter in CHAPTERS for name in material_of(chapter).answers]
EXERCISES = [(c, name) for c, name in ANSWERS if hasattr(lesson_of(c), f"check_{name}")]


def unwritten(*args):
    raise NotImplementedError("not written yet")


def random_pairs(count: int, seed: int, size: int = 4) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Pairs of distributions (size,), a third of them with entries of 0, some equal."""
    rng = np.random.default_rng(seed)
    for i in range(count):
        p, q = rng.dirichlet(np.ones(size), 2)
        if i % 3 == 0:
            p[i % size], q[(i + 1) % size] = 0.0, 0.0
            p, q = p / p.sum(), q / q.sum()
        yield (p, p.copy()) if i % 10 == 9 else (p, q)


# Figures that another function of their file shows.
SHOWN_BY_OTHERS = {
    *("ladder", "line_up", "library_on_trial", "library_repaired", "own_decoder"),
    *("more_candidates", "top_candidates"),
}


def figure_modules(chapter: str) -> list[ModuleType]:
    """The modules that hold the chapter's figures: those that show any."""
    folder = f"ch{chapter[:2]}"
    names = sorted(file.stem for file in (LESSONS / folder).glob("[a-z]*.py"))
    modules = [importlib.import_module(f"specdec_lib.lessons.{folder}.{name}") for name in names]
    return [each for each in modules if hasattr(each, "show") or hasattr(each, "series_figure")]


@cache
def figures_of(chapter: str) -> dict[str, Callable]:
    """The chapter's figures by name, those of a student's function and the others."""
    return {
        name: value
        for module in figure_modules(chapter)
        for name, value in vars(module).items()
        if inspect.isfunction(value) and value.__module__ == module.__name__ and name[0] != "_"
        if re.search(r"\b(show|series_figure)\(", inspect.getsource(value))
        or name in SHOWN_BY_OTHERS
    }


def draw_figure(chapter: str, name: str, **functions: Callable) -> None:
    """Draw a figure of ARGUMENTS with the solution's functions, or others given by name."""
    figure = figures_of(chapter)[name]
    asked = getattr(figure, "functions", ())
    known = functions_of("02_rejection_sampling") | functions_of(chapter) | functions
    own = [known[each] for each in asked]
    figure(*own, *ARGUMENTS[chapter[:2]].get(name, ()))


def rows_of_target(tokens: list[int]) -> np.ndarray:
    """Rows of chapter 01's small target, as a real model's are handed to a figure."""
    return np.array([TARGET.row(tokens[: i + 1]) for i in range(len(tokens))])


P, Q = ch02.P, ch02.Q
# How likely each candidate is the accepted one, for chapter 07's good and poor draft.
ACCEPTED = {name.split()[0]: shares for name, shares in ch07.CANDIDATE_RATES.items()}
SETTINGS = papers.paper_table("leviathan_2_4")
ROW = DraftMeasurement(10_000, 500.0, 0.6, Costs(0.04, {m: 1 + 0.05 * m for m in range(1, 10)}))
_STEPS = {"formula, v = 1": (0.04, 1.0), "verification": (0.04, 1.1), "Python": (0.0, 1.3)}
_ACCOUNT = gap.SpeedupBreakdown(0.6, 2, _STEPS, 1.9, 1.5, [1.4, 1.6])
_RUN = {
    "task": "code", "target": "234m", "alpha": 0.64, "c": 0.05, "K": 3, "tokens per pass": 2.2,
    "v = 1": 1.9,
    "measured v": 1.6, "measured v + prompt": 1.55, "clock": 1.5, "low": 1.25, "high": 1.75,
}  # fmt: skip
RUNS = pd.DataFrame(
    _RUN | {"draft": draft, "temperature": t} for draft in ("base", "large") for t in (1, 0)
)
_MET = SimpleNamespace(
    about={"pair": "a pair", "K": 3, "dtype": "", "device": "", "date": "", "loop": "your"},
    by_decoder=lambda: pd.DataFrame({"passes for 100 tokens": [40.0]}, ["same pass with drafts"]),
    speedup=lambda name: (1.5, 1.25, 1.75),
    texts={"the same": 5, "near-tie": 1, "different": 0},
)
_H100 = ch00.MACHINES["H100"]

# What figures are drawn from, after the student's functions; what is not here needs nothing more.
ARGUMENTS: dict[str, dict[str, tuple]] = {
    "00": {
        "serial_and_parallel": (5,),
        "passes_and_tokens": (lambda n: sum(range(1000 * n)), (1, 2, 8), {}),
        "predicted_and_measured": ({1: 0.02, 8: 0.05}, 2e8, 2, {"bandwidth": 2e10, "flops": 1e11}),
        "free_on_the_line": (ch00.MACHINES, 8e9, 2),
        "free_map": (_H100, ch00.LLAMA, (1, 64, 512), (0, 1000, 4000)),
    },
    "01": {
        "chosen_rows": (TARGET, ch01.PREFIX, ch01.DRAFT_BLOCK),
        "greedy_walk": (ch01.DRAFT_BLOCK, ch01.target_rows(ch01.PREFIX, ch01.DRAFT_BLOCK)),
        "block_fates": (ch01.PREFIX, 4, 12),
        "ladder": (rows_of_target, rows_of_target, lookup, ch01.PREFIX, text),
    },
    "02": {
        "accepted_heights": (P, Q),
        "walk_through_block": (ch02.BLOCK, ch02.BLOCK_P, ch02.BLOCK_Q, ch02.BLOCK_R),
        "residual_bars": (P, Q),
        "drawn_block": (ch02.UNIFORMS,),
        "two_masses": (P, Q),
        "blocks_written": (1,),
        "every_text": (1,),
        "kept_of_100": ([30, 30, 20, 5], P, Q),
        "broken_rule": ("draw the correction from p", P, Q),
    },
    "03": {
        "argmax_draft": (P, Q),
        "own_decoder": (P, Q, (0.5, None, 0.7)),
        "warped": (ch03.WARP_LOGITS,),
        "line_up": (P, Q),
        "library_on_trial": (P, Q),
        "library_repaired": (P, Q),
    },
    "04": {
        "speed_by_k": (0.7, (0.0, 0.1)),
        "simulated_means": ({0.5: [1, 1.5, 1.75], 0.7: [1, 1.7, 2.19]},),
        "next_draft_token": (0.7, 0.1),
        "best_k_map": (ch04.MAP_ALPHAS, ch04.MAP_COSTS, 20),
        "drafted_after_text": (ch04.LOOKUP_WORDS, 4),
        "promise_and_clock": ({"large, K = 2": _ACCOUNT, "base, K = 2": _ACCOUNT},),
        "strategies": ({"small": (0.6, ROW.costs), "table": (0.02, ROW.costs)},),
        "show_learning_curve": ({0: 0.08, 10: 0.4}, ROW.costs),
    },
    "05": {
        "six_blocks": (ch05.BLOCKS, ch05.EXAMPLE_K),
        "three_orders": (5,),
        "estimated_alphas": (5,),
        "expected_and_measured": (SETTINGS,),
        "implied_rates": (SETTINGS, papers.paper_table("chen_1")),
        "audit_rows": (SETTINGS,),
        "read_logs": (papers.paper_table("log_lines"),),
        "from_tokens_to_clock": (papers.paper_table("eagle_3")[1],),
    },
    "06": {
        "mixed_requests": ((0.95, 0.45), 5, 128),
        "blocks_as_recorded": (5, 8),
        "requests_against_coins": (8,),
    },
    "07": {
        "certain_token": (P, 1),
        "more_candidates": (P, Q, 2),
        "top_candidates": (lambda accept, xs, p, r, u: accept(xs[0], p, r[0], u)[0], P, Q, 1),
        "top_tokens": ([(np.ones((1, 2)), 1, ch07.toy_head(7), 300)], str),
    },
    "08": {
        "broken_decoders": ({"nothing": (5.0, 2.2, 0.0), "the feed": (3.3, 2.2, 0.5)},),
        "contest": (_MET,),
        "beside_the_paper": (RUNS, SETTINGS),
    },
}
