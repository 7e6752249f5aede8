"""The measuring tools: what is counted, what is left out, and what is put beside what."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from decoders.random_models import VOCAB, llama

from specdec_lib.assets import Document
from specdec_lib.decoding.state import Generation
from specdec_lib.measure import hugging
from specdec_lib.measure.bench import command as bench
from specdec_lib.measure.bench import comparisons
from specdec_lib.measure.bench.figures import FIGURES, Figure
from specdec_lib.measure.core import costs, held_out, runs, timing
from specdec_lib.measure.core.acceptance import Acceptance, acceptance, bits_per_byte
from specdec_lib.measure.core.held_out import Tokens
from specdec_lib.measure.core.timing import Spread
from specdec_lib.models.llama import Llama


def test_tasks_take_turns():
    order: list[str] = []
    tasks = {name: (lambda name=name: order.append(name)) for name in "ab"}
    seconds = timing.interleaved(tasks, rounds=2, warm_up=1)
    assert order == ["a", "b"] * 3
    assert {name: len(taken) for name, taken in seconds.items()} == {"a": 2, "b": 2}


def test_ratios_are_taken_pair_by_pair():
    assert timing.ratios([2.0, 30.0, 4.0], [1.0, 10.0, 4.0]) == Spread(2.0, 1.5, 2.5)
    assert timing.spread([3.0]) == Spread(3.0, 3.0, 3.0)
    assert str(Spread(2.0, 1.5, 2.5)) == "2.00 (1.50 to 2.50)"


TEXT = Document("x.py", "import os\ny = 2\nimport os\n", frozenset({0, 2}))


@pytest.fixture
def tokenizer():
    """A tokenizer of bytes."""
    from specdec_lib.training.tokens import train_tokenizer

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
    from specdec_lib.measure.core import acceptance as module

    monkeypatch.setattr(module, "WINDOW", 4)
    ids = list(range(11))
    texts = [Tokens("a", ids, [True] * 11, [1] * 11)]
    predicted = [
        window[i] + 1 for window, judged in module.windows(texts, 100) for i in judged.tolist()
    ]
    assert predicted == ids[1:]


@pytest.fixture
def small() -> Llama:
    """A model with a capacity for the contexts of the cost measurement."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        model = llama()
        model.config.max_position_embeddings = 256
        model.save_pretrained(folder)
        return Llama.from_folder(folder)


def test_a_bare_pass_can_be_repeated(small: Llama):
    lengths = []
    cache = small.new_cache

    def remember(*arguments):
        made = cache(*arguments)
        lengths.append(made)
        return made

    small.new_cache = remember
    task = costs.pass_task(small, tokens=3, batch=2)
    task(), task()
    assert lengths[0].length.tolist() == [costs.CONTEXT] * 2


def test_costs_are_relative_to_one_token(small: Llama):
    found, seconds = costs.costs_of(small, small, k_max=2, rounds=3)
    assert found.v[1] == 1 and set(found.v) == {1, 2, 3}
    assert seconds > 0 and 0.2 < found.c < 5


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


def test_a_comparison_takes_every_prompt_and_counts_the_later_rounds():
    calls = []

    def decoder(prompt: list[int]) -> Generation:
        calls.append(prompt[0])
        return generation([1])

    found = runs.compare(decoder, decoder, [[1], [2]])
    assert calls == [1] * 6 + [2] * 6
    assert found.low <= found.median <= found.high


def test_a_recorded_decoder_counts_tokens_and_passes():
    recorded = runs.Recorded(lambda prompt: generation([1, 2, 3, 4, 5, 6]))
    recorded([0]), recorded([0])
    assert recorded.tokens_a_block == 1.5 and recorded.repeated == 0.0


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    llama().save_pretrained(tmp_path)
    return tmp_path


def test_generate_is_counted_and_reads_no_token_twice(folder: Path):
    target = hugging.Counted.of_folder(folder, torch.float64)
    prompt = [5, 9, 2, 7]
    found = hugging.generate(target, prompt, new_tokens=6)
    assert len(found.tokens[0]) == 6
    assert (target.passes, target.tokens) == (6, len(prompt) + 5)


