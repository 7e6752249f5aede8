"""The Makefile's promises to whoever types `make`."""

import os
import re
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def make(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run make in a folder that has nothing but the Makefile, without the caller's settings."""
    for name in ("Makefile", "constraints.txt", "pyproject.toml"):
        shutil.copy(ROOT / name, folder)
    env = {k: v for k, v in os.environ.items() if k not in {"MAKEFLAGS", "MFLAGS", "MAKELEVEL"}}
    return subprocess.run(["make", *words], cwd=folder, env=env, capture_output=True, text=True)


def test_make_alone_lists_every_target(tmp_path: Path):
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
    listed = re.findall(r"^  make ([a-z]+) +\S", make(tmp_path).stdout, flags=re.MULTILINE)
    assert listed == targets and len(targets) <= 12


def test_clean_removes_build_and_nothing_else(tmp_path: Path):
    for name in ("build", "course", "work"):
        (tmp_path / name).mkdir()
    assert make(tmp_path, "clean").returncode == 0
    assert not (tmp_path / "build").exists()
    assert (tmp_path / "course").is_dir() and (tmp_path / "work").is_dir()
