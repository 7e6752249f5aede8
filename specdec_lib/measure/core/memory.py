"""Work that may not fit into the device's memory: that it does not is an answer, and no end."""

import gc
import re
from collections.abc import Callable
from typing import TypeVar

import torch

Result = TypeVar("Result")
Say = Callable[[str], None]
GIGA = 1e9
UNITS = {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
SIZE = r"([\d.]+) (KiB|MiB|GiB)"
# What torch 2.13 says: c10/cuda/CUDACachingAllocator.cpp.
TOLD = re.compile(f"Tried to allocate {SIZE}.*total capacity of {SIZE} of which {SIZE} is free")


def attempt(what: str, task: Callable[[], Result], say: Say = print) -> Result | None:
    """What `task` gives; None, and a line about `what`, if memory runs out.

    What the task held is free again afterwards.
    """
    try:
        return task()
    except torch.OutOfMemoryError as error:
        answer = needed(str(error))
    # After the handler: the error holds the frames, and with them their tensors.
    let_go()
    say(f"{what} does not fit: {answer}")
    return None


def let_go() -> None:
    """Give back the memory of models that nothing uses any more.

    A model of transformers with a hook holds itself: only the collector ends such a circle.
    """
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def needed(message: str) -> str:
    """How much was wanted of how much there is, as torch's message says; else the message."""
    told = TOLD.search(message)
    if told is None:
        return message
    sizes = zip(told.groups()[::2], told.groups()[1::2], strict=True)
    tried, total, free = (float(number) * UNITS[unit] for number, unit in sizes)
    return f"{(total - free + tried) / GIGA:.1f} of {total / GIGA:.1f} GB"
