"""The budget of chapter 08's experiment, by a clock that only the work moves on."""

import time
from threading import Event
from types import SimpleNamespace

import pytest
from decoders.built_in_machine import CPU, SMALL

from specdec_lib.measure.core.interval import Rate
from specdec_lib.measure.core.progress import AFTER, EVERY, Progress
from specdec_lib.measure.core.timing import Spread
from specdec_lib.measure.experiment import (
    batches,
    budget,
    contest,
    engineering,
    grid,
    identity,
    traces,
)
from specdec_lib.measure.experiment.budget import ON_CPU, ON_GPU, Budget, Part
from specdec_lib.measure.experiment.contest import Outcome
from specdec_lib.measure.experiment.loops import LIBRARY
from specdec_lib.measure.experiment.machine import Effort, Machine


class Clock:
    """Seconds that pass only where `work` is done, and with every reading by `tick`."""

    def __init__(self, tick: float = 0.0) -> None:
        self.now, self.tick = 0.0, tick

    def __call__(self) -> float:
        self.now += self.tick
        return self.now

    def work(self, seconds: float) -> None:
        self.now += seconds


BUDGETS = pytest.mark.parametrize("parts", [ON_CPU, ON_GPU], ids=["processor", "card"])


def measured(parts: dict[str, float], slower: float) -> tuple[float, list[str]]:
    """The seconds of the whole experiment on a machine so many times slower, and what it says.

    Every part has six pieces, and one that leaves nothing out takes three quarters of its time.
    """
    clock, said = Clock(), []
    whole = Budget(parts, clock=clock, say=said.append)
    for name, seconds in parts.items():
        with whole.part(name) as part:
            for _ in part.each(range(6), f"pieces of {name}"):
                clock.work(slower * seconds / 8)
    return clock.now, said


@BUDGETS
def test_a_fast_machine_leaves_nothing_out(parts):
    seconds, said = measured(parts, 1)
    assert said == [] and seconds == pytest.approx(6 / 8 * sum(parts.values()))


@BUDGETS
@pytest.mark.parametrize("slower", [1.5, 2, 3, 5, 8])
def test_a_slower_machine_takes_no_longer_than_the_budget_and_says_what_it_left_out(parts, slower):
    seconds, said = measured(parts, slower)
    assert seconds <= sum(parts.values())
    assert said and all(line.startswith("Left out to keep to ") for line in said)
    assert all("LONGER = 2 in the cell" in line for line in said)
    assert any(f"of 6 pieces of {budget.RUNS}" in line for line in said)


def test_what_one_part_saves_the_next_ones_have_and_a_second_run_has_what_the_first_had():
    clock = Clock()
    whole = Budget({"a": 10, "b": 10, "c": 20}, clock=clock, say=print)
    assert whole.seconds_for("a") == 10
    with whole.part("a"):
        clock.work(1)
    assert whole.seconds_for("b") == pytest.approx(13) and whole.seconds_for("a") == 10
    with whole.part("b"):
        clock.work(33)
    assert whole.seconds_for("c") == 6 and whole.seconds_for("b") == pytest.approx(13)


def test_a_budget_that_is_used_up_leaves_every_part_its_first_piece():
    clock, said = Clock(), []
    whole = Budget({"a": 10, "b": 10}, clock=clock, say=said.append)
    for name in "ab":
        with whole.part(name) as part:
            assert list(work(clock, part.each("123", "letters"), 100)) == ["1"]
    assert said == [
        f"Left out to keep to {seconds} s: 2 of 3 letters. {budget.MORE}" for seconds in (10, 0)
    ]


def work(clock: Clock, items, seconds: float):
    for item in items:
        clock.work(seconds)
        yield item


def test_twice_as_long_has_twice_the_seconds():
    assert Budget(ON_CPU, longer=2).seconds == 2 * Budget(ON_CPU).seconds
    assert Budget(ON_GPU).seconds > Budget(ON_CPU).seconds


def test_the_whole_chapter_fits_into_three_minutes():
    assert Budget().seconds <= 165  # the other cells take ten seconds


def test_pieces_that_grow_are_judged_by_the_growth():
    clock, said = Clock(), []
    with Budget({"a": 10}, clock=clock, say=said.append).part("a") as part:
        done = [batch for batch in work(clock, part.each((1, 2, 4), "batches", grows=4), 2)]
    assert done == [1, 2] and "1 of 3 batches" in said[0]


