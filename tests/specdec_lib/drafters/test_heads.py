"""Medusa heads and the EAGLE head: what they draft, what their caches hold, and their files.

That they are exact is in test_exactness.py, for prompts of one pass, and here for others.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from decoders.exact_drafters import (
    EXACT,
    PROMPT,
    ROWS,
    Llamas,
    V,
    made_on,
    plain_distribution,
    tiny_llama,
)
from decoders.random_models import eagle_weights, medusa_heads
from safetensors.torch import save_file

from specdec_lib.decoding.generate import plain_generate, speculative_generate, tree_generate
from specdec_lib.decoding.state import Settings
from specdec_lib.drafters import eagle, medusa
from specdec_lib.drafters.eagle import Eagle, EagleTree
from specdec_lib.drafters.hidden import StateReader, passing_states
from specdec_lib.drafters.medusa import Medusa, MedusaTree
from specdec_lib.exact import Tape, distance, distribution
from specdec_lib.measure.core.by_step import GivenDrafts
from specdec_lib.models import protocol
from specdec_lib.models.checkpoint import read_weights
from specdec_lib.models.llama import Llama
from specdec_lib.models.protocol import prefill
from specdec_lib.models.scale import Growth, grown
from specdec_lib.sampling import Greedy, Uniforms, Warp

TEXT = [1, 2, 0, 1, 1, 2, 0]
GREEDY = Settings(20, Warp(0))
both = pytest.mark.parametrize("name", ["Medusa", "EAGLE"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tiny")
    tiny_llama(path, seed=1)
    return path


@pytest.fixture(scope="module")
def target(folder: Path) -> Llama:
    return Llama.from_folder(folder, dtype=torch.float64)


def begin(drafter: StateReader, texts: list[list[int]]) -> None:
    """Bring the drafter to its first block after `texts`."""
    target = passing_states(drafter.target, drafter)
    prefill(target, target.new_cache(len(texts)), texts)
    drafter.start(texts, Warp(), 40)


def drafted(drafter: StateReader, texts: list[list[int]], limits: list[int]):
    """The proposal of a first block."""
    begin(drafter, texts)
    choices = Uniforms([np.random.default_rng(row) for row in range(len(texts))])
    choices.begin(limits, [True] * len(texts))
    return drafter.propose(texts, limits, choices)


def test_a_medusa_head_reads_the_state_that_gave_the_last_token(target: Llama):
    heads = medusa_heads(target)
    drafter = Medusa(target, heads)
    proposal = drafted(drafter, [TEXT], [5])
    assert proposal.limits == [3] and proposal.tokens.shape == (1, 3)
    h = drafter.hidden.states[0, len(TEXT) - 2]
    expected = target.forward(torch.tensor([TEXT[:-1]]), target.new_cache())[0, -1]
    torch.testing.assert_close(target.head(h), expected, rtol=0, atol=EXACT)
    for i in range(3):
        block = h + heads.up[i] @ torch.nn.functional.silu(heads.down[i] @ h)
        expected = target.head(block).softmax(-1)
        torch.testing.assert_close(proposal.q[0, i], expected, rtol=0, atol=EXACT)


def test_eagle_goes_on_from_the_states_that_it_predicts(target: Llama):
    drafter = Eagle(target, eagle_weights(target))
    proposal = drafted(drafter, [TEXT], [3])
    assert drafter.cache.length.tolist() == [len(TEXT) - 1]
    whole = Eagle(target, eagle_weights(target))  # without a cache: all again for each token
    states, tokens = drafter.hidden.states, torch.tensor([TEXT])
    for i in range(3):
        whole.start([TEXT], Warp(), 40)
        predicted = whole.next_states(states, tokens[:, 1:])[:, -1:]
        expected = target.head(predicted[0, 0]).softmax(-1)
        torch.testing.assert_close(proposal.q[0, i], expected, rtol=0, atol=EXACT)
        states = torch.cat((states, predicted), 1)
        tokens = torch.cat((tokens, proposal.tokens[:, i : i + 1]), 1)


class Pausing:
    """A schedule that drafts 2, 0, 3, 2, 0, 3 ... tokens."""

    k, most = 2, 3

    def record(self, counts) -> None:
        """The next one."""
        self.k = {2: 0, 0: 3, 3: 2}[self.k]


def test_eagles_cache_holds_true_states_only(target: Llama):
    drafter, weights = Eagle(target, eagle_weights(target)), eagle_weights(target)
    prompts = [[1], TEXT, [0, 1]]
    choices = Uniforms([np.random.default_rng(row) for row in range(3)])
    made = speculative_generate(target, drafter, prompts, Pausing(), Settings(20), choices)
    for row, (prompt, tokens) in enumerate(zip(prompts, made.tokens, strict=True)):
        fresh, text = Eagle(target, weights), prompt + tokens
        drafted(fresh, [text], [0])
        held = int(drafter.cache.length[row])
        assert held > len(prompt) + 10
        for name in ("keys", "values"):
            found, expected = (getattr(each.cache, name) for each in (drafter, fresh))
            torch.testing.assert_close(
                found[:, row, :held], expected[:, 0, :held], rtol=0, atol=EXACT
            )


@both
@pytest.mark.parametrize(("prompt", "chunk"), [([2], 256), ([*PROMPT, 0], 2), (PROMPT, 1)])
def test_the_distribution_is_the_targets_if_states_are_missing(
    target: Llama, name: str, prompt: list[int], chunk: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(protocol, "CHUNK", chunk)
    drafter = made_on(target, name)

    def run(tape: Tape):
        return speculative_generate(target, drafter, [prompt], 2, Settings(3), tape).tokens[0]

    assert distance(distribution(run), plain_distribution(target, prompt, 3)) < EXACT


@pytest.mark.parametrize(("name", "firsts"), [("Medusa", [3, 0, 0]), ("EAGLE", [3, 3, 0])])
def test_a_row_drafts_from_the_block_on_at_which_its_state_is_held(
    target: Llama, name: str, firsts: list[int], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(protocol, "CHUNK", 3)
    prompts = [TEXT, [1, 2], [2]]
    made = speculative_generate(target, made_on(target, name), prompts, 3, GREEDY, Greedy())
    assert made.tokens == plain_generate(target, prompts, GREEDY, Greedy()).tokens
    assert [len(blocks[0].drafted) for blocks in made.blocks] == firsts
    assert [len(blocks[1].drafted) for blocks in made.blocks] == [3, 3, 3]


def test_eagle_reads_the_whole_of_a_prompt_that_the_target_reads_in_chunks(
    target: Llama, monkeypatch: pytest.MonkeyPatch
):
    texts = [TEXT, TEXT[:4], [1, 2]]
    whole = drafted(Eagle(target, eagle_weights(target)), texts, [3, 2, 3])
    for module in (protocol, eagle):
        monkeypatch.setattr(module, "CHUNK", 2)
    drafter = Eagle(target, eagle_weights(target))
    found = drafted(drafter, texts, [3, 2, 3])
    assert drafter.cache.length.tolist() == [len(text) - 1 for text in texts]
    assert found.limits == whole.limits and torch.equal(found.tokens, whole.tokens)
    torch.testing.assert_close(found.q, whole.q, rtol=0, atol=EXACT)


TREES = {"Medusa": "Medusa tree, top", "EAGLE": "EAGLE tree, top"}


@both
def test_a_tree_has_the_targets_distribution_if_the_state_is_missing(target: Llama, name: str):
    drafter, prompt = ROWS[TREES[name]].make(Llamas(target, target), (2, 1)), [2]

    def run(tape: Tape):
        return tree_generate(target, drafter, prompt, 2, Settings(2), tape).tokens[0]

    assert distance(distribution(run), plain_distribution(target, prompt, 2)) < EXACT


def test_a_node_of_an_eagle_tree_has_what_the_chain_drafts_after_its_ancestors(target: Llama):
    weights = eagle_weights(target)
    grown = EagleTree(target, weights, (2, 2, 1), how="independent")
    begin(grown, [TEXT])
    choices = Uniforms([np.random.default_rng(5)])
    choices.begin([grown.nodes(3)], [True])
    proposal = grown.propose([TEXT], [3], choices)
    assert grown.cache.length.tolist() == [len(TEXT) - 1]
    assert proposal.parents == [0, 0, 1, 1, 2, 2, 3, 4, 5, 6]
    for node in range(10):
        path, at = [], node + 1
        while at:
            path.insert(0, proposal.tokens[at - 1])
            at = proposal.parents[at - 1]
        chain = Eagle(target, weights)
        begin(chain, [TEXT])
        drafted = chain.propose([TEXT], [len(path)], GivenDrafts(torch.tensor([path])))
        torch.testing.assert_close(proposal.q[node], drafted.q[0, -1], rtol=0, atol=EXACT)


def test_a_level_of_a_medusa_tree_has_the_best_tokens_of_its_head(target: Llama):
    heads = medusa_heads(target)
    chain = drafted(Medusa(target, heads), [TEXT], [2])
    best = chain.q[0].topk(2).indices.tolist()
    drafter = MedusaTree(target, heads, (2, 2), "top")
    begin(drafter, [TEXT])
    proposal = drafter.propose([TEXT], [2], Greedy())
    assert proposal.tokens == best[0] + best[1] * 2
    assert proposal.parents == [0, 0, 1, 1, 2, 2]
    assert proposal.q.argmax(-1).tolist() == proposal.tokens and proposal.q.sum() == 6
    assert drafter.propose([TEXT], [0], Greedy()).q.shape == (0, V)


def test_a_medusa_tree_has_no_more_levels_than_there_are_heads(target: Llama):
    with pytest.raises(ValueError, match="widths has 4 levels, and there are 3 heads"):
        MedusaTree(target, medusa_heads(target), (1, 1, 1, 1))


Saved = tuple[Callable, Callable, Callable]
FILES: dict[str, Saved] = {
    "Medusa": (medusa_heads, medusa.save_heads, medusa.load_heads),
    "EAGLE": (eagle_weights, eagle.save_head, eagle.load_head),
}


@both
def test_weights_are_read_as_they_were_written(target: Llama, name: str, tmp_path: Path):
    make, save, load = FILES[name]
    weights, path = make(target), tmp_path / "new" / "weights.safetensors"
    save(weights, path)
    found = load(target, path)
    for one, other in zip(found, weights, strict=True):
        assert one.dtype == torch.float64 and torch.equal(one, other.half().double())


@both
def test_a_grown_target_has_the_same_drafts(target: Llama, folder: Path, name: str, tmp_path: Path):
    make, save, load = FILES[name]
    save(make(target), tmp_path / "weights.safetensors")
    wide = Llama(grown(read_weights(folder, "cpu", torch.float64), Growth(width=3, layers=3)))
    kind = {"Medusa": Medusa, "EAGLE": Eagle}[name]
    one, other = (
        drafted(kind(each, load(each, tmp_path / "weights.safetensors")), [TEXT], [3])
        for each in (target, wide)
    )
    torch.testing.assert_close(one.q, other.q, rtol=0, atol=1e-10)
    assert torch.equal(one.tokens, other.tokens)


@both
def test_on_a_grown_target_a_draft_reads_no_more_than_on_the_original(
    target: Llama, folder: Path, name: str, tmp_path: Path
):
    make, save, load = FILES[name]
    save(make(target), tmp_path / "weights.safetensors")
    wide = Llama(grown(read_weights(folder, "cpu", torch.float64), Growth(width=3, layers=3)))
    weights = load(wide, tmp_path / "weights.safetensors")
    assert [each.shape for each in weights] == [each.shape for each in make(target)]
    drafter = {"Medusa": Medusa, "EAGLE": Eagle}[name](wide, weights)
    drafted(drafter, [TEXT], [1])
    states = drafter.hidden.states
    assert states.shape[-1] == target.shape.width < wide.shape.width
    original = target.head(states)
    torch.testing.assert_close(drafter.head(states), original, rtol=0, atol=1e-10)


@both
def test_a_file_that_cannot_be_used_is_named(target: Llama, name: str, tmp_path: Path):
    load, path = FILES[name][2], tmp_path / "weights.safetensors"
    with pytest.raises(ValueError, match="weights.safetensors: no such file"):
        load(target, path)
    path.write_bytes(b"no weights")
    with pytest.raises(ValueError, match="weights.safetensors: this is no safetensors file"):
        load(target, path)
    save_file({"up": torch.zeros(1)}, path)
    with pytest.raises(ValueError, match="weights.safetensors: the file lacks down"):
        load(target, path)


@both
def test_weights_for_another_width_are_refused(target: Llama, name: str, tmp_path: Path):
    make, save, load = FILES[name]
    path = tmp_path / "weights.safetensors"
    save(make(target), path)

    class Wider:
        device, dtype = target.device, target.dtype
        shape = type("Shape", (), {"width": 12})

    with pytest.raises(ValueError, match="weights.safetensors: .* width 8, and .* have 12: load"):
        load(Wider(), path)
