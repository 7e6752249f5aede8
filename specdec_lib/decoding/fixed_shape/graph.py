"""Decoding in steps of fixed shape, each captured in one CUDA graph.

On a GPU a small model's pass takes less time than Python needs to start its operations. A step of
fixed shape (step.py) is recorded once and then started as a whole; the host reads one small tensor
a step. Without a GPU the same step runs as it is, which is how it is tested.
"""

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
import torch
from torch import Tensor

from specdec_lib.decoding.checks import check_pair, check_prompts, check_room, whose
from specdec_lib.decoding.fixed_shape.step import BUCKET, FixedModel, Step, bucket
from specdec_lib.decoding.speculative import keep
from specdec_lib.decoding.state import Block, Generation, Progress, Settings
from specdec_lib.decoding.verify import require_finite
from specdec_lib.device import wait_for
from specdec_lib.models.llama import RunLayer
from specdec_lib.models.protocol import Texts
from specdec_lib.sampling import Greedy, Warp

WARM_UP = 3  # runs before a capture: the libraries choose their kernels and set memory aside


class Captured:
    """Work that a call starts as one CUDA graph.

    A graph holds addresses and keeps nothing alive. So this holds `work` too, and with it every
    tensor that the graph reads or writes, for as long as the graph can be started.
    """

    def __init__(self, graph: "torch.cuda.CUDAGraph", work: Callable[[], None]) -> None:
        self.graph, self.work = graph, work

    def __call__(self) -> None:
        """Start the graph; nothing waits for it."""
        self.graph.replay()


def captured(
    work: Callable[[], None], state: Sequence[Tensor], device: torch.device
) -> Callable[[], None]:
    """`work` as a CUDA graph; on another device `work` itself.

    `work` must hold, as a closure or an object, all tensors that it does not make anew itself. What
    it changes of `state` while it is warmed up is put back after every run. Warm-up and capture use
    one stream, so that what cuBLAS sets aside for a stream is there before the capture and is not
    part of the graph's memory. Other threads may use the device meanwhile: a capture fails by what
    its own thread does.
    """
    if device.type != "cuda":
        return work
    before = [part.clone() for part in state]
    stream = side_stream(device)
    stream.wait_stream(torch.cuda.current_stream(device))
    with torch.cuda.stream(stream):
        for _ in range(WARM_UP):
            work()
            for part, was in zip(state, before, strict=True):
                part.copy_(was)
    graph = torch.cuda.CUDAGraph()
    # Recorded, not run: the state stays.
    with torch.cuda.graph(graph, stream=stream, capture_error_mode="thread_local"):
        work()
    torch.cuda.current_stream(device).wait_stream(stream)
    return Captured(graph, work)


@cache
def side_stream(device: torch.device) -> "torch.cuda.Stream":
    """The stream of all captures: the default stream cannot be captured."""
    return torch.cuda.Stream(device)


