"""Whole decoders on a device that is not the host: nothing mixes the two, and what crosses.

Both models, caches and all that is drawn are on the device; the text is on the host. A read of the
device waits until it is done. One a block is right: of the verdict. Any other, or a send that
waits, lets the device stand still while the host starts its next kernels.
"""

from collections.abc import Callable, Iterator

import numpy as np
import pytest
import torch
from decoders.distant import DISTANT, Crossings, MixedDevices, llama_on
from decoders.random_models import VOCAB, eagle_weights, medusa_heads

from specdec_lib.decoding.fixed_shape import step
from specdec_lib.decoding.fixed_shape.graph import GraphDecoder
from specdec_lib.decoding.generate import plain_generate, speculative_generate, tree_generate
from specdec_lib.decoding.state import Generation, Settings
from specdec_lib.decoding.variants.block_verification import verify_whole_block
from specdec_lib.decoding.variants.lossy import LossyLenience, LossyTypical
from specdec_lib.device import sent
from specdec_lib.drafters.eagle import Eagle, EagleTree
from specdec_lib.drafters.early_exit import EarlyExit
from specdec_lib.drafters.jacobi import Jacobi
from specdec_lib.drafters.lookup import PromptLookup
from specdec_lib.drafters.medusa import Medusa, MedusaTree
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.drafters.ngram import Counts, NgramDrafter
from specdec_lib.drafters.tree import Candidates
from specdec_lib.measure.core import costs
from specdec_lib.measure.experiment.loops import LIBRARY
from specdec_lib.measure.experiment.seq2seq import random_t5
from specdec_lib.models.hf import EncoderDecoder
from specdec_lib.models.llama import Llama
from specdec_lib.models.t5 import T5Decoder
from specdec_lib.sampling import Warp, choices_for

PROMPTS = [[7, 1, 2, 3, 4, 5, 6, 8], [1, 2, 3], [5, 9]]
GREEDY, SAMPLED, CUT = Warp(0), Warp(1), Warp(0.8, top_k=7, top_p=0.9)
COUNTS = Counts(np.arange(1, VOCAB + 1), np.array([[1, 2, 5], [2, 3, 4]]), np.array([[1, 2, 3, 9]]))
K, TOKENS = 3, 10


@pytest.fixture(scope="module")
def crossings() -> Iterator[Crossings]:
    with torch.inference_mode(), Crossings() as both:
        yield both


@pytest.fixture(scope="module")
def far(folders, crossings: Crossings) -> list[Llama]:
    return [llama_on(DISTANT, folder) for folder in folders]


def on_distant(model: torch.nn.Module) -> torch.nn.Module:
    """The model with every parameter and buffer sent to the device."""
    for module in model.modules():
        for parts in (module._parameters, module._buffers):
            parts.update({name: send(part) for name, part in parts.items() if part is not None})
    return model


def send(part: torch.Tensor) -> torch.Tensor:
    moved = part.detach().to(DISTANT)
    return torch.nn.Parameter(moved, False) if isinstance(part, torch.nn.Parameter) else moved


def sent_with(target: Llama, parts):
    """The tensors of a head, made on the host and sent to where its target is."""
    return type(parts)(*(part.to(target.device) for part in parts))


def heads(target: Llama, near: Llama) -> Medusa:
    return Medusa(target, sent_with(target, medusa_heads(near)))


def states(target: Llama, near: Llama) -> Eagle:
    return Eagle(target, sent_with(target, eagle_weights(near)))


# By name: a drafter for a target, its draft, and the same target on the host; and how often the
# host may read in a block. States are looked up by where they stand.
DRAFTERS = {
    "a model": (lambda target, draft, near: ModelDrafter(draft), 1),
    "its own layers": (lambda target, draft, near: EarlyExit(target, 1), 1),
    "the prompt": (lambda target, draft, near: PromptLookup(VOCAB, target.device), 1),
    "counts": (lambda target, draft, near: NgramDrafter(COUNTS, 3, target.device), 1),
    "heads": (lambda target, draft, near: heads(target, near), 2),
    "its states": (lambda target, draft, near: states(target, near), 2),
    "guesses": (lambda target, draft, near: Jacobi(target, pool=True), 3),
}
TREES = {
    "a model": lambda target, draft, near: Candidates(draft, (2, 1)),
    "the most probable": lambda target, draft, near: Candidates(draft, (2, 1), "top"),
    "heads": lambda target, draft, near: MedusaTree(
        target, sent_with(target, medusa_heads(near)), (2, 1)
    ),
    "its states": lambda target, draft, near: EagleTree(
        target, sent_with(target, eagle_weights(near)), (2, 1)
    ),
}


def generators(warp: Warp, rows: int = 3):
    return choices_for(warp, [np.random.default_rng(row) for row in range(rows)])


def speculative(models: list[Llama], near: Llama, make: Callable, warp: Warp, **how) -> Generation:
    drafter = make(*models, near)
    settings = Settings(TOKENS, warp)
    return speculative_generate(models[0], drafter, PROMPTS, K, settings, generators(warp), **how)


@pytest.mark.parametrize("name", DRAFTERS)
@pytest.mark.parametrize("warp", [GREEDY, SAMPLED])
def test_a_block_is_read_once(models, far, crossings: Crossings, name: str, warp: Warp):
    make, reads = DRAFTERS[name]
    make(*far, models[0])  # loading may wait
    crossings.clear()
    made = speculative(far, models[0], make, warp)
    assert len(crossings.reads) <= reads * made.target_passes, crossings.reads
    assert made.tokens == speculative(models, models[0], make, warp).tokens


