"""Who can take part in a race: drafters of all kinds, and a reader's own functions."""

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
from specdec_lib.drafters.protocol import Drafter, Proposal, certain
from specdec_lib.drafters.tree import ROOT, Candidates, TreeProposal
from specdec_lib.lessons.checking.blame import is_unwritten
from specdec_lib.measure import models
from specdec_lib.measure.runs import Decoder, decoder, speculative
from specdec_lib.models.function import logits_of
from specdec_lib.models.protocol import Model, Texts
from specdec_lib.sampling import Choices, Warp, choices_for, softmax

# From a text to the logits (len(text), V) after each of its tokens.
Logits = Callable[[Sequence[int]], np.ndarray]
# Makes a decoder of a batch, for a target, a temperature and so many new tokens.
Contestant = Callable[[Model, Warp, int], Decoder]


class WrongFunction(Exception):
    """A reader's own function gives nothing that a race can go on with; the message says what."""


def drafting(draft: str = "large", k: int = 3) -> Contestant:
    """Speculative decoding with a built-in draft model and `k` draft tokens in a block."""
    return with_drafter(lambda target: ModelDrafter(models.draft(draft)), k)


def copying(k: int = 3, max_ngram: int = 3) -> Contestant:
    """Draft what followed the last time that the text read like this: prompt lookup."""
    return with_drafter(lambda target: PromptLookup(target.vocab_size, max_ngram=max_ngram), k)


def guessing(k: int = 3) -> Contestant:
    """Draft tokens at random, without looking at the text."""
    return with_drafter(lambda target: RandomTokens(target.vocab_size), k)


def with_drafter(make: Callable[[Model], Drafter], k: int) -> Contestant:
    """Speculative decoding with the drafter that `make` gives for a target."""
    return lambda target, warp, tokens: speculative(
        target, make(target), k, warp, tokens, batch=True
    )


def walking(
    walk_tree: Callable, draft: str = "large", widths: Sequence[int] = (2, 2, 1)
) -> Contestant:
    """Chapter 07's `walk_tree` on trees of a draft model, with `widths[d]` candidates at level d.

    They are drawn from q. At temperature 0, where all draws are alike, the top tokens take their
    place: a rejected one then leaves nothing of p but the target's own token, whatever q is.
    """

    def contestant(target: Model, warp: Warp, tokens: int) -> Decoder:
        how = "independent" if warp.temperature else "top"
        drafter = Candidates(models.draft(draft), widths, how)

        def generate(prompts: Texts, settings: Settings, rngs: list) -> Generation:
            drawn = choices_for(settings.warp, rngs)
            judge = partial(judged, walk_tree, rngs[0])
            return tree_generate(target, drafter, prompts[0], len(widths), settings, drawn, judge)

        return decoder(generate, warp, tokens, batch=True)

    return contestant


def judged(
    walk_tree: Callable, rng: np.random.Generator, p: Tensor, proposal: TreeProposal, _: Choices
) -> tuple[list[int], int, bool]:
    """What decoding/tree.py's `walk` gives, by a reader's `walk_tree` and the uniforms of `rng`."""
    q = p.new_zeros(p.shape)
    for parent in set(proposal.parents):  # the q of its children, or the mean of theirs
        q[parent] = proposal.q[[each == parent for each in proposal.parents]].mean(0)
    rows = [each.double().cpu().numpy() for each in (p, q)]
    parents = [parent - 1 for parent in proposal.parents]
    coins, u = rng.random(len(parents)), float(rng.random())
    arguments = parents, list(proposal.tokens), *rows, coins, u
    given = given_by("walk_tree", walk_tree, arguments)
    written = as_tokens(given)
    path = branch(proposal, ROOT, written[:-1])
    if not written or path is None or not 0 <= written[-1] < p.shape[-1]:
        raise WrongFunction(
            f"walk_tree returned {reprlib.repr(given)}, and not a branch of its tree and one token"
        )
    return path, written[-1], not children(proposal, [ROOT, *path][-1])


def branch(proposal: TreeProposal, node: int, tokens: list[int]) -> list[int] | None:
    """The nodes below `node` that hold these tokens, one below the other; None without any."""
    if not tokens:
        return []
    for child in children(proposal, node):
        if proposal.tokens[child - 1] == tokens[0]:
            rest = branch(proposal, child, tokens[1:])
            if rest is not None:
                return [child, *rest]
    return None


