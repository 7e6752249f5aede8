"""`specdec doctor`: whether this machine is enough, what it has, and which pairs fit."""

import platform
from collections.abc import Iterator
from importlib.metadata import version

import torch

from specdec_lib.device import default_device, default_dtype, free_memory
from specdec_lib.models.catalogue import PUBLISHED, fits, gigabytes

GIGA = 1e9
# Bytes for chapter 08: 1.3 GB were measured, and Hugging Face's two targets take 1.4 more.
ENOUGH = 3 * GIGA


def lines() -> Iterator[str]:
    """The lines, the one about the chapters first."""
    yield f"Enough for chapters 00 to 08: {chapters(free_memory(torch.device('cpu')))}"
    yield (
        f"Python {platform.python_version()}, torch {torch.__version__}, "
        f"transformers {version('transformers')}"
    )
    device = default_device()
    yield graphics(device)
    yield pairs_that_fit(memory_for_pairs(device))


def chapters(free: float | None) -> str:
    """Yes or no, and what to do."""
    if free is None or free >= ENOUGH:
        return "yes"
    return (
        f"no, since {free / GIGA:.1f} GB of memory are free and chapter 08 takes up to "
        f"{ENOUGH / GIGA:.0f} GB: close other programs"
    )


def graphics(device: torch.device) -> str:
    """The card that torch uses, and its memory."""
    if device.type == "cuda":
        card = torch.cuda.get_device_properties(device)
        return f"Card: {card.name}, {card.total_memory / GIGA:.0f} GB"
    if torch.version.cuda:
        return f"Card: none that torch, built for CUDA {torch.version.cuda}, can use"
    return "Card: none that torch can use, since it is built for the CPU; no chapter needs one"


def memory_for_pairs(device: torch.device) -> float | None:
    """The free bytes of `device`, were its numbers of 16 bits."""
    free = free_memory(device)
    return None if free is None else free * 2 / default_dtype(device).itemsize


def pairs_that_fit(memory: float | None) -> str:
    """The published pairs that so much memory holds, with the gigabytes that are fetched."""
    named = [f"{each} ({gigabytes(each):.1f} GB)" for each in PUBLISHED["pairs"]]
    held = [
        line for each, line in zip(PUBLISHED["pairs"], named, strict=True) if fits(each, memory)
    ]
    return f"Published pairs that fit, with what they fetch: {', '.join(held) or 'none'}"
