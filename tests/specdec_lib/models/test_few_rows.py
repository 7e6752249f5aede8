"""The compiled steps for few rows give what torch's steps give."""

import subprocess
import sys

import pytest
import torch
from decoders.random_models import llama

from specdec_lib.models import few_rows
from specdec_lib.models.cache import Tree
from specdec_lib.models.llama import Llama

JUNK = 1e30  # beyond a row's length: it is never to be read


@pytest.fixture
def model(tmp_path) -> Llama:
    """Four queries to two heads of keys, so that heads are shared."""
    llama(kv_heads=2, tied=False).save_pretrained(tmp_path)
    return Llama.from_folder(tmp_path)


def logits(model: Llama, lengths: list[int], tokens: int, tree: Tree | None = None):
    """The logits of a pass over `tokens` more after rows of these lengths."""
    texts = torch.randint(model.vocab_size, (len(lengths), 40), generator=torch.manual_seed(1))
    cache = model.new_cache(len(lengths), 40)
    model.forward(texts[:, : max(lengths)], cache)
    cache.truncate(lengths)
    for row, length in enumerate(lengths):
        cache.keys[:, row, length:] = cache.values[:, row, length:] = JUNK
    return model.forward(texts[:, -tokens:], cache, tree=tree), cache


@pytest.mark.parametrize("lengths", [[1], [9], [7, 3], [20, 20, 20]])
@pytest.mark.parametrize("tokens", [1, 5])
def test_a_pass_is_the_same_with_torchs_own_steps(model, monkeypatch, lengths, tokens):
    found, cache = logits(model, lengths, tokens)
    monkeypatch.setattr(few_rows, "suits", lambda x: False)
    expected, expected_cache = logits(model, lengths, tokens)
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(cache.keys, expected_cache.keys, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(cache.values, expected_cache.values, rtol=1e-5, atol=1e-5)


def test_a_pass_over_a_tree_is_the_same(model, monkeypatch):
    tree = Tree.of([0, 0, 1, 1, 2])
    found, _ = logits(model, [11], 6, tree)
    monkeypatch.setattr(few_rows, "suits", lambda x: False)
    torch.testing.assert_close(found, logits(model, [11], 6, tree)[0], rtol=1e-5, atol=1e-5)


def test_a_tree_can_be_read_level_by_level(model):
    parents = [0, 0, 1, 1, 2]
    tokens = torch.randint(model.vocab_size, (1, 15), generator=torch.manual_seed(2))
    whole, parts = model.new_cache(1, 20), model.new_cache(1, 20)
    model.forward(tokens[:, :9], whole)
    expected = model.forward(tokens[:, 9:], whole, tree=Tree.of(parents))
    found = [model.forward(tokens[:, :10], parts)[:, -1:]]  # the root ends the text
    for first, end in ((1, 3), (3, 6)):
        tree = Tree.of(parents[: end - 1], read=first)
        found.append(model.forward(tokens[:, 9 + first : 9 + end], parts, tree=tree))
    torch.testing.assert_close(torch.cat(found, 1), expected, rtol=1e-5, atol=1e-5)


def test_a_weight_that_is_not_a_number_shows_in_the_logits(model):
    model.layers[0].norm_mlp.plain[0] = float("nan")
    assert logits(model, [5], 1)[0].isnan().all()


@pytest.mark.parametrize(
    "shape, dtype, few",
    [
        ((1, 10, 384), torch.float32, True),
        ((2, 1, 1536), torch.float32, True),
        ((1, 11, 384), torch.float32, False),
        ((1, 3, 1536), torch.float32, False),
        ((1, 1, 8), torch.float64, False),
        ((1, 1, 8), torch.bfloat16, False),
    ],
)
def test_the_steps_are_for_few_rows_of_float32(shape, dtype, few):
    assert few_rows.suits(torch.zeros(shape, dtype=dtype)) == few


def test_without_numba_the_models_run_all_the_same():
    code = """
import sys
sys.modules["numba"] = None  # an import of it fails
from specdec_lib.assets import ASSETS
from specdec_lib.models.llama import Llama
import torch
model = Llama.from_folder(ASSETS / "small")
print(model.forward(torch.tensor([[1, 2, 3]]), model.new_cache()).shape)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "torch.Size([1, 3, 2048])\n", done.stderr
