"""Published EAGLE-3 heads: their files, and what they draft beside the published forward pass.

That they are exact is in test_exactness.py.
"""

import json
from collections.abc import Callable
from math import prod
from pathlib import Path

import numpy as np
import pytest
import torch
from decoders.families import FAMILIES, make
from decoders.published_eagle3 import (
    FREQUENT,
    PublishedHead,
    write_head,
    write_speculators_head,
)
from decoders.random_models import VOCAB
from torch import Tensor
from transformers import PreTrainedModel

from specdec_lib.decoding.generate import plain_generate, speculative_generate, tree_generate
from specdec_lib.decoding.state import Settings
from specdec_lib.drafters import eagle
from specdec_lib.drafters.eagle3 import (
    AUXILIARY,
    EMBEDDING,
    KNOWN,
    OFFSETS,
    Eagle3,
    Eagle3Tree,
    head_sizes,
    load_head,
)
from specdec_lib.drafters.hidden import passing_states
from specdec_lib.measure.core.by_step import GivenDrafts
from specdec_lib.models import protocol
from specdec_lib.models.catalogue import PUBLISHED
from specdec_lib.models.checkpoint import Shape
from specdec_lib.models.llama import Llama
from specdec_lib.models.protocol import prefill
from specdec_lib.sampling import Choices, Greedy, Uniforms, Warp

LAYERS = 8  # states go into layers 2, 4 and 5
TEXTS = [[5, 17, 3, 40, 21, 9, 9, 30, 2], [11, 4, 29], [8, 45, 16, 1, 7]]
CLOSE = {"rtol": 0, "atol": 1e-6}  # transformers computes rotary angles in float32
GREEDY = Settings(12, Warp(0))
WRITE = {"EAGLE's authors'": write_head, "speculators'": write_speculators_head}


@pytest.fixture(scope="module")
def theirs() -> PreTrainedModel:
    return make(FAMILIES["Qwen3"], layers=LAYERS)


