"""What every measurement is made of: what is counted, left out, and put beside what."""

from pathlib import Path

import pytest
import torch
from decoders.random_models import llama

from specdec_lib.assets import Document, documents
from specdec_lib.decoding.state import Generation
from specdec_lib.measure.core import costs, held_out, models, runs, timing
from specdec_lib.measure.core.acceptance import (
    Acceptance,
    acceptance,
    acceptances,
    bits_per_byte,
    places,
)
from specdec_lib.measure.core.held_out import Tokens
from specdec_lib.models.llama import Llama
from specdec_lib.theory import Costs
from specdec_lib.training.corpus import train_tokenizer


def test_tasks_are_interleaved_and_the_first_rounds_not_counted():
    order: list[str] = []
    tasks = {name: (lambda name=name: order.append(name)) for name in "ab"}
    seconds = timing.interleaved(tasks, rounds=2, warm_up=1)
    assert order == ["a", "b"] * 3
    assert {name: len(times) for name, times in seconds.items()} == {"a": 2, "b": 2}


def test_a_spread_is_the_median_with_its_quartiles():
    assert str(timing.Spread(2.0, 1.5, 2.5)) == "2.00 (1.50 to 2.50)"
    assert "no quartiles" in str(timing.Spread(3.0, 3.0, 3.0))


TEXT = Document("x.py", "import os\ny = 2\nimport os\n", frozenset({0, 2}))


@pytest.fixture
def tokenizer():
    """A tokenizer of bytes."""
    return train_tokenizer(["ab"])


def test_a_token_counts_with_the_line_that_it_ends_in(tokenizer):
    tokens = held_out.encoded(TEXT, tokenizer)
    assert len(tokens.ids) == len(tokens.novel) == len(tokens.sizes) == len(TEXT.text) + 1
    assert tokens.ids[0] == 0 and not tokens.novel[0]
    novel = "".join(c for c, new in zip(TEXT.text, tokens.novel[1:], strict=True) if new)
    assert novel == "y = 2\n"
    assert tokens.sizes == [0] + [1] * len(TEXT.text)


def test_bytes_are_counted_where_a_character_has_several(tokenizer):
    tokens = held_out.encoded(Document("x.py", "é", frozenset()), tokenizer)
    assert sum(tokens.sizes) == 2


def test_the_share_of_repeated_runs():
    assert held_out.repeated_share([1, 2, 3] * 4, size=3) == pytest.approx(1 - 3 / 10)
    assert held_out.repeated_share(list(range(20))) == 0
    assert held_out.repeated_share([1, 2]) == 0


P = torch.tensor([0.5, 0.25, 0.25])
Q = torch.tensor([0.25, 0.5, 0.25])


def test_acceptance_is_the_mean_overlap_on_novel_positions():
    texts = [Tokens("a", [0, 1, 2, 0], [False, True, False, True], [0, 1, 1, 1])]

    def p(ids: list[int]) -> torch.Tensor:
        return torch.stack([P, P, Q, P])[: len(ids)]

    def q(ids: list[int]) -> torch.Tensor:
        return Q.expand(len(ids), 3)

    # Judged are the positions before the novel tokens 1 and 3: P against Q, and Q against Q.
    assert acceptance(p, q, texts) == Acceptance(alpha=(0.75 + 1) / 2, greedy=0.5, positions=2)
    assert acceptance(p, q, texts, most=1) == Acceptance(alpha=0.75, greedy=0.0, positions=1)
    judged = [place[1:] for place in places(p, q, texts[0].ids, start=2)]
    assert judged == [(0.75, P[2], Q[2]), (1.0, Q[0], Q[0])]


def test_the_places_of_two_functions_spell_a_piece_of_the_held_out_text():
    found = models.two_functions("small")
    text = "".join(place.piece for place in found)
    assert text.startswith("    def run_script(") and text.endswith("stuff)")
    assert any(text in document.text for document in documents())
    assert all(min(p, q) <= accepted + 1e-6 <= 1 + 1e-5 for _, accepted, p, q in found)


def test_bits_per_byte_counts_novel_tokens_only():
    texts = [Tokens("a", [0, 0, 1, 2], [False, True, False, True], [0, 3, 1, 1])]
    assert bits_per_byte(lambda ids: P.expand(len(ids), 3), texts) == pytest.approx((1 + 2) / 4)


