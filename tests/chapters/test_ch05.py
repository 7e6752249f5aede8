"""Chapter 05: its checks, figures, predictions, simulator, and what its text promises."""

import inspect
import re

import numpy as np
import pytest
import transformers
from classes.chapter_cases import SETTINGS, functions_of, text_of
from transformers.generation import candidate_generator

from autograde.chapters import ch05_wrong
from specdec_lib.lessons.ch05 import checks as ch05
from specdec_lib.lessons.ch05 import computed, measured
from specdec_lib.lessons.ch05.checks import conditional_rates, drifting_seconds
from specdec_lib.lessons.ch05.computed import rounding_interval
from specdec_lib.lessons.ch05.served import WORDS
from specdec_lib.lessons.common.examples import Different, expect_value_error
from specdec_lib.lessons.widgets.paper_rows import K_MAX, paper_rows_simulator
from specdec_lib.measure import papers
from specdec_lib.theory import expected_tokens, walltime_speedup

CHAPTER = "05_results"
FUNCTIONS = functions_of(CHAPTER)
TEXT = text_of(CHAPTER)


def test_another_error_than_the_expected_one_is_told():
    with pytest.raises(Different, match="raised AttributeError, expected ValueError"):
        expect_value_error(lambda x: x.missing, 1, why="it is odd")


def test_few_halvings_are_told_how_near_alpha_must_be():
    with pytest.raises(Different, match="1e-9") as error:
        ch05.check_implied_alpha(ch05_wrong.too_few_halvings)
    assert "1 + alpha" not in str(error.value)


def test_known_truths():
    truth = ch05.TRUTHS["prediction_05"].value
    assert truth == FUNCTIONS["alpha_from_blocks"](ch05.BLOCKS, ch05.K) == 14 / 18
    truth = ch05.TRUTHS["prediction_05_b"].value
    (row,) = [r for r in SETTINGS if (r.task, r.draft, r.temperature) == ("EnDe", "T5-large", 0)]
    assert truth == row.measured
    best = max(len(o) / len(computed.blocks_of(o, 5)) for o in computed.orders().values())
    assert ch05.TRUTHS["prediction_05_c"].value == best == computed.most_tokens(18 / 24, 5)
    possible = [
        line for line in ch05.circulating(10).splitlines()[1:] if "not possible" not in line
    ]
    assert ch05.TRUTHS["prediction_05_d"].value == len(possible)
    assert ch05.TRUTHS["prediction_05_f"].value == computed.blocks_needed(0.02, 0.04, 400)


@pytest.mark.parametrize("row", SETTINGS)
def test_interval_holds_the_printed_value(row):
    low, high = rounding_interval(row.alpha, row.c, row.k)
    assert low <= row.expected <= high and low < walltime_speedup(row.alpha, row.c, row.k) < high


def test_interval_ends_where_alpha_and_c_end():
    assert rounding_interval(1.0, 0.0, 3)[1] == 4.05
    assert rounding_interval(0.0, 0.0, 3)[0] == pytest.approx(1 / 1.015 - 0.05)


def test_recomputed_rows_star_three_values():
    lines = ch05.recomputed(SETTINGS).splitlines()
    starred = [line for line in lines[1:-1] if "*" in line]
    assert len(lines) == 14 and len(starred) == 3
    assert " ".join(lines[1].split()) == "EnDe T5-small 0 7 3.157 2.97 to 3.35 3.2 3.4 1.08"
    assert len({line.index("to") for line in lines[1:-1]}) == 1


def test_every_row_has_its_reading():
    kinds = [computed.reading(row) for row in SETTINGS]
    counts = {kind: kinds.count(kind) for kind in computed.READINGS}
    assert counts == {"above": 3, "agrees": 1, "below": 5, "no cost": 1, "no cost, no order": 2}
    names = ("above", "agrees", "below", "no cost")
    told = dict(zip(names, ("three rows", "one row", "five rows", "three rows"), strict=True))
    assert all(f"**{name}**, {rows}" in TEXT for name, rows in told.items())
    lines = ch05.readings(SETTINGS).splitlines()
    assert len(lines) == 13 and lines[3].split()[2:] == [
        "T=0",
        "0.11",
        "0.229",
        "1.7",
        "5.56",
        "above",
    ]


def test_a_row_without_a_cost_beats_a_free_draft_even_as_rounded():
    for row in SETTINGS:
        kind = computed.reading(row)
        free = expected_tokens(row.alpha + 0.005, row.k) < row.measured - 0.05
        assert free == (kind in (computed.NO_COST, computed.NO_ORDER))
        out_of_reach = row.measured - 0.05 > computed.most_tokens(row.alpha + 0.005, row.k)
        assert out_of_reach == (kind == computed.NO_ORDER)


