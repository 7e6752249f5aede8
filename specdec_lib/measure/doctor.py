"""`specdec doctor`: whether this machine is enough, what it has, and which published pairs fit."""

from collections.abc import Iterator

import torch

from specdec_lib.device import default_device, default_dtype, free_memory, processor
from specdec_lib.errors import installed_version
from specdec_lib.models.catalogue import PUBLISHED, SMOLLM2
from specdec_lib.models.published.fetch import where

_GIGA = 1e9
# Bytes for chapter 08, with Hugging Face's two targets.
_ENOUGH = 3 * _GIGA


def doctor_lines() -> Iterator[str]:
    """The verdict, then processor, memory, torch, card, transformers, what is fetched, pairs."""
    device, memory = default_device(), free_memory(torch.device("cpu"))
    transformers = installed_version("transformers")
    yield verdict(memory, transformers)
    yield processor()
    yield f"Memory: {memory / _GIGA:.1f} GB free"
    yield f"torch: {torch.__version__}"
    yield f"Card: {card(device)}"
    yield transformers.replace("==", ": ")
    yield f"{SMOLLM2}: {where(SMOLLM2)}"
    free = free_memory(device)
    # A pair's size is given for weights in 16 bits; a CPU runs them in float32.
    fit = pairs_that_fit(None if free is None else 2 * free / default_dtype(device).itemsize)
    yield f"Published pairs that fit, with their downloads: {', '.join(fit) or 'none'}"


def verdict(memory: float, transformers: str) -> str:
    """Whether the free bytes of `memory` and the libraries are enough, or what to do."""
    if transformers == "no transformers":
        needed = "Chapters 03 and 08 need transformers. In the folder of the course, run"
        return f'{needed} `pip install -e ".[course]"`.'
    if memory < _ENOUGH:
        return (
            f"Chapter 08 needs up to {_ENOUGH / _GIGA:.0f} GB of memory, and {memory / _GIGA:.1f} "
            "GB are free here: close other programs before it. The other chapters need less."
        )
    return "This machine is enough for every chapter."


def card(device: torch.device) -> str:
    """The name and memory of the GPU that torch uses."""
    if device.type != "cuda":
        return "none that torch can use; no chapter needs one"
    properties = torch.cuda.get_device_properties(device)
    return f"{properties.name}, {properties.total_memory / _GIGA:.0f} GB"


def pairs_that_fit(free: float | None) -> list[str]:
    """The published pairs that fit into `free` bytes, with the gigabytes of all their models.

    `card` in published.json is the smallest common card with room for the weights in 16 bits, the
    caches and 1.5 GB for everything else, by arithmetic: no card has confirmed it.
    """
    repositories = PUBLISHED["repositories"]
    sizes = {name: repository["gigabytes"] for name, repository in repositories.items()}
    fit = {
        name: sizes[pair["target"]] + sum(map(sizes.get, pair["drafts"].values()))
        for name, pair in PUBLISHED["pairs"].items()
        if free is None or round(free / _GIGA) >= pair["card"]
    }
    return [f"{name} ({size:.1f} GB)" for name, size in fit.items()]
