"""Files are written atomically."""

from pathlib import Path

import pytest

from specdec_lib.files import write_whole


def test_text_and_bytes_are_written_and_nothing_else_is_left(tmp_path: Path):
    for content in ("naïve\n", b"\xff\x00"):
        write_whole(tmp_path / "a", content)
        data = content.encode("utf-8") if isinstance(content, str) else content
        assert (tmp_path / "a").read_bytes() == data
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_write_that_is_stopped_leaves_the_old_content(tmp_path: Path, monkeypatch):
    path, write = tmp_path / "a", Path.write_bytes
    write_whole(path, "old")

    def stopped(self: Path, data: bytes) -> int:
        write(self, data[:1])
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "write_bytes", stopped)
    with pytest.raises(KeyboardInterrupt):
        write_whole(path, "new")
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


def test_a_write_that_fails_raises_and_leaves_nothing(tmp_path: Path):
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "folder", tmp_path / "none" / "a"):
        with pytest.raises(OSError):
            write_whole(path, "text")
    assert [path.name for path in tmp_path.rglob("*")] == ["folder"]
