"""`specdec doctor`: what this machine has, what it can do, and which pairs fit."""

import platform
from collections.abc import Iterator
from importlib.metadata import version

import torch

from specdec_lib.device import default_device, default_dtype, free_memory, name_of, processor
from specdec_lib.measure.core.limits import copy_bandwidth, matrix_rate
from specdec_lib.measure.doctor.nvidia import advice, cards, dotted
from specdec_lib.models import hub
from specdec_lib.models.catalogue import PUBLISHED, gigabytes
from specdec_lib.models.linear import can_halve
from specdec_lib.models.plan import plan

GIGA = 1e9


def lines() -> Iterator[str]:
    """The lines, each as soon as it is known."""
    device = default_device()
    yield (
        f"Python {platform.python_version()}, torch {torch.__version__}, "
        f"transformers {version('transformers')}"
    )
    yield processor()
    yield from graphics(device)
    dtype = default_dtype(device)
    yield f"Runs on {device.type} in {name_of(dtype)}"
    yield f"Copy bandwidth: {copy_bandwidth(device) / GIGA:.1f} GB/s"
    for kind in (torch.float32, torch.bfloat16):
        yield f"Matrix product in {name_of(kind)}: {matrix_rate(kind, device) / GIGA:,.0f} GFLOP/s"
    if can_halve(torch.ones(1, 1, device=device)):
        yield "Weights that were saved in 16 bits are read as 16 bits, also where float32 computes"
    yield from pairs_that_fit(device, dtype)


def graphics(device: torch.device) -> Iterator[str]:
    """The graphics cards, their driver, and the build of torch that suits them."""
    known = cards()
    for card in known or ():
        yield (
            f"GPU: {card.name}, compute capability {dotted(card.capability)}, "
            f"{card.megabytes * 2**20 / GIGA:.0f} GB, driver {card.driver}; {advice(card)}"
        )
    if device.type == "cuda":
        yield f"torch is built for CUDA {torch.version.cuda} and uses {own_card(device)}"
    elif not known:
        yield "GPU: none that an NVIDIA driver answers for; everything works without one"
    elif torch.version.cuda is None:
        yield "This torch is built for the CPU: install the build that suits, and run this again"
    else:
        yield (
            f"This torch is built for CUDA {torch.version.cuda} and sees no GPU: install the build "
            "that suits, or a newer driver, and look at CUDA_VISIBLE_DEVICES"
        )


def own_card(device: torch.device) -> str:
    """The card that torch runs on, and whether its build has kernels for it."""
    card = torch.cuda.get_device_properties(device)
    kernels = {name.split("_")[1] for name in torch.cuda.get_arch_list()}
    # Kernels run on later minor versions of their own major one.
    runs = {f"{card.major}{minor}" for minor in range(card.minor + 1)} & kernels
    known = "" if runs else f"; it has no kernels for {card.major}.{card.minor}, see above"
    return f"{card.name}, {card.total_memory / GIGA:.0f} GB{known}"


def pairs_that_fit(device: torch.device, dtype: torch.dtype) -> Iterator[str]:
    """A line for every published pair: whether it fits memory and disk, with the sums."""
    free, disk = free_memory(device), hub.free_disk()
    yield "Pair stdlib: built in, nothing to fetch"
    for name in PUBLISHED["pairs"]:
        needed = plan(name, free, dtype.itemsize)
        size = gigabytes(name)
        room = "" if size * GIGA <= disk else ", too much for the disk"
        yield (
            f"Pair {name}: {needed.answer(free)} on {device.type}; {size:.1f} GB with all "
            f"drafts to fetch where it was not yet, {disk / GIGA:.0f} GB free on the disk{room}"
        )
