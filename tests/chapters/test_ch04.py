"""Chapter 04: its lesson, its figures, its simulator, and the library that it measures with."""

import itertools
import re
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from classes.chapter_cases import ROW, functions_of, text_of, unwritten
from classes.submitting import bug_of
from transformers.generation import configuration_utils

from autograde.chapter import SOLUTIONS
from autograde.chapters import ch04_wrong
from autograde.tools.proof import grade_with, judged
from specdec_lib import theory
from specdec_lib.assets import ASSETS
from specdec_lib.drafters.lookup import lookup
from specdec_lib.lessons.ch04 import checks as ch04
from specdec_lib.lessons.ch04 import measured
from specdec_lib.lessons.ch04.computed import best_steep, loss_gradient
from specdec_lib.lessons.common.examples import Different
from specdec_lib.measure import strategies
from specdec_lib.measure.core.acceptance import model_reader
from specdec_lib.models.catalogue import PUBLISHED
from specdec_lib.models.llama import Llama
from specdec_lib.training.short import distil, trainable

CHAPTER = "04_choosing_the_draft"
FUNCTIONS = functions_of(CHAPTER)


LOSS = "def distillation_loss(t, d):\n    p, q = t.float().softmax(-1), d.float().softmax(-1)\n"


@pytest.mark.parametrize(
    "last, passed, told",
    [
        ("return 1 - torch.minimum(p, q).sum(-1)", 1, "the mean over all positions"),
        ("return (1 - torch.minimum(p, q).sum(-1).mean()).item()", 2, "a tensor of shape ()"),
        ("return (p - q).abs().sum(-1).mean().reshape(1) / 2", 3, "its shape is (1,)"),
        ("return (p - q).abs().sum(-1).mean() / 2", 4, ""),
        ("return 1 - (p - (p - q).clamp(min=0)).sum(-1).mean()", 4, ""),
        ("return torch.tensor(1 - torch.minimum(p, q).sum(-1).mean().item())", 2, "no gradient"),
        (
            "return torch.from_numpy(np.abs(p.numpy() - q.numpy()).sum(-1) / 2).mean()",
            2,
            "no gradient",
        ),
    ],
    ids=["per position", "a float", "one row", "L1", "clamp", "new tensor", "NumPy"],
)
def test_losses_of_other_students(last: str, passed: int, told: str):
    result = grade_with(CHAPTER, distillation_loss=f"{LOSS}    {last}")
    exercise = result.exercises["distillation_loss"]
    assert exercise.passed == passed and told in " ".join(exercise.messages)


def test_the_chapters_own_stopping_rule_earns_all_points():
    code = """def best_k(alpha, c, k_max):
    k = 0
    while k < k_max and alpha ** (k + 1) / c > walltime_speedup(alpha, c, k):
        k += 1
    return k"""
    exercise = judged(CHAPTER, best_k=code)["best_k"]
    assert exercise.score == exercise.max_score


def test_the_second_latest_occurrence_is_not_the_earliest():
    """In every group that the second latest fails, a case tells it from the earliest."""
    code = bug_of("prompt_lookup", "the last of all occurrences", CHAPTER)
    exercise = judged(CHAPTER, prompt_lookup=code)["prompt_lookup"]
    causes = [each.cause for each in exercise.groups if not each.passed]
    assert len(causes) == 3 and all(c.startswith("the last of all occurrences") for c in causes)


def test_the_check_tells_a_row_that_does_not_sum_to_1():
    def divided_by_1_at_least(tokens, vocab_size, smoothing=1.0):
        counts = ch04_wrong._pairs(tokens, vocab_size, smoothing)
        sums = counts.sum(axis=1, keepdims=True)
        return np.where(sums > 0, counts / np.maximum(sums, 1), 1 / vocab_size)

    for wrong in (divided_by_1_at_least, ch04_wrong.columns_normalised):
        with pytest.raises(Different, match="A row sums to 0.*, and not to 1.$"):
            ch04.check_bigram_probs(wrong)


def test_a_loss_by_numpy_is_told_of_its_gradient_for_narrow_logits_too():
    code = """def distillation_loss(target_logits, draft_logits):
    p, q = target_logits.softmax(-1), draft_logits.softmax(-1)
    return torch.tensor(1 - np.minimum(p.detach().numpy(), q.detach().numpy()).sum(-1).mean())"""
    exercise = grade_with(CHAPTER, distillation_loss=code).exercises["distillation_loss"]
    causes = {each.name: each.cause for each in exercise.groups if not each.passed}
    assert causes["float32 or better for narrow logits"] == "the value is right, so the loss is."


