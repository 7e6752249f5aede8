"""Published pairs in the experiment: their texts, their rates, their rows, and what fails."""

import sys
import weakref
from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch
from decoders import random_models
from decoders.built_in_machine import CPU
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from specdec_lib.decoding.generate import plain_generate
from specdec_lib.decoding.state import Settings
from specdec_lib.measure.core.interval import Rate
from specdec_lib.measure.core.runs import GREEDY, SAMPLED, choices
from specdec_lib.measure.core.timing import Spread
from specdec_lib.measure.experiment import seq2seq
from specdec_lib.measure.experiment.budget import ON_GPU, PUBLISHED, Budget
from specdec_lib.measure.experiment.contest import Outcome, contestants
from specdec_lib.measure.experiment.loops import LIBRARY
from specdec_lib.measure.experiment.machine import Targets
from specdec_lib.measure.experiment.published import group as groups
from specdec_lib.measure.experiment.published import run, tasks
from specdec_lib.measure.experiment.published.group import Group
from specdec_lib.measure.hugging import Counted, translations
from specdec_lib.models.catalogue import PairError, gigabytes
from specdec_lib.models.hf import Causal, EncoderDecoder
from specdec_lib.models.llama import Llama
from specdec_lib.models.pair import Pair
from specdec_lib.models.published import SourcePair
from specdec_lib.theory import Costs

OOM = (
    "CUDA out of memory. Tried to allocate 4.00 GiB. GPU 0 has a total capacity of 22.00 GiB of "
    "which 512.00 MiB is free. Process 7 has 21.50 GiB memory in use."
)
TEXTS = [f"w{i} w{i + 3} w{i + 5} w{i + 1}" for i in range(2, 8)]


def tokenizer() -> PreTrainedTokenizerFast:
    """Words to ids below random_models.VOCAB; every unknown word is 1."""
    words = {"<pad>": 0, "<unk>": 1} | {f"w{i}": i for i in range(2, random_models.VOCAB)}
    plain = Tokenizer(models.WordLevel(words, "<unk>"))
    plain.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(tokenizer_object=plain)


def fake_pairs(kind: str) -> dict[str, Pair]:
    """A target with two drafts as load_all gives them, of tiny random models."""
    make, wrap, pair = {
        "t5": (random_models.t5, EncoderDecoder, SourcePair),
        "gpt2": (random_models.gpt2, Causal, Pair),
    }[kind]
    target, *drafts = (wrap(make(seed, layers)) for seed, layers in ((1, 2), (2, 1), (3, 1)))
    words = tokenizer()
    return {
        name: pair(kind, target, draft, words, "a label", None)
        for name, draft in zip(("small", "base"), drafts, strict=True)
    }


@pytest.fixture
def group(machine, monkeypatch) -> Group:
    """A group of two drafts, on the budget of a GPU."""
    monkeypatch.setattr("specdec_lib.measure.core.costs.CONTEXT", 8)
    monkeypatch.setattr(groups, "WRITTEN", 8)
    gpu = replace(machine, published=("smollm2",), budget=Budget(ON_GPU, longer=100))
    return Group(gpu, "smollm2", fake_pairs("gpt2"), LIBRARY)


@pytest.fixture
def quick(monkeypatch) -> None:
    """Outcomes that nobody measures."""
    found = Outcome(*[Spread(1.5, 1.0, 2.0)] * 4)
    monkeypatch.setattr(Group, "outcome", lambda *args: found)


@pytest.fixture
def given_texts(monkeypatch) -> None:
    """Texts of the tasks without a hub."""
    monkeypatch.setattr(run, "texts_of", lambda task, say: tasks.Texts(task.name, TEXTS[:3]))


@pytest.mark.parametrize("kind", ["gpt2", "t5"])
def test_a_published_pair_gives_rows(group, given_texts, monkeypatch, kind: str):
    loads: list[str] = []
    pairs = fake_pairs(kind)
    name = {"gpt2": "smollm2", "t5": "flan-t5"}[kind]

    def load(machine, wanted: str, loop) -> Group:
        loads.append(wanted)
        return Group(machine, wanted, pairs, loop)

    monkeypatch.setattr(run, "loaded", load)
    temperatures = {0: GREEDY, 1: SAMPLED} if kind == "gpt2" else {1: SAMPLED}
    monkeypatch.setattr(run, "TEMPERATURES", temperatures)
    machine = replace(group.machine, published=(name,))
    rows = list(run.run_published(machine, LIBRARY))
    names = ["HumanEval", "XSum"] if kind == "gpt2" else ["WMT14 EnDe", "CNNDM"]
    settings = {(r.draft, r.task, r.temperature) for r in rows}
    assert settings == {(d, t, w) for d in ("small", "base") for t in names for w in temperatures}
    assert len(rows) == 4 * len(temperatures) and all(
        row.published and row.target == name for row in rows
    )
    assert all(row.empirical["median"] > 0 and 0 <= row.alpha <= 1 for row in rows)
    assert all(row.low <= row.alpha <= row.high and row.positions > 6 for row in rows)
    assert all(1 <= row.tokens_a_pass <= row.k + 1 and row.over for row in rows)
    assert {row.hugging for row in rows} == {"float32"}
    assert loads == [name]  # once for all drafts
    for model in (pairs["small"].target, pairs["small"].draft, pairs["base"].draft):
        assert len(model.model._forward_pre_hooks) == 1  # what is timed counts a pass once


