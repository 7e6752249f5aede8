"""Chapter 08: what its text promises, its distributions and figures, and marks that are fair."""

import re

import numpy as np
import pytest
import torch
from attempts import with_slips
from classes.chapter_cases import functions_of, text_of
from data_files import table

from autograde.hidden.causes import bugs_of
from autograde.hidden.material import material_of
from autograde.hidden_tests import test_08_full_generation
from autograde.tools.gates import judge_answers
from specdec_lib import exact
from specdec_lib.assets import ASSETS, tokenizer
from specdec_lib.decoding.generate import speculative_generate
from specdec_lib.decoding.state import Settings
from specdec_lib.decoding.verify import verify_block
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.lessons.ch08 import broken, computed, lesson
from specdec_lib.lessons.ch08.diagnosis import diagnose
from specdec_lib.lessons.ch08.models import WatchedModel, dyadic_table
from specdec_lib.lessons.checking.examples import Different
from specdec_lib.measure.experiment.decoders import StudentDecoder, library_generate
from specdec_lib.measure.prompts import prompts
from specdec_lib.models.checkpoint import read_shape
from specdec_lib.models.llama import Llama
from specdec_lib.models.scale import size_ratio
from specdec_lib.sampling import Warp, random_source_for
from specdec_lib.theory import walltime_speedup

CHAPTER = "08_full_generation"
TEXT = re.sub(r"\n# *", " ", text_of(CHAPTER))
FUNCTIONS = functions_of(CHAPTER)
GENERATE = "speculative_generate"
LOOP = FUNCTIONS[GENERATE]


def defined(name: str, code: str):
    """The function of an answer, over the solution's other functions."""
    return material_of(CHAPTER).solved.defined(name, code)


def test_the_texts_of_the_check_are_the_librarys():
    for seed, request in lesson.EXAMPLES:
        settings = Settings(request.most, Warp(request.temperature), request.eos_id)
        source = random_source_for(settings.warp, [np.random.default_rng(seed)])
        target, draft = lesson.example_models(request.models)
        drafter = ModelDrafter(draft)
        out = speculative_generate(target, drafter, [request.prompt], request.k, settings, source)
        blocks = [[*b.accepted_tokens, b.next_token][: b.n_appended] for b in out.blocks[0]]
        assert blocks == request.blocks


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_solutions_verdict_is_the_librarys(dtype: torch.dtype):
    args = test_08_full_generation.block(np.random.default_rng(0), 200, 3, dtype)
    assert all(map(torch.equal, FUNCTIONS["verify_block"](*args), verify_block(*args)))


def test_the_solutions_verdict_has_the_targets_distribution():
    accepted, added, rows = computed.verdict_law(FUNCTIONS["verify_block"])
    open_mass = 1 - (accepted + added).sum(-1, keepdims=True)
    assert np.abs(accepted + added + open_mass * computed.LAW_P - computed.LAW_P).max() < 1e-12
    assert rows == 3456 and f"{rows:,} rows" in TEXT


def test_the_solutions_loop_has_the_targets_distribution_and_a_wrong_one_has_not():
    thought = "the draft proposes its most probable"
    (code,) = (bug.code for bug in bugs_of(CHAPTER) if bug.think.startswith(thought))
    loops = LOOP, library_generate, defined(GENERATE, code)
    laws = [computed.text_law(loop) for loop in loops]
    right, library, wrong = (
        exact.total_variation_distance(law, computed.plain_law()) for law in laws
    )
    assert right == library == 0 and wrong > 0.05


def test_the_quiz_counts_what_the_drafts_cache_holds():
    target, draft = (WatchedModel(dyadic_table(3)) for _ in range(2))
    LOOP(target, draft, [1] * 20, 4, 10, 1.0, np.random.default_rng(0))
    (first,) = (each for each in draft.passes if each.start == 23)
    assert len(first.tokens) == 2 and len(first.held) == 25


DRAFT_BACK = "rollback(draft_cache, min(int(draft_cache.length[0]), len(text) - 1))"


def test_nothing_is_measured_with_a_wrong_function(capsys):
    right = [FUNCTIONS[name] for name in ("rollback", "verify_block", GENERATE)]
    lesson.require_right(*right)
    assert capsys.readouterr().out == ""
    with pytest.raises(Different, match="called truncate with"):
        lesson.require_right(lambda cache, length: None, *right[1:])
    # What measures gets the student's decoder from one cell alone, and that cell asks.
    asking = "    lesson.require_right(rollback, verify_block, speculative_generate)\n"
    assert TEXT.count("decoders.StudentDecoder(") == TEXT.count(asking) == 1


ANSWERS = table("generation.toml")
RIGHT, TENTH = ANSWERS["right"], ANSWERS["tenth"]


