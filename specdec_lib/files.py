"""Writing files atomically."""

import os
from pathlib import Path


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file atomically: a reader sees the old file or the new one, never half of one.

    Text is written in UTF-8. Raises OSError if writing fails; nothing half-written is left.
    """
    new = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        new.write_bytes(content.encode() if isinstance(content, str) else content)
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)
