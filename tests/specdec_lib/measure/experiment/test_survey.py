"""What a machine is found to have before the experiment of chapter 08."""

from dataclasses import replace

import pytest
import torch
from decoders.built_in_machine import CPU, FOUND
from decoders.stand_in_clock import Clock

from specdec_lib.measure.core.progress import Progress
from specdec_lib.measure.experiment import survey
from specdec_lib.measure.experiment.budget import LOOK, Budget, Part
from specdec_lib.measure.experiment.costs import costs_on
from specdec_lib.measure.experiment.machine import Effort, Machine
from specdec_lib.models import hub
from specdec_lib.models.catalogue import PUBLISHED, PairError
from specdec_lib.models.llama import Llama
from specdec_lib.theory import Costs

LONG = 1e9  # seconds that nothing takes


def part(seconds: float = LONG) -> Part:
    """A part of the experiment that has so many seconds."""
    return Part(LOOK, seconds, lambda: 0.0, Progress())


@pytest.fixture
def light(monkeypatch):
    """Costlier targets are as small as the built-in one; their sizes are reckoned as they are."""
    monkeypatch.setattr(survey, "TRIAL", 100)
    monkeypatch.setattr(
        survey,
        "scaled",
        lambda folder, size, device, dtype: Llama.from_folder(folder, device, dtype),
    )


def test_effort_grows_and_is_refused_below_nothing():
    assert Effort().times(1) == Effort() and Effort().times(4).prompts == 4 * Effort().prompts
    assert Effort().times(0.001).positions == 8 and Effort().times(0.001).prompts == 1
    with pytest.raises(ValueError, match="longer is 0; it is a positive number"):
        Effort().times(0)


def test_too_little_memory_falls_to_the_next_size_and_says_so(monkeypatch, light):
    said: list[str] = []
    monkeypatch.setattr(survey, "free_memory", lambda device: 0)
    monkeypatch.setattr("specdec_lib.models.pair.free_memory", lambda device: 250_000_000)
    monkeypatch.setattr(survey, "costs_by_dtype", quick_costs)
    formats = survey.chosen_formats(CPU, LONG, part(), said.append)
    assert list(formats.loaded[formats.dtype]) == ["40m"]
    targets = survey.built_in_targets(CPU, formats, LONG, said.append)
    assert list(targets) == ["built-in", "40m"]
    assert "The 234m target is left out, and the next size taken" in said[0]
    monkeypatch.setattr("specdec_lib.models.pair.free_memory", lambda device: 1000)
    formats = survey.chosen_formats(CPU, LONG, part(), said.append)
    assert formats.dtype == formats.plain == torch.float32 and formats.loaded == {}
    assert "no room to try" in formats.why
    assert list(survey.built_in_targets(CPU, formats, LONG, said.append)) == ["built-in"]


