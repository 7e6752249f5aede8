"""Chapter 07: its visible side, its exact numbers, and its family."""

import inspect
import re

import numpy as np
import pytest
from classes.chapter_cases import functions_of, random_pairs, unwritten

from autograde.bugs import answers_of
from autograde.chapter import ROOT
from autograde.chapters import ch07_tests, ch07_wrong
from autograde.chapters.expected import ch07_expected
from autograde.chapters.numbers import ch07_numbers
from autograde.tools.proof import judged
from specdec_lib.lessons.ch07 import checks as ch07
from specdec_lib.lessons.ch07 import computed, experts, family, figures, measured
from specdec_lib.lessons.common.examples import Different
from specdec_lib.measure import strategies
from specdec_lib.measure.core.held_out import prompts
from specdec_lib.theory import expected_tokens, walltime_speedup

CHAPTER = "07_connections"
P, Q, POOR = ch07.P, ch07.Q, ch07.POOR
FUNCTIONS = functions_of(CHAPTER)


def test_a_wrong_mask_is_told_by_its_row_and_an_integer_one_by_its_dtype():
    with pytest.raises(Different, match=r"Row 1 is true at \[0, 1\]; it should be at \[1\]"):
        ch07.expect_mask(ch07_wrong.mask_causal, [-1, -1], [[0], [1]])
    with pytest.raises(Different, match="holds int"):
        ch07.expect_mask(ch07_wrong.mask_of_integers, [-1, 0], [[0], [0, 1]])


def test_predictions_are_held_against_computed_numbers():
    assert ch07.TRUTHS["prediction_07"].value == pytest.approx(0.87, abs=1e-12)
    read = FUNCTIONS["expected_experts"](5, 8, 2)
    assert ch07.TRUTHS["prediction_07_b"].value == pytest.approx(read, abs=1e-12)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4])
def test_law_of_the_rule_in_turn_is_the_target(n: int):
    for p, q in [(P, Q), (P, POOR), *random_pairs(5, 7, 3)]:
        law = computed.candidates_law(FUNCTIONS["multi_candidate_accept"], p, q, n)
        assert np.abs(law.sum(axis=0) - p).max() < 1e-12
        assert law[0].sum() == pytest.approx(sum(computed.refused_in_turn(p, q, n)), abs=1e-12)


def test_shares_of_the_solution_are_the_closed_form():
    for draft in (Q, POOR):
        shares = computed.shares_of(FUNCTIONS["multi_candidate_accept"], P, draft)
        assert shares == pytest.approx(computed.refused_in_turn(P, draft, 6), abs=1e-12)
    assert computed.refused_in_turn(P, Q, 2) == pytest.approx([0.8, 0.07], abs=1e-12)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_no_rule_in_turn_beats_the_best(n: int):
    for p, q in [(P, Q), (P, POOR), *random_pairs(20, 7, 4)]:
        best = computed.best_acceptance(p, q, n)
        assert sum(computed.refused_in_turn(p, q, n)) <= best + 1e-12 and best <= 1
    assert computed.best_acceptance(P, Q, 1) == pytest.approx(np.minimum(P, Q).sum(), abs=1e-12)


def test_the_best_acceptance_of_two_candidates_is_reached():
    """By hand: p = [.5, .5], q = [.75, .25], of 16 pairs 9 are (0, 0), of which 8 can stay."""
    p, q = np.array([0.5, 0.5]), np.array([0.75, 0.25])
    assert computed.best_acceptance(p, q, 2) == pytest.approx(15 / 16, abs=1e-12)
    assert sum(computed.refused_in_turn(p, q, 2)) == pytest.approx(13 / 16, abs=1e-12)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_block_verification_keeps_the_law_and_accepts_no_less(k: int):
    for p, q in [(P, Q), (Q, P), (P, P), *np.random.default_rng(7).dirichlet(np.ones(3), (4, 2))]:
        law, mean = computed.block_law(p, q, k)
        target = np.ones(())
        for _ in range(k + 1):
            target = np.multiply.outer(target, p)
        assert np.abs(law - target).max() < 1e-12
        assert mean == pytest.approx(computed.block_accepted(p, q, k), abs=1e-12)
        beta = float(np.minimum(p, q).sum())
        assert mean >= expected_tokens(beta, k) - 1 - 1e-12


def test_block_verification_meets_the_papers_example():
    """Sun et al. (2024), section 2: 10/9 accepted token by token, 11/9 as a block."""
    p, q = np.array([1 / 3, 2 / 3]), np.array([2 / 3, 1 / 3])
    assert computed.block_accepted(p, q, 2) == pytest.approx(11 / 9, abs=1e-12)
    assert expected_tokens(2 / 3, 2) - 1 == pytest.approx(10 / 9, abs=1e-12)


