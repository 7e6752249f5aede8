"""Chapter 03: its exact laws, figures and simulator, beyond what every chapter has."""

import re
from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from classes.chapter_cases import functions_of, random_pairs, text_of, unwritten

from autograde.chapters import ch03_tests as hidden
from autograde.chapters import ch03_wrong
from autograde.chapters.expected import ch03_expected
from autograde.chapters.numbers import ch03_numbers
from autograde.tools.proof import grade_with, judged
from specdec_lib.lessons.ch03 import checks as ch03
from specdec_lib.lessons.ch03 import computed, figures, forgery, library, measured, rules
from specdec_lib.lessons.common.examples import Different

CHAPTER = "03_lossless"
TEXT = text_of(CHAPTER)
P, Q = ch03.P, ch03.Q
FUNCTIONS = functions_of(CHAPTER)


def test_messages_show_a_rule_by_its_name():
    with pytest.raises(Different, match=r"\(rule=right_rule, p=np.array\(\[0.375.*returned False"):
        ch03.check_is_lossless(lambda rule, p, q: False)
    wrong = "def is_lossless(rule, p, q):\n    return bool(len(p))"
    exercise = judged(CHAPTER, is_lossless=wrong)["is_lossless"]
    messages = " ".join(exercise.messages)
    assert "is_lossless(rule=from_target, p=np.array([0.375" in messages and "0x" not in messages


def test_predictions_are_held_against_computed_truths():
    millions, share = (ch03.TRUTHS[name].value for name in ("prediction_03", "prediction_03_b"))
    assert computed.noise(P, millions * 1e6) == pytest.approx(1e-4, rel=1e-3)
    assert share == pytest.approx(FUNCTIONS["argmax_draft_law"](*ch03.COINS)[0], abs=1e-12)


def test_rules_as_students_meet_them():
    for rule in (rules.right_rule, rules.sampler_match, *rules.IMPOSTORS):
        law = computed.rule_law(rule, ch03.GRID_P, ch03.GRID_Q)
        assert law.sum() == pytest.approx(1, abs=1e-12)
        off = np.abs(law - ch03.GRID_P).max()
        assert (off > 1e-3) == (rule in rules.IMPOSTORS) and rule.__doc__.endswith(".")
    assert len(rules.IMPOSTORS) == 8 and set(rules.SEEN) <= set(dir(rules))


@pytest.mark.parametrize("name", ["GRID", "ODD", "SPLIT", "QUIET", "TWO", "SAME"])
def test_pairs_of_the_hidden_tests_are_counted_exactly(name: str):
    p, q = getattr(ch03_numbers, name)
    ratios = np.minimum(1, np.divide(p, q, out=np.ones(len(p)), where=q > 0))
    sums = np.cumsum(rules.residual(p, q))
    for values in (64 * ratios, 64 * sums):
        assert np.array_equal(values, np.round(values))
    assert p.sum() == q.sum() == 1


def test_a_pair_off_the_grid_is_told_to_who_changes_the_numbers():
    assert ch03_expected.lossless(rules.right_rule, *ch03_numbers.ODD)
    with pytest.raises(ValueError, match="right_rule decides inside a square .* multiples of 1/64"):
        ch03_expected.lossless(rules.right_rule, P, Q)


def test_what_is_expected_of_warp_is_what_the_card_says():
    probs = [0.5, 0.25, 0.125, 0.125]
    np.testing.assert_allclose(ch03_expected.warped(np.log(probs), 1, 3), probs)
    law = ch03_expected.warped(np.log(probs), 1, 2, 0.7)
    np.testing.assert_allclose(law, [2 / 3, 1 / 3, 0, 0])
    assert ch03_expected.warped(np.log(probs), 1, 2, 0.6).tolist() == [1, 0, 0, 0]
    assert ch03_expected.warped(np.zeros(4), 1, None, 0.5).tolist() == [0.5, 0.5, 0, 0]
    assert ch03_expected.warped(np.array([1.0, 3, 3]), 0).tolist() == [0, 1, 0]


