"""Writing files atomically."""

import tempfile
from pathlib import Path


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file atomically: a reader sees the old file or the new one, never half of one.

    Text is written in UTF-8. Raises OSError if writing fails; nothing half-written is left.
    """
    # In the file's folder, since a file cannot be moved between file systems, and in a folder of
    # this call's own, since threads may write one file. A file of `tempfile` would be private.
    with tempfile.TemporaryDirectory(prefix=".", dir=path.parent) as folder:
        whole = Path(folder, path.name)
        whole.write_bytes(content.encode() if isinstance(content, str) else content)
        whole.replace(path)
