"""Read files that a student could have written, write files atomically, digests and zips."""

import hashlib
import io
import json
import os
import stat
import tempfile
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path


def write_if_changed(target: Path, data: bytes) -> bool:
    """Write `data` atomically; returns whether the file changed."""
    if target.is_file() and target.read_bytes() == data:
        return False
    target.parent.mkdir(parents=True, exist_ok=True)
    # In the target's folder, since a file cannot be moved between file systems, and in a folder of
    # its own, since several threads may write one target. NamedTemporaryFile would make a file that
    # only its owner can read, whatever the umask.
    with tempfile.TemporaryDirectory(prefix=".", dir=target.parent) as folder:
        temporary = Path(folder, target.name)
        temporary.write_bytes(data)
        temporary.replace(target)
    return True


def write_json(target: Path, data: dict) -> None:
    """Write `data` atomically, as JSON for people to read."""
    write_if_changed(target, (json.dumps(data, indent=2) + "\n").encode())


class UnsafePath(ValueError):
    """A path below a student's folder is not a regular file; the text says what it is."""


class NothingThere(UnsafePath):
    """The file, or a folder above it, does not exist."""


def read_untrusted(root: Path, path: Path, max_bytes: int) -> bytes:
    """The bytes of a file that a student could have made: the only way to open such a file.

    `path` is relative to `root`, which we own. Every folder below `root` must be a real one, and
    the file a regular one of at most `max_bytes`, with one name. Each is opened relative to the
    folder opened before it, and checked after opening, so that no swap in between is possible.
    Raises UnsafePath.
    """
    *folders, name = Path(path).parts
    if Path(path).is_absolute() or ".." in folders or name == "..":
        raise UnsafePath(f"{path} leads out of its folder")
    handle = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for folder in folders:
            handle = _step(handle, folder, os.O_DIRECTORY)
        handle = _step(handle, name, os.O_NONBLOCK)  # or a pipe without a writer would wait
        return _regular_bytes(handle, name, max_bytes)
    finally:
        os.close(handle)


def _step(folder: int, name: str, flag: int) -> int:
    """An open handle of `name` in the open `folder`; closes `folder` on success."""
    try:
        handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | flag, dir_fd=folder)
    except FileNotFoundError:
        raise NothingThere(f"there is no {name}") from None
    except OSError:
        raise UnsafePath(f"{name} is a link, or no plain file") from None
    os.close(folder)
    return handle


def _regular_bytes(handle: int, name: str, max_bytes: int) -> bytes:
    status = os.fstat(handle)
    if not stat.S_ISREG(status.st_mode):
        raise UnsafePath(f"{name} is not a regular file")
    if status.st_nlink > 1:
        raise UnsafePath(f"{name} is one of {status.st_nlink} names (hard links) of a file")
    data = b""
    if status.st_size <= max_bytes:
        with os.fdopen(os.dup(handle), "rb") as file:
            data = file.read(max_bytes + 1)  # it may have grown since
    size = max(len(data), status.st_size)
    if size > max_bytes:
        raise UnsafePath(f"{name} has {size:,} bytes, {max_bytes:,} are allowed")
    return data


def printable(name: str) -> str:
    """A student's file or folder name, safe for a page, a table and a terminal.

    Control characters, and bytes that are not text, become question marks.
    """
    text = name.encode("utf-8", "replace").decode()
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def files_below(folder: Path) -> list[Path]:
    """Every file below `folder` in a fixed order, except hidden ones and Python's caches."""
    paths = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return [path for path in paths if not any(map(_is_ignored, path.relative_to(folder).parts))]


def _is_ignored(name: str) -> bool:
    return name.startswith(".") or name == "__pycache__"


def digest_of(files: Iterable[Path], *words: str) -> str:
    """A SHA-256 of the files' names and contents, and of `words`, as hexadecimal digits."""
    digest = hashlib.sha256("\0".join(words).encode())
    for path in files:
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        digest.update(f"\0{path.name}\0{content}".encode())
    return digest.hexdigest()


def zip_of(files: Mapping[str, bytes]) -> bytes:
    """A zip of the files, by name; the same files always give the same bytes."""
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in sorted(files.items()):
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))  # the first date that it can hold
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(entry, data)
    return memory.getvalue()
