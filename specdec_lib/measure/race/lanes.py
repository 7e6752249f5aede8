"""The lanes of a race: drafters of all kinds, and a reader's own functions."""

import operator
import reprlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from torch import Tensor

from specdec_lib.decoding.generate import tree_generate
from specdec_lib.decoding.state import Generation, Settings
from specdec_lib.decoding.tree import children
from specdec_lib.drafters.lookup import PromptLookup
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.drafters.pair import drafter_of
from specdec_lib.drafters.protocol import Drafter, Proposal, one_hot_proposal
from specdec_lib.drafters.tree import ROOT_NODE, ModelTreeDrafter, TreeProposal
from specdec_lib.lessons.checking.blame import is_unwritten
from specdec_lib.measure import models
from specdec_lib.measure.compare import Decoder
from specdec_lib.measure.library_decoders import Generators, seeded, speculative
from specdec_lib.measure.prompts import Prompts
from specdec_lib.models.function import logits_of
from specdec_lib.models.pair import Pair
from specdec_lib.models.protocol import EosIds, Model, Texts
from specdec_lib.sampling import RandomSource, Warp, random_source_for, softmax

# Makes the decoder (of a batch) of a lane, for a target, a warp and so many new tokens.
LaneMaker = Callable[[Model, Warp, int], Decoder]


class WrongFunction(Exception):
    """A reader's own function gives nothing that a race can go on with; the message says what."""


def draft_model_lane(draft: str | Model = "large", k: int = 3) -> LaneMaker:
    """Speculative decoding with `k` draft tokens a block, by a draft model or a built-in's name."""

    def make_drafter(target: Model) -> Drafter:
        return ModelDrafter(models.load_draft(draft) if isinstance(draft, str) else draft)

    return _drafter_lane(make_drafter, k)


def pair_lane(pair: Pair, k: int, ends: EosIds = None) -> LaneMaker:
    """As `draft_model_lane`, with what drafts for `pair`; a token of `ends` ends a text."""
    return _drafter_lane(lambda target: drafter_of(pair), k, ends)


def prompt_lookup_lane(k: int = 3) -> LaneMaker:
    """Draft what followed the last time that the text read like this: prompt lookup."""
    return _drafter_lane(lambda target: PromptLookup(target.vocab_size), k)


def random_lane(k: int = 3) -> LaneMaker:
    """Draft tokens at random, without looking at the text."""
    return _drafter_lane(lambda target: RandomTokens(target.vocab_size), k)


def _drafter_lane(make: Callable[[Model], Drafter], k: int, ends: EosIds = None) -> LaneMaker:
    """Speculative decoding with the drafter that `make` gives for a target."""
    return lambda target, warp, tokens: speculative(
        target, make(target), k, warp, tokens, batch=True, eos_id=ends
    )


def tree_lane(
    walk_tree: Callable, draft: str = "large", widths: Sequence[int] = (2, 2, 1)
) -> LaneMaker:
    """Chapter 07's `walk_tree` on trees of a draft model, with `widths[d]` candidates at level d.

    They are drawn from q. At temperature 0, where all draws are alike, the top tokens take their
    place: a rejected one then leaves nothing of p but the target's own token, whatever q is.
    """

    def make_decoder(target: Model, warp: Warp, tokens: int) -> Decoder:
        candidates = "independent" if warp.temperature else "top"
        drafter = ModelTreeDrafter(models.load_draft(draft), widths, candidates)
        settings = Settings(tokens, warp)

        def generate(prompts: Prompts, rngs: Generators) -> Generation:
            source, depth = random_source_for(warp, rngs), len(widths)
            verify = partial(_verify_with, walk_tree, rngs[0])
            return tree_generate(target, drafter, prompts[0], depth, settings, source, verify)

        return seeded(generate, batch=True)

    return make_decoder


def _verify_with(
    walk_tree: Callable,
    rng: np.random.Generator,
    p: Tensor,
    proposal: TreeProposal,
    _: RandomSource,
) -> tuple[list[int], int, bool]:
    """What `verify_tree` of decoding/tree.py gives, by a reader's `walk_tree` and `rng`."""
    q = _q_of_children(p, proposal)
    uniforms, u = rng.random(len(proposal.parents)), float(rng.random())
    parents, tokens = [parent - 1 for parent in proposal.parents], list(proposal.tokens)
    distributions = p.double().cpu().numpy(), q.double().cpu().numpy()
    returned = call_student("walk_tree", walk_tree, (parents, tokens, *distributions, uniforms, u))
    written = _as_token_list(returned)
    path = _branch(proposal, ROOT_NODE, written[:-1])
    if not written or path is None or not 0 <= written[-1] < p.shape[-1]:
        raise WrongFunction(
            f"walk_tree returned {reprlib.repr(returned)}, and not a branch of its tree and one "
            "token"
        )
    return path, written[-1], not children(proposal, [ROOT_NODE, *path][-1])


