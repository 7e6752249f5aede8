"""Chapter 03: its exact distributions, figures and impostors, beyond what every chapter has."""

import re

import numpy as np
import pytest
import torch
from classes.chapter_cases import functions_of, random_pairs, text_of, unwritten

from autograde.chapters import ch03_tests as hidden
from autograde.tools.proof import judged
from specdec_lib import exact
from specdec_lib.lessons.ch03 import checks as ch03
from specdec_lib.lessons.ch03 import computed, figures, forgery, library, measured, rules

CHAPTER = "03_lossless"
TEXT = text_of(CHAPTER)
P, Q = ch03.P, ch03.Q
FUNCTIONS = functions_of(CHAPTER)


def test_predictions_are_held_against_computed_truths():
    millions, share = (ch03.TRUTHS[name].value for name in ("prediction_03", "prediction_03_b"))
    assert computed.noise(P, millions * 1e6) == pytest.approx(1e-4, rel=1e-3)
    assert share == pytest.approx(FUNCTIONS["argmax_draft_law"](*ch03.COINS)[0], abs=1e-12)


def test_rules_as_students_meet_them():
    for rule in (rules.right_rule, rules.sampler_match, *rules.IMPOSTORS):
        off = np.abs(computed.counted(rule, ch03.GRID_P, ch03.GRID_Q) - ch03.GRID_P).max()
        assert (off > 1e-3) == (rule in rules.IMPOSTORS) and rule.__doc__.endswith(".")
    assert len(rules.IMPOSTORS) == 8 and set(rules.SEEN) <= set(dir(rules))


@pytest.mark.parametrize("name", ["GRID", "ODD", "SPLIT", "QUIET", "TWO"])
def test_pairs_of_the_hidden_tests_are_counted_exactly(name: str):
    p, q = getattr(hidden, name)
    ratios = np.minimum(1, np.divide(p, q, out=np.ones(len(p)), where=q > 0))
    sums = np.cumsum(rules.residual(p, q))
    for values in (64 * ratios, 64 * sums):
        assert np.array_equal(values, np.round(values))
    assert p.sum() == q.sum() == 1


def test_grid_and_formula_agree_on_mixed_up_drafts():
    p, q = ch03.GRID_P, ch03.GRID_Q
    law, accepted = computed.mixed_up(p, q, q)
    assert np.abs(law - p).max() < 1e-12 and accepted == pytest.approx(np.minimum(p, q).sum())
    one_hot = np.eye(4)[np.argmax(q)]
    broken, _ = computed.mixed_up(p, q, one_hot)
    assert np.abs(broken - FUNCTIONS["argmax_draft_law"](p, q)).max() < 1e-12
    counted = computed.counted(lambda p, _, *rest: rules.right_rule(p, q, *rest), p, one_hot)
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
def test_whole_texts_have_the_distribution_of_the_target(k: int):
    plain = computed.texts(ch03.TARGET, ch03.DRAFT, 0, 3)
    assert plain[2, 2, 1] == pytest.approx(
        ch03.TARGET[-1, 2] * ch03.TARGET[2, 2] * ch03.TARGET[2, 1]
    )
    found = computed.texts(ch03.TARGET, ch03.DRAFT, k, 3)
    assert sum(found.values()) == pytest.approx(1) and exact.distance(found, plain) < 1e-12
    stale = computed.texts(ch03.TARGET, ch03.DRAFT, k, 3, stale=True)
    assert (exact.distance(stale, plain) > 1e-3) == (k < 3)


def test_numbers_that_the_text_prints():
    assert f"{(P * Q).sum():.3f}" == "0.305" and f"{computed.noise(P, 200_000):.5f}" == "0.00144"
    warp, flat = FUNCTIONS["warp"], (ch03.FLAT_TARGET, ch03.FLAT_DRAFT)
    p, drawn = (warp(logits, 1.0, 4) for logits in flat)
    law, accepted = computed.mixed_up(p, warp(ch03.FLAT_DRAFT), drawn)
    assert accepted == pytest.approx(1) and round(float(np.abs(law - p).sum() / 2), 3) == 0.155


@pytest.mark.parametrize("rule", library.RULES, ids=lambda rule: rule.__name__)
def test_the_installed_library_is_counted(rule):
    """The library's code is called on every draft token and coin; no number is drawn."""
    law = computed.counted(rule, P, Q, cells=420)
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
    assert np.abs(computed.counted(library.library_rule, P, Q, 60) - Q).max() < 1e-12


def test_the_search_over_rules_finds_the_bound():
    for p, q in ch03.RULE_PAIRS:
        most = computed.exact_rules(p, q, 60)[:, 2].max()
        assert most == pytest.approx(FUNCTIONS["acceptance_rate"](p, q), abs=1e-9)
    for p, q in random_pairs(30, seed=5):
        gaps = [by_p - by_q for _, by_p, by_q in computed.questions(p, q)]
        assert max(gaps, default=0) == pytest.approx(FUNCTIONS["total_variation"](p, q), abs=1e-9)


FORGED = """def impostor(p, q, tokens, r, u):
    return np.where((r < 1 / 64) & (u < {} / 64), 2, right_rule(p, q, tokens, r, u))"""
ONE_PLACE = """def impostor(p, q, tokens, r, u):
    out = right_rule(p, q, tokens, r, u)
    out[[0, -1]] = 2
    return out"""


@pytest.mark.parametrize(
    "code, points",
    [
        *((FORGED.format(n), x) for n, x in ((1, 2), (2, 3), (6, 4), (7, 0), (10, 0))),
        (ONE_PLACE, 0),
    ],
)
def test_an_impostor_earns_more_the_more_it_hides(code: str, points: int):
    assert judged(CHAPTER, impostor=code)["impostor"].score == points


def test_what_the_card_of_the_impostor_says():
    card = TEXT[TEXT.index("### Exercise: impostor") :].split("# %%")[0]
    assert f"{forgery.FLOOR_SAID}, the noise" in card and float(forgery.FLOOR_SAID) < forgery.FLOOR
    assert forgery.FLOOR_SAID in forgery.short_of(forgery.Forgery(1e-4, 0, 0), forgery.LEAST)
    assert f"{forgery.LEAST}" in card and f"{forgery.LARGE}" in card
    names = {"np": np, "right_rule": rules.right_rule}
    exec(FORGED.format(1), names)
    one = forgery.examined(names["impostor"])
    assert f"{one.counted:.5f}" in card and forgery.fault_of(one) is None


def test_three_conditions(monkeypatch):
    frames = []
    monkeypatch.setattr(figures, "table", lambda frame, *rest, **how: frames.append(frame))
    figures.three_conditions(P, Q)
    assert list(frames[0]["kept"]) == [0, 0, 0] and frames[0]["broken"].min() > 0.05


def test_a_sample_is_held_against_the_exact_numbers_and_luck_is_said_to_be_luck(capsys):
    measured.draw_and_compare()
    out = capsys.readouterr().out
    assert "exactly 0.80" in out and "or more in 6% of all runs" in out


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
