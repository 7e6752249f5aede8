"""Decoding in steps of fixed shape, each captured in one CUDA graph.

On a GPU a small model's pass takes less time than Python needs to start its operations. A step of
fixed shape (draft K, verify K+1, accept, advance) is recorded once and then started as a whole. All
lengths stay on the device; the host reads one small tensor a step. Without a GPU the same step runs
as it is, which is how it is tested.
"""

import time
from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

from specdec_lib.decoding.progress import Block, Generation, Progress, Settings, check_prompts
from specdec_lib.decoding.speculative import check_pair
from specdec_lib.decoding.verify import verify
from specdec_lib.models.cache import FixedCache
from specdec_lib.models.llama import Llama
from specdec_lib.models.reading import read_up_to
from specdec_lib.sampling import Choices, Greedy, accept_below, sample_rows


class Numbers:
    """Choices from a tensor of uniform numbers that is filled anew before every step.

    Its columns are in the order of `Uniforms`: K for the draft tokens, K for the acceptance, one
    for the last token.
    """

    def __init__(self, rows: int, k: int, device: torch.device) -> None:
        self.k = k
        self.uniform = torch.zeros(rows, 2 * k + 1, dtype=torch.float64, device=device)

    def begin(self, counts: Sequence[int]) -> None:
        """The numbers are there."""

    def draw(self, probs: Tensor, index: int) -> Tensor:
        """By the inverse CDF."""
        return sample_rows(probs, self.uniform[:, index])

    def accept(self, p: Tensor, q: Tensor, first: int = 0) -> Tensor:
        """By `accept_below`."""
        coins = self.uniform[:, self.k + first : self.k + first + p.shape[1]]
        return accept_below(p, q, coins)


class Step:
    """One block of every row: `tokens` (B, capacity) and `length` (B,) are its state.

    A row stands still from `goal` (B,) tokens on. `made` (B, K+2) is what the host reads: the draft
    tokens, the correction or bonus, and how many of the draft tokens were accepted.
    """

    def __init__(
        self, target: Llama, draft: Llama | None, prompts: Sequence[Sequence[int]], k: int,
        settings: Settings,
    ) -> None:  # fmt: skip
        self.target, self.draft, self.k, self.warp = target, draft, k, settings.warp
        rows, device = len(prompts), target.device
        capacity = capacity_for(prompts, k, settings)
        self.choices: Choices = Numbers(rows, k, device) if self.warp.temperature else Greedy()
        self.tokens = torch.zeros(rows, capacity, dtype=torch.long, device=device)
        for row, prompt in enumerate(prompts):
            self.tokens[row, : len(prompt)] = torch.tensor(prompt)
        self.length = torch.tensor([len(prompt) for prompt in prompts], device=device)
        self.goal = self.length + settings.max_new_tokens
        self.made = torch.zeros(rows, k + 2, dtype=torch.long, device=device)
        self.limits = torch.full((rows,), k, device=device)
        self.ahead = torch.arange(k + 1, device=device)
        self.target_cache = self._cache(target, prompts, leave=1)
        self.draft_cache = self._cache(draft, prompts, leave=2) if draft and k else None

    def _cache(self, model: Llama, prompts: Sequence[Sequence[int]], leave: int) -> FixedCache:
        cache = model.new_fixed_cache(len(prompts), self.tokens.shape[1])
        read_up_to(model, cache, prompts, leave=leave)
        return cache

    def __call__(self) -> None:
        """Draft, verify, accept, advance; nothing waits for the device."""
        drafted, q = self._draft()
        last = self.tokens.gather(1, self.length[:, None] - 1)
        self.target_cache.truncate(self.length - 1)
        logits = self.target.forward(torch.cat((last, drafted), 1), self.target_cache)
        verdict = verify(self.warp(logits), q, drafted, self.limits, self.choices)
        kept = torch.nn.functional.pad(drafted, (0, 1))
        kept = kept.scatter(1, verdict.count[:, None], verdict.token[:, None])
        self.tokens.scatter_(1, self.length[:, None] + self.ahead, kept)
        outcome = torch.stack((verdict.token, verdict.count), 1)
        self.made.copy_(torch.cat((drafted, outcome), 1))
        self.length += (verdict.count + 1) * (self.length < self.goal)

    def _draft(self) -> tuple[Tensor, Tensor]:
        """The draft tokens (B, K) and their distributions (B, K, V).

        The first pass reads two tokens, always: behind a fully accepted block both are new.
        """
        rows = len(self.tokens)
        if not self.k:
            empty = self.tokens[:, :0]
            return empty, torch.zeros(rows, 0, self.target.vocab_size, device=empty.device)
        self.draft_cache.truncate(self.length - 2)
        feed = self.tokens.gather(1, torch.stack((self.length - 2, self.length - 1), 1))
        drafted, distributions = [], []
        for index in range(self.k):
            q = self.warp(self.draft.forward(feed, self.draft_cache)[:, -1])
            token = self.choices.draw(q, index)
            drafted.append(token)
            distributions.append(q)
            feed = token[:, None]
        return torch.stack(drafted, 1), torch.stack(distributions, 1)