@pytest.mark.parametrize("k", [1, 3, 5])
def test_no_order_of_right_positions_brings_more_than_the_limit(k):
    """Every order of eight positions, all numbers of right ones."""
    for bits in range(2**8):
        order = [bits >> i & 1 for i in range(8)]
        blocks = computed.blocks_of(order, k)
        assert [fate for block in blocks for fate in block].count("rejected") <= order.count(0)
        assert sum(map(len, blocks)) == 8 and max(map(len, blocks)) <= k + 1
        assert 8 / len(blocks) <= computed.most_tokens(sum(order) / 8, k) + 1e-12


def test_the_table_that_circulates_fits_a_target_of_20_ms():
    assert "not possible" not in ch05.circulating(20)
    assert ch05.circulating(10).count("not possible") == 3
    for speed, alpha, promised in computed.CIRCULATING:
        assert re.search(rf"\| {speed:,} \| {alpha:.2f} \| {promised} \|", TEXT)


def test_blocks_needed_and_the_error_of_a_difference():
    assert computed.blocks_needed(0.1, 0.05, 100) == 100
    with pytest.raises(ValueError, match="the difference is 0"):
        computed.blocks_needed(0.0, 0.05, 100)
    difference, error = computed.first_and_later([(0.5, 100), (0.8, 50), (0.5, 25), (0.0, 0)])
    assert difference == pytest.approx(0.2)
    assert error == pytest.approx((0.5 * 0.5 / 100 + 0.7 * 0.3 / 75) ** 0.5)


def test_both_sides_agree_on_the_geometric_mean_alone(capsys):
    ch05.three_means([2, 0.5, 3])
    products = {line.split()[0]: line.split()[-1] for line in capsys.readouterr().out.splitlines()}
    assert [name for name, value in products.items() if value == "1.000"] == ["geometric"]
    assert computed.means([2, 8])["geometric"] == pytest.approx(4)


def test_one_clock_two_orders():
    for by_turns, low, high in ((False, 1.0, 1.02), (True, 1.2, 1.25)):
        plain, fast = drifting_seconds(by_turns)
        assert len(plain) == len(fast) == ch05.RUNS
        assert low < FUNCTIONS["paired_speedup"](list(plain), list(fast)) < high
    turns, after = drifting_seconds(True), drifting_seconds(False)
    assert turns[0][0] == after[0][0] == 1.0
    assert turns[1][-1] == after[1][-1] == pytest.approx(1.2)


@pytest.mark.parametrize("plain, told", [([1.21], "no quartiles"), ([1, 3], "1.50 and 2.50")])
def test_one_text_has_no_quartiles(monkeypatch, plain, told):
    said = []
    monkeypatch.setattr(measured, "show", lambda figure, text: said.append((figure, text)))
    measured.pairs(FUNCTIONS["paired_speedup"], plain, [1.0] * len(plain))
    ((figure, text),) = said
    (axes,) = figure.axes
    assert told in axes.get_xlabel() and told in text
    assert list(axes.get_xticks()) == list(range(1, len(plain) + 1))


def test_rates_by_position_are_conditional():
    assert conditional_rates([2, 0, 1, 2], 2) == [(0.75, 4), (2 / 3, 3)]
    rates = conditional_rates([0, 0], 2)
    assert rates[0] == (0.0, 2) and np.isnan(rates[1][0]) and rates[1][1] == 0


def test_simulator_needs_a_row():
    with pytest.raises(ValueError, match="rows is empty"):
        paper_rows_simulator([])
    with pytest.raises(ValueError, match="row is 12: give a whole number from 0 to 11"):
        paper_rows_simulator(SETTINGS, row=12)


@pytest.mark.browser
@pytest.mark.parametrize("alpha", [0.0, 0.003, 0.5, 0.82, 0.997, 1.0])
def test_javascript_gives_the_numbers_of_the_library(module, alpha: float):
    call = module(paper_rows_simulator(SETTINGS))
    for c in (0.0, 0.003, 0.02, 0.11, 0.5):
        for k in (0, 1, 5, K_MAX):
            assert call("expectedTokens", alpha, k) == pytest.approx(expected_tokens(alpha, k))
            want = walltime_speedup(alpha, c, k)
            assert call("speedup", alpha, c, k) == pytest.approx(want, abs=1e-12)
            want = rounding_interval(alpha, c, k)
            assert call("interval", alpha, c, k) == pytest.approx(want, abs=1e-12)


