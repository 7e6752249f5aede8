"""Our greedy decoding over llama.cpp's on the same weights, plain and speculative."""

import statistics
import time
from collections.abc import Sequence
from contextlib import ExitStack

import torch

from specdec_lib.assets import ASSETS
from specdec_lib.decoding.state import Generation
from specdec_lib.device import processor_class
from specdec_lib.measure.bench.workbench import Workbench
from specdec_lib.measure.core.choice import Choice
from specdec_lib.measure.core.models import target, target_weights
from specdec_lib.measure.core.runs import GREEDY, Decoder
from specdec_lib.measure.core.timing import Spread
from specdec_lib.measure.peers import greedy
from specdec_lib.measure.peers.llama_cpp import build, loaded
from specdec_lib.models.checkpoint import read_weights
from specdec_lib.models.llama import Llama

# llama.cpp rounds keys and values to float16, and the inputs of products with F16 matrices: at the
# built-in sizes logits differ by 0.01 for it. A mistake in the weights makes it 1 and more.
CLOSE = 0.05
FEW = 2  # prompts in a form that is measured for the notes only
# What a processor of a class does not have, as llama.cpp names the instructions of its build.
BEYOND = {"AVX2": "AVX512", "AVX512": "AVX512_BF16"}


class AnotherModel(RuntimeError):
    """llama.cpp does not compute what our model computes, so that their times say nothing."""


class AnotherClass(RuntimeError):
    """llama.cpp uses instructions that the class of processors that is imitated does not have."""


class Kept:
    """A decoder that keeps the text after every prompt, and the tokens a second of every call."""

    def __init__(self, decoder: Decoder) -> None:
        self.decoder, self.rates = decoder, list[float]()
        self.texts: dict[tuple[int, ...], list[int]] = {}

    def __call__(self, prompt: list[int]) -> Generation:
        """Decode."""
        begun = time.perf_counter()
        made = self.decoder(prompt)
        self.rates.append(len(made.tokens[0]) / (time.perf_counter() - begun))
        self.texts[tuple(prompt)] = made.tokens[0]
        return made

    @property
    def rate(self) -> float:
        """The median."""
        return statistics.median(self.rates)


def over_llama_cpp(
    bench: Workbench, wanted: str | None, forms: Sequence[str], drafted: bool = False
) -> Spread:
    """Ours over llama.cpp's in the first of `forms` (F16, F32); the other is for the notes.

    Both plain, or if `drafted` both speculative with the draft and the K that suit ours. Raises
    AnotherModel if logits or texts are not ours, AnotherClass if its build is for more than the
    class of processors that we are restricted to.
    """
    require_class(processor_class(), build())
    choice = bench.best(wanted, GREEDY) if drafted else None
    first, *others = forms
    ratio = over_form(bench, wanted, first, choice, bench.most)
    for form in others:
        over_form(bench, wanted, form, choice, FEW)
    bench.notes.append(f"llama.cpp: {build()}")
    return ratio


def require_class(name: str, build: str) -> None:
    """Raise AnotherClass if `build` uses instructions that the class `name` does not have."""
    beyond = BEYOND.get(name)
    if beyond and f"{beyond} = 1" in build:
        raise AnotherClass(
            f"this is the class {name}, and llama.cpp's build uses {beyond}; docs/results.md says "
            "how to make another build"
        )


def over_form(
    bench: Workbench, size: str | None, form: str, choice: Choice | None, most: int
) -> Spread:
    """The ratio for llama.cpp with matrices in `form`, on up to `most` prompts, with notes."""
    dtype = choice.dtype if choice else bench.best_plain(size)
    prompts = bench.prompts_for(GREEDY, dtype)[:most]
    helper = (choice.draft, choice.k) if choice else ()
    ours = Kept(bench.decoder(size, dtype, GREEDY, *helper))
    name = f"{bench.where(size)} {'speculative' if choice else 'plain'} over llama.cpp's {form}"
    with ExitStack() as stack:
        theirs, difference = their_decoder(bench, size, form, choice, prompts[0], stack)
        ratio = bench.compare(name, theirs, ours, prompts)
    equal = sum(ours.texts[prompt] == text for prompt, text in theirs.texts.items())
    gap = largest_gap(target(size, torch.float32), theirs)
    bench.notes.append(
        f"{name}: {ours.rate:.1f} and {theirs.rate:.1f} tokens a second; {equal} of "
        f"{len(prompts)} texts equal; logits differ by at most {difference:.4f}, and its tokens "
        f"are at most {gap:.4f} below our best"
    )
    return ratio


def their_decoder(
    bench: Workbench, size: str | None, form: str, choice: Choice | None,
    prompt: list[int], stack: ExitStack,
) -> tuple[Kept, float]:  # fmt: skip
    """llama.cpp's decoder, loaded until `stack` ends, and how far its logits are from ours."""
    threads = torch.get_num_threads()
    weights = target_weights(size, torch.float32)
    model = stack.enter_context(loaded(weights, form, threads))
    difference = logits_apart(target(size, torch.float32), model, prompt)
    if choice is None:
        return Kept(greedy.plain(model, bench.tokens)), difference
    small = read_weights(ASSETS / choice.draft, "cpu", torch.float32)
    draft = stack.enter_context(loaded(small, form, threads))
    return Kept(greedy.speculative(model, draft, choice.k, bench.tokens)), difference


def logits_apart(ours: Llama, theirs: greedy.Reader, prompt: list[int]) -> float:
    """The largest difference between the logits of the two. AnotherModel if it is over CLOSE."""
    theirs.cut(0)
    found = torch.tensor(theirs.read(prompt))
    difference = float((our_logits(ours, prompt) - found).abs().max())
    if difference > CLOSE:
        raise AnotherModel(
            f"llama.cpp's logits differ from ours by {difference:.3g}, more than {CLOSE}"
        )
    return difference


def largest_gap(ours: Llama, theirs: Kept) -> float:
    """How far one of the tokens of `theirs` is below our most probable one, in logits.

    Raises AnotherModel if it is more than two logits, each off by CLOSE, explain.
    """
    gaps = []
    for prompt, text in theirs.texts.items():
        logits = our_logits(ours, [*prompt, *text[:-1]])[len(prompt) - 1 :]
        chosen = logits.gather(1, torch.tensor(text)[:, None])[:, 0]
        gaps.append(float((logits.amax(1) - chosen).max()))
    if max(gaps) > 2 * CLOSE:
        raise AnotherModel(
            f"llama.cpp wrote a token whose logit is {max(gaps):.3g} below the best: not greedy"
        )
    return max(gaps)


def our_logits(model: Llama, tokens: list[int]) -> torch.Tensor:
    """The logits (T, V) after each of `tokens`."""
    return model.forward(torch.tensor([tokens]), model.new_cache(1, len(tokens)))[0]