def test_memory_that_runs_out_while_loading_falls_to_the_next_size(monkeypatch, light):
    real, said = survey.scaled, []

    def short(folder, cost, device, dtype):
        if cost == "234m":
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 1.00 GiB")
        return real(folder, cost, device, dtype)

    monkeypatch.setattr(survey, "scaled", short)
    sizes = survey.costlier(("234m", "40m"), CPU, torch.float32, LONG, said.append)
    assert [size for size, *_ in sizes] == ["40m"]
    assert "does not fit after all" in said[0]
    monkeypatch.setattr(survey, "scaled", lambda *args: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        list(survey.costlier(("40m",), CPU, torch.float32, LONG, said.append))


def test_a_target_too_slow_for_the_budget_falls_to_the_next_size_and_says_so(monkeypatch):
    said: list[str] = []
    slow = {"234m": 0.2, "40m": 0.1}
    monkeypatch.setattr(survey, "scaled", lambda folder, size, device, dtype: size)
    monkeypatch.setattr(survey, "a_pass", lambda size: slow[size])
    sizes = survey.costlier(("234m", "40m"), CPU, torch.float32, 160, said.append)
    assert [size for size, *_ in sizes] == ["40m"]  # the smallest is taken in any case
    assert "The 234m target is left out" in said[0] and "a pass takes 0.20 s, and 160 s" in said[0]
    sizes = survey.costlier(("234m", "40m"), CPU, torch.float32, 320, said.append)
    assert next(sizes)[0] == "234m"


def test_one_pass_that_was_sooner_than_the_others_does_not_speak_for_them(monkeypatch):
    clock, seconds = Clock(monkeypatch), iter([5.0, 0.1, 1.0, 2.0])  # the first is a warm-up

    def task(model, tokens):
        return lambda: clock.task(next(seconds))()

    monkeypatch.setattr(survey, "pass_task", task)
    assert survey.a_pass("model") == pytest.approx(1.0)


def test_a_look_whose_time_is_over_leaves_the_costlier_target_out_and_says_so(monkeypatch, machine):
    """On a busy machine the passes of the built-in target take all that the look has."""
    now, said = [0.0], []

    def costs_on(*what):
        now[0] += 31
        return FOUND

    model = machine.targets["built-in"]
    monkeypatch.setattr(survey, "copy_bandwidth", lambda device: 1e10)
    formats = survey.Formats(torch.float32, torch.float32, "of the test", {})
    monkeypatch.setattr(survey, "chosen_formats", lambda *what: formats)
    found = {"built-in": model, "40m": model}
    monkeypatch.setattr(survey, "built_in_targets", lambda *what: found)
    monkeypatch.setattr(survey, "costs_on", costs_on)
    budget = Budget(clock=lambda: now[0], say=said.append)
    with budget.part(LOOK) as looking:
        seen = survey.looked(CPU, Effort(), budget, looking, said.append)
    assert list(seen.targets) == list(seen.costs) == ["built-in"]
    assert said[-1].startswith("Left out to keep to 30 s: the 40m target. LONGER")


def test_costs_for_which_there_is_no_time_are_those_of_one_round(machine):
    target, spent = machine.targets["built-in"], part(-1.0)
    found = costs_on(target, target, machine.drafts, 30, spent)
    assert found.seconds > 0 and set(found.v) == set(range(1, 10)) and len(found.drafts) == 7
    assert spent.left_out == ["all rounds of bare passes but one"]


def test_a_hub_that_fails_is_no_hub(monkeypatch):
    def fails(repository, select):
        raise PairError("cannot be fetched") from ConnectionError("name resolution")

    monkeypatch.setattr(hub, "find", fails)
    assert survey.hub_problem() == "name resolution"
    monkeypatch.setattr(hub, "find", lambda *args: None)
    assert survey.hub_problem() is None


@pytest.fixture
def card(machine, monkeypatch) -> Machine:
    """A card of 24 GB, with a hub that answers and on whose disk there is room."""
    monkeypatch.setattr(survey, "hub_problem", lambda: None)
    monkeypatch.setattr(hub, "free_disk", lambda: 200e9)
    monkeypatch.setattr("specdec_lib.models.published.tokenizer_of", lambda *args: None)
    sizes = {name: each["gigabytes"] * 1e9 for name, each in PUBLISHED["repositories"].items()}
    monkeypatch.setattr(
        hub, "missing", lambda names: [hub.Download(n, "r", {"w": int(sizes[n])}) for n in names]
    )
    monkeypatch.setattr(hub, "cached", lambda *args: None)
    gpu = torch.device("cuda")
    return replace(machine, device=gpu, dtype=torch.bfloat16, free=24_000_000_000)


def test_published_pairs_need_a_gpu_and_the_hub(card, monkeypatch):
    said: list[str] = []
    on_cpu = replace(card, device=CPU)
    assert survey.fetched(on_cpu, None, True, said.append) == () and "not asked" in said[0]
    monkeypatch.setattr(survey, "hub_problem", lambda: "offline")
    assert survey.fetched(card, None, True, said.append) == ()
    assert said[1] == "Hub: cannot be reached (offline); no published pairs"


@pytest.mark.parametrize(
    ("gigabytes", "names"),
    [
        (8, ["smollm2"]),
        (16, ["qwen3-4b", "flan-t5-xl"]),
        (24, ["vicuna", "flan-t5-xl"]),
        (40, ["vicuna", "qwen3-14b", "flan-t5"]),
        (80, ["vicuna", "qwen3-32b", "flan-t5"]),
    ],
)
def test_every_card_runs_a_printed_row_the_paper_s_experiment_and_its_largest_pair(
    card, monkeypatch, gigabytes: int, names: list[str]
):
    monkeypatch.setattr(hub, "weights", lambda names, yes: asked.append((names, yes)))
    asked: list = []
    mine = replace(card, free=int(gigabytes * 1e9))
    assert sorted(survey.fetched(mine, None, False, lambda line: None)) == sorted(names)
    ((repositories, yes),) = asked  # one question for all of them
    assert len(repositories) > len(names) and not yes


def test_a_no_leaves_the_experiment_without_published_pairs(card, monkeypatch):
    def refuse(names, yes):
        raise PairError("13.8 GB were not fetched: you did not agree")

    monkeypatch.setattr(hub, "weights", refuse)
    said: list[str] = []
    assert survey.fetched(card, ["vicuna"], False, said.append) == ()
    assert said == ["Hub: 13.8 GB were not fetched: you did not agree; no published pairs"]


def test_pairs_that_are_named_are_checked_too(card, monkeypatch):
    monkeypatch.setattr(hub, "weights", lambda names, yes: None)
    monkeypatch.setattr(hub, "free_disk", lambda: 20e9)
    said: list[str] = []
    wanted = ["qwen3-32b", "vicuna", "flan-t5-xl"]
    assert survey.fetched(card, wanted, True, said.append) == ("vicuna",)
    assert said[0] == "Pair qwen3-32b is left out: it needs a card of 80 GB"
    assert "flan-t5-xl is left out: 15.8 GB do not fit on the disk: 6.2 GB are free" in said[-1]


def test_every_finding_is_a_line(monkeypatch, light):
    said: list[str] = []
    monkeypatch.setattr(survey, "copy_bandwidth", lambda device: 12.5e9)
    monkeypatch.setattr(survey, "CPU_SIZES", ("40m",))
    monkeypatch.setattr(survey, "costs_by_dtype", quick_costs)
    monkeypatch.setattr(survey, "dtypes", lambda: (torch.float32, torch.bfloat16))
    monkeypatch.setattr(survey, "ON_CPU", {LOOK: LONG})
    machine = survey.look(0.1, said.append)
    starts = "Budget Device Memory Copy Dtype Target Target its Hub Pairs"
    said = [line for line in said if not line.startswith("  This run was disturbed")]
    assert [line.split()[0].strip(":") for line in said] == starts.split()
    assert "acceptance of a 4:1 or an 8:1 or a 17:1 pair, cost of a 19:1" in said[7]
    assert list(machine.targets) == ["built-in", "40m"] and not machine.whole_grid
    assert machine.dtype == torch.bfloat16 and "bfloat16 has v(5) = 1.00" in said[4]
    assert machine.to_json()["dtype"] == "bfloat16"
    assert machine.drafts["small"].dtype == torch.float32


def quick_costs(models, drafts, seconds, least):
    """float32 passes get longer with their tokens, those in bfloat16 do not, drafts are fast."""
    v = {torch.float32: dict(zip(range(1, 10), range(1, 10), strict=True))}
    v[torch.bfloat16] = dict.fromkeys(range(1, 10), 1.0)
    return {dtype: (dict.fromkeys(drafts[dtype], Costs(0.05, v[dtype])), 0.01) for dtype in models}


def test_without_the_time_to_try_another_dtype_float32_is_taken_and_the_lack_said(monkeypatch):
    monkeypatch.setattr(survey, "dtypes", lambda: (torch.float32, torch.bfloat16))
    monkeypatch.setattr(survey, "costs_by_dtype", None)
    one = iter([("40m", object(), 0.1)])
    monkeypatch.setattr(survey, "costlier", lambda *args: one)
    short = part(0.1 * survey.TRIAL_PASSES - 1)
    formats = survey.chosen_formats(CPU, LONG, short, print)
    assert formats.dtype == formats.plain == torch.float32 and "no time" in formats.why
    assert short.left_out == ["trials of other dtypes"]


def test_without_a_choice_of_dtypes_nothing_is_measured(monkeypatch, light):
    monkeypatch.setattr(survey, "dtypes", lambda: (torch.float32,))
    monkeypatch.setattr(survey, "costs_by_dtype", None)
    monkeypatch.setattr(survey, "CPU_SIZES", ("40m",))
    formats = survey.chosen_formats(CPU, LONG, part(), print)
    assert formats.dtype == torch.float32 and "no instructions for bfloat16" in formats.why