@pytest.mark.browser
def test_javascript_says_what_the_clock_would_need(module):
    call = module(paper_rows_simulator(SETTINGS))
    rows = paper_rows_simulator(SETTINGS).state["rows"]
    opened = [call("verdict", row, row["alpha"], row["c"], row["k"]) for row in rows]
    assert sum("The two agree at the printed c." in text for text in opened) == 1
    assert sum("Move c until the curve meets the diamond" in text for text in opened) == 11
    free = [call("verdict", row, row["alpha"], 0, row["k"]) for row in rows]
    assert sum("no cost explains the clock" in text for text in free) == 3
    found = call("verdict", rows[2], rows[2]["alpha"], 0.23, rows[2]["k"])
    assert "it needs c = 0.229; printed is 0.11." in found
    assert "You have left the row's own numbers" in call("verdict", rows[2], 0.5, 0.11, 7)


@pytest.mark.browser
def test_another_row_brings_its_numbers_and_the_button_brings_them_back(reader):
    page = reader(paper_rows_simulator(SETTINGS, row=2))
    assert page.numbers() == ["2.50", "2.36 to 2.64"]
    page.frame.get_by_label("Row of the paper").select_option("6")
    theirs = page.numbers()
    assert theirs[0] == f"{walltime_speedup(0.65, 0.02, 5):.2f}"
    page.slider("K draft tokens a block").press("ArrowLeft")
    assert page.numbers() != theirs
    page.press("Back to the row's numbers")
    assert page.numbers() == theirs
    assert "CNNDM, T5-small, T = 0: expected 2.4, measured 3.1" in page.description(1)


def test_the_library_s_answers_are_not_in_the_text():
    assert not re.search(r"acceptance_from_counts|walltime_speedup", TEXT)


def test_numbers_in_the_prose_are_the_computed_ones():
    row = SETTINGS[2]
    needed = (expected_tokens(row.alpha, row.k) / row.measured - 1) / row.k
    assert f"a `c` of {needed:.2f} would do" in TEXT
    assert f"{expected_tokens(0.65, 5):.2f}" in TEXT
    intervals = [rounding_interval(row.alpha, row.c, row.k) for row in SETTINGS]
    pairs = zip(SETTINGS, intervals, strict=True)
    inside = [row for row, (low, high) in pairs if low <= row.measured <= high]
    assert len(inside) == 1 and "one measured value lies inside" in TEXT
    implied = FUNCTIONS["implied_alpha"](7.52, 14.1, 1.8, 4)
    assert f"give {implied:.3f}" in TEXT
    limits = [computed.most_tokens(row.alpha, row.k) for row in (SETTINGS[6], SETTINGS[9])]
    words = " ".join(TEXT.replace("\n# ", " ").split())
    assert "allow {:.2f} and {:.2f} tokens a block".format(*limits) in words
    assert f"the formula says {expected_tokens(0.75, 5):.2f}".lower() in TEXT.lower()


def test_translation_is_where_the_draft_model_gains_least():
    rows = papers.table("spec_bench_tasks")
    tasks = rows[0]._fields[1:]
    means = {task: sum(getattr(row, task) for row in rows) for task in tasks}
    (draft,) = [row for row in rows if row.method == "Draft model"]
    assert min(means, key=means.get) == min(tasks, key=lambda task: getattr(draft, task))
    assert min(means, key=means.get) == "translation" and "lowest, 1.13" in TEXT


def test_drafting_gains_for_one_request_and_loses_in_the_largest_batch():
    """As the chapter's question and its answer suppose, for every kind of text."""
    speedups = WORDS.partition("Speed-ups. ")[2]
    rows = [(int(n), float(ratio)) for n, ratio in re.findall(r"batch (\d+): ([\d.]+\d)", speedups)]
    assert len(rows) == 4 * 7
    assert all(ratio > 1 for batch, ratio in rows if batch == 1)
    assert all(ratio < 1 for batch, ratio in rows if batch == 64)


def test_the_record_of_matches_is_that_of_the_pinned_library():
    """The card's lines, and the condition that it names."""
    source = inspect.getsource(candidate_generator.AssistedCandidateGenerator)
    card = re.search(r"# ```python\n(.*?)# ```", TEXT, re.DOTALL)[1]
    for line in card.splitlines():
        assert line.removeprefix("# ").strip() in source
    assert "is_sklearn_available()" in source and "assistant_confidence_threshold" in source
    assert transformers.__version__ in TEXT
