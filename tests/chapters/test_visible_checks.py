"""The visible checks see the known wrong answers: all but those that stand here with a reason.

`pytest -s` prints the share that each chapter's checks see.
"""

import contextlib
import io
from dataclasses import replace

import pytest
from classes.chapter_cases import CHAPTERS, functions_of, lesson_of

from autograde.wrong import Misconception, misconceptions_of

LATER = "no example of the check shows it yet"
# What no visible check shows, by chapter, and why it is left to the hidden tests.
HIDDEN: dict[str, dict[str, str]] = {
    "01_draft_then_verify": {
        "draft_block.last_token_only": LATER,
        "score_block.prefix_forgotten": LATER,
        "greedy_prefix.ties_both_ways": LATER,
        "greedy_speculative_decode.no_bonus": LATER,
    },
    "02_rejection_sampling": {
        "speculative_accept.impossible_token_kept": LATER,
        "speculative_accept.strict_comparison": LATER,
        "speculative_step.bonus_from_draft": LATER,
        "speculative_step.stale_bonus_row": LATER,
        "speculative_step.residual_of_first_row": LATER,
        "speculative_step.rest_of_the_draft_kept": LATER,
    },
    "03_lossless": {
        "argmax_draft_law.no_cap": LATER,
        "argmax_draft_law.last_of_equals": LATER,
        "warp.temperature_last": LATER,
        "warp.mass_before_top_k": LATER,
        "warp.overflowing_softmax": LATER,
        "warp.small_instead_of_zero": LATER,
        "warp.negative_let_through": LATER,
        "is_lossless.by_sampling": LATER,
        "is_lossless.below_a_thousandth": LATER,
        "is_lossless.at_the_corners": LATER,
    },
    "04_choosing_the_draft": {
        "best_k.compared_exactly": LATER,
        "prompt_lookup.shortest_first": LATER,
        "prompt_lookup.no_overlap": LATER,
        "distillation_loss.narrow": LATER,
    },
    "05_results": {
        "operations_factor.closed_formula": LATER,
        "implied_alpha.on_a_grid": LATER,
        "implied_alpha.ends_by_rounding": LATER,
        "paired_speedup.product_first": LATER,
    },
    "06_simulator": {
        "simulate_block.boundary_accepted": LATER,
        "lockstep_tokens.closed_form_alone": LATER,
    },
    "07_connections": {
        "one_hot_accept.certain_not_strict": LATER,
        "multi_candidate_accept.candidates_against_p": LATER,
        "multi_candidate_accept.candidates_one_coin": LATER,
        "multi_candidate_accept.candidates_sorted": LATER,
        "multi_candidate_accept.candidates_without_replacement": LATER,
        "multi_candidate_accept.candidates_not_strict": LATER,
        "map_draft.mapped_uniform_without_overlap": LATER,
    },
    "08_full_generation": {
        "verify_block.no_coin": LATER,
        "verify_block.greedy_match": LATER,
        "verify_block.one_uniform_reused": LATER,
        "verify_block.coin_used_again": LATER,
        "verify_block.not_normalised": LATER,
        "verify_block.small_residual_dropped": LATER,
        "verify_block.uniform_where_empty": LATER,
        "verify_block.bonus_from_the_draft": LATER,
        "verify_block.bonus_less_the_last_row": LATER,
        "verify_block.residual_in_half_precision": LATER,
        "verify_block.in_single_precision": LATER,
        "verify_block.no_guard": LATER,
        "verify_block.loop_over_rows": LATER,
        "speculative_generate.numbers_at_temperature_0": LATER,
        "speculative_generate.draft_law_before_its_temperature": LATER,
        "speculative_generate.numbers_for_k": LATER,
    },
}


def is_seen(chapter: str, wrong: Misconception) -> bool:
    """Whether the exercise's visible check refuses a wrong answer."""
    check = getattr(lesson_of(chapter), f"check_{wrong.exercise}")
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            check(wrong.function)
        except Exception:
            return True
    return False


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_visible_check_sees_every_misconception_but_those_with_a_reason(chapter: str):
    known = misconceptions_of(chapter).all
    unseen = [f"{each.exercise}.{each.name}" for each in known if not is_seen(chapter, each)]
    print(f"{chapter}: {len(known) - len(unseen)} of {len(known)} are seen by the visible checks")
    assert sorted(unseen) == sorted(HIDDEN.get(chapter, {}))


def test_a_check_that_sees_nothing_would_be_noticed():
    chapter = CHAPTERS[0]
    (first, *_) = misconceptions_of(chapter).all
    assert is_seen(chapter, first)
    right = functions_of(chapter)[first.exercise]
    assert not is_seen(chapter, replace(first, function=right))
