"""What a student's folder may hold in place of a notebook, and the one helper that opens it."""

import os
import socket
import threading
from pathlib import Path

import pytest

from autograde.intake.files import UnsafePath, read_untrusted
from autograde.intake.submission import Unreadable, read_submitted

MAX = 1000
SECRET = b"the gradebook"


@pytest.fixture
def submitted(tmp_path: Path) -> Path:
    (tmp_path / "secret").write_bytes(SECRET)
    (tmp_path / "submitted" / "ada").mkdir(parents=True)
    return tmp_path / "submitted"


def sparse_file(path: Path) -> None:
    path.touch()
    os.truncate(path, 2**40)


def socket_file(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as ours:
        ours.bind(str(path))


NO_FILE = "(plain|regular) file"
TRAPS = {
    "link": (lambda path: path.symlink_to(path.parents[2] / "secret"), "is a link"),
    "hard link": (lambda path: os.link(path.parents[2] / "secret", path), "hard links"),
    "pipe": (os.mkfifo, NO_FILE),
    "sparse file": (sparse_file, "has 1,099,511,627,776 bytes"),
    "folder": (Path.mkdir, NO_FILE),
    "socket": (socket_file, NO_FILE),
}


@pytest.mark.parametrize("name", TRAPS)
def test_a_trap_is_refused_by_its_kind(name: str, submitted: Path):
    trap, words = TRAPS[name]
    with pytest.raises(Unreadable, match=r"^nothing was handed in under the name x\.ipynb$"):
        read_submitted(submitted, Path("ada/x.ipynb"))
    trap(submitted / "ada" / "x.ipynb")
    with pytest.raises(UnsafePath, match=words):
        read_untrusted(submitted, Path("ada/x.ipynb"), MAX)


@pytest.mark.parametrize("name", ["ben", "ada/02_topic"])
def test_a_link_among_the_folders_above_is_refused(submitted: Path, name: str):
    (submitted / name).symlink_to(submitted.parent)
    with pytest.raises(UnsafePath, match=f"{Path(name).name} is a link"):
        read_untrusted(submitted, Path(name, "secret"), MAX)


def test_a_swap_between_check_and_open_brings_nothing(submitted: Path):
    """An honest and a hostile file change places all the while: the secret never comes out."""
    honest, evil, place = submitted / "honest", submitted / "evil", submitted / "ada" / "x.ipynb"
    place.write_bytes(b"{}")
    evil.symlink_to(submitted.parent / "secret")
    done = threading.Event()

    def swap() -> None:
        while not done.is_set():
            os.rename(place, honest), os.rename(evil, place)
            os.rename(place, evil), os.rename(honest, place)

    thread = threading.Thread(target=swap)
    thread.start()
    seen = set()
    try:
        for _ in range(3000):
            try:
                seen.add(read_untrusted(submitted, Path("ada/x.ipynb"), MAX))
            except UnsafePath:
                continue
    finally:
        done.set()
        thread.join()
    assert SECRET not in seen and b"{}" in seen
