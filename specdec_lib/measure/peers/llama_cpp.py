"""llama.cpp on models of ours, by the C functions of its Python package."""

import importlib.util
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType

import numpy as np

from specdec_lib.measure.peers.gguf_file import write_gguf
from specdec_lib.models.checkpoint import Weights

PACKAGES = ("llama_cpp", "gguf")
INSTALL = "pip install -c constraints.txt -e '.[peers]'"


def installed() -> bool:
    """Whether the packages of the extra `peers` are here."""
    return all(importlib.util.find_spec(name) for name in PACKAGES)


@cache
def library() -> ModuleType:
    """The package, begun. It prints nothing: what goes wrong comes back as a code."""
    logging.getLogger("llama-cpp-python").setLevel(logging.CRITICAL)
    import llama_cpp

    llama_cpp.llama_backend_init()
    return llama_cpp


def build() -> str:
    """The version, and the processor instructions that this build of llama.cpp uses."""
    api = library()
    return f"{api.__version__}, {api.llama_print_system_info().decode().strip(' |')}"


class LlamaCpp:
    """A model in llama.cpp with the text that it has read: a `Reader` of greedy.py.

    It stays in memory until `close`.
    """

    def __init__(self, path: Path, vocab_size: int, capacity: int, threads: int) -> None:
        """Read the GGUF file `path`, for texts of up to `capacity` tokens.

        Raises RuntimeError if llama.cpp cannot read it.
        """
        self.api, self.length, self.vocab_size = library(), 0, vocab_size
        options = self.api.llama_model_default_params()
        options.use_mmap = False  # so that the file need not stay
        self.model = self.api.llama_model_load_from_file(str(path).encode(), options)
        if not self.model:
            raise RuntimeError(f"llama.cpp does not read {path.name}")
        self.context = self.api.llama_init_from_model(self.model, self._options(capacity, threads))
        if not self.context:
            raise RuntimeError(f"llama.cpp has no memory for {capacity} tokens of {path.name}")
        self.memory = self.api.llama_get_memory(self.context)
        self._make_batch(capacity)

    def _options(self, capacity: int, threads: int) -> object:
        options = self.api.llama_context_default_params()
        options.n_ctx = options.n_batch = options.n_ubatch = capacity
        options.n_threads = options.n_threads_batch = threads
        options.no_perf = True
        return options

    def _make_batch(self, capacity: int) -> None:
        """A batch of one text; its fields are seen as arrays, which are filled in one step."""
        self.batch = self.api.llama_batch_init(capacity, 0, 1)
        fields = (self.batch.token, self.batch.pos, self.batch.logits)
        self.fields = [np.ctypeslib.as_array(field, (capacity,)) for field in fields]
        for row in range(capacity):
            self.batch.n_seq_id[row] = 1
            self.batch.seq_id[row][0] = 0

    def read(self, tokens: Sequence[int], last_only: bool = False) -> np.ndarray:
        """Append `tokens`; the logits (len(tokens), V) after each, or (1, V) after the last.

        They are valid until the next call. Raises RuntimeError if there is no room.
        """
        count = self.batch.n_tokens = len(tokens)
        token, position, wanted = self.fields
        token[:count] = tokens
        position[:count] = range(self.length, self.length + count)
        wanted[:count] = not last_only
        wanted[count - 1] = True
        if code := self.api.llama_decode(self.context, self.batch):
            raise RuntimeError(f"llama_decode answers {code} for {count} tokens at {self.length}")
        self.length += count
        rows = 1 if last_only else count
        logits = self.api.llama_get_logits(self.context)
        return np.ctypeslib.as_array(logits, (rows, self.vocab_size))

    def cut(self, length: int) -> None:
        """Hold only the first `length` tokens."""
        if length < self.length:
            self.api.llama_memory_seq_rm(self.memory, 0, length, -1)
            self.length = length

    def close(self) -> None:
        """Give the memory back."""
        self.api.llama_batch_free(self.batch)
        self.api.llama_free(self.context)
        self.api.llama_model_free(self.model)


@contextmanager
def loaded(weights: Weights, form: str, threads: int) -> Iterator[LlamaCpp]:
    """`weights` in llama.cpp, the matrices in `form` (F32, F16). The file between is removed."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "model.gguf")
        write_gguf(weights, path, form)
        model = LlamaCpp(path, weights.shape.vocab_size, weights.shape.max_length, threads)
    try:
        yield model
    finally:
        model.close()
