"""Chapter 04: unusual answers, its numbers, and the library that it measures with."""

import re
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from classes.chapter_cases import functions_of, text_of, unwritten
from transformers.generation import configuration_utils

from autograde.tools.proof import grade_with, judged
from specdec_lib import theory
from specdec_lib.drafters.lookup import lookup
from specdec_lib.lessons.ch04 import checks as ch04
from specdec_lib.lessons.ch04 import measured
from specdec_lib.lessons.common.examples import Different
from specdec_lib.measure import strategies
from specdec_lib.measure.core.acceptance import model_reader
from specdec_lib.training.short import distil, trainable

CHAPTER = "04_choosing_the_draft"
FUNCTIONS = functions_of(CHAPTER)


@pytest.mark.parametrize(
    "loss, passed, told",
    [
        ("1 - torch.minimum(p, q).sum(-1)", 1, "the mean over all positions"),
        ("(1 - torch.minimum(p, q).sum(-1).mean()).item()", 2, "a tensor of shape ()"),
        ("(p - q).abs().sum(-1).mean().reshape(1) / 2", 3, "its shape is (1,)"),
        ("1 - (p - (p - q).clamp(min=0)).sum(-1).mean()", 4, ""),
        ("torch.from_numpy(abs(p.numpy() - q.numpy()).sum(-1) / 2).mean()", 2, "no gradient"),
    ],
)
def test_losses_of_other_students(loss: str, passed: int, told: str):
    code = "def distillation_loss(t, d):\n    p, q = t.float().softmax(-1), d.float().softmax(-1)\n"
    result = grade_with(CHAPTER, distillation_loss=f"{code}    return {loss}")
    exercise = result.exercises["distillation_loss"]
    assert exercise.passed == passed and told in " ".join(exercise.messages)


RULE = """def best_k(alpha, c, k_max):
    k = 0
    while k < k_max and {}:
        k += 1
    return k"""
DIVIDED = "alpha ** (k + 1) / c > walltime_speedup(alpha, c, k)"


@pytest.mark.parametrize(
    "rule, lost, told",
    [
        ("alpha ** (k + 1) > c * walltime_speedup(alpha, c, k)", 0, ""),
        (DIVIDED, 1, "c is never 0"),
        ("alpha ** k > c * walltime_speedup(alpha, c, k)", 4, "the next one adds alpha^K"),
    ],
)
def test_the_chapters_own_stopping_rule(rule: str, lost: int, told: str):
    exercise = judged(CHAPTER, best_k=RULE.format(rule))["best_k"]
    assert exercise.max_score - exercise.score == lost
    assert told in " ".join(exercise.messages)


def test_the_check_tries_a_draft_that_costs_nothing():
    def divided(alpha, c, k_max):
        k = 0
        while k < k_max and alpha ** (k + 1) / c > FUNCTIONS["walltime_speedup"](alpha, c, k):
            k += 1
        return k

    with pytest.raises(Different, match="ZeroDivisionError"):
        ch04.check_best_k(divided)


def test_the_formulas_are_those_of_the_library():
    drafts = [FUNCTIONS["walltime_speedup"](alpha, 0.1, 4) for alpha in (1, 0.7, 0.3, 0)]
    assert [f"{speed:.2f}" for speed in drafts] == ["3.57", "1.98", "1.02", "0.71"]  # in the text
    for alpha in np.linspace(0, 1, 11):
        for k in range(12):
            speed = FUNCTIONS["walltime_speedup"](alpha, 0.07, k, 1.2)
            assert speed == pytest.approx(theory.walltime_speedup(alpha, 0.07, k, 1.2), abs=1e-12)


def test_a_k_pays_exactly_where_alpha_is_above_c():
    for alpha in np.linspace(0.02, 0.98, 25):
        for c in np.linspace(0.01, 0.99, 29):
            assert (FUNCTIONS["best_k"](alpha, c, 40) > 0) == (alpha > c + 1e-12)


