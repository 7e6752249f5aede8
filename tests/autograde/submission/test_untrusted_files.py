"""What a student's folder may hold in place of a notebook, and the one helper that opens it."""

import os
import socket
import threading
from pathlib import Path

import pytest

from autograde.files import Trap, read_untrusted
from autograde.submission import Refused, read_submitted

MAX = 1000
SECRET = b"the gradebook"


@pytest.fixture
def submitted(tmp_path: Path) -> Path:
    (tmp_path / "secret").write_bytes(SECRET)
    (tmp_path / "submitted" / "ada").mkdir(parents=True)
    return tmp_path / "submitted"


def secret(path: Path) -> Path:
    return path.parent.parent.parent / "secret"


def sparse_file(path: Path) -> None:
    path.touch()
    os.truncate(path, 2**40)


def socket_file(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as ours:
        ours.bind(str(path))


TRAPS = {
    "link": (lambda path: path.symlink_to(secret(path)), "is a link"),
    "dangling link": (lambda path: path.symlink_to("/no/such/file"), "is a link"),
    "hard link": (lambda path: os.link(secret(path), path), "names"),
    "pipe": (os.mkfifo, "no.* (plain|regular) file"),
    "sparse file": (sparse_file, "are allowed"),
    "folder": (Path.mkdir, "no.* (plain|regular) file"),
    "socket": (socket_file, "no.* (plain|regular) file"),
    "nothing": (lambda path: None, "no file x.ipynb"),
}


@pytest.mark.parametrize("name", TRAPS)
def test_a_trap_is_refused_by_its_kind(name: str, submitted: Path):
    trap, words = TRAPS[name]
    trap(submitted / "ada" / "x.ipynb")
    with pytest.raises(Refused, match=f"{words}.*; hand in"):
        read_submitted(submitted, Path("ada/x.ipynb"))


@pytest.mark.parametrize("name", ["ben", "ada/02_topic"])
def test_a_link_among_the_folders_above_is_refused(submitted: Path, name: str):
    (submitted / name).symlink_to(submitted.parent)
    with pytest.raises(Trap, match=f"{Path(name).name} is a link"):
        read_untrusted(submitted, Path(name, "secret"), MAX)


@pytest.mark.parametrize("path", ["../secret", "ada/../../secret", "/etc/passwd"])
def test_a_path_that_leads_out_is_refused(path: str, submitted: Path):
    with pytest.raises(Trap, match="leads out of its folder"):
        read_untrusted(submitted, Path(path), MAX)


@pytest.mark.parametrize("level", ["file", "folder"])
def test_a_swap_between_check_and_open_brings_nothing(level: str, submitted: Path):
    """Honest and hostile entries change places all the while: the secret never comes out."""
    honest, place = submitted / "honest", submitted / "ada" / "x.ipynb"
    evil = submitted / "evil"
    if level == "file":
        place.write_bytes(b"{}")
        evil.symlink_to(submitted.parent / "secret")
    else:
        place = submitted / "ada"
        (place / "x.ipynb").write_bytes(b"{}")
        (submitted.parent / "other").mkdir()
        (submitted.parent / "other" / "x.ipynb").write_bytes(SECRET)
        evil.symlink_to(submitted.parent / "other")
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
            except Trap:
                continue
    finally:
        done.set()
        thread.join()
    assert SECRET not in seen and b"{}" in seen
