"""Chapter 05: its predictions, its tables, its simulator, and the numbers that its text prints."""

import inspect
import re

import pytest
import transformers
from classes.chapter_cases import SETTINGS, functions_of, text_of
from transformers.generation import candidate_generator

from autograde.bugs import answers_of
from autograde.tools.proof import judged
from specdec_lib.lessons.ch05 import checks, computed
from specdec_lib.lessons.ch05.computed import rounding_interval
from specdec_lib.lessons.ch05.served import WORDS
from specdec_lib.lessons.common.examples import Different
from specdec_lib.lessons.widgets.paper_rows import K_MAX, paper_rows_simulator
from specdec_lib.theory import expected_tokens, walltime_speedup

CHAPTER = "05_results"
FUNCTIONS, TEXT = functions_of(CHAPTER), text_of(CHAPTER)


def test_the_visible_check_says_how_near_alpha_must_be():
    code, few = answers_of(CHAPTER)["implied_alpha"], {"expected_tokens": expected_tokens}
    exec(code.replace("range(60)", "range(20)"), few)
    with pytest.raises(Different, match="compared to 1e-9"):
        checks.check_implied_alpha(few["implied_alpha"])


UNUSUAL = {
    "alpha_from_blocks": """
def alpha_from_blocks(accepted, k):
    if not accepted or set(accepted) - set(range(k + 1)):
        raise ValueError
    return np.mean([each for n in accepted for each in ([1] * n + [0])[:k]])
""",
    "implied_alpha": """
def implied_alpha(seconds_per_token, target_seconds, draft_seconds, k):
    tokens = (k * draft_seconds + target_seconds) / seconds_per_token
    for alpha, end in ((0.0, 1), (1.0, k + 1)):
        if abs(tokens - end) <= 1e-9:
            return alpha
    roots = np.roots([1.0] * k + [1 - tokens])
    (alpha,) = [each.real for each in roots if abs(each.imag) < 1e-12 and 0 < each.real < 1]
    return alpha
""",
}


def test_verdicts_written_out_and_the_root_of_a_polynomial_earn_all_points():
    for name, exercise in judged(CHAPTER, **UNUSUAL).items():
        assert exercise.score == exercise.max_score, (name, exercise.messages)


def test_predictions_are_held_against_what_is_computed():
    truths = {name.removeprefix("prediction_05"): t.value for name, t in checks.TRUTHS.items()}
    best = max(len(o) / len(computed.blocks_of(o, 5)) for o in computed.orders().values())
    possible = {ms: [row["verdict"] for row in checks.circulating(ms)] for ms in (10, 20)}
    assert truths[""] == FUNCTIONS["alpha_from_blocks"](checks.BLOCKS, checks.K) == 14 / 18
    assert truths["_b"] == SETTINGS[2].measured and SETTINGS[2][:2] == ("EnDe", "T5-large")
    assert truths["_c"] == best
    assert truths["_d"] == possible[10].count("possible") == 1
    assert possible[20].count("possible") == 4
    assert truths["_f"] == computed.blocks_needed(0.02, 0.04, 400)


def test_the_intervals_of_rounding_hold_the_printed_values():
    for row in SETTINGS:
        low, high = rounding_interval(row.alpha, row.c, row.k)
        assert low <= row.expected <= high


def test_the_text_counts_the_readings_of_the_rows():
    kinds = [computed.reading(row).partition(",")[0] for row in SETTINGS]
    for kind, rows in {"above": 3, "agrees": 1, "below": 5, "no cost": 3}.items():
        assert kinds.count(kind) == rows
        assert f"**{kind}**, {('one row', 'three rows', 'five rows')[rows // 2]}" in TEXT


@pytest.mark.parametrize("k", [1, 3, 5])
def test_no_order_of_right_positions_brings_more_than_the_limit(k: int):
    for bits in range(2**8):
        order = [bits >> i & 1 for i in range(8)]
        blocks = computed.blocks_of(order, k)
        assert 8 / len(blocks) <= computed.most_tokens(sum(order) / 8, k) + 1e-12


def test_by_turns_the_clock_that_slows_down_hardly_matters():
    after, by_turns = (computed.drifting_seconds(each) for each in (False, True))
    assert FUNCTIONS["paired_speedup"](*after) < 1.02
    assert 1.2 < FUNCTIONS["paired_speedup"](*by_turns) < 1.25


@pytest.mark.browser
@pytest.mark.parametrize("alpha", [0.0, 0.5, 0.82, 1.0])
def test_the_simulator_gives_the_numbers_of_the_library(module, alpha: float):
    call = module(paper_rows_simulator(SETTINGS))
    for c in (0.0, 0.02, 0.5):
        for k in (0, 1, 5, K_MAX):
            assert call("expectedTokens", alpha, k) == pytest.approx(expected_tokens(alpha, k))
            assert call("speedup", alpha, c, k) == pytest.approx(walltime_speedup(alpha, c, k))
            assert call("interval", alpha, c, k) == pytest.approx(rounding_interval(alpha, c, k))


def test_numbers_in_the_prose_are_the_computed_ones():
    row, words = SETTINGS[2], " ".join(TEXT.replace("\n# ", " ").split())
    needed = (expected_tokens(row.alpha, row.k) / row.measured - 1) / row.k
    limits = [computed.most_tokens(SETTINGS[i].alpha, SETTINGS[i].k) for i in (6, 9)]
    assert f"a `c` of {needed:.2f} would do" in words
    assert f"gives only {expected_tokens(0.65, 5):.2f}" in words
    assert f"The formula says {expected_tokens(0.75, 5):.2f}" in words
    assert f"give {FUNCTIONS['implied_alpha'](7.52, 14.1, 1.8, 4):.3f}" in words
    assert "allow {:.2f} and {:.2f} tokens a block".format(*limits) in words


def test_drafting_gains_for_one_request_and_loses_in_the_largest_batch():
    speedups = re.findall(r"batch (\d+): ([\d.]+\d)", WORDS.partition("Speed-ups. ")[2])
    assert all((float(ratio) > 1) == (n == "1") for n, ratio in speedups if n in ("1", "64"))


def test_the_record_of_matches_is_that_of_the_pinned_library():
    source = inspect.getsource(candidate_generator.AssistedCandidateGenerator)
    card = re.search(r"# ```python\n(.*?)# ```", TEXT, re.DOTALL)[1]
    assert all(line.removeprefix("# ").strip() in source for line in card.splitlines())
    assert transformers.__version__ in TEXT
