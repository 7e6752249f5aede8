"""Tokens a block, computed on texts, are those of the decoder; and what options cost."""

from collections.abc import Callable, Sequence
from functools import partial

import pytest
import torch
from decoders.exact_drafters import EXACT, PROMPT, Llamas, plain_distribution
from decoders.random_models import eagle_weights

from specdec_lib.decoding.generate import plain_generate, speculative_generate, tree_generate
from specdec_lib.decoding.state import Generation, Settings
from specdec_lib.drafters.eagle import Eagle, EagleTree
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.drafters.tree import Candidates
from specdec_lib.exact import Tape, branches
from specdec_lib.measure.core.costs import CONTEXT
from specdec_lib.measure.core.models import target
from specdec_lib.measure.drafters import bound, depth
from specdec_lib.measure.drafters.bound import Expected, Option, drafts_for, expected, pass_costs
from specdec_lib.measure.drafters.expected import (
    along_model,
    along_states,
    chances,
    tokens_a_block,
    written,
)
from specdec_lib.sampling import Greedy, Warp

SHAPES = ((1,), (1, 1), (2,), (3,), (2, 1), (1, 2))
DRAFTS = ("model", "EAGLE")


def decoded(llamas: Llamas, name: str, widths: Sequence[int], settings: Settings, choices, how):
    """A generation with this draft: a chain, or a tree of candidates picked in the way `how`."""
    model, size = llamas.target, len(widths)
    if max(widths) == 1:
        heads = Eagle(model, eagle_weights(model))
        chain = ModelDrafter(llamas.draft) if name == "model" else heads
        return speculative_generate(model, chain, [PROMPT], size, settings, choices)
    tree = partial(Candidates, llamas.draft)
    if name == "EAGLE":
        tree = partial(EagleTree, model, eagle_weights(model))
    return tree_generate(model, tree(widths, how), PROMPT, size, settings, choices)


def computed(llamas: Llamas, name: str, widths: Sequence[int], text: Sequence[int], greedy: bool):
    """Tokens a block on average, on `text` alone."""
    model = llamas.target
    along = along_model(llamas.draft)
    if name == "EAGLE":
        along = along_states(Eagle(model, eagle_weights(model)))
    return tokens_a_block(chances([written(model, PROMPT, text)], along, greedy), widths)


@pytest.mark.parametrize("name", DRAFTS)
@pytest.mark.parametrize("widths", SHAPES, ids=str)
def test_the_decoder_takes_as_many_blocks_as_are_computed(llamas, name: str, widths):
    tokens = 3 if max(widths) == 1 else 2
    decode: Callable[[Tape], Generation] = partial(
        decoded, llamas, name, widths, Settings(tokens), how="independent"
    )
    taken = sum(run.target_passes * weight for run, weight in branches(lambda t: decode(choices=t)))
    texts = plain_distribution(llamas.target, PROMPT, tokens)
    blocks = sum(
        weight * tokens / computed(llamas, name, widths, text, greedy=False)
        for text, weight in texts.items()
    )
    assert abs(taken - blocks) < EXACT


@pytest.mark.parametrize("name", DRAFTS)
@pytest.mark.parametrize("widths", [(1,), (1, 1, 1), (2, 1), (2, 2)], ids=str)
def test_at_temperature_0_too(llamas, name: str, widths):
    settings = Settings(20, Warp(0))
    text = plain_generate(llamas.target, [PROMPT], settings, Greedy()).tokens[0]
    run = decoded(llamas, name, widths, settings, Greedy(), how="top")
    found = computed(llamas, name, widths, text, greedy=True)
    assert run.tokens[0] == text and found == pytest.approx(20 / run.target_passes)


def test_an_option_says_what_it_reads():
    chain, tree = Option("small", (1, 1, 1)), Option("small", (3, 2, 1))
    assert (chain.setting, chain.nodes, chain.reads) == ("K = 3", 3, [1, 1, 1])
    assert (tree.setting, tree.nodes, tree.reads) == ("tree 3x2x1", 15, [1, 3, 6])


def test_the_expected_speed_is_that_of_the_passes(llamas):
    text = written(llamas.target, PROMPT, [1, 0, 2, 1])
    found = {"small": chances([text], along_model(llamas.draft), greedy=False)}
    option = Option("small", (2, 1))
    costs = {("target", 1): 0.01, ("target", 5): 0.015, ("small", 1): 1e-3, ("small", 2): 2e-3}
    row = expected(option, found, costs)
    assert (row.drafting, row.verifying) == (pytest.approx(0.3), pytest.approx(1.5))
    assert row.speed == pytest.approx(tokens_a_block(found["small"], (2, 1)) / 1.8)