def _q_of_children(p: Tensor, proposal: TreeProposal) -> Tensor:
    """For every node, the q (V,) that its children were drawn from, or the mean of theirs."""
    q = p.new_zeros(p.shape)
    for parent in set(proposal.parents):
        q[parent] = proposal.q[[other == parent for other in proposal.parents]].mean(0)
    return q


def _branch(proposal: TreeProposal, node: int, tokens: list[int]) -> list[int] | None:
    """The nodes below `node` that hold these tokens, one below the other; None without any."""
    if not tokens:
        return []
    for child in children(proposal, node):
        if proposal.tokens[child - 1] == tokens[0]:
            rest = _branch(proposal, child, tokens[1:])
            if rest is not None:
                return [child, *rest]
    return None


def greedy_function_lane(decode: Callable, draft: str = "large", k: int = 3) -> LaneMaker:
    """Chapter 01's `greedy_speculative_decode`, on the distributions of real models."""

    def arguments(target: Model, prompt: list[int], tokens: int, *_: object) -> tuple:
        target_logits, draft_logits = _logits_after(target, draft, prompt)

        def p(text: Sequence[int]) -> np.ndarray:
            return softmax(target_logits(text))

        def q(text: Sequence[int]) -> np.ndarray:
            return softmax(draft_logits(text)[-1])

        return p, q, prompt, k, tokens

    return _function_lane("greedy_speculative_decode", decode, arguments)


def sampled_function_lane(sample: Callable, draft: str = "large", k: int = 3) -> LaneMaker:
    """Chapter 02's `speculative_sample`, on the logits of real models."""

    def arguments(target: Model, prompt: list[int], tokens: int, warp: Warp, rng: Any) -> tuple:
        return *_logits_after(target, draft, prompt), prompt, k, tokens, warp.temperature, rng

    return _function_lane("speculative_sample", sample, arguments)


def _logits_after(target: Model, draft: str, prompt: list[int]) -> tuple[Callable, Callable]:
    """Both models as functions of a text."""
    target_logits = logits_of(target)
    target_logits(prompt[:-1])  # it has read this much when plain decoding begins
    return target_logits, logits_of(models.load_draft(draft))


def student_lane(speculative_generate: Callable, draft: Model, k: int) -> LaneMaker:
    """Chapter 08's `speculative_generate`, at the temperature of the race, one text at a time."""

    def arguments(target: Model, prompt: list[int], tokens: int, warp: Warp, rng: Any) -> tuple:
        return target, draft, prompt, k, tokens, warp.temperature, rng

    return _function_lane("speculative_generate", speculative_generate, arguments)


def _function_lane(name: str, function: Callable, arguments: Callable[..., tuple]) -> LaneMaker:
    """A reader's `function`, called with `arguments(target, prompt, tokens, warp, rng)`."""

    def make_decoder(target: Model, warp: Warp, tokens: int) -> Decoder:
        def generate(prompts: Prompts, rngs: Generators) -> Generation:
            values = arguments(target, list(prompts[0]), tokens, warp, rngs[0])
            return Generation([_student_tokens(name, function, values, tokens, target.vocab_size)])

        return seeded(generate, batch=True)

    return make_decoder


def _student_tokens(
    name: str, function: Callable, arguments: Sequence, count: int, vocab_size: int
) -> list[int]:
    """The `count` tokens that a reader's `function` gives.

    WrongFunction, which says what it gave instead, so that a race never dies of it.
    """
    returned = call_student(name, function, arguments)
    tokens = _as_token_list(returned)
    if len(tokens) == count and all(0 <= token < vocab_size for token in tokens):
        return tokens
    many = f" ({len(tokens)} numbers)" if tokens else ""
    raise WrongFunction(
        f"{name} returned {' '.join(reprlib.repr(returned).split())}{many}, and not a list of "
        f"{count} tokens from 0 to {vocab_size - 1}"
    )


def call_student(name: str, function: Callable, arguments: Sequence) -> object:
    """What a reader's `function` gives.

    Raises WrongFunction with the reason; a stub's NotImplementedError goes on as it is.
    """
    try:
        return function(*arguments)
    except Exception as error:  # whatever a half-written function does
        if is_unwritten(error):
            raise
        raise WrongFunction(f"{name} raised {error!r}") from error


def _as_token_list(returned: Any) -> list[int]:
    """The integers in a list, or none for anything else."""
    try:
        return list(map(operator.index, returned))
    except Exception:  # no list, or not of integers
        return []


class RandomTokens(PromptLookup):
    """Drafts tokens without looking at the text; as in prompt lookup, each has a q of 1."""

    def propose(self, texts: Texts, limits: Sequence[int], random_source: RandomSource) -> Proposal:
        """Up to limits[b] tokens a row, the same ones after texts of the same lengths."""
        rng = np.random.default_rng([len(text) for text in texts])
        rows = [rng.integers(self.vocab_size, size=n).tolist() for n in limits]
        return one_hot_proposal(rows, self.vocab_size, self.device)
