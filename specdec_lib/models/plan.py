"""The memory that a published pair takes on its device: by arithmetic, before anything is loaded.

Nothing here needs torch, so that `specdec doctor` answers at once. The sizes of the models stand in
published.json. A target is planned with all its drafts, since the experiment of chapter 08 loads it
once for all of them.
"""

from dataclasses import dataclass, fields
from typing import Any

from specdec_lib.models.catalogue import PUBLISHED, repositories_of

ROWS = (8, 4, 2, 1)  # texts that are written in one pass: the first that fits
POSITIONS = 640  # of a text at most: source, prompt and what is written
WRITTEN = 96  # of them, whose distributions are compared
CHUNK = 256  # of a prompt that are read at once, each with a row of logits
# What is made of a logit of p and q where distributions are compared: float32 and float64 copies.
BYTES_A_LOGIT = 40
# CUDA's context, the code and workspaces of kernels, and what the allocator cannot use.
RESERVE = 1_500_000_000
GIGA = 1e9


@dataclass(frozen=True)
class Plan:
    """Bytes on the device, by what for, if `rows` texts are written in one pass.

    Hugging Face's models take none: they stand on the same tensors.
    """

    rows: int
    weights: int
    making: int  # the largest matrix of a layer, once more while it is made of its parts
    caches: int  # of the rows, and of one text more in transformers
    workspace: int  # logits, what is made of them, and RESERVE

    @property
    def bytes(self) -> int:
        """The sum."""
        return sum(getattr(self, each.name) for each in fields(self)[1:])

    def fits(self, free: float | None) -> bool:
        """Whether so many free bytes are enough; where it is not known how many are, yes."""
        return free is None or self.bytes <= free

    def answer(self, free: float | None) -> str:
        """In words, such as "does not fit: 29.5 of 24.0 GB"."""
        if free is None:
            return f"needs {self.bytes / GIGA:.1f} GB; how much is free is not known"
        verdict = "fits" if self.fits(free) else "does not fit"
        return f"{verdict}: {self.bytes / GIGA:.1f} of {free / GIGA:.1f} GB"


def plan(name: str, free: float | None, itemsize: int = 2) -> Plan:
    """The plan of a published pair, all drafts loaded, with as many rows as fit into `free` bytes.

    Where not even one row fits, with one. `itemsize` is the bytes of a number: 2 in bfloat16.
    """
    plans = [plan_of_rows(name, rows, itemsize) for rows in ROWS]
    return next((each for each in plans if each.fits(free)), plans[-1])


def plan_of_rows(name: str, rows: int, itemsize: int = 2) -> Plan:
    """The plan of a published pair for so many texts in one pass."""
    models = [sizes_of(each) for each in repositories_of(name)]
    a_text = itemsize * POSITIONS * sum(map(cache_numbers, models))
    a_logit = max(rows * CHUNK * itemsize, WRITTEN * BYTES_A_LOGIT)
    return Plan(
        rows,
        weights=itemsize * sum(each["parameters"] for each in models),
        making=itemsize * max(2 * each["mlp"] * each["width"] for each in models),
        caches=(rows + 1) * a_text,
        workspace=a_logit * models[0]["vocabulary"] + RESERVE,
    )


def sizes_of(repository: str) -> dict[str, Any]:
    """The sizes of a model: parameters, layers, kv_heads, head_width, width, mlp, vocabulary."""
    return PUBLISHED["repositories"][repository]["shape"]


def cache_numbers(sizes: dict[str, Any]) -> int:
    """The numbers that a position takes in a cache: keys and values of every layer.

    An encoder-decoder keeps as many of every position of its source.
    """
    return 2 * sizes["layers"] * sizes["kv_heads"] * sizes["head_width"]


def encodes(name: str) -> bool:
    """Whether a pair is an encoder-decoder, whose models transformers loads."""
    return "t5" in PUBLISHED["pairs"][name]["target"]
