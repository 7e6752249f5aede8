"""What chapter 08 measures with: the survey, the experiment, and the machinery around them."""

import threading
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import random_models
import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from specdec_lib.decoding.plain import plain_generate
from specdec_lib.decoding.progress import Generation, Settings
from specdec_lib.decoding.speculative import speculative_generate
from specdec_lib.drafters.lookup import PromptLookup
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.measure import (
    batches,
    contest,
    engineering,
    experiment,
    held_out,
    identity,
    published,
    seq2seq,
    survey,
    traces,
)
from specdec_lib.measure.acceptance import Acceptance
from specdec_lib.measure.contest import Outcome, by_turns
from specdec_lib.measure.costs import costs_by_draft
from specdec_lib.measure.hugging import Counted
from specdec_lib.measure.ours import LIBRARY, as_verifier, yours
from specdec_lib.measure.results_file import read
from specdec_lib.measure.runs import GREEDY, SAMPLED, choices
from specdec_lib.measure.survey import Effort, Machine
from specdec_lib.measure.timing import Spread
from specdec_lib.models import hub
from specdec_lib.models.hf import Causal, EncoderDecoder
from specdec_lib.models.hub import PairError
from specdec_lib.models.llama import Llama
from specdec_lib.models.pairs import ASSETS, BUILT_IN_DRAFTS, Pair
from specdec_lib.sampling import Warp
from specdec_lib.theory import Costs, walltime_speedup

CPU = torch.device("cpu")
SMALL = Effort(positions=60, passes=1, prompts=1, tokens=6, rounds=1)
SPREAD = Spread(1.5, 1.0, 2.0)


@pytest.fixture(scope="module")
def machine() -> Machine:
    """A machine with the built-in target and its drafts, and little to do."""
    target = Llama.from_folder(ASSETS / "target")
    drafts = {name: Llama.from_folder(ASSETS / name) for name in BUILT_IN_DRAFTS}
    return Machine(CPU, torch.float32, {"built-in": target}, drafts, (), SMALL, 1e9)


# --- whose decoder --------------------------------------------------------------------------


@pytest.mark.parametrize("warp", [SAMPLED, GREEDY, Warp(0.7, top_k=20)])
@pytest.mark.parametrize("rows", [1, 3])
def test_a_students_verdict_in_the_librarys_decoder_is_the_librarys(machine, warp, rows):
    target, draft = machine.targets["built-in"], machine.drafts["small"]
    prompts = held_out.prompts(rows)
    for drafter in (ModelDrafter(draft), PromptLookup(target.vocab_size)):
        texts = [
            speculative_generate(
                target, drafter, prompts, 4, Settings(13, warp), choices(warp, 1, rows), **more
            ).tokens
            for more in ({}, {"verifier": as_verifier(LIBRARY.verify_block)})
        ]
        assert texts[0] == texts[1]


def test_a_verdict_is_asked_for_once_a_number_of_draft_tokens(machine):
    asked = []

    def block(p, q, drafted, r, u):
        asked.append(tuple(drafted.shape))
        return LIBRARY.verify_block(p, q, drafted, r, u)

    rows = torch.full((3, 3, 4), 0.25)
    limits = torch.tensor([2, 0, 2])
    drafted = torch.tensor([[0, 1], [0, 0], [1, 2]])
    made = choices(SAMPLED, 0, 3)
    made.begin([2, 0, 2])
    verdict = as_verifier(block)(rows, rows[:, :2], drafted, limits, made)
    assert asked == [(1, 0), (2, 2)] and verdict.count[1] == 0


def test_the_library_keeps_the_signature_of_the_chapter(machine):
    target, draft = machine.targets["built-in"], machine.drafts["small"]
    (prompt,) = held_out.prompts(1)
    runs = [
        yours(LIBRARY.generate, LIBRARY.verify_block).decoder(target, draft, 3, SAMPLED, 8)(prompt)
        for _ in range(2)
    ]
    assert runs[0].tokens == runs[1].tokens and len(runs[0].tokens[0]) == 8


# --- the survey -----------------------------------------------------------------------------


