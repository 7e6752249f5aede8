"""The pairs of models that there are, by name: the built-in one, and those of published.json.

Nothing here needs torch, so that `specdec pairs` answers at once.
"""

import json
from pathlib import Path

from specdec_lib.assets import BUILT_IN_DRAFTS

BUILT_IN = "stdlib"
PUBLISHED = json.loads(Path(__file__).with_name("published.json").read_text(encoding="utf-8"))


class PairError(ValueError):
    """A pair that cannot be had; the message says what to do."""


def catalogue() -> list[str]:
    """A line for each pair: its target, its drafts, their gigabytes and licences, and its card."""
    lines = [f"{BUILT_IN}: built in, nothing is fetched; drafts {', '.join(BUILT_IN_DRAFTS)}"]
    for name, pair in PUBLISHED["pairs"].items():
        sized = [f"{draft} ({described(each)})" for draft, each in pair["drafts"].items()]
        target = f"{pair['target']} ({described(pair['target'])})"
        lines.append(f"{name}, for {pair['card']} GB cards: {target}; drafts {', '.join(sized)}")
    return lines


def described(repository: str) -> str:
    """About how large the weights of `repository` are, and their licence."""
    entry = PUBLISHED["repositories"][repository]
    return f"{entry['gigabytes']:g} GB, {entry['licence'] or 'licence as the hub names it'}"


def repositories_of(name: str) -> list[str]:
    """The repositories of a published pair: the target's, and those of its drafts."""
    pair = PUBLISHED["pairs"][name]
    return [pair["target"], *pair["drafts"].values()]


def gigabytes(name: str) -> float:
    """About how much the files of a published pair take: its target and all drafts."""
    return sum(PUBLISHED["repositories"][each]["gigabytes"] for each in repositories_of(name))


def fits(name: str, memory: float | None) -> bool:
    """Whether so many bytes hold a published pair; where it is not known how many there are, yes.

    A pair's `card` is the smallest of common cards that has room for its weights in 16 bits, its
    caches and 1.5 GB for all else, by arithmetic: no card has confirmed it.
    """
    return memory is None or round(memory / 1e9) >= PUBLISHED["pairs"][name]["card"]


def require_known(what: str, name: str, known: tuple[str, ...]) -> None:
    """Raise PairError unless `name` is one of `known`."""
    if name not in known:
        raise PairError(f"there is no {what} {name!r}; choose one of {', '.join(known)}")
