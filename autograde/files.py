"""Writing files whole or not at all, and digests that tell whether files have changed."""

import hashlib
import json
import os
from collections.abc import Iterable
from pathlib import Path


def write_if_changed(target: Path, data: bytes) -> bool:
    """Write `data`, whole or not at all; says whether the file changed."""
    if target.is_file() and target.read_bytes() == data:
        return False
    target.parent.mkdir(parents=True, exist_ok=True)
    # In the target's own folder, since os.replace cannot move between file systems.
    temporary = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        temporary.write_bytes(data)
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)
    return True


def write_json(target: Path, data: dict) -> None:
    """Write `data` as JSON for people to read, whole or not at all."""
    write_if_changed(target, (json.dumps(data, indent=2) + "\n").encode())


def files_below(folder: Path) -> list[Path]:
    """Every file below `folder` in a fixed order, Python's own caches left out."""
    paths = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return [path for path in paths if "__pycache__" not in path.parts]


def digest_of(files: Iterable[Path], *words: str) -> str:
    """A fingerprint of the files' names and contents, and of `words`."""
    digest = hashlib.sha256("\0".join(words).encode())
    for path in files:
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        digest.update(f"\0{path.name}\0{content}".encode())
    return digest.hexdigest()