@pytest.fixture
def small(tmp_path: Path) -> Llama:
    """A model with a capacity for the contexts of the cost measurement."""
    model = llama()
    model.config.max_position_embeddings = 256
    model.save_pretrained(tmp_path)
    return Llama.from_folder(tmp_path)


def test_every_pass_of_a_task_stands_after_the_same_context(small: Llama, monkeypatch):
    passes, forward = [], small.forward

    def recorded(tokens, cache, **options):
        passes.append((tokens.shape[1], *cache.length.tolist()))
        return forward(tokens, cache, **options)

    monkeypatch.setattr(small, "forward", recorded)
    run = costs.pass_task(small, 3, 2)
    run(), run()
    assert passes[0] == (costs.CONTEXT, 0, 0)
    assert len(passes) > 2 and set(passes[1:]) == {(3, costs.CONTEXT, costs.CONTEXT)}


def test_passes_of_several_widths_read_their_context_once_and_nothing_of_each_other(
    small: Llama, monkeypatch
):
    read, forward = [], small.forward

    def recorded(tokens, cache):
        read.append((tokens.shape[1], forward(tokens, cache)))
        return read[-1][1]

    monkeypatch.setattr(small, "forward", recorded)
    together = costs.pass_tasks(small, [1, 4, 2])
    for run in together.values():
        run()
    assert [width for width, _ in read] == [costs.CONTEXT, 1, 4, 2]
    costs.pass_task(small, 2)()
    torch.testing.assert_close(read[3][1], read[-1][1])  # alone, and after the others


def test_costs_are_relative_to_a_pass_over_one_token():
    times = {1: [2.0, 2.0, 9.0], "draft": [0.5, 0.5, 0.1], 2: [3.0, 3.0, 3.0]}
    found, seconds = costs.relative(times)
    assert seconds == 2.0 and found == {"draft": Costs(0.25, {1: 1.0, 2: 1.5})}


def test_the_costs_of_all_dtypes_hold_every_draft_and_width(small: Llama):
    found = costs.costs_by_dtype({torch.float32: small}, {"a": small, "b": small}, rounds=1)
    drafts, seconds = found[torch.float32]
    assert seconds > 0 and set(drafts) == {"a", "b"}
    assert set(drafts["a"].v) == set(range(1, costs.K_MAX + 2))


def generation(tokens: list[int]) -> Generation:
    return Generation([tokens], target_passes=4)


def test_text_that_runs_in_circles_is_left_out_of_greedy_figures():
    texts = {(1,): list(range(20)), (2,): [5] * 20}

    def decoder(prompt: list[int]) -> Generation:
        return generation(texts[tuple(prompt)])

    assert runs.straight(decoder, [[1], [2], [1]], most=8) == [[1], [1]]
    assert runs.straight(decoder, [[2], [1], [1]], most=1) == [[1]]
    with pytest.raises(ValueError, match="runs in circles; use more prompts"):
        runs.straight(decoder, [[2]], most=8)


def test_a_decoder_has_other_random_numbers_at_every_call():
    drawn = []

    def generate(prompts, settings, rngs) -> Generation:
        drawn.append([rng.random() for rng in rngs])
        return generation([1] * settings.max_new_tokens)

    one, batch = (runs.decoder(generate, runs.SAMPLED, 3, batch=many) for many in (False, True))
    assert one([7]).tokens == [[1, 1, 1]]
    one([7]), batch([[7], [8]])
    assert len({*drawn[0], *drawn[1], *drawn[2]}) == 3 and drawn[2][0] == drawn[0][0]


def test_every_draft_is_measured_on_the_same_positions():
    texts = [Tokens("a", [0, 1, 2], [False, True, True], [0, 1, 1])]
    drafts = {"same": lambda ids: P.expand(len(ids), 3), "other": lambda ids: Q.expand(len(ids), 3)}
    rates = acceptances(drafts["same"], drafts, texts, most=10)
    assert rates == {"same": Acceptance(1.0, 1.0, 2), "other": Acceptance(0.75, 0.0, 2)}