def greedy_of(decode: Callable, draft: str = "large", k: int = 3) -> Contestant:
    """Chapter 01's `greedy_speculative_decode`, on the distributions of real models."""

    def arguments(target: Logits, small: Logits, prompt: list[int], tokens: int, *_: Any) -> tuple:
        p, q = (lambda text: softmax(target(text))), (lambda text: softmax(small(text)[-1]))
        return p, q, prompt, k, tokens

    return on_functions("greedy_speculative_decode", decode, arguments, draft)


def sampler_of(sample: Callable, draft: str = "large", k: int = 3) -> Contestant:
    """Chapter 02's `speculative_sample`, at the temperature of the race."""

    def arguments(
        target: Logits, small: Logits, prompt: list[int], tokens: int, warp: Warp, rng: Any
    ) -> tuple:
        return target, small, prompt, k, tokens, warp.temperature, rng

    return on_functions("speculative_sample", sample, arguments, draft)


def on_functions(name: str, function: Callable, arguments: Callable, draft: str) -> Contestant:
    """A decoder of the reader's that knows a model as a function from a text to its logits.

    Both models keep caches (models/function.py). The target has read the prompt, all but its last
    token, before the decoder begins, as it has in plain decoding.
    """

    def contestant(target: Model, warp: Warp, tokens: int) -> Decoder:
        def generate(prompts: Texts, settings: Settings, rngs: list) -> Generation:
            (prompt,) = map(list, prompts)
            p, q = logits_of(target), logits_of(models.draft(draft))
            p(prompt[:-1])
            given = arguments(p, q, prompt, tokens, warp, rngs[0])
            return Generation([asked(name, function, given, tokens, target.vocab_size)])

        return decoder(generate, warp, tokens, batch=True)

    return contestant


def own(speculative_generate: Callable, draft: Model, k: int) -> Contestant:
    """Chapter 08's `speculative_generate`, at the temperature of the race, one text at a time."""

    def contestant(target: Model, warp: Warp, tokens: int) -> Decoder:
        def generate(prompts: Texts, settings: Settings, rngs: list) -> Generation:
            given = target, draft, list(prompts[0]), k, tokens, warp.temperature, rngs[0]
            name = "speculative_generate"
            return Generation([asked(name, speculative_generate, given, tokens, target.vocab_size)])

        return decoder(generate, warp, tokens, batch=True)

    return contestant


def asked(
    name: str, function: Callable, arguments: Sequence, count: int, vocab_size: int
) -> list[int]:
    """The `count` tokens that a reader's `function` gives.

    WrongFunction, which says what it gave instead, so that a race never dies of it.
    """
    given = given_by(name, function, arguments)
    tokens = as_tokens(given)
    if len(tokens) == count and all(0 <= token < vocab_size for token in tokens):
        return tokens
    many = f" ({len(tokens)} numbers)" if tokens else ""
    raise WrongFunction(
        f"{name} returned {' '.join(reprlib.repr(given).split())}{many}, and not a list of {count} "
        f"tokens from 0 to {vocab_size - 1}"
    )


def given_by(name: str, function: Callable, arguments: Sequence) -> object:
    """What a reader's `function` gives.

    Raises WrongFunction, with the reason, unless it is not written yet.
    """
    try:
        return function(*arguments)
    except Exception as error:  # whatever a half-written function does
        if is_unwritten(error):
            raise
        raise WrongFunction(f"{name} raised {error!r}") from error


def as_tokens(given: Any) -> list[int]:
    """The integers in a list, or none for anything else."""
    try:
        return list(map(operator.index, given))
    except Exception:  # no list, or not of integers
        return []


class RandomTokens(PromptLookup):
    """Drafts tokens without looking at the text; as in prompt lookup, each has a q of 1."""

    def propose(self, texts: Texts, limits: Sequence[int], choices: Choices) -> Proposal:
        """Up to limits[b] tokens a row, the same ones after texts of the same lengths."""
        rng = np.random.default_rng([len(text) for text in texts])
        rows = [rng.integers(self.vocab_size, size=n).tolist() for n in limits]
        return certain(rows, self.vocab_size, self.device)