def test_typical_acceptance_of_the_pair_is_the_draft():
    law = computed.typical_law(P, Q, 0.09, 0.3)
    assert np.array_equal(law, Q)
    assert np.abs(law - P).sum() / 2 == pytest.approx(0.2, abs=1e-12)
    strict = computed.typical_law(P, Q, 0.2, 1.0)
    assert strict == pytest.approx([0.3 + 0.25 * 0.45, 0.45 + 0.25 * 0.3, 0.0375, 0.025], abs=1e-12)


def test_what_the_notebook_shares_with_the_lesson_cannot_be_changed():
    for array in (P, Q, POOR, ch07.SMALL_DRAFT, ch07.TO_TARGET, ch07.WALK_R):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_certain_token_law():
    law = computed.one_hot_law(FUNCTIONS["one_hot_accept"], P, 1)
    assert law.sum(axis=0) == pytest.approx(P, abs=1e-12)
    assert law[0] == pytest.approx([0, 0.3, 0, 0], abs=1e-12)
    assert computed.one_hot_law(ch07_wrong.certain_replaced_from_target, P, 1).sum(axis=0)[
        1
    ] == pytest.approx(0.3 + 0.7 * 0.3, abs=1e-2)


def test_numbers_that_the_text_prints():
    assert computed.tree_tokens(ch07.SHAPES["chain of six"], [0.8]) == pytest.approx(3.95, abs=2e-3)
    tree = computed.tree_tokens(ch07.SHAPES["two by two"], computed.refused_in_turn(P, Q, 2))
    assert tree == pytest.approx(2.63, abs=5e-3)
    assert np.minimum(P, Q).sum() == pytest.approx(0.8)
    mapped = FUNCTIONS["map_draft"](ch07.SMALL_DRAFT, ch07.TO_TARGET, 4)
    assert np.round(mapped, 3).tolist() == [0.286, 0, 0.714, 0]
    entropy = -(P * np.log(P)).sum()
    assert min(0.09, 0.3 * np.exp(-entropy)) == pytest.approx(0.087, abs=5e-4)
    rest = P.copy()
    rest[1] = 0
    assert np.round(rest / rest.sum(), 3).tolist() == [0.643, 0, 0.214, 0.143]
    walk = FUNCTIONS["walk_tree"]
    rows = [np.tile(each, (7, 1)) for each in (P, Q)]
    assert walk(ch07.TREE, ch07.WALK_TOKENS, *rows, ch07.WALK_R, 0.5) == [3, 0, 1]
    assert np.minimum(P, POOR).sum() == pytest.approx(0.45)


def test_a_tree_is_drafted_in_a_step_a_level_and_the_winner_flips_with_its_cost():
    levels = {name: computed.tree_levels(each) for name, each in ch07.SHAPES.items()}
    assert list(levels.values()) == [6, 2, 2, 1] and computed.tree_levels([]) == 0
    shares = computed.refused_in_turn(P, Q, 6)
    chain, tree = ch07.SHAPES["chain of six"], ch07.SHAPES["two by two"]
    speeds = [[computed.tree_speedup(each, shares, c) for each in (chain, tree)] for c in (0, 0.2)]
    assert speeds[0][0] > speeds[0][1] and speeds[1][0] < speeds[1][1]
    assert speeds[1][0] == pytest.approx(walltime_speedup(0.8, 0.2, 6))


def test_walks_of_the_solution_write_what_was_computed():
    for parents in ch07.SHAPES.values():
        mean = computed.walked(FUNCTIONS["walk_tree"], parents, P, Q, 400, 3)
        exact = computed.tree_tokens(parents, computed.refused_in_turn(P, Q, 6))
        assert mean == pytest.approx(exact, abs=0.4)


def test_a_walk_that_fails_on_the_card_is_not_sent_down_other_trees(capsys):
    calls = []

    def wrong(parents, *rest):
        calls.append(parents)
        return [0]

    measured.shapes_walked(wrong, P, {"good": Q, "poor": POOR}, ch07.SHAPES, 0.2, 5)
    assert calls == [ch07.TREE]
    assert (
        "on the tree of the card it writes [0]; it should be [3, 0, 1]" in capsys.readouterr().out
    )


def never_moving(parents, tokens, p, q, r, u):
    written, node = [], -1
    while True:
        children = [i for i, parent in enumerate(parents) if parent == node]
        if not children:
            return written
        written.append(tokens[children[0]])


