"""Chapter 07: its visible side and its exact numbers."""

from functools import partial

import numpy as np
import pytest
import torch
from classes.chapter_cases import functions_of, random_pairs
from classes.trees import tree_levels, tree_speedup, tree_tokens

from specdec_lib.drafters.eagle import Eagle, load_eagle_head
from specdec_lib.lessons.ch07 import computed, lesson
from specdec_lib.measure import strategies
from specdec_lib.measure.prompts import prompts
from specdec_lib.sampling import Warp
from specdec_lib.theory import expected_tokens, walltime_speedup

CHAPTER = "07_connections"
P, Q, POOR = lesson.P, lesson.Q, lesson.POOR
FUNCTIONS = functions_of(CHAPTER)
TWO_P, TWO_Q = np.array([0.5, 0.5]), np.array([0.75, 0.25])  # of the smallest example


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_candidates_in_turn_keep_the_target_and_accept_no_more_than_the_best(n: int):
    for p, q in [(P, Q), (P, POOR), *random_pairs(5, 7, 3)]:
        both = computed.candidates_law(FUNCTIONS["multi_candidate_accept"], p, q, n)
        assert np.abs(both.sum(axis=0) - p).max() < 1e-12
        accepted = sum(computed.accepted_in_turn(p, q, n))
        assert both[0].sum() == pytest.approx(accepted, abs=1e-12)
        assert accepted <= computed.best_acceptance(p, q, n) + 1e-12


def test_smallest_example_counts_as_told():
    """Of 16 blocks 12 keep the first token, 1 the second, and 3 get another; the best rule 15."""
    shares = computed.accepted_in_turn(TWO_P, TWO_Q, 2)
    assert [16 * share for share in shares] == pytest.approx([12, 1])
    assert 16 * computed.best_acceptance(TWO_P, TWO_Q, 2) == pytest.approx(15)
    accept = FUNCTIONS["multi_candidate_accept"]
    both = 16 * computed.candidates_law(accept, TWO_P, TWO_Q, 2)
    assert both.tolist() == [pytest.approx([8, 5]), pytest.approx([0, 3])]


@pytest.mark.parametrize("count", [1, 2, 3])
def test_eagles_loop_keeps_the_target_and_accepts_what_the_candidates_have_in_it(count: int):
    turn = partial(FUNCTIONS["eagle_turn"], FUNCTIONS["one_hot_accept"])
    for p, _ in [(P, Q), *random_pairs(5, 7, 4)]:
        law = computed.top_law(turn, p, list(range(count)))
        assert np.abs(law.sum(axis=0) - p).max() < 1e-12
        assert law[0].sum() == pytest.approx(p[:count].sum(), abs=1e-12)


def test_rates_by_position_give_the_tokens_of_the_papers_table():
    tokens = FUNCTIONS["tokens_from_positions"]
    table_1 = {"EAGLE-3": 2.40, "DFlash": 2.95, "DSpark": 3.49}  # the mean of its chat benchmarks
    for name, rates in lesson.POSITION_RATES.items():
        assert tokens(rates) == pytest.approx(table_1[name], abs=0.03)
    assert lesson.TRUTHS["prediction_07_c"].value == table_1["EAGLE-3"]
    assert expected_tokens(0.659, 7) == pytest.approx(2.83, abs=0.005)


def test_a_step_on_the_shipped_head_is_what_the_drafter_itself_predicts():
    target, text = strategies.built_in_models("target")["target"], prompts(1, 12)[0]
    places = strategies.places_of(target, text)
    tops = [np.argmax(FUNCTIONS["head_step"](h, x, head)) for h, x, head, _ in places]
    passes, tokens = [], torch.tensor([text])
    target.forward(tokens, target.new_cache(1, 12), observe=passes.append)
    eagle = Eagle(target, load_eagle_head(target))
    eagle.start([text], Warp(), 12)
    predicted = eagle.next_states(passes[0].states[:, :-1], tokens[:, 1:])
    assert tops == eagle.head(predicted)[0].argmax(-1).tolist()


def test_numbers_that_the_text_prints():
    printed = [0.805, 0.632, 0.483]  # of all blocks, as in llama.cpp's log
    assert FUNCTIONS["tokens_from_positions"](printed) == pytest.approx(2.56, abs=5e-3)
    assert 1 + sum(printed) == pytest.approx(2.92, abs=5e-3)
    chain = tree_tokens(lesson.SHAPES["chain of six"], [0.8])
    assert chain == pytest.approx(3.95, abs=2e-3)
    tree = tree_tokens(lesson.SHAPES["two by two"], computed.accepted_in_turn(P, Q, 2))
    assert tree == pytest.approx(2.63, abs=5e-3)
    assert np.minimum(P, POOR).sum() == pytest.approx(0.45)
    assert computed.best_acceptance(P, Q, 2) == pytest.approx(0.9975)
    assert expected_tokens(0.8, 5) - 1 == pytest.approx(2.69, abs=5e-3)
    assert 0.3 * np.exp((P * np.log(P)).sum()) == pytest.approx(0.087, abs=5e-4)  # quiz_07_b


def test_the_winner_of_chain_and_tree_flips_where_the_prediction_says():
    levels = {name: tree_levels(each) for name, each in lesson.SHAPES.items()}
    assert list(levels.values()) == [6, 2, 2, 1] and tree_levels([]) == 0
    shares, c = computed.accepted_in_turn(P, Q, 6), lesson.TRUTHS["prediction_07_b"].value
    assert sum(shares[:2]) == pytest.approx(lesson.TRUTHS["prediction_07"].value)
    for name in ("chain of six", "two by two"):
        speed = tree_speedup(lesson.SHAPES[name], shares, c)
        assert speed == pytest.approx(walltime_speedup(0.8, c, 6), rel=0.005)


def test_a_walk_without_an_end_is_ended():
    with pytest.raises(AssertionError, match="at most N steps"):
        lesson.check_walk_tree(lambda *_: [0 for _ in iter(int, 1)])
