"""The EAGLE head: what it drafts, and what its cache holds.

test_exactness.py shows that it is exact after prompts of one pass; other prompts are here.
"""

import numpy as np
import pytest
import torch
from decoders.exact_drafters import EXACT, plain_distribution, random_eagle, tiny_llama
from decoders.random_models import eagle_weights
from safetensors.torch import save_file

from specdec_lib.decoding.generate import speculative_generate
from specdec_lib.decoding.state import Settings
from specdec_lib.drafters.eagle import Eagle, load_eagle_head
from specdec_lib.drafters.hidden import with_hidden_state_hook
from specdec_lib.exact import Tape, distribution, total_variation_distance
from specdec_lib.measure.acceptance import eagle_reader
from specdec_lib.models import protocol
from specdec_lib.models.checkpoint import read_weights
from specdec_lib.models.llama import Llama
from specdec_lib.models.protocol import prefill
from specdec_lib.models.scale import Growth, grow_weights
from specdec_lib.sampling import Uniforms, Warp

TEXT = [1, 2, 0, 1, 1, 2, 0]


def drafted(drafter: Eagle, texts: list[list[int]], limits: list[int]):
    """The proposal of the first block after `texts`."""
    target = with_hidden_state_hook(drafter.target, drafter)
    prefill(target, target.new_cache(len(texts)), texts)
    drafter.start(texts, Warp(), 40)
    random_source = Uniforms([np.random.default_rng(row) for row in range(len(texts))])
    random_source.start_block(limits, [True] * len(texts))
    return drafter.propose(texts, limits, random_source)


def test_eagle_goes_on_from_the_states_that_it_predicts(target: Llama):
    drafter = random_eagle(target)
    proposal = drafted(drafter, [TEXT], [3])
    assert drafter.cache.length.tolist() == [len(TEXT) - 1]
    whole = random_eagle(target)  # without a cache: all again for each token
    states, tokens = drafter.hidden.states, torch.tensor([TEXT])
    logits = target.forward(tokens[:, :-1], target.new_cache())
    torch.testing.assert_close(target.head(states), logits, rtol=0, atol=EXACT)
    for i in range(3):
        whole.start([TEXT], Warp(), 40)
        predicted = whole.next_states(states, tokens[:, 1:])[:, -1:]
        expected = target.head(predicted[0, 0]).softmax(-1)
        torch.testing.assert_close(proposal.q[0, i], expected, rtol=0, atol=EXACT)
        states = torch.cat((states, predicted), 1)
        tokens = torch.cat((tokens, proposal.tokens[:, i : i + 1]), 1)


def test_a_cut_head_drafts_as_the_whole_one_does_among_its_own_tokens(target: Llama):
    d2t = torch.tensor([0, 2])
    proposal = drafted(random_eagle(target, d2t), [TEXT], [2])
    assert not proposal.q[..., 1].any() and set(proposal.tokens.flatten().tolist()) <= {0, 2}
    whole = eagle_reader(random_eagle(target))(TEXT)[-1, d2t]
    torch.testing.assert_close(proposal.q[0, 0, d2t], whole / whole.sum(), rtol=0, atol=EXACT)
    cut = eagle_reader(random_eagle(target, d2t))(TEXT)[-1]
    torch.testing.assert_close(proposal.q[0, 0], cut, rtol=0, atol=EXACT)


def test_eagles_cache_holds_true_states_only(target: Llama):
    drafter, prompts = random_eagle(target), [[1], TEXT, [0, 1]]
    random_source = Uniforms([np.random.default_rng(row) for row in range(3)])
    made = speculative_generate(target, drafter, prompts, 3, Settings(20), random_source)
    for row, (prompt, tokens) in enumerate(zip(prompts, made.tokens, strict=True)):
        fresh, text = random_eagle(target), prompt + tokens
        drafted(fresh, [text], [0])
        held = int(drafter.cache.length[row])
        assert held > len(prompt) + 10
        for name in ("keys", "values"):
            found, expected = (getattr(each.cache, name) for each in (drafter, fresh))
            torch.testing.assert_close(
                found[:, row, :held], expected[:, 0, :held], rtol=0, atol=EXACT
            )


def test_after_a_prompt_of_one_token_the_distribution_is_the_targets(target: Llama):
    settings, chain = Settings(2), random_eagle(target)

    def run(tape: Tape) -> list[int]:
        return speculative_generate(target, chain, [[2]], 2, settings, tape).tokens[0]

    assert total_variation_distance(distribution(run), plain_distribution(target, [2], 2)) < EXACT


def test_prompts_that_the_target_reads_in_chunks_give_the_same_drafts(
    target: Llama, monkeypatch: pytest.MonkeyPatch
):
    texts, limits = [TEXT, TEXT[:4], [1, 2], [2]], [3, 2, 3, 3]
    whole = drafted(random_eagle(target), texts, limits)
    monkeypatch.setattr(protocol, "PREFILL_CHUNK", 2)
    found = drafted(random_eagle(target), texts, limits)
    assert found.limits == whole.limits == [3, 2, 3, 0]  # no state has given a first token
    assert torch.equal(found.tokens[:3], whole.tokens[:3])
    torch.testing.assert_close(found.q[:3], whole.q[:3], rtol=0, atol=EXACT)


def test_on_a_grown_target_a_draft_is_and_reads_what_it_does_on_the_original(tmp_path):
    target = tiny_llama(tmp_path / "target", seed=1)
    path = tmp_path / "weights.safetensors"
    save_file({name: each.half() for name, each in vars(eagle_weights(target)).items()}, path)
    weights = read_weights(tmp_path / "target", "cpu", torch.float64)
    wide = Llama(grow_weights(weights, Growth(width=3, layers=3)))
    drafters = [Eagle(each, load_eagle_head(each, path)) for each in (target, wide)]
    one, other = (drafted(each, [TEXT], [3]) for each in drafters)
    torch.testing.assert_close(one.q, other.q, rtol=0, atol=1e-10)
    assert torch.equal(one.tokens, other.tokens)
    assert drafters[1].hidden.states.shape[-1] == target.shape.width < wide.shape.width