def test_batches_and_other_verifiers_are_read_once(models, far, crossings: Crossings):
    for verifier in (verify_whole_block, LossyLenience(0.5), LossyTypical()):
        make, _ = DRAFTERS["a model"]
        crossings.clear()
        made = speculative(far, models[0], make, CUT, verifier=verifier)
        assert len(crossings.reads) == made.target_passes, crossings.reads
        assert not crossings.sends
        assert made.tokens == speculative(models, models[0], make, CUT, verifier=verifier).tokens


def test_plain_decoding_is_read_once_a_token(models, far, crossings: Crossings):
    crossings.clear()
    settings = Settings(TOKENS, SAMPLED)
    made = plain_generate(far[0], PROMPTS, settings, generators(SAMPLED))
    assert (len(crossings.reads), crossings.sends) == (TOKENS, [])
    assert made.tokens == plain_generate(models[0], PROMPTS, settings, generators(SAMPLED)).tokens


@pytest.mark.parametrize("name", TREES)
def test_trees_stay_on_one_side(models, far, crossings: Crossings, name: str):
    """A tree is read at every node, when it is drawn and when it is judged, and thrice more.

    That is whether all is finite, the last token, and the nodes' p and q.
    """
    made, reads = [], []
    for target, draft in (far, models):
        drafter = TREES[name](target, draft, models[0])
        crossings.clear()
        drawn, settings = generators(SAMPLED, 1), Settings(TOKENS, SAMPLED)
        made.append(tree_generate(target, drafter, PROMPTS[0], 2, settings, drawn))
        reads.append(len(crossings.reads))
    assert reads[0] <= (2 * drafter.nodes(2) + 3) * made[0].target_passes and reads[1] == 0
    assert made[0].tokens == made[1].tokens


def test_a_verify_block_of_a_students_form_stays_on_one_side(models, far):
    make, _ = DRAFTERS["a model"]
    made = speculative(far, models[0], make, SAMPLED, verifier=LIBRARY.verifier)
    assert made.tokens == speculative(models, models[0], make, SAMPLED).tokens


def test_bare_passes_are_not_waited_for(models, far, crossings: Crossings, monkeypatch):
    monkeypatch.setattr(costs, "CONTEXT", 8)
    monkeypatch.setattr(step, "BUCKET", 16)
    for task in (costs.pass_task(far[0], 2, 2), costs.graph_task(far[0], 2, 2)):
        crossings.clear()
        task()
        assert (crossings.reads, crossings.sends) == ([], [])


def test_an_encoder_decoder_stays_on_one_side(crossings: Crossings):
    """The loop that published pairs run in, on models of transformers."""
    texts = []
    for move in (lambda model: model, on_distant):
        pair = [EncoderDecoder(move(random_t5(layers, layers)), [3, 4, 5]) for layers in (2, 1)]
        drawn, settings = generators(GREEDY, 1), Settings(TOKENS, GREEDY)
        made = speculative_generate(pair[0], ModelDrafter(pair[1]), [[0]], K, settings, drawn)
        texts.append(made.tokens)
    assert texts[0] == texts[1]


def test_a_t5_in_fixed_shapes_stays_on_one_side_and_its_step_waits_for_nothing(crossings):
    texts = []
    for move in (lambda model: model, on_distant):
        whole = [EncoderDecoder(move(random_t5(layers, layers))) for layers in (2, 1)]
        models = [T5Decoder(each, 16) for each in whole]
        for each in models:
            each.read([3, 4, 5])
        decoder = GraphDecoder(*models, 1, 40, K, GREEDY)
        made = decoder.generate([models[0].prompt], Settings(TOKENS, GREEDY), [])
        texts.append(made.tokens)
    assert texts[0] == texts[1]
    crossings.clear()
    decoder.step()
    assert (crossings.reads, crossings.sends) == ([], [])


FAULTS = {
    "numbers of the host": lambda x: x + torch.zeros(x.shape),
    "a table of the host": lambda x: torch.zeros(3)[x.long()],
}
CROSSINGS = {
    "a number": (lambda x: x[0].item(), "reads"),
    "a list": (lambda x: x.tolist(), "reads"),
    "a condition": (lambda x: bool((x > 0).any()), "reads"),
    "a mask as an index": (lambda x: x[x > 0], "reads"),
    "a copy": (lambda x: x.cpu(), "reads"),
    "an index": (lambda x: x[torch.tensor([0])], "sends"),
    "an index of numbers": (lambda x: x[[0, 1]], "sends"),
    "numbers": (lambda x: torch.tensor([1.0], device=x.device), "sends"),
    "numbers beside others": (lambda x: x.new_tensor([1.0]), "sends"),
    "numbers into others": (lambda x: x.copy_(torch.zeros(3)), "sends"),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_what_mixes_the_sides_is_found(crossings: Crossings, fault: Callable):
    with pytest.raises(MixedDevices):
        fault(torch.ones(3, device=DISTANT))


@pytest.mark.parametrize(("crossing", "kind"), CROSSINGS.values(), ids=CROSSINGS)
def test_what_crosses_is_noted(crossings: Crossings, crossing: Callable, kind: str):
    x = torch.ones(3, device=DISTANT)
    crossings.clear()
    crossing(x)
    assert len(getattr(crossings, kind)) == 1
    assert len(crossings.reads + crossings.sends) == 1


def test_what_is_sent_quietly_is_not_waited_for(crossings: Crossings):
    crossings.clear()
    assert sent([1, 2], DISTANT).tolist() == [1, 2]
    assert crossings.sends == [] and len(crossings.reads) == 1