def test_alpha_is_the_mean_overlap_on_the_target_s_own_text(group):
    text, (target, draft) = TEXTS[0], (group.target, group.pairs["small"].draft)
    prompt = group.first.prompt(text)
    drawn = choices(SAMPLED, 0, 1)
    (ids,) = plain_generate(target, [prompt], Settings(8, SAMPLED), drawn).tokens
    sums = []
    for end in range(len(ids)):
        tokens = torch.tensor([[*prompt, *ids[:end]]])
        p, q = (SAMPLED(m.forward(tokens, m.new_cache(1, 20))[0, -1]) for m in (target, draft))
        sums.append(float(torch.minimum(p, q).sum()))
    with group.machine.budget.part(PUBLISHED) as part:
        rates = group.rates([text], SAMPLED, part)
    assert rates["small"].value == pytest.approx(sum(sums) / len(sums), abs=1e-6)
    assert rates["small"].low is None and rates["small"].positions == 8  # one text has no interval


def test_greedy_alpha_counts_where_both_would_write_the_same(group):
    same = replace(group.first, draft=group.target)
    twin = replace(group, pairs={"same": same, "other": group.first})
    with group.machine.budget.part(PUBLISHED) as part:
        rates = twin.rates(TEXTS, GREEDY, part)
    assert (rates["same"].value, rates["same"].low) == (1, 1) and rates["same"].positions == 48
    assert rates["other"].value < 1


def test_texts_are_judged_until_there_are_enough_positions(group, monkeypatch):
    monkeypatch.setattr(groups, "ENOUGH", 30)
    with group.machine.budget.part(PUBLISHED) as part:
        rates = group.rates(TEXTS, SAMPLED, part)
    assert rates["base"].positions == 32  # one batch of four texts


def test_a_text_without_room_is_left_out(group, monkeypatch):
    monkeypatch.setattr(groups, "LONGEST", 5)
    assert group.short([*TEXTS, "w2 " * 6]) == TEXTS


def test_a_batch_of_translations_is_what_each_source_gives_alone():
    model = random_models.t5()
    sources = [[3, 4, 5, 6, 7], [8, 9]]
    both = translations(model, sources, 6, sample=False, seed=0)
    assert both == [translations(model, [each], 6, sample=False, seed=0)[0] for each in sources]
    model.config.eos_token_id = both[0][2]
    (cut,) = translations(model, sources[:1], 6, sample=False, seed=0)
    assert cut == both[0][: both[0].index(both[0][2]) + 1]
    drawn = [translations(model, sources, 6, sample=True, seed=1) for _ in range(2)]
    assert drawn[0] == drawn[1]


def test_a_pair_of_llama_form_runs_whole_on_the_tensors_that_it_was_loaded_with(
    group, given_texts, monkeypatch, tmp_path
):
    for seed, name in enumerate(("target", "draft")):
        random_models.llama(seed, 2 - seed).save_pretrained(tmp_path / name)
    wide = torch.float64  # in which a CPU packs nothing either
    target, draft = (Llama.from_folder(tmp_path / n, CPU, wide) for n in ("target", "draft"))
    pair = Pair("smollm2", target, draft, tokenizer(), "a label", None)
    asked: list[tuple] = []
    monkeypatch.setattr(groups, "load_all", lambda *a, yes: asked.append((a, yes)) or {"d": pair})
    machine = replace(group.machine, dtype=wide, free=8_000_000_000)
    rows = list(run.run_published(machine, LIBRARY))
    assert asked == [(("smollm2", CPU, wide), True)]
    assert len(rows) == 4 and all(row.empirical for row in rows)
    assert target.max_length <= groups.POSITIONS and draft.max_length <= groups.POSITIONS
    theirs = replace(group, pairs={"d": pair}).hugging["target"].model
    assert theirs.model.embed_tokens.weight.data_ptr() == target.embedding.data_ptr()
    down = theirs.model.layers[1].mlp.down_proj.weight
    assert down.data_ptr() == target.layers[1].down.weight.data_ptr()


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (PairError("it is not on this machine"), "smollm2 is left out: it is not on this machine"),
        (torch.OutOfMemoryError(OOM), f"smollm2 is left out: {OOM}"),
    ],
    ids=["the hub goes in a download", "too little memory"],
)
def test_a_pair_that_cannot_be_had_is_said_and_the_next_taken(
    group, quick, given_texts, monkeypatch, error, said
):
    def load(machine, name: str, loop) -> Group:
        if name == "smollm2":
            raise error
        return replace(group, name=name, pairs=fake_pairs("gpt2"))

    monkeypatch.setattr(run, "loaded", load)
    machine = replace(group.machine, published=("smollm2", "qwen3-4b"))
    told: list[str] = []
    rows = list(run.run_published(machine, LIBRARY, told.append))
    assert told == [said] and {row.target for row in rows} == {"qwen3-4b"}


