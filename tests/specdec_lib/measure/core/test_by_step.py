"""The acceptance of a drafter's first, second, third token; what the built-in heads are worth."""

import pytest
import torch
from decoders.exact_drafters import EXACT, tiny_llama
from decoders.greedy import said
from decoders.random_models import medusa_heads

from specdec_lib.assets import ASSETS
from specdec_lib.drafters.eagle import Eagle, load_head
from specdec_lib.drafters.medusa import Medusa, load_heads
from specdec_lib.measure.core import by_step, held_out
from specdec_lib.measure.core.acceptance import Acceptance
from specdec_lib.measure.core.by_step import acceptance_by_step
from specdec_lib.models.llama import Llama

IDS = [0, 1, 2, 2, 0, 1, 1, 2, 0, 2]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Llama:
    """A target of random weights."""
    return tiny_llama(tmp_path_factory.mktemp("tiny"), seed=1)


@pytest.fixture(scope="module")
def target() -> Llama:
    """The built-in one."""
    return Llama.from_folder(ASSETS / "target")


def test_every_token_is_judged_after_the_text_before_it(
    tiny: Llama, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(by_step, "ROWS", 2)
    heads, passes = medusa_heads(tiny), []
    tokens, cache = torch.tensor([IDS]), tiny.new_cache()
    p = tiny.forward(tokens, cache, observe=passes.append)[0].softmax(-1)
    states = passes[0].states[0]
    novel = [False, True, False, True, True, False, True, True, True, True]
    text = held_out.Tokens("a", IDS, novel, [1] * len(IDS))
    # Behind position 0 no state gave the last token; after 7 and 8 the text ends too soon.
    ends = [2, 3, 5, 6]
    steps = acceptance_by_step(tiny, Medusa(tiny, heads), [text], steps=3)
    q = tiny.head(heads(states, 3)).softmax(-1)
    for step, each in enumerate(steps):
        pairs = [(p[end + step], q[end - 1, step]) for end in ends]
        alpha = sum(torch.minimum(*pair).sum().item() for pair in pairs) / len(ends)
        greedy = sum(bool(one.argmax() == other.argmax()) for one, other in pairs) / len(ends)
        assert each == Acceptance(pytest.approx(alpha, abs=EXACT), greedy, len(ends))


def built_in(name: str, target: Llama) -> Eagle | Medusa:
    """The drafter with the weights that are in the repository."""
    if name == "medusa":
        return Medusa(target, load_heads(target))
    return Eagle(target, load_head(target))


each = pytest.mark.parametrize("name", ["medusa", "eagle"])


@pytest.mark.slow
@each
def test_the_cards_say_what_is_measured(target: Llama, name: str):
    steps = acceptance_by_step(target, built_in(name, target), held_out.all_tokens())
    for step, worth in enumerate(steps, start=1):
        alpha = said(name, f"acceptance of token {step} by")
        assert worth.alpha == pytest.approx(alpha, abs=2e-3)
        assert worth.greedy == pytest.approx(said(name, f"token {step}:"), abs=2e-3)
        assert worth.positions == said(name, "positions")