@pytest.mark.parametrize("name, old, new", RIGHT.values(), ids=RIGHT)
def test_another_right_answer_passes_its_check_and_keeps_full_marks(name: str, old: str, new: str):
    code = with_slips(name, (old, new))
    getattr(lesson, f"check_{name}")(defined(name, code))
    exercise = judge_answers(CHAPTER, **{name: code})[name]
    assert exercise.score == exercise.max_score


@pytest.mark.parametrize("patch", [patch for name, *patch in RIGHT.values() if name == GENERATE])
def test_nothing_false_is_said_of_the_caches_of_a_right_loop(patch: list[str]):
    loop = defined(GENERATE, with_slips(GENERATE, patch))
    _, request = lesson.EXAMPLES[1]
    said = set()
    for seed in range(30):
        target, draft = lesson.example_models(request.models)
        rng = np.random.default_rng(100 + seed)  # another text than the request's
        got = loop(target, draft, list(request.prompt), request.k, request.most, 1.0, rng)
        if got != request.text:
            said.add(diagnose(request, got, target.passes)[:14])
    assert said == {"The texts part"}


@pytest.mark.parametrize("name, old, new", TENTH.values(), ids=TENTH)
def test_the_form_and_the_work_of_a_verdict_cost_a_tenth(name: str, old: str, new: str):
    exercise = judge_answers(CHAPTER, **{name: with_slips(name, (old, new))})[name]
    assert exercise.score == pytest.approx(0.9 * exercise.max_score)


def test_without_a_rollback_the_texts_in_which_nothing_is_rejected_still_count():
    code = with_slips(GENERATE, (DRAFT_BACK, "pass"))
    assert judge_answers(CHAPTER, speculative_generate=code)[GENERATE].score > 1


@pytest.mark.parametrize("fault", broken.CACHE_FAULTS)
def test_only_a_mistake_in_the_targets_cache_changes_the_texts(fault: str):
    distance = 0.25 if fault == "the target's rollback" else 0
    assert {broken.fault_distance(loop, fault) for loop in (LOOP, library_generate)} == {distance}


@pytest.mark.slow
def test_what_breaks_on_the_built_in_pair_is_what_the_text_says():
    target, draft = (Llama.from_folder(ASSETS / name) for name in ("target", "base"))

    def tokens(small: Llama, fault: str) -> float:
        return broken.tokens_with_fault(LOOP, (target, small), fault, prompts(4))

    right = tokens(draft, "nothing")
    assert tokens(draft, "the draft's rollback") == pytest.approx(0.75 * right, abs=0.2)
    assert tokens(draft, "the bonus feed") == pytest.approx(right, abs=0.1)
    assert tokens(target, "nothing") == 5 and tokens(target, "the bonus feed") < 4
    assert "about a quarter of the tokens per pass" in TEXT and "hardly shows" in TEXT


@pytest.mark.slow
def test_a_grammar_on_both_sides_is_accepted_again_and_a_state_that_stays_breaks_texts():
    (cell,) = (cell for cell in text_of(CHAPTER).split("# %% ") if "class StatefulCache" in cell)
    target, base = (Llama.from_folder(ASSETS / name) for name in ("target", "base"))
    shown = []
    names = {"target": target, "base": base, "torch": torch, "re": re, "Warp": Warp}
    names |= {"tokenizer": tokenizer, "lesson": lesson, "show_table": shown.append}
    names["our_decoder"] = lambda: StudentDecoder("your", LOOP)
    exec(cell.partition("\n")[2], names)
    _, top_p, both_top_p, grammar, both, stays = shown[0]["accepted of 4 a block"]
    assert both_top_p > 1.5 * top_p and both > 1.2 * grammar
    right = shown[0]["right texts"].tolist()
    assert right[1:5] == ["4 of 4"] * 4 and right[5] < "4 of 4"


def test_the_ratios_of_the_pairs_are_those_of_the_text():
    target = read_shape(ASSETS / "target")
    ratios = [size_ratio(target, read_shape(ASSETS / name)) for name in ("small", "base", "large")]
    assert ratios == ["17:1", "8:1", "4:1"]
    assert "17, 8 and 4 times the weights of *small*, *base* and *large*" in TEXT


def test_the_formula_beside_the_recorded_passes_is_the_best_one():
    rows = re.findall(r"\| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) at K = (\d) \|", TEXT)
    assert len(rows) == 3
    for c, v2, v5, printed, best in rows:
        v = {2: float(v2)} | dict.fromkeys(range(3, 10), float(v5))
        found = {k: walltime_speedup(0.7, float(c), k, v[k + 1]) for k in range(1, 9)}
        assert max(found, key=found.get) == int(best) and f"{found[int(best)]:.2f}" == printed
