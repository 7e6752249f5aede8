"""A student's own copies of the chapters, in `work/`. An update never touches them."""

import hashlib
import json
import shutil
from dataclasses import dataclass
from pathlib import Path

RELEASE = Path(__file__).resolve().parent.parent / "notebooks"
RECORD = ".chapters.json"


@dataclass(frozen=True)
class Change:
    """What became of one chapter: `copied`, `kept`, `changed` (a newer release), or `same`."""

    chapter: str
    what: str
    path: Path


def copy_missing(work: Path, release: Path = RELEASE) -> list[Change]:
    """Copy every chapter that is not in `work` yet; existing copies are left as they are.

    Raises FileNotFoundError where there is no release to copy from.
    """
    record = _read_record(work)
    changes = []
    for source in _released(release):
        target = work / source.parent.name / source.name
        if target.exists():
            changes.append(Change(source.stem, "kept", target))
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
        record[source.stem] = _digest(source)
        changes.append(Change(source.stem, "copied", target))
    _write_record(work, record)
    return changes


def compare(work: Path, release: Path = RELEASE) -> list[Change]:
    """For every chapter, whether its release is still the one that the copy was made from."""
    record = _read_record(work)
    changes = []
    for source in _released(release):
        target = work / source.parent.name / source.name
        if not target.exists():
            what = "new"
        else:
            what = "same" if record.get(source.stem) == _digest(source) else "changed"
        changes.append(Change(source.stem, what, target))
    return changes


def _released(release: Path) -> list[Path]:
    found = sorted(release.glob("*/*.ipynb"))
    if not found:
        raise FileNotFoundError(
            f"there are no chapters in {release}. Install the course from its folder with "
            "`pip install -e .[course]`, so that this command knows where they are."
        )
    return found


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _read_record(work: Path) -> dict[str, str]:
    try:
        return json.loads((work / RECORD).read_text())
    except (OSError, ValueError):  # a lost record only means that a copy counts as changed
        return {}


def _write_record(work: Path, record: dict[str, str]) -> None:
    work.mkdir(parents=True, exist_ok=True)
    part = work / f"{RECORD}.part"
    part.write_text(json.dumps(record, indent=2) + "\n")
    part.replace(work / RECORD)