def test_every_pass_of_every_option_is_measured(monkeypatch: pytest.MonkeyPatch):
    seconds = {"target": 1.0, "large draft": 0.1, bound.EAGLE: 0.2}
    monkeypatch.setattr(
        bound, "pass_tasks", lambda model, widths: {width: ("target", width) for width in widths}
    )
    monkeypatch.setattr(
        bound,
        "interleaved",
        lambda tasks, rounds: {key: [seconds[task[0]] * task[1]] for key, task in tasks.items()},
    )
    drafts = {
        name: bound.Draft(None, None, partial(lambda own, n: (own, n), name), None)
        for name in ("large draft", bound.EAGLE)
    }
    compared = bound.options(drafts)
    costs = pass_costs(None, drafts, compared)
    for option in compared:
        assert costs["target", 1 + option.nodes] == 1 + option.nodes
        for read in option.reads:
            assert costs[option.draft, read] == pytest.approx(seconds[option.draft] * read)


@pytest.fixture(scope="module")
def drafts() -> dict[str, bound.Draft]:
    """Those of the built-in target."""
    return drafts_for(target(None, torch.float32))


def test_a_step_of_every_draft_can_be_made_again_and_again(drafts: dict[str, bound.Draft]):
    for each in drafts.values():
        for tokens in (1, 4):
            step = each.step(tokens)
            step(), step()
    assert drafts[bound.EAGLE].chain.cache.longest == CONTEXT


@pytest.mark.parametrize("temperature", [0, 1])
def test_the_table_has_a_row_for_every_option(monkeypatch: pytest.MonkeyPatch, temperature: float):
    monkeypatch.setattr(bound, "CHAINS", ((1,), (1, 1)))
    monkeypatch.setattr(bound, "TREES", ((2, 1),))
    monkeypatch.setattr(bound, "ROUNDS", 1)
    monkeypatch.setattr(depth, "TEXTS", 1)
    monkeypatch.setattr(depth, "MEASURED", 1)
    found = depth.table_for(target(None, torch.float32), Warp(temperature), 1, 8)
    _, _, *rows = found.splitlines()
    shown = [[cell.strip() for cell in row.split("|")[1:-1]] for row in rows]
    assert len(shown) == 12 and {row[1] for row in shown} == {"K = 1", "K = 2", "tree 2x1"}
    measured = [row[1] for row in shown if row[-1]]
    assert len(measured) == 8 and measured.count("tree 2x1") == 4  # a chain and a tree a draft
    for _, _, tokens, drafting, _, v, speed, _ in shown:
        assert 1 <= float(tokens) <= 3 and float(drafting) > 0
        assert float(speed) == pytest.approx(
            float(tokens) / (float(drafting) + float(v)), rel=0.02, abs=0.006
        )


def test_drafts_stand_together_the_fastest_first():
    rows = [
        Expected(Option("slow", (1, 1)), 1.5, 0.5, 1.0),
        Expected(Option("fast", (2,)), 1.5, 0.1, 1.0),
        Expected(Option("slow", (1,)), 1.5, 0.4, 1.0),
        Expected(Option("fast", (1,)), 1.5, 0.1, 1.1),
    ]
    ordered = [(row.option.draft, row.option.setting) for row in depth.by_speed(rows)]
    assert ordered == [
        ("fast", "K = 1"), ("fast", "tree 2"), ("slow", "K = 1"), ("slow", "K = 2"),
    ]  # fmt: skip


def test_what_is_measured_is_a_block_without_luck_and_without_the_prefill(monkeypatch):
    rows = [Expected(Option("fast", (1,) * k), 1 + k / 4, 0.1, 1.0) for k in (1, 2)]

    def ran(seconds: float, passes: int) -> Callable[[list], Generation]:
        return lambda prompt: Generation([[0] * 8], [[]], passes, seconds)

    monkeypatch.setattr(depth, "plain", lambda *given: ran(0.8, 8))  # 0.1 s a token
    monkeypatch.setattr(depth, "decoder_of", lambda option, *given: ran(0.6, 4 // option.nodes))
    found = depth.measured(rows, {}, None, Warp(), [[0], [1]], 8)
    assert [found[row].median for row in rows] == pytest.approx([1.25 / 1.5, 1.5 / 3.0])