def test_grid_and_formula_agree_on_mixed_up_drafts():
    p, q = ch03.GRID_P, ch03.GRID_Q
    law, accepted = computed.mixed_up(p, q, q)
    assert np.abs(law - p).max() < 1e-12 and accepted == pytest.approx(np.minimum(p, q).sum())
    one_hot = np.eye(4)[np.argmax(q)]
    broken, _ = computed.mixed_up(p, q, one_hot)
    assert np.abs(broken - FUNCTIONS["argmax_draft_law"](p, q)).max() < 1e-12
    counted = computed.rule_law(lambda p, _, *rest: rules.right_rule(p, q, *rest), p, one_hot)
    assert np.abs(broken - counted).max() < 1e-12


@pytest.mark.parametrize("knob, values", [("lenient", (1, 0.7, 0.3)), ("mixture", (1, 0.6, 0.1))])
def test_a_point_of_acceptance_costs_a_point_of_total_variation(knob: str, values: tuple):
    for p, q in random_pairs(60, seed=33):
        for value in values:
            law, accepted = getattr(computed, knob)(p, q, value)
            gained = accepted - np.minimum(p, q).sum()
            assert law.sum() == pytest.approx(1, abs=1e-9)
            assert FUNCTIONS["total_variation"](law, p) == pytest.approx(gained, abs=1e-9)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_law_of_whole_texts(k: int):
    plain = computed.plain_law(ch03.TARGET, 3)
    assert plain.sum() == pytest.approx(1, abs=1e-12)
    law = computed.text_law(ch03.TARGET, ch03.DRAFT, k, 3)
    assert np.abs(law - plain).max() < 1e-12
    stale = computed.text_law(ch03.TARGET, ch03.DRAFT, k, 3, stale=True)
    assert (np.abs(stale - plain).max() > 1e-3) == (k < 3)


def test_bfloat16_rounds_to_nearest_even():
    values = np.random.default_rng(0).normal(size=1000).astype(np.float32)
    values[:2] = 1 + 2**-8, 1 + 3 * 2**-8
    rounded = torch.from_numpy(values).bfloat16().float().numpy()
    assert np.array_equal(computed.bfloat16(values), rounded)


def test_numbers_that_the_text_prints():
    pairs = ((p, FUNCTIONS["argmax_draft_law"](p, q)) for p, q in ch03.ARGMAX_PAIRS)
    distances = [round(float(np.abs(law - p).sum() / 2), 3) for p, law in pairs]
    assert distances == [0.333, 0.15, 0.367]
    assert f"{(P * Q).sum():.3f}" == "0.305" and (P / Q).max() == pytest.approx(2)
    assert round(computed.noise(P, 200_000), 4) == 0.0014
    even = [computed.noise(np.full(v, 1 / v), 200_000) for v in (8, 32)]
    assert [round(x, 3) for x in even] == [0.002, 0.005]
    warp, flat = FUNCTIONS["warp"], (ch03.FLAT_TARGET, ch03.FLAT_DRAFT)
    p, drawn = (warp(logits, 1.0, 4) for logits in flat)
    law, accepted = computed.mixed_up(p, warp(ch03.FLAT_DRAFT), drawn)
    assert accepted == pytest.approx(1) and round(float(np.abs(law - p).sum() / 2), 3) == 0.155


def test_the_chapters_own_pair_is_counted_exactly_with_its_own_number_of_squares():
    judge = FUNCTIONS["is_lossless"]
    for rule in (rules.right_rule, rules.published_rule, rules.sampler_match):
        assert judge(rule, P, Q, 60) and np.abs(computed.rule_law(rule, P, Q, 60) - P).max() < 1e-12
    assert not judge(rules.one_coin, P, Q, 60) and not judge(rules.from_target, P, Q, 60)


@pytest.mark.parametrize("rule", library.RULES, ids=lambda rule: rule.__name__)
def test_the_installed_library_is_counted(rule):
    """The library's code is called on every draft token and coin; no number is drawn."""
    law = computed.rule_law(rule, P, Q, cells=420)
    lossy = rule is library.library_argmax
    gives = FUNCTIONS["argmax_draft_law"](P, Q) if lossy else P
    assert np.abs(law - gives).max() < 1e-12


