"""The author's guide, followed in a copy of the repository."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
GUIDE = (ROOT / "docs" / "author.md").read_text(encoding="utf-8")
FILE = re.compile(r"^`([\w/.]+)`\n\n```(?:python|toml)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMANDS = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NEEDED = ("autograde", "notebooks", "solutions", "specdec_lib", "tests")
NEEDED_FILES = ("nbgrader_config.py", "pyproject.toml")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A copy of the repository."""
    for name in NEEDED:
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in NEEDED_FILES:
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def run(line: str, repository: Path) -> None:
    """A command of the guide: `autograde` and `pytest` are the copy's, under this interpreter."""
    words = shlex.split(line)
    if words[0] in ("autograde", "pytest"):
        words = [sys.executable, "-m", *words]
    environment = os.environ | {"PYTHONPATH": str(repository)}
    done = subprocess.run(words, cwd=repository, env=environment, capture_output=True, text=True)
    red = "--bug" in line or "--submission" in line  # tests fail, as the guide says
    assert done.returncode == int(red), f"{line}\n{done.stdout}\n{done.stderr}"
    if red:
        assert "FAILED" in done.stdout and "ERROR" not in done.stdout


@pytest.mark.slow
def test_the_guide_goes_from_an_empty_file_to_a_mark(repository: Path):
    for name, text in FILE.findall(GUIDE):
        (repository / name).parent.mkdir(exist_ok=True)
        (repository / name).write_text(text, encoding="utf-8")
    lines = [line for block in COMMANDS.findall(GUIDE) for line in block.splitlines()]
    assert len(FILE.findall(GUIDE)) == 3 and len(lines) == 8
    for line in lines:
        run(line, repository)
    grades = json.loads((repository / "build" / "try.json").read_text())["students"]
    result = grades["ada"]["09_example"]
    assert (result["score"], result["max_score"]) == (0.0, 2.0)
    (message,) = result["exercises"]["tokens_a_block"]["messages"]
    assert message == "tokens_a_block: not written yet"
