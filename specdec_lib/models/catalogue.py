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
    """A line for each pair: its target, its drafts, and about how large each is."""
    lines = [f"{BUILT_IN}: built in, nothing is fetched; drafts {', '.join(BUILT_IN_DRAFTS)}"]
    for name, pair in PUBLISHED["pairs"].items():
        sized = [f"{draft} ({gigabytes(each)})" for draft, each in pair["drafts"].items()]
        target = f"{pair['target']} ({gigabytes(pair['target'])})"
        lines.append(f"{name}: {target}; drafts {', '.join(sized)}")
    return lines


def gigabytes(repository: str) -> str:
    """About how large the weights of `repository` are."""
    return f"{PUBLISHED['repositories'][repository]['gigabytes']:g} GB"


def require_known(what: str, name: str, known: tuple[str, ...]) -> None:
    """Raise PairError unless `name` is one of `known`."""
    if name not in known:
        raise PairError(f"there is no {what} {name!r}; choose one of {', '.join(known)}")
