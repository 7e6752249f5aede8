"""Files are written whole, by `write_whole` and so by every command that writes one."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from huggingface_hub import constants

from specdec_lib import workspace
from specdec_lib.files import write_whole
from specdec_lib.measure.drafters import family
from specdec_lib.models import hub
from specdec_lib.training import recording


def test_text_and_bytes_are_written_and_nothing_else_is_left(tmp_path: Path):
    for content in ("naïve\n", b"\xff\x00"):
        write_whole(tmp_path / "a", content)
        data = content.encode("utf-8") if isinstance(content, str) else content
        assert (tmp_path / "a").read_bytes() == data
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_write_that_is_stopped_leaves_the_old_content(tmp_path: Path, monkeypatch):
    path, whole = tmp_path / "a", Path.write_bytes
    write_whole(path, "old")

    def stopped(self: Path, data: bytes) -> int:
        whole(self, data[:1])
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "write_bytes", stopped)
    with pytest.raises(KeyboardInterrupt):
        write_whole(path, "new")
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


def test_a_link_stays_a_link(tmp_path: Path):
    (tmp_path / "link").symlink_to(tmp_path / "a")
    write_whole(tmp_path / "link", "text")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "a").read_text() == "text"


def test_what_is_no_ordinary_file_is_not_replaced(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    write_whole(tmp_path / "pipe", "text")
    assert os.read(reader, 9) == b"text" and (tmp_path / "pipe").is_fifo()
    os.close(reader)


def test_what_fails_is_an_error_and_leaves_nothing(tmp_path: Path):
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "folder", tmp_path / "none" / "a"):
        with pytest.raises(OSError):
            write_whole(path, "text")
    assert [path.name for path in tmp_path.rglob("*")] == ["folder"]


def family_table(folder: Path, number: int) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        for name in ("target", "family", "plain", "measured"):
            patch.setattr(family, name, lambda *args: None)
        patch.setattr(family, "table", lambda rows: f"table {number}")
        family.main(["--markdown", str(folder / "a.md")])
    return folder / "a.md"


def recorded_blocks(folder: Path, number: int) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recording, "load_pair", lambda draft: None)
        patch.setattr(recording, "record", lambda pair: {"number": number})
        patch.setattr("sys.argv", ["recording", "--out", str(folder / "a.json")])
        recording.main()
    return folder / "a.json"


def chapters_record(folder: Path, number: int) -> Path:
    source = folder / "release" / "00_a" / "00_a.ipynb"
    source.parent.mkdir(parents=True, exist_ok=True)
    source.write_text(str(number))
    (folder / "work" / "00_a" / "00_a.ipynb").unlink(missing_ok=True)
    workspace.copy_missing(folder / "work", folder / "release")
    return folder / "work" / workspace.RECORD


def pinned(folder: Path, number: int) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(constants, "HF_HOME", str(folder))
        hub.pin("repository", str(number))
    return folder / hub.PINS


# That of results files is in test_results_file.py.
WRITERS = (family_table, recorded_blocks, chapters_record, pinned)


@pytest.mark.parametrize("write", WRITERS)
def test_whoever_reads_a_file_while_it_is_written_has_the_old_one(
    write: Callable[[Path, int], Path], tmp_path: Path
):
    path = write(tmp_path, 1)
    old = path.read_text()
    with path.open() as reader:
        write(tmp_path, 2)
        assert reader.read() == old != path.read_text()
    assert not list(tmp_path.rglob("*.new"))
    assert path.suffix != ".json" or json.loads(path.read_text())