def test_the_library_decides_itself(monkeypatch):
    """A bug put into the installed function is seen, so the adapter does not stand in for it."""
    from transformers.generation import utils

    def keeps_all(ids, *rest, **more):
        torch.multinomial(torch.ones(1, 4), num_samples=1)
        return ids, torch.tensor(1)

    monkeypatch.setattr(utils, "_speculative_sampling", keeps_all)
    assert np.abs(computed.rule_law(library.library_rule, P, Q, 60) - Q).max() < 1e-12


def test_the_search_over_rules_finds_the_bound():
    for p, q in ch03.RULE_PAIRS:
        most = computed.exact_rules(p, q, 60)[:, 2].max()
        assert most == pytest.approx(FUNCTIONS["acceptance_rate"](p, q), abs=1e-9)
    for p, q in random_pairs(30, seed=5):
        gaps = [by_p - by_q for _, by_p, by_q in computed.questions(p, q)]
        assert max(gaps, default=0) == pytest.approx(FUNCTIONS["total_variation"](p, q), abs=1e-9)


def forger(squares: int):
    """A rule that writes token 2 in the first `squares` squares of the first row of the grid."""

    def impostor(p, q, tokens, r, u):
        forged = (r < 1 / 64) & (u < squares / 64)
        return np.where(forged, 2, rules.right_rule(p, q, tokens, r, u))

    return SimpleNamespace(impostor=impostor)


def test_an_impostor_earns_more_the_more_it_hides():
    for squares, why in ((0, "nothing is forged"), (7, "sampling can see it")):
        with pytest.raises(Different, match=why):
            hidden.forged(forger(squares), seed=0)
    found = [hidden.forged(forger(squares), seed=0) for squares in (1, 3, 6)]
    for least, right in ((forgery.LEAST, found[1:]), (forgery.LARGE, found[2:])):
        for each in found:
            if each in right:
                hidden.at_least(least, each)
            else:
                with pytest.raises(Different, match="hides, with a bias of"):
                    hidden.at_least(least, each)


def in_form(form: Callable):
    """One of these rules, whose tokens come back in another form."""
    return lambda *given: form(forger(6).impostor(*given))


def test_tokens_of_an_impostor_are_read_from_any_form():
    known = forgery.examined(forger(6).impostor)
    for form in (np.ndarray.tolist, tuple, np.float32, np.uint8):
        assert forgery.examined(in_form(form)) == known
    for form in (sum, str, lambda x: x + 0.5, lambda x: x * np.nan, lambda x: [*x, 0]):
        with pytest.raises(Different, match=r"returned .*, expected an array of 16,384 whole"):
            forgery.examined(in_form(form))
    with pytest.raises(Different, match="expected tokens from 0 to 3"):
        forgery.examined(in_form(lambda x: x - 1.0))


def test_an_impostor_that_decides_inside_a_square_is_told_so():
    for border in (0.006, 0.01, 0.0143):  # at 0.38, 0.64 and 0.92 of the first square

        def impostor(p, q, tokens, r, u, border=border):
            return np.where((r < border) & (u < 0.5), 2, rules.right_rule(p, q, tokens, r, u))

        assert "multiples of 1/64" in forgery.fault_of(forgery.examined(impostor))


FORGED = """def impostor(p, q, tokens, r, u):
    return np.where((r < 1 / 64) & (u < 10 / 64), 2, right_rule(p, q, tokens, r, u))"""
ONE_PLACE = """def impostor(p, q, tokens, r, u):
    out = right_rule(p, q, tokens, r, u)
    out[[0, -1]] = 2
    return out"""


@pytest.mark.parametrize("code", [FORGED, ONE_PLACE], ids=["ten squares", "one place"])
def test_what_is_no_forgery_earns_nothing_and_is_told_no_thought(code: str):
    exercise = judged(CHAPTER, impostor=code)["impostor"]
    assert exercise.score == 0 and [each.cause for each in exercise.groups] == [None] * 3


LAW = """def argmax_draft_law(p, q):
    token = np.argmax(q)
    a = min(1.0, p[token] / q[token])
    law = np.zeros(len(p))
    if a < 1:
        law += {corrected}
    law[token] += a
    return {returned}"""
