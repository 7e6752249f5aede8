"""How often the choice of dtype, draft and K is the same when it is made again."""

from collections import Counter
from collections.abc import Iterable

from tqdm import tqdm

from specdec_lib.device import name_of, processor_class
from specdec_lib.measure.bench.workbench import Workbench
from specdec_lib.measure.core.choice import Choice
from specdec_lib.measure.core.runs import GREEDY, SAMPLED

SIZE = "234m"


def report(bench: Workbench, times: int) -> str:
    """Make the choices at SIZE so many times, and tell how often each was made."""
    made: dict[str, list] = {"plain": [], "sampled": [], "greedy": []}
    for _ in tqdm(range(times), desc="choices"):
        bench.forget()
        made["plain"].append(name_of(bench.best_plain(SIZE)))
        for name, warp in {"sampled": SAMPLED, "greedy": GREEDY}.items():
            made[name].append(bench.best(SIZE, warp))
    lines = [
        f"class: {processor_class()}, {SIZE} cost, {times} times; plain: {counted(made['plain'])}"
    ]
    for name in ("sampled", "greedy"):
        dtypes = counted(name_of(each.dtype) for each in made[name])
        lines.append(f"{name}: {dtypes}; in all {counted(map(in_words, made[name]))}")
    return "\n".join(lines)


def in_words(choice: Choice) -> str:
    """What was chosen."""
    return f"{name_of(choice.dtype)}, {choice.draft} draft, K = {choice.k}"


def counted(names: Iterable[str]) -> str:
    """Every name with how often it stands there, the most frequent first."""
    return "; ".join(f"{name}: {count}" for name, count in Counter(names).most_common())
