"""Writing a file whole or not at all: every function that does it."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest.mock import Mock

import pytest

from autograde.intake.files import write_if_changed
from specdec_lib.files import write_whole

WRITERS = pytest.mark.parametrize("write", [write_if_changed, write_whole])


@WRITERS
def test_threads_that_write_one_file_at_a_time_all_succeed(write: Callable, tmp_path: Path):
    texts = [bytes([letter]) * 20_000 for letter in range(8)]
    with ThreadPoolExecutor(len(texts)) as threads:
        for number in range(40):
            target = tmp_path / f"{number}.json"
            list(threads.map(lambda text, target=target: write(target, text), texts))
            assert target.read_bytes() in texts
    assert len(list(tmp_path.iterdir())) == 40


@WRITERS
def test_a_file_is_readable_as_any_new_one_and_stays_if_the_next_write_fails(
    write: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    page, before = tmp_path / "page.html", os.umask(0o027)
    try:
        write(page, b"old")
    finally:
        os.umask(before)
    assert os.name == "nt" or page.stat().st_mode & 0o777 == 0o640
    full = OSError(28, "No space left on device")
    monkeypatch.setattr(Path, "write_bytes", Mock(side_effect=full))
    with pytest.raises(OSError, match="No space left"):
        write(page, b"new")
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"old"]
