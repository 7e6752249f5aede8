"""Reading a zip with students' files in it: names and sizes are examined before any byte."""

import stat
import zipfile
from pathlib import Path, PurePosixPath
from unicodedata import category

from autograde.submission import MAX_BYTES

MAX_FILES = 20_000
CONTROLS = ("Cc", "Zl", "Zp")  # and no others: many names hold marks that join or part letters


def files_of(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    """Every file of the archive, in its order. Raises ValueError if there are too many."""
    entries = [info for info in archive.infolist() if not info.filename.endswith("/")]
    if len(entries) > MAX_FILES:
        raise ValueError(f"{archive.filename}: {len(entries)} files; at most {MAX_FILES} are read")
    return entries


def refusal(info: zipfile.ZipInfo) -> str | None:
    """Why a file is not taken out of the zip; None if it is."""
    path = PurePosixPath(info.filename.replace("\\", "/"))
    kind = stat.S_IFMT(info.external_attr >> 16)
    if path.is_absolute() or ".." in path.parts or any(":" in part for part in path.parts[:1]):
        return "its name leads out of the folder"
    if any(category(letter) in CONTROLS for letter in info.filename):
        return "its name has control characters"
    if kind not in (0, stat.S_IFREG):
        return "it is a link or another special file"
    if info.flag_bits & 1:
        return "it is encrypted"
    if info.file_size > MAX_BYTES:
        return f"it would be {info.file_size / 2**20:.0f} MB, over {MAX_BYTES // 2**20} MB"
    return None


def read(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """The file's bytes. Raises ValueError, which names the file, if they cannot be read."""
    try:
        with archive.open(info) as file:
            data = file.read(MAX_BYTES + 1)
    except Exception as error:  # damaged bytes meet zipfile and every decompressor that it calls
        raise ValueError(
            f"{info.filename}: cannot be read ({error}); take the zip from the LMS again"
        ) from None
    if len(data) > info.file_size:
        raise ValueError(f"{info.filename}: it holds more than the zip says")
    return data


def open_zip(path: Path) -> zipfile.ZipFile:
    """The archive at `path`. Raises ValueError if it is none."""
    try:
        return zipfile.ZipFile(path)
    except (zipfile.BadZipFile, NotImplementedError, UnicodeDecodeError):
        raise ValueError(f"{path} is not a zip file; take the one that the LMS gives") from None
