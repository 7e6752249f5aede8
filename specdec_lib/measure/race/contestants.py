"""Who can take part in a race: plain decoding, drafters of all kinds, and a reader's own functions.

Each is made for a target, and then begins a generation, of which every call of `step` is one pass
of the target. A reader's own decoder cannot be stopped between two passes: it takes one step, and
`watch` tells when each of its passes ended.
"""

import operator
import reprlib
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from specdec_lib.decoding.checks import check_request
from specdec_lib.decoding.generate import plain_step, start_run
from specdec_lib.decoding.speculative import Run, decode_block
from specdec_lib.decoding.state import Settings
from specdec_lib.decoding.tree import decode_tree
from specdec_lib.decoding.verify import Verdict, Verifier, probability_of, verify
from specdec_lib.drafters.lookup import PromptLookup
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.drafters.proposals import certain
from specdec_lib.drafters.protocol import Drafter, Proposal
from specdec_lib.drafters.tree import Candidates
from specdec_lib.measure.core import models
from specdec_lib.measure.race.limits import WrongFunction
from specdec_lib.models.llama import Llama
from specdec_lib.models.protocol import Cache, Texts
from specdec_lib.sampling import Choices, Uniforms, Warp


class Begun(NamedTuple):
    """A generation that has read its prompts."""

    run: "Run | Whole"
    step: Callable[[], object]


# Begins a generation on prompts, with these choices.
Begin = Callable[[Texts, Settings, Choices], Begun]
# Makes a contestant for a target.
Contestant = Callable[[Llama], Begin]


def plain() -> Contestant:
    """Plain decoding: a pass for every token."""

    def begin(target: Llama, prompts: Texts, settings: Settings, choices: Choices) -> Begun:
        run = Run(target, prompts, settings, check_request(target, prompts, settings, choices))
        return Begun(run, partial(plain_step, run, choices))

    return lambda target: partial(begin, target)


def drafting(draft: str = "large", k: int = 3, verifier: Verifier = verify) -> Contestant:
    """Speculative decoding with a built-in draft model and `k` draft tokens in a block."""
    return with_drafter(lambda target: ModelDrafter(models.draft(draft)), k, verifier)


def copying(k: int = 3, max_ngram: int = 3) -> Contestant:
    """Draft what followed the last time that the text read like this: prompt lookup."""
    return with_drafter(lambda target: PromptLookup(target.vocab_size, max_ngram=max_ngram), k)


def guessing(k: int = 3) -> Contestant:
    """Draft tokens at random, without looking at the text."""
    return with_drafter(lambda target: RandomTokens(target.vocab_size), k)


def branching(draft: str = "large", widths: Sequence[int] = (2, 2, 1)) -> Contestant:
    """Draft a tree: `widths` candidates at each level, the most probable ones of a draft model."""

    def begin(target: Llama, prompts: Texts, settings: Settings, choices: Choices) -> Begun:
        drafter, depth = Candidates(models.draft(draft), widths, how="top"), len(widths)
        capacity = check_request(target, prompts, settings, choices) + drafter.nodes(depth)
        run = start_run(target, drafter, prompts, settings, capacity)
        return Begun(run, partial(decode_tree, run, drafter, depth, choices))

    return lambda target: partial(begin, target)


def judged_by(speculative_step: Callable, draft: str = "large", k: int = 3) -> Contestant:
    """Blocks that chapter 02's `speculative_step(draft_tokens, p, q, r, u)` judges.

    It needs a temperature above 0, at which a block has coins r and a number u.
    """

    def judge(p: Tensor, q: Tensor, drafted: Tensor, limits: Tensor, choices: Uniforms) -> Verdict:
        n = int(limits[0])
        rows = p[0, : n + 1].double().numpy(), q[0, :n].double().numpy()
        tokens = [int(token) for token in drafted[0, :n]]
        about = (tokens, *rows, choices.r[0, :n].copy(), float(choices.u[0]))
        lengths, vocab_size = range(1, n + 2), p.shape[-1]
        block = asked("speculative_step", speculative_step, about, lengths, vocab_size)
        count, token = torch.tensor([len(block) - 1]), torch.tensor([block[-1]])
        about = probability_of(drafted, p[:, :-1]), probability_of(drafted, q)
        return Verdict(count, token, *about)

    return drafting(draft, k, judge)


