"""Chapter 04: unusual answers, its numbers, and the library that it measures with."""

import re

import numpy as np
import pytest
import torch
from classes.chapter_cases import functions_of, unwritten

from autograde.tools.gates import grade_with, judge_answers
from specdec_lib import theory
from specdec_lib.assets import ASSETS
from specdec_lib.drafters.ngram import Counts, NgramDrafter
from specdec_lib.lessons.ch04 import lesson
from specdec_lib.measure import strategies
from specdec_lib.training.short import distil, trainable

CHAPTER = "04_choosing_the_draft"
FUNCTIONS = functions_of(CHAPTER)


NUMBER = """def distillation_loss(t, d):
    p, q = t.float().softmax(-1), d.float().softmax(-1)
    return (1 - torch.minimum(p, q).sum(-1).mean()).item()"""


def test_a_loss_that_is_a_number_keeps_the_groups_that_ask_for_its_value():
    exercise = grade_with(CHAPTER, distillation_loss=NUMBER).exercises["distillation_loss"]
    assert exercise.passed == 2 and "a tensor of shape ()" in " ".join(exercise.messages)


RULE = """def best_k(alpha, c, v):
    k = 0
    while k < len(v) - 1 and alpha ** (k + 1) {} walltime_speedup(alpha, c, k, v[k]):
        k += 1
    return k"""
COST = "(c + v[k + 1] - v[k])"


@pytest.mark.parametrize(
    "rule, lost, told", [(f"> {COST} *", 2, "one top"), (f"/ {COST} >", 3, "c is never 0")]
)
def test_the_stopping_rule_ends_before_a_jump(rule: str, lost: int, told: str):
    exercise = judge_answers(CHAPTER, best_k=RULE.format(rule))["best_k"]
    assert exercise.max_score - exercise.score == lost
    assert re.search(told, "".join(exercise.messages))


def test_the_text_has_the_speeds_of_a_perfect_draft_and_of_a_useless_one():
    speedup = FUNCTIONS["walltime_speedup"]
    in_text = [round(speedup(alpha, 0.1, 4), 2) for alpha in (1, 0.7, 0.3, 0)]
    assert in_text == [3.57, 1.98, 1.02, 0.71]


def test_the_gradient_worked_out_by_hand_is_autograds():
    p, q = torch.randn(3, 4, 6), torch.randn(3, 4, 6, requires_grad=True)
    FUNCTIONS["distillation_loss"](p, q).backward()
    by_hand = lesson.loss_gradient(p.numpy(), q.detach().numpy())
    np.testing.assert_allclose(q.grad.numpy(), by_hand, rtol=0, atol=1e-6)


def test_predictions_are_held_against_computed_numbers():
    steep = theory.Costs(0.05, {m: 1 + 0.1 * (m - 1) for m in range(1, 22)})
    values = [theory.expected_tokens(0.7, 5), steep.best_k(0.8), None]  # the last is measured
    assert [truth.value for truth in lesson.TRUTHS.values()] == pytest.approx(values)


@pytest.fixture(scope="module")
def lab() -> strategies.DraftBenchmark:
    return strategies.DraftBenchmark(positions=150)


def test_a_few_steps_of_distillation_raise_alpha(lab):
    draft = trainable("target", layers=1)
    before = lab.alpha(strategies.module_reader(draft))
    assert len(list(distil(FUNCTIONS["distillation_loss"], draft, lab.target, lab.learn, 4))) == 4
    assert lab.alpha(strategies.module_reader(draft)) > before + 0.03


def test_a_readers_lookup_is_judged_as_other_drafts_and_may_be_missing(lab, capsys, monkeypatch):
    counted = NgramDrafter(Counts.load(ASSETS / "ngrams.npz"), 2)  # once: that takes a second
    monkeypatch.setattr(strategies, "NgramDrafter", lambda counts, order: counted)
    monkeypatch.setattr(strategies, "PASS_ROUNDS", 3)
    found = strategies.compare_drafts(lab, {}, FUNCTIONS["prompt_lookup"])
    assert list(found) == ["bigram counts", "trigram counts", "your prompt_lookup"]
    assert all(0 < alpha < 1 and costs.c > 0 for alpha, costs in found.values())
    assert len(strategies.compare_drafts(lab, {}, unwritten)) == 2
    assert "Without your prompt_lookup: not written yet" in capsys.readouterr().out