@pytest.mark.parametrize("k", [2, None])
def test_assisted_generation_gives_the_same_text_in_fewer_passes(folder: Path, k: int | None):
    target = hugging.Counted.of_folder(folder, torch.float64)
    draft = hugging.Counted.of_folder(folder, torch.float64)
    prompt = [5, 9, 2, 7]
    expected = hugging.generate(target, prompt, new_tokens=9).tokens
    target.reset()
    assert hugging.generate(target, prompt, 9, draft=draft, k=k).tokens == expected
    # The draft is the target: everything is accepted, and nothing may be read again.
    assert target.passes <= 5 and target.tokens <= len(prompt) + 9 + target.passes
    if k:
        assert target.passes == 9 // (k + 1)


def test_sampling_with_transformers_is_at_temperature_1_and_unfiltered(folder: Path):
    target = hugging.Counted.of_folder(folder, torch.float64)
    torch.manual_seed(0)
    found = hugging.generate(target, [5], new_tokens=40, sample=True).tokens[0]
    assert len(set(found)) > 15 and max(found) < VOCAB


def test_a_goal_is_met_by_the_median_on_its_side():
    def figure(goal: float | None, most: bool = False) -> Figure:
        return Figure("", goal, lambda bench: 0.0, most)

    assert figure(2.0).met(Spread(2.1, 1.0, 3.0)) and not figure(2.0).met(1.9)
    assert figure(0.1, most=True).met(0.05) and not figure(0.1, most=True).met(0.2)
    assert figure(None).met(1.0) is None


def test_the_table_and_the_file_hold_every_figure(tmp_path: Path):
    found = dict.fromkeys(FIGURES, 1.0) | {"builtin_vs_hf_generate": Spread(2.5, 2.0, 3.0)}
    found |= {"share_of_bound_greedy": 0.95, "share_of_bound_sampled": 0.9}
    lines = bench.table(found).splitlines()[1:]
    assert [line.split()[0] for line in lines] == list(FIGURES)
    assert "2.50 (2.00 to 3.00)" in bench.table(found) and "missed" in lines[0]
    bench.write(tmp_path / "new" / "bench.json", found, ["a note"])
    written = json.loads((tmp_path / "new" / "bench.json").read_text())
    assert written["builtin_vs_hf_generate"] == {"median": 2.5, "low": 2.0, "high": 3.0}
    assert written["share_of_bound"] == 0.9
    assert all(isinstance(value, float | dict) for value in written.values())
    notes = (tmp_path / "new" / "bench.notes.txt").read_text().splitlines()
    assert "threads, torch" in notes[0] and notes[1:] == ["a note"]


def test_an_unknown_figure_is_refused(capsys: pytest.CaptureFixture):
    with pytest.raises(SystemExit):
        bench.main(["--only", "nonsense"])
    assert "no figure is called nonsense" in capsys.readouterr().err


def test_the_scaled_target_is_the_same_in_transformers(folder: Path, monkeypatch):
    monkeypatch.setattr(comparisons, "ASSETS", folder.parent)
    monkeypatch.setitem(comparisons.COSTS, "tiny", comparisons.COSTS["40m"]._replace(layers=3))
    (folder.parent / "target").symlink_to(folder)
    theirs = comparisons.hugging_target("tiny", torch.float32).model
    assert theirs.config.hidden_size == 64 and theirs.config.num_hidden_layers == 3
    tokens = torch.tensor([[3, 1, 4, 1, 5]])
    model = Llama.from_folder(folder)
    expected = model.forward(tokens, model.new_cache())
    with torch.no_grad():
        torch.testing.assert_close(theirs(tokens).logits, expected, rtol=0, atol=1e-4)


def test_a_large_parent_does_not_hide_what_a_process_takes():
    code = (
        "import sys; from specdec_lib.measure.bench.memory import peak; before = peak();"
        "held = bytearray(64 * 2**20); held[::4096] = b'x' * len(held[::4096]);"
        "print(peak() - before)"
    )
    parent = bytearray(1200 * 2**20)
    parent[::4096] = b"x" * len(parent[::4096])
    taken = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(taken.stdout) > 50 * 2**20