def never_climbing(parents):
    mask = np.eye(len(parents), dtype=bool)
    for node in range(len(parents)):
        seen = node
        while parents[seen] >= 0:
            mask[node, parents[seen]] = True
    return mask


def test_a_walk_that_never_moves_is_ended_and_told_why(capsys):
    why = "did not end within 20,000 lines of Python: a walk ends after one step for each node"
    with pytest.raises(Different, match=why):
        ch07.check_walk_tree(never_moving)
    figures.walked_down(never_moving, ch07.TREE, ch07.WALK_TOKENS, P, Q, ch07.WALK_R, 0.5)
    measured.shapes_walked(never_moving, P, {"good": Q, "poor": POOR}, ch07.SHAPES, 0.2, 5)
    assert capsys.readouterr().out.count(why) == 2
    why = "did not end within 20,000 lines of Python: the way up from a node ends at -1"
    with pytest.raises(Different, match=why):
        ch07.check_tree_attention_mask(never_climbing)
    figures.tree_and_mask(never_climbing, ch07.TREE)
    assert why in capsys.readouterr().out


def test_hidden_walks_are_those_of_the_solution():
    for parents, tokens in (([-1, -1, 0, 1], [1, 1, 0, 2]), ([-1, 0, 1], [2, 0, 2])):
        rows = [ch07_tests.rows_of(each, len(parents)) for each in
                (ch07_numbers.ROWS_P, ch07_numbers.ROWS_Q)]  # fmt: skip
        for r in np.random.default_rng(1).random((20, len(parents))):
            arguments = (parents, tokens, *rows, r, 0.3)
            assert FUNCTIONS["walk_tree"](*arguments) == ch07_expected.walk(*arguments)


def test_the_ways_of_a_hidden_walk_are_all_of_them():
    for parents in ([-1, -1], [-1, -1, 0]):
        assert sum(weight for _, weight in ch07_tests.walk_ways(parents)) == pytest.approx(1)


def test_what_a_mixture_of_experts_reads_is_told_as_computed(capsys):
    """The sentences after the exercise, and the counting before it."""
    function, (mixtral, *_) = FUNCTIONS["expected_experts"], experts.MIXTURES
    assert mixtral.v(function, 5) == pytest.approx(2.8, abs=0.05)
    assert expected_tokens(0.7, 4) == pytest.approx(2.77, abs=0.005)
    assert expected_tokens(0.7, 4) / (4 * 0.05 + mixtral.v(function, 5)) < 1
    for mixture in experts.MIXTURES:
        assert mixture.v(function, 1) == 1
        assert mixture.read(function, 10**6) == pytest.approx(mixture.total)
        assert mixture.v(function, 5, batch=64) < 1.7 < mixture.v(function, 5)
    experts.routed(8, 2)
    counted = [float(each) for each in re.findall(r": (.*) of 8", capsys.readouterr().out)]
    assert counted == pytest.approx([function(n, 8, 2) for n in range(1, 6)], abs=0.03)


def test_smallest_example_counts_as_told():
    """16 pairs of candidates: 12 accepted at first, 1 at second, 3 drawn; 8 and 8."""
    p, q = np.array([0.5, 0.5]), np.array([0.75, 0.25])
    assert [16 * share for share in computed.refused_in_turn(p, q, 2)] == pytest.approx([12, 1])
    law = 16 * computed.candidates_law(FUNCTIONS["multi_candidate_accept"], p, q, 2)
    assert law.tolist() == [pytest.approx([8, 5]), pytest.approx([0, 3])]


def test_what_the_hidden_tests_expect_is_what_the_cards_say():
    certain, coins = np.array([0, computed.LARGEST, 0]), np.array([0.7, 0.9])
    assert ch07_expected.one_hot(1, P, 0.5, 0.7) == (2, False)
    assert ch07_expected.one_hot(1, certain, computed.LARGEST, 0.5) == (1, True)
    assert ch07_expected.candidate([1, 3], P, Q, coins, 0.5) == 3
    assert ch07_expected.candidate([1, 2], P, Q, coins, 0.7) == 3
    steps = ch07_expected.trajectory(lambda text: [t + 1 for t in text], [0], [5, 5, 3])
    assert steps == [[5, 5, 3], [1, 6, 6], [1, 2, 7], [1, 2, 3], [1, 2, 3]]
    assert ch07_expected.ancestors(ch07.TREE)[5] == [0, 2, 5]
    rows = [np.tile(each, (7, 1)) for each in (P, Q)]
    assert ch07_expected.walk(ch07.TREE, ch07.WALK_TOKENS, *rows, ch07.WALK_R, 0.5) == [3, 0, 1]
    mapped = ch07_expected.mapped([0.25, 0.2, 0.25, 0.3], [1, -1, 1, 2], 3)
    assert mapped.tolist() == [0, 0.625, 0.375]
    assert ch07_expected.mean_experts(2, 8, 2) == 3.5