MISSING = "np.maximum(p - q, 0)"
SLIPS = {
    "the largest difference of": "def total_variation(p, q):\n    return float(max(p - q))",
    "the residual is what comes": LAW.format(
        corrected=f"{MISSING} / {MISSING}.sum()", returned="law"
    ),
    "the correction brings": LAW.format(corrected=MISSING, returned="law"),
    "a law that does not sum to": LAW.format(corrected=MISSING, returned="law / law.sum()"),
}


@pytest.mark.parametrize("cause", SLIPS)
def test_likely_slips_are_told_apart(cause: str):
    name = "total_variation" if cause == "the largest difference of" else "argmax_draft_law"
    first, *_ = judged(CHAPTER, **{name: SLIPS[cause]})[name].groups
    assert first.cause.startswith(cause)


@pytest.mark.parametrize(
    "wrong, misled",
    [
        (ch03_wrong.largest_excess, "signs"),
        (ch03_wrong.diagonal_only, "weigh"),
    ],
)
def test_a_check_does_not_ask_about_another_mistake(wrong: Callable, misled: str):
    check = ch03.check_total_variation if misled == "signs" else ch03.check_is_lossless
    with pytest.raises(Different) as error:
        check(wrong)
    assert misled not in str(error.value)


def test_a_law_that_does_not_sum_to_1_is_told_its_sum():
    with pytest.raises(Different, match="1.83"):
        ch03.check_argmax_draft_law(ch03_wrong.rejected_share_forgotten)


@pytest.mark.parametrize(
    "returns, said", [("0 if r < 1 / 64 else 1", "raised ValueError"), ("tokens", "Counted, it is")]
)
def test_the_same_error_is_said_once(returns: str, said: str):
    wrong = f"def impostor(p, q, tokens, r, u):\n    return {returns}"
    first, *others = grade_with(CHAPTER, impostor=wrong).exercises["impostor"].messages
    assert said in first and len(others) == 2
    assert all(said not in message and len(message) < 60 for message in others)


def test_what_the_card_of_the_impostor_says():
    card = TEXT[TEXT.index("### Exercise: impostor") :].split("# %%")[0]
    assert f"{forgery.FLOOR_SAID}, the noise" in card and float(forgery.FLOOR_SAID) < forgery.FLOOR
    assert forgery.FLOOR_SAID in forgery.short_of(forgery.Forgery(1e-4, 0, 0), forgery.LEAST)
    assert f"{forgery.LEAST}" in card and f"{forgery.LARGE}" in card
    one = forgery.examined(forger(1).impostor)
    assert f"{one.counted:.5f}" in card and forgery.fault_of(one) is None


def test_a_run_that_looks_wrong_by_luck_is_said_to_be_luck(capsys):
    measured.draw_and_compare()
    assert "or more in 6% of all runs" in capsys.readouterr().out


def test_three_conditions(capsys):
    figures.three_conditions(P, Q)
    rows = capsys.readouterr().out.splitlines()[1:]
    assert [row[50:58].strip() for row in rows] == ["0.0000"] * 3
    assert all(float(row.rsplit(" ", 1)[1]) > 0.05 for row in rows)


def test_a_sample_is_held_against_the_exact_numbers(capsys):
    measured.draw_and_compare()
    assert "exactly 0.80" in capsys.readouterr().out


def test_the_four_witnesses(capsys):
    figures.witnesses(FUNCTIONS["two_paths"], FUNCTIONS["is_lossless"])
    out = capsys.readouterr().out
    assert out.count("holds") == 4 and "impostors seen: 8 of 8" in out
    figures.witnesses(lambda p, q: (p, p), lambda rule, p, q: True)
    assert capsys.readouterr().out.count("FAILS") == 2
    figures.witnesses(unwritten, unwritten)
    assert "Write it first" in capsys.readouterr().out


def test_rounding_and_one_seed(capsys):
    ch03.rounding(vocab_size=1000)
    errors = [float(x) for x in re.findall(r"off by TV (\S+)", capsys.readouterr().out)]
    assert errors[0] < 1e-6 and 1e-4 < errors[1] < 1e-1 and errors[2] < 1e-12
    plain, speculative = ch03.one_seed(P, Q, tokens=20)
    assert len(plain) == len(speculative) == 20 and plain != speculative


def test_no_model_is_loaded():
    assert "import torch" not in TEXT and "transformers" not in re.findall(r"import (\w+)", TEXT)
