"""CUDA graphs without a card: work is recorded while it runs, and replayed from what was recorded.

As a card's graph does, a recorded one knows addresses, not tensors: a replay reads what stands
there now, repeats every operator on the same memory, and knows nothing of the host's numbers. What
a card would do silently with memory that was freed is an error here.
"""

import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
import torch
from decoders.capture import Capturable
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_iter, tree_map

from specdec_lib.decoding.fixed_shape import graph as graphs
from specdec_lib.measure.core import costs


class UseAfterFree(AssertionError):
    """A replay would read or write memory that has been freed since the capture."""


class Address(NamedTuple):
    """A tensor as a graph knows it."""

    storage: int  # its number in the graph
    dtype: torch.dtype
    offset: int
    shape: torch.Size
    stride: tuple[int, ...]


class Graph:
    """Stands for torch.cuda.CUDAGraph: keeps its own memory alive, and no other."""

    def __init__(self) -> None:
        self.calls: list[Callable[[], None]] = []
        self.storages: list[Callable[[], torch.UntypedStorage | None]] = []

    def tensor(self, address: Any) -> Any:
        """The tensor at an address; what is no address stays as it is."""
        if not isinstance(address, Address):
            return address
        storage = self.storages[address.storage]()
        if storage is None:
            raise UseAfterFree(f"{address.shape} of {address.dtype} was freed after the capture")
        made = torch.empty(0, dtype=address.dtype)
        return made.set_(storage, address.offset, address.shape, address.stride)

    @torch.inference_mode()
    def replay(self) -> None:
        """Every operator again, on the same memory."""
        for call in self.calls:
            call()


class Recording(TorchDispatchMode):
    """Writes what runs into `graph`; `close` undoes what it changed: in a capture nothing runs."""

    def __init__(self, graph: Graph) -> None:
        super().__init__()
        self.graph = graph
        self.known: dict[int, tuple[int, torch.UntypedStorage]] = {}  # by address, kept while open
        self.made: set[int] = set()  # numbers of the graph's own storages
        self.before: dict[int, bytes] = {}

    def __torch_dispatch__(self, function, types, arguments=(), keywords=None):
        """Run the call, and note what it took and gave by address."""
        keywords = keywords or {}
        taken = tree_map(self.address, (arguments, keywords))
        self.keep(function, arguments, keywords)
        result = function(*arguments, **keywords)
        fresh = [each for each in tree_iter(result) if self.is_new(each)]
        given = tree_map(partial(self.address, own=True), result)
        if fresh or function._schema.is_mutable:
            self.graph.calls.append(partial(self.again, function, taken, given, len(fresh) > 0))
        return result

    def is_new(self, value: object) -> bool:
        """Whether this is a tensor of memory that the graph has not met."""
        return isinstance(value, Tensor) and value.untyped_storage()._cdata not in self.known

    def address(self, value: object, own: bool = False) -> object:
        """A tensor's address; `own` memory that is met here first belongs to the graph."""
        if not isinstance(value, Tensor):
            return value
        storage = value.untyped_storage()
        if storage._cdata not in self.known:
            number = len(self.graph.storages)
            self.known[storage._cdata] = number, storage
            self.graph.storages.append(lambda: storage)
            self.made |= {number} if own else set()
        number = self.known[storage._cdata][0]
        return Address(number, value.dtype, value.storage_offset(), value.shape, value.stride())

    def keep(self, function, arguments: tuple, keywords: dict) -> None:
        """Note what stood in others' memory before the call writes to it."""
        for place, argument in enumerate(function._schema.arguments):
            if not (argument.alias_info and argument.alias_info.is_write):
                continue
            value = arguments[place] if place < len(arguments) else keywords[argument.name]
            number, storage = self.known[value.untyped_storage()._cdata]
            if number not in self.made and number not in self.before:
                self.before[number] = storage.clone()

    def again(self, function, taken: Any, given: Any, fresh: bool) -> None:
        """The call on what stands at its addresses now; what it makes goes where it went."""
        arguments, keywords = tree_map(self.graph.tensor, taken, is_leaf=is_address)
        result = function(*arguments, **keywords)
        if fresh:
            places = tree_iter(given, is_leaf=is_address)
            for place, value in zip(places, tree_iter(result), strict=True):
                self.graph.tensor(place).copy_(value)

    def close(self) -> None:
        """Put back what was written, and let go of all memory that is not the graph's own."""
        for number, storage in self.known.values():
            if number in self.before:
                storage.copy_(self.before[number])
            if number not in self.made:
                self.graph.storages[number] = weakref.ref(storage)
        self.known.clear()


def is_address(value: object) -> bool:
    """Whether this is an address, which is a tuple too."""
    return isinstance(value, Address)


class Card:
    """A card that is there, or one that the processor stands in for.

    `modes` tell how the captures of a stand-in treat errors.
    """

    def __init__(self, device: str) -> None:
        self.device = torch.device(device)
        self.modes: list[str] = []

    @contextmanager
    def graph(self, graph: Graph, stream: object, capture_error_mode: str = "global") -> Iterator:
        """Stands for torch.cuda.graph."""
        self.modes.append(capture_error_mode)
        recording = Recording(graph)
        with Capturable("cpu"), recording:
            yield
        recording.close()

    def stand_in(self, patch: pytest.MonkeyPatch) -> None:
        """Let graph.py capture on the processor."""
        stream = SimpleNamespace(wait_stream=lambda other: None)
        patch.setattr(torch.cuda, "CUDAGraph", Graph)
        patch.setattr(torch.cuda, "graph", self.graph)
        patch.setattr(torch.cuda, "stream", lambda stream: nullcontext())
        patch.setattr(torch.cuda, "current_stream", lambda device: stream)
        patch.setattr(graphs, "side_stream", lambda device: stream)
        capture = graphs.captured
        for module in (graphs, costs):
            patch.setattr(module, "captured", lambda *given: capture(*given[:2], CUDA))
        # A processor's packed matrices are no tensors whose memory could be looked at.
        patch.setattr("specdec_lib.models.linear.can_pack", lambda weight: False)


CUDA = torch.device("cuda")


def card_for(name: str, patch: pytest.MonkeyPatch) -> Card:
    """The card "cuda", whose replays look whether their inputs are alive, or a stand-in."""
    if name == "cuda":
        watched = partial(torch.cuda.graph, check_input_liveness=True)
        patch.setattr(torch.cuda, "graph", watched)
        return Card("cuda")
    card = Card("cpu")
    card.stand_in(patch)
    return card