def captured(step: Step) -> Callable[[], None]:
    """`step` as a CUDA graph, its state as before; on other devices `step` itself."""
    if step.tokens.device.type != "cuda":
        return step
    state = [part.clone() for part in (step.tokens, step.length)]
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):  # the libraries choose their kernels and set memory aside
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    step.tokens.copy_(state[0])
    step.length.copy_(state[1])
    return graph.replay


@torch.inference_mode()
def graph_generate(
    target: Llama,
    draft: Llama | None,
    prompts: Sequence[Sequence[int]],
    k: int,
    settings: Settings,
    generators: Sequence[np.random.Generator],
) -> Generation:
    """Speculative decoding with K = `k` in every block, or with k = 0 plain decoding.

    A row's tokens are those of `speculative_generate` from the same generators as long as that
    drafts k tokens; here the last block does too, and what is too much is cut off. Raises
    ValueError as that does, and where a prompt has less than two tokens.
    """
    step = new_step(target, draft, prompts, k, settings)
    progress = Progress(prompts, settings)
    generation = Generation(progress.written, [[] for _ in prompts if k])
    run = captured(step) if progress.running else step
    start = time.perf_counter()
    while progress.running:
        fill(step, generators, progress)
        run()
        read(step, progress, generation)
        generation.target_passes += 1
    generation.tokens, generation.seconds = progress.written, time.perf_counter() - start
    return generation


def new_step(
    target: Llama, draft: Llama | None, prompts: Sequence[Sequence[int]], k: int, settings: Settings
) -> Step:
    """A step at the prompts' ends, after the checks."""
    check_prompts(prompts, target.vocab_size)
    if k and min(map(len, prompts)) < 2:
        raise ValueError("drafting in steps of fixed shape needs prompts of at least two tokens")
    capacity = capacity_for(prompts, k, settings)
    if draft is not None:
        check_pair(target, draft, capacity)
    if capacity > target.max_length:
        raise ValueError(
            f"the text and the drafts need {capacity} positions, and the model has "
            f"{target.max_length}: shorten the prompt or ask for fewer tokens"
        )
    return Step(target, draft, prompts, k, settings)


def capacity_for(prompts: Sequence[Sequence[int]], k: int, settings: Settings) -> int:
    """The positions of the longest row, with a block that goes past its goal and one behind it."""
    return max(map(len, prompts)) + settings.max_new_tokens + 2 * k + 2


def fill(step: Step, generators: Sequence[np.random.Generator], progress: Progress) -> None:
    """Fresh uniform numbers for every row that is not done."""
    if isinstance(step.choices, Greedy):
        return
    numbers = np.zeros(step.choices.uniform.shape)
    for row, generator in enumerate(generators):
        if progress.left[row]:
            numbers[row] = generator.random(numbers.shape[1])
    step.choices.uniform.copy_(torch.from_numpy(numbers))


def read(step: Step, progress: Progress, generation: Generation) -> None:
    """Append what the step made: the one time that the host waits for the device."""
    for row, (*drafted, token, accepted) in enumerate(step.made.tolist()):
        if not progress.left[row]:
            continue
        kept = progress.add(row, [*drafted[:accepted], token])
        if step.k:
            block = Block(drafted, min(accepted, kept), token, kept, [], [])
            generation.blocks[row].append(block)
        if not progress.left[row]:
            step.goal[row] = 0  # at an end of text it stands still before its goal