@pytest.mark.parametrize("step", ["costs", "rates", "outcome", "tokens_a_pass"])
def test_memory_that_runs_out_at_any_step_leaves_the_rest_of_a_pair_out(
    group, quick, given_texts, monkeypatch, step: str
):
    def full(*args):
        raise torch.OutOfMemoryError(OOM)

    monkeypatch.setattr(Group, step, full)
    monkeypatch.setattr(run, "loaded", lambda *args: group)
    told: list[str] = []
    assert list(run.run_published(group.machine, LIBRARY, told.append)) == []
    assert told == [f"smollm2: the rest is left out: {OOM}"]


def test_a_pair_is_gone_before_the_next_is_loaded(group, quick, given_texts, monkeypatch):
    held: list[weakref.ref] = []

    def load(machine, name: str, loop) -> Group:
        assert [each() for each in held] == [None] * len(held)
        loaded = Group(machine, name, fake_pairs("gpt2"), loop)
        held.append(weakref.ref(loaded.hugging["target"].model))  # its hook holds the model
        return loaded

    monkeypatch.setattr(run, "loaded", load)
    machine = replace(group.machine, published=("smollm2", "qwen3-4b"))
    rows = list(run.run_published(machine, LIBRARY))
    assert len(held) == 2 and {row.target for row in rows} == {"smollm2", "qwen3-4b"}


def test_a_task_whose_texts_have_no_room_is_said(group, quick, given_texts, monkeypatch):
    monkeypatch.setattr(groups, "LONGEST", 1)
    monkeypatch.setattr(run, "loaded", lambda *args: group)
    told: list[str] = []
    assert list(run.run_published(group.machine, LIBRARY, told.append)) == []
    assert told[0] == "smollm2: every text of HumanEval is longer than 480 tokens"


def test_rows_without_time_keep_their_promise_and_are_said(
    group, quick, given_texts, monkeypatch, capsys
):
    clock = iter(range(0, 100_000, 10))  # ten seconds go by between two looks at it
    budget = Budget({PUBLISHED: 60}, clock=lambda: float(next(clock)))
    monkeypatch.setattr(run, "loaded", lambda *args: group)
    rows = list(run.run_published(replace(group.machine, budget=budget), LIBRARY))
    assert {bool(row.empirical) for row in rows} == {True, False}
    said = capsys.readouterr().out
    assert "Left out to keep to 60 s" in said and "HumanEval at temperature 0" in said


def test_costlier_targets_are_let_go_and_made_again(machine):
    made: list[str] = []
    target = machine.targets["built-in"]
    kept = Targets({"built-in": target, "7b": target}, lambda name: made.append(name) or target)
    holder = replace(machine, targets=kept)
    assert dict(holder.targets) == {"built-in": target, "7b": target} and made == []
    holder.release()
    assert list(holder.targets) == ["built-in", "7b"] and kept._models["7b"] is None
    assert holder.targets["7b"] is target is holder.targets["7b"] and made == ["7b"]
    with pytest.raises(KeyError):
        holder.targets["vicuna"]


@pytest.fixture
def data_sets(monkeypatch) -> list[tuple]:
    """A stand-in for `datasets`; what was asked of it."""
    asked: list[tuple] = []

    def load_dataset(name: str, config, split: str, revision: str, streaming: bool) -> Iterator:
        asked.append((name, config, split, len(revision), streaming))
        for number in range(1000):
            text = f"number {number} " + "x" * 2000
            yield {"translation": {"de": text, "en": "en"}, "article": text, "document": text,
                   "prompt": text}  # fmt: skip

    monkeypatch.setitem(sys.modules, "datasets", SimpleNamespace(load_dataset=load_dataset))
    return asked


