"""The race: every decoder has its own clock and writes the same text, and a wrong one is told."""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from classes.chapter_cases import functions_of

from specdec_lib.assets import ASSETS
from specdec_lib.decoding.generate import plain_generate
from specdec_lib.decoding.state import Settings
from specdec_lib.drafters.eagle import BUILT_IN_EAGLE
from specdec_lib.measure import models
from specdec_lib.measure.hugging import CountedModel
from specdec_lib.measure.library_decoders import GREEDY, plain
from specdec_lib.measure.prompts import prompts, without_repetition
from specdec_lib.measure.race import turns
from specdec_lib.measure.race.hf_lane import generate_lane
from specdec_lib.measure.race.lanes import (
    draft_model_lane,
    greedy_function_lane,
    pair_lane,
    prompt_lookup_lane,
    random_lane,
    sampled_function_lane,
    student_lane,
    tree_lane,
)
from specdec_lib.measure.race.race import race
from specdec_lib.measure.race.record import Race, recorded_race
from specdec_lib.measure.race.turns import PLAIN_LANE, TimedText, passes_of
from specdec_lib.models.pairs import load_pair
from specdec_lib.models.tokenizer import FileTokenizer
from specdec_lib.sampling import Greedy, Warp

LONG, SHORT = 16, 8
DECODE = functions_of("01_draft_then_verify")["greedy_speculative_decode"]
SAMPLE = functions_of("02_rejection_sampling")["speculative_sample"]
WALK = functions_of("07_connections")["walk_tree"]
OWN = functions_of("08_full_generation")["speculative_generate"]


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Races on the built-in target itself, which loads at once."""
    weights = models.target_weights
    monkeypatch.setattr(models, "target_weights", lambda size, dtype: weights(None, dtype))


def raced(lanes, **settings) -> Race:
    (found,) = race("00", lanes, **{"tokens": LONG, "texts": 1} | settings)
    return found


def test_every_drafter_writes_the_text_of_plain_decoding():
    kind = torch.float32, torch.device("cpu")
    theirs, helper = (CountedModel.from_folder(ASSETS / n, *kind) for n in ("target", "small"))
    student = student_lane(OWN, models.load_draft("small"), 3)
    everybody = {
        "model": draft_model_lane("small", 3), "copy": prompt_lookup_lane(),
        "random": random_lane(), "theirs": generate_lane(theirs, helper, 3),
        "tree": tree_lane(WALK, "small", (2, 1)), "own": student,
        "functions": greedy_function_lane(DECODE, "small"),
    }  # fmt: skip
    found = raced(everybody, texts=2)
    first, *others = found.lanes
    assert first.name == PLAIN_LANE and len(first.passes) == 2 * LONG
    assert len(found.prompts) == 2 and all(map(found.same, others))
    assert all(len(lane.passes) < 2 * LONG for lane in others if lane.name != "random")
    pieces = {lane.name: [each.pieces for each in lane.passes] for lane in others}
    assert pieces["own"] == pieces["functions"] == pieces["model"]


def test_a_question_is_put_in_a_template_shown_without_it_and_answered_to_an_end(tmp_path: Path):
    shutil.copy(BUILT_IN_EAGLE, tmp_path)
    np.save(tmp_path / "d2t.npy", np.arange(0, 2048, 2))
    pair = replace(load_pair(draft="small"), head=tmp_path)
    tokenizer = FileTokenizer(pair.tokenizer.backend_tokenizer, "# {{ messages[0].content }}\n")
    pair = replace(pair, tokenizer=tokenizer)
    (ids,) = turns.questions_to(pair, ["import sys"]).prompts
    assert tokenizer.decode(ids) == "# import sys"
    text = plain_generate(pair.target, [ids], Settings(LONG, Warp(0)), Greedy()).tokens[0]
    subject = turns.questions_to(replace(pair, eos_id=frozenset(text[4:5])), ["import sys"])
    each = {"model": replace(pair, head=None), "head": pair}
    lanes = {name: pair_lane(one, 2, subject.ends) for name, one in each.items()}
    found = raced(lanes, subject=subject)
    plain, *fast = found.lanes
    assert found.prompts == ["import sys\n\n"] and found.pair == pair.label
    assert len(plain.passes) == text.index(text[4]) + 1 and all(map(found.same, fast))


def test_a_readers_sampled_decoder_writes_what_the_librarys_does():
    lanes = {"own": sampled_function_lane(SAMPLE, "small"), "model": draft_model_lane("small", 3)}
    _, own, model = raced(lanes, texts=2, temperature=1.0).lanes
    assert own.pieces == model.pieces and len(own.passes) == len(model.passes) < 2 * LONG


def test_every_race_runs_on_five_prompts_whose_text_does_not_repeat():
    pool = prompts(256, ending=".py")
    five = [pool[i] for i in turns.UNREPETITIVE_PROMPTS]
    assert without_repetition(plain(load_pair().target, GREEDY, 96), five, 5) == five
    assert turns.held_out_code(7, "40m").prompts == [*five, *pool[:2]]


def test_the_clock_starts_after_the_prompt_was_read_or_with_reading_before_it():
    prompt, words = [5, 6], turns.built_in_tokenizer()
    text = TimedText(prompt, [5, 6, 7], 10.0, 12.0, [(13.0, 1), (15.0, 3)])
    assert [each.ends for each in passes_of([text], False, words)[0]] == [1.0, 3.0]
    first, second = passes_of([text, text], True, words)
    assert [each.ends for each in first + second] == [3.0, 5.0, 8.0, 10.0]
    assert [len(each.pieces) for each in first] == [1, 2]


def test_rows_are_written_together_and_the_first_is_shown():
    lanes = {"model": draft_model_lane("small", 3)}
    alone, together = raced(lanes), raced(lanes, rows=3, texts=2, seconds=0.0)
    assert len(together.lanes[0].passes) == LONG and "1 of 2 texts: time" in together.remarks[0]
    assert together.rows == 3 and together.same(together.lanes[1]) and together.same(alone.lanes[0])


def test_an_unwritten_function_is_asked_for(capsys):
    def unwritten(*args):
        raise NotImplementedError("greedy_speculative_decode")

    assert race("01", {"yours": greedy_function_lane(unwritten)}) == []
    assert "not there yet: greedy_speculative_decode" in capsys.readouterr().out


def fails(*args):
    raise ImportError("no such module")


LENGTHS = SHORT - 1, SHORT + 1
WRONG = (None, "ab", [], [0.5], [[1]], [-1], [10**6], *([1] * length for length in LENGTHS))


@pytest.mark.parametrize(
    "gives",
    [fails, 3, [1] * SHORT, *(pytest.param(each, marks=pytest.mark.slow) for each in WRONG)],
    ids=lambda gives: str(gives)[:9],
)
def test_a_wrong_function_of_the_reader_is_told_in_a_line(capsys, gives):
    """[1] * SHORT is right in form, but the target was never asked."""

    def wrong(*args):
        return gives(*args) if callable(gives) else gives

    student = student_lane(wrong, models.load_draft("small"), 3)
    functions = greedy_function_lane(wrong, "small"), sampled_function_lane(wrong, "small")
    for mine in (*functions, student, tree_lane(wrong, "small")):
        assert race("08", {"yours": mine}, tokens=SHORT, texts=1, temperature=1.0) == []
        (line,) = capsys.readouterr().out.splitlines()
        assert "your own function" in line
        assert ("no such module" if gives is fails else str(gives)[:3]) in line


def test_the_recorded_race_is_whole():
    found = recorded_race()
    plain, fast = found.lanes
    assert plain.name == PLAIN_LANE and found.same(fast) and "Recorded on" in found.remarks[0]
    assert len(found.prompts) == len(fast.texts) and len(fast.passes) < len(plain.passes)


def test_a_decoder_of_the_reader_without_a_cache_has_every_token_once():
    def whole_text_each_time(target, draft, prompt, k, tokens, temperature, rng):
        text = list(prompt)
        for _ in range(tokens):
            logits = target.forward(torch.tensor([text]), target.new_cache())
            text.append(int(logits[0, -1].argmax()))
        return text[len(prompt) :]

    own = student_lane(whole_text_each_time, models.load_draft("small"), 3)
    found = raced({"own": own}, tokens=8)
    assert found.same(found.lanes[1]) and len(found.lanes[1].passes) == 8
