"""Published models: which there are, at which revision, and fetching them from the hub.

`published.json` names them, with the commit of each and the approximate size of its weights; the
commits were found in public repositories that use them. A repository without a commit there is
pinned when it is first used: the hub's commit of that day is printed, kept beside the user's cache
and used from then on.

The T5 v1.1 repositories hold their vocabulary as a SentencePiece file only, which transformers
reads with a package that the course does not install. FLAN-T5's is the same file (its sha256
begins d60acb12 in both), so the pair takes the tokenizer from there.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import huggingface_hub
from huggingface_hub import constants
from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError, RevisionNotFoundError

from specdec_lib.files import write_whole
from specdec_lib.models.catalogue import PUBLISHED, PairError

PINS = "specdec_revisions.json"


@dataclass(frozen=True)
class Download:
    """Files of a repository at a commit, with their bytes."""

    repository: str
    revision: str
    files: dict[str, int]

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


def weights(repositories: list[str]) -> list[Path]:
    """The folders of `repositories` with all their weights, fetched if need be.

    Before the first download, the size of each is printed. Raises PairError if one cannot be
    had.
    """
    missing = [name for name in repositories if not has_weights(texts(name))]
    downloads = [find(name, weight_names) for name in missing]
    for each in downloads:
        print(f"{each.repository} at {each.revision}: {each.bytes / 1e9:.2f} GB to download")
    for each in downloads:
        each.fetch()
    return [texts(name) for name in repositories]


def find(repository: str, select: Callable[[list[str]], list[str]]) -> Download:
    """Ask the hub for the commit of `repository` and the sizes of the files that `select` names."""
    with explained(repository):
        info = huggingface_hub.HfApi().model_info(
            repository, revision=revision_of(repository), files_metadata=True
        )
    sizes = {file.rfilename: file.size or 0 for file in info.siblings}
    return Download(repository, info.sha, {name: sizes[name] for name in select(list(sizes))})


def text_names(names: list[str]) -> list[str]:
    """The configuration and tokenizer among the files of a repository."""
    return [name for name in names if "/" not in name and name.endswith((".json", ".txt"))]


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
