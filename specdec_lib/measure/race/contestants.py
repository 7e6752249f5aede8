"""Who can take part in a race: drafters of all kinds, and a reader's own functions."""

import operator
import reprlib
from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

from specdec_lib.decoding.generate import tree_generate
from specdec_lib.decoding.state import Generation, Settings
from specdec_lib.decoding.verify import Verdict, Verifier, probability_of, verify
from specdec_lib.drafters.lookup import PromptLookup
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.drafters.protocol import Drafter, Proposal, certain
from specdec_lib.drafters.tree import Candidates
from specdec_lib.measure.core import models
from specdec_lib.measure.core.runs import Decoder, decoder, speculative
from specdec_lib.models.protocol import Model, Texts
from specdec_lib.sampling import Choices, Uniforms, Warp, choices_for

# Makes a decoder of a batch, for a target, a temperature and so many new tokens.
Contestant = Callable[[Model, Warp, int], Decoder]


class WrongFunction(Exception):
    """A reader's own function gives nothing that a race can go on with; the message says what."""


def drafting(draft: str = "large", k: int = 3, verifier: Verifier = verify) -> Contestant:
    """Speculative decoding with a built-in draft model and `k` draft tokens in a block."""
    return with_drafter(lambda target: ModelDrafter(models.draft(draft)), k, verifier)


def copying(k: int = 3, max_ngram: int = 3) -> Contestant:
    """Draft what followed the last time that the text read like this: prompt lookup."""
    return with_drafter(lambda target: PromptLookup(target.vocab_size, max_ngram=max_ngram), k)


def guessing(k: int = 3) -> Contestant:
    """Draft tokens at random, without looking at the text."""
    return with_drafter(lambda target: RandomTokens(target.vocab_size), k)


def with_drafter(
    make: Callable[[Model], Drafter], k: int, verifier: Verifier = verify
) -> Contestant:
    """Speculative decoding with the drafter that `make` gives for a target."""
    return lambda target, warp, tokens: speculative(
        target, make(target), k, warp, tokens, verifier, batch=True
    )


def branching(draft: str = "large", widths: Sequence[int] = (2, 2, 1)) -> Contestant:
    """Draft a tree: `widths` candidates at each level, the most probable ones of a draft model."""

    def contestant(target: Model, warp: Warp, tokens: int) -> Decoder:
        drafter = Candidates(models.draft(draft), widths, how="top")

        def generate(prompts: Texts, settings: Settings, rngs: list) -> Generation:
            drawn = choices_for(settings.warp, rngs)
            return tree_generate(target, drafter, prompts[0], len(widths), settings, drawn)

        return decoder(generate, warp, tokens, batch=True)

    return contestant


def judged_by(speculative_step: Callable, draft: str = "large", k: int = 3) -> Contestant:
    """Blocks that chapter 02's `speculative_step(draft_tokens, p, q, r, u)` judges.

    It needs a temperature above 0, at which a block has coins r and a number u.
    """

    def judge(p: Tensor, q: Tensor, drafted: Tensor, limits: Tensor, choices: Uniforms) -> Verdict:
        n = int(limits[0])
        rows = p[0, : n + 1].double().numpy(), q[0, :n].double().numpy()
        tokens = [int(token) for token in drafted[0, :n]]
        given = (tokens, *rows, choices.r[0, :n].copy(), float(choices.u[0]))
        lengths, vocab_size = range(1, n + 2), p.shape[-1]
        block = asked("speculative_step", speculative_step, given, lengths, vocab_size)
        count, token = torch.tensor([len(block) - 1]), torch.tensor([block[-1]])
        probabilities = probability_of(drafted, p[:, :-1]), probability_of(drafted, q)
        return Verdict(count, token, *probabilities)

    return drafting(draft, k, judge)


def own(speculative_generate: Callable, draft: str = "large", k: int = 3) -> Contestant:
    """Chapter 08's `speculative_generate`, at the temperature of the race, one text at a time."""

    def contestant(target: Model, warp: Warp, tokens: int) -> Decoder:
        small = models.draft(draft)

        def generate(prompts: Texts, settings: Settings, rngs: list) -> Generation:
            given = target, small, list(prompts[0]), k, tokens, warp.temperature, rngs[0]
            lengths, name = range(tokens, tokens + 1), "speculative_generate"
            return Generation(
                [asked(name, speculative_generate, given, lengths, target.vocab_size)]
            )

        return decoder(generate, warp, tokens, batch=True)

    return contestant


def asked(
    name: str, function: Callable, arguments: Sequence, lengths: range, vocab_size: int
) -> list[int]:
    """The tokens that a reader's `function` gives, as many as one of `lengths`.

    WrongFunction, which says what it gave instead, so that a race never dies of it.
    """
    try:
        given = function(*arguments)
    except NotImplementedError:
        raise
    except Exception as error:  # whatever a half-written function does
        raise WrongFunction(f"{name} raised {error!r}") from error
    try:
        tokens = list(map(operator.index, given))
    except Exception:  # no list, or not of integers
        tokens = []
    if len(tokens) in lengths and all(0 <= token < vocab_size for token in tokens):
        return tokens
    many = f" ({len(tokens)} numbers)" if tokens else ""
    most = f"{lengths[0]} to {lengths[-1]}" if len(lengths) > 1 else f"{lengths[0]}"
    raise WrongFunction(
        f"{name} returned {' '.join(reprlib.repr(given).split())}{many}, and not a list of {most} "
        f"tokens from 0 to {vocab_size - 1}"
    )


class RandomTokens(PromptLookup):
    """Drafts tokens without looking at the text; as in prompt lookup, each has a q of 1."""

    def propose(self, texts: Texts, limits: Sequence[int], choices: Choices) -> Proposal:
        """Up to limits[b] tokens a row, the same ones after texts of the same lengths."""
        rng = np.random.default_rng([len(text) for text in texts])
        rows = [rng.integers(self.vocab_size, size=n).tolist() for n in limits]
        return certain(rows, self.vocab_size, self.device)
