"""Chapter 07: its visible side, its exact numbers, and its family."""

import re

import numpy as np
import pytest
from classes.chapter_cases import functions_of, random_pairs, unwritten

from autograde.chapter import ROOT
from autograde.tools.proof import judged
from specdec_lib.lessons.ch07 import checks as ch07
from specdec_lib.lessons.ch07 import computed, experts, family, figures
from specdec_lib.lessons.common.examples import Different
from specdec_lib.measure import strategies
from specdec_lib.measure.core.held_out import prompts
from specdec_lib.theory import expected_tokens, walltime_speedup

CHAPTER = "07_connections"
P, Q, POOR = ch07.P, ch07.Q, ch07.POOR
FUNCTIONS = functions_of(CHAPTER)
TWO_P, TWO_Q = np.array([0.5, 0.5]), np.array([0.75, 0.25])  # of the smallest example


def test_predictions_are_held_against_computed_numbers():
    assert ch07.TRUTHS["prediction_07"].value == pytest.approx(0.87, abs=1e-12)
    read = FUNCTIONS["expected_experts"](5, 8, 2)
    assert ch07.TRUTHS["prediction_07_b"].value == pytest.approx(read, abs=1e-12)


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_candidates_in_turn_keep_the_target_and_accept_no_more_than_the_best(n: int):
    for p, q in [(P, Q), (P, POOR), *random_pairs(5, 7, 3)]:
        both = computed.candidates_law(FUNCTIONS["multi_candidate_accept"], p, q, n)
        assert np.abs(both.sum(axis=0) - p).max() < 1e-12
        accepted = sum(computed.refused_in_turn(p, q, n))
        assert both[0].sum() == pytest.approx(accepted, abs=1e-12)
        assert accepted <= computed.best_acceptance(p, q, n) + 1e-12


def test_the_best_acceptance_is_reached_by_hand():
    """With p = [.5, .5] and q = [.75, .25] 9 of 16 pairs are (0, 0), of which 8 can stay."""
    assert computed.best_acceptance(TWO_P, TWO_Q, 2) == pytest.approx(15 / 16, abs=1e-12)
    assert computed.best_acceptance(P, Q, 1) == pytest.approx(np.minimum(P, Q).sum(), abs=1e-12)


def test_smallest_example_counts_as_told():
    """Of 16 blocks 12 keep the first token, 1 the second, and 3 get another; 8 and 8."""
    shares = computed.refused_in_turn(TWO_P, TWO_Q, 2)
    assert [16 * share for share in shares] == pytest.approx([12, 1])
    accept = FUNCTIONS["multi_candidate_accept"]
    both = 16 * computed.candidates_law(accept, TWO_P, TWO_Q, 2)
    assert both.tolist() == [pytest.approx([8, 5]), pytest.approx([0, 3])]


@pytest.mark.parametrize("k", [1, 2, 3])
def test_block_verification_keeps_the_distribution_and_accepts_no_less(k: int):
    for p, q in [(P, Q), (Q, P), (P, P), *np.random.default_rng(7).dirichlet(np.ones(3), (4, 2))]:
        came, mean = computed.block_law(p, q, k)
        assert np.abs(came - computed.outer([p] * (k + 1))).max() < 1e-12
        assert mean >= expected_tokens(float(np.minimum(p, q).sum()), k) - 1 - 1e-12


def test_block_verification_meets_the_papers_example():
    """Sun et al. (2024), section 2: 10/9 accepted token by token, 11/9 as a block."""
    p, q = np.array([1 / 3, 2 / 3]), np.array([2 / 3, 1 / 3])
    assert computed.block_law(p, q, 2)[1] == pytest.approx(11 / 9, abs=1e-12)
    assert expected_tokens(2 / 3, 2) - 1 == pytest.approx(10 / 9, abs=1e-12)


def test_typical_acceptance_of_the_pair_is_the_draft():
    came = computed.typical_law(P, Q, 0.09, 0.3)
    assert np.array_equal(came, Q)
    assert np.abs(came - P).sum() / 2 == pytest.approx(0.2, abs=1e-12)
    strict = computed.typical_law(P, Q, 0.2, 1.0)
    assert strict == pytest.approx([0.3 + 0.25 * 0.45, 0.45 + 0.25 * 0.3, 0.0375, 0.025], abs=1e-12)


def test_numbers_that_the_text_prints():
    assert computed.tree_tokens(ch07.SHAPES["chain of six"], [0.8]) == pytest.approx(3.95, abs=2e-3)
    tree = computed.tree_tokens(ch07.SHAPES["two by two"], computed.refused_in_turn(P, Q, 2))
    assert tree == pytest.approx(2.63, abs=5e-3)
    assert np.minimum(P, Q).sum() == pytest.approx(0.8)
    assert np.minimum(P, POOR).sum() == pytest.approx(0.45)
    mapped = FUNCTIONS["map_draft"](ch07.SMALL_DRAFT, ch07.TO_TARGET, 4)
    assert np.round(mapped, 3).tolist() == [0.286, 0, 0.714, 0]
    rows = [np.tile(each, (7, 1)) for each in (P, Q)]
    walk = FUNCTIONS["walk_tree"](ch07.TREE, ch07.WALK_TOKENS, *rows, ch07.WALK_R, 0.5)
    assert walk == [3, 0, 1]