def test_a_share_is_of_what_is_left_and_tells_the_whole_what_it_left_out():
    clock = Clock()
    with Budget({"a": 30}, clock=clock, say=lambda line: None).part("a") as part:
        clock.work(10)
        mine = part.share(2)
        assert mine.left == 10
        assert not mine.fits(11, "the rest") and mine.fits(9, "little")
        assert part.left_out == ["the rest"]


@pytest.fixture
def short(machine, monkeypatch):
    """A machine whose clock runs with every look at it: nothing but first pieces fits."""
    for name, value in (("TEXTS", 2), ("TOGETHER", 1), ("TOKENS", 8), ("CLASS_POSITIONS", 50)):
        monkeypatch.setattr(traces, name, value)
    for name, value in (("BATCHES", (1, 2)), ("KS", (2,)), ("TOKENS", 3)):
        monkeypatch.setattr(batches, name, value)
    said: list[str] = []
    clock = Clock(tick=1e6)
    effort = SMALL._replace(prompts=2)
    parts = machine.targets, machine.drafts, (), effort, 1e9, machine.costs
    return Machine(CPU, machine.dtype, *parts, budget=Budget(clock=clock, say=said.append)), said


def test_every_part_does_its_first_piece_and_names_the_rest(short):
    machine, said = short
    ((_, found),) = identity.of_targets(LIBRARY, machine, "small", 2)
    assert found.same + found.near_ties == 1
    assert engineering.versions(engineering.measure(LIBRARY, machine, "built-in", "small", 2))
    assert len(traces.of_built_in(LIBRARY, machine, 2).texts) == 1
    assert list(batches.measure(LIBRARY, machine, "built-in", "small")) == ["1"]
    parts = [line.split(": ")[1].split(". LONGER")[0] for line in said]
    assert parts[0] == "3 of 4 prompts of the built-in target"
    assert parts[1] == "1 of 2 turns on the prompts"
    assert parts[2].startswith("1 of 2 groups of texts, ")
    assert parts[3] == "1 of 2 batches, the largest"


def test_positions_are_counted_as_many_as_fit(short, monkeypatch):
    machine, said = short
    monkeypatch.setattr("specdec_lib.measure.core.acceptance.WINDOW", 64)
    monkeypatch.setattr(grid, "TRIAL", 20)
    with machine.budget.part(budget.ACCEPTANCE) as part:
        rates = grid.acceptance_rates(60, part)
    assert {each.positions for each in rates.values()} == {20}
    assert "40 of 60 positions of code, 40 of 60 positions of prose" in said[0]


def test_runs_that_do_not_fit_are_named_and_come_as_promised(short, monkeypatch):
    machine, said = short
    outcome = Outcome(Spread(1.5, 1.0, 2.0), Spread(1.5, 1.0, 2.0), None, None)
    monkeypatch.setattr(grid.Contest, "outcome", lambda *args: outcome)
    costs = machine.costs["built-in"].drafts["small"]
    rows = [grid.row_of("built-in", "small", "code", t, Rate(0.7, 60), costs) for t in (1, 0)]
    with machine.budget.part(budget.RUNS) as part:
        done = list(grid.run_rows(machine, LIBRARY, rows, part))
    assert done[0].empirical and done[0].over_hugging is None and done[1] == rows[1]
    assert "the run of small on built-in, code, T = 0" in said[0]