def test_effort_grows_and_is_refused_below_nothing():
    assert Effort().times(1) == Effort() and Effort().times(4).prompts == 4 * Effort().prompts
    assert Effort().times(0.001).positions == 8 and Effort().times(0.001).prompts == 1
    with pytest.raises(ValueError, match="longer is 0; it is a positive number"):
        Effort().times(0)


def test_too_little_memory_falls_to_the_next_size_and_says_so(monkeypatch):
    said: list[str] = []
    monkeypatch.setattr(survey, "free_memory", lambda device: 0)
    monkeypatch.setattr("specdec_lib.models.checks.free_memory", lambda device: 250_000_000)
    found = survey.built_in_targets(CPU, torch.float32, {}, said.append)
    assert list(found) == ["built-in", "40m"]
    assert "The 234m target is left out, and the next size taken" in said[0]
    monkeypatch.setattr("specdec_lib.models.checks.free_memory", lambda device: 1000)
    assert list(survey.built_in_targets(CPU, torch.float32, {}, said.append)) == ["built-in"]
    dtype, why, loaded = survey.chosen_dtype(CPU)
    assert dtype == torch.float32 and "no memory to try" in why and loaded == {}


def test_memory_that_runs_out_while_loading_falls_to_the_next_size(monkeypatch):
    real, said = survey.scaled, []

    def short(folder, cost, device, dtype):
        if cost == "234m":
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 1.00 GiB")
        return real(folder, cost, device, dtype)

    monkeypatch.setattr(survey, "scaled", short)
    assert list(survey.built_in_targets(CPU, torch.float32, {}, said.append)) == ["built-in", "40m"]
    assert "does not fit after all" in said[0]
    monkeypatch.setattr(survey, "scaled", lambda *args: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        survey.built_in_targets(CPU, torch.float32, {}, said.append)


def test_a_hub_that_fails_or_never_answers_is_no_hub(monkeypatch):
    def fails(repository, select):
        raise PairError("cannot be fetched") from ConnectionError("name resolution")

    monkeypatch.setattr(hub, "find", fails)
    assert survey.hub_problem() == "name resolution"
    silent = threading.Event()
    monkeypatch.setattr(hub, "find", lambda *args: silent.wait(20))
    assert survey.hub_problem(seconds=0.1) == "no answer in 0.1 s"
    silent.set()
    monkeypatch.setattr(hub, "find", lambda *args: None)
    assert survey.hub_problem() is None


def test_published_pairs_need_a_gpu_and_the_hub(monkeypatch):
    said: list[str] = []
    assert survey.published_pairs(CPU, said.append) == () and "not asked" in said[0]
    monkeypatch.setattr(survey, "hub_problem", lambda: "offline")
    gpu = torch.device("cuda")
    assert survey.published_pairs(gpu, said.append) == ()
    assert said[1] == "Hub: cannot be reached (offline); no published pairs"
    monkeypatch.setattr(survey, "hub_problem", lambda: None)
    assert survey.published_pairs(gpu, said.append) == survey.PUBLISHED


def test_every_finding_is_a_line(monkeypatch):
    said: list[str] = []
    monkeypatch.setattr(survey, "copy_bandwidth", lambda device: 12.5e9)
    monkeypatch.setattr(survey, "CPU_COSTS", ("40m",))
    monkeypatch.setattr(survey, "pass_seconds", quick_passes)
    found = survey.look(say=said.append)
    starts = ("Device", "Memory", "Copy", "Dtype", "Target", "Target", "its", "Hub", "Pairs")
    assert [line.split()[0].strip(":") for line in said] == list(starts)
    assert "acceptance of a 4:1 or an 8:1 or a 17:1 pair, cost of a 19:1" in said[6]
    assert list(found.targets) == ["built-in", "40m"] and not found.whole_grid
    assert found.dtype == torch.bfloat16 and "bfloat16 has v(5) = 1.00" in said[3]
    assert found.to_json()["dtype"] == "bfloat16" and found.drafts["small"].dtype == torch.float32


def quick_passes(models_, widths, seconds=1.0):
    """float32 passes get longer with their tokens, those in bfloat16 do not, drafts are fast."""
    pass_of_one = {torch.float32: 0.01, torch.bfloat16: 0.01, "draft": 0.0005}
    grows = {torch.float32: 1}
    return {
        key: {n: [pass_of_one[key] * n ** grows.get(key, 0)] * 2 for n in widths} for key in models_
    }


def test_the_best_rate_is_the_cost_models():
    seconds = {m: [0.02 * (1 + 0.1 * (m - 1))] for m in range(1, 10)}
    rate, k = survey.best_rate(seconds, 0.002, 0.7)
    costs = Costs(0.1, {m: 1 + 0.1 * (m - 1) for m in range(1, 10)})
    assert k == costs.best_k(0.7) and rate == pytest.approx(costs.speedup(0.7, k) / 0.02)


# --- the experiment -------------------------------------------------------------------------


def test_a_row_promises_with_v_and_without():
    costs = Costs(0.05, {m: 1.0 + 0.2 * (m - 1) for m in range(1, 10)})
    row = experiment.row_of("234m", "base", "code", 1, 0.7, costs)
    assert row.k == costs.best_k(0.7) and row.expected == costs.speedup(0.7, row.k)
    flat = [walltime_speedup(0.7, 0.05, k) for k in range(9)]
    assert (row.formula_k, row.formula) == (flat.index(max(flat)), max(flat))
    assert row.expected_at_4 == walltime_speedup(0.7, 0.05, 4, costs.v[5])
    hopeless = experiment.row_of("234m", "base", "code", 1, 0.05, Costs(0.9, costs.v))
    assert hopeless.k == 1 and hopeless.expected < 1


def test_drafts_of_every_kind_have_an_acceptance_and_a_cost(machine, monkeypatch):
    monkeypatch.setattr("specdec_lib.measure.acceptance.WINDOW", 64)
    rates = experiment.acceptance_rates(machine.effort.positions)
    names = {*BUILT_IN_DRAFTS, "bigram", "unigram", "prompt lookup", "early exit"}
    assert {draft for _, draft in rates} == names and {task for task, _ in rates} == {
        "code",
        "prose",
    }
    assert all(each.positions == 60 for each in rates.values())
    costs, seconds = experiment.costs_on(machine, machine.targets["built-in"])
    assert set(costs) == names and seconds > 0 and all(each.c > 0 for each in costs.values())
    rows = experiment.promised("built-in", rates, costs)
    assert len(rows) == 28
    chosen = experiment.to_run(rows, everything=False)
    assert [row.temperature for row in chosen] == [0, 1]
    assert len(experiment.to_run(rows, everything=True)) == 12


def test_a_draft_step_stands_behind_a_target_pass(machine):
    order = []

    def task(model, width: int, batch: int):
        return lambda: order.append(width)

    drafts = {name: lambda name=name: order.append(name) for name in "abc"}
    costs_by_draft(machine.targets["built-in"], drafts, k_max=1, rounds=1, task=task)
    assert order[:5] == [1, "a", 2, "b", "c"]


@pytest.fixture
def quick(monkeypatch, machine):
    """An experiment whose measurements are given; yields the machine, with a costlier target."""
    costs = Costs(0.1, dict.fromkeys(range(1, 10), 1.0))
    monkeypatch.setattr(
        experiment, "costs_on", lambda *args: (dict.fromkeys(experiment_drafts(), costs), 0.01)
    )
    monkeypatch.setattr(experiment.Contest, "outcome", lambda *args: Outcome(*[SPREAD] * 4))
    rates = {
        (task, draft): Acceptance(0.7, 0.6, 60)
        for task in experiment.TASKS
        for draft in experiment_drafts()
    }
    monkeypatch.setattr(experiment, "acceptance_rates", lambda positions: rates)
    targets = {"built-in": machine.targets["built-in"], "40m": machine.targets["built-in"]}
    return Machine(CPU, torch.float32, targets, machine.drafts, (), SMALL, 1e9)


def experiment_drafts() -> list[str]:
    return [*BUILT_IN_DRAFTS, "bigram", "unigram", "prompt lookup", "early exit"]


def test_every_row_is_in_the_file_as_soon_as_it_is_known(quick, tmp_path):
    results = experiment.begin(quick, LIBRARY, tmp_path / "out.json")
    for number, row in enumerate(experiment.run(quick, LIBRARY, results), 1):
        held = experiment_rows(tmp_path / "out.json")
        assert len(held) == number and held[-1] == row.to_json()
    assert number == 56 and sum(bool(row["empirical"]) for row in held) == 2
    measured = [row for row in held if row["empirical"]]
    assert {row["target"] for row in measured} == {"40m"}
    assert measured[0]["at_4"] == {"median": 1.5, "low": 1.0, "high": 2.0}


def experiment_rows(path: Path) -> list[dict]:
    return read(path)["rows"]


def test_an_interrupted_kernel_keeps_the_rows_so_far(quick, tmp_path, monkeypatch):
    def interrupted(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(experiment.Contest, "outcome", interrupted)
    results = experiment.begin(quick, LIBRARY, tmp_path / "out.json")
    with pytest.raises(KeyboardInterrupt):
        list(experiment.run(quick, LIBRARY, results))
    assert len(experiment_rows(tmp_path / "out.json")) == 54


def test_the_best_row_is_a_measured_one_and_its_lack_is_said():
    costs = Costs(0.1, dict.fromkeys(range(1, 10), 1.0))
    rows = [experiment.row_of("40m", "base", "code", t, 0.7, costs) for t in (0, 1, 1)]
    with pytest.raises(ValueError, match="of 3 rows none was measured end to end: let the"):
        experiment.best(rows)
    for i, median in ((0, 1.9), (1, 1.4), (2, 1.6)):
        rows[i] = experiment.replace(rows[i], empirical={"median": median})
    assert experiment.best(rows) is rows[0] and experiment.best(rows, 1) is rows[2]


def test_the_table_shows_quartiles_where_a_row_was_run():
    costs = Costs(0.1, dict.fromkeys(range(1, 10), 1.0))
    row = experiment.row_of("40m", "base", "code", 1, 0.7, costs)
    assert "(" not in experiment.table([row]).splitlines()[1]
    row = experiment.replace(row, **Outcome(*[SPREAD] * 4).to_json())
    assert experiment.table([row]).count("1.50 (1.00 to 2.00)") == 2


def test_the_command_measures_prints_and_leaves_a_file(quick, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(experiment.survey, "look", lambda longer: quick)
    path = tmp_path / "table.json"
    assert experiment.main(["--json", str(path)]) == 0
    assert "Target 40m" in capsys.readouterr().out and len(experiment_rows(path)) == 56
    assert experiment.main(["--json", str(path)]) == 2
    assert experiment.main(["--json", str(path / "b.json")]) == 2
    told = capsys.readouterr().err.splitlines()
    assert "is there already" in told[0] and "cannot be written" in told[1]


# --- end to end -----------------------------------------------------------------------------


def test_all_take_turns_on_the_same_prompts(machine):
    calls: list[tuple[str, int]] = []

    def decoder(name: str):
        return lambda prompt: calls.append((name, prompt[0])) or Generation([[]])

    seconds = by_turns({"a": decoder("a"), "b": decoder("b")}, [[1], [2]], rounds=2)
    first = [("a", 1), ("b", 1)]
    assert calls == first * 3 + [("a", 2), ("b", 2)] * 2  # one turn before the first counts
    assert {name: len(taken) for name, taken in seconds.items()} == {"a": 4, "b": 4}


def test_a_contest_runs_every_decoder(machine, monkeypatch):
    monkeypatch.setattr(contest, "POOL", 6)
    held = contest.Contest(machine, "40m", machine.targets["built-in"], LIBRARY)
    held.__dict__["hugging"] = Counted.of_folder(ASSETS / "target", torch.float32)
    for warp in (GREEDY, SAMPLED):
        outcome = held.outcome("small", 2, ".py", warp)
        assert all(each.median > 0 for each in outcome)
        assert set(outcome.to_json()) == {"empirical", "at_4", "over_hugging", "over_assisted"}


def test_prompts_of_a_task_are_from_its_documents():
    prose = held_out.prompts(2, ending=".txt")
    texts = [each.ids for each in held_out.all_tokens() if each.name.endswith(".txt")]
    for prompt in prose:
        joined = ",".join(map(str, prompt))
        assert any(joined in ",".join(map(str, ids)) for ids in texts)
    with pytest.raises(ValueError, match="the held-out text has"):
        held_out.prompts(3, ending=".none")


def test_greedy_texts_of_the_library_are_plain_decodings(machine):
    target, draft = machine.targets["built-in"], machine.drafts["small"]
    found = identity.compare(LIBRARY, target, draft, 3, machine.effort)
    assert (found.same, found.near_ties, found.different) == (3, 0, 0)
    assert str(found).startswith("3 of 3 greedy texts are plain decoding's")


def test_another_text_is_different_and_a_near_tie_is_told_apart(machine, monkeypatch):
    target, draft = machine.targets["built-in"], machine.drafts["small"]

    def off(*args, **kwargs) -> list[int]:
        tokens = LIBRARY.generate(*args, **kwargs)
        return [*tokens[:-1], (tokens[-1] + 1) % 2048]

    wrong = yours(off, LIBRARY.verify_block)
    found = identity.compare(wrong, target, draft, 3, machine.effort)
    assert (found.same, found.different + found.near_ties) == (0, 3)
    monkeypatch.setattr(identity, "near_tie", lambda target: 1e6)
    assert identity.compare(wrong, target, draft, 3, machine.effort).near_ties == 3
    short = yours(lambda *args: LIBRARY.generate(*args)[:-1], LIBRARY.verify_block)
    assert identity.compare(short, target, draft, 3, machine.effort).gaps == [float("inf")] * 3


def test_near_ties_widen_with_the_dtype():
    assert identity.near_tie(SimpleNamespace(dtype=torch.float32)) == 1e-3
    assert identity.near_tie(SimpleNamespace(dtype=torch.bfloat16)) == 0.25


def test_a_growing_cache_changes_no_token(machine):
    target, draft = machine.targets["built-in"], machine.drafts["small"]
    prompts = held_out.prompts(2)
    texts = []
    for wrap in (lambda model: model, engineering.Growing):
        drafter, made = ModelDrafter(wrap(draft)), choices(SAMPLED, 0, 2)
        out = speculative_generate(wrap(target), drafter, prompts, 3, Settings(12, SAMPLED), made)
        texts.append(out.tokens)
    assert texts[0] == texts[1]
    cache = engineering.Growing(draft).new_cache()
    draft.forward(torch.tensor([[1, 2, 3]]), cache)
    cache.truncate(1)
    draft.forward(torch.tensor([[4]]), cache)
    assert cache.keys.shape[2] == cache.capacity == 2


def test_four_versions_are_timed(machine):
    mine = yours(LIBRARY.generate, LIBRARY.verify_block)
    found = engineering.versions(mine, machine, "built-in", "small", 2)
    names = [each.name for each in found]
    assert len(names) == 4 and engineering.GROWING in names and engineering.FIXED in names
    assert all(each.speedup.median > 0 for each in found)


def test_traces_hold_what_the_picture_needs(machine, monkeypatch):
    for name, value in (("TEXTS", 2), ("TOKENS", 20), ("SHOWN", 8), ("CLASS_POSITIONS", 50)):
        monkeypatch.setattr(traces, name, value)
    told = traces.of_built_in(LIBRARY, machine, k=3)
    shown = told.picture()
    assert len(told.texts) == 2 and len(shown["blocks"]) <= len(told.blocks)
    written = sum(block["accepted"] + 1 for block in shown["blocks"])
    assert 8 <= written <= 11
    assert all(len(b["drafted"]) == len(b["p"]) == len(b["q"]) for b in shown["blocks"])
    assert all(0 <= cold <= 1 and 0 <= warm <= 1 for cold, warm, _ in told.by_class().values())


def test_batches_tell_the_last_row_and_the_gain(machine, monkeypatch):
    for name, value in (("BATCHES", (1, 2)), ("KS", (2,)), ("TOKENS", 5)):
        monkeypatch.setattr(batches, name, value)
    served = batches.measure(LIBRARY, machine, "built-in", "small")
    assert [(each.batch, each.k) for each in served] == [(1, 0), (1, 2), (2, 0), (2, 2)]
    assert served[0].gain == served[2].gain == 1.0
    assert all(0 < each.latency <= each.slowest for each in served)


def test_random_t5_is_the_same_in_transformers():
    assert "4 of 4 greedy texts" in seq2seq.compare_random_t5(LIBRARY)
    wrong = LIBRARY._replace(generate=lambda *args: [1] * seq2seq.TOKENS)
    assert "0 of 4 greedy texts" in seq2seq.compare_random_t5(wrong)


# --- published pairs ------------------------------------------------------------------------


def tokenizer() -> PreTrainedTokenizerFast:
    """Words to ids below random_models.VOCAB; every unknown word is 1."""
    words = {"<pad>": 0, "<unk>": 1} | {f"w{i}": i for i in range(2, random_models.VOCAB)}
    plain = Tokenizer(models.WordLevel(words, "<unk>"))
    plain.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(tokenizer_object=plain)


def fake_pair(kind: str) -> Pair:
    """A pair as load_pair gives it, of tiny random models."""
    if kind == "t5":
        sides = [
            EncoderDecoder(random_models.t5(seed, layers)) for seed, layers in ((1, 2), (2, 1))
        ]
    else:
        sides = [Causal(random_models.gpt2(seed, layers)) for seed, layers in ((1, 2), (2, 1))]
    return Pair(kind, *sides, tokenizer(), "a label", None)


@pytest.mark.parametrize("kind", ["gpt2", "t5"])
def test_a_published_pair_gives_rows(machine, monkeypatch, tmp_path, kind: str):
    monkeypatch.setattr(published, "CHARACTERS", 60)
    monkeypatch.setattr("specdec_lib.measure.costs.CONTEXT", 8)
    monkeypatch.setattr(
        published, "contests",
        lambda *args: [
            (kind, "small", published.PublishedContest(machine, fake_pair(kind), LIBRARY))
        ],
    )  # fmt: skip
    results = experiment.begin(machine, LIBRARY, tmp_path / "out.json")
    rows = list(experiment.run_published(machine, LIBRARY, results))
    tasks = ["prose"] if kind == "gpt2" else ["translation", "summarisation"]
    assert [(row.task, row.temperature) for row in rows] == [(t, w) for t in tasks for w in (0, 1)]
    assert all(row.empirical["median"] > 0 and 0 <= row.alpha <= 1 for row in rows)
    assert len(experiment_rows(tmp_path / "out.json")) == len(rows)


@pytest.mark.parametrize(
    "error",
    [
        PairError("gpt2 is not on this machine and cannot be fetched (ConnectionError: reset)"),
        PairError("a and b have different vocabularies: 3 of 9 entries differ"),
        torch.OutOfMemoryError("CUDA out of memory"),
    ],
    ids=["the hub goes in a download", "tokenizers differ", "too little memory"],
)
def test_a_pair_that_cannot_be_had_is_said_and_the_next_taken(machine, monkeypatch, error):
    def load(name: str, draft: str, **place) -> Pair:
        if draft == "small":
            raise error
        return fake_pair("gpt2")

    monkeypatch.setattr(published, "load_pair", load)
    wanted = Machine(CPU, torch.float32, {}, {}, ("gpt2",), SMALL, 1e9)
    said: list[str] = []
    found = list(published.contests(wanted, LIBRARY, said.append))
    assert [draft for _, draft, _ in found] == ["medium"]
    assert said == [f"gpt2 with its small draft is left out: {error}"]


def test_hugging_face_models_that_are_loaded_are_counted_too():
    counted = Counted(random_models.t5())
    counted.model.generate(torch.tensor([[3, 4]]), max_new_tokens=3, do_sample=False)
    assert counted.passes == 3 and counted.tokens == 3


def test_rows_of_a_batch_end_when_their_last_token_came(machine):
    ends = batches.timed_rows(
        2,
        lambda settings: plain_generate(
            machine.targets["built-in"],
            held_out.prompts(2),
            settings,
            choices(SAMPLED, 0, 2),
        ),
    )
    assert len(ends) == 2 and np.all(np.array(ends) > 0)
