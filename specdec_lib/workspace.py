"""A student's own copies of the chapters, in `work/`. An update never touches them."""

import hashlib
import json
import platform
from collections.abc import Mapping
from pathlib import Path

from specdec_lib.files import write_whole

RELEASE = Path(__file__).resolve().parent.parent / "notebooks"
RECORD = ".chapters.json"
_TEXTS = json.loads(Path(__file__).with_name("workspace.json").read_text(encoding="utf-8"))
# What a kernel of this Python says of itself. JupyterLab writes it into a notebook that it opens,
# and would call a chapter unsaved before anybody has touched it.
LANGUAGE = _TEXTS["language"] | {"version": platform.python_version()}
CHANGE_MESSAGES = _TEXTS["changes"]


def folder(chosen: Path | None) -> Path:
    """The folder of the copies: by default `work/` here, or here where that is a `work/` itself."""
    here = Path.cwd()
    usual = here if (here / RECORD).is_file() else here / "work"
    return (chosen or usual).resolve()


def change_report(work: Path, changes: Mapping[str, str]) -> str:
    """A line for every chapter: its change (a key of CHANGE_MESSAGES) in words."""
    messages = {name: CHANGE_MESSAGES[change] for name, change in changes.items()}
    lines = [f"  {name}: {text.format(chapter=name)}" for name, text in messages.items()]
    return "\n".join([f"Your chapters are in {work}", *lines])


def copy_missing(work: Path, release: Path = RELEASE) -> dict[str, str]:
    """Every chapter with `copied`, or `kept` where there was a copy already, which stays as it is.

    Raises FileNotFoundError if there is no release to copy from.
    """
    record = _read_record(work)
    copies = {source.stem: _copy(source, work, record) for source in _released(release)}
    if record != _read_record(work):
        write_whole(work / RECORD, json.dumps(record, indent=2) + "\n")
    return copies


def changes(work: Path, release: Path = RELEASE) -> dict[str, str]:
    """Every chapter with `new`, `same`, `changed` or `unknown`; no file is written.

    It compares the release that the copy was made from with that of today; `unknown` is one that is
    not on record. Raises FileNotFoundError if there is no release to compare with.
    """
    record = _read_record(work)
    return {source.stem: _change(source, work, record) for source in _released(release)}


def _copy(source: Path, work: Path, record: dict[str, str]) -> str:
    """Copy one chapter unless it is there, and note in `record` what it was copied from."""
    change = _change(source, work, record)
    if change == "new":
        path = _copy_of(source, work)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, _with_language(source))  # half a notebook would be kept for good
    if change in ("new", "same"):  # of a copy that is there: a lost record comes back
        record[source.stem] = _digest(source)
    return "copied" if change == "new" else "kept"


def _with_language(source: Path) -> str:
    """The text of a chapter's notebook, with LANGUAGE in it."""
    notebook = json.loads(source.read_text(encoding="utf-8"))
    notebook["metadata"]["language_info"] = LANGUAGE
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def _change(source: Path, work: Path, record: Mapping[str, str]) -> str:
    """`new`, `same`, `changed` or `unknown`, as in `changes`."""
    path = _copy_of(source, work)
    if not path.exists():
        return "new"
    untouched = path.read_bytes() == _with_language(source).encode()
    if untouched or _digest(source) == record.get(source.stem):
        return "same"
    return "changed" if source.stem in record else "unknown"


def _copy_of(source: Path, work: Path) -> Path:
    return work / source.parent.name / source.name


def _released(release: Path) -> list[Path]:
    chapters = sorted(release.glob("*/*.ipynb"))
    if not chapters:
        raise FileNotFoundError(
            f"there are no chapters in {release}. Install the course from its folder with "
            '`pip install -e ".[course]"`, so that this command knows where they are.'
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