@pytest.fixture
def generations(monkeypatch):
    """A contest in which a plain generation takes a second, and what was done, in its order.

    Three decoders take six turns, 21 s with the round that warms up; loading Hugging Face takes 22.
    """
    clock, done = Clock(), []

    def taking(seconds: float, name: str):
        return lambda *given: done.append(name) or clock.work(seconds)

    sides = {name: contest.Side("float32", taking(1, name)) for name in contest.SIDES}
    ours = {name: taking(1, name) for name in ("plain", "loop", contest.AT_4)}
    monkeypatch.setattr(contest, "contestants", lambda *given: ours)
    monkeypatch.setattr(contest.Contest, "prompts", lambda *given: ["a", "b", "c"])
    monkeypatch.setattr(contest.Contest, "sides", lambda *given: taking(22, "loading")() or sides)
    found = SimpleNamespace(seconds=1 / 29, prompt=5.0)
    machine = SimpleNamespace(
        targets={"40m": None}, drafts={"small": None}, plain={}, costs={"40m": found},
        effort=Effort(), device=CPU, best_plain=lambda name: None,
    )  # fmt: skip
    held = contest.Contest(machine, "40m", LIBRARY)

    def outcome(seconds: float):
        part = Part("runs", seconds, clock, Progress(lambda: None, clock))
        setting = contest.Setting("small", 3, ".py", contest.GREEDY)
        return held.outcome(setting, part, "small on 40m"), part.left_out, done

    return outcome


def test_turns_have_their_seconds_before_hugging_face_is_loaded(generations):
    outcome, left_out, done = generations(26)
    assert done.count("plain") == 1 + 6 and "loading" not in done
    assert left_out == ["Hugging Face beside small on 40m"] and outcome.over_hugging is None


def test_the_round_that_warms_up_is_not_taken_for_the_length_of_a_turn(generations):
    _, left_out, done = generations(11)
    assert done.count("plain") == 1 + 2
    assert left_out[0] == "4 of 6 turns on the prompts"


def test_hugging_face_is_run_beside_the_loop_with_the_seconds_that_turns_leave(generations):
    outcome, left_out, done = generations(60)
    before = done[: done.index("loading")]
    assert before.count("plain") == 1 + 6 and done.count("plain") == 1 + 6
    assert done.count("hugging") == done.count("assisted") == 1 + 4
    assert left_out == ["2 of 6 turns beside Hugging Face"]
    assert outcome.over_hugging and outcome.hugging == "float32"


class Place:
    """A place on the page, and all that it has shown."""

    def __init__(self) -> None:
        self.shown: list[str] = []

    def update(self, text: str) -> None:
        self.shown.append(text)


def test_progress_appears_late_changes_seldom_and_is_gone_at_the_end():
    clock, place = Clock(), Place()
    progress = Progress(lambda: place, clock)
    progress.say("at once")
    assert place.shown == []
    for second in (AFTER, AFTER + EVERY / 2, AFTER + EVERY):
        clock.now = second
        progress.say(f"after {second:g}")
    progress.end()
    assert place.shown == [f"after {AFTER:g}", f"after {AFTER + EVERY:g}", ""]


def test_quick_work_leaves_no_place_and_nothing_is_shown_where_nothing_can_be():
    clock, places = Clock(), []
    progress = Progress(lambda: places.append(1), clock)
    progress.say("quick")
    progress.end()
    assert places == []
    clock.now = AFTER
    progress.say("slow")
    progress.end()
    assert places == [1]


def test_every_piece_of_a_part_is_shown(monkeypatch):
    clock, place = Clock(), Place()
    monkeypatch.setattr("specdec_lib.measure.core.progress.output", lambda: place)
    with Budget({"a": 100}, clock=clock).part("a") as part:
        list(work(clock, part.each(range(6), "turns"), 5))
    assert place.shown[0] == "a: turns, 2 of 6 (5 s of 100 s at most)"
    assert len(place.shown) == 6 and place.shown[-1] == ""


def test_a_step_without_pieces_goes_on_saying_what_it_does():
    """With a thread of its own: the step may be one long call."""
    clock, place, enough = Clock(), Place(), Event()

    def update(text: str) -> None:
        place.shown.append(text)
        if len(place.shown) == 3:
            enough.set()

    progress = Progress(lambda: SimpleNamespace(update=update), clock, after=0)

    def words() -> str:
        clock.now += EVERY
        return f"loading, {clock.now:g} s"

    with progress.beating(0.001):
        progress.keep(words)
        assert enough.wait(10)
    shown = list(place.shown)
    assert shown[:3] == ["loading, 1 s", "loading, 2 s", "loading, 3 s"] and shown[-1] == ""
    time.sleep(0.01)
    assert place.shown == shown


def test_chapter_08_takes_three_minutes_at_most_and_eight_on_a_gpu():
    assert sum(ON_CPU.values()) <= 170 and sum(ON_GPU.values()) <= 470  # other cells: ten seconds
