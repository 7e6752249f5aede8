"""The built-in models in the repository."""

import zlib

import pytest
import torch
from decoders.greedy import card_value, greedy_text, require_identical
from transformers import AutoModelForCausalLM, AutoTokenizer

from specdec_lib import assets
from specdec_lib.assets import ASSETS, BUILT_IN_DRAFTS
from specdec_lib.measure import prompts
from specdec_lib.measure.acceptance import WINDOW, acceptance, model_reader
from specdec_lib.models.llama import Llama
from specdec_lib.models.pairs import load_pair
from specdec_lib.models.scale import target_weights

NAMES = ("target", *BUILT_IN_DRAFTS)


def model(name: str, dtype: torch.dtype = torch.float32) -> Llama:
    return Llama.from_folder(ASSETS / name, dtype=dtype)


def transformers_model(name: str) -> AutoModelForCausalLM:
    return AutoModelForCausalLM.from_pretrained(ASSETS / name, dtype=torch.float64).eval()


def test_assets_are_small_enough_for_git():
    # Git holds each distinct content once, compressed by zlib.
    contents = {path.read_bytes() for path in ASSETS.rglob("*") if path.is_file()}
    assert sum(len(zlib.compress(content)) for content in contents) < 40e6
    assert (ASSETS / "held_out.jsonl").stat().st_size <= 400e3


def test_drafts_are_at_most_a_16th_an_8th_and_a_4th_of_the_target():
    def count(name: str) -> int:
        return sum(weights.numel() for weights in transformers_model(name).parameters())

    target = count("target")
    assert 7.5e6 < target < 8.5e6
    for name, share in {"small": 16, "base": 8, "large": 4}.items():
        assert count(name) <= target / share


@pytest.mark.parametrize("name", NAMES)
def test_transformers_gives_the_same_logits(name: str):
    tokenizer = AutoTokenizer.from_pretrained(ASSETS / name)
    ids = tokenizer.encode("def add(a, b):\n    return a + b  # naïve\n")
    assert tokenizer.decode(ids) == "def add(a, b):\n    return a + b  # naïve\n"
    ours, tokens = model(name, torch.float64), torch.tensor([ids])
    with torch.no_grad():
        expected = transformers_model(name)(tokens).logits
    found = ours.forward(tokens, ours.new_cache())
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-4)


def test_tokenizer_gives_what_transformers_gives():
    ours = load_pair(device="cpu").tokenizer
    theirs = AutoTokenizer.from_pretrained(ASSETS / "target")
    texts = [each.text[:2000] for each in assets.held_out_documents()]
    texts += ["", " x  = 1\t# naïve 😀\r\n", "a .b , 'c' n't", "one<|endoftext|>two"]
    for text in texts:
        ids = theirs.encode(text)
        assert ours.encode(text) == ids
        cuts = (ids, ids[1:], ids[:-1], [0, *ids, 0])
        assert [ours.decode(cut) for cut in cuts] == [theirs.decode(cut) for cut in cuts]
    tokens = range(len(theirs))
    assert [ours.decode([t]) for t in tokens] == [theirs.decode([t]) for t in tokens]


def bits_per_byte(target: Llama) -> float:
    """The bits that `target` needs for a byte of the novel lines of the held-out text."""
    read, words, bits, size = model_reader(target), assets.tokenizer(), 0.0, 0
    for text in prompts.encoded_documents():
        for start in range(0, len(text.ids) - 1, WINDOW):
            ids = text.ids[start : start + WINDOW + 1]
            novel = torch.tensor(text.novel[start + 1 : start + WINDOW + 1])
            following = torch.tensor(ids[1:])
            p = read(ids[:-1])[torch.arange(len(following)), following]
            bits -= p[novel].log2().sum().item()
            # A character of a token is a byte.
            size += sum(len(words.id_to_token(token)) for token in following[novel].tolist())
    return bits / size


@pytest.mark.slow
def test_model_cards_say_what_is_measured():
    target, texts = model_reader(model("target")), prompts.encoded_documents()
    assert bits_per_byte(model("target")) == pytest.approx(
        card_value("target", "held-out loss"), abs=2e-3
    )
    for name in BUILT_IN_DRAFTS:
        found = acceptance(target, model_reader(model(name)), texts)
        assert found.alpha == pytest.approx(card_value(name, "acceptance by the target"), abs=2e-3)
        assert found.greedy == pytest.approx(
            card_value(name, "the target's most probable"), abs=2e-3
        )
        assert found.positions == card_value(name, "positions")


def test_scaled_target_has_the_same_distribution():
    tokens = torch.tensor([prompts.prompts(1)[0]])
    small, large = model("target"), Llama(target_weights("40m", torch.float32))
    p, q = (m.forward(tokens, m.new_cache()).softmax(-1) for m in (small, large))
    assert (p - q).abs().sum(-1).max() / 2 < 3e-5


@pytest.mark.slow
def test_greedy_text_is_that_of_transformers_for_12_prompts():
    texts = prompts.prompts(12)
    expected = greedy_text(transformers_model("target"), texts, 24)
    target, draft = (model(name, torch.float64) for name in ("target", "base"))
    require_identical(target, draft, texts, expected, range(1, 9), apart=8)