def with_drafter(make: Callable[[Llama], Drafter], k: int, verifier: Verifier = verify):
    """Speculative decoding with the drafter that `make` gives for a target."""

    def begin(target: Llama, prompts: Texts, settings: Settings, choices: Choices) -> Begun:
        drafter, capacity = make(target), check_request(target, prompts, settings, choices, k)
        run = start_run(target, drafter, prompts, settings, capacity)
        return Begun(run, partial(decode_block, run, drafter, k, choices, verifier))

    return lambda target: partial(begin, target)


class RandomTokens:
    """A drafter that proposes tokens without looking at the text."""

    max_length = None

    def __init__(self, vocab_size: int) -> None:
        self.vocab_size, self.device = vocab_size, torch.device("cpu")
        self.generator = np.random.default_rng(0)

    def start(self, texts: Texts, warp: Warp, capacity: int, cache: Cache | None = None) -> None:
        """Nothing to prepare."""

    def propose(self, texts: Texts, limits: Sequence[int], choices: Choices) -> Proposal:
        """Any tokens, each with a q of 1 on itself."""
        rows = [self.generator.integers(self.vocab_size, size=n).tolist() for n in limits]
        return certain(rows, self.vocab_size, self.device)


def own(speculative_generate: Callable, draft: str = "large", k: int = 3) -> Contestant:
    """Chapter 08's `speculative_generate`, at the temperature of the race."""

    def begin(target: Llama, prompts: Texts, settings: Settings, choices: Choices) -> Begun:
        run, small = Whole(target, prompts[0]), models.draft(draft)

        def step() -> None:
            how = (k, settings.max_new_tokens, settings.warp.temperature, np.random.default_rng(0))
            lengths = range(settings.max_new_tokens, settings.max_new_tokens + 1)
            about, name = (run.watched, small, list(prompts[0]), *how), "speculative_generate"
            new = asked(name, speculative_generate, about, lengths, target.vocab_size)
            if not run.read:
                raise WrongFunction(f"{name} returned {reprlib.repr(new)} without a target pass")
            run.sequences[0] += new
            run.running = [False]

        return Begun(run, step)

    return lambda target: partial(begin, target)


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


class Whole:
    """A generation that is over after one step; `marks` tells what its passes did."""

    def __init__(self, target: Llama, prompt: Sequence[int]) -> None:
        self.watched, self.start = Watched(target), len(prompt)
        self.sequences, self.running = [list(prompt)], [True]

    @property
    def read(self) -> list[tuple[float, int]]:
        """The target's passes from the one on that read the end of the prompt."""
        return [(end, read) for end, read in self.watched.passes if read >= self.start]

    def marks(self) -> list[tuple[float, int]]:
        """When each pass ended, by time.perf_counter, and the new tokens that stood by then."""
        ends, read = zip(*self.read, strict=True)
        stood = [*read[1:], len(self.sequences[0])]
        return [(end, length - self.start) for end, length in zip(ends, stood, strict=True)]


class Watched:
    """A target that notes when each of its passes ended, and how long the text was before it."""

    def __init__(self, target: Llama) -> None:
        self.target, self.passes = target, list[tuple[float, int]]()
        self.vocab_size, self.max_length = target.vocab_size, target.max_length
        self.device = target.device

    def new_cache(self, batch: int = 1, capacity: int | None = None) -> Cache:
        """The target's."""
        return self.target.new_cache(batch, capacity)

    def forward(self, tokens: Tensor, cache: Cache) -> Tensor:
        """The target's logits (B, T, V)."""
        held = int(cache.length[0])
        logits = self.target.forward(tokens, cache)
        # Of a pass that reads the prompt, the text is what it read; else its last token is new.
        self.passes.append((time.perf_counter(), held + (1 if held else tokens.shape[1])))
        return logits
