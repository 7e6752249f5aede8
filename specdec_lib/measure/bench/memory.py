"""The memory that generation takes beyond weights and cache, in a process of its own."""

import json
import subprocess
import sys
from pathlib import Path

import torch

from specdec_lib.decoding.generate import speculative_generate
from specdec_lib.decoding.state import Settings
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.measure.prompts import prompts
from specdec_lib.models.catalogue import BUILT_IN
from specdec_lib.models.pairs import load_pair
from specdec_lib.models.scale import parameter_count
from specdec_lib.sampling import Greedy, Warp

_COST, _TOKENS = "234m", 64
_STATUS = Path("/proc/self/status")


def memory_overhead(pair: str = BUILT_IN) -> float:
    """Peak over weights and cache, of the built-in pair at _COST in bfloat16.

    Of another pair in float32, over the bytes of its weights in float16 alone.
    """
    command = [sys.executable, "-m", "specdec_lib.measure.bench.memory", pair]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(result.stdout)


def print_overhead() -> None:
    """Load the pair, generate, and print the ratio."""
    before = peak_memory()
    # On the CPU, also if there is a GPU: it is this process's memory that is looked at.
    pair = load_pair(target_cost=_COST, device="cpu", dtype=torch.bfloat16)
    prompt, settings = prompts(1), Settings(_TOKENS, Warp(temperature=0))
    speculative_generate(pair.target, ModelDrafter(pair.draft), prompt, 4, settings, Greedy())
    needed = 0
    for model in (pair.target, pair.draft):
        cache = model.new_cache(1, len(prompt[0]) + _TOKENS)
        numbers = parameter_count(model.shape) + cache.keys.numel() + cache.values.numel()
        needed += numbers * model.dtype.itemsize
    print((peak_memory() - before) / needed)


def peak_memory() -> int:
    """The most memory that this process has held so far, in bytes.

    On Linux from its status file: getrusage begins with what the parent process has held.
    """
    if sys.platform == "win32":
        import psutil  # which comes with Jupyter's kernel

        return psutil.Process().memory_info().peak_wset
    if _STATUS.exists():
        lines = dict(line.split(":", 1) for line in _STATUS.read_text().splitlines())
        return int(lines["VmHWM"].split()[0]) * 1024
    import resource  # Windows has none

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def print_growth(name: str) -> None:
    """Load a pair, answer a question, and print the growth over the weights in float16."""
    before = peak_memory()
    pair = load_pair(name, device="cpu")
    prompt = pair.start(pair.chat("Why do onions make people cry?"))
    settings = Settings(_TOKENS, Warp(temperature=0))
    speculative_generate(
        pair.target, ModelDrafter(pair.draft), [prompt], pair.k, settings, Greedy()
    )
    shapes = pair.target.shape, pair.draft.shape
    # Both embeddings are output matrices too, and are in the files once.
    weights = sum(parameter_count(s) - s.vocab_size * s.width for s in shapes)
    print((peak_memory() - before) / (weights * torch.float16.itemsize))


if __name__ == "__main__":
    (name,) = sys.argv[1:]
    print_overhead() if name == BUILT_IN else print_growth(name)
