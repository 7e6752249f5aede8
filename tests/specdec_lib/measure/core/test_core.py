"""What every measurement is made of: what is counted, left out, and put beside what."""

from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from decoders.random_models import llama

from specdec_lib.assets import Document
from specdec_lib.decoding.state import Generation
from specdec_lib.measure.core import acceptance as reading
from specdec_lib.measure.core import costs, held_out, pages, runs, timing
from specdec_lib.measure.core.acceptance import Acceptance, acceptance, acceptances, bits_per_byte
from specdec_lib.measure.core.held_out import Tokens
from specdec_lib.measure.core.progress import Progress, watched
from specdec_lib.measure.core.timing import Spread
from specdec_lib.models.llama import Llama
from specdec_lib.training.tokens import train_tokenizer


def test_tasks_are_interleaved_and_the_first_rounds_not_counted():
    order: list[str] = []
    tasks = {name: (lambda name=name: order.append(name)) for name in "ab"}
    seconds = timing.interleaved(tasks, rounds=2, warm_up=1)
    assert order == ["a", "b"] * 3
    assert {name: len(times) for name, times in seconds.items()} == {"a": 2, "b": 2}
    lengths = timing.interleaved(tasks, 2, measure=lambda task: task() or len(order))
    assert lengths == {"a": [9, 11], "b": [10, 12]}


@pytest.mark.parametrize(("once", "rounds"), [(0.01, 6), (1.0, 4), (9.0, 2)])
def test_as_many_rounds_as_fit_and_what_is_left_out_is_said(monkeypatch, once, rounds):
    order, said = [], []
    tasks = {name: (lambda name=name: order.append(name)) for name in "ab"}
    monkeypatch.setattr(timing, "timed", lambda task: (task(), once)[1])
    seconds = timing.within(tasks, seconds=4, most=6, say=said.append)
    assert order == ["a", "b"] * (1 + rounds) and all(
        len(each) == rounds for each in seconds.values()
    )
    why = [f"{rounds} rounds, not 6, since one takes {once:.1f} s and there are 4."]
    assert said == (why if rounds < 6 else [])


def test_decoders_are_interleaved_on_every_prompt_and_warmed_up_on_the_first():
    calls = []
    decoders = {name: (lambda p, name=name: calls.append((name, *p))) for name in "ab"}
    seconds = timing.on_prompts(decoders, [[1], [2]], rounds=2)
    assert calls == [("a", 1), ("b", 1)] * 3 + [("a", 2), ("b", 2)] * 2
    assert {name: len(times) for name, times in seconds.items()} == {"a": 4, "b": 4}


def test_prompts_are_left_out_once_the_time_is_over_and_that_is_said(monkeypatch, capsys):
    monkeypatch.setattr(timing, "interleaved", lambda tasks, *rest: {key: [1.0] for key in tasks})
    decoders = dict.fromkeys("ab", print)
    assert len(timing.on_prompts(decoders, [1, 2, 3], rounds=1, seconds=6)["a"]) == 3
    assert capsys.readouterr().out == ""
    assert len(timing.on_prompts(decoders, [1, 2, 3], rounds=1, seconds=4)["a"]) == 2
    assert capsys.readouterr().out == "2 of 3 prompts were run, since 4 s are over.\n"


def test_what_is_watched_says_how_much_is_done():
    said, seconds = [], iter([0, 1, 3, 3.5])
    place = SimpleNamespace(update=said.append)
    progress = Progress(lambda: place, lambda: next(seconds))
    assert list(watched("abc", "letters", progress)) == ["a", "b", "c"]
    assert said == ["1 of 3 letters", ""]  # nothing before 2 s, and not twice a second


def test_ratios_are_taken_pair_by_pair():
    assert timing.ratios([2.0, 30.0, 4.0], [1.0, 10.0, 4.0]) == Spread(2.0, 1.5, 2.5)
    assert timing.spread([3.0]) == Spread(3.0, 3.0, 3.0)
    assert str(Spread(2.0, 1.5, 2.5)) == "2.00 (1.50 to 2.50)"
    assert str(timing.spread([3.0])) == "3.00 (one turn: no quartiles)"


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


def test_bits_per_byte_counts_novel_tokens_only():
    texts = [Tokens("a", [0, 0, 1, 2], [False, True, False, True], [0, 3, 1, 1])]
    assert bits_per_byte(lambda ids: P.expand(len(ids), 3), texts) == pytest.approx((1 + 2) / 4)


def test_windows_cover_a_long_text_once(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(reading, "WINDOW", 4)
    ids = list(range(11))
    texts = [Tokens("a", ids, [True] * 11, [1] * 11)]
    predicted = [
        window[i] + 1 for window, judged in reading.windows(texts, 100) for i in judged.tolist()
    ]
    assert predicted == ids[1:]


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


def test_costs_are_relative_to_one_token(small: Llama):
    drafts = {"draft": costs.pass_task(small, 1)}
    measured, seconds = costs.costs_by_draft(small, drafts, 2, rounds=3)
    assert measured["draft"].v[1] == 1 and set(measured["draft"].v) == {1, 2, 3}
    assert seconds > 0 and measured["draft"].c > 0


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


def test_a_recorded_decoder_counts_tokens_and_passes():
    recorded = runs.Recorded(lambda prompt: generation([1, 2, 3, 4, 5, 6]))
    recorded([0]), recorded([0])
    assert recorded.tokens_a_block == 1.5 and recorded.repeated == 0.0


def test_every_draft_is_measured_on_the_same_positions(capsys):
    texts = [Tokens("a", [0, 1, 2], [False, True, True], [0, 1, 1])]
    drafts = {"same": lambda ids: P.expand(len(ids), 3), "other": lambda ids: Q.expand(len(ids), 3)}
    rates = acceptances(drafts["same"], drafts, texts, most=10)
    assert rates == {"same": Acceptance(1.0, 1.0, 2), "other": Acceptance(0.75, 0.0, 2)}
    assert capsys.readouterr().err == ""


TABLE = pages.markdown(("a", "b"), [("1", "x"), ("2", "")])


def test_a_table_takes_its_place_in_a_page_and_nothing_else(tmp_path: Path):
    assert TABLE == "| a | b |\n| --- | --- |\n| 1 | x |\n| 2 | |"
    page = tmp_path / "new" / "page.md"
    pages.write_table(page, "the table", "| old |")
    assert pages.table_in(page, "the table") == "| old |"
    page.write_text(f"before\n{page.read_text()}after\n")
    pages.write_table(page, "the table", TABLE)
    text = page.read_text()
    assert text.startswith("before\n<!-- the table -->\n\n| a | b |")
    assert text.endswith("| 2 | |\n\n<!-- end of the table -->\nafter\n") and "old" not in text


@pytest.mark.parametrize(
    "text", ["no place", "<!-- the table -->\nno end", "<!-- end of the table -->\n"]
)
def test_a_page_without_a_place_for_the_table_stays_as_it_is(tmp_path: Path, text: str):
    page = tmp_path / "page.md"
    page.write_text(text)
    with pytest.raises(ValueError, match="page.md has no place for a table: add the lines"):
        pages.write_table(page, "the table", TABLE)
    assert page.read_text() == text
