"""Answers that fill the grader's memory or take its time; run as a program, what one costs.

`python -m attacks.filling NAME` prints the MB and the CPU seconds that the grader takes for it,
over a right submission to the same chapter.
"""

import re
import sys
import time
from pathlib import Path

from attacks.inside import written

from autograde.bugs import answers_of
from autograde.grade import grade_now, parameters_of
from autograde.submission import release_of
from autograde.tools.samples import filled

_ANSWER = "{'error': None, 'warnings': [], 'changed': [], 'shares': False, 'value': None}"


def _written(item: str, count: int) -> str:
    """Such an answer with a list of so many items, whatever the worker would have sent."""
    many = f"b'{{\"l\":[' + b'{item},' * {count} + b'0]}}'"
    return written(f"json.dumps({_ANSWER}).encode().replace(b'null}}', {many} + b'}}')")


_RULE = """
import numpy as np
def NAME(rule, p, q):
    n = np.int64(6e7)
    for _ in range(50):
        rule(np.array([n, n]), np.array([n, n]), 0, (0.1,), 0.5)
    return True
"""
_PASSES = """
import torch
def NAME(target, *rest):
    cache, model = target.new_cache(), target
    for n in range(1900):
        try:
            TOKENS
        except Exception:
            pass
    return []
"""
_TEXT = "def NAME(*args):\n    return {} + 'a' * {}"
_ARRAY = "import numpy as np\ndef NAME(*args):\n    return np.ones({})"

# Name: the chapter, the one function or all, and the code.
FILLING = {
    "numbers in frames": ("02_rejection_sampling", "", _written("1", 5_600_000)),
    "numbers, just few enough": ("07_connections", "", _written("1.5", 150_000)),
    "lists in frames": ("02_rejection_sampling", "", _written('{"l":[]}', 1_800_000)),
    "empty arrays": ("07_connections", "", _written('{"a":["bool",[0],""]}', 20_000)),
    "texts": ("02_rejection_sampling", "", _TEXT.format("''", 15_900_000)),
    "texts of two alphabets": ("02_rejection_sampling", "", _TEXT.format("chr(2**16)", 3_900_000)),
    "arrays": ("07_connections", "", _ARRAY.format(100_000)),
    "arrays of bytes": ("07_connections", "", _ARRAY.format("(900_000, 1), bool")),
    "a tuple times a number": ("03_lossless", "is_lossless", _RULE),
    "empty passes": (
        *("08_full_generation", "speculative_generate"),
        _PASSES.replace("TOKENS", "model.forward(torch.zeros(1, 0, dtype=torch.long), cache)"),
    ),
    "long passes": (
        *("08_full_generation", "speculative_generate"),
        _PASSES.replace(
            "TOKENS", "model.forward(torch.randint(0, 4, (1, 199)), cache); cache.truncate(0)"
        ),
    ),
}


def most_memory() -> int:
    """The most kB of memory that this program has had."""
    return int(re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[1])


def main(name: str) -> None:
    """Grade a right submission and then the one that fills."""
    chapter, one, code = FILLING[name]
    release, right = release_of(chapter), answers_of(chapter)
    grade_now(filled(release, right), chapter)
    before, start = most_memory(), time.process_time()
    names = [one] if one else parameters_of(chapter)
    answers = {each: code.replace("NAME", each) for each in names}
    result = grade_now(filled(release, right | answers), chapter)
    assert not any(result.exercises[each].score for each in answers)
    print((most_memory() - before) // 1024, round(time.process_time() - start, 1))


if __name__ == "__main__":
    main(sys.argv[1])