def test_trajectories_of_the_hidden_tests_end_in_greedy_text():
    for target, prompt, guess in ch07_numbers.JACOBI:
        written: list[int] = []
        for _ in guess:
            written.append(target([*prompt, *written])[-1])
        steps = ch07_expected.trajectory(target, prompt, guess)
        assert steps[-1] == written and len(steps) <= len(guess) + 2


def test_simulator_waits_for_no_answer(capsys):
    numbers = ch07.accepted_shares(unwritten)
    assert "is not written yet" in capsys.readouterr().out
    assert numbers["good draft"] == computed.refused_in_turn(P, Q, 6)
    ch07.accepted_shares(lambda *args: 1 / 0)
    assert "cannot be used yet: ZeroDivisionError" in capsys.readouterr().out


def test_drafters_are_measured_at_both_temperatures():
    target, texts = strategies.built_in("target")["target"], prompts(1, 32)
    found = strategies.tokens_a_block(target, strategies.three_drafters(target.vocab_size), texts)
    assert list(found) == [(n, t) for n in ("lookup", "bigram", "model") for t in (0, 1)]
    assert all(1 <= tokens <= 5 and 0 <= repeated <= 1 for tokens, repeated in found.values())
    assert found["model", 1][0] > found["lookup", 1][0]


def test_family_is_sourced_and_its_boxes_are_those_of_the_frame():
    entries = family.as_data()
    assert [e["date"] for e in entries] == sorted(e["date"] for e in entries)
    assert len({e["name"] for e in entries}) == len(entries) >= 25
    assert all(value for each in entries for value in each.values())
    assert all(e["kept"] in family.KEPT and e["link"].startswith("https://") for e in entries)
    assert all(re.fullmatch(r"20\d\d-(0[1-9]|1[0-2])", e["date"]) for e in entries)
    assert all(re.search(r"arXiv \d{4}\.\d{4,5}|github\.com", e["source"]) for e in entries)
    for box, options in family.FRAME.items():
        assert {e[box] for e in entries} <= options.keys() == family.SHORT[box].keys()


def test_the_field_guide_has_the_table_of_the_map():
    guide = (ROOT / "docs" / "field_guide.md").read_text(encoding="utf-8")
    assert family.guide_table() in guide, (
        "put what `python -m specdec_lib.lessons.ch07.family` prints into docs/field_guide.md"
    )


def test_trained_heads_draft_for_the_chapter():
    target, texts = strategies.built_in("target")["target"], prompts(1, 32)
    found = strategies.tokens_a_block(target, strategies.trained_heads(target), texts, k=3)
    assert {name for name, _ in found} == {"Medusa", "EAGLE"}
    assert all(1 <= tokens <= 4 for tokens, _ in found.values())


def jacobi(loop: str) -> str:
    """An answer to jacobi_decode around the lines of a loop."""
    head = "def jacobi_decode(target_greedy, prompt, guess):\n"
    return f"{head}    current, first = list(guess), len(prompt) - 1\n{loop}"


CAPPED = """
    for passes in range(1, {cap} + 1):
        renewed = target_greedy(prompt + current)[first : first + len(guess)]
        if renewed == current:
            break
        current = renewed
    return current, passes
"""
# The natural slip: the argmax behind place i is taken for the token of place i, without an end.
OFF_BY_ONE = """
    passes, first = 0, len(prompt)
    while True:
        renewed = list(target_greedy(prompt + current)[first : first + len(guess)])
        passes += 1
        if renewed == current:
            return current, passes
        current = renewed
"""


def graded(name: str, code: str):
    """One exercise of the solution with another answer in it."""
    return judged(CHAPTER, **{name: code})[name]


@pytest.mark.parametrize("cap", [8, 15, 16, 32])
def test_a_limit_on_the_passes_costs_what_needs_more_of_them(cap: int):
    exercise = graded("jacobi_decode", jacobi(CAPPED.format(cap=cap)))
    lost = [each.name for each in exercise.groups if not each.passed]
    assert lost == ["as many passes as it takes"]


def off_by_one():
    names: dict = {}
    exec(jacobi(OFF_BY_ONE), names)
    return names["jacobi_decode"]