def test_the_formulas_are_those_of_the_library():
    for alpha in np.linspace(0, 1, 11):
        for k in range(12):
            tokens = FUNCTIONS["expected_tokens"](alpha, k)
            assert tokens == pytest.approx(theory.expected_tokens(alpha, k), abs=1e-12)
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
    by_hand = loss_gradient(p.numpy(), q.detach().numpy())
    np.testing.assert_allclose(q.grad.numpy(), by_hand, rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    "wrong, told",
    [
        (ch04_wrong.no_gradient, "no gradient flows"),
        (ch04_wrong.softmax_of_the_first_axis, "the last axis"),
        (lambda p, q: 1 - torch.minimum(p.softmax(-1), q.softmax(-1)).sum(-1), "the mean over all"),
    ],
)
def test_the_check_of_the_loss_names_what_is_wrong(wrong, told: str):
    with pytest.raises(Different) as caught:
        ch04.check_distillation_loss(wrong)
    assert told in str(caught.value)


def test_predictions_are_held_against_computed_numbers():
    known = {name: truth.value for name, truth in ch04.TRUTHS.items() if truth.value is not None}
    truths = {name: float(f"{value:.3g}") for name, value in known.items()}
    assert truths == {"prediction_04": 2.94, "prediction_04_b": 0.714, "prediction_04_c": 5}
    assert set(ch04.TRUTHS) - set(truths) == {"prediction_04_d"}  # measured in the chapter
    assert truths["prediction_04_c"] == best_steep(0.8, 0.05, 0.1, 20)


def test_numbers_of_the_errata_stand_in_the_text(capsys):
    ch04.look()
    printed = capsys.readouterr().out
    section = (SOLUTIONS / f"{CHAPTER}.py").read_text().split("What you may read elsewhere")[1]
    numbers = [word for line in printed.splitlines() for word in line.rsplit(":", 1)[1].split()]
    text = section.split("## The race again")[0]
    assert [number for number in numbers if number not in text] == [] and len(numbers) == 5


def test_the_table_uses_the_students_function(capsys):
    measured.table_of_drafts({"small": ROW}, FUNCTIONS["walltime_speedup"])
    out = capsys.readouterr().out
    assert "0.600  0.100" in out and "K = 3: 1.67" in out and "K = 2: 1.45" in out
    measured.table_of_drafts({"small": ROW}, unwritten)
    assert "Write it first" in capsys.readouterr().out


def test_pairs_are_listed_with_vocabularies_of_one_size(capsys):
    measured.table_of_pairs(PUBLISHED)
    lines = capsys.readouterr().out.splitlines()[1:]
    assert len(lines) == sum(len(pair["drafts"]) for pair in PUBLISHED["pairs"].values())
    qwen = next(line for line in lines if line.startswith("Qwen/Qwen3-32B"))
    assert "32.76B, 0.60B" in qwen and " 55 " in qwen and "151936 151936" in qwen


def test_the_defaults_that_the_card_shows_are_those_of_transformers():
    """The card of best_k quotes lines of configuration_utils.py."""
    quoted = re.findall(r'^#\s+"(\w+)": "?([\w.]+)"?,$', text_of(CHAPTER), re.MULTILINE)
    source = Path(configuration_utils.__file__).read_text()
    assert len(quoted) == 3 and transformers.__version__ in text_of(CHAPTER)
    for name, value in quoted:
        assert re.search(rf'"{name}": "?{value}"?,', source)


@pytest.fixture(scope="module")
def lab() -> strategies.Laboratory:
    return strategies.Laboratory(positions=600)


def test_the_target_accepts_itself_and_halves_do_not_overlap(lab):
    assert lab.alpha(model_reader(lab.target)) == pytest.approx(1, abs=1e-5)
    unseen = {text.name for text in lab.unseen}
    assert len(lab.learn) + sum(len(text.ids) for text in lab.unseen) == 111202
    assert len(unseen) == 17


def test_all_layers_of_a_cut_model_are_the_model_and_one_is_less(lab):
    whole, first = strategies.first_layers(4), strategies.first_layers(1)
    tokens = torch.tensor([lab.learn[:20]])
    expected = lab.target.forward(tokens, lab.target.new_cache())
    torch.testing.assert_close(whole.forward(tokens, whole.new_cache()), expected)
    assert 0.2 < lab.alpha(model_reader(first)) < 0.45


