"""The pairs of models by name: the built-in one, and those of published.json.

Nothing here needs torch, so `specdec pairs` answers at once.
"""

import json
from pathlib import Path

from specdec_lib.assets import BUILT_IN_DRAFTS
from specdec_lib.errors import SpecdecError

BUILT_IN = "stdlib"
SMOLLM2 = "smollm2-135m"  # needs `specdec fetch`
DOWNLOAD_LIMIT = 30.0  # gigabytes to download at most, unless the caller names another limit
PUBLISHED = json.loads(Path(__file__).with_name("published.json").read_text(encoding="utf-8"))


class PairError(SpecdecError):
    """A pair that cannot be loaded; the message says what to do."""


def catalogue() -> list[str]:
    """A line for each pair: its target and drafts, with their gigabytes and licences."""
    lines = [f"{BUILT_IN}: built in, nothing to download; drafts {', '.join(BUILT_IN_DRAFTS)}"]
    for name, pair in PUBLISHED["pairs"].items():
        drafts = [f"{draft} ({size_and_licence(repo)})" for draft, repo in pair["drafts"].items()]
        target = f"{pair['target']} ({size_and_licence(pair['target'])})"
        lines.append(f"{name}, for {pair['card']} GB cards: {target}; drafts {', '.join(drafts)}")
    return [*lines, "OWNER/NAME: any model of the hub, with a --draft that has the same tokenizer"]


def size_and_licence(repository: str) -> str:
    """The approximate size of the weights of `repository`, and their licence."""
    entry = PUBLISHED["repositories"][repository]
    return f"{entry['gigabytes']:g} GB, {entry['licence']}"


def repositories_of(name: str, draft: str | None) -> tuple[str, str]:
    """The target and the draft of a pair, as repositories of the hub or folders.

    `name` and `draft` are a published pair and one of its drafts (by default the first), or the
    two models themselves, each as "owner/name" or a folder. Raises PairError if they are neither.
    """
    pair = PUBLISHED["pairs"].get(name)
    if pair:
        draft = draft or next(iter(pair["drafts"]))
        require_known(f"draft of {name} called", draft, tuple(pair["drafts"]))
        return pair["target"], pair["drafts"][draft]
    if "/" not in name and not Path(name).is_dir():
        require_known("pair", name, (BUILT_IN, SMOLLM2, *PUBLISHED["pairs"], "OWNER/NAME"))
    if draft is None:
        raise PairError(f"{name} is one model: also name a draft with its tokenizer")
    return name, draft


def require_known(what: str, name: str, known: tuple[str, ...]) -> None:
    """Raise PairError unless `name` is one of `known`."""
    if name not in known:
        raise PairError(f"there is no {what} {name!r}; choose one of {', '.join(known)}")


def confirm(question: str) -> None:
    """Ask in a terminal or a notebook. Raises PairError unless the answer is yes."""
    try:
        answer = input(question)
    except (EOFError, OSError, NotImplementedError, RuntimeError):  # no terminal, no notebook
        raise PairError("nobody can be asked here: pass --yes, or yes=True in Python") from None
    if answer.strip().lower() not in ("y", "yes"):
        raise PairError("nothing was downloaded, because you did not agree")
