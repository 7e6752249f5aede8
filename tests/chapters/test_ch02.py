"""Chapter 02: the rules that a reader can break, the 100 proposals, and all texts exactly."""

import re

import numpy as np
import pytest
from attempts import with_slips
from classes.chapter_cases import functions_of, text_of

from autograde.hidden.material import material_of
from specdec_lib.lessons.ch02 import figures, lesson
from specdec_lib.lessons.ch02.answer import ANSWER_FILE, RecordedAnswer
from specdec_lib.lessons.ch02.computed import RULES, exact_paths, paths, single_position
from specdec_lib.lessons.ch02.figures import real_text
from specdec_lib.lessons.ch02.lesson import P, Q
from specdec_lib.lessons.ch02.models import draft_logits, target_logits
from specdec_lib.lessons.checking.examples import Different

CHAPTER = "02_rejection_sampling"
SAMPLE = functions_of(CHAPTER)["speculative_sample"]
WANTED = {
    "accept everything": Q,
    "accept only where p >= q": [0.7875, 0, 0, 0.2125],
    "draw the correction from p": [0.39, 0.36, 0.18, 0.07],
    "draft again until one passes": [0.375, 0.375, 0.1875, 0.0625],
    "the rule of this chapter": P,
}


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_puts_out_what_the_chapter_says(rule: str):
    out = paths(rule, P, Q).sum(axis=0)
    np.testing.assert_allclose(out, WANTED[rule], atol=1e-12)
    assert f'# - `"{rule}"`' in text_of(CHAPTER)


@pytest.mark.parametrize("most", [1, 2])  # the first is a step without a bonus token
def test_the_right_rule_has_the_two_paths_of_the_solution(most: int):
    step = functions_of(CHAPTER)["speculative_step"]
    law = exact_paths(single_position(lambda *args: step(*args)[:most]), P, Q)
    np.testing.assert_allclose(paths(RULES[-1], P, Q), law, atol=1e-12)


@pytest.mark.parametrize("keep", [[30, 46, 20, 5], [-1, 0, 0, 0], [30, 45], "all"])
def test_what_is_not_there_is_told_what_is(keep, shown: list[str], capsys):
    figures.kept_of_100(keep, P, Q)
    figures.broken_rule("accept nothing", P, Q)
    out = capsys.readouterr().out
    assert shown == [] and re.search("at most 30, 45, 20, 5(?s:.*)'draft again until one", out)


def test_the_listing_has_the_code_and_names_what_is_not_written(capsys):
    stub = 'def draft_block():\n    raise NotImplementedError("draft_block: not written yet")\n'
    own = {"draft_block": material_of(CHAPTER).solved.defined("draft_block", stub)}
    figures.beside_the_paper(functions_of(CHAPTER) | {"speculative_step": None} | own)
    told = "Still to be written: draft_block, speculative_step[.].*n ← min.*written [+]= block"
    assert re.match(told, capsys.readouterr().out, re.DOTALL)


_STEP = "block = speculative_step(drafted, p, q, rng.random(n), rng.random())"
NO_BONUS = (_STEP, f"{_STEP}[: n or 1]")


def test_without_a_bonus_token_what_was_accepted_is_drawn_as_accepted(monkeypatch):
    words = []
    monkeypatch.setattr(figures, "show", lambda figure, alt: words.append(alt))
    code = with_slips("speculative_sample", NO_BONUS)
    figures.blocks_written(material_of(CHAPTER).solved.defined("speculative_sample", code), seed=1)
    assert "block 1 B accepted, B accepted, A accepted; block 2" in words[0]


def test_figures_of_wrong_functions_do_not_contradict_themselves(painted):
    block = lesson.BLOCK, lesson.BLOCK_P, lesson.BLOCK_Q, lesson.BLOCK_R
    figures.walk_through_block(lambda tokens, *_: tokens[::2], *block)
    figures.residual_bars(lambda p, q: p - q, P, Q)
    assert "coin 0.1, in your list" in painted[0] and "which has entries below 0" in painted[1]


def test_a_text_is_shown_with_the_tokens_that_were_accepted(monkeypatch):
    pages = []
    monkeypatch.setattr(figures, "display_page", lambda page, alt: pages.append((page, alt)))
    real_text(SAMPLE, target_logits, draft_logits, [0], str, -1, 4, temperature=1, seed=0, count=6)
    ((page, alt),) = pages
    passes = re.search(r"6 tokens in (\d) passes", alt)[1]
    assert page.count('class="sd-own') == int(passes) + 1  # and one in the key


def test_the_solution_writes_the_recorded_answer():
    found = RecordedAnswer()
    target, draft, prompt, read, eos = found.models
    k, temperature, seed, count = found.settings.values()
    assert k == 3  # as the chapter says; its prediction is a number from 1 to 4
    rng = np.random.default_rng(seed)
    assert SAMPLE(target, draft, prompt, k, count, temperature, rng, eos) == found.answer
    assert read(found.answer) == "".join(place.piece for place in found.places())
    assert all(min(p, q) <= accepted <= 1 + 1e-9 for _, accepted, p, q in found.places())
    assert ANSWER_FILE.stat().st_size < 250_000


_ROWS = "p = softmax(logits / temperature)"
LEAVES = [
    ("q, rng.random(n)", "q, 0 * rng.random(n)", "wrote .* the correction"),
    ("rng.random(n))\n", "(rng.random(), rng.random(n))[1])\n", "the"),
    (_ROWS, f"{_ROWS}\n        p[-1] = p[-2]", "wrote .* the bonus token"),
    ("if eos in block", "if False", "goes on after '.*<|im_end|>'"),
    ("[-1] / temperature", "[-1]", "drafted .* the draft token"),
]


@pytest.mark.parametrize(
    "old, new, told", LEAVES, ids=["accepts all", "other order", "stale row", "no end", "cold"]
)
def test_a_wrong_function_leaves_the_path_and_is_told_where(old, new, told, capsys):
    code, found = with_slips("speculative_sample", (old, new)), RecordedAnswer()
    wrong = material_of(CHAPTER).solved.defined("speculative_sample", code)
    real_text(wrong, *found.models, **found.settings)
    line = capsys.readouterr().out
    assert re.match(f"Your speculative_sample cannot be used yet: your decoder .*{told}", line)


# By exercise: what came back whatever was asked, and whether the check then asks this.
ASKED = [
    ("speculative_accept", [3, 2], "go on", True),
    ("speculative_accept", [], "wrong way round", False),
    ("speculative_accept", [3, 1], "go on", False),
    ("residual_distribution", np.array([0.375, 0.375, 0.125, 0.125]), "too rarely", True),
    ("residual_distribution", np.array([0.15, 0, 0, 0.05]), "too rarely", False),
    ("residual_distribution", np.array([0.15, 0, 0, 0.05]), "sums to 0.2", True),
    ("speculative_step", [0, 0], "before the rejected one", False),
    ("speculative_sample", [2, 2, 1], "read the new tokens", False),
]


@pytest.mark.parametrize("name, got, question, asked", ASKED)
def test_a_check_asks_only_what_fits_the_answer(name: str, got, question: str, asked: bool):
    with pytest.raises(Different) as caught:
        getattr(lesson, f"check_{name}")(lambda *args: got)
    assert (question in str(caught.value)) is asked