def test_a_loop_of_passes_that_cannot_end_is_ended_and_told_why(capsys):
    why = "settle in .* passes at most"
    with pytest.raises(Different, match=f"called target_greedy more than 5 times: 3 places {why}"):
        ch07.check_jacobi_decode(off_by_one())
    figures.renewed_together(off_by_one(), ch07.two_back, ch07.PROMPT, ch07.GUESS)
    figures.passes_on_prompts(off_by_one(), ch07.two_back, [[1, 2, 3, 4]], 4)
    assert len(re.findall(f"called target_greedy more than . times: . places {why}",
                          capsys.readouterr().out)) == 2  # fmt: skip
    message = graded("jacobi_decode", jacobi(OFF_BY_ONE)).messages[0]
    assert "called target_greedy more than 20 times: 7 places settle in 8 passes" in message


def without_prompt(target_greedy, prompt, guess):
    current, passes = list(guess), 0
    while True:
        renewed = target_greedy(current)[: len(guess)]
        passes += 1
        if renewed == current:
            return current, passes
        current = renewed


def called_for_every_place(target_greedy, prompt, guess):
    current, passes = list(guess), 0
    while True:
        renewed = [target_greedy(prompt + current[:i])[-1] for i in range(len(guess))]
        passes += 1
        if renewed == current:
            return current, passes
        current = renewed


def called_twice(target_greedy, prompt, guess):
    current, passes, first = list(guess), 0, len(prompt) - 1
    while True:
        passes += 1
        if target_greedy(prompt + current)[first : first + len(guess)] == current:
            return current, passes
        current = target_greedy(prompt + current)[first : first + len(guess)]


@pytest.mark.parametrize(
    "loop, why",
    [
        (
            without_prompt,
            r"first call read \[5, 5, 3\]; a pass reads prompt \+ current, \[0, 5, 5, 3",
        ),
        (called_for_every_place, r"first call read \[0\]; a pass reads prompt \+ current"),
        (called_twice, "Two calls in a row read the same tokens: keep what one call returns"),
    ],
)
def test_a_loop_that_reads_something_else_is_told_what_it_reads(loop, why: str):
    with pytest.raises(Different, match=why) as told:
        ch07.check_jacobi_decode(loop)
    assert "slice" not in str(told.value)


def test_a_loop_without_the_prompt_is_told_so_after_grading():
    code = inspect.getsource(without_prompt).replace("def without_prompt", "def jacobi_decode")
    exercise = graded("jacobi_decode", code)
    assert exercise.score == 0 and exercise.groups[0].cause == "the target reads the guess alone."


@pytest.mark.parametrize("name", ["one_hot_accept", "multi_candidate_accept"])
def test_a_boundary_costs_one_behaviour(name: str):
    """`<=` in place of `<` differs with probability 0, and the card says why it is `<`."""
    right = answers_of(CHAPTER)[name]
    code = right.replace("r < p[", "r <= p[").replace("q[token] < ", "q[token] <= ")
    exercise = graded(name, code)
    assert code != right and [each.passed for each in exercise.groups].count(False) == 1


@pytest.mark.parametrize("row", ["p[row - 1], q[row - 1]", "p[row - 1], q[row]"])
def test_a_walk_by_the_row_of_the_node_is_told_so(row: str):
    code = answers_of(CHAPTER)["walk_tree"].replace("p[row], q[row]", row)
    causes = {each.cause for each in graded("walk_tree", code).groups if not each.passed}
    assert causes - {None} == {"row i belongs to node i."}


def walked(row=lambda node: node + 1, in_order=False):
    """The walk, with rows by `row` and coins by node or in the order of use."""
    judge = FUNCTIONS["multi_candidate_accept"]

    def walk_tree(parents, tokens, p, q, r, u):
        written, node, used = [], -1, 0
        while True:
            children = [i for i, parent in enumerate(parents) if parent == node]
            drawn = [tokens[i] for i in children]
            coins = r[used : used + len(drawn)] if in_order else r[children]
            written.append(judge(drawn, p[row(node)], q[row(node)], coins, u))
            if written[-1] not in drawn:
                return written
            place = drawn.index(written[-1])
            node, used = children[place], used + place + 1

    return walk_tree


def test_a_walk_by_rows_or_coins_of_other_nodes_does_not_pass_the_check():
    ch07.check_walk_tree(walked())
    for wrong in (walked(row=lambda node: 0), walked(in_order=True)):
        with pytest.raises(Different):
            ch07.check_walk_tree(wrong)
