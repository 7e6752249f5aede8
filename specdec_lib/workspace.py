"""A student's own copies of the chapters, in `work/`. An update never touches them."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from specdec_lib.files import write_whole

RELEASE = Path(__file__).resolve().parent.parent / "notebooks"
RECORD = ".chapters.json"


@dataclass(frozen=True)
class Change:
    """What became of one chapter, in a word, and where the student's copy of it is.

    `copy_missing` says `copied` or `kept`. `changes` says `new` (no copy yet), `same` or
    `changed` (the release, since the copy was made), or `unknown` (nobody wrote down which
    release the copy was made from).
    """

    chapter: str
    what: str
    path: Path


def usual_folder() -> Path:
    """`work/` in the current folder, or the current folder where that is a `work/` itself."""
    here = Path.cwd()
    return here if (here / RECORD).is_file() else here / "work"


def copy_missing(work: Path, release: Path = RELEASE) -> list[Change]:
    """Copy every chapter that is not in `work` yet; existing copies are left as they are.

    Raises FileNotFoundError if there is no release to copy from.
    """
    sources = _released(release)
    record = _read_record(work)
    copied = [_copy(source, work, record) for source in sources]
    _write_record(work, record)
    return copied


def changes(work: Path, release: Path = RELEASE) -> list[Change]:
    """For every chapter, whether its release is still the one that the copy was made from.

    Looks only. Raises FileNotFoundError if there is no release to compare with.
    """
    record = _read_record(work)
    pairs = [(source, _copy_of(source, work)) for source in _released(release)]
    return [Change(source.stem, _difference(source, path, record), path) for source, path in pairs]


def _copy(source: Path, work: Path, record: dict[str, str]) -> Change:
    """Copy one chapter unless it is there, and note in `record` what it was copied from."""
    path = _copy_of(source, work)
    if path.exists():
        if _difference(source, path, record) == "same":
            record[source.stem] = _digest(source)  # brings back a lost record
        return Change(source.stem, "kept", path)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, source.read_bytes())  # half a notebook would be kept for good
    record[source.stem] = _digest(source)
    return Change(source.stem, "copied", path)


def _difference(source: Path, path: Path, record: dict[str, str]) -> str:
    """`new`, `same`, `changed` or `unknown`, as in `Change`."""
    if not path.exists():
        return "new"
    now = _digest(source)
    if now in (record.get(source.stem), _digest(path)):
        return "same"
    return "changed" if source.stem in record else "unknown"


def _copy_of(source: Path, work: Path) -> Path:
    return work / source.parent.name / source.name


def _released(release: Path) -> list[Path]:
    chapters = sorted(release.glob("*/*.ipynb"))
    if not chapters:
        raise FileNotFoundError(
            f"there are no chapters in {release}. Install the course from its folder with "
            "`pip install -e .[course]`, so that this command knows where they are."
        )
    return chapters


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _read_record(work: Path) -> dict[str, str]:
    """The digest of the release that each copy was made from; empty where it is lost."""
    try:
        record = json.loads((work / RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}


def _write_record(work: Path, record: dict[str, str]) -> None:
    """Write the record where it differs from what is there, whole or not at all."""
    if record == _read_record(work):
        return
    write_whole(work / RECORD, json.dumps(record, indent=2) + "\n")
