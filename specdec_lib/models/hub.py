"""Published models: which there are, at which revision, and fetching them from the hub.

`published.json` names them, with the commit of each and the approximate size of its weights; the
commits were found in public repositories that use them. A repository without a commit there is
pinned when it is first used: the hub's commit of that day is printed, kept beside the user's cache
and used from then on.

Nothing large is fetched without a yes: the sum is shown first, with sizes and licences.
"""

import json
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import huggingface_hub
from huggingface_hub import constants
from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError, RevisionNotFoundError

from specdec_lib.files import write_whole
from specdec_lib.models.catalogue import PUBLISHED, PairError

PINS = "specdec_revisions.json"
GIGA = 1e9
UNASKED = (
    "nobody is here to agree: give --yes on the command line or yes=True in Python, or run it in a "
    "terminal or a notebook, where you are asked"
)


@dataclass(frozen=True)
class Download:
    """Files of a repository at a commit, with their bytes, and its licence as the hub names it."""

    repository: str
    revision: str
    files: dict[str, int]
    licence: str | None = None

    @property
    def bytes(self) -> int:
        """How much is to be fetched, less what the cache has already."""
        kept = (cached(self.repository, self.revision, name) for name in self.files)
        sizes = zip(kept, self.files.values(), strict=True)
        return sum(size for path, size in sizes if path is None)

    def fetch(self) -> Path:
        """Download the files and pin the commit; returns their folder.

        Raises PairError if that fails.
        """
        with explained(self.repository):
            folder = huggingface_hub.snapshot_download(
                self.repository, revision=self.revision, allow_patterns=list(self.files)
            )
        if revision_of(self.repository) is None:
            pin(self.repository, self.revision)
        return Path(folder)


def texts(repository: str, needed: str = "config.json") -> Path:
    """The folder with the configuration and tokenizer of `repository`, fetched if need be.

    `needed` is the file that tells whether they are there. Raises PairError if they cannot be
    had.
    """
    held = cached(repository, revision_of(repository), needed)
    return held.parent if held else find(repository, text_names).fetch()


def weights(repositories: list[str], yes: bool = False) -> list[Path]:
    """The folders of `repositories` with all their weights, fetched if need be and agreed to.

    Raises PairError if one cannot be had, the disk is too small, or the answer is no.
    """
    agree(missing(repositories), yes)
    for each in missing(repositories):
        each.fetch()
    return [texts(name) for name in repositories]


def missing(repositories: Sequence[str]) -> list[Download]:
    """What of the weights of `repositories` is not on this machine, each of them once."""
    names = [name for name in dict.fromkeys(repositories) if not has_weights(texts(name))]
    return [find(name, weight_names) for name in names]


def agree(downloads: Sequence[Download], yes: bool = False) -> None:
    """Show what is to be fetched and ask once for all of it; with `yes` the answer is known.

    Raises PairError if the answer is no, nobody can be asked, or the disk has no room.
    """
    if not downloads:
        return
    for each in downloads:
        print(f"{each.repository} at {each.revision}: {each.bytes / GIGA:.2f} GB to download, "
              f"licence: {each.licence or 'none named'}")  # fmt: skip
    total = sum(each.bytes for each in downloads)
    require_disk(total)
    if yes:
        return
    answer = asked(f"Fetch {total / GIGA:.1f} GB in all? [y/N] ")
    if answer is None or answer.strip().lower() not in ("y", "yes"):
        raise PairError(
            f"{total / GIGA:.1f} GB were not fetched: "
            + (UNASKED if answer is None else "you did not agree")
        )


def asked(question: str) -> str | None:
    """The answer to a question in a terminal or a notebook; None if nobody can give one."""
    ipython = sys.modules.get("IPython")
    in_kernel = ipython and getattr(ipython.get_ipython(), "kernel", None)
    if not (sys.stdin and sys.stdin.isatty()) and not in_kernel:
        return None
    try:
        return input(question)
    except (EOFError, NotImplementedError):  # a notebook that is run without anybody before it
        return None


def free_disk() -> int:
    """The bytes that are free where downloads go."""
    folder = Path(constants.HF_HUB_CACHE)
    there = next(each for each in (folder, *folder.parents) if each.exists())
    return shutil.disk_usage(there).free