def test_the_models_in_training_are_the_built_in_ones(lab):
    read = strategies.module_reader(trainable("small"))
    small = model_reader(Llama.from_folder(ASSETS / "small"))
    torch.testing.assert_close(read(lab.learn[:30]), small(lab.learn[:30]), rtol=0, atol=1e-5)
    first = model_reader(strategies.first_layers(1))
    read = strategies.module_reader(trainable("target", layers=1))
    torch.testing.assert_close(read(lab.learn[:30]), first(lab.learn[:30]), rtol=0, atol=1e-5)


def test_tables_and_lookups_as_drafts(lab):
    one = np.zeros((3, 3)) + np.array([[1.0, 0, 0], [0, 0.5, 0.5], [0, 0, 1.0]])
    assert strategies.table_reader(one)([2, 0]).tolist() == [[0, 0, 1], [1, 0, 0]]
    read = strategies.lookup_reader(FUNCTIONS["prompt_lookup"], 3)
    assert read([0, 1, 0]).tolist() == [[0, 0, 0], [0, 0, 0], [0, 1, 0]]
    calls = []
    again = strategies.remembered(lambda ids: calls.append(ids) or torch.ones(1))
    assert again([1, 2]) is again([1, 2]) and calls == [[1, 2]]


def test_what_is_measured_of_a_draft(lab):
    drafts = strategies.built_in("small")
    times = lab.times(drafts)
    assert list(times)[:4] == [1, "small", "small again", 2]
    times |= {"small": [0.25, 0.5], "small again": [0.25, 0.25], 1: [1.0, 1.0], 5: [1.5, 1.5]}
    row = strategies.rows(drafts, lab.alphas(drafts), times)["small"]
    assert row.parameters == 475_520 and 0.5 < row.alpha < 0.7
    assert set(row.costs.v) == set(range(1, 10))
    assert (row.costs.c, row.again, row.costs.v[1], row.costs.v[5]) == (0.375, 0.25, 1, 1.5)
    assert row.tokens_per_second == 1 / 0.375
    assert set(lab.draft_times(lambda text: text[-1])) == {1, "draft"}


def test_a_few_steps_of_distillation_raise_alpha(lab):
    draft = trainable("target", layers=1)
    before = lab.alpha(strategies.module_reader(draft))
    steps = list(distil(FUNCTIONS["distillation_loss"], draft, lab.target, lab.learn, 8))
    assert steps == list(range(1, 9))
    assert lab.alpha(strategies.module_reader(draft)) > before + 0.03


def test_a_learning_curve_ends_where_the_loss_does(lab, capsys):
    draft = trainable("target", layers=1)
    curve = strategies.learning_curve(lab, draft, iter(range(1, 5)), every=2)
    assert list(curve) == [0, 2, 4] and len(set(curve.values())) == 1
    steps = distil(unwritten, draft, lab.target, lab.learn, 4)
    assert list(strategies.learning_curve(lab, draft, steps, every=1)) == [0]
    assert "your own loss: not written yet" in capsys.readouterr().out


def test_a_slow_machine_trains_fewer_steps_and_says_so(lab, capsys):
    draft, done, clock = trainable("target", layers=1), [], itertools.count(step=10)
    steps = (done.append(step) or step for step in range(1, 9))
    curve = strategies.learning_curve(lab, draft, steps, 2, seconds=15, clock=lambda: next(clock))
    assert list(curve) == [0, 2, 4] and done == [1, 2, 3, 4, 5]
    assert "Ended after 4 steps: 15 s are over." in capsys.readouterr().out


def test_the_students_drafts_are_judged_as_all_others_and_may_be_missing(lab, capsys):
    bigram, own = FUNCTIONS["bigram_probs"], FUNCTIONS["prompt_lookup"]
    yours = strategies.own_drafts(lab, bigram, own)
    assert list(yours.alphas) == list(yours.times) == ["bigram, yours", "prompt lookup"]
    reader = strategies.table_reader(bigram(lab.learn, lab.vocab_size, 0.01))
    assert yours.alphas["bigram, yours"] == lab.alpha(reader)
    assert strategies.own_drafts(lab, unwritten, own) == strategies.OwnDrafts({}, {})
    assert "Without your own drafts: not written yet" in capsys.readouterr().out