def test_the_lookup_is_that_of_the_library():
    rng = np.random.default_rng(4)
    for _ in range(300):
        tokens = rng.integers(0, 4, rng.integers(0, 14)).tolist()
        k, size = int(rng.integers(0, 6)), int(rng.integers(1, 5))
        assert FUNCTIONS["prompt_lookup"](tokens, k, size) == lookup(tokens, k, size)


def test_the_gradient_worked_out_by_hand_is_autograds():
    p, q = torch.randn(3, 4, 6), torch.randn(3, 4, 6, requires_grad=True)
    FUNCTIONS["distillation_loss"](p, q).backward()
    by_hand = ch04.loss_gradient(p.numpy(), q.detach().numpy())
    np.testing.assert_allclose(q.grad.numpy(), by_hand, rtol=0, atol=1e-6)


def test_predictions_are_held_against_computed_numbers():
    known = {name: truth.value for name, truth in ch04.TRUTHS.items() if truth.value is not None}
    truths = {name: float(f"{value:.3g}") for name, value in known.items()}
    assert truths == {"prediction_04": 2.94, "prediction_04_b": 5}
    assert set(ch04.TRUTHS) - set(truths) == {"prediction_04_c"}  # measured in the chapter
    steep = theory.Costs(0.05, {m: 1 + 0.1 * (m - 1) for m in range(1, 22)})
    assert truths["prediction_04_b"] == steep.best_k(0.8)


def test_numbers_of_the_last_section_stand_in_the_text(capsys):
    ch04.look()
    numbers = re.findall(r"\d\.\d\d\b", capsys.readouterr().out)
    section = text_of(CHAPTER).split("What you may read elsewhere")[1]
    assert len(numbers) > 4 and [number for number in numbers if number not in section] == []


def test_the_defaults_that_the_card_shows_are_those_of_transformers():
    quoted = re.findall(r'^#\s+"(\w+)": "?([\w.]+)"?,$', text_of(CHAPTER), re.MULTILINE)
    source = Path(configuration_utils.__file__).read_text()
    assert len(quoted) == 3 and transformers.__version__ in text_of(CHAPTER)
    for name, value in quoted:
        assert re.search(rf'"{name}": "?{value}"?,', source)


@pytest.fixture(scope="module")
def lab() -> strategies.Laboratory:
    return strategies.Laboratory(positions=600)


def test_the_target_accepts_itself_and_less_of_its_first_layer(lab):
    assert lab.alpha(model_reader(lab.target)) == pytest.approx(1, abs=1e-5)
    assert 0.2 < lab.alpha(model_reader(strategies.first_layers(1))) < 0.45
    assert len(lab.learn) + sum(len(text.ids) for text in lab.unseen) == 111202


def test_a_few_steps_of_distillation_raise_alpha(lab):
    draft = trainable("target", layers=1)
    before = lab.alpha(strategies.module_reader(draft))
    assert len(list(distil(FUNCTIONS["distillation_loss"], draft, lab.target, lab.learn, 8))) == 8
    assert lab.alpha(strategies.module_reader(draft)) > before + 0.03


def test_a_readers_lookup_is_judged_as_all_other_drafts_and_may_be_missing(lab, capsys):
    found = strategies.compared(lab, {}, FUNCTIONS["prompt_lookup"])
    assert list(found) == ["bigram counts", "trigram counts", "your prompt_lookup"]
    assert all(0 < c < alpha < 1 for alpha, c in found.values())
    assert len(strategies.compared(lab, {}, unwritten)) == 2
    assert "Without your prompt_lookup: not written yet" in capsys.readouterr().out


@pytest.mark.parametrize(
    "last, said", [(0.43, "a useless draft has just become a useful one"), (0.33, "stays below")]
)
def test_the_learning_curve_is_read_aloud(last: float, said: str, capsys):
    measured.read_curve({0: 0.31, 40: last}, 0.35)
    assert said in capsys.readouterr().out