def require_disk(needed: int, free: int | None = None) -> None:
    """Raise PairError if so many bytes have no room where downloads go; `free` if it is known."""
    free = free_disk() if free is None else free
    if needed > free:
        raise PairError(
            f"{needed / GIGA:.1f} GB do not fit on the disk: {free / GIGA:.1f} GB are free in "
            f"{constants.HF_HUB_CACHE}. Make room there, or set HF_HOME to a folder elsewhere"
        )


def find(repository: str, select: Callable[[list[str]], list[str]]) -> Download:
    """Ask the hub for the commit of `repository` and the sizes of the files that `select` names."""
    with explained(repository):
        info = huggingface_hub.HfApi().model_info(
            repository, revision=revision_of(repository), files_metadata=True
        )
    sizes = {file.rfilename: file.size or 0 for file in info.siblings}
    files = {name: sizes[name] for name in select(list(sizes))}
    return Download(repository, info.sha, files, licence_in(info.tags or ()))


def licence_in(tags: Sequence[str]) -> str | None:
    """The licence among the tags of a repository, None if there is none."""
    return next((tag.partition(":")[2] for tag in tags if tag.startswith("license:")), None)


def text_names(names: list[str]) -> list[str]:
    """The configuration and tokenizer among the files of a repository."""
    kinds = (".json", ".txt", ".model")  # SentencePiece's files end in the last one
    return [name for name in names if "/" not in name and name.endswith(kinds)]


def weight_names(names: list[str]) -> list[str]:
    """The weights among the files of a repository: safetensors, else PyTorch's own."""
    top = [name for name in names if "/" not in name]
    safe = [name for name in top if name.startswith("model") and name.endswith(".safetensors")]
    return safe or [name for name in top if name.startswith("pytorch_model") and ".bin" in name]


def has_weights(folder: Path) -> bool:
    """Whether every file of the weights is in `folder`."""
    return any(
        all((folder / part).exists() for part in parts_of(folder, name))
        for name in ("model.safetensors", "pytorch_model.bin")
    )


def parts_of(folder: Path, name: str) -> set[str]:
    """The files that make up the weights `name`: those of its index, or itself."""
    index = folder / f"{name}.index.json"
    if not index.exists():
        return {name}
    return set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values())


def cached(repository: str, revision: str | None, name: str) -> Path | None:
    """The file `name` at `revision` in the local cache, None if it is not there."""
    if revision is None:
        return None
    found = huggingface_hub.try_to_load_from_cache(repository, name, revision=revision)
    return Path(found) if isinstance(found, str) else None


def revision_of(repository: str) -> str | None:
    """The commit that `repository` is pinned at; None before it is first used."""
    published = PUBLISHED["repositories"][repository]["revision"]
    return published or read_pins().get(repository)


def read_pins() -> dict[str, str]:
    """The commits that were pinned at first use on this machine, by repository."""
    path = Path(constants.HF_HOME) / PINS
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def pin(repository: str, revision: str) -> None:
    """Keep the commit that `repository` has now, and say so."""
    path = Path(constants.HF_HOME) / PINS
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, json.dumps(read_pins() | {repository: revision}, indent=2))
    print(f"{repository} is pinned at {revision} from now on ({path})")


@contextmanager
def explained(repository: str) -> Iterator[None]:
    """Turn what goes wrong with the hub into a PairError that says what to do."""
    try:
        yield
    except GatedRepoError as error:
        raise PairError(
            f"{repository} is gated: accept the licence on the model's page, then run "
            "`hf auth login` on this machine"
        ) from error
    except (RepositoryNotFoundError, RevisionNotFoundError) as error:
        raise PairError(
            f"the hub has no {repository} at {revision_of(repository) or 'its latest commit'}, "
            "or your account may not see it"
        ) from error
    except Exception as error:  # the HTTP library's own errors have no common base with OSError
        library = f"{type(error).__name__}: {error}"
        why = "HF_HUB_OFFLINE is set" if constants.HF_HUB_OFFLINE else library
        raise PairError(
            f"{repository} is not on this machine and cannot be fetched ({why}). A pair "
            "that was loaded once works without the network, and load_pair() always does"
        ) from error