@pytest.fixture(scope="module")
def folder(theirs: PreTrainedModel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("target")
    theirs.save_pretrained(path)
    return path


@pytest.fixture(scope="module")
def target(folder: Path) -> Llama:
    return Llama.from_folder(folder, dtype=torch.float64)


@pytest.fixture(scope="module")
def heads(theirs: PreTrainedModel, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The folder of a head for each way of writing it."""
    folder = tmp_path_factory.mktemp("heads")
    for number, write in enumerate(WRITE.values()):
        write(folder / str(number), theirs)
    return {name: folder / str(number) for number, name in enumerate(WRITE)}


def begun(drafter: Eagle3, texts: list[list[int]]) -> Eagle3:
    """The drafter at its first block after `texts`."""
    watched = passing_states(drafter.target, drafter)
    prefill(watched, watched.new_cache(len(texts)), texts)
    drafter.start(texts, Warp(), 40)
    return drafter


def begun_choices(rows: int, nodes: int) -> Choices:
    choices = Uniforms([np.random.default_rng(row) for row in range(rows)])
    choices.begin([nodes] * rows, [True] * rows)
    return choices


@pytest.mark.parametrize("form", WRITE)
def test_a_chain_has_the_distributions_of_the_published_pass(
    theirs: PreTrainedModel, target: Llama, heads: dict[str, Path], form: str
):
    published = PublishedHead(heads[form], theirs)
    drafter = begun(Eagle3(target, load_head(target, heads[form])), TEXTS)
    proposal = drafter.propose(TEXTS, [4, 4, 3], begun_choices(3, 4))
    assert proposal.limits == [4, 4, 3]
    for row, (text, limit) in enumerate(zip(TEXTS, proposal.limits, strict=True)):
        drafted = proposal.tokens[row].tolist()
        assert set(drafted) <= set(FREQUENT)
        for i in range(limit):
            expected = published(text, drafted[:i])
            torch.testing.assert_close(proposal.q[row, i], expected, **CLOSE)


@pytest.mark.parametrize("form", WRITE)
def test_a_tree_has_the_distributions_of_the_published_pass(
    theirs: PreTrainedModel, target: Llama, heads: dict[str, Path], form: str
):
    text, published = TEXTS[0], PublishedHead(heads[form], theirs)
    drafter = Eagle3Tree(target, load_head(target, heads[form]), (2, 2, 1), how="independent")
    proposal = begun(drafter, [text]).propose([text], [3], begun_choices(1, 10))
    assert proposal.parents == [0, 0, 1, 1, 2, 2, 3, 4, 5, 6]
    for node in range(10):
        path, at = [], proposal.parents[node]
        while at:
            path.insert(0, proposal.tokens[at - 1])
            at = proposal.parents[at - 1]
        torch.testing.assert_close(proposal.q[node], published(text, path), **CLOSE)


@pytest.mark.parametrize("form", WRITE)
def test_in_float32_few_tokens_take_steps_of_their_own_and_the_distributions_are_the_same(
    theirs: PreTrainedModel, folder: Path, heads: dict[str, Path], form: str
):
    text, published = TEXTS[0], PublishedHead(heads[form], theirs)
    target = Llama.from_folder(folder)
    weights = load_head(target, heads[form])
    chain = begun(Eagle3(target, weights), [text]).propose([text], [3], begun_choices(1, 3))
    tree = begun(Eagle3Tree(target, weights, (1, 2)), [text])
    tree = tree.propose([text], [2], begun_choices(1, 3))
    for tokens, q in ((chain.tokens[0].tolist(), chain.q[0]), (tree.tokens, tree.q)):
        for i in range(2):
            expected = published(text, tokens[:i]).float()
            torch.testing.assert_close(q[i], expected, rtol=0, atol=1e-4)


def test_later_blocks_go_on_from_the_states_of_the_text_as_it_became(
    theirs: PreTrainedModel, target: Llama, heads: dict[str, Path]
):
    """Accepted and rejected tokens, of chains and of trees, leave nothing behind that is wrong."""
    folder, text = heads["EAGLE's authors'"], TEXTS[0]
    published, weights = PublishedHead(folder, theirs), load_head(target, folder)
    for drafter in (Watched(target, weights), WatchedTree(target, weights, (2, 1), "top")):
        choices = Uniforms([np.random.default_rng(1)])
        if isinstance(drafter, Eagle3Tree):
            tree_generate(target, drafter, text, 2, Settings(20), choices)
        else:
            speculative_generate(target, drafter, [text], 2, Settings(20), choices)
        assert len(drafter.seen) > 6
        for sequence, q in drafter.seen[::4]:
            torch.testing.assert_close(q, published(sequence, []), **CLOSE)


class Watched(Eagle3):
    """Remembers the text before each block, and the distribution of the first draft token."""

    def read(self, columns: list[int], texts: list[list[int]]) -> Tensor:
        if not hasattr(self, "seen"):
            self.seen: list[tuple[list[int], Tensor]] = []
        state = super().read(columns, texts)
        self.seen.append((list(texts[0]), self.head(state)[0].softmax(0)))
        return state


class WatchedTree(Eagle3Tree, Watched):
    """A tree that does."""


def test_greedy_text_is_that_of_plain_decoding(target: Llama, heads: dict[str, Path]):
    weights = load_head(target, heads["EAGLE's authors'"])
    plain = plain_generate(target, TEXTS, GREEDY, Greedy()).tokens
    chain, tree = Eagle3(target, weights), Eagle3Tree(target, weights, (3, 2), "top")
    assert speculative_generate(target, chain, TEXTS, 3, GREEDY, Greedy()).tokens == plain
    assert tree_generate(target, tree, TEXTS[0], 2, GREEDY, Greedy()).tokens == plain[:1]


def test_a_prompt_that_is_read_in_chunks_has_the_drafts_of_one_that_is_not(
    target: Llama, heads: dict[str, Path], monkeypatch: pytest.MonkeyPatch
):
    weights, given = (
        load_head(target, heads["speculators'"]),
        torch.tensor([[4, 7], [1, 9], [5, 5]]),
    )
    whole, pieces = (Eagle3(target, weights) for _ in range(2))
    expected = begun(whole, TEXTS).propose(TEXTS, [2] * 3, GivenDrafts(given)).q
    for module in (protocol, eagle):
        monkeypatch.setattr(module, "CHUNK", 2)
    found = begun(pieces, TEXTS).propose(TEXTS, [2] * 3, GivenDrafts(given)).q
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)


def test_a_head_for_all_tokens_needs_no_map(theirs: PreTrainedModel, target: Llama, tmp_path: Path):
    write_head(tmp_path, theirs, range(VOCAB))
    rewrite(tmp_path, lambda tensors: tensors.pop("d2t"))
    assert load_head(target, tmp_path).to_target.tolist() == list(range(VOCAB))


def rewrite(folder: Path, change: Callable[[dict], object] = lambda each: None, **said) -> None:
    """Change the tensors of a head, and what its configuration says."""
    tensors = torch.load(folder / "pytorch_model.bin")
    change(tensors)
    torch.save(tensors, folder / "pytorch_model.bin")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | said))


def lose(name: str) -> Callable[[dict], object]:
    return lambda tensors: tensors.pop(name)


def put(name: str, *shape: int) -> Callable[[dict], object]:
    return lambda tensors: tensors.update({name: torch.zeros(*shape)})


def shifted(tensors: dict) -> None:
    tensors["d2t"] = tensors["d2t"] + 1


def cut_short(tensors: dict) -> None:
    tensors["d2t"] = tensors["d2t"][1:]


def doubled(tensors: dict) -> None:
    tensors["d2t"][1] = tensors["d2t"][0] - 1


@pytest.mark.parametrize(
    ("change", "said", "message"),
    [
        (None, {"hidden_size": 64}, "hidden_size is 64, and for this target it must be 32"),
        (None, {"vocab_size": 50}, "vocab_size is 50, and for this target it must be 48"),
        (None, {"num_hidden_layers": 2}, "a head of 2 layers; those of one are known"),
        (None, {"hidden_act": "gelu"}, "hidden_act is 'gelu'"),
        (None, {"draft_vocab_size": 9}, r"lm_head.weight is \(10, 32\), .* it would be \(9, 32\)"),
        (cut_short, {}, r"d2t is \(9,\), .* it would be \(10,\)"),
        (None, {"head_dim": 8}, "q_proj.weight is .* with the sizes of config.json"),
        (lose("fc.weight"), {}, "lack fc.weight: this is no EAGLE-3 head of the form"),
        (lose("d2t"), {}, "lack d2t"),
        (put("fc.bias", 32), {}, "have fc.bias: this is no EAGLE-3 head of the form"),
        (put("fc.weight", 32, 64), {}, r"fc.weight is \(32, 64\), .* it would be \(32, 96\)"),
        (shifted, {}, "d2t maps the head's 10 tokens to numbers .* not below 48"),
        (doubled, {}, "d2t maps the head's 10 tokens to numbers that are not all different"),
        (None, {AUXILIARY: [1, 2, 3]}, r"layers \[1, 2, 3\], .* only \[2, 4, 5\] are known"),
    ],
)  # fmt: skip
def test_a_head_that_does_not_fit_is_refused(
    theirs: PreTrainedModel, target: Llama, tmp_path: Path, change, said: dict, message: str
):
    write_head(tmp_path, theirs)
    rewrite(tmp_path, change or (lambda tensors: None), **said)
    with pytest.raises(ValueError, match=message):
        load_head(target, tmp_path)


# Width, heads, MLP, and the bytes of the file: of heads with 8 key-value heads of width 128 for
# Qwen3, which know 32,000 of its 151,936 tokens. Only Red Hat's hold an embedding.
FILES = {
    "AngelSlim/Qwen3-1.7B_eagle3": (2048, 16, 6144, 274_132_734),
    "AngelSlim/Qwen3-4B_eagle3": (2560, 32, 9728, 436_987_505),  # with four small files
    "RedHatAI/Qwen3-8B-speculator.eagle3": (4096, 32, 12288, 2_044_116_968),
    "RedHatAI/Qwen3-14B-speculator.eagle3": (5120, 40, 17408, 2_775_244_776),
    "RedHatAI/Qwen3-32B-speculator.eagle3": (5120, 64, 25600, 3_121_274_856),
}


@pytest.mark.parametrize("name", FILES)
def test_the_tensors_that_are_read_are_all_that_is_in_a_published_file(name: str):
    width, heads, mlp, size = FILES[name]
    shape = Shape(151_936, width, 1, heads, 8, 128, mlp, 2048, 1e6, 1e-6)
    counts = {each: prod(sizes) for each, sizes in head_sizes(shape, known=32_000).items()}
    if "speculator" not in name:
        del counts[EMBEDDING]
    maps = counts.pop(OFFSETS) * 8 + counts.pop(KNOWN)
    parameters = sum(counts.values())
    assert 0 < size - (2 * parameters + maps) < 100_000  # names, places and dtypes
    entry = PUBLISHED["repositories"].get(name, {"parameters": parameters, "gigabytes": size / 1e9})
    assert entry["parameters"] == parameters
    assert entry["gigabytes"] == pytest.approx(size / 1e9, abs=0.005)


@pytest.mark.parametrize("named", [[2, 4, 5], [1, 3, 4]])
def test_the_usual_layers_may_be_named_in_both_ways(
    theirs: PreTrainedModel, target: Llama, tmp_path: Path, named: list[int]
):
    write_head(tmp_path, theirs)
    rewrite(tmp_path, eagle_config={AUXILIARY: named})
    assert load_head(target, tmp_path).taps == (2, 4, 5)


def test_a_folder_without_a_head_is_named(target: Llama, tmp_path: Path):
    with pytest.raises(ValueError, match="no config.json here"):
        load_head(target, tmp_path)
