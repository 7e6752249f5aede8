"""The graphics cards that the NVIDIA driver knows, and the build of torch that suits them.

torch 2.13 comes built for CUDA 12.6, 13.0 (the default index's) and 13.2 (experimental), each with
kernels for a range of capabilities: RELEASE.md of pytorch/pytorch, "Release Compatibility Matrix"
and "PyTorch CUDA Support Matrix". A build for CUDA 12.x needs a driver from 525 on, one for 13.x
from 580 on: NVIDIA, CUDA Compatibility, "Minor Version Compatibility", Table 1.
"""

import re
import shutil
import subprocess
from typing import NamedTuple

QUERY = (
    "--query-gpu=name,driver_version,compute_cap,memory.total",
    "--format=csv,noheader,nounits",
)
INDEX = "https://download.pytorch.org/whl"


class Card(NamedTuple):
    """A graphics card as nvidia-smi names it."""

    name: str
    driver: str  # such as 580.65.06
    capability: tuple[int, int]
    megabytes: int


class Wheel(NamedTuple):
    """A build of torch: its folder in the index, and what it runs on."""

    folder: str
    driver: int  # the oldest
    capabilities: tuple[tuple[int, int], tuple[int, int]]  # the least and the largest


# The first that suits is named.
WHEELS = (Wheel("cu130", 580, ((7, 5), (12, 1))), Wheel("cu126", 525, ((5, 0), (9, 0))))


def cards() -> list[Card] | None:
    """The cards; None if there is no driver, or if it does not answer."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return None
    try:
        ran = subprocess.run([program, *QUERY], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    answers = [card_of(line) for line in ran.stdout.splitlines()]
    return [card for card in answers if card is not None] or None


def card_of(line: str) -> Card | None:
    """A card from its line; None if the line is something else, such as an error."""
    match = re.fullmatch(r"(.+), (\d+[\d.]*), (\d+)\.(\d+), (\d+)", line.strip())
    if match is None:
        return None
    name, driver, major, minor, megabytes = match.groups()
    return Card(name, driver, (int(major), int(minor)), int(megabytes))


def advice(card: Card) -> str:
    """Which build of torch suits a card, or what has to change before one does."""
    known = [each for each in WHEELS if suits(each, card.capability)]
    if not known:
        return f"no build of torch 2.13 has kernels for capability {dotted(card.capability)}"
    driver = int(card.driver.split(".")[0])
    for wheel in known:
        if driver >= wheel.driver:
            return f"the build of torch that suits it is {wheel.folder} ({INDEX}/{wheel.folder})"
    oldest = min(known, key=lambda wheel: wheel.driver)
    return (
        f"its driver is too old: {oldest.folder} ({INDEX}/{oldest.folder}) needs one from "
        f"{oldest.driver} on"
    )


def suits(wheel: Wheel, capability: tuple[int, int]) -> bool:
    """Whether the build has kernels for the capability."""
    least, largest = wheel.capabilities
    return least <= capability <= largest


def dotted(capability: tuple[int, int]) -> str:
    """(9, 0) as 9.0."""
    return f"{capability[0]}.{capability[1]}"
