"""What every measurement is made of: what is counted, left out, and put beside what."""

import pytest
import torch

from specdec_lib.assets import HeldOutDocument, tokenizer
from specdec_lib.decoding.state import Generation
from specdec_lib.measure import costs, limits, models, prompts, timing
from specdec_lib.measure.acceptance import Acceptance, acceptance
from specdec_lib.measure.prompt_kinds import COPIED_TOKENS, PROMPT_KINDS, SOURCE_TOKENS
from specdec_lib.measure.prompts import EncodedDocument
from specdec_lib.theory import Costs
from specdec_lib.training.corpus import train_tokenizer


def test_tasks_are_interleaved_and_the_first_rounds_not_counted():
    order: list[str] = []
    tasks = {name: (lambda name=name: order.append(name)) for name in "ab"}
    seconds = timing.interleaved_times(tasks, rounds=2, warm_up=1)
    assert order == ["a", "b"] * 3
    assert {name: len(times) for name, times in seconds.items()} == {"a": 2, "b": 2}


TEXT = HeldOutDocument("x.py", "import os\ny = 2\nimport os\n", frozenset({0, 2}))


def test_a_token_counts_with_the_line_that_it_ends_in():
    tokens = prompts.encode_document(TEXT, train_tokenizer(["ab"]))  # each is a byte
    assert len(tokens.ids) == len(tokens.novel) == len(TEXT.text) + 1
    assert tokens.ids[0] == 0 and not tokens.novel[0]
    novel = "".join(c for c, new in zip(TEXT.text, tokens.novel[1:], strict=True) if new)
    assert novel == "y = 2\n"


def test_the_share_of_repeated_runs():
    assert prompts.repeated_share([1, 2, 3] * 4, size=3) == pytest.approx(1 - 3 / 10)
    assert prompts.repeated_share(list(range(20))) == 0
    assert prompts.repeated_share([1, 2]) == 0


P = torch.tensor([0.5, 0.25, 0.25])
Q = torch.tensor([0.25, 0.5, 0.25])


def test_acceptance_is_the_mean_overlap_on_novel_positions():
    texts = [EncodedDocument("a", [0, 1, 2, 0], [False, True, False, True])]

    def p(ids: list[int]) -> torch.Tensor:
        return torch.stack([P, P, Q, P])[: len(ids)]

    def q(ids: list[int]) -> torch.Tensor:
        return Q.expand(len(ids), 3)

    # Judged are the positions before the novel tokens 1 and 3: P against Q, and Q against Q.
    assert acceptance(p, q, texts) == Acceptance(alpha=(0.75 + 1) / 2, greedy=0.5, positions=2)
    assert acceptance(p, q, texts, max_positions=1) == Acceptance(0.75, 0.0, 1)


def test_without_fetched_weights_a_chat_is_left_out_in_a_line(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SPECDEC_CACHE", str(tmp_path))
    assert models.fetched_chat("Why?", count=10) is None
    (line,) = capsys.readouterr().out.splitlines()
    assert "run `specdec fetch smollm2-135m`" in line


def test_costs_are_relative_to_a_pass_over_one_token():
    times = {1: [2.0, 2.0, 9.0], "draft": [0.5, 0.5, 0.1], 2: [3.0, 3.0, 3.0]}
    found = costs.costs_from_times(times)
    assert found.pass_seconds == 2.0 and found.by_draft == {"draft": Costs(0.25, {1: 1.0, 2: 1.5})}


def test_text_that_runs_in_circles_is_left_out_of_greedy_figures():
    texts = {(1,): list(range(20)), (2,): [5] * 20}

    def decoder(prompt: list[int]) -> Generation:
        return Generation([texts[tuple(prompt)]])

    assert prompts.without_repetition(decoder, [[1], [2], [1]], 8) == [[1], [1]]
    assert prompts.without_repetition(decoder, [[2], [1], [1]], 1) == [[1]]
    with pytest.raises(ValueError, match="runs in circles; use more prompts"):
        prompts.without_repetition(decoder, [[2]], 8)


def test_both_limits_are_measured_here():
    found = limits.machine_limits()
    assert set(found) == {"bandwidth", "peak_flops"} and min(found.values()) > 1e7


def test_a_pass_reads_all_weights_but_the_embedding():
    """With half the bytes where the processor widens the shipped numbers by itself."""
    count, size = limits.weights_and_bytes(models.load_target(None, torch.float32))
    assert 6e6 < count < 8e6 and size in (2, 4)
    assert limits.weights_and_bytes(models.load_target(None, torch.bfloat16)) == (count, 2)


@pytest.mark.parametrize("kind", PROMPT_KINDS)
def test_prompts_of_a_kind_are_as_many_as_asked_for_and_all_different(kind: str):
    found = PROMPT_KINDS[kind](64)
    assert len({tuple(prompt) for prompt in found}) == 64
    assert found[:8] == PROMPT_KINDS[kind](8) and max(map(len, found)) < 256
    with pytest.raises(ValueError, match=r"the held-out text has \d+ \w+, not 100000"):
        PROMPT_KINDS[kind](100_000)


def test_a_copy_repeats_its_source_with_one_name_changed():
    words = tokenizer()
    for prompt in PROMPT_KINDS["copy and edit"](8):
        copy = words.decode(prompt[SOURCE_TOKENS:]).lstrip("\n")
        source = words.decode(prompt[:SOURCE_TOKENS])
        begun = words.decode(prompt[:COPIED_TOKENS]).lstrip("\n")
        assert copy.replace("new_", "", 1).rstrip() == begun.rstrip() and begun.rstrip() in source
