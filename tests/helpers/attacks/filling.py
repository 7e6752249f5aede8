"""Answers that fill the grader's memory or take its time."""

from attacks.protocol import written

_ANSWER = (
    "{'warnings': [], 'changed': [], 'shares': False, 'operators': 0, 'waits': [], 'value': None}"
)


def _written(item: str, count: int) -> str:
    """Such an answer with a list of so many items, whatever the worker would have sent."""
    many = f"b'{{\"l\":[' + b'{item},' * {count} + b'0]}}'"
    return written(f"json.dumps({_ANSWER}).encode().replace(b'null}}', {many} + b'}}')")


_CHOICES = """
import numpy as np
def NAME(logits, choices):
    for _ in range(50):
        choices.choose(np.ones(10**6))
    return 0, logits
"""
_PASSES = """
import torch
def NAME(target, *rest):
    cache, model = target.new_cache(), target
    for n in range(1900):
        try:
            model.forward(torch.randint(0, 4, (1, 199)), cache); cache.truncate(0)
        except Exception:
            pass
    return []
"""
_TEXT = "def NAME(*args):\n    return 'a' * 15_900_000"
_DRAWS = """
def NAME(*args):
    for each in args:
        if hasattr(each, "random"):
            for size in (3 * 10**9, 5 * 10**7, (1000, 10_000)):
                try:
                    each.random(size)
                except Exception:
                    pass
    return 1
"""

# Name: the chapter, the one function or all, and the code.
FILLING = {
    "numbers in frames": ("02_rejection_sampling", "", _written("1", 5_600_000)),
    "empty arrays": ("07_connections", "", _written('{"a":["bool",[0],""]}', 20_000)),
    "texts": ("02_rejection_sampling", "speculative_accept", _TEXT),
    "many numbers drawn": ("00_bottleneck", "", _DRAWS),
    "many probabilities": ("03_lossless", "repair", _CHOICES),
    "long passes": ("08_full_generation", "speculative_generate", _PASSES),
}