def test_texts_are_the_first_of_pinned_test_splits(data_sets):
    for pair, names in (
        ("flan-t5", ["WMT14 EnDe", "CNNDM"]),
        ("vicuna", ["WMT14 DeEn", "CNNDM"]),
        ("qwen3-4b", ["HumanEval", "XSum"]),
    ):
        found = [tasks.texts_of(task) for task in tasks.tasks_of(pair)]
        assert [each.name for each in found] == names
        assert all(len(each.texts) == len(tasks.INDICES) for each in found)
    assert data_sets[0] == ("wmt/wmt14", "de-en", "test", 40, True)
    assert {name for name, *_ in data_sets} == {
        "wmt/wmt14", "abisee/cnn_dailymail", "EdinburghNLP/xsum", "openai/openai_humaneval",
    }  # fmt: skip
    german = tasks.texts_of(tasks.tasks_of("vicuna")[0]).texts[3]
    assert "USER: Translate German to English: number 3 x" in german
    assert german.endswith("x ASSISTANT:") and german.count("x") == pytest.approx(1500, abs=20)
    assert (
        tasks.texts_of(tasks.tasks_of("flan-t5")[0]).texts[0] == "translate English to German: en"
    )


@pytest.mark.parametrize("how", ["not installed", "gone"])
def test_built_in_texts_stand_in_and_are_called_that(monkeypatch, how: str):
    def gone(*args, **options):
        raise ConnectionError("no route to the hub")

    module = None if how == "not installed" else SimpleNamespace(load_dataset=gone)
    monkeypatch.setitem(sys.modules, "datasets", module)
    said: list[str] = []
    code, prose = (tasks.texts_of(task, said.append) for task in tasks.tasks_of("smollm2"))
    assert (code.name, prose.name) == ("code, HumanEval", "docs, XSum")
    assert len(prose.texts) > 40 and all(text.endswith("Summary:") for text in prose.texts)
    reason = "pip install -e .[published]" if how == "not installed" else "no route to the hub"
    assert reason in said[0] and "built-in texts stand in" in said[0]


def test_hugging_face_models_that_are_loaded_are_counted_too():
    counted = Counted(random_models.t5())
    counted.model.generate(torch.tensor([[3, 4]]), max_new_tokens=3, do_sample=False)
    assert counted.passes == 3


def test_random_t5_is_the_same_in_transformers():
    assert "4 of 4 greedy texts" in seq2seq.compare_random_t5(LIBRARY)
    wrong = LIBRARY._replace(generate=lambda *args: [1] * seq2seq.TOKENS)
    assert "0 of 4 greedy texts" in seq2seq.compare_random_t5(wrong)


@pytest.mark.parametrize("slower", [1, 2, 4])
def test_published_pairs_keep_to_their_seconds_and_say_what_they_left_out(
    group, given_texts, monkeypatch, slower: int
):
    """By a clock on which two gigabytes are loaded in a second, or on a slower machine."""
    clock, said = [0.0], []

    def takes(seconds: float, found: object):
        def run(*given) -> object:
            clock[0] += slower * seconds
            return found

        return run

    def load(machine, name: str, loop) -> Group:
        clock[0] += slower * gigabytes(name) / 2
        return replace(group, machine=machine, name=name, pairs=fake_pairs("gpt2"))

    costs = Costs(0.1, dict.fromkeys(range(1, 10), 1.0))
    outcome = Outcome(*[Spread(1.5, 1.0, 2.0)] * 4)
    parts = {
        "costs": takes(2, {"small": costs, "base": costs}),
        "rates": takes(4, {"small": Rate(0.6, 60), "base": Rate(0.7, 60)}),
        "outcome": takes(10, outcome),
        "tokens_a_pass": takes(2, 2.0),
    }
    for name, stand_in in parts.items():
        monkeypatch.setattr(Group, name, stand_in)
    monkeypatch.setattr(run, "loaded", load)
    budget = Budget(ON_GPU, clock=lambda: clock[0], say=said.append)
    machine = replace(group.machine, published=("vicuna", "qwen3-14b", "flan-t5"), budget=budget)
    done = list(run.run_published(machine, LIBRARY, said.append))
    seconds = budget.seconds_for(PUBLISHED)
    # Of a pair that was loaded the costs, a setting and a run are always done.
    assert clock[0] <= seconds + slower * (2 + 4 + 12)
    loaded = {row.target for row in done}
    assert len(loaded) == {1: 3, 2: 2, 4: 2}[slower]
    for name in {"vicuna", "qwen3-14b", "flan-t5"} - loaded:
        assert f"the pair {name}" in said[-1]
    assert any(row.empirical for row in done)


def test_plain_decoding_of_a_source_does_not_wait_for_the_draft_s_encoder(group):
    runs: list[str] = []
    pair = fake_pairs("t5")["small"]
    for name, model in (("target", pair.target), ("draft", pair.draft)):
        model.model.get_encoder().register_forward_hook(lambda *_, n=name: runs.append(n))
    ours = contestants(pair.target, pair.target, pair.draft, LIBRARY, 2, SAMPLED, tokens=4)
    ours["plain"](pair.prompt(TEXTS[0]))
    assert runs == ["target"]
    ours["loop"](pair.prompt(TEXTS[0]))
    assert runs == ["target", "target", "draft"]
