"""Today's uses in numbers: the page is what the command computes, and the formulas are right."""

from itertools import product
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from specdec_lib.measure.core.pages import table_in
from specdec_lib.regimes import laws, pictures, speeds
from specdec_lib.regimes.__main__ import main
from specdec_lib.regimes.speeds import DRAFT, NEMOTRON_H, QWEN3_32B, Draft
from specdec_lib.regimes.tables import TABLES

PAGE = Path(__file__).parents[3] / "docs" / "regimes.md"
RENEW = "run `python -m specdec_lib.regimes --markdown docs/regimes.md`"


@pytest.mark.parametrize("name", TABLES)
def test_the_page_has_the_tables_that_are_computed(name: str):
    assert table_in(PAGE, name) == TABLES[name](), RENEW


@pytest.mark.parametrize("name", pictures.PICTURES)
def test_the_page_has_the_pictures_that_are_drawn_with_their_words(name: str, tmp_path: Path):
    words, (file, _) = pictures.write(tmp_path, name), pictures.PICTURES[name]
    assert table_in(PAGE, name) == f"![{words}](_static/{file})", RENEW
    drawn = ElementTree.parse(PAGE.parent / "_static" / file).getroot()
    assert words in " ".join(drawn.itertext()), RENEW


def test_the_command_prints_the_tables(capsys: pytest.CaptureFixture):
    main([])
    assert "one long answer | 332.6 | 143.9 | 2.31 |" in capsys.readouterr().out


def test_experts_by_formula_are_those_of_all_choices():
    choices = [{i, j} for i, j in product(range(4), repeat=2) if i < j]
    for n in (1, 2, 3):
        counted = [len(set().union(*tokens)) for tokens in product(choices, repeat=n)]
        assert speeds.expected_experts(n, 4, 2) == pytest.approx(np.mean(counted), abs=1e-12)


def test_a_trace_of_a_model_without_experts_gains_the_formulas_speed():
    plain, drafted = (speeds.trace_seconds(QWEN3_32B, 16, draft) for draft in (None, DRAFT))
    assert plain / drafted == pytest.approx(DRAFT.speed())
    read = 2 * 32.8e9 + 16 * 262_144 * (1024 + 512)
    assert plain == pytest.approx(1024 * read / 3.35e12)


def test_going_back_for_free_leaves_the_formulas_speed():
    assert NEMOTRON_H.state_bytes == 100_663_296
    kept, speed = speeds.rollback(NEMOTRON_H, 1)[
        "one state; accepted tokens are read again in the next pass"
    ]
    assert kept == NEMOTRON_H.state_bytes and speed == pytest.approx(DRAFT.speed())


def test_a_round_trip_of_the_largest_length_gains_nothing():
    assert speeds.largest_round_trip() == pytest.approx(1.57, abs=0.005)
    assert speeds.apart(speeds.largest_round_trip()) == pytest.approx(1)
    assert speeds.apart(0) == DRAFT.speed() == speeds.best_apart(0, k_max=4).speed()
    sure = Draft(alpha=0.7, k=4, c=0.0)
    assert speeds.ahead(1.0, sure, foreseen=1.0) == pytest.approx(sure.tokens)


def test_a_masked_draft_is_accepted_by_what_both_have():
    assert laws.acceptance_under("AC") == pytest.approx((0.5, 0.85))
    assert laws.acceptance_under("C") == pytest.approx((0.2, 1.0))


def test_the_learners_gradient_is_right_under_the_right_rule_alone():
    found = laws.rules()
    right = found.pop("the rule of chapter 02")
    p, b = laws.P, 1
    by_hand = p[b] * (np.eye(4)[b] - p)  # of p(B) with respect to the logits
    assert laws.gradient(right) == pytest.approx(by_hand, abs=1e-12)
    assert laws.bias(right) < 1e-12 and laws.rollouts_until_bias(right) == float("inf")
    for law in found.values():
        assert law.sum() == pytest.approx(1) and laws.bias(law) > 0.02


def test_at_the_rollouts_of_the_table_bias_and_noise_are_equal():
    law = laws.rules()["lenience 0.9"]
    rows, mean = laws.gradients(law), laws.gradient(law)
    variance = sum(law[x] * ((rows[x] - mean) ** 2).sum() for x in range(4))
    off = ((mean - laws.gradient(laws.P)) ** 2).sum()
    assert variance / laws.rollouts_until_bias(law) == pytest.approx(off)
