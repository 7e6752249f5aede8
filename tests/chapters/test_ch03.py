"""Chapter 03: its rules and the library's, beyond what every chapter has."""

import json

import numpy as np
import pytest
import torch
from classes.chapter_cases import draw_figure, functions_of, random_pairs, text_of

from autograde.course import SOLUTIONS
from specdec_lib import exact
from specdec_lib.lessons.ch03 import computed, figures, lesson, library, rules
from specdec_lib.lessons.checking.carried import carried

TEXT = text_of("03_lossless").replace("\n# ", " ")
P, Q = lesson.P, lesson.Q
FUNCTIONS = functions_of("03_lossless")
DRAWN, ARGMAX, GENERATED, BY_ID, MIXED = library.LIBRARY_RULES.values()
WORST = np.array([0.0, 0.0, 0.0, 1.0])  # the draft of the first prediction


def test_predictions_are_held_against_what_the_rule_writes():
    written, share = (lesson.TRUTHS[name].value for name in ("prediction_03", "prediction_03_b"))
    assert written == pytest.approx(computed.rule_law(rules.from_target, P, WORST)[3], abs=1e-12)
    assert share == pytest.approx(FUNCTIONS["argmax_draft_law"](*lesson.TWO_COINS)[0], abs=1e-12)


def test_rules_as_students_meet_them():
    for rule in (*rules.LOSSLESS, *rules.MISTAKES):
        off = np.abs(computed.rule_law(rule, P, Q) - P).max()
        assert (off > 1e-12) == (rule in rules.MISTAKES) and rule.__doc__.endswith(".")
    assert set(rules.PUBLIC_CODE) <= set(dir(rules))


@pytest.mark.parametrize("rule", [*rules.LOSSLESS, DRAWN])
def test_lossless_rules_are_lossless_on_every_pair(rule):
    for p, q in random_pairs(20, seed=33):
        assert np.abs(computed.rule_law(rule, p, q) - p).max() < 1e-12


def test_the_formula_of_a_mixed_up_draft_is_what_is_counted():
    for p, q in random_pairs(20, seed=4):
        one_hot = np.eye(4)[np.argmax(q)]
        counted = computed.rule_law(rules.argmax_draft, p, q)
        assert np.abs(computed.mismatch_law(p, q, one_hot) - counted).max() < 1e-12
        assert np.abs(FUNCTIONS["argmax_draft_law"](p, q) - counted).max() < 1e-12
        assert np.abs(computed.mismatch_law(p, q, q) - p).max() < 1e-12


def test_an_argmax_draft_under_the_library_and_a_repair_that_makes_it_lossless():
    written = computed.rule_law(ARGMAX, P, Q)
    assert np.abs(written - FUNCTIONS["argmax_draft_law"](P, Q)).max() < 1e-12
    assert np.abs(computed.rule_law(MIXED, P, Q) - (P + Q) / 2).max() < 1e-12
    repaired = library.drafted_by(FUNCTIONS["repair"])
    for p, q in [(P, Q), *random_pairs(9, seed=6)]:
        assert np.abs(computed.rule_law(repaired, p, q) - p).max() < 1e-12


def test_generate_takes_the_q_of_other_tokens_unless_its_vocabulary_is_listed_by_id():
    """What is reported begins with q of "start", which is 0; it has been rounded to float32."""
    assert np.abs(computed.rule_law(BY_ID, P, Q) - P).max() < 1e-12
    law = computed.mismatch_law(np.append(P, 0), np.append(0, Q[::-1]), np.append(Q, 0))
    assert np.abs(computed.rule_law(GENERATED, P, Q) - law[:-1]).max() < 1e-6


def test_a_function_is_carried_over_from_the_notebook_beside(tmp_path, shown, capsys):
    for work, said in ((SOLUTIONS, ""), (tmp_path, "There is no notebook")):
        sample = carried("02_rejection_sampling", "speculative_sample", work)
        assert capsys.readouterr().out.startswith(said)
        draw_figure("03_lossless", "own_decoder", speculative_sample=sample)
    assert "Write it first: speculative_sample of " in capsys.readouterr().out and len(shown) == 1


