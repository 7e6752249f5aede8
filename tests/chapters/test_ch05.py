"""Chapter 05: its predictions, its tables, its simulator, and the numbers that its text prints."""

import re

import pytest
from classes.chapter_cases import SETTINGS, functions_of, text_of

from specdec_lib.lessons.ch05 import computed, lesson
from specdec_lib.lessons.ch05.computed import RATE_EPS, needed_tokens, rounding_interval
from specdec_lib.lessons.widgets.simulators import paper_rows_simulator
from specdec_lib.measure import papers
from specdec_lib.theory import expected_tokens, walltime_speedup

CHAPTER = "05_results"
FUNCTIONS, TEXT = functions_of(CHAPTER), text_of(CHAPTER)
WORDS = " ".join(TEXT.replace("\n# ", " ").split())
LOGS = papers.paper_table("logs")


def test_predictions_are_held_against_what_is_computed():
    truths = {name.removeprefix("prediction_05"): t.value for name, t in lesson.TRUTHS.items()}
    best = max(len(o) / len(computed.greedy_blocks(o, 5)) for o in computed.orderings().values())
    rows = [(row.printed, row.k, row.tokens, *row[4:]) for row in LOGS]
    assert truths[""] == SETTINGS[2].measured and SETTINGS[2][:2] == ("EnDe", "T5-large")
    assert truths["_b"] == best
    assert truths["_c"] == [FUNCTIONS["audit"](*row) for row in rows].count("order")


def test_the_text_counts_the_verdicts_on_the_rows_of_the_paper():
    needed = [(row, *needed_tokens(row)) for row in SETTINGS]
    said = [FUNCTIONS["audit"](r.alpha, r.k, n, RATE_EPS, error) for r, n, error in needed]
    assert [said.count(each) for each in ("formula", "order", "nothing")] == [4, 4, 4]
    assert "explains four, an order could explain another four, and nothing" in WORDS


def test_the_logs_print_what_the_text_says_that_they_divide():
    for row in LOGS:
        divided = row.tokens / (row.k + 1) if "2025" in row.name else (row.tokens - 1) / row.k
        assert row.printed == pytest.approx(divided, abs=0.006)
        assert re.search(rf"{row.name} \| {row.k} \| {row.printed} \| {row.tokens} \|", TEXT)


def test_the_lines_of_logs_give_the_tokens_and_the_rates_that_others_print():
    rows = papers.paper_table("log_lines")
    counts = [list(map(float, row.accepted_at.split())) for row in rows]
    read = [FUNCTIONS["read_log"](n, row.blocks) for n, row in zip(counts, rows, strict=True)]
    assert [round(tokens, 2) for tokens, _ in read] == [3.53, 2.92, 2.47, 2.5]
    assert read[3][1] == pytest.approx([0.681151931368627, 0.6984444208791836, 0.7145509968116043])
    assert sum(counts[1]) == 167 and sum(counts[2]) / (5 * 43) == pytest.approx(0.2930232558139535)


def test_the_reports_are_diagnosed_as_the_text_says():
    said = [FUNCTIONS["diagnose"](*row[1:6]) for row in papers.paper_table("complaints")]
    assert said == ["fine", "verification", "draft", "draft", "acceptance", "acceptance"]


def test_all_promises_and_one_clock_lie_within_the_rounding():
    bars = [rounding_interval(row.alpha, row.c, row.k) for row in SETTINGS]
    for name, count in (("expected", 12), ("measured", 1)):
        values = [getattr(row, name) for row in SETTINGS]
        assert sum(low <= x <= high for x, (low, high) in zip(values, bars, strict=True)) == count


@pytest.mark.parametrize("k", [1, 3, 5])
def test_no_order_of_right_positions_is_beyond_the_audit(k: int):
    for bits in range(1, 2**8):
        order = [bits >> i & 1 for i in range(8)]
        tokens = 8 / len(computed.greedy_blocks(order, k))
        assert FUNCTIONS["audit"](sum(order) / 8, k, tokens, 0.0, 1e-12) != "nothing"


@pytest.mark.browser
@pytest.mark.parametrize("alpha", [0.0, 0.5, 0.82, 1.0])
def test_the_simulator_gives_the_numbers_of_the_library(module, alpha: float):
    call = module(paper_rows_simulator(SETTINGS))
    for c in (0.0, 0.02, 0.5):
        for k in (0, 1, 5, 12):
            assert call("expectedTokens", alpha, k) == pytest.approx(expected_tokens(alpha, k))
            assert call("speedup", alpha, c, k) == pytest.approx(walltime_speedup(alpha, c, k))
            assert call("interval", alpha, c, k) == pytest.approx(rounding_interval(alpha, c, k))


def test_numbers_in_the_prose_are_the_computed_ones():
    large, small = SETTINGS[2], SETTINGS[6]
    cost = (expected_tokens(large.alpha, large.k) / large.measured - 1) / large.k
    paper, engine = papers.paper_table("eagle_3")
    assert f"a `c` of {cost:.2f} would do" in WORDS
    assert f"a free draft gives only {expected_tokens(small.alpha, small.k):.2f}" in WORDS
    assert f"the row needs {needed_tokens(small)[0]:.2f} tokens per block" in WORDS
    assert f"no order gives more than {1 / (1 - small.alpha):.2f}" in WORDS
    assert f"The formula says {expected_tokens(0.75, 5):.2f}" in WORDS
    assert f"give {FUNCTIONS['implied_alpha'](7.52, 14.1, 1.8, 4):.3f}" in WORDS
    assert f"6.13/4.40 = {paper.tokens / paper.speedup:.2f} plain passes" in WORDS
    assert f"about {engine.tokens / engine.speedup:.1f} plain passes in SGLang" in WORDS
    assert f"and 373.25 with it, so {373.25 / 158.34:.2f} times as fast" in WORDS
    sixteen, four = papers.paper_table("complaints")[:2]
    assert f"takes {four.target_ms / sixteen.target_ms:.2f} of the time" in WORDS
    for row in papers.paper_table("spec_bench_devices")[2:4]:
        cells = f"{row.rtx3090_tokens} and {row.a100_tokens} | {row.rtx3090_speedup} | "
        assert f"{cells}{row.a100_speedup} |" in WORDS