class GraphDecoder:
    """Decoding of `rows` texts of up to `capacity` positions with K = `k` in every block.

    With k = 0 it is plain decoding. Memory is set aside and graphs are captured once, for any
    number of generations. There is a graph for every BUCKET positions, so that a pass reads less
    than BUCKET positions more than its longest text has.
    """

    def __init__(
        self,
        target: FixedModel,
        draft: FixedModel | None,
        rows: int,
        capacity: int,
        k: int,
        warp: Warp,
        run: RunLayer | None = None,
    ) -> None:
        """`run` runs layers (models/compiled.py).

        Raises ValueError if the models do not go together or cannot hold so much.
        """
        if draft is not None:
            check_pair(target, draft, capacity)
        check_room("the text and its drafts", capacity, target.max_length, whose(target))
        self.capacity = capacity
        self.step = Step(target, draft, rows, capacity, k, warp, run)
        self.graphs: dict[int, Callable[[], None]] = {}

    @torch.inference_mode()
    def generate(
        self,
        prompts: Texts,
        settings: Settings,
        generators: Sequence[np.random.Generator],
    ) -> Generation:
        """Generate after every prompt; `generators` as in `Uniforms`, none for greedy decoding.

        Raises ValueError if a prompt is empty, unknown to the model, too long for the capacity
        or, with drafts, of one token, and if the target's logits are not finite.
        """
        self._check(prompts, settings, generators)
        progress = Progress(prompts, settings)
        self.step.begin(prompts, settings.max_new_tokens)
        self._prepare(prompts, settings)
        wait_for(self.step.target.device)  # the prefill is not in the time

        def step() -> list[Block | None]:
            fill(self.step, generators, progress)
            longest = max(map(len, progress.sequences))
            self.graphs[bucket(longest + spare(self.step.k))]()
            return read(self.step, progress)

        return progress.loop(step)

    def _check(self, prompts: Texts, settings: Settings, generators: Sequence) -> None:
        step = self.step
        check_prompts(prompts, step.target.vocab_size)
        if step.k and min(map(len, prompts)) < 2:
            raise ValueError(
                "drafting in steps of fixed shape needs prompts of at least two tokens"
            )
        if len(prompts) != step.rows or settings.warp != step.warp:
            raise ValueError(
                f"the decoder was made for {step.rows} rows and {step.warp}, and asked for "
                f"{len(prompts)} and {settings.warp}: make one for these"
            )
        if not isinstance(step.choices, Greedy) and len(generators) != step.rows:
            raise ValueError(f"{step.rows} rows need as many generators, not {len(generators)}")
        needed = capacity_for(prompts, step.k, settings)
        check_room("the text and its drafts", needed, self.capacity, "decoder")

    def _prepare(self, prompts: Texts, settings: Settings) -> None:
        """Capture the graphs that these texts will need and that are not there yet."""
        step = self.step
        first = bucket(max(map(len, prompts)) + spare(step.k))
        last = bucket(capacity_for(prompts, step.k, settings))
        for positions in range(first, last + 1, BUCKET):
            if positions not in self.graphs:
                self.graphs[positions] = self._graph(positions)

    def _graph(self, positions: int) -> Callable[[], None]:
        step = self.step

        def work() -> None:
            step.look_at(positions)
            step()

        return captured(work, (step.tokens, step.length), step.target.device)


def graph_generate(
    target: FixedModel,
    draft: FixedModel | None,
    prompts: Texts,
    k: int,
    settings: Settings,
    generators: Sequence[np.random.Generator],
) -> Generation:
    """Speculative decoding with K = `k` in every block, or with k = 0 plain decoding.

    A row's tokens are those of `speculative_generate` from the same generators as long as that
    drafts k tokens; here the last block does too, and what is too much is cut off. Raises
    ValueError as that does, and if a prompt has fewer than two tokens.
    """
    check_prompts(prompts, target.vocab_size)
    capacity = capacity_for(prompts, k, settings)
    decoder = GraphDecoder(target, draft, len(prompts), capacity, k, settings.warp)
    return decoder.generate(prompts, settings, generators)


def spare(k: int) -> int:
    """The positions that a row may need beyond its text.

    Up to k + 1 that its last block had too much, and k + 1 of the block that it drafts from there.
    """
    return 2 * k + 2


def capacity_for(prompts: Texts, k: int, settings: Settings) -> int:
    """The positions of the longest row, with a block past its goal and one more."""
    return max(map(len, prompts)) + settings.max_new_tokens + spare(k)


def fill(step: Step, generators: Sequence[np.random.Generator], progress: Progress) -> None:
    """Fresh uniform numbers for every row that is not done."""
    if isinstance(step.choices, Greedy):
        return
    numbers = np.zeros(step.choices.uniform.shape)
    for row, generator in enumerate(generators):
        if progress.running[row]:
            numbers[row] = generator.random(numbers.shape[1])
    step.choices.send(numbers)


def read(step: Step, progress: Progress) -> list[Block | None]:
    """Append what the step made of every running row; of plain decoding there are no blocks."""
    blocks: list[Block | None] = []
    for row, (finite, *judged) in enumerate(step.result()):
        block = None
        if progress.running[row]:
            require_finite(bool(finite), "target")
            block = keep(progress, row, step.k, judged)
            if not progress.running[row]:
                step.goal[row] = 0  # at an end of text it stands still before its goal
        blocks.append(block if step.k else None)
    return blocks