def test_a_cell_that_cannot_be_carried_over_is_told(tmp_path, capsys):
    values = "%%time\n!ls\nTHREE: int = 3\nSIZE = THREE\nLESS = -1\nLOST = no.name\nx[0] = 1\n"
    sources = values + "def f():\n    return SIZE, LESS", "def g(:", "%magic"
    cells = [{"source": [source]} for source in sources]
    (tmp_path / "01").mkdir()
    (tmp_path / "01" / "01.ipynb").write_text(json.dumps({"cells": cells}))
    assert carried("01", "f", tmp_path)() == (3, -1)
    assert capsys.readouterr().out.count("does not run, so g is missing here") == 1


def test_the_library_decides_itself(monkeypatch):
    """A bug put into the installed function is seen, so the adapter does not stand in for it."""
    from transformers.generation import utils

    def keeps_all(ids, *rest, **more):
        torch.multinomial(torch.ones(1, 4) / 4, num_samples=1)
        return ids, torch.tensor(1)

    monkeypatch.setattr(utils, "_speculative_sampling", keeps_all)
    assert np.abs(computed.rule_law(DRAWN, P, Q) - Q).max() < 1e-12


def test_a_judge_that_samples_is_stopped_with_a_sentence(shown, capsys):
    """The rules of a figure are asked once for each branch, and a sample asks for ever."""

    def samples(rule, p, q):
        return all(rule(p, q, exact.Tape()) in range(4) for _ in range(10**9))

    figures.line_up(samples, P, Q)
    assert "called the rule more than 20000 times" in capsys.readouterr().out and not shown


def test_a_forged_rule_that_cannot_be_counted_is_told(capsys):
    figures.forged(lambda p, q, at: at.choose(q if np.random.random() < 1e-3 else p), P, Q)
    assert "its runs differ" in capsys.readouterr().out
    figures.forged(lambda *_: None, P, Q)
    assert "it returned None, expected" in capsys.readouterr().out


def test_a_verdict_that_the_count_contradicts_is_marked(shown):
    figures.line_up(lambda rule, p, q: rule is not None, P, Q)
    assert "from_target: 0.09  you: lossless (wrong)" in shown[0]
    assert "right_rule: 0  you: lossless;" in shown[0]


def test_a_warning_of_a_right_repair_is_let_pass(capsys):
    lesson.check_repair(lambda x, _: (k := int(x.argmax()), np.log(np.eye(len(x))[k])))
    assert "all 3 examples agree" in capsys.readouterr().out


def test_numbers_that_the_text_prints():
    assert f"{(P * Q).sum():.3f} instead of 0.80" in TEXT  # what a match keeps
    forged = 0.001 * np.abs(P - Q).sum() / 2
    assert f"{forged:.4f}" in TEXT and round(computed.noise(P, 200_000) / forged) == 7
    rates = [
        FUNCTIONS["acceptance_rate"](np.array(p), np.array(q))
        for p, q in ((P, Q), (P, [0, 1, 0, 0]), ([0.9, 0.1], [0.6, 0.4]), ([0.9, 0.1], [1, 0]))
    ]
    assert "0.80 against 0.30, and 0.70 against 0.90" in TEXT
    assert np.round(rates, 2).tolist() == [0.8, 0.3, 0.7, 0.9]


def test_alpha_by_temperature_is_what_the_text_says(painted):
    draw_figure("03_lossless", "alpha_by_temperature")
    both, top_p, left = painted[0].split("; ")[-3:]
    assert "0.406 at 0," in both and "0.372 at 1.4" in both and "0.395 at 0.6" in top_p
    assert "0.276 at 0," in left and "0.394 at 1.4" in left