def test_a_tree_is_drafted_in_a_step_a_level_and_the_winner_flips_with_its_cost():
    levels = {name: computed.tree_levels(each) for name, each in ch07.SHAPES.items()}
    assert list(levels.values()) == [6, 2, 2, 1] and computed.tree_levels([]) == 0
    shares = computed.refused_in_turn(P, Q, 6)
    chain, tree = ch07.SHAPES["chain of six"], ch07.SHAPES["two by two"]
    speeds = [[computed.tree_speedup(each, shares, c) for each in (chain, tree)] for c in (0, 0.2)]
    assert speeds[0][0] > speeds[0][1] and speeds[1][0] < speeds[1][1]
    assert speeds[1][0] == pytest.approx(walltime_speedup(0.8, 0.2, 6))


def test_what_a_mixture_of_experts_reads_is_told_as_computed(capsys):
    """The sentences after the exercise, and the counting before it."""
    function, (mixtral, *_) = FUNCTIONS["expected_experts"], experts.MIXTURES
    assert mixtral.v(function, 5) == pytest.approx(2.8, abs=0.05)
    assert expected_tokens(0.7, 4) / (4 * 0.05 + mixtral.v(function, 5)) < 1
    for mixture in experts.MIXTURES:
        assert mixture.v(function, 1) == 1
        assert mixture.v(function, 5, batch=64) < 1.7 < mixture.v(function, 5)
    experts.routed(8, 2)
    counted = [float(each) for each in re.findall(r": (.*) of 8", capsys.readouterr().out)]
    assert counted == pytest.approx([function(n, 8, 2) for n in range(1, 6)], abs=0.03)


def test_simulator_waits_for_no_answer(capsys):
    shares = ch07.accepted_shares(unwritten)
    assert "is not written yet" in capsys.readouterr().out
    assert shares["good draft"] == computed.refused_in_turn(P, Q, 6)
    ch07.accepted_shares(lambda *args: 1 / 0)
    assert "cannot be used yet: ZeroDivisionError" in capsys.readouterr().out


def test_drafters_and_heads_are_measured():
    target, texts = strategies.built_in("target")["target"], prompts(1, 32)
    found = strategies.tokens_a_block(target, strategies.three_drafters(target.vocab_size), texts)
    assert list(found) == [(n, t) for n in ("lookup", "bigram", "model") for t in (0, 1)]
    assert found["model", 1][0] > found["lookup", 1][0]
    heads = strategies.tokens_a_block(target, strategies.trained_heads(target), texts, k=3)
    assert {name for name, _ in heads} == {"Medusa", "EAGLE"}
    assert all(1 <= tokens <= 4 for tokens, _ in heads.values())


def test_family_is_sourced_and_its_boxes_are_those_of_the_frame():
    entries = family.as_data()
    assert [e["date"] for e in entries] == sorted(e["date"] for e in entries)
    assert len({e["name"] for e in entries}) == len(entries) >= 25
    assert all(value for each in entries for value in each.values())
    assert all(re.search(r"arXiv \d{4}\.\d{4,5}|github\.com", e["source"]) for e in entries)
    for box, options in family.FRAME.items():
        assert {e[box] for e in entries} <= options.keys()
    guide = (ROOT / "docs" / "field_guide.md").read_text(encoding="utf-8")
    assert family.guide_table() in guide, (
        "put what `python -m specdec_lib.lessons.ch07.family` prints into docs/field_guide.md"
    )


def off_by_one(target_greedy, prompt, guess):
    while guess != (after := target_greedy(prompt + guess)[len(prompt) :]):
        guess = after


def test_a_loop_that_cannot_end_is_ended_and_told_why(capsys):
    why = "called target_greedy more than 5 times: 3 places settle in 4 passes at most"
    with pytest.raises(Different, match=why):
        ch07.check_jacobi_decode(off_by_one)
    figures.renewed_together(off_by_one, ch07.two_back, ch07.PROMPT, ch07.GUESS)
    assert "called target_greedy more than 9 times" in capsys.readouterr().out


# Other right ways: a draw of one's own, one way through the list, exact combinations.
UNUSUAL = {
    "one_hot_accept": """
def one_hot_accept(draft_token, p, r, u):
    others = [x * (i != draft_token) for i, x in enumerate(p)]
    if p[draft_token] > r or not any(others):
        return draft_token, True
    return int(np.flatnonzero(np.cumsum(others) > u * sum(others))[0]), False
""",
    "walk_tree": """
def walk_tree(parents, tokens, p, q, r, u):
    written, at, rest = [], -1, p[0]
    for node, token in enumerate(tokens):
        if parents[node] == at and r[node] * q[at + 1, token] < rest[token]:
            written, at, rest = [*written, token], node, p[node + 1]
        elif parents[node] == at:
            rest = residual_distribution(rest, q[at + 1])
    return [*written, sample_from(rest, u)]
""",
    "expected_experts": """
def expected_experts(n_tokens, n_experts, active):
    from math import comb
    left_out = comb(n_experts - 1, active) / comb(n_experts, active)
    return n_experts - n_experts * left_out**n_tokens
""",
}


def test_an_unusual_right_answer_earns_full_marks():
    for name, exercise in judged(CHAPTER, **UNUSUAL).items():
        assert exercise.score == exercise.max_score, (name, exercise.messages)
