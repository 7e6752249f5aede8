"""Writing files atomically."""

import tempfile
from pathlib import Path


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file atomically: a reader sees the old file or the new one, never half of one.

    Text is written in UTF-8. Raises OSError if writing fails; nothing half-written is left.
    """
    # Beside `path`, since a file cannot be moved between file systems, and in a folder of this
    # call's own, since threads may write one file. A NamedTemporaryFile would keep the mode 0600:
    # only os.umask says what is usual, by changing it for all threads.
    with tempfile.TemporaryDirectory(prefix=".", dir=path.parent) as folder:
        temporary = Path(folder, path.name)
        temporary.write_bytes(content.encode() if isinstance(content, str) else content)
        temporary.replace(path)
