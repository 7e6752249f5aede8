"""Writing files whole."""

import os
from contextlib import suppress
from pathlib import Path


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file so that who stops this, or reads it, finds the old content or all of the new.

    Text is written in UTF-8. Where `path` is no ordinary file (a pipe, /dev/null), it is written
    as it stands. Raises OSError if writing fails; then nothing half-written is left.
    """
    data = content.encode() if isinstance(content, str) else content
    if path.exists() and not path.is_file():
        path.write_bytes(data)
        return
    target = Path(os.path.realpath(path))  # what a link leads to, so that the link stays
    new = target.with_name(f"{target.name}.{os.getpid()}.new")
    try:
        new.write_bytes(data)
        new.replace(target)
    finally:
        with suppress(OSError):  # of a folder that cannot be reached
            new.unlink(missing_ok=True)
