"""The memory that generation takes beyond weights and cache, in a process of its own."""

import json
import subprocess
import sys
from pathlib import Path

import psutil
import torch

from specdec_lib.decoding.generate import speculative_generate
from specdec_lib.decoding.state import Settings
from specdec_lib.drafters.eagle import HEAD_FILE
from specdec_lib.drafters.pair import drafter_of
from specdec_lib.measure.prompts import prompts
from specdec_lib.models.catalogue import BUILT_IN
from specdec_lib.models.pairs import load_pair
from specdec_lib.models.scale import parameter_count, weights_read
from specdec_lib.sampling import Greedy, Warp

_COST, _TOKENS = "234m", 64
_QUESTION = "Why do onions make people cry?"
_STATUS = Path("/proc/self/status")


def memory_overhead(pair: str = BUILT_IN) -> float:
    """Peak over weights and cache, of the built-in pair at _COST in bfloat16.

    Of another pair in float32, over the bytes of its weights in float16 alone.
    """
    command = [sys.executable, "-m", "specdec_lib.measure.bench.memory", pair]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(result.stdout)


def print_overhead(name: str) -> None:
    """Load the pair, generate, and print the ratio."""
    before, is_built_in = peak_memory(), name == BUILT_IN
    how = {"target_cost": _COST, "dtype": torch.bfloat16} if is_built_in else {}
    # On the CPU, also if there is a GPU: it is this process's memory that is looked at.
    pair = load_pair(name, device="cpu", **how)
    (prompt,) = prompts(1) if is_built_in else [pair.start(pair.chat(_QUESTION))]
    settings = Settings(_TOKENS, Warp(temperature=0))
    speculative_generate(pair.target, drafter_of(pair), [prompt], pair.k, settings, Greedy())
    growth, needed = peak_memory() - before, 0
    for model in (pair.target, pair.draft):
        if is_built_in:
            cache, numbers = model.new_cache(1, len(prompt) + _TOKENS), parameter_count(model.shape)
            needed += (numbers + cache.keys.numel() + cache.values.numel()) * model.dtype.itemsize
        else:
            # The embedding is the output matrix too, and is in the file once.
            needed += weights_read(model.shape) * torch.float16.itemsize
    if pair.head:
        needed += (pair.head / HEAD_FILE).stat().st_size  # in float16
    print(growth / needed)


def peak_memory() -> int:
    """The most memory that this process has held so far, in bytes.

    On Linux from its status file: getrusage begins with what the parent process has held.
    """
    if sys.platform == "win32":
        return psutil.Process().memory_info().peak_wset
    if _STATUS.exists():
        lines = dict(line.split(":", 1) for line in _STATUS.read_text().splitlines())
        return int(lines["VmHWM"].split()[0]) * 1024
    import resource  # Windows has none

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


if __name__ == "__main__":
    print_overhead(*sys.argv[1:])
